"""Proves that a task's log is read line by line, brought to UTC, and refused when its times make no sense."""

import pytest

from assay.engine.task_logs import LogLine, in_utc, merged, section, stamped
from assay.model.errors import AssayError
from tests.engine.captures import LOGS

MASTER = LOGS / "application_1795242312674_0005/container_1795242312674_0005_01_000001/syslog"
FAILED = LOGS / "application_1795242312674_0004/container_1795242312674_0004_01_000002/syslog"
MINUTE_MS = 60_000


def a_line(time_ms):
    return LogLine(time_ms=time_ms, thread="main", logger="Task", message="x")


def test_a_stamped_line_has_its_time_thread_class_and_message():
    text = "2026-11-21 06:25:42,472 INFO [SpillThread] org.apache.hadoop.mapred.MapTask: Finished spill 6\n"
    (line,) = stamped([text])
    assert line == LogLine(1795242342472, "SpillThread", "MapTask", "Finished spill 6")


def test_stack_traces_are_no_lines():
    with FAILED.open() as text:
        lines = list(stamped(text))
    assert not [line for line in lines if "FailJob$FailMapper" in line.message]
    assert lines[-1].message == "Running cleanup for the task"


def test_the_tasks_of_a_job_inside_its_master_have_a_section_each():
    with MASTER.open() as text:
        lines = list(stamped(text))
    job = "attempt_1795242312674_0005"
    for attempt, first in {f"{job}_m_000001_0": "MapTask", f"{job}_r_000000_0": "ReduceTask"}.items():
        own = section(lines, attempt)
        assert own[-1].message == f"Task '{attempt}' done."
        assert next(line.logger for line in own if line.logger in ("MapTask", "ReduceTask")) == first
        assert sum(line.message.endswith("' done.") for line in own) == 1


def test_two_logs_of_a_process_become_one_by_time():
    both = merged([[a_line(1), a_line(5)], [a_line(3)]])
    assert [line.time_ms for line in both] == [1, 3, 5]


def test_threads_that_write_a_little_out_of_turn_are_no_fault_but_a_clock_set_back_is():
    assert [line.time_ms for line in merged([[a_line(1500), a_line(900)]])] == [900, 1500]
    with pytest.raises(AssayError, match="run backwards by 3.5 s"):
        merged([[a_line(5000), a_line(1500)]])


@pytest.mark.parametrize("zone_minutes", [0, -8 * 60, 5 * 60 + 45, 14 * 60])
def test_local_time_becomes_utc_whatever_the_nodes_zone(zone_minutes):
    launched = 1795242331860
    local = [a_line(launched + 2990 + zone_minutes * MINUTE_MS), a_line(launched + 9000 + zone_minutes * MINUTE_MS)]
    assert [line.time_ms - launched for line in in_utc(local, launched)] == [2990, 9000]


def test_a_log_that_begins_far_from_its_containers_launch_is_refused():
    with pytest.raises(AssayError, match="lies 420 s from the container's launch"):
        in_utc([a_line(7 * MINUTE_MS)], 0)
