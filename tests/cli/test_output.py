"""Proves what goes to standard output and what to standard error, with --quiet, --verbose and --json."""

import io
import json

import click
import pytest
from click.testing import CliRunner
from rich.console import Console

from assay.cli import cli
from assay.cli.cluster import cluster_down
from assay.cli.console import ConsoleDisplay, Output
from assay.cli.context import open_output
from assay.model.errors import BadInputError
from tests.builders import a_plan, a_record, a_trial, an_installation

CIRCLE = "1 2\n2 3\n3 1\n"


def shown(*, verbose, terminal=False):
    """What a display of one trial prints."""
    trial = a_trial(1)
    said = io.StringIO()
    display = ConsoleDisplay(Console(file=said, width=200, force_terminal=terminal), a_plan(trial), verbose=verbose)
    display.trial_begins(trial, 1, 1)
    display.step("start cluster")
    display.detail("job 1/3")
    display.step("run")
    display.trial_ends(a_record(trial))
    display.close()
    return said.getvalue()


def test_without_a_terminal_each_trial_takes_one_line_and_with_verbose_each_step_one():
    assert [line.split(":")[0] for line in shown(verbose=False).splitlines()] == ["trial 1/1 triangles on disk"]
    steps = ["assay: trial 1/1 triangles on disk · start cluster", "assay: trial 1/1 triangles on disk · run"]
    assert shown(verbose=True).splitlines()[:-1] == steps


def test_on_a_terminal_steps_share_a_live_line():
    assert "trial 1/1 triangles on disk · run" in shown(verbose=False, terminal=True)


def test_a_quiet_console_shows_nothing_at_all():
    said = io.StringIO()
    display = ConsoleDisplay(Console(file=said, force_terminal=True, quiet=True), verbose=True)
    display.step("start cluster")
    display.detail("more")
    display.close()
    assert said.getvalue() == ""


def test_where_words_go(capsys):
    for options in ({}, {"quiet": True}, {"as_json": True}, {"as_json": True, "quiet": True}):
        output = open_output(**options)
        output.results.print("result")
        output.progress.print("progress")
        printed = capsys.readouterr()
        both = "" if options.get("as_json") and options.get("quiet") else "result\n"
        both += "" if options.get("quiet") else "progress\n"
        assert (printed.out, printed.err) == (("", both) if options.get("as_json") else (both, "")), options
    with pytest.raises(click.UsageError, match="--quiet and --verbose contradict each other"):
        open_output(quiet=True, verbose=True)


@pytest.fixture
def graph(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "circle.txt").write_text(CIRCLE)
    return tmp_path


def assay(*words):
    return CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)


@pytest.mark.usefixtures("graph")
def test_a_checked_graph_as_json_is_alone_on_standard_output():
    done = assay("data", "check", "circle.txt", "--json")
    document = json.loads(done.stdout)
    assert (document["name"], document["size_bytes"]) == ("circle", len(CIRCLE))
    assert (document["facts"]["nodes"], document["facts"]["edges"]) == (3, 3)
    assert document["read"]["lines"] == 3
    assert document["verdicts"] == []
    assert "circle: 3 nodes, 3 edges" in done.stderr
    silent = assay("data", "check", "circle.txt", "--json", "--quiet")
    assert (json.loads(silent.stdout), silent.stderr) == (document, "")


def test_what_a_checked_file_lacks_is_said_in_options(graph):
    (graph / "three.csv").write_text("0,10,20\n1,10,30\n2,20,30\n")
    with pytest.raises(BadInputError, match="with `--columns A,B`"):
        assay("data", "check", "three.csv")
    assert "this graph can be used" in assay("data", "check", "three.csv", "--columns", "2,3").stdout


@pytest.mark.usefixtures("graph")
def test_words_are_on_standard_output_without_json():
    done = assay("data", "check", "circle.txt", "--quiet")
    assert "circle: 3 nodes, 3 edges" in done.stdout
    assert done.stderr == ""


def test_what_was_stopped_as_json(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("assay.cli.cluster.remove_left_overs", lambda: ["kernel trace assay_1"])
    cluster_down(an_installation(tmp_path), open_output(as_json=True))
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"stopped": [], "removed": ["kernel trace assay_1"]}
    assert printed.err == "removed what a killed run left behind (kernel trace assay_1)\n"


def test_an_output_on_one_console_has_all_words_there():
    console = Console(quiet=True)
    assert Output.on(console) == Output(console, console)
