"""Proves that instruments tick together, that each one's failure is its own, and that totals belong to their part."""

import threading
import time

import pytest

from assay.model.probe import CannotMeasureError, Moment, Quantity
from assay.model.record import Sample
from assay.probe import sampler
from assay.probe.sampler import Samples
from tests.probe.faking import amounts_of, measuring


class Counting:
    """Counts its ticks; a test makes any of its methods do something else."""

    def __init__(self, name="counting", **instead):
        self.name = name
        self.ticks = 0
        self.threads = set()
        self.ended = 0
        self.instead = instead

    def do(self, method, otherwise):
        return self.instead[method](self) if method in self.instead else otherwise

    def attach(self, scene):
        self.do("attach", None)

    def sample(self, now):
        self.ticks += 1
        self.threads.add(threading.current_thread().name)
        return self.do("sample", {("", "ticks_count"): self.ticks})

    def totals(self):
        return self.do("totals", {Quantity("machine", "ticks_count"): self.ticks})

    def doubts(self):
        return self.do("doubts", ())

    def close(self):
        self.ended += 1


def fail(error):
    def raising(_instrument):
        raise error

    return raising


def test_all_that_was_counted_before_the_beginning_belongs_to_no_part():
    def totals(one):
        return {Quantity("disk", "read_bytes"): 10.0**one.ticks, Quantity("disk", "peak_bytes", level=True): one.ticks}

    with measuring(Counting(totals=totals), Counting("odd", totals=fail(OSError("gone")))) as reading:
        reading.mark("staging")
    assert [(amount.series, amount.part, amount.value) for amount in amounts_of(reading)] == [
        ("read_bytes", "staging", 90.0), ("peak_bytes", "staging", 2.0),
    ]  # fmt: skip
    assert [doubt.kind for doubt in reading.doubts] == ["probe-missing"]


def watched(*instruments, marks=("staging", "run"), interval_s=60.0):
    with measuring(*instruments, interval_s=interval_s) as reading:
        for part in marks:
            reading.mark(part)
    return reading


def test_each_mark_ticks_once_more_and_counters_are_differences():
    one, two = Counting("one"), Counting("two")
    reading = watched(one, two)
    assert [(sample.probe, sample.series, sample.value) for sample in reading.samples] == [
        ("one", "ticks_count", 1), ("one", "ticks_count", 2), ("one", "ticks_count", 3), ("two", "ticks_count", 1),
        ("two", "ticks_count", 2), ("two", "ticks_count", 3),
    ]  # fmt: skip
    assert [(amount.probe, amount.part, amount.value, amount.basis) for amount in amounts_of(reading)] == [
        ("one", "staging", 1, "measured"), ("two", "staging", 1, "measured"), ("one", "run", 1, "measured"),
        ("two", "run", 1, "measured"),
    ]  # fmt: skip
    assert one.threads == two.threads == {"probe-sampler"}
    assert one.ended == two.ended == 1
    assert reading.doubts == ()


def test_it_ticks_by_itself():
    one = Counting()
    began_s = time.monotonic()
    with measuring(one, interval_s=0.01):
        while one.ticks < 3 and time.monotonic() - began_s < 60:
            time.sleep(0.01)
    assert 3 <= one.ticks <= (time.monotonic() - began_s) / 0.01 + 1


def test_a_level_is_told_as_it_is_and_a_counter_that_appears_late_counts_from_nothing():
    def totals(one):
        told = {Quantity("disk", "peak_bytes", "estimated", level=True): 7.0 - one.ticks}
        return told if one.ticks < 3 else {**told, Quantity("late", "read_bytes"): 40.0}

    found = amounts_of(watched(Counting(totals=totals)))
    assert [(amount.subject, amount.part, amount.value, amount.basis) for amount in found] == [
        ("disk", "staging", 5.0, "estimated"), ("disk", "run", 4.0, "estimated"), ("late", "run", 40.0, "measured"),
    ]  # fmt: skip


def test_a_counter_that_goes_back_is_left_out_and_doubted():
    def totals(one):
        return {Quantity("disk", "read_bytes"): 100.0 - one.ticks, Quantity("disk", "written_bytes"): 1.0 * one.ticks}

    reading = watched(Counting(totals=totals), marks=("run",))
    assert [(amount.series, amount.value) for amount in amounts_of(reading)] == [("written_bytes", 1.0)]
    assert [doubt.kind for doubt in reading.doubts] == ["counter-went-back"]


