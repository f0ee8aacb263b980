"""Proves which attempts and phases made up a job's time, and that the parts always add up to it exactly."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.task_logs import read_phases
from assay.engine.tasks import MapReducePhases
from assay.stats.tasks import critical_path
from tests.engine.captures import LOGS, history_of, in_folder
from tests.stats.attempts import EPOCH_MS, JOB, a_job, an_attempt, at


def told(path):
    """The parts in short: what, whose, from when to when in seconds after submission."""
    return [
        (part.kind, part.attempt[-10:], (part.started_ms - EPOCH_MS) / 1000, (part.finished_ms - EPOCH_MS) / 1000)
        for part in path.parts
    ]


def check_whole(job, path):
    """From submission to end, without a gap."""
    assert path.parts[0].started_ms == job.submitted_ms
    assert path.parts[-1].finished_ms == job.finished_ms
    for before, after in zip(path.parts, path.parts[1:], strict=False):
        assert before.finished_ms == after.started_ms
    assert all(part.finished_ms > part.started_ms for part in path.parts)
    assert sum(part.finished_ms - part.started_ms for part in path.parts) == job.finished_ms - job.submitted_ms


def test_map_waves_then_the_shuffle_of_the_reducer_that_ended_last():
    job = a_job(2, 40)
    attempts = [
        an_attempt("m0_0", 3, 10), an_attempt("m1_0", 3, 11), an_attempt("m2_0", 10.5, 19), an_attempt("m3_0", 11.5, 21),
        an_attempt("r0_0", 12, 24, 25, 30), an_attempt("r1_0", 12, 26, 28, 39),
    ]  # fmt: skip
    path = critical_path(job, attempts)
    assert told(path) == [
        ("master", "", 0, 2), ("container", "m_000001_0", 2, 3), ("map", "m_000001_0", 3, 11),
        ("container", "m_000003_0", 11, 11.5), ("map", "m_000003_0", 11.5, 21), ("shuffle", "r_000001_0", 21, 26),
        ("merge", "r_000001_0", 26, 28), ("reduce", "r_000001_0", 28, 39), ("job commit", "", 39, 40),
    ]  # fmt: skip
    assert path.disorder_ms == 0
    check_whole(job, path)


def test_a_reducer_of_a_second_wave_waited_for_the_first_not_for_the_maps():
    job = a_job(1, 30)
    attempts = [an_attempt("m0_0", 2, 8), an_attempt("r0_0", 3, 9, 10, 18), an_attempt("r1_0", 19, 22, 22, 29)]
    assert told(critical_path(job, attempts))[3:] == [
        ("shuffle", "r_000000_0", 8, 9), ("merge", "r_000000_0", 9, 10), ("reduce", "r_000000_0", 10, 18),
        ("container", "r_000001_0", 18, 19), ("shuffle", "r_000001_0", 19, 22), ("reduce", "r_000001_0", 22, 29),
        ("job commit", "", 29, 30),
    ]  # fmt: skip


def test_a_reducer_whose_process_was_ready_after_the_last_map_waited_for_itself():
    job = a_job(1, 20)
    attempts = [an_attempt("m0_0", 2, 8), an_attempt("m1_0", 2, 9.5), an_attempt("r0_0", 9, 13, 14, 19)]
    phases = [
        MapReducePhases(job=JOB, attempt=attempts[2].attempt, stage="reduce", start_s=3.0, shuffle_s=1, reduce_s=4.5)
    ]
    assert ("shuffle", "r_000000_0", 9.5, 13) in told(critical_path(job, attempts))
    path = critical_path(job, attempts, phases)
    assert told(path)[2:] == [
        ("map", "m_000000_0", 2, 8), ("container", "r_000000_0", 8, 9), ("start", "r_000000_0", 9, 12),
        ("shuffle", "r_000000_0", 12, 13), ("merge", "r_000000_0", 13, 14), ("reduce", "r_000000_0", 14, 18.5),
        ("task commit", "r_000000_0", 18.5, 19), ("job commit", "", 19, 20),
    ]  # fmt: skip
    check_whole(job, path)


def test_a_maps_finer_phases_are_told_where_they_are_known():
    job = a_job(1, 12)
    attempts = [an_attempt("m0_0", 2, 11)]
    seen = MapReducePhases(
        job=JOB, attempt=attempts[0].attempt, stage="map", start_s=2.0, map_s=4.0, final_spill_s=0.5, merge_s=2.0,
        commit_s=0.5,
    )  # fmt: skip
    assert told(critical_path(job, attempts, [seen]))[2:] == [
        ("start", "m_000000_0", 2, 4), ("map", "m_000000_0", 4, 8), ("final spill", "m_000000_0", 8, 8.5),
        ("map merge", "m_000000_0", 8.5, 10.5), ("task commit", "m_000000_0", 10.5, 11), ("job commit", "", 11, 12),
    ]  # fmt: skip


def test_an_attempt_that_failed_is_lost_time_of_the_one_that_took_its_place():
    job = a_job(1, 30)
    attempts = [
        an_attempt("m0_0", 2, 15, state="FAILED"), an_attempt("m0_1", 16, 29), an_attempt("m1_0", 2, 15.5),
    ]  # fmt: skip
    assert told(critical_path(job, attempts))[1:] == [
        ("container", "m_000000_0", 1, 2), ("lost", "m_000000_0", 2, 15), ("container", "m_000000_1", 15, 16),
        ("map", "m_000000_1", 16, 29), ("job commit", "", 29, 30),
    ]  # fmt: skip


def test_a_speculative_attempt_that_won_began_for_the_slow_one():
    job = a_job(1, 30)
    attempts = [
        an_attempt("m0_0", 2, 29.5, state="KILLED"), an_attempt("m0_1", 20, 29), an_attempt("m1_0", 2, 9),
    ]  # fmt: skip
    assert told(critical_path(job, attempts))[1:] == [
        ("container", "m_000000_0", 1, 2), ("lost", "m_000000_0", 2, 20), ("map", "m_000000_1", 20, 29),
        ("job commit", "", 29, 30),
    ]  # fmt: skip


def test_a_job_of_which_history_has_no_attempt_that_succeeded_is_unknown():
    job = a_job(2, 10, state="FAILED")
    path = critical_path(job, [an_attempt("m0_0", 3, 9, state="FAILED")])
    assert told(path) == [("master", "", 0, 2), ("unknown", "", 2, 10)]


def test_a_reducer_without_known_phases_is_unknown_but_its_chain_goes_on():
    job = a_job(1, 20)
    attempts = [an_attempt("m0_0", 2, 8), an_attempt("r0_0", 9, 19)]
    assert told(critical_path(job, attempts))[2:] == [
        ("map", "m_000000_0", 2, 8), ("container", "r_000000_0", 8, 9), ("unknown", "r_000000_0", 9, 19),
        ("job commit", "", 19, 20),
    ]  # fmt: skip


def test_attempts_of_other_jobs_and_without_times_do_not_count():
    job = a_job(1, 10)
    other = an_attempt("m5_0", 2, 9.9, job="job_1_0002")
    endless = an_attempt("m6_0", 2, 5, state="KILLED", finished_ms=0)
    assert critical_path(job, [an_attempt("m0_0", 2, 9), other, endless]) == critical_path(
        job, [an_attempt("m0_0", 2, 9)]
    )


def test_clocks_that_disagree_are_told_and_the_parts_still_add_up():
    """A reducer's phases are stamped by its own node, its start and end by the master's."""
    job = a_job(1, 20)
    attempts = [an_attempt("m0_0", 2, 8), an_attempt("r0_0", 9, 22, 23, 19)]
    path = critical_path(job, attempts)
    assert path.disorder_ms == 4000
    check_whole(job, path)


def test_a_real_job_with_a_speculative_attempt():
    history = history_of("speculation")
    path = critical_path(history.job, history.attempts, read_phases(in_folder(LOGS), history.attempts).phases)
    check_whole(history.job, path)
    assert [(part.kind, part.attempt[-10:]) for part in path.parts] == [
        ("master", ""), ("container", "m_000005_0"), ("map", "m_000005_0"), ("container", "r_000001_0"),
        ("start", "r_000001_0"), ("shuffle", "r_000001_0"), ("merge", "r_000001_0"), ("reduce", "r_000001_0"),
        ("task commit", "r_000001_0"), ("job commit", ""),
    ]  # fmt: skip
    assert sum(part.seconds for part in path.parts) == pytest.approx(history.job.submitted_s)
    assert path.disorder_ms <= 50


def test_a_real_job_with_a_stopped_process_waited_for_it():
    history = history_of("failed-and-killed")
    path = critical_path(history.job, history.attempts)
    check_whole(history.job, path)
    longest = max(path.parts, key=lambda part: part.seconds)
    assert (longest.kind, longest.attempt[-10:], longest.seconds) == ("map", "m_000002_0", 94.57)


def test_a_real_job_that_lost_a_maps_output_spent_its_time_on_reducers_that_failed():
    """The map ran again after the third reducer had failed to fetch, not after its own first end."""
    history = history_of("lost-output")
    path = critical_path(history.job, history.attempts)
    check_whole(history.job, path)
    assert [(part.kind, part.attempt[-10:]) for part in path.parts if part.kind != "container"] == [
        ("master", ""), ("lost", "m_000001_0"), ("lost", "r_000000_0"), ("lost", "r_000000_1"),
        ("lost", "r_000000_2"), ("map", "m_000001_1"), ("shuffle", "r_000000_3"), ("merge", "r_000000_3"),
        ("reduce", "r_000000_3"), ("job commit", ""),
    ]  # fmt: skip
    assert max(part.seconds for part in path.parts if part.kind == "container") < 0.5


def test_a_job_inside_its_master_runs_its_tasks_in_turn():
    history = history_of("uber")
    path = critical_path(history.job, history.attempts)
    check_whole(history.job, path)
    assert [part.attempt[-10:] for part in path.parts if part.kind == "map"] == ["m_000000_0", "m_000001_0"]


times = st.integers(min_value=0, max_value=60).map(float)


@st.composite
def any_attempts(draw):
    count = draw(st.integers(min_value=0, max_value=8))
    found = []
    for number in range(count):
        kind, state = draw(st.sampled_from("mr")), draw(st.sampled_from(["SUCCEEDED", "FAILED", "KILLED"]))
        ends = [draw(times) for _ in range(3 if kind == "r" else 1)]
        name = f"{kind}{draw(st.integers(min_value=0, max_value=2))}_{number}"
        found.append(an_attempt(name, draw(times), *ends, state=state))
    return found


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(any_attempts(), st.data())
def test_whatever_history_says_the_parts_add_up(attempts, data):
    job = a_job(5, 50)
    phases = [
        MapReducePhases(
            job=JOB, attempt=one.attempt, stage=one.stage, start_s=data.draw(times), map_s=data.draw(times),
            final_spill_s=data.draw(times), merge_s=data.draw(times), reduce_s=data.draw(times),
        )
        for one in attempts
        if data.draw(st.booleans())
    ]  # fmt: skip
    check_whole(job, critical_path(job, attempts, phases))


@pytest.mark.slow
def test_ten_thousand_attempts_take_no_time():
    maps = [an_attempt(f"m{number}_0", 3 + number / 10, 4 + number / 10) for number in range(10_000)]
    job = a_job(2, 1010)
    path = critical_path(job, maps)
    check_whole(job, path)
    assert at(1003.9) in {part.finished_ms for part in path.parts}
