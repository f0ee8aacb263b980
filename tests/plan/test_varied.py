"""Proves that `--sensitivity` adds each combination with its drives slower and faster in what is assumed, and no more."""

from pathlib import Path

import pytest

from assay.cli.run import resumed
from assay.media.emulated.medium import EMULATED
from assay.model.errors import BadInputError
from assay.plan.varied import FIRST, with_varied_drives
from tests.builders import an_installation
from tests.plan.test_make import plan_of

ROOT = Path(__file__).parents[2]
INSTALLATION = an_installation(ROOT)
PROFILE = """\
name: NAME
kind: hdd
figures:
  capacity_bytes: 1000000000
  seek_average_ms: {value: 9, basis: BASIS}
"""
DRIVES = """\
experiment: demo
workloads: [triangles]
datasets: {make: brightkite}
media:
  hdd: guessed.yaml
  ssd: known.yaml
placement: [hdd, {name: mixed, input: ssd, intermediate: hdd, output: ssd}, ssd]
zero_delay_baseline: true
repetitions: 2
"""


@pytest.fixture
def plan(tmp_path):
    for name, basis in (("guessed", "assumption"), ("known", "data-sheet")):
        (tmp_path / f"{name}.yaml").write_text(PROFILE.replace("NAME", name).replace("BASIS", basis))
    return plan_of(tmp_path, DRIVES)


def test_each_combination_runs_once_slower_and_once_faster(plan):
    varied = with_varied_drives(plan, INSTALLATION)
    added = varied.trials[len(plan.trials) :]
    assert varied.trials[: len(plan.trials)] == plan.trials
    assert [trial.id for trial in added] == [
        f"{FIRST}-triangles-hdd-slower", f"{FIRST + 1}-triangles-hdd-faster",
        f"{FIRST + 2}-triangles-mixed-slower", f"{FIRST + 3}-triangles-mixed-faster",
    ]  # fmt: skip
    assert all(trial.varied for trial in added)
    assert not any(trial.varied for trial in plan.trials)
    assert varied.placements == plan.placements


def test_of_a_mixed_placement_only_the_drive_with_assumptions_is_another(plan):
    mixed = with_varied_drives(plan, INSTALLATION).trials[-2]
    assert mixed.placement.media == ("ssd", "hdd-slower")
    assert [medium.name for medium in mixed.media] == ["ssd", "hdd-slower"]
    assert mixed.media[1].profile.endswith("guessed.yaml:slower")
    assert EMULATED.described(mixed.media[1]) == "emulated guessed, assumed figures slower"


def test_the_drive_of_a_varied_trial_has_other_figures(plan):
    slower = with_varied_drives(plan, INSTALLATION).trials[-2]
    medium = EMULATED.open(slower.media[1], None, INSTALLATION)
    assert medium.profile.values["seek_average_ms"] == pytest.approx(11.25)


def test_a_finished_run_takes_them_on_and_keeps_them(plan):
    varied = with_varied_drives(plan, INSTALLATION)
    taken_on = resumed(plan, varied, varied, {trial.id for trial in plan.trials})
    assert taken_on.trials == varied.trials
    assert resumed(varied, plan, plan, {trial.id for trial in varied.trials}).trials == varied.trials


def test_without_any_assumption_it_is_refused(tmp_path):
    (tmp_path / "known.yaml").write_text(PROFILE.replace("NAME", "known").replace("BASIS", "data-sheet"))
    text = DRIVES.replace("guessed", "known").replace("  ssd: known.yaml\n", "").partition("placement")[0]
    with pytest.raises(BadInputError, match="no drive of this experiment has any; leave it out"):
        with_varied_drives(plan_of(tmp_path, text), INSTALLATION)
