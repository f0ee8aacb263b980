"""Proves that the disk probe's figures are exact for known counters, and that a device's death or reset spoils no more than it must."""

from pathlib import Path

import pytest

from assay.model.layout import Layout
from assay.model.probe import Moment, Quantity, Scene, WatchedDisk
from assay.probe.disk import CLASS, DiskCounters, DiskInstrument, DiskWork, figures, parse_counters
from tests.probe.faking import PlacedNode

FIXTURES = Path(__file__).parents[1] / "fixtures" / "probe" / "disk"
BEFORE = "100 0 2000 50 10 0 800 20 0 300 70 0 0 0 0 1 4"
AFTER = "300 5 10192 450 20 0 16800 120 3 700 570 2 0 64 1 3 9"


def gained(before, now):
    return DiskWork(before).done(now)


def disk(medium="hdd", device="/dev/loop9", **changes):
    return WatchedDisk(medium=medium, own=True, place=Path("/"), device=device and Path(device), **changes)


def scene(*disks):
    return Scene(layout=Layout.below(Path("/nowhere")), disks=disks)


def at(seconds):
    return Moment(time_ms=int(1000 * seconds), clock_s=seconds)


@pytest.fixture
def sys(tmp_path):
    (tmp_path / "loop9").mkdir()
    (tmp_path / "loop9" / "stat").write_text(BEFORE)
    return tmp_path


def test_all_seventeen_fields_are_read():
    counters = parse_counters("  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n")
    assert counters == DiskCounters(1, 3 * 512, 4, 5, 7 * 512, 8, 10, 11, 12, 14 * 512, 16, 17)


def test_older_kernels_count_less_and_a_line_that_is_none_is_refused():
    assert parse_counters("1 2 3 4 5 6 7 8 9 10 11").flushes == 0
    for text in ("", "1 2 3", "gone"):
        with pytest.raises(ValueError, match="counters are|invalid literal"):
            parse_counters(text)


def test_captured_counters_of_a_known_copy():
    """16 MiB written with 1 MiB direct writes, then half of it read in 64 KiB requests, on a real loop device."""
    readings = [parse_counters((FIXTURES / f"loop-{name}.stat").read_text()) for name in ("before", "written", "read")]
    wrote, read = gained(readings[0], readings[1]), gained(readings[1], readings[2])
    assert (wrote.written_bytes, wrote.read_bytes) == (16 << 20, 0)
    assert (read.read_bytes, read.written_bytes, read.reads) == (8 << 20, 0, 128)
    assert wrote.flushes == 1


def test_figures_of_an_interval():
    done = gained(parse_counters(BEFORE), parse_counters(AFTER))
    assert figures(done, 0.5) == pytest.approx(
        {
            "read_mb_s": 8192 * 512 / 1e6 * 2, "write_mb_s": 16000 * 512 / 1e6 * 2, "read_requests_s": 400.0,
            "write_requests_s": 20.0, "busy_percent": 80.0, "queue_requests": 1.0,
            "request_kib": 24192 / 2 / 210, "latency_ms": 500 / 210,
        }
    )  # fmt: skip
    assert "latency_ms" not in figures(DiskCounters(), 0.5)
    assert figures(DiskCounters(busy_ms=504), 0.5)["busy_percent"] == 100


def test_milliseconds_run_over_and_a_counter_that_goes_back_is_no_figure():
    near = DiskCounters(read_ms=(1 << 32) - 10)
    assert gained(near, DiskCounters(read_ms=90)).read_ms == 100
    assert gained(DiskCounters(reads=5), DiskCounters(reads=4)) is None
    assert gained(DiskCounters(read_ms=(1 << 31)), DiskCounters(read_ms=0)) is None


def test_requests_of_a_kernel_of_32_bits_run_over_too():
    near = DiskCounters(reads=(1 << 32) - 2, read_bytes=((1 << 32) - 8) * 512)
    assert gained(near, DiskCounters(reads=1, read_bytes=8 * 512)) == DiskCounters(reads=3, read_bytes=16 * 512)


def test_time_that_steps_back_a_little_is_no_new_beginning():
    work = DiskWork(DiskCounters(busy_ms=9_880))
    assert [work.done(DiskCounters(busy_ms=now)).busy_ms for now in (9_872, 9_880, 9_884)] == [0, 0, 4]


def test_a_device_with_a_slash_in_its_name_is_found_in_sysfs(sys):
    (sys / "cciss!c0d0").mkdir()
    (sys / "cciss!c0d0" / "stat").write_text(AFTER)
    instrument = DiskInstrument(PlacedNode({CLASS: sys}))
    instrument.attach(scene(disk(device="/dev/cciss/c0d0")))
    assert instrument.doubts() == ()
    assert instrument.totals()[Quantity("hdd", "read_requests")] == 0
    instrument.close()


