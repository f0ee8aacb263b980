"""Proves that shipped experiments are listed by their questions, and that each key of an experiment is an option."""

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.cli.context import find_installation, vocabulary
from assay.cli.experiment_keys import OF_THE_FILE, KeyOption, key_options
from assay.model.errors import BadInputError
from assay.plan.experiment import ExperimentFile
from assay.plan.make import plan_and_more
from assay.plan.overrides import Override
from assay.plan.property_keys import property_keys
from assay.plan.source import ExperimentSource
from tests.toys import plugged_in

ROOT = Path(__file__).parents[2]


def said(*words):
    done = CliRunner().invoke(cli, ["experiments", *words], prog_name="assay", catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def names_in(text):
    """The experiments of a list, each of which has a time."""
    lines = [line for line in text.splitlines() if line.startswith("    assay run ")]
    times = re.compile(r".*  # ([0-9.]+ to [0-9.]+ (min|h)|time unknown)")
    assert [line for line in lines if not times.fullmatch(line)] == []
    return [line.split()[2] for line in lines]


@pytest.mark.slow
def test_each_shipped_experiment_is_listed_with_its_question_and_the_command_that_runs_it():
    text = said()
    assert "Is an SSD for YARN's local directories alone worth it?\n    assay run local-directories  # " in text
    assert names_in(text) == sorted(file.stem for file in (ROOT / "experiments").glob("*.yaml"))


@pytest.mark.slow
def test_an_experiment_whose_jar_is_not_built_is_listed_without_its_time(tmp_path, monkeypatch):
    """Before anything ran, set-up has built no jar."""
    shutil.copytree(ROOT / "experiments", tmp_path / "experiments")
    shutil.copytree(ROOT / "emulator" / "profiles", tmp_path / "emulator" / "profiles")
    elsewhere = find_installation().model_copy(update={"root": tmp_path})
    monkeypatch.setattr("assay.cli.experiments.find_installation", lambda: elsewhere)
    text = said()
    assert names_in(text) == sorted(file.stem for file in (ROOT / "experiments").glob("*.yaml"))
    assert "    assay run suite  # time unknown\n" in text
    assert "    assay run quickstart  # time unknown\n" not in text


@pytest.mark.slow
def test_studies_are_listed_apart():
    assert names_in(said("--studies")) == sorted(
        file.stem for file in (ROOT / "experiments" / "studies").glob("*.yaml")
    )


@pytest.mark.slow
def test_json_has_all_of_them():
    listed = json.loads(said("--json"))
    assert {one["file"] for one in listed} == {
        str(file.relative_to(ROOT)) for file in (ROOT / "experiments").rglob("*.yaml")
    }
    assert all(one["question"] for one in listed)
    assert {one["study"] for one in listed} == {True, False}


def test_one_of_them_is_described(monkeypatch):
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    lines = said("three-drives").splitlines()
    assert " ".join(lines).startswith("How do a hard disk and two SSDs differ in plain reading and writing, and")
    assert "file: experiments/three-drives.yaml" in lines
    assert any(line.startswith("24 trials, on evo, hdd, mx100: ") for line in lines)
    assert lines[-2:] == [
        "time, disk and memory on this machine: assay run three-drives --dry-run", "run it: assay run three-drives",
    ]  # fmt: skip
    assert json.loads(said("three-drives", "--json"))["name"] == "three-drives"


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(BadInputError, match="did you mean 'three-drives'"):
        CliRunner().invoke(cli, ["experiments", "tree-drives"], catch_exceptions=False, standalone_mode=False)


def overrides_of(*words):
    """What options set."""

    @key_options
    def command(overrides):
        taken.extend(overrides)

    taken: list[Override] = []
    given = dict(zip(words[::2], words[1::2], strict=True))
    options = {option.option: option.name for option in command.__click_params__ if isinstance(option, KeyOption)}
    command(values=(), **{name: given.get(option) for option, name in options.items()})
    return [(override.key, override.value) for override in taken]


def test_every_top_level_key_is_an_option():
    run = cli.get_command(None, "run")
    keys = {option.key for option in run.params if isinstance(option, KeyOption)}
    assert keys == {*(ExperimentFile.model_fields.keys() - OF_THE_FILE), "workloads.options.size"}


def test_so_is_each_service_s_key_of_properties(monkeypatch):
    taken = []
    monkeypatch.setattr("assay.cli.run.run_experiment", lambda *_, overrides, **__: taken.extend(overrides) or 0)
    words = ["run", "quickstart", "--spark", "spark.executor.memory=2g,executor.cores=1", "--tez", "{tez.a: 1}"]
    CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)
    assert [(override.key, override.value) for override in taken] == [
        ("tez", {"tez.a": 1}), ("spark.spark.executor.memory", "2g"), ("spark.executor.cores", 1),
    ]  # fmt: skip
    listed = CliRunner().invoke(cli, ["run", "--help"]).output
    assert all(f"  --{key} VALUE" in listed for key in property_keys())


