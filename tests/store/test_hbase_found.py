"""Proves that an HBase that is there already is found, asked before anything starts, and refused in one sentence."""

import json
import os
from pathlib import Path

import pytest

from assay.model.errors import BadInputError
from assay.model.existing import Site
from assay.model.running_cluster import RunningCluster
from assay.node.local import LocalNode
from assay.store import hbase_found
from assay.store.hbase_tables import HbaseTables
from tests.serving import serving

WELL = {
    "client": "2.6.4-hadoop3", "server": "2.5.1", "servers": 3, "files": True, "may_create": True,
}  # fmt: skip


def site(**properties):
    return Site({name.replace("_", "."): value for name, value in properties.items()}, Path("/etc/conf"))


def test_it_is_where_the_experiment_or_else_its_configuration_says():
    by_file = site(
        hbase_zookeeper_quorum="a,b", hbase_zookeeper_property_clientPort="2222", zookeeper_znode_parent="/x"
    )
    found = hbase_found.properties({}, by_file)
    assert (found[hbase_found.QUORUM], found[hbase_found.PORT], found[hbase_found.ZNODE]) == ("a,b", "2222", "/x")
    found = hbase_found.properties({"quorum": "c:1", "znode": "/y"}, by_file)
    assert (found[hbase_found.QUORUM], found[hbase_found.ZNODE]) == ("c:1", "/y")
    assert found["mapreduce.job.inputformat.class"] == "org.assay.hbase.LinesInputFormat"
    with pytest.raises(BadInputError, match=r"^/etc/conf does not say where HBase is: .* quorum: HOST:PORT"):
        hbase_found.properties({}, site())


@pytest.fixture
def zookeeper():
    """Whatever listens: what it says is asked by HBase's own client."""
    with serving({}) as server:
        yield server.url.removeprefix("http://")


@pytest.fixture
def cluster(tmp_path, zookeeper):
    """A cluster whose `hadoop` command tells something in HBase's place."""

    def telling(text="", said="", **changes):
        hadoop = tmp_path / "hadoop"
        told = text or json.dumps({**WELL, **changes})
        hadoop.write_text(f"#!/bin/bash\necho 'INFO of something'\necho '{said}' >&2\necho '{told}'\n")
        hadoop.chmod(0o755)
        properties = hbase_found.properties({"quorum": zookeeper}, site())
        return RunningCluster(
            hadoop, tmp_path, "3.4.2", addresses={}, properties=properties, environment=dict(os.environ), outlives=True
        )

    return telling


def test_what_it_is_goes_into_the_record(cluster):
    assert hbase_found.check(cluster(), {}) == {"hbase": "2.5.1", "hbase_servers": 3, "hbase_files": "read"}
    assert hbase_found.check(cluster(may_create=None), {})["hbase"] == "2.5.1"  # no access control to ask


@pytest.mark.parametrize(
    ("changes", "chosen", "message"),
    [
        ({"server": "1.4.9"}, {}, r"is 1\.4\.9, and Assay's client 2\.6\.4-hadoop3 can talk to major version 2 alone"),
        ({"error": "GSS initiate failed", "refused": True}, {}, "refuses the login: GSS initiate failed; look whether"),
        (
            {"error": "NoNode for /x/master", "refused": False},
            {},
            "leads to no HBase .*: NoNode for /x/master; is HBase up",
        ),
        ({"servers": 0}, {}, "has no region server that is up"),
        ({"may_create": False}, {}, "lets you make no tables; have"),
        (
            {"files": False},
            {"hbase.assay.read": "snapshot"},
            "hbase.assay.read is snapshot, and you can't read the files",
        ),
        (
            {},
            {"hbase.assay.laod": "bulk"},
            "hbase.assay.laod is no property of tables; did you mean 'hbase.assay.load'",
        ),
        ({}, {"hbase.assay.load": "push"}, "hbase.assay.load is 'push', and must be puts or bulk"),
        (
            {"text": "no JSON", "said": "Error: no class Reach"},
            {},
            "HBase's client can't be run here: Error: no class Reach",
        ),
    ],
)
def test_what_can_not_be_used_is_refused_in_one_sentence(cluster, changes, chosen, message):
    with pytest.raises(BadInputError, match=message):
        hbase_found.check(cluster(**changes), chosen)


def test_a_quorum_that_does_not_answer_is_named_with_its_reason(cluster):
    (port,) = LocalNode().free_ports(1)
    silent = cluster()
    silent = RunningCluster(
        silent.hadoop, silent.conf_dir, "3.4.2", addresses={},
        properties={**silent.properties, hbase_found.QUORUM: f"localhost:{port}"},
    )  # fmt: skip
    with pytest.raises(BadInputError, match=f"does not answer: localhost:{port}: Connection refused; look whether"):
        hbase_found.check(silent, {})


def test_without_sight_of_its_files_a_size_is_that_of_the_lines(tmp_path):
    hadoop = tmp_path / "hadoop"
    hadoop.write_text("#!/bin/bash\n[[ $2 == -cat ]] && printf 'one\\ntwo\\n'\n")
    hadoop.chmod(0o755)
    assert HbaseTables(hadoop, {}, sees_files=False).size_bytes("/a") == 8
