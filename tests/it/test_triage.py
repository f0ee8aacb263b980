"""Proves on a real Hadoop that triage reads its histories from HDFS and from its server, and that both tell the same."""

import json
import os
import re
from pathlib import Path

import pytest

from tests.it.driving import a_place, assay_command

pytestmark = [pytest.mark.it]

EXAMPLES = "hadoop-mapreduce-examples-*.jar"
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The place, the environment with the cluster's own client first, and its configuration, after two jobs."""
    with a_place(tmp_path_factory.mktemp("triage")) as place:
        said = place.assay("cluster", "up", "--settings", "small")
        hadoop = Path(re.search(r"its own `hadoop` command: (\S+)", said)[1])
        conf_dir = re.search(r"^export HADOOP_CONF_DIR=(.+)$", said, re.MULTILINE)[1]
        client = ["env", "-u", "HADOOP_HOME", f"PATH={hadoop.parent}:{os.environ['PATH']}"]
        (jar,) = (ROOT / ".assay" / "hadoop" / "extras").glob(EXAMPLES)
        place.command(*client, "hadoop", "jar", str(jar), "teragen", "-Dmapreduce.job.maps=2", "200000", "/in")
        place.command(*client, "hadoop", "jar", str(jar), "terasort", "-Dmapreduce.job.reduces=2", "/in", "/out")
        yield place, client, conf_dir
        place.assay("cluster", "down")


def triaged(cluster, *arguments):
    place, client, conf_dir = cluster
    done = place.command(*client, *assay_command("triage", *arguments, "--cluster", conf_dir, "--json", "--quiet"))
    return {row["job"]: row for row in json.loads(done.stdout)["rows"]}


def test_histories_on_hdfs(cluster):
    rows = triaged(cluster, "--history", "hdfs:///tmp/hadoop-yarn/staging/history")
    assert set(rows) == {"TeraGen", "TeraSort"}
    sort = rows["TeraSort"]
    assert (sort["runs"], sort["counted"], sort["nodes"]) == (1, 1, 1)
    assert sort["read_bytes"] > 20_000_000
    assert sort["written_bytes"] == 20_000_000
    assert 0 <= sort["bound_s"] < sort["elapsed_s"]
    assert sort["parts"]


def test_the_server_tells_the_same(cluster):
    _, _, conf_dir = cluster
    place = re.search(
        r"<name>mapreduce.jobhistory.webapp.address</name>\s*<value>(.+?)</value>",
        (Path(conf_dir) / "mapred-site.xml").read_text(),
    )[1]
    asked = triaged(cluster, "--history", f"http://{place}")
    files = triaged(cluster, "--history", "hdfs:///tmp/hadoop-yarn/staging/history")
    assert set(asked) == set(files)
    for job, row in files.items():
        for name in (
            "elapsed_s",
            "queued_s",
            "read_bytes",
            "map_output_bytes",
            "spilled_bytes",
            "shuffled_bytes",
            "nodes",
        ):
            assert asked[job][name] == row[name], (job, name)
        assert asked[job]["bound_s"] == pytest.approx(row["bound_s"], rel=0.3, abs=1)
