"""Proves what readings at any times come to in the parts of a trial: interpolated, marked where unsure, never made up."""

import math

import pytest

from assay.model.probe import Quantity, Reading, SeriesTable
from assay.model.quantity import Kind
from assay.probe.counters import COUNT_32_BITS, MS_32_BITS, WORD, PartSpans, Readings, step
from assay.probe.disk import SECTORS_32_BITS


def times(*marks):
    found = PartSpans()
    found.mark(None, marks[0][1])
    for part, time_ms in marks[1:]:
        found.mark(part, time_ms)
    return found.parts


PARTS = times((None, 0), ("staging", 10_000), ("run", 110_000), ("collect", 112_000))


TABLE = SeriesTable({"read_bytes": Kind.BYTES, "sent_bytes": Kind.BYTES, "iowait_s": Kind.PROCESSOR_TIME})


def read(time_ms, value, subject="disk", series="read_bytes", node="n", **of):
    """A reading of one value."""
    return Reading(node, time_ms / 1000, {Quantity(subject, series, **of): value})


def used(time_ms, value):
    return read(time_ms, value, "memory", "used_bytes", level=True)


def amounts(readings, parts=PARTS):
    return {(one.node, one.subject, one.series, one.part): (one.value, one.basis) for one in readings.amounts(parts)}


def counted(*points, derived=False):
    readings = Readings("p", TABLE)
    for time_ms, value in points:
        readings.add(read(time_ms, value, basis="estimated" if derived else "measured"))
    return readings


def test_a_part_has_what_the_counter_gained_in_it():
    found = amounts(counted((0, 500), (10_000, 700), (110_000, 1700), (112_000, 1710)))
    assert found == {
        ("n", "disk", "read_bytes", "staging"): (200, "measured"),
        ("n", "disk", "read_bytes", "run"): (1000, "measured"),
        ("n", "disk", "read_bytes", "collect"): (10, "measured"),
    }


def test_between_readings_a_counter_lies_on_a_straight_line():
    found = amounts(counted((0, 0), (9_000, 0), (11_000, 20), (109_000, 1000), (111_000, 1040), (115_000, 1040)))
    assert found["n", "disk", "read_bytes", "run"] == (pytest.approx(1010), "measured")
    coarse = amounts(counted((0, 0), (60_000, 600), (120_000, 1200)))
    assert coarse["n", "disk", "read_bytes", "run"] == (pytest.approx(1000), "estimated")


def test_of_a_part_that_was_hardly_seen_nothing_is_said():
    assert amounts(counted((0, 0), (60_000, 600))).keys() == {("n", "disk", "read_bytes", "staging")}
    late = amounts(counted((20_000, 0), (110_000, 900)))  # 90 of 100 s
    assert late["n", "disk", "read_bytes", "run"] == (900, "estimated")
    assert amounts(Readings("p", TABLE)) == {}


def test_what_has_no_figure_of_a_part_is_named():
    """A part of a few seconds may lie between two readings, and is not missed."""
    assert counted((0, 0), (60_000, 600)).uncovered(PARTS) == ["n in run"]
    assert counted((0, 0), (110_000, 900)).uncovered(PARTS) == []


def test_what_comes_or_goes_on_a_machine_that_is_read_is_not_missed():
    """Such as the interface of a container: the machine's other counters were read all the time."""
    for began_ms, ended_ms in ((60_000, 110_000), (0, 60_000)):
        readings = counted((0, 0), (60_000, 600), (110_000, 900))
        readings.add(read(began_ms, 1, "interface", "read_bytes", node="n"))
        readings.add(read(ended_ms, 2, "interface", "read_bytes", node="n"))
        assert readings.uncovered(PARTS) == []
        readings.add(read(began_ms, 1, "disk", "read_bytes", node="other"))
        readings.add(read(ended_ms, 2, "disk", "read_bytes", node="other"))
        assert "other in run" in readings.uncovered(PARTS)


def test_a_counter_that_began_anew_goes_on_from_there_as_an_estimate():
    readings = counted((0, 1000), (10_000, 1100), (50_000, 40), (110_000, 340))
    assert amounts(readings)["n", "disk", "read_bytes", "run"] == (340, "estimated")
    assert readings.broken() == ["disk of n"]
    assert counted((0, 1), (1, 2)).broken() == []


@pytest.mark.parametrize("values", [(5482.82, 5482.81, 5482.82), (0.02, 0.0, 0.02), (61.5, 60.9, 61.5)])
def test_time_that_steps_back_a_little_is_no_restart(values):
    readings = Readings("p", TABLE)
    for place, value in enumerate((values[0], *values, values[-1])):
        readings.add(read(25_000 * place, value, "processor", "iowait_s"))
    (amount,) = [one for one in readings.amounts(PARTS) if one.part == "run"]
    assert (amount.value, amount.basis) == (0.0, "estimated")  # 25 s between readings
    assert readings.broken() == []
    assert all(sample.value == 0 for sample in readings.samples())


