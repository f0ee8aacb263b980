"""Proves that what probes of killed runs left is known by its name, and that a run and `cluster down` take it away."""

import json
import os
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from assay.cli import cluster, run
from assay.cli.console import Output
from assay.host.processes import is_left_over, own_name
from assay.probe import nftables
from assay.probe.nftables import FlowsError
from assay.probe.sampler import remove_left_overs
from assay.probe.trace import kernel

SPACE = Path("/proc/self/ns/pid").stat().st_ino


def names():
    """Ours, one of a process number that is used again, one of a dead process, one of a process elsewhere."""
    own = own_name()
    began = own.split("_")[3]
    return own, f"assay_{SPACE}_{os.getpid()}_{int(began) - 1}_0", f"assay_{SPACE}_4194305_77_0", "assay_1_4194305_77_0"


def test_only_what_dead_processes_of_this_namespace_made_is_left_over():
    own, reused, dead, elsewhere = names()
    assert [is_left_over(name) for name in (own, reused, dead, elsewhere, "filter")] == [
        False, True, True, False, False
    ]  # fmt: skip
    assert own_name() != own


def use(monkeypatch, nft, tracefs):
    """Another packet filter and tracefs than this machine's."""
    monkeypatch.setattr(nftables, "run_nft", nft)
    monkeypatch.setattr(kernel.remove_left_overs, "__defaults__", (tracefs,))


def test_tables_and_traces_go_together(tmp_path, monkeypatch):
    own, reused, dead, elsewhere = names()
    asked = []
    for name in (own, dead, elsewhere, "theirs"):
        (tmp_path / "instances" / name).mkdir(parents=True)

    def nft(_script, arguments):
        asked.append(arguments)
        return json.dumps({"nftables": [{"table": {"name": name}} for name in (own, reused)]})

    use(monkeypatch, nft, tmp_path)
    assert remove_left_overs() == [f"packet counters {reused}", f"kernel trace {dead}"]
    assert asked[1:] == [("delete", "table", "inet", reused)]
    assert sorted(one.name for one in (tmp_path / "instances").iterdir()) == sorted([own, elsewhere, "theirs"])


def test_where_it_may_not_look_it_says_nothing(tmp_path, monkeypatch):
    def nft(_script, _arguments):
        raise FlowsError("Operation not permitted")

    use(monkeypatch, nft, tmp_path)
    assert remove_left_overs() == []


@pytest.fixture
def console(monkeypatch):
    for command in (run, cluster):
        monkeypatch.setattr(command, "remove_left_overs", lambda: ["kernel trace assay_1_2_3_4"])
    return Console(file=StringIO())


def test_a_run_begins_and_cluster_down_ends_with_it(console, tmp_path):
    installation = SimpleNamespace(state=tmp_path)
    run._clean_left_overs(installation, console)
    cluster.cluster_down(installation, Output.on(console))
    said = console.file.getvalue().splitlines()
    assert said == [
        "assay: removed what a killed run left behind (kernel trace assay_1_2_3_4)",
        "removed what a killed run left behind (kernel trace assay_1_2_3_4)",
    ]
