"""Proves what of a trial counts as outside its jobs."""

import pytest

from assay.model.record import Status, Step, Totals
from tests.builders import a_record, a_trial

STEPS = (
    Step(name="attach media", started_ms=1_000, seconds=1.0),
    Step(name="stage", started_ms=2_500, seconds=6.5),  # half a second lies between them
    Step(name="run", started_ms=9_000, seconds=20.0),
    Step(name="stop cluster", started_ms=29_000, seconds=0.25),
)
TOTALS = Totals(elapsed_s=15, submitted_s=18, staging_submitted_s=5, phases={}, counters={})


def test_all_but_the_workloads_own_jobs_is_outside_whatever_the_steps_order_is():
    for steps in (STEPS, STEPS[::-1]):
        record = a_record(a_trial()).model_copy(update={"steps": steps, "totals": TOTALS})
        assert record.outside_jobs_s == pytest.approx(28.25 - 18)


def test_it_is_not_known_where_the_jobs_times_are_not():
    record = a_record(a_trial()).model_copy(update={"steps": STEPS, "totals": None, "status": Status.FAILED})
    assert record.outside_jobs_s is None
    assert record.model_copy(update={"steps": (), "totals": TOTALS}).outside_jobs_s is None