def test_a_fall_that_is_no_new_beginning_is_told_and_counts_nothing():
    """Such as a sum that has lost a part."""
    readings = counted((0, 1000), (10_000, 1100), (50_000, 900), (110_000, 950))
    assert amounts(readings)["n", "disk", "read_bytes", "run"] == (50, "estimated")
    assert readings.broken() == ["disk of n"]


def test_a_later_boot_tells_a_new_beginning_also_where_the_counter_is_high_again():
    readings = Readings("p", TABLE)
    for time_ms, value, began_s in [(0, 80, 5e8), (10_000, 100, 5e8 + 1), (60_000, 70, 5e8 + 900), (110_000, 90, 0)]:
        readings.add(read(time_ms, value)._replace(booted_s=began_s))
    assert amounts(readings)["n", "disk", "read_bytes", "run"] == (90, "estimated")
    assert readings.broken() == ["disk of n"]


def test_a_counter_of_32_bits_runs_over_unless_its_machine_was_started_anew():
    for began_s, gained in ((7.0, 30), (100.0, 20)):
        readings = Readings("p", TABLE._replace(wraps={"sent_bytes": COUNT_32_BITS}))
        for time_ms, value, at_s in [(0, WORD - 10, 7.0), (10_000, WORD - 10, 7.0), (110_000, 20, began_s)]:
            readings.add(read(time_ms, value, "interface eth0", "sent_bytes")._replace(booted_s=at_s))
        assert amounts(readings)["n", "interface eth0", "sent_bytes", "run"][0] == gained


def test_what_is_derived_from_levels_is_an_estimate():
    assert amounts(counted((0, 0), (10_000, 5), derived=True))["n", "disk", "read_bytes", "staging"] == (5, "estimated")


def test_levels_have_their_peak_in_each_part():
    readings = Readings("p", TABLE)
    for time_ms, value in [(0, 5), (5_000, 9), (10_000, 7), (60_000, 3)]:
        readings.add(used(time_ms, value))
    found = amounts(readings)
    assert found["n", "memory", "used_peak_bytes", "staging"] == (9, "estimated")
    assert found["n", "memory", "used_peak_bytes", "run"] == (7, "estimated")
    assert ("n", "memory", "used_peak_bytes", "collect") not in found


def test_samples_are_rates_of_counters_and_levels_as_they_were():
    readings = counted((0, 0), (1000, 500), (1050, 600), (1050, 900), (3050, 1600))
    readings.add(used(10, 5))
    found = [(one.subject, one.series, one.time_ms, one.value, one.node) for one in readings.samples()]
    assert found == [
        ("disk", "read_bytes_per_s", 1000, 500.0, "n"), ("disk", "read_bytes_per_s", 3050, 536.585, "n"),
        ("memory", "used_bytes", 10, 5, "n"),
    ]  # fmt: skip


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_reading_that_is_no_number_is_none_and_is_told(odd):
    """Also where it lies at the end of a part, and for levels."""
    readings = counted((0, 0), (10_000, odd), (20_000, 200), (60_000, odd), (110_000, 1100), (112_000, 1100))
    readings.add(used(50_000, odd))
    readings.add(used(60_000, 5.0))
    found = amounts(readings)
    assert found["n", "disk", "read_bytes", "run"][0] == 1000
    assert found["n", "memory", "used_peak_bytes", "run"][0] == 5.0
    assert all(math.isfinite(sample.value) for sample in readings.samples())
    assert readings.not_numbers() == ["disk read_bytes of n", "memory used_bytes of n"]
    assert readings.broken() == []


@pytest.mark.parametrize(
    ("highest", "now", "told", "gained", "restarted"),
    [
        (100e9, 5e6, {"wrap": COUNT_32_BITS}, 5e6, True),  # a kernel of 64 bits, past a word's range
        (3e15, 7e9, {"wrap": SECTORS_32_BITS}, 7e9, True),
        (3.5e9, 1e6, {"wrap": COUNT_32_BITS}, 1e6, True),  # far from its range, which it can't have run over
        (WORD - 5e6, 1e6, {"wrap": COUNT_32_BITS}, 6e6, False),
        (512 * (WORD - 100), 512 * 20, {"wrap": SECTORS_32_BITS}, 512 * 120, False),
        (WORD - 900, 100, {"wrap": MS_32_BITS}, 1000, False),
        (1e9, 2e9, {"rebooted": True}, 2e9, True),  # it has already passed what it was before
        (1e9, 1e9, {"rebooted": True}, 1e9, True),
    ],
)
def test_a_counter_runs_over_near_its_range_alone_and_gains_no_less_than_nothing(highest, now, told, gained, restarted):
    done = step(highest, now, **told)
    assert (done.gained, done.restarted, done.fell, done.highest) == (gained, restarted, False, now)


@pytest.mark.parametrize(("highest", "now", "restarted"), [(100_000, 40_000, False), (900, 90, False), (900, 9, True)])
def test_only_a_fall_to_near_nothing_is_a_new_beginning(highest, now, restarted):
    assert step(highest, now, per_s=1) == (now * restarted, now, restarted, not restarted)
