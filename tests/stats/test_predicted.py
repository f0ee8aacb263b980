"""Proves what a predicted time says against measured ones: the ratio, its interval, and where it stands."""

import re
from dataclasses import replace
from functools import cache
from math import exp, hypot, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.predicted import predicted_lines
from assay.stats.decision import decisions
from assay.stats.predicted import beside
from assay.stats.summary import rows_of
from assay.stats.threshold import Threshold
from tests.builders import a_prediction, summaries
from tests.report.made_runs import made_run, made_trials

TIMES = (16, 20, 30)


def test_the_errors_of_both_times_add_up_in_the_interval():
    plan, records = made_run(made_trials(repetitions=4))
    rows = rows_of(summaries(records), placements=plan.placements)
    predicted = [a_prediction(records[1], TIMES, placement="nvme")]  # from the SSD, and the base is the hard disk
    *measured, row = rows_of(summaries(records), placements=plan.placements, predicted=predicted)
    assert measured == rows
    base = rows[0].elapsed
    assert row.predicted.ratio == row.ratio == 20 / base.value
    below = hypot(log(20 / 16), log(base.interval.high / base.value))
    above = hypot(log(30 / 20), log(base.value / base.interval.low))
    assert row.predicted.interval.low == pytest.approx(row.ratio * exp(-below))
    assert row.predicted.interval.high == pytest.approx(row.ratio * exp(above))
    assert "is predicted to take" in row.words


@pytest.mark.parametrize("repetitions", [1, 4])
def test_what_is_predicted_from_the_base_has_its_noise_once(repetitions):
    plan, records = made_run(made_trials(repetitions=repetitions))
    predicted = [a_prediction(records[0], TIMES, placement="nvme")]
    first, *_, row = rows_of(summaries(records), predicted=predicted)
    assert row.predicted.interval.low == pytest.approx(16 / first.elapsed.value)
    assert row.predicted.interval.high == pytest.approx(30 / first.elapsed.value)
    (decision,) = decisions(plan, summaries(records))
    ((level,),) = beside(plan, [decision], summaries(records), predicted)
    base_s = decision.placements[0].elapsed_s.value
    assert (level.saving.low, level.saving.high) == (pytest.approx(1 - 30 / base_s), pytest.approx(1 - 16 / base_s))


def test_without_repetitions_the_ratio_to_another_base_has_no_interval():
    plan, records = made_run(made_trials(repetitions=1))
    predicted = [replace(a_prediction(records[1], TIMES, placement="nvme"), verdict="worth it")]
    assert rows_of(summaries(records), predicted=predicted)[-1].predicted.interval is None
    ((level,),) = beside(plan, decisions(plan, summaries(records)), summaries(records), predicted)
    assert (level.elapsed_s.low, level.elapsed_s.high, level.saving.low) == (16, 30, None)
    assert level.verdict == "not known"


@cache
def repeated_run():
    plan, records = made_run(made_trials(repetitions=3))
    trials = summaries(records)
    (decision,) = decisions(plan, trials)
    return plan, records, trials, decision


def judged(ratio, below, above, like, worth=0.1, **said):
    """A level whose time is such a share of the base's, as a report has it, and the words of its line."""
    plan, records, trials, decision = repeated_run()
    seconds = ratio * decision.placements[0].elapsed_s.value
    times = (seconds * exp(-below), seconds, seconds * exp(above))
    foretold = replace(a_prediction(records[like], times, placement="nvme"), **{"verdict": "not known", **said})
    decision = decision.model_copy(update={"worth": Threshold(share=worth)})
    ((level,),) = beside(plan, [decision], trials, [foretold])
    (line,) = predicted_lines(decision, [level])
    return level, line.words


@given(
    st.floats(0.3, 1.5), st.floats(0, 0.5), st.floats(0, 0.5), st.sampled_from((0, 1)), st.integers(1, 60),
    st.sampled_from(("worth it", "not worth it", "not known")),
)  # fmt: skip
def test_the_verdict_is_by_the_interval_of_the_saving_that_is_printed(ratio, below, above, like, percent, said):
    level, words = judged(ratio, below, above, like, percent / 100, verdict=said)
    printed = re.search(r"\(95 % interval (-?\d+) to (-?\d+) %\); (worth it|not worth it|not known);", words)
    low, high, verdict = int(printed[1]), int(printed[2]), printed[3]
    assert (verdict == "worth it") == (level.saving.low >= percent / 100)
    assert (verdict == "not worth it") == (level.saving.high < percent / 100)
    assert low >= percent if verdict == "worth it" else low <= percent  # an end at the threshold may be rounded to it
    assert high <= percent if verdict == "not worth it" else high >= percent


def test_a_reason_to_know_nothing_stays_whatever_the_interval_is():
    level, words = judged(0.5, 0.1, 0.1, 0, reason="requests are unlike all others")
    assert level.verdict == "not known"
    assert "; not known: requests are unlike all others; " in words
    level, words = judged(1.0, 0.0, 0.0, 0, verdict="not worth it", reason="sort has no log data")
    assert "; not worth it: sort has no log data; " in words
    level, words = judged(0.5, 0.0, 0.0, 0, verdict="not worth it", reason="sort has no log data")
    assert (level.verdict, level.reason) == ("worth it", "")


def test_a_predictor_that_does_not_judge_gives_no_verdict():
    level, _ = judged(0.5, 0.1, 0.1, 0, verdict="")
    assert level.verdict == ""


def test_it_stands_in_its_own_group_and_beside_the_decision_that_has_all_other_factors():
    plan, records = made_run(made_trials(workloads=("triangles", "components"), repetitions=3))
    last = records[-1]
    on_nvme, tuned = a_prediction(last, TIMES, placement="nvme"), a_prediction(last, TIMES, settings="tuned")
    rows = rows_of(summaries(records), predicted=[on_nvme])
    places = [(row.group.workload, row.placement) for row in rows]
    assert places.index((last.trial.workload.name, "nvme")) == places.index((last.trial.workload.name, "ssd")) + 1
    decided = decisions(plan, summaries(records))
    levels = beside(plan, decided, summaries(records), [on_nvme, tuned])
    of = {one.levels["workload"]: [level.level for level in own] for one, own in zip(decided, levels, strict=True)}
    assert of == {last.trial.workload.name: ["nvme"], records[0].trial.workload.name: []}
    (row,) = (one for one in rows_of(summaries(records), predicted=[tuned]) if one.predictor)
    assert (row.ratio, row.predicted) == (None, None)  # nothing ran in its group
