"""Proves that a cluster's nodes and their memory are read as YARN tells them, and what is said where it does not answer."""

from pathlib import Path

import pytest

from assay.engine.nodes_memory import NodesMemory, ask_nodes
from assay.host.http import BoundedWeb
from assay.model.errors import BadInputError, NoAnswerError
from assay.model.existing import Site
from tests.serving import serving

GIB = 1 << 30


def node(server, state="RUNNING", **memory):
    return {
        "state": state, "nodeHostName": "worker", "nodeHTTPAddress": f"127.0.0.1:{server.server_port}",
        "availMemoryMB": 1024, "usedMemoryMB": 3072, **memory,
    }  # fmt: skip


def asked(server):
    site = Site({"yarn.resourcemanager.webapp.address": f"127.0.0.1:{server.server_port}"}, Path("/conf"))
    web = BoundedWeb()
    try:
        return ask_nodes(site, web.ask)
    finally:
        web.close()


def test_nodes_that_run_what_they_offer_and_their_machine_s_memory():
    with serving({}) as server:
        server.answers["/ws/v1/cluster/nodes"] = {"nodes": {"node": [node(server), node(server), node(server, "LOST")]}}
        server.answers["/jmx"] = {"beans": [{"TotalPhysicalMemorySize": 8 * GIB}]}
        assert asked(server) == NodesMemory(2, 8 * GIB, 4 * GIB)
        server.answers["/jmx"] = {"beans": [{"TotalMemorySize": 16 * GIB}]}
        assert asked(server).node_bytes == 16 * GIB
        server.answers["/jmx"] = {"beans": [{"TotalMemorySize": 16 * GIB, "AvailableProcessors": 24}]}
        assert (asked(server).node_bytes, asked(server).processors) == (16 * GIB, 24)


def test_a_nodemanager_that_does_not_tell_leaves_its_memory_unknown():
    with serving({}) as server:
        server.answers["/ws/v1/cluster/nodes"] = {"nodes": {"node": [node(server)]}}
        assert asked(server) == NodesMemory(1, None, 4 * GIB)
        server.answers["/jmx"] = {"beans": []}
        assert asked(server).node_bytes is None


def test_of_nodes_that_differ_it_is_the_one_that_leaves_least_to_files():
    with serving({}) as small, serving({}) as large, serving({}) as server:
        nodes = [node(large, availMemoryMB=10 * 1024, usedMemoryMB=0), node(small)]
        server.answers["/ws/v1/cluster/nodes"] = {"nodes": {"node": nodes}}
        small.answers["/jmx"] = {"beans": [{"TotalMemorySize": 8 * GIB}]}
        large.answers["/jmx"] = {"beans": [{"TotalMemorySize": 16 * GIB}]}
        differences = "8.0 GiB to 16.0 GiB of memory, 4.0 GiB to 10.0 GiB for containers"
        assert asked(server) == NodesMemory(2, 8 * GIB, 4 * GIB, differences)
        large.answers["/jmx"] = {"beans": [{"TotalMemorySize": 12 * GIB}]}
        assert asked(server)[:3] == (2, 12 * GIB, 10 * GIB)


def test_of_many_nodes_twelve_are_asked_from_the_smallest_to_the_largest():
    with serving({}) as worker, serving({}) as server:
        nodes = [node(worker, availMemoryMB=1024 * size) for size in range(40)]
        server.answers["/ws/v1/cluster/nodes"] = {"nodes": {"node": nodes}}
        worker.answers["/jmx"] = {"beans": [{"TotalMemorySize": 64 * GIB}]}
        answer = asked(server)
        assert (answer.nodes, answer.differences) == (40, "3.0 GiB to 42.0 GiB for containers")
        assert len(worker.asked) == 12


@pytest.mark.parametrize("answer", [{"nodes": None}, {}, {"nodes": {"node": [{"no": "state"}]}}, (503, {})])
def test_an_answer_of_another_form_is_none(answer):
    with serving({"/ws/v1/cluster/nodes": answer}) as server, pytest.raises(NoAnswerError):
        asked(server)


def test_a_configuration_without_an_address_is_refused():
    with pytest.raises(BadInputError, match="/conf"):
        ask_nodes(Site({}, Path("/conf")), BoundedWeb().ask)
