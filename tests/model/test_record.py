"""Proves what of a trial counts as outside its jobs, and until when the jobs ran and what they wrote was on the drives."""

import pytest

from assay.model.record import Status, Step, Totals, totals
from tests.builders import a_job, a_record, a_trial

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


def job(started_ms, finished_ms):
    return a_job().model_copy(update={"started_ms": started_ms, "finished_ms": finished_ms})


def test_the_run_has_the_gaps_between_jobs_and_ends_durable_with_the_step_that_writes_out():
    written = Step(name="write out", started_ms=29_500, seconds=4.0)
    jobs = (job(10_000, 15_000), job(18_000, 28_000))
    record = a_record(a_trial()).model_copy(update={"steps": (*STEPS, written), "totals": TOTALS, "jobs": jobs})
    assert record.run_s == 18
    assert record.durable_s == pytest.approx(33.5 - 10)
    assert record.model_copy(update={"steps": STEPS}).durable_s is None
    assert record.model_copy(update={"totals": None}).run_s is None


def test_elapsed_is_the_time_in_which_at_least_one_job_ran():
    def job(began_s, ended_s):
        return a_job().model_copy(update={"started_ms": 1000 * began_s, "finished_ms": 1000 * ended_s})

    assert totals((job(1, 11), job(12, 20)), ()).elapsed_s == 18, "one after the other: added up"
    assert totals((job(5, 30), job(1, 20)), ()).elapsed_s == 29, "at once: the batch"
    assert totals((job(1, 40), job(2, 3), job(50, 60)), ()).elapsed_s == 49
    assert totals((), ()).elapsed_s == 0


def test_jobs_at_once_are_submitted_for_as_long_as_any_of_them_and_leave_time_outside():
    """Two jobs from 10 to 25 s and from 12 to 28 s, of a step of 20 s: 18 s, not 31."""

    def job(submitted_s, ended_s):
        return a_job().model_copy(
            update={
                "submitted_ms": 1000 * submitted_s,
                "started_ms": 1000 * submitted_s + 500,
                "finished_ms": 1000 * ended_s,
            }
        )

    at_once, in_turn = (job(12, 28), job(10, 25)), (job(10, 15), job(15, 28))
    known = totals(at_once, at_once)
    assert known.submitted_s == known.staging_submitted_s == 18
    assert totals(in_turn, ()).submitted_s == 18
    record = a_record(steps=(Step(name="run", started_ms=9_000, seconds=20.0),), jobs=at_once, totals=known)
    assert record.outside_jobs_s == pytest.approx(2)
    assert record.jobs_overlap
    assert not record.model_copy(update={"jobs": in_turn}).jobs_overlap