def test_samples_and_totals_of_a_medium(sys):
    instrument = DiskInstrument(PlacedNode({CLASS: sys}))
    instrument.attach(scene(disk()))
    assert set(instrument.totals().values()) == {0}
    assert instrument.sample(at(1.0)) == {}
    (sys / "loop9" / "stat").write_text(AFTER)
    assert instrument.sample(at(1.5))["hdd", "busy_percent"] == pytest.approx(80)
    totals = instrument.totals()
    assert totals[Quantity("hdd", "written_bytes")] == 16000 * 512
    assert totals[Quantity("hdd", "flush_requests")] == 2
    assert totals[Quantity("hdd", "busy_s")] == pytest.approx(0.4)
    assert instrument.doubts() == ()
    instrument.close()


def test_a_short_interval_is_told_with_the_next_one(sys):
    instrument = DiskInstrument(PlacedNode({CLASS: sys}))
    instrument.attach(scene(disk()))
    instrument.sample(at(1.0))
    (sys / "loop9" / "stat").write_text(AFTER)
    assert instrument.sample(at(1.05)) == {}
    assert instrument.totals()[Quantity("hdd", "read_requests")] == 200, "the totals do not wait"
    assert instrument.sample(at(1.5))["hdd", "read_requests_s"] == pytest.approx(400)
    instrument.close()


def test_a_device_that_begins_anew_loses_one_interval(sys):
    instrument = DiskInstrument(PlacedNode({CLASS: sys}))
    (sys / "loop9" / "stat").write_text(AFTER)
    instrument.attach(scene(disk()))
    instrument.sample(at(1.0))
    (sys / "loop9" / "stat").write_text(BEFORE)
    assert instrument.sample(at(1.5)) == {}
    (sys / "loop9" / "stat").write_text(AFTER)
    assert instrument.sample(at(2.0))["hdd", "read_requests_s"] == pytest.approx(400)
    (doubt,) = instrument.doubts()
    assert doubt.kind == "disk-counters-reset"
    instrument.close()


def test_a_device_that_vanishes_ends_its_own_figures_only(sys):
    (sys / "loop8").mkdir()
    (sys / "loop8" / "stat").write_text(BEFORE)
    instrument = DiskInstrument(PlacedNode({CLASS: sys}))
    instrument.attach(scene(disk(), disk("ssd", "/dev/loop8")))
    instrument.sample(at(1.0))
    (sys / "loop9" / "stat").write_text("")
    assert {medium for medium, _ in instrument.sample(at(1.5))} == {"ssd"}
    assert {what.subject for what in instrument.totals()} == {"ssd"}
    (doubt,) = instrument.doubts()
    assert (doubt.kind, "loop9" in doubt.what) == ("disk-vanished", True)
    instrument.close()


def test_two_media_on_one_device_are_counted_once(sys):
    instrument = DiskInstrument(PlacedNode({CLASS: sys}))
    instrument.attach(scene(disk("input", shared=True), disk("output", shared=True)))
    assert {what.subject for what in instrument.totals()} == {"input"}
    assert [doubt.kind for doubt in instrument.doubts()] == ["disk-shared", "media-share-device"]
    assert "'output' and 'input' are both on /dev/loop9" in instrument.doubts()[1].what
    instrument.close()


def test_what_can_not_be_counted_is_said(sys):
    instrument = DiskInstrument(PlacedNode({CLASS: sys}))
    memory = WatchedDisk(medium="memory", in_memory=True, place=Path("/"))
    instrument.attach(scene(disk("none", None), disk("away", "/dev/loop7"), disk(shared=True), memory))
    assert [doubt.kind for doubt in instrument.doubts()] == ["disk-uncounted", "disk-uncounted", "disk-shared"]
    instrument.close()


@pytest.mark.parametrize("below", ["loop9", ""], ids=["a disk", "a partition"])
def test_a_device_whose_statistics_are_off_has_no_figures_and_a_doubt_that_says_how_to_turn_them_on(sys, below):
    switch = sys / below / "queue" / "iostats"
    switch.parent.mkdir(parents=True, exist_ok=True)
    for text, counts in (("1\n", True), ("0\n", False)):
        switch.write_text(text)
        instrument = DiskInstrument(PlacedNode({CLASS: sys}))
        instrument.attach(scene(disk()))
        assert bool(instrument.totals()) is counts
        assert [doubt.kind for doubt in instrument.doubts()] == ([] if counts else ["disk-uncounted"])
    assert "iostats is 0" in instrument.doubts()[0].what
    assert "iostats" in instrument.doubts()[0].cure
