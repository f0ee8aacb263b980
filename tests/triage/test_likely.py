"""Proves that what is likely follows from the best evidence, stays below the bound, and is unknown where nothing like it was measured."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli.context import find_installation
from assay.engine.past.job import Work
from assay.engine.past.made_histories import MadeJob, history
from assay.engine.past.mapreduce import read_job
from assay.engine.past.spark import PastApplication
from assay.engine.spark_tasks import COMPUTE, FETCH, WRITE
from assay.triage.bounds import Busy, bound_of
from assay.triage.drives import drives_by_role
from assay.triage.likely import Likely, added, likely_of

MIB, GIB = 1 << 20, 1 << 30
PROFILES = find_installation().profiles
DISKS = drives_by_role("2xhdd", PROFILES)
MADE = MadeJob(
    maps=16, reduces=4, slots=4, nodes=2, cpu=0.3, map_ms=60_000, reduce_ms=60_000, read_bytes=8 * GIB,
    map_output_bytes=8 * GIB, written_bytes=8 * GIB,
)  # fmt: skip


def made(**changes):
    return read_job(io.BytesIO(history(MADE._replace(**changes))), {})


def busy(job, share):
    """Of each stage the drives worked for a share of the time."""
    usual_s = {stage.name: share * stage.elapsed_ms / 1000 for stage in job.stages}
    return Busy(usual_s, 0.0, usual_s=usual_s, drives=2)


def likely(job, drives=DISKS, measured=None, cache_bytes=None, **more):
    return likely_of(job, bound_of(job, drives, busy=measured, **more), drives, measured, cache_bytes)


THE_JOB = made()


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_busier_drives_were_the_more_is_saved_and_never_more_than_the_bound(share, other):
    job = THE_JOB
    fewer, more = sorted((share, other))
    less, most = likely(job, measured=busy(job, fewer)), likely(job, measured=busy(job, more))
    assert less.seconds <= most.seconds + 1e-9
    for of_job, of_share in ((less, fewer), (most, more)):
        assert 0 <= of_job.low_s <= of_job.seconds + 1e-9
        assert of_job.seconds <= of_job.high_s + 1e-9
        assert of_job.high_s <= bound_of(job, DISKS, busy=busy(job, of_share)).seconds + 1e-9
        assert of_job.evidence == ("busy drives" if of_share else "bound")


def test_nodes_of_a_few_tasks_leave_a_guess():
    whole, guess = likely(THE_JOB), likely(THE_JOB._replace(nodes_are_sampled=True))
    assert whole.unlike == ""
    assert guess.unlike.startswith("its history names the nodes of a few tasks alone")
    assert (guess.low_s, guess.high_s) == (0, bound_of(THE_JOB, DISKS).seconds)


def test_half_busy_drives_save_less_than_half():
    """Computing goes on while a drive works: two queues of 30 s each take 50 s with 1.7 tasks at once."""
    job = made(cpu=0.0)
    saved = likely(job, measured=busy(job, 0.5)).seconds / job.tasks_s
    assert 0.2 < saved < 0.5
    assert likely(job, measured=busy(job, 1e-3)).seconds == pytest.approx(0, abs=0.01)


def test_counters_alone_may_have_been_served_by_the_page_cache():
    job = made()
    by_counters, by_cache = likely(job), likely(job, cache_bytes=1)
    assert (by_counters.evidence, by_counters.low_s) == ("counters", pytest.approx(0))
    assert by_cache.evidence == "page cache"
    assert by_counters.seconds == pytest.approx(by_cache.seconds / 2)
    assert by_counters.high_s == by_cache.high_s
    assert by_cache.low_s > 0


def test_what_fits_into_the_page_cache_is_not_read_back():
    """Nor less of it, if jobs beside this one use the same memory; what is written reaches the drives."""
    job = made(cpu=0.0, map_ms=200_000, reduce_ms=200_000)
    none, some, all_of_it = (likely(job, cache_bytes=size) for size in (1, 4 * GIB, 1 << 50))
    assert none.seconds > some.seconds > all_of_it.seconds > 0
    assert likely(job, cache_bytes=4 * GIB, beside_s=1000.0).seconds > some.seconds


def application(fetch_ms, write_ms, nodes=2, **work):
    """A stage of 100 s, of two tasks on each of its nodes, that shuffles 64 GiB."""
    whole = Work(tasks=4, task_ms=400_000, fetched=64 * GIB, fetches=64, map_output_on_disk=64 * GIB, **work)
    job = made()
    phases = {FETCH: fetch_ms, WRITE: write_ms, COMPUTE: 400_000 - fetch_ms - write_ms}
    begin_ms = job.started_ms
    stage = job.stages[0]._replace(
        begin_ms=begin_ms, end_ms=begin_ms + 100_000, elapsed_ms=100_000, saved_ms=90_000, phases_ms=phases,
        whole=whole, busiest=whole,
    )  # fmt: skip
    return PastApplication(*job)._replace(
        stages=(stage,), nodes=tuple(f"worker-{number}" for number in range(nodes)), finished_ms=begin_ms + 110_000
    )


def test_timers_of_an_engine_tell_more_than_the_bytes_of_a_shuffle():
    drives = DISKS
    job = application(fetch_ms=2000, write_ms=4000)
    of_job = likely(job, drives)
    # Half of what it fetched was its own node's and waits for no answer: as much again is taken for that.
    assert (of_job.seconds, of_job.evidence) == (pytest.approx(2.0), "timers")
    # They were never measured against what drives save.
    assert (of_job.low_s, of_job.high_s) == (0, bound_of(job, drives).seconds)
    assert of_job.high_s > 50
    assert of_job.unlike == "no job with timers of its own was measured"
    without_timers = (application(2000, 4000, nodes=1), application(2000, 4000, local_read=GIB))
    assert all(likely(other, drives).evidence == "counters" for other in without_timers)
    assert likely(application(200_000, 190_000), drives).evidence == "counters"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"nodes": ()}, "names no nodes"),
        ({"uncounted": "nobody counts them"}, "nobody counts them; how long the drives were busy would tell"),
    ],
)  # fmt: skip
def test_what_nobody_counted_is_not_known_until_drives_are_measured(changes, reason):
    job = made()._replace(**changes)
    assert reason in likely(job)
    if job.nodes:
        assert likely(job, measured=busy(job, 0.5)).seconds > 0


@pytest.mark.parametrize(
    ("drives", "reason"),
    [
        ("12xhdd", "a node has 12 drives, and no job on nodes with more than 2 was measured"),
        ("2xssd,intermediate=3xhdd", "a node has 3 drives"),
        ("1xhdd", "6 tasks at once shared a drive, and no job with more than 2 was measured"),
    ],
)
def test_of_what_is_unlike_all_that_was_measured_no_more_is_known_than_the_bound(drives, reason):
    """The value stays for an order, whatever the evidence."""
    job, by_role = made(slots=12, maps=48, cpu=0.0), drives_by_role(drives, PROFILES)
    measured = busy(job, 0.5)._replace(drives=by_role["intermediate"].number)
    for of_job, most_s in (
        (likely(job, by_role), bound_of(job, by_role).seconds),
        (likely(job, by_role, cache_bytes=GIB), bound_of(job, by_role).seconds),
        (likely(job, by_role, measured), bound_of(job, by_role, busy=measured).seconds),
    ):
        assert of_job.unlike.startswith(reason)
        assert (of_job.low_s, of_job.high_s) == (0, most_s)
        assert 0 < of_job.seconds <= most_s
    assert added([of_job, Likely(1.0, 0.5, 2.0, "counters")]).unlike == of_job.unlike


def test_as_many_drives_and_tasks_as_were_measured_have_an_interval_of_their_own():
    job = made(slots=8, maps=32, cpu=0.0)
    of_job = likely(job, measured=busy(job, 0.5))
    assert of_job.unlike == ""
    assert 0 < of_job.low_s < of_job.seconds < of_job.high_s


def test_errors_of_runs_add_up():
    runs = [Likely(1.0, 0.5, 2.0, "counters"), Likely(10.0, 8.0, 12.0, "busy drives")]
    assert added(runs) == Likely(11.0, 8.5, 14.0, "busy drives")
    assert added([]).high_s == 0


def test_a_job_that_drives_can_t_shorten_is_likely_to_gain_nothing():
    assert likely(made(cpu=1.0)) == Likely(0.0, 0.0, 0.0, "bound")
    assert likely(made(), measured=Busy({}, 0.0)).evidence == "counters"