def test_a_plugged_in_service_s_key_may_have_a_hyphen(monkeypatch):
    taken = []
    monkeypatch.setattr("assay.cli.run.run_experiment", lambda *_, overrides, **__: taken.extend(overrides) or 0)
    with plugged_in("store"):
        words = ["run", "quickstart", "--key-value", "key-value.copies=2"]
        CliRunner().invoke(cli, words, standalone_mode=False, catch_exceptions=False)
    assert [(override.key, override.value) for override in taken] == [("key-value.key-value.copies", 2)]


@pytest.mark.parametrize(
    ("words", "sets"),
    [
        (("--worth", "18%"), [("worth", "18%")]),
        (("--size", "2GB"), [("workloads.options.size", "2GB")]),
        (("--media", "hdd=wd10ezex,ssd=nvme"), [("media", {"hdd": "wd10ezex", "ssd": "nvme"})]),
        (("--media", "{hdd: {profile: wd10ezex}}"), [("media", {"hdd": {"profile": "wd10ezex"}})]),
        (("--memory", "1GiB,2GiB"), [("memory", ["1GiB", "2GiB"])]),
        (("--page-cache", "64MiB"), [("page_cache", "64MiB")]),
        (("--repetitions", "5"), [("repetitions", 5)]),
        (("--hadoop", "a.b=40,c=x"), [("hadoop.a.b", 40), ("hadoop.c", "x")]),
    ],
)
def test_a_value_is_a_list_a_map_or_yaml(words, sets):
    assert overrides_of(*words) == sets


def test_a_value_that_is_no_yaml_is_refused_by_its_option():
    with pytest.raises(BadInputError, match="--memory"):
        overrides_of("--memory", "[1GiB")


def test_a_map_s_key_without_a_value_is_refused_with_one():
    with pytest.raises(BadInputError, match="--media hdd=: hdd has no value; write hdd=wd10ezex"):
        overrides_of("--media", "hdd=")


def test_media_that_an_option_replaces_are_named_with_how_to_keep_them():
    file = ROOT / "experiments" / "local-directories.yaml"
    with pytest.raises(BadInputError) as refused:
        ExperimentSource(file, [Override("media", {"hdd": "wd10ezex"}, ("--media", "hdd=wd10ezex"))])
    assert "placement: intermediate names the medium 'ssd'" in str(refused.value)
    assert str(refused.value).endswith("; --media replaces all media: write hdd=wd10ezex,ssd=samsung-840-evo-120gb")


def test_quick_runs_each_combination_once_and_contradicts_what_it_sets(monkeypatch):
    taken = []
    monkeypatch.setattr("assay.cli.run.run_experiment", lambda file, *_, **more: taken.append((file, more)) or 0)
    CliRunner().invoke(cli, ["run", "local-directories", "--quick"], standalone_mode=False, catch_exceptions=False)
    ((file, more),) = taken
    plan = plan_and_more(ExperimentSource(file, more["overrides"]), vocabulary(find_installation()))[0]
    placements = [trial.placement.name for trial in plan.trials]
    assert sorted(placements) == ["hdd", "local-directories-on-ssd", "zero-delay"]
    for option, value in (("--repetitions", "5"), ("--order", "mirrored")):
        done = CliRunner().invoke(cli, ["run", "local-directories", "--quick", option, value])
        assert f"--quick and {option} {value} contradict each other" in done.output
