"""Proves that phases, spills and merge passes come out of real tasks' logs exactly, and that nothing is made up."""

import pytest

from assay.engine.task_logs import LogLine, covered_s, phases_of, read_phases, stamped
from assay.model.errors import AssayError
from tests.engine.captures import LOGS, attempt_of, history_of, in_folder


def phases(name, end):
    history = history_of(name)
    attempt = attempt_of(history, end)
    (found,) = read_phases(in_folder(LOGS), [attempt]).phases
    return attempt, found


def logs_of(attempt):
    folder = LOGS / attempt.container.replace("container", "application").rpartition("_01_")[0] / attempt.container
    return [list(stamped(file.read_text().splitlines())) for file in sorted(folder.iterdir())]


def test_a_map_that_spilled_eight_times_and_merged_two_by_two():
    attempt, found = phases("speculation", "m_000001_0")
    assert (found.job, found.attempt, found.stage) == (attempt.job, attempt.attempt, "map")
    assert (found.spills, found.merge_passes) == (8, 7)
    # 06:25:31.860 launched, 38.868 split, 42.330 flush, 42.526 last spill, 44.846 done, 44.924 committed.
    assert (found.start_s, found.map_s, found.final_spill_s) == (7.008, 3.462, 0.196)
    assert (found.merge_s, found.commit_s) == (2.32, 0.078)
    # The seventh spill was under way when the map function had ended: only its part before counts.
    assert found.spill_s == pytest.approx(0.444 + 0.176 + 0.222 + 0.226 + 0.12 + 0.114 + 0.075)
    assert (found.shuffle_s, found.reduce_s, found.fetch_s, found.background_merge_s) == (None,) * 4


def test_a_maps_phases_add_up_to_its_time_by_history():
    attempt, found = phases("speculation", "m_000001_0")
    total = found.start_s + found.map_s + found.final_spill_s + found.merge_s + found.commit_s
    assert total == pytest.approx((attempt.finished_ms - attempt.started_ms) / 1000, abs=0.05)


def test_a_map_that_spilled_once_has_nothing_to_merge():
    _, found = phases("failed-and-killed", "m_000002_0")
    assert (found.spills, found.merge_passes, found.spill_s) == (1, 0, 0.0)
    assert (found.map_s, found.final_spill_s, found.merge_s) == (9.072, 0.006, 0.026)
    assert found.start_s == 85.453  # its process had been stopped


def test_a_job_without_reducers_has_maps_that_only_map():
    attempt, found = phases("map-only", "m_000000_0")
    assert (found.spills, found.final_spill_s, found.merge_s, found.spill_s) == (0, None, None, None)
    assert (found.map_s, found.commit_s) == (1.15, 0.139)
    assert found.start_s + found.map_s + found.commit_s == pytest.approx(
        (attempt.finished_ms - attempt.started_ms) / 1000, abs=0.05
    )


def test_a_reducer_that_merged_in_memory_on_disk_and_at_last():
    attempt, found = phases("speculation", "r_000000_0")
    assert found.spills == 3  # merges of its memory to disk
    assert found.merge_passes == 2  # one in the background, and the last, which feeds the reduce function
    assert found.failed_fetches == attempt.failed_fetches == 0
    assert found.shuffle_s + found.start_s == pytest.approx((attempt.shuffle_finished_ms - attempt.started_ms) / 1000)
    assert found.merge_s == (attempt.merge_finished_ms - attempt.shuffle_finished_ms) / 1000
    assert (found.reduce_s, found.commit_s) == (1.015, 0.096)
    assert 0 < found.fetch_s < found.shuffle_s
    # 46.880-47.147, 47.156-47.304, 47.345-47.448, 47.448-47.805
    assert found.background_merge_s == pytest.approx(0.267 + 0.148 + 0.103 + 0.357)
    assert (found.map_s, found.final_spill_s, found.spill_s) == (None,) * 3


