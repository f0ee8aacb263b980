"""Proves that the experiments that pages show make plans, and that those are as large as their pages say."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from assay.cli.context import vocabulary
from assay.plan.experiment import ExperimentFile
from tests.builders import an_installation, make_plan

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "how-to" / "design-an-experiment.md").read_text()
EXPERIMENTS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(("text", "trials"), list(zip(EXPERIMENTS, [2 * 2 + 1, 3 * 2 * 5, 10 * 3], strict=True)))
def test_an_experiment_of_the_how_to_makes_a_plan(tmp_path, text, trials):
    file = tmp_path / "shown.yaml"
    file.write_text(text)
    plan = make_plan(file, vocabulary(an_installation(ROOT, ROOT / ".assay")))
    assert len(plan.trials) == trials
    assert not plan.doubts


@pytest.mark.parametrize(
    ("page", "trials"),
    [
        ("tutorial.md", 5),
        ("how-to/test-a-drive-you-own.md", 2 * (2 + 2) * 2),
        ("how-to/test-a-drive-you-do-not-own.md", 2 * 2 * (3 + 1 + 3)),
        ("how-to/use-an-existing-cluster.md", 2 * 5),
        ("how-to/measure-a-fault.md", 3 * 3),
        ("reference/twenty-keys.md", 2 * 2 * (2 + 1 + 2)),
    ],
)
def test_the_experiment_of_a_page_makes_a_plan(tmp_path, page, trials):
    text = (ROOT / "docs" / page).read_text()
    (shown,) = [one for one in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if one.startswith("experiment:")]
    for graph in ("my-graph.tsv.gz", "my-graph.txt.gz"):
        (tmp_path / graph).touch()
    (tmp_path / "my-drive.yaml").write_text((ROOT / "emulator" / "profiles" / "wd10ezex.yaml").read_text())
    (tmp_path / "core-site.xml").write_text("<configuration/>")
    (tmp_path / "shown.yaml").write_text(shown.replace("/etc/hadoop/conf", str(tmp_path)))
    plan = make_plan(tmp_path / "shown.yaml", vocabulary(an_installation(ROOT, ROOT / ".assay")))
    assert len(plan.trials) == trials
    assert not plan.doubts


def test_there_are_twenty_keys():
    page = (ROOT / "docs" / "reference" / "twenty-keys.md").read_text()
    keys = [key for row in re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE) for key in re.findall(r"`(\w+)`", row)]
    assert len(keys) == 20
    assert set(keys) <= set(ExperimentFile.model_fields)


@pytest.mark.parametrize(
    ("more", "trials"),
    [
        ("", 36),
        ("zip: [[datasets, memory]]\n", 12),
        ("design: one-at-a-time\nbase: {settings: defaults, memory: 2GiB, dataset: a}\n", 12),
        ("exclude: [{settings: customs, placement: hdd}]\n", 27),
    ],
)
def test_the_numbers_of_trials_are_as_shown(tmp_path, more, trials):
    file = tmp_path / "shown.yaml"
    file.write_text(
        "experiment: a\nworkloads: triangles\n"
        "datasets: [{make: brightkite, name: a}, {make: brightkite, name: b}, {make: brightkite, name: c}]\n"
        "memory: [2GiB, 3GiB, 4GiB]\nsettings: [defaults, customs]\nmedia: {hdd: directory, ssd: memory}\n" + more
    )
    assert len(make_plan(file, vocabulary(an_installation(ROOT, tmp_path))).trials) == trials


def test_the_local_directories_experiment_is_the_one_that_its_how_to_shows():
    """The how-to's part is in the file as it stands, and the file makes the five trials that the how-to lists."""
    how_to = (ROOT / "docs" / "how-to" / "should-i-buy-ssds-for-yarn-local-directories.md").read_text()
    file = ROOT / "experiments" / "local-directories.yaml"
    (shown,) = re.findall(r"```yaml\n(.*?)```", how_to, re.DOTALL)
    whole = YAML(typ="safe").load(file.read_text())
    for key, value in YAML(typ="safe").load(shown).items():
        assert whole[key] == value
    plan = make_plan(file, vocabulary(an_installation(ROOT, ROOT / ".assay")))
    there = ["hdd", "local-directories-on-ssd"]
    assert [trial.placement.name for trial in plan.trials] == [*there, "zero-delay", *reversed(there)]
