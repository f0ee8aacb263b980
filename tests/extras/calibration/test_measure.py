"""Proves that a ground is measured within its time, with nothing left behind and nothing promised that it can't show."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Silent
from assay_extras.calibration import behaviour
from assay_extras.calibration import measure as laying
from assay_extras.calibration.calibration import AccessPattern
from assay_extras.calibration.measure import (
    Ground,
    Window,
    block_device,
    buffered_accesses,
    coarser,
    describe,
    direct_accesses,
    find_knee,
    measure,
    measure_knee,
    plan_accesses,
    read_rates,
)
from tests.extras.calibration.builders import FIXTURES, FakeMeter


@pytest.fixture
def roomy(monkeypatch):
    """As if 3 GiB were free everywhere."""
    monkeypatch.setattr(laying.os, "statvfs", lambda _: SimpleNamespace(f_bavail=3 << 18, f_frsize=4096))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Probes of a hundredth of a second."""
    for name in ("PROBE_S", "IDLE_S"):
        monkeypatch.setattr(behaviour, name, 0.01)


@pytest.fixture
def on_a_disk(monkeypatch):
    monkeypatch.setattr(laying, "_is_memory", lambda _: False)


def of(accesses, **fields):
    return [one for one in accesses if all(getattr(one, name) == value for name, value in fields.items())]


@pytest.mark.usefixtures("roomy", "on_a_disk")
def test_every_access_is_measured_once_and_the_file_goes(tmp_path):
    meter, ground = FakeMeter(), Ground(directory=tmp_path)
    accesses = plan_accesses(ground, "brief")
    measured = measure(ground, accesses, meter, 60, Silent())
    assert [point.access for point in measured.points] == accesses
    assert measured.file_bytes == 3 << 29  # half of what is free
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("roomy", "on_a_disk")
def test_the_file_goes_when_fio_fails(tmp_path):
    class Failing(FakeMeter):
        def measure(self, access, stretch, limit):
            if access.pattern == "random":
                raise AssayError("fio failed: Input/output error")
            return super().measure(access, stretch, limit)

    ground = Ground(directory=tmp_path)
    with pytest.raises(AssayError, match="Input/output error"):
        measure(ground, plan_accesses(ground, "brief"), Failing(), 60, Silent())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("roomy", "on_a_disk")
def test_the_time_is_shared_out_and_judged_corners_get_more(tmp_path):
    meter, ground = FakeMeter(), Ground(directory=tmp_path)
    measure(ground, plan_accesses(ground, "brief"), meter, 120, Silent())
    _, first = meter.asked[0], meter.asked[1]
    ordinary = first[2].seconds + first[2].ramp_s
    (corner,) = [
        limit
        for access, _, limit in meter.asked
        if access.depth == 32 and describe(access).startswith("random read 4 KiB")
    ]
    # The fake takes no time, so that what is left for later points grows; it never shrinks.
    rest = (120 - behaviour.PROBES_S) * (1 - laying._BOTH_SHARE)
    assert rest / 45 - 0.5 < ordinary < rest / 36
    assert corner.seconds + corner.ramp_s > 1.8 * ordinary


@pytest.mark.usefixtures("roomy", "on_a_disk")
def test_buffered_writes_are_limited_in_bytes(tmp_path):
    meter, ground = FakeMeter(), Ground(directory=tmp_path)
    measure(ground, plan_accesses(ground, "brief"), meter, 120, Silent())
    limits = [limit for access, _, limit in meter.asked if access.fsync == "end"]
    assert limits
    assert all(limit.total_bytes and limit.total_bytes <= 3 << 29 for limit in limits)


@pytest.mark.usefixtures("roomy")
def test_memory_is_only_measured_through_the_cache_and_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(laying, "_is_memory", lambda _: True)
    ground = Ground(directory=tmp_path)
    accesses = plan_accesses(ground, "brief")
    assert accesses == buffered_accesses("brief")
    measured = measure(ground, accesses, FakeMeter(), 60, Silent())
    assert [doubt.kind for doubt in measured.doubts] == ["no-direct-io"]
    assert measured.file_bytes <= 1 << 30


