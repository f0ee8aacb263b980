"""Proves that a cluster left running serves Hadoop's own command, Assay and triage alike, and goes when it is told to.

The tests share one cluster and come in this order; the last one stops it.
"""

import gzip
import json
import os
import re
from pathlib import Path

import pytest

from assay.model.doubt import Outcome
from tests.it.driving import IN_ONE_CONTAINER, JAR, a_place, assay_command
from tests.it.handwritten import TEXT, counted

pytestmark = pytest.mark.it


class Kept:
    """A place with a cluster in it, as `assay cluster up` told of it."""

    def __init__(self, place, said):
        self.place = place
        self.conf_dir = re.search(r"^export HADOOP_CONF_DIR=(.+)$", said, re.MULTILINE)[1]
        self._hadoop = re.search(r"`hadoop` command: (.+)$", said, re.MULTILINE)[1]

    def hadoop(self, *arguments, code=0):
        return self.place.command(self._hadoop, *arguments, code=code)

    def run(self, out, text):
        """The record of a run of one trial on it."""
        experiment = self.place.experiment(f"experiment: existing\n{text}cluster: {{conf_dir: {self.conf_dir}}}\n")
        self.place.assay("run", experiment, "--out", out)
        (record,) = self.place.records(out)
        assert record.outcome is Outcome.PASS, record
        return record

    def triaged(self, history):
        """The rows of what histories tell, by job; read by the cluster's own client."""
        client = ["env", "-u", "HADOOP_HOME", f"PATH={Path(self._hadoop).parent}:{os.environ['PATH']}"]
        triage = assay_command("triage", "--history", history, "--cluster", self.conf_dir, "--json", "--quiet")
        return {row["job"]: row for row in json.loads(self.place.command(*client, *triage).stdout)["rows"]}

    def is_up(self):
        (held,) = self.place.status()
        return held["state"] == "kept" and len(held["processes"]) == 5


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    with a_place(tmp_path_factory.mktemp("existing")) as place:
        yield Kept(place, place.assay("cluster", "up"))


@pytest.mark.long
def test_the_jar_runs_without_assay(kept):
    (kept.place.home / "graph.txt.gz").write_bytes(gzip.compress(TEXT))
    kept.hadoop("fs", "-mkdir", "-p", "raw")
    kept.hadoop("fs", "-put", "graph.txt.gz", "raw/graph.txt.gz")
    kept.hadoop("jar", str(JAR), "normalise", "raw", "graph")
    kept.hadoop("jar", str(JAR), "triangles", "graph", "count")
    assert count_of(kept) == counted(TEXT).triangles
    refused = kept.hadoop("jar", str(JAR), "triangles", "graph", "count", code=2)
    assert "already exists" in refused.stderr
    assert count_of(kept) == counted(TEXT).triangles


@pytest.mark.long
def test_the_jar_names_the_line_that_is_no_edge(kept):
    (kept.place.home / "edges.txt").write_text("1\t2\n2\t3\n3\tx\n")
    kept.hadoop("fs", "-mkdir", "-p", "broken")
    kept.hadoop("fs", "-put", "edges.txt", "broken/edges.txt")
    refused = kept.hadoop("jar", str(JAR), "degree-distribution", "broken", "degrees", code=2)
    assert "edges.txt line 3: " in refused.stderr, refused.stderr


def count_of(kept):
    return int(kept.hadoop("fs", "-cat", "count/part-r-00000").stdout)


@pytest.mark.long
def test_a_graph_is_counted_on_it(kept):
    graph = "datasets: {make: brightkite, scale: 0.005}\n"
    record = kept.run("run", f"workloads: triangles\n{graph}hadoop: {IN_ONE_CONTAINER}\nprobes: none\n")
    assert record.outputs[0].summary["triangles"] == record.dataset.triangles > 0


@pytest.fixture(scope="module")
def sorted_there(kept):
    return kept.run("sorted", "workloads: {name: terasort, options: {size: 20MB}}\n")


def test_an_experiment_on_it_tells_what_is_not_known_and_leaves_it_as_it_was(kept, sorted_there):
    assert "cache-unknown" in {doubt.kind for doubt in sorted_there.doubts}
    assert [medium.kind for medium in sorted_there.trial.media] == ["existing"]
    assert kept.hadoop("fs", "-ls", "-C", "assay").stdout.split() == []
    assert kept.is_up()


def test_its_nodes_write_what_is_made_and_its_daemons_tell_their_counters(sorted_there):
    assert [job.name for job in sorted_there.staging_jobs] == ["generate"]
    assert "daemons" in {amount.probe for amount in sorted_there.amounts}


@pytest.fixture(scope="module")
def histories(kept, sorted_there):
    """What triage makes of the files on HDFS; among them are those of the other tests' jobs."""
    return kept.triaged("hdfs:///tmp/hadoop-yarn/staging/history")


def test_triage_reads_its_histories_on_hdfs(histories):
    sort = histories["TeraSort"]
    assert (sort["runs"], sort["counted"], sort["nodes"]) == (1, 1, 1)
    assert sort["read_bytes"] > 20_000_000
    assert sort["written_bytes"] == 20_000_000
    assert 0 <= min(sort["by_time_s"], sort["by_bytes_s"]) < sort["elapsed_s"]
    assert sort["parts"]


def test_triage_is_told_the_same_by_its_server(kept, histories):
    server = re.search(
        r"<name>mapreduce.jobhistory.webapp.address</name>\s*<value>(.+?)</value>",
        Path(kept.conf_dir, "mapred-site.xml").read_text(),
    )[1]
    told = kept.triaged(f"http://{server}")
    assert set(told) == set(histories)
    same = ("elapsed_s", "queued_s", "read_bytes", "map_output_bytes", "spilled_bytes", "shuffled_bytes", "nodes")
    for job in ("TeraGen", "TeraSort"):
        assert {name: told[job][name] for name in same} == {name: histories[job][name] for name in same}, job
        for bound in ("by_time_s", "by_bytes_s"):  # of the two a verdict is made, which stays open on a busy machine
            assert told[job][bound] == pytest.approx(histories[job][bound], rel=0.3, abs=1)


@pytest.mark.long
def test_spark_is_brought_to_it_and_taken_away_again(kept):
    record = kept.run("spark", "workloads: {name: word-count, options: {size: 4MB, files: 1}}\nengine: spark\n")
    (job,) = record.jobs
    assert (job.state, len(job.stages)) == ("SUCCEEDED", 2)
    assert job.counters["executors"]["lost"] == 0
    assert kept.hadoop("fs", "-ls", "-C", "assay").stdout.split() == []
    assert kept.is_up()


def test_it_goes_when_it_is_told_to(kept):
    assert kept.is_up()
    assert "stopped cluster-" in kept.place.assay("cluster", "down")
    assert kept.place.left_over() == []
