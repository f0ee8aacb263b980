"""Proves that the command line refuses bad input with exit code 2 and one printable sentence, and starts nothing."""

import os
import re
import sys
from importlib import import_module
from pathlib import Path

import click
import click.testing
import pytest

from assay.cli import SUMMARIES, cli, main
from assay.cli.context import Duration, Number, Percentage, UserPath, find_installation
from tests.report.made_runs import made_run, made_trials, write_run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def refused(monkeypatch, capsys, tmp_path):
    """What is said of some words; the test fails where they are not refused."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def say(*words):
        monkeypatch.setattr(sys, "argv", ["assay", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code, said.out, said.err.count("\n")) == (2, "", 1), said
        assert said.err.startswith("assay: ")
        assert said.err.strip().isprintable()
        assert "Errno" not in said.err
        return said.err

    return say


def test_a_pipe_and_a_device_as_experiment_profile_and_record(refused, tmp_path):
    os.mkfifo(tmp_path / "pipe.yaml")
    for words in (("run", "pipe.yaml", "--dry-run"), ("media", "show", "pipe.yaml"), ("media", "list", "pipe.yaml")):
        assert "pipe.yaml can't be read: it is a pipe (FIFO), and a regular file is needed" in refused(*words)
    for words in (("run", "/dev/zero", "--dry-run"), ("media", "show", "/dev/zero")):
        assert "/dev/zero can't be read: it is a device" in refused(*words)
    run = write_run(tmp_path / "run", *made_run(made_trials(repetitions=1)))
    (run.path / "plan.json").unlink()
    os.mkfifo(run.path / "plan.json")
    for words in (("report", "run"), ("compare", "run", "other")):
        assert "run/plan.json can't be read: it is a pipe" in refused(*words)


def test_paths_where_nothing_can_be(refused, tmp_path):
    (tmp_path / "circle").symlink_to("circle")
    assert "its name is too long" in refused("data", "check", "x" * 300)
    assert "its name is too long" in refused("run", "e.yaml", "--out", "x" * 300)
    assert "lead in a circle" in refused("report", "circle")
    assert "NUL character" in refused("report", "a\0b")
    assert "it is empty" in refused("report", "")
    assert "nowhere is not a folder" in refused("data", "make", "brightkite", "--to", "nowhere/graph.tsv")


def test_control_characters_are_not_passed_on(refused):
    assert "a\\x1b[31m\\x07" in refused("data", "check", "a\x1b[31m\x07")
    assert "a\\nb" in refused("report", "a\nb")


def test_numbers_that_are_none(refused):
    assert "not a finite number" in refused("data", "make", "brightkite", "--scale", "nan")
    assert "not a finite number" in refused("data", "make", "brightkite", "--scale", "1e400")
    assert "--seed" in refused("data", "make", "brightkite", "--seed", "-1")
    assert "--size is '3GiB; rm', and must be a size" in refused("media", "attach", "wd10ezex", "--size", "3GiB; rm")
    assert "at least 1MiB" in refused("media", "attach", "wd10ezex", "--size", "20")
    assert "more than a day" in refused("media", "calibrate", ".", "--seconds", "1e300")
    assert "--format belongs to a file of yours" in refused("data", "check", "brightkite", "--format", "csv")


def test_a_wrong_option_is_one_sentence_with_where_help_is(refused):
    assert "No such option" in refused("run", "--fro", "2h")
    assert refused("run").endswith("see `assay run --help`\n")


@pytest.mark.parametrize(
    ("text", "seconds"), [("2h", 7200), ("90min", 5400), ("1h30m", 5400), ("1.5 h", 5400), ("1s", 1)]
)
def test_durations(text, seconds):
    assert Duration().convert(text, None, None) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2",
        "0s",
        "0.5s",
        "-1h",
        "1d",
        "1h 30",
        "2h2h",
        "9" * 400 + "h",
        "1" * 30_000,
        "999999h",
        "nan",
        "1e3h",
        "٢h",
    ],
)
def test_no_durations(text):
    with pytest.raises(click.BadParameter):
        Duration().convert(text, None, None)


def test_every_path_and_number_of_a_command_is_checked():
    commands = [cli]
    for group in commands:
        if isinstance(group, click.Group):
            commands += [group.get_command(None, name) for name in group.list_commands(None)]
    kinds = {type(parameter.type) for command in commands for parameter in command.params}
    assert {UserPath, Number} <= kinds
    assert not kinds & {click.Path, click.File, type(click.FLOAT), click.types.StringParamType}


BEGINNINGS = ["triage", "quickstart"]
"""For who has a cluster, and to see what a test says."""


def test_help_readme_and_tutorial_begin_with_the_same_commands():
    said = click.testing.CliRunner().invoke(cli, ["--help"]).output
    for text in (
        said.partition("Commands:")[0],
        *((ROOT / name).read_text() for name in ("README.md", "docs/tutorial.md")),
    ):
        commands = re.findall(rf"\bassay ({'|'.join(SUMMARIES)})\b", text)
        assert [*dict.fromkeys(name for name in commands if name in {*BEGINNINGS, commands[0]})] == BEGINNINGS


@pytest.mark.parametrize(
    ("is_checkout", "cure"), [(True, r"remove \S+/\.assay/venv\.stamp, then start again"), (False, "with pip")]
)
def test_a_library_that_is_missing_is_one_sentence_with_its_cure(refused, monkeypatch, is_checkout, cure):
    monkeypatch.setattr("assay.cli.is_checkout", lambda: is_checkout)
    monkeypatch.setattr("assay.cli.runs.run_folders", lambda _: import_module("no_such_library"))
    assert re.search(rf"^assay: the Python library no_such_library is missing; .*{cure}", refused("runs"))


def leaves(group, path=()):
    """Each command below a group, with its words."""
    for name in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), name)
        yield from leaves(command, (*path, name)) if isinstance(command, click.Group) else [((*path, name), command)]


@pytest.mark.parametrize(
    ("words", "command"), [*leaves(cli)], ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_an_empty_text_is_refused_wherever_one_is_wanted(words, command):
    """Such as a variable of the shell that has no value."""
    texts = [parameter for parameter in command.params if issubclass(type(parameter.type), click.types.StringParamType)]
    for parameter in texts:
        with pytest.raises(click.BadParameter, match="it is empty"):
            parameter.type_cast_value(
                click.Context(command), "" if not parameter.multiple and parameter.nargs == 1 else [""]
            )


def test_an_empty_profile_folder_and_drive_are_one_sentence(refused):
    for words in (("media", "attach", ""), ("triage", "--history", ""), ("triage", "--history", "x", "--drives", "")):
        assert "it is empty; see `assay" in refused(*words)


@pytest.mark.parametrize("variable", ["COLUMNS", "LINES"])
@pytest.mark.parametrize("value", ["0", "1", "-5", "x", "99999999999", ""])
def test_a_terminal_of_no_size_shows_what_another_does(variable, value, monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shown = []
    for name in (variable, "NO_SUCH_VARIABLE"):
        monkeypatch.delenv("COLUMNS", raising=False)
        monkeypatch.delenv("LINES", raising=False)
        monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["assay", "workloads", "list"])
        with pytest.raises(SystemExit):
            main()
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1]
    assert "terasort" in shown[0]


def test_caches_lie_in_absolute_folders_alone(refused, monkeypatch):
    monkeypatch.setenv("HOME", "relative")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert "HOME is no absolute path" in refused("data", "list")
    monkeypatch.setenv("HOME", "/home/somebody")
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, "relative")
    assert find_installation().cache == Path("/home/somebody/.cache/assay")
    assert find_installation().state == Path("/home/somebody/.local/state/assay")


@pytest.mark.parametrize("name", SUMMARIES)
def test_a_command_s_summary_is_the_first_sentence_of_its_help(name):
    command = cli.get_command(None, name)
    assert command.help.split("\n\n")[0].replace("\n", " ").strip() == SUMMARIES[name]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("workload",), "No such command 'workload'. Did you mean 'workloads'? see `assay --help`"),
        (("repor",), "No such command 'repor'. Did you mean 'report'? see `assay --help`"),
        (("media", "lst"), "No such command 'lst'. Did you mean 'list'? see `assay media --help`"),
        (("zzz",), "No such command 'zzz'; see `assay --help`"),
    ],
)
def test_a_command_that_there_is_not_gets_a_suggestion(refused, words, says):
    assert refused(*words) == f"assay: {says}\n"


def test_no_summary_is_cut_in_the_help():
    said = click.testing.CliRunner().invoke(cli, ["--help"], prog_name="assay", terminal_width=60).output
    text = " ".join(said.split())
    assert [name for name, words in SUMMARIES.items() if words.partition(". ")[0] not in text] == []


@pytest.mark.parametrize(
    ("words", "completed"),
    [("assay re", ["plain,report"]), ("assay runs --js", ["plain,--json"]), ("assay report ru", ["file,ru"])],
)
def test_a_shell_completes_commands_options_and_paths(monkeypatch, capsys, words, completed):
    monkeypatch.setenv("_ASSAY_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    monkeypatch.setattr(sys, "argv", ["assay"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert capsys.readouterr().out.splitlines() == completed


@pytest.mark.parametrize(("text", "share"), [("5%", 0.05), ("0%", 0.0), ("12.5 %", 0.125), ("1000%", 10.0)])
def test_percentages(text, share):
    assert Percentage().convert(text, None, None) == share


@pytest.mark.parametrize("text", ["5", "", "-1%", "1001%", "%", "nan%", "1e1%"])
def test_no_percentages(text):
    with pytest.raises(click.BadParameter, match="write it as 5%"):
        Percentage().convert(text, None, None)


def test_help_as_a_word_is_the_option():
    def shown(*words):
        return click.testing.CliRunner().invoke(cli, words, prog_name="assay", catch_exceptions=False).output

    assert shown("help") == shown("--help")
    assert shown("help", "media", "list") == shown("media", "list", "--help")