@pytest.mark.parametrize("method", ["attach", "totals"])
def test_one_that_can_not_begin_measures_nothing_and_the_others_go_on(method):
    broken, sound = Counting("broken", **{method: fail(OSError("no such counter"))}), Counting("sound")
    reading = watched(broken, sound)
    assert {amount.probe for amount in amounts_of(reading)} == {"sound"}
    assert {sample.probe for sample in reading.samples} == {"sound"}
    (doubt,) = reading.doubts
    assert (doubt.kind, doubt.instrument, doubt.what) == (
        "probe-missing", "broken", "the probe broken measured nothing: no such counter"
    )  # fmt: skip
    assert broken.ended == 1


def test_what_an_instrument_knows_about_its_lack_is_passed_on():
    lack = CannotMeasureError("there is no RAPL here", "energy is modelled", "run on bare metal")
    (doubt,) = watched(Counting("rapl", attach=fail(lack))).doubts
    assert (doubt.why, doubt.cure) == ("energy is modelled", "run on bare metal")


def test_one_that_fails_in_mid_trial_keeps_its_whole_parts_and_stops():
    def dies(one):
        if one.ticks == 3:
            raise KeyError("sda")
        return {("", "ticks_count"): one.ticks}

    dying, sound = Counting("dying", sample=dies), Counting("sound")
    reading = watched(dying, sound, marks=("staging", "run", "collect"))
    assert [(amount.probe, amount.part) for amount in amounts_of(reading)] == [
        ("dying", "staging"), ("sound", "staging"), ("sound", "run"), ("sound", "collect"),
    ]  # fmt: skip
    assert dying.ticks == 3
    (doubt,) = reading.doubts
    assert doubt.kind == "probe-stopped"
    assert "KeyError: 'sda'" in doubt.what


def test_one_that_fails_at_its_end_does_not_keep_the_others_from_theirs():
    broken, sound = Counting("broken", doubts=fail(ValueError("odd"))), Counting("sound")
    reading = watched(broken, sound)
    assert broken.ended == sound.ended == 1, "it is closed though its doubts can't be heard"
    assert [doubt.kind for doubt in reading.doubts] == ["probe-stopped"]


def test_the_death_of_the_sampling_thread_is_told_and_nobody_waits_for_it(monkeypatch):
    answered = []

    class Event(threading.Event):
        def wait(self, timeout=None):
            answered.append(super().wait(timeout))
            return answered[-1]

    monkeypatch.setattr(threading, "Event", Event)
    dying, sound = Counting("dying", sample=fail(SystemExit(3))), Counting("sound")
    reading = watched(dying, sound)
    assert answered
    assert all(answered), "a mark waited in vain"
    assert amounts_of(reading) == ()
    assert [doubt.kind for doubt in reading.doubts] == ["probes-lost"]
    assert dying.ended == sound.ended == 1


def test_a_sampling_thread_that_hangs_holds_up_a_mark_only_for_a_while(monkeypatch):
    monkeypatch.setattr(sampler, "PATIENCE_S", 0.05)
    release = threading.Event()
    hanging = Counting(sample=lambda _one: release.wait(5) and {})
    with measuring(hanging) as reading:
        reading.mark("staging")
        reading.mark("run")
        release.set()
        time.sleep(0.05)
    assert hanging.ticks == 1
    assert amounts_of(reading) == ()
    assert [doubt.kind for doubt in reading.doubts] == ["probes-lost"]


def test_a_step_of_the_clock_and_a_long_gap_are_doubted(monkeypatch):
    moments = iter(
        [Moment(0, 100.0), Moment(0, 100.0), Moment(500, 100.5), Moment(3_607_000, 107.0), Moment(3_607_500, 107.5)]
    )
    monkeypatch.setattr(sampler, "now", lambda: next(moments))
    reading = watched(Counting(), marks=("staging", "run", "collect"))
    assert [doubt.kind for doubt in reading.doubts] == ["samples-sparse", "clock-stepped"]
    assert "6.5 s" in reading.doubts[0].what
    assert "3600.0 s" in reading.doubts[1].what
    assert [sample.time_ms for sample in reading.samples] == [0, 500, 3_607_000, 3_607_500]


def test_the_time_of_a_stop_is_told(monkeypatch):
    monkeypatch.setattr(sampler.time, "strftime", lambda _form: "12:00:00")
    reading = watched(Counting(sample=fail(ValueError("cut short"))), marks=("run",))
    assert reading.doubts[0].what == "the probe counting stopped at 12:00:00: cut short"


def test_samples_are_kept_small_and_come_back_as_they_were():
    samples = Samples()
    for time_ms in range(0, 3_600_000, 500):
        samples.add("cpu", time_ms, {("", "user_percent"): 1.5, ("", "idle_percent"): 98.5})
    assert len(samples) == 14_400
    assert samples.bytes < 14_400 * 20
    assert next(iter(samples)) == Sample(probe="cpu", series="user_percent", time_ms=0, value=1.5)
    assert list(samples)[-1].time_ms == 3_599_500
