"""Proves that a report says why its table of medians and an answer differ, where a reader would see it."""

import pytest

from assay.report.answer import subject_of
from assay.report.medians import medians_note
from assay.stats.decision import decisions
from assay.stats.sample import PLACEMENT
from tests.builders import summaries
from tests.report.made_decisions import HDD, SSD, decision, estimate
from tests.report.made_runs import made_run, made_trials


def of_medians(saving, median_s):
    hdd = HDD.model_copy(update={"median_s": 50.0})
    return decision(hdd, SSD.model_copy(update={"saving": estimate(saving, -0.5, 0.5), "median_s": median_s}))


@pytest.mark.parametrize(
    ("saving", "median_s", "told"),
    [
        (0.20, 42.0, False),
        (0.20, 43.0, True),
        (0.004, 50.2, False),
        (0.004, 50.5, True),
        (-0.004, 50.5, False),
        (0.20, None, False),
    ],
)
def test_a_difference_is_told_from_five_points_or_from_one_where_they_say_the_contrary(saving, median_s, told):
    assert bool(medians_note([of_medians(saving, median_s)])) is told


def test_the_one_that_differs_most_is_told():
    note = medians_note([of_medians(0.2, 43.0), of_medians(0.004, 53.5), of_medians(0.2, 40.0)])
    assert note == (
        "The table has medians; an answer averages the ratios of trials of one repetition. By medians the SSD takes 7 % more "
        f"time than the hard disk, by its answer under 1 % less time (of {subject_of(decision())})."
    )
    assert not medians_note([])


def test_medians_are_those_of_the_trials():
    plan, records = made_run(made_trials(repetitions=3), times={"hdd": 60.0, "ssd": 30.0})
    (own,) = decisions(plan, summaries(records))
    for placement in own.placements:
        times = sorted(r.totals.elapsed_s for r in records if r.trial.factors[PLACEMENT] == placement.placement)
        assert placement.median_s == times[1]