@pytest.mark.usefixtures("roomy", "on_a_disk")
def test_a_rotating_disk_whose_raw_bytes_can_be_read_is_read_over_its_whole_span(tmp_path):
    ground = Ground(directory=tmp_path, device=tmp_path / "disk", device_bytes=1 << 40, rotational=True)
    meter = FakeMeter()
    measured = measure(ground, plan_accesses(ground, "brief"), meter, 60, Silent())
    whole = [(access, stretch) for access, stretch, _ in meter.asked if access.span == "device"]
    assert {access.depth for access, _ in whole if access.pattern == "random"} == {1, 4, 32}
    assert {access.start_share for access, _ in whole} >= {0.0, 0.5, 0.97}
    assert all(stretch.read_only and access.direction == "read" for access, stretch in whole)
    assert measured.doubts == ()


@pytest.mark.usefixtures("roomy", "on_a_disk")
def test_short_seeks_are_doubted(tmp_path):
    ground = Ground(directory=tmp_path, rotational=True)
    measured = measure(ground, plan_accesses(ground, "brief"), FakeMeter(), 60, Silent())
    assert [doubt.kind for doubt in measured.doubts] == ["short-seeks"]


def test_a_device_that_may_be_overwritten_needs_no_file(tmp_path):
    settled = []
    ground = Ground(
        device=tmp_path / "disk", device_bytes=1 << 40, may_overwrite=True, settle=lambda: settled.append(1)
    )
    (tmp_path / "disk").write_bytes(b"x")
    meter = FakeMeter()
    accesses = plan_accesses(ground, "brief")
    measured = measure(ground, accesses, meter, 60, Silent())
    assert measured.file_bytes == 0
    assert len(settled) == len(accesses) == len(direct_accesses("brief"))
    assert {access.span for access in accesses} == {"device"}


def test_the_whole_product_is_measured_in_the_full_form(tmp_path):
    full = direct_accesses("full")
    assert len(of(full, direction="read", pattern="random")) == 30
    assert {access.depth for access in full} == {1, 2, 4, 8, 16, 32}
    assert {access.streams for access in buffered_accesses("full")} == {1, 2, 3, 4, 6, 8}


@pytest.mark.usefixtures("on_a_disk")
def test_too_little_room_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr(laying.os, "statvfs", lambda _: SimpleNamespace(f_bavail=1000, f_frsize=4096))
    ground = Ground(directory=tmp_path)
    with pytest.raises(BadInputError, match=r"has only 3 MiB free; calibrating it needs 512 MiB"):
        measure(ground, plan_accesses(ground, "brief"), FakeMeter(), 60, Silent())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("on_a_disk")
def test_a_directory_that_can_not_be_written_to_is_refused(tmp_path):
    with pytest.raises(BadInputError, match="can't be written to"):
        plan_accesses(Ground(directory=tmp_path / "absent"), "brief")


def test_accesses_are_told_in_words():
    access = AccessPattern(direction="read", pattern="sequential", block_bytes=128 << 10, streams=4, buffered=True)
    assert describe(access) == "sequential read 128 KiB depth 1 4 streams buffered"


def falling(at_bytes, before=400.0, beyond=140.0):
    """A drive's rates, with a tenth of noise that has a period and so no seed."""
    made, written = [], 0.0
    for number in range(200):
        rate = (before if written < at_bytes else beyond) * (1 + 0.1 * ((number % 5) - 2) / 2)
        made.append(Window(0.1, rate))
        written += rate * 0.1 * 1e6
    return made


@pytest.mark.parametrize("at_bytes", [0.5e9, 1e9, 3e9])
def test_the_knee_is_found_where_it_is(at_bytes):
    knee = find_knee(falling(at_bytes))
    assert knee is not None
    assert knee.knee_bytes == pytest.approx(at_bytes, rel=0.04)
    assert knee.before_mb_s == pytest.approx(400, rel=0.03)
    assert knee.beyond_mb_s == pytest.approx(140, rel=0.03)


