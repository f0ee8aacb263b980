"""Proves that an HBase that is there already holds the data of jobs on the YARN beside it, and is left as it was.

The tests share a cluster of Assay's own, whose clients know of its HBase what the experiment says. The last one stops
it.
"""

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Status
from assay.model.registry import STORES
from assay.store.hbase import KIND
from assay.store.hbase_tables import FORMATS, HbaseTables
from tests.it.driving import HADOOP, JAR, ROOT, a_place, assay_command

pytestmark = [pytest.mark.it, pytest.mark.long]
CLASSES = "mapreduce.application.classpath"
JARS = ROOT / ".assay" / "hbase" / "lib" / "jobs"


class Found:
    """A place with a cluster, what its clients have, and where ZooKeeper is."""

    def __init__(self, place, said):
        self.place = place
        self._conf_dir = Path(re.search(r"^export HADOOP_CONF_DIR=(.+)$", said, re.MULTILINE)[1])
        self._hadoop = re.search(r"`hadoop` command: (.+)$", said, re.MULTILINE)[1]
        self.conf_dir = place.home / "clients"
        self.conf_dir.mkdir()
        for name in ("core", "hdfs", "yarn", "mapred"):
            shutil.copy(self._conf_dir / f"{name}-site.xml", self.conf_dir)
        forget_hbase(self.conf_dir / "mapred-site.xml")
        site = (self._conf_dir / "hbase-site.xml").read_text()
        port = re.search(r"clientPort</name>\s*<value>(.+?)<", site)[1]
        self.quorum = f"127.0.0.1:{port}"

    def experiment(self, quorum, more="", hbase="{}"):
        return self.place.experiment(f"""
experiment: found
workloads: {{name: word-frequency, options: {{size: 1MB, files: 2}}}}
cluster: {{conf_dir: {self.conf_dir}}}
store: {{kind: hbase, quorum: '{quorum}'{more}}}
settings: small
hbase: {hbase}
probes: none
""")

    def hadoop(self, *arguments, code=0, stdin=""):
        """What Hadoop's client, with HBase's jars and where HBase is, answers."""
        classes = ":".join(map(str, (self.place.home / "classes", *JARS.glob("*.jar"))))
        command = ("env", f"HADOOP_CLASSPATH={classes}", self._hadoop, *map(str, arguments))
        return self.place.command(*command, code=code, stdin=stdin)

    def run_program(self, name, *arguments):
        """Run a client of somebody else's."""
        jars = ":".join(map(str, (*JARS.glob("*.jar"), *(HADOOP / "lib").glob("*.jar"))))
        source = ROOT / "tests" / "it" / "java" / f"{name}.java"
        javac = Path((ROOT / ".assay" / "java-home").read_text().strip(), "bin", "javac")
        self.place.command(str(javac), "-d", "classes", "-cp", jars, "-Xlint:none", str(source))
        self.hadoop(name, *arguments)


def forget_hbase(file):
    """Of jobs' properties what names HBase goes: its jars on the nodes."""
    tree = ET.parse(file)
    for entry in list(tree.getroot()):
        name, value = entry.find("name").text, entry.find("value")
        if name == CLASSES:
            value.text = ",".join(part for part in value.text.split(",") if "hbase" not in part)
    tree.write(file)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    with a_place(tmp_path_factory.mktemp("found")) as place:
        yield Found(place, place.assay("cluster", "up", "--store", "hbase", "--settings", "small"))


def test_a_quorum_where_nobody_listens_is_refused_before_anything_starts(found):
    done = found.place.command(*dry(found, "127.0.0.1:1"), code=2)
    assert "ZooKeeper of HBase does not answer: 127.0.0.1:1: Connection refused" in done.stderr


def test_a_place_in_zookeeper_without_hbase_is_refused_before_anything_starts(found):
    done = found.place.command(*dry(found, found.quorum, ", znode: /other"), code=2)
    assert "/other leads to no HBase that this machine reaches" in done.stderr


def dry(found, quorum, more=""):
    return assay_command("run", found.experiment(quorum, more), "--dry-run")


@pytest.mark.parametrize(
    "hbase",
    ["{}", "{hbase.assay.load: bulk, hbase.assay.regions: 2}"],
    ids=["puts", "bulk"],
)
def test_jobs_run_on_tables_of_it_which_are_gone_afterwards(found, hbase):
    found.place.assay("run", found.experiment(found.quorum, hbase=hbase), "--out", hbase.strip("{}")[-3:] or "puts")
    (record,) = found.place.records(hbase.strip("{}")[-3:] or "puts")
    assert record.outcome is Outcome.PASS, record.error
    assert record.facts["hbase"] == "2.6.4-hadoop3"
    assert (record.facts["hbase_servers"], record.facts["hbase_files"]) == (1, "not read")
    assert record.outputs[0].bytes > 10_000
    assert record.landed == ()
    assert tables(found) == []
    assert found.hadoop("fs", "-ls", "-C", "assay").stdout.split() == []
    assert "assay-tables" not in found.hadoop("fs", "-ls", "-C").stdout.split()


