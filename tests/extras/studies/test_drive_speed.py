"""Proves that a run on drives of several speeds is judged at each speed, and that what depends on the speed is named."""

import pytest
from benchmarks.agreement_by_drive_speed import (
    SPEED_FILE,
    at_speeds,
    read_speed_runs,
    speed_runs,
    speed_svg,
    speed_tables,
)
from benchmarks.studies_null import design, null_rates

from assay.cli.context import vocabulary
from assay.model.errors import BadInputError
from assay.model.trial import MediumSpec
from assay_extras.studies.kept import study_run
from tests.builders import a_plan, make_plan
from tests.extras.studies.builders import a_graph_trial
from tests.extras.studies.test_coverage import INSTALLATION, ROOT, as_if_run
from tests.extras.studies.test_overview import a_run

SLOW = {"hdd": (60.0, 20.0, 0.0, 30.0), "ssd2": (20.0, 7.0, 0.0, 6.0)}
"""Map, shuffle, merge, reduce. In the thesis the reduce takes a little longer on the SSD."""
FAST = {"hdd": (20.0, 7.0, 0.0, 6.0), "ssd2": (18.0, 7.0, 0.0, 7.0)}


def trials(slowdown, times):
    for place, (drive, phases) in enumerate(times.items()):
        for repetition in (1, 2, 3):
            noisy = [value * (1 + 0.02 * ((repetition + place) % 3)) for value in phases]
            record = a_graph_trial(
                100 * slowdown + 10 * place + repetition, {"triples": noisy}, workload="mutual-friends",
                medium=f"{drive}-{slowdown}", repetition=repetition,
            )  # fmt: skip
            extra = {} if slowdown == 1 else {"slowdown": slowdown}
            medium = MediumSpec.model_validate({"name": f"{drive}-{slowdown}", "kind": "emulated", **extra})
            yield record.model_copy(update={"trial": record.trial.model_copy(update={"media": (medium,)})})


def the_plan():
    return a_plan().model_copy(update={"experiment": "agreement-by-drive-speed"})


def test_agreement_is_shown_for_each_factor(tmp_path):
    runs = speed_runs(the_plan(), [*trials(8, SLOW), *trials(1, FAST)])
    (tmp_path / SPEED_FILE).write_text(runs.model_dump_json())
    assert read_speed_runs(tmp_path) == runs
    assert read_speed_runs(tmp_path / "elsewhere") is None
    full, slow = at_speeds(runs)
    assert (full.slowdown, slow.slowdown) == (1, 8)
    ratios, statements = speed_tables([full, slow])
    assert ratios.header == ("slower by", "map", "shuffle", "reduce", "decided", "agree", "right", "kappa", "off by")
    assert [row[0] for row in ratios.rows] == ["1", "8", "the thesis"]
    assert ratios.rows[-1][1:4] == ("0.87", "0.32", "1.07")
    assert ratios.rows[1][4:6] == ("3 of 3", "2"), "the reduce gains from the SSD, which it does not in the thesis"
    assert slow.error.factor > full.error.factor
    assert "T11" in {row[0] for row in statements.rows}, "that reducers gain nothing is refuted at 8 alone"
    drawing = speed_svg([full, slow])
    assert drawing.count("<circle") == 6
    assert ">reduce: 1.07<" in drawing


@pytest.mark.slow
def test_the_experiment_has_four_factors_and_every_comparison_of_them():
    plan = make_plan(ROOT / "experiments" / "studies" / "agreement-by-drive-speed.yaml", vocabulary(INSTALLATION))
    found = at_speeds(speed_runs(plan, [as_if_run(trial) for trial in plan.trials]))
    assert [at.slowdown for at in found] == [1, 2, 4, 8]
    assert {at.score.directions for at in found} == {3}
    assert {one.pairs for at in found for one in at.comparisons} == {4}


def test_other_runs_are_refused():
    with pytest.raises(BadInputError, match="name a run of agreement-by-drive-speed"):
        speed_runs(*a_run())
    with pytest.raises(BadInputError, match="drives of two speeds"):
        speed_runs(the_plan(), list(trials(8, SLOW)))


@pytest.mark.slow
def test_runs_without_any_effect_seldom_show_a_direction_and_many_comparisons_often_do():
    made = design(study_run(*a_run("thesis-tables-9-13-scaled", repetitions=4)))
    assert {len({made.times[point] for point in pair}) for pair in made.comparisons} == {1}, "both sides take the same"
    alone, together = null_rates([made], 0.09, 0, 400)
    assert alone.comparisons == together.comparisons == len(made.comparisons) == 4
    assert 0.02 < alone.of_comparisons < 0.08
    assert alone.of_runs > 2 * alone.of_comparisons
    assert alone.of_runs_corrected < alone.of_runs
