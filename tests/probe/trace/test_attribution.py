"""Proves that each request gets the role of the file that owned its place at its time, against a plain search."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assay.probe.trace.attribution import STILL_THERE, Attribution, Extent
from assay.probe.trace.medium import Clock
from assay.probe.trace.requests import FIELDS

ROLES = ("input", "intermediate", "output", "other")


def records(*pairs):
    made = np.zeros(len(pairs), dtype=FIELDS)
    made["offset"], made["arrived_ns"] = zip(*pairs, strict=True) if pairs else ((), ())
    return made


def told(rows, extents, shift=0):
    return [ROLES[number] for number in Attribution(extents, ROLES, shift).roles(records(*rows))]


def test_place_and_time_both_count():
    extents = [Extent(100, 200, 5, 10, "input"), Extent(100, 150, 11, STILL_THERE, "output")]
    rows = [(100, 4), (100, 5), (199, 10), (200, 7), (99, 7), (149, 11), (150, 11)]
    assert told(rows, extents) == ["other", "input", "input", "other", "other", "output", "other"]


def test_a_file_system_may_begin_within_its_disk():
    assert told([(1100, 1), (100, 1)], [Extent(100, 200, 0, 9, "input")], 1000) == ["input", "other"]


def test_nothing_known_or_asked():
    assert told([(1, 1)], []) == ["other"]
    assert told([], [Extent(0, 1, 0, 1, "input")]) == []


span = st.tuples(st.integers(0, 30), st.integers(1, 10), st.integers(0, 30), st.integers(0, 10))
role = st.sampled_from(ROLES[:3])


@given(
    st.lists(st.tuples(span, role), max_size=25),
    st.lists(st.tuples(st.integers(0, 45), st.integers(0, 45)), max_size=30),
)
def test_as_a_plain_search_finds_it(extents, rows):
    """Any owner will do where several did at once, which can't be on a real disk; but an owner, if there is one."""
    made = [Extent(begin, begin + size, since, since + time, role) for (begin, size, since, time), role in extents]
    for (offset, arrived), found in zip(rows, told(rows, made), strict=True):
        owners = {one.role for one in made if one.begin <= offset < one.end and one.since_ns <= arrived <= one.until_ns}
        assert found in (owners or {"other"})


def test_the_time_of_day_follows_its_steps():
    now = {"monotonic": 100, "day": 1_000_000_100}
    clock = Clock(lambda: now["monotonic"], lambda: now["day"])
    now.update(monotonic=5000, day=1_000_005_900)
    clock.look()
    now.update(monotonic=6000, day=3_000_006_000)
    clock.look()
    assert clock.time_of_day(np.array([50, 5999, 6000, 7000])).tolist() == [
        1_000_000_050,
        1_000_005_999,
        3_000_006_000,
        3_000_007_000,
    ]
