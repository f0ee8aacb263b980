"""Proves that an HBase with Kerberos and rights of its own is used with the experiment's login, and by jobs with a token.

Its servers let in whom the realm knows, and who may make tables is granted as a site's administrator does.
"""

import shutil
import subprocess

import pytest

from assay.model.doubt import Outcome
from assay.platform.configuration import to_xml
from tests.it.driving import ROOT, assay_command
from tests.it.securing import MARKS, MASTER, REALM, USER, Beside, OnMaster, a_client

pytest.importorskip("gssapi", reason="the Kerberos library is not installed (setup/prepare kerberos)")
pytestmark = MARKS
JARS = ROOT / ".assay" / "hbase" / "lib" / "jobs"
CONTROL = "org.apache.hadoop.hbase.security.access.AccessController"
TOKENS = "org.apache.hadoop.hbase.security.token.TokenProvider"
PRINCIPALS = {f"hbase.{role}.kerberos.principal": f"hbase/_HOST@{REALM}" for role in ("master", "regionserver")}


def of_host(host, keytab):
    return {
        "hbase.master.keytab.file": keytab, "hbase.regionserver.keytab.file": keytab,
        "hbase.master.hostname": host, "hbase.regionserver.hostname": host,
        "hbase.master.info.port": "-1", "hbase.regionserver.info.port": "-1",
        "hbase.master.wait.on.regionservers.mintostart": "2",
        "hbase.coprocessor.master.classes": CONTROL,
        "hbase.coprocessor.region.classes": f"{TOKENS},{CONTROL}",
        "hbase.coprocessor.regionserver.classes": CONTROL,
    }  # fmt: skip


HBASE = Beside(
    "hbase", ("zookeeper", "hmaster", "regionserver"), "hbase",
    shared={
        "hbase.security.authentication": "kerberos", "hbase.security.authorization": "true", **PRINCIPALS,
        "hbase.cluster.distributed": "true", "hbase.rootdir": f"hdfs://{MASTER}:8020/hbase",
        "hbase.zookeeper.quorum": MASTER,
    },
    of_host=of_host,
    files=lambda home: {"zoo.cfg": f"dataDir={home}/zookeeper\nclientPort=2181\nadmin.enableServer=false\n"},
)  # fmt: skip


class Client(OnMaster):
    def run(self, out, *arguments, conf_dir=None, hbase="{}", code=0):
        experiment = self.place.experiment(f"""
experiment: secured
workloads: {{name: word-frequency, options: {{size: 1MB, files: 2}}}}
cluster:
  conf_dir: {conf_dir or self.cluster.conf_dir}
  ca_file: {self.cluster.certificates.authority}
  kerberos: {{keytab: {self.cluster.keytab}}}
store: hbase
settings: small
hbase: {hbase}
probes: none
""")
        command = assay_command("run", experiment, "--out", out, *arguments)
        return self.place.command(*self.enter, *command, code=code)

    def record(self, out, **more):
        self.run(out, **more)
        (record,) = self.place.records(out)
        assert record.outcome is Outcome.PASS, record.error
        return record

    def grant(self, namespace):
        classes = self.place.home / "classes"
        jars = ":".join(map(str, (*JARS.glob("*.jar"), *self.cluster.distribution.jars.glob("*.jar"))))
        javac = self.cluster.distribution.java.home / "bin" / "javac"
        source = ROOT / "tests" / "it" / "java" / "Grant.java"
        subprocess.run([javac, "-d", classes, "-cp", jars, "-Xlint:none", source], check=True, timeout=60)
        jars = ":".join(map(str, JARS.glob("*.jar")))
        self.cluster.administer("Grant", USER, namespace, classes=f"{classes}:{jars}")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with a_client(Client, tmp_path_factory, HBASE) as client:
        yield client


def test_who_may_make_no_tables_is_told_before_anything_starts(client):
    assert "lets you make no tables; have `grant" in client.run("none", "--dry-run", code=2).stderr


def test_a_client_that_does_not_know_the_principals_is_refused(client):
    """As with a configuration of Hadoop alone, and where HBase is."""
    unknowing = client.place.home / "unknowing"
    shutil.copytree(client.cluster.conf_dir, unknowing)
    (unknowing / "hbase-site.xml").write_text(to_xml({"hbase.zookeeper.quorum": MASTER}))
    said = client.run("none", "--dry-run", conf_dir=unknowing, code=2).stderr
    assert "refuses the login" in said, said


def test_jobs_run_with_a_token_once_the_right_is_granted(client):
    client.grant("default")
    record = client.record("puts")
    assert (record.facts["hbase"], record.facts["hbase_servers"]) == ("2.6.4-hadoop3", 2)
    assert record.facts["hbase_files"] == "not read"  # they are HBase's alone
    assert record.outputs[0].bytes > 10_000


def test_files_are_loaded_by_servers_that_run_as_somebody_else(client):
    assert client.record("bulk", hbase="{hbase.assay.load: bulk}").outputs[0].bytes > 10_000