def test_what_a_reducer_kept_in_memory_is_spilled_once_at_its_end():
    _, found = phases("failed-and-killed", "r_000000_0")
    assert (found.spills, found.merge_passes, found.background_merge_s) == (1, 1, 0.0)
    # It waited for one map for 79 s, and fetched for 52 ms.
    assert (found.shuffle_s, found.fetch_s) == (79.181, 0.052)


def test_map_outputs_that_could_not_be_fetched_are_counted_where_the_counter_is_lost():
    """An attempt that fails over them never reports its counters."""
    for end, lost in {"r_000000_0": 3, "r_000000_1": 2, "r_000000_3": 0}.items():
        attempt, found = phases("lost-output", end)
        assert (found.failed_fetches, attempt.failed_fetches) == (lost, 0)
    assert found.shuffle_s > 1 > found.fetch_s


def test_phases_of_a_reducer_whose_history_lacks_them_come_from_its_log():
    attempt, whole = phases("speculation", "r_000000_0")
    bare = attempt.model_copy(update={"shuffle_finished_ms": 0, "merge_finished_ms": 0})
    found = phases_of(bare, logs_of(attempt))
    assert found.shuffle_s == pytest.approx(whole.shuffle_s, abs=0.005)
    assert found.merge_s == pytest.approx(whole.merge_s, abs=0.005)


@pytest.mark.parametrize(
    ("name", "end", "start_s"),
    [("failed-and-killed", "m_000000_0", None), ("failed-and-killed", "m_000001_0", 3.538), ("failed-job", "m_000000_0", 2.156)],
)  # fmt: skip
def test_an_attempt_that_failed_or_was_killed_has_a_start_at_most(name, end, start_s):
    """Hadoop flushes a failed map's buffer too, which must not pass for its map phase's end."""
    _, found = phases(name, end)
    assert found.start_s == start_s
    assert (found.map_s, found.final_spill_s, found.merge_s, found.commit_s, found.spill_s) == (None,) * 5


def test_tasks_inside_their_jobs_master_are_told_apart():
    history = history_of("uber")
    found = {one.attempt[-10:]: one for one in read_phases(in_folder(LOGS), history.attempts).phases}
    assert found["m_000000_0"].map_s == 0.42
    assert found["m_000001_0"].map_s == 0.388
    assert (found["r_000000_0"].reduce_s, found["r_000000_0"].fetch_s) == (0.306, None)
    assert found["r_000000_0"].spills == 1


def test_a_log_that_breaks_off_before_a_successful_tasks_end_is_refused():
    attempt = attempt_of(history_of("speculation"), "m_000001_0")
    (log,) = logs_of(attempt)
    with pytest.raises(AssayError, match="breaks off before its task's end"):
        phases_of(attempt, [log[: len(log) // 2]])


def test_a_clock_set_forward_in_mid_task_is_refused_where_history_shows_it():
    attempt = attempt_of(history_of("speculation"), "r_000000_0")
    late = attempt.model_copy(update={"merge_finished_ms": attempt.merge_finished_ms + 5000})
    with pytest.raises(AssayError, match="out of order by 4.0 s"):
        phases_of(late, logs_of(attempt))


def test_covered_time_counts_what_overlaps_once_and_only_inside_the_window():
    assert covered_s([(0, 10), (5, 20), (30, 40), (90, 120), (200, 300)], (5, 100)) == 0.035
    assert covered_s([], (0, 100)) == 0.0
    assert covered_s([(50, 60)], (0, 40)) == 0.0


def test_lines_of_other_classes_with_the_same_words_count_for_nothing():
    attempt = attempt_of(history_of("speculation"), "m_000001_0")
    (log,) = logs_of(attempt)
    noise = [LogLine(log[-5].time_ms, "main", "MyMapper", "Finished spill 99"), *log[-4:]]
    assert phases_of(attempt, [[*log[:-4], *noise]]).spills == 8
