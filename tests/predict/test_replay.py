"""Proves how long drives are said to be busy, by requests whose times are written by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.record import Span
from assay.model.signature import Requests
from assay.predict.replay import RECORD, busy_elsewhere_s, busy_s, by_node

MS = 1_000_000


def a_log(*rows, medium="hdd"):
    """Rows of (arrived ms, latency ms, role)."""
    arrived, latency, role = (np.array(column) for column in zip(*rows, strict=True))
    count = len(rows)
    return Requests(
        medium=medium, source="test", arrived_ns=arrived * MS, offset=np.arange(count) * 4096,
        bytes=np.full(count, 4096), latency_ns=latency * MS, kind=np.zeros(count, "u1"), role=role,
        roles=("input", "intermediate"),
    )  # fmt: skip


WHOLE = [Span(begin_ms=0, end_ms=10_000)]


def test_time_with_any_request_is_counted_once():
    log = a_log((0, 100, 0), (50, 100, 1), (1000, 10, 0), (990, 15, 0))
    assert busy_s(log, WHOLE) == [pytest.approx(0.150 + 0.020)]
    parts = [Span(begin_ms=0, end_ms=500), Span(begin_ms=500, end_ms=995), Span(begin_ms=1001, end_ms=2000)]
    assert busy_s(log, parts) == [pytest.approx(0.150), pytest.approx(0.015), 0]


def test_a_request_that_waits_for_those_of_another_role_has_none_of_their_time():
    log = a_log((0, 100, 0), (10, 140, 1), (20, 180, 0), (1000, 10, 1))
    assert busy_s(log, WHOLE, {"input"}) == [pytest.approx(0.100 + 0.050)]
    assert busy_s(log, WHOLE, {"intermediate"}) == [pytest.approx(0.050 + 0.010)]


REQUESTS = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 100), st.integers(0, 1)), min_size=1, max_size=40)


@given(REQUESTS)
def test_the_work_for_the_roles_adds_up_to_the_time_with_any_request(rows):
    log = a_log(*rows)
    (whole,) = busy_s(log, WHOLE)
    busy_ms = {ms for arrived, latency, _ in rows for ms in range(arrived, arrived + latency)}
    assert whole == pytest.approx(len(busy_ms) / 1000)
    assert sum(busy_s(log, WHOLE, {role})[0] for role in ("input", "intermediate")) == pytest.approx(whole)


def half_as_long(_, records):
    """A drive that answers in half the time, as the emulator would write it."""
    answered = np.frombuffer(records, RECORD).copy()
    answered["latency_ns"] //= 2
    return answered.tobytes()


def test_another_drive_gets_the_requests_of_some_roles_from_all_drives():
    logs = [a_log((0, 100, 0), (2000, 100, 1)), a_log((500, 40, 1), medium="other")]
    assert busy_elsewhere_s(logs, WHOLE, None, None, half_as_long) == [pytest.approx(0.120)]
    assert busy_elsewhere_s(logs, WHOLE, {"intermediate"}, None, half_as_long) == [pytest.approx(0.070)]


def test_requests_outside_the_jobs_are_answered_and_not_counted():
    asked = []

    def drive(profile, records):
        asked.append(len(records) // RECORD.itemsize)
        return half_as_long(profile, records)

    log = a_log((0, 100, 0), (2000, 100, 1))
    assert busy_elsewhere_s([log], [Span(begin_ms=1000, end_ms=3000)], None, None, drive) == [pytest.approx(0.050)]
    assert asked == [2]


def test_drives_are_told_apart_by_node():
    log = a_log((0, 1, 0))
    assert by_node({"hdd": log}) == {"": {"hdd": log}}
    assert by_node({"a/hdd": log, "b/hdd": log, "a/ssd": log}) == {"a": {"hdd": log, "ssd": log}, "b": {"hdd": log}}