def test_a_captured_steady_rate_has_no_knee():
    windows = read_rates(FIXTURES / "steady-rate.log")
    assert sum(window.seconds * window.mb_s for window in windows) == pytest.approx(2147, rel=0.01)
    assert find_knee(windows) is None


def test_bursts_between_windows_without_a_line_are_no_rate(tmp_path):
    """A device that writes 25 MB every 100 ms, and after 600 MB 6 MB: half of the windows are empty."""
    lines = [(100 * n, 25e6 if n <= 24 else 6e6) for n in range(1, 80)]
    log = "".join(f"{end_ms}, {bytes_ / 0.05 / 1024:.0f}, 1, 0, 0\n" for end_ms, bytes_ in lines)
    (tmp_path / "log").write_text(log)
    windows = read_rates(tmp_path / "log")
    assert sum(window.seconds for window in windows) == pytest.approx(7.9)
    assert sum(window.seconds * window.mb_s for window in windows) == pytest.approx(600 + 55 * 6, rel=0.001)
    knee = find_knee(coarser(windows))
    assert (knee.before_mb_s, knee.beyond_mb_s) == (pytest.approx(250, rel=0.05), pytest.approx(60, rel=0.05))
    assert knee.knee_bytes == pytest.approx(600e6, rel=0.1)


def test_a_rise_or_too_little_is_no_knee():
    assert find_knee(falling(1e9, before=140, beyond=400)) is None
    assert find_knee(falling(1e9)[:5]) is None


def test_an_unreadable_log_is_said(tmp_path):
    (tmp_path / "log").write_text("50, fast, 1\n")
    with pytest.raises(AssayError, match="can't be read"):
        read_rates(tmp_path / "log")


def test_a_knee_is_never_sought_on_a_disk_in_use(tmp_path):
    with pytest.raises(ValueError, match="may be overwritten"):
        measure_knee(Ground(device=tmp_path, device_bytes=1), FakeMeter(), 1, 1)


def test_the_knee_of_a_device_comes_from_fios_log(tmp_path):
    log = "".join(f"{(n + 1) * 50}, {400000 if n < 50 else 100000}, 1, 0, 0\n" for n in range(100))
    ground = Ground(device=tmp_path / "disk", device_bytes=1 << 40, may_overwrite=True)
    knee = measure_knee(ground, FakeMeter(log), 1 << 30, 5)
    assert knee is not None
    assert knee.knee_bytes == pytest.approx(400000 * 1024 * 2.5, rel=0.03)


def test_the_device_of_a_medium_is_found_by_its_facts(tmp_path):
    device = tmp_path / "sdz1"
    device.touch()
    sys = tmp_path / "sys"
    (sys / "sdz1").mkdir(parents=True)
    (sys / "sdz1" / "size").write_text("2048\n")
    found = block_device({"device": str(device), "rotational": True}, sys)
    assert found is not None
    assert (found.bytes, found.rotational, found.readable) == (1 << 20, True, True)


@pytest.mark.parametrize("device", ["tmpfs", "", "server:/export", "/dev/that-is-not-there"])
def test_what_has_no_block_device_has_none(device):
    assert block_device({"device": device}) is None


def test_the_tmpfs_of_this_machine_is_known_as_one():
    if not Path("/dev/shm").is_dir():
        pytest.skip("this machine has no /dev/shm")
    assert laying._is_memory(Path("/dev/shm"))


def test_sequential_writes_end_before_a_write_cache_is_full(tmp_path):
    device = tmp_path / "device"
    device.write_bytes(b"\0" * 4096)
    meter = FakeMeter()
    ground = Ground(device=device, device_bytes=1 << 40, may_overwrite=True, write_cache_bytes=3_000_000_000)
    measure(ground, plan_accesses(ground, "named"), meter, 60, Silent())
    limits = {(access.direction, access.pattern): limit.total_bytes for access, _, limit in meter.asked}
    assert limits[("write", "sequential")] == 2_400_000_000
    assert limits[("write", "random")] is None
    assert limits[("read", "sequential")] is None