class ForgetfulTables(HbaseTables):
    """A server's rows are gone when all has been put, and nobody says so."""

    def _write(self, path, pieces):
        super()._write(path, pieces)
        region = f"{self.location(path.rpartition('/')[0])}/region-00001"
        command = [str(self._hadoop), "fs", "-rm", "-skipTrash", region]
        subprocess.run(command, env=self._environment, check=True, capture_output=True)


def forgetful(cluster):
    whole = KIND.open(cluster)
    return ForgetfulTables(whole._hadoop, whole._environment, sees_files=False)


def test_rows_deleted_behind_hbases_back_fail_the_trial(found, monkeypatch):
    monkeypatch.setitem(STORES._read(), "hbase", KIND._replace(open=forgetful))
    record = found.place.run_in_this_process(found.experiment(found.quorum), "forgotten")
    assert record.status is Status.FINISHED, record.error
    assert record.outcome is Outcome.FAIL
    assert "lines were put there" in " ".join(verdict.detail for verdict in record.verdicts)
    assert tables(found) == []


def tables(found):
    return found.hadoop("fs", "-ls", "-C", "hbase:/").stdout.split()


def test_a_table_of_somebody_else_is_refused_by_its_name(found):
    found.run_program("TheirTable", "theirs")
    (found.place.home / "rows.txt").write_text("ours\n")
    theirs = "table theirs is there already, and is none of Assay's: "
    refused = found.hadoop("fs", "-put", "-d", "rows.txt", "hbase:/theirs/rows.txt", code=1)
    assert theirs in refused.stderr
    assert theirs in found.hadoop("fs", "-rm", "-r", "-skipTrash", "hbase:/theirs", code=1).stderr
    assert theirs in found.hadoop("fs", "-rm", "-skipTrash", "hbase:/theirs/region-00000", code=1).stderr
    assert found.hadoop("fs", "-cat", "hbase:/theirs/region-00000").stdout == "theirs\n"


def test_a_row_that_has_lost_a_family_is_no_shorter_line(found):
    divided = ("-Dhbase.assay.columns=used-apart", "-Dhbase.assay.used=1", "-Dhbase.assay.regions=1")
    # From a file the client would refuse: it looks for the table first, which the first line makes.
    found.hadoop("fs", *divided, "-put", "-d", "-", "hbase:/divided/rows", stdin="1,2\n3\n")
    assert found.hadoop("fs", "-cat", "hbase:/divided/region-00000").stdout == "1,2\n3\n"
    found.run_program("LostFamily", "divided", "r")
    assert "has lost r:r" in found.hadoop("fs", "-cat", "hbase:/divided/region-00000", code=1).stderr
    found.hadoop("fs", "-rm", "-r", "-skipTrash", "hbase:/divided")


def test_a_job_by_hand_that_knows_nothing_of_tables_runs_on_files(found):
    (found.place.home / "words.txt").write_text("one two two\n")
    plain = ("env", "-u", "HADOOP_CLASSPATH", found._hadoop)
    found.place.command(*plain, "fs", "-put", "-f", "words.txt", "/words.txt")
    found.place.command(*plain, "jar", str(JAR), "word-frequency", "/words.txt", "/counts")
    assert sorted(found.place.command(*plain, "fs", "-cat", "/counts/part-*").stdout.split()) == [
        "1",
        "2",
        "one",
        "two",
    ]


def test_paths_that_can_not_be_used_are_named(found):
    formats = (f"-D{name}={value}" for name, value in FORMATS.items())
    count = ("jar", JAR, "word-frequency", *formats, "hbase:/theirs")
    assert "output hbase:/theirs already exists" in found.hadoop(*count, "hbase:/theirs", code=2).stderr
    assert "hbase:/a.b names no table: its parts have letters" in found.hadoop(*count, "hbase:/a.b", code=1).stderr
    missing = found.hadoop(*count[:-1], "hbase:/nowhere", "hbase:/counts", code=2).stderr
    assert "input hbase:/nowhere does not exist" in missing


def test_the_cluster_goes_when_it_is_told_to(found):
    assert "stopped cluster-" in found.place.assay("cluster", "down")
    assert found.place.left_over() == []
