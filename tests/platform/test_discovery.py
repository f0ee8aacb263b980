"""Proves that the machines of a cluster are found by what ResourceManager and NameNode say, each machine once."""

import json
import re
from pathlib import Path

import pytest

from assay.model.errors import NoAnswerError
from assay.model.existing import Site
from assay.model.installed import stack_of
from assay.platform import existing

RM, NN = "http://rm.example.com:8088", "http://10.0.0.1:9870"


def discover(ask, addresses, properties=(), **options):
    site = Site(dict(properties), Path("conf"))
    return existing.discover(ask, addresses, stack_of().existing, site, **options)


def in_yarn(host, state="RUNNING", address=None):
    return {"nodeHostName": host, "state": state, "nodeHTTPAddress": address or f"{host}:8042", "id": f"{host}:45454"}


def asking(yarn, hdfs):
    """`yarn` is a list of nodes, `hdfs` of live ones by name; a text instead is why there is no answer."""

    def ask(url, parameters):
        assert parameters == {}
        found = yarn if url.startswith(RM) else hdfs
        if isinstance(found, str):
            raise NoAnswerError(url, found)
        if url.startswith(RM):
            return {"nodes": {"node": found} if found else None}
        return {"beans": [{"LiveNodes": json.dumps(found)}]}

    return ask


def test_each_machine_has_its_daemons_by_both_masters():
    live = {
        "w1.example.com:9866": {"infoAddr": "10.0.0.11:9864", "infoSecureAddr": "10.0.0.11:0"},
        "w2.example.com:9866": {"infoAddr": "10.0.0.12:0", "infoSecureAddr": "10.0.0.12:9865"},
    }
    yarn = [in_yarn("w1.example.com"), in_yarn("w3.example.com"), in_yarn("w4.example.com", "LOST")]
    hosts, overlooked = discover(asking(yarn, live), {"resourcemanager": RM, "namenode": NN, "historyserver": NN})
    assert overlooked == ()
    assert [(host.name, dict(host.web)) for host in hosts] == [
        ("10.0.0.1", {"namenode": (NN,), "historyserver": (NN,)}),
        ("rm.example.com", {"resourcemanager": (RM,)}),
        ("w1.example.com", {"nodemanager": ("http://w1.example.com:8042",), "datanode": ("http://10.0.0.11:9864",)}),
        ("w2.example.com", {"datanode": ("https://w2.example.com:9865",)}),
        ("w3.example.com", {"nodemanager": ("http://w3.example.com:8042",)}),
    ]
    assert [host.address for host in hosts] == ["", "", "10.0.0.11", "10.0.0.12", ""]


def test_ipv6_addresses_stand_in_brackets_however_they_are_told():
    live = {
        "w1:9866": {"infoAddr": "0:0:0:0:0:0:0:1:9864"},
        "[fd00::2]:9866": {"infoAddr": "[fd00::2]:9864"},
        "fd00:0:0:0:0:0:0:3:9866": {"infoAddr": "fd00:0:0:0:0:0:0:3:0", "infoSecureAddr": "fd00:0:0:0:0:0:0:3:9865"},
    }
    yarn = [in_yarn("w1", address="fd00:0:0:0:0:0:0:1:8042")]
    hosts, overlooked = discover(asking(yarn, live), {"resourcemanager": RM, "namenode": NN})
    assert overlooked == ()
    assert {url for host in hosts for urls in host.web.values() for url in urls} >= {
        "http://[fd00:0:0:0:0:0:0:1]:8042", "http://[0:0:0:0:0:0:0:1]:9864", "http://[fd00::2]:9864",
        "https://[fd00:0:0:0:0:0:0:3]:9865",
    }  # fmt: skip


def test_where_a_login_is_wanted_a_datanode_has_its_name():
    live = {"w1:9866": {"infoAddr": "10.0.0.1:9864"}}
    hosts, _ = discover(asking([], live), {"namenode": NN}, by_name=True)
    assert ("http://w1:9864",) in {host.web.get("datanode") for host in hosts}


def test_yarn_over_tls_and_masters_on_workers():
    live = {"w1:9866": {"infoAddr": "10.0.0.1:9864"}}
    hosts, _ = discover(
        asking([in_yarn("w1.example.com", address="w1.example.com:8044")], live),
        {"resourcemanager": RM, "namenode": NN}, {"yarn.http.policy": "HTTPS_ONLY"},
    )  # fmt: skip
    assert {host.name: sorted(host.web) for host in hosts} == {
        "rm.example.com": ["resourcemanager"], "w1.example.com": ["datanode", "namenode", "nodemanager"],
    }  # fmt: skip
    assert hosts[1].web["nodemanager"] == ("https://w1.example.com:8044",)


@pytest.mark.parametrize(
    ("yarn", "hdfs", "why"), [("refused", {}, "8088.*refused"), ([{}], {}, "is incomplete or malformed: 'state'")]
)
def test_a_master_that_does_not_list_them_is_told(yarn, hdfs, why):
    hosts, (said,) = discover(asking(yarn, hdfs), {"resourcemanager": RM, "namenode": NN})
    assert [host.name for host in hosts] == ["10.0.0.1", "rm.example.com"]
    assert re.search(why, said)


def test_a_machine_is_one_however_its_masters_write_its_name():
    live = {
        "W1.Example.COM:9866": {"infoAddr": "10.0.0.11:9864"},
        "w2.example.com.:9866": {"infoAddr": "[2001:db8::12]:9864"},
    }
    yarn = [in_yarn("w1.example.com"), in_yarn("W2"), in_yarn("10.0.0.12")]
    masters = {"resourcemanager": RM, "namenode": NN, "historyserver": "http://[2001:DB8:0:0::12]:19888"}
    hosts, _ = discover(asking(yarn, live), masters)
    assert {host.name: sorted(host.web) for host in hosts} == {
        "10.0.0.1": ["namenode"], "10.0.0.12": ["nodemanager"], "W2": ["datanode", "historyserver", "nodemanager"],
        "rm.example.com": ["resourcemanager"], "w1.example.com": ["datanode", "nodemanager"],
    }  # fmt: skip
    assert next(host for host in hosts if host.name == "W2").web["datanode"] == ("http://[2001:db8::12]:9864",)


def test_a_machine_may_have_several_daemons_of_a_kind():
    live = {f"w1:{port}": {"infoAddr": f"10.0.0.11:{port - 2}"} for port in (9866, 9966)}
    yarn = [in_yarn("w1", address=f"w1:{port}") for port in (8042, 8142, 8042)]
    hosts, _ = discover(asking(yarn, live), {"resourcemanager": RM, "namenode": NN})
    (worker,) = [host for host in hosts if host.name == "w1"]
    assert worker.web == {
        "nodemanager": ("http://w1:8042", "http://w1:8142"),
        "datanode": ("http://10.0.0.11:9864", "http://10.0.0.11:9964"),
    }
