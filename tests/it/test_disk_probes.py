"""Proves on real devices that all who count their bytes agree: dd, the kernel's counters, log, tracepoints, emulator.

Needs root and loop devices, the emulated drive FUSE and a built emulator too; skipped with the reason where one is missing.
"""

import os
import subprocess
import time
from pathlib import Path

import pytest

from assay.host.mounts import below
from assay.media.emulated.attachment import missing
from assay.media.emulated.medium import EmulatedMedium
from assay.model.layout import Directory, Layout
from assay.model.probe import Scene, WatchedDisk
from assay.model.trial import MediumSpec
from assay.node.local import LocalNode
from assay.probe.block_trace import BlockTrace
from assay.probe.disk import DiskInstrument
from assay.stats.signature import signature
from tests.it.driving import Place
from tests.probe.faking import amounts_of, attached, measuring
from tests.stats.test_signature import attempt

pytestmark = [pytest.mark.it, pytest.mark.alone]

MIB = 1 << 20
BLOCK, SPILL, RESULT = 96 * MIB, 48 * MIB, 24 * MIB
TOLERANCE = 0.02


@pytest.fixture
def place(tmp_path):
    own = Place(tmp_path)
    lacking = missing(own.installation, "ext4")
    if lacking:
        pytest.skip("; ".join(lacking))
    try:
        yield own
    finally:
        own.clean_up()
        assert below([tmp_path]) == ([], [])


def copied(source, target, size, *forced):
    subprocess.run(
        ["dd", f"if={source}", f"of={target}", "bs=1M", f"count={size // MIB}", *forced],
        check=True,
        capture_output=True,
    )


def written(target, size):
    copied("/dev/urandom", target, size, "conv=fsync")


def amounts(told):
    return {(one.subject, one.series, one.part): one.value for one in told}


def both_parts(told, subject, series):
    return sum(told.get((subject, series, part), 0) for part in ("staging", "run"))


@pytest.fixture
def loop(tmp_path):
    """A real block device with ext4, mounted: of 512 MiB in a file."""
    if os.geteuid() != 0:
        pytest.skip("loop devices and tracepoints need root")
    image, place = tmp_path / "image", tmp_path / "mounted"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(512 * MIB)
    made = subprocess.run(["losetup", "--find", "--show", image], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"loop devices can't be had here: {made.stderr.strip()}")
    device = made.stdout.strip()
    try:
        # All structures at once: what mkfs leaves for later the kernel writes in the midst of the measurement.
        lazy = "lazy_itable_init=0,lazy_journal_init=0"
        subprocess.run(["mkfs.ext4", "-q", "-E", lazy, device], check=True, capture_output=True)
        subprocess.run(["mount", device, place], check=True)
        yield Path(device), place
    finally:
        subprocess.run(["umount", place], check=False, capture_output=True)
        subprocess.run(["losetup", "--detach", device], check=False)


def test_two_media_on_one_real_device_count_each_byte_once_in_its_part(loop):
    device, place = loop
    layout = Layout(
        neutral=Path("/nowhere"),
        directories=(
            Directory(path=place / "data", medium="hdd"),
            Directory(path=place / "local", medium="tmp", roles=("intermediate",)),
        ),
    )
    for one in layout.paths[1:]:
        one.mkdir()
    disks = tuple(WatchedDisk(medium=name, place=place, device=device, shared=True) for name in ("hdd", "tmp"))
    scene = Scene(layout=layout, disks=disks)
    with measuring(DiskInstrument(LocalNode()), scene=scene) as counted, attached(BlockTrace(), scene) as traced:
        written(place / "data" / "early", 8 * MIB)
        os.sync()
        for reading in (counted, traced):
            reading.mark(None)
        written(place / "data" / "block", 24 * MIB)
        os.sync()
        for reading in (counted, traced):
            reading.mark("staging")
        written(place / "local" / "spill", 16 * MIB)
        written(place / "data" / "result", 4 * MIB)
        os.sync()
        for reading in (counted, traced):
            reading.mark("run")
    doubts = [doubt.kind for doubt in traced.doubts()]
    if "trace-estimated" in doubts:
        pytest.skip(traced.doubts()[0].what)
    by_counters, by_trace = amounts(amounts_of(counted)), amounts(traced.amounts())
    known = {
        ("hdd/input", "staging"): 24 * MIB, ("tmp/intermediate", "run"): 16 * MIB, ("hdd/output", "run"): 4 * MIB,
    }  # fmt: skip
    for (subject, part), expected in known.items():
        assert by_trace[subject, "written_bytes", part] == pytest.approx(expected, rel=TOLERANCE), (subject, part)
    for part in ("staging", "run"):
        told = sum(value for (_, series, of), value in by_trace.items() if (series, of) == ("written_bytes", part))
        assert told == by_counters["hdd", "written_bytes", part], part
    assert {subject for subject, _, _ in by_counters} == {"hdd"}
    assert doubts == ["trace-shares-device"]
    traced.close()


ROLES = ("input", "intermediate", "output", "other")


def test_all_who_count_a_drives_bytes_agree(place):
    drive = EmulatedMedium(
        MediumSpec(name="hdd", kind="emulated", profile="samsung-870-evo-250gb", size_bytes=2 << 30), place.installation
    )
    with drive.attached() as directory:
        data, local = directory / "data", directory / "local"
        layout = Layout(
            neutral=place.disk,
            directories=(
                Directory(path=data, medium="hdd"),
                Directory(path=local, medium="hdd", roles=("intermediate",)),
            ),
        )
        data.mkdir()
        local.mkdir()
        os.sync()
        disk = drive.watched_disk()
        assert disk.log is not None
        drive.reset_report()
        by_log = attached(BlockTrace(), Scene(layout=layout, disks=(disk,)))
        by_kernel = attached(BlockTrace(), Scene(layout=layout, disks=(disk.model_copy(update={"log": None}),)))
        counters = measuring(DiskInstrument(LocalNode()), scene=Scene(layout=layout, disks=(disk,)))
        with by_log as log, by_kernel as kernel, counters as counted:
            for reading in (log, kernel, counted):
                reading.mark(None)
            written(data / "block", BLOCK)
            drive.make_cold()
            for reading in (log, kernel, counted):
                reading.mark("staging")
            began_ms = int(time.time() * 1000)
            copied(data / "block", "/dev/null", BLOCK)
            written(local / "spill", SPILL)
            written(data / "result", RESULT)
            time.sleep(1.2)  # a file that is gone before the places of files are looked at belongs to no role
            (local / "spill").unlink()
            ended_ms = int(time.time() * 1000)
            os.sync()
            for reading in (log, kernel, counted):
                reading.mark("run")
            report = drive.device_report()
        by_log, by_kernel, by_counters = (
            amounts(one) for one in (log.amounts(), kernel.amounts(), amounts_of(counted))
        )
        requests = [*log.requests(), *kernel.requests()]

    # What was copied, by role and part.
    known = {
        ("input", "written_bytes", "staging"): BLOCK, ("input", "read_bytes", "run"): BLOCK,
        ("intermediate", "written_bytes", "run"): SPILL, ("output", "written_bytes", "run"): RESULT,
    }  # fmt: skip
    for (role, series, part), expected in known.items():
        for told in (by_log, by_kernel):
            assert told[f"hdd/{role}", series, part] == pytest.approx(expected, rel=TOLERANCE), (role, series, part)
    # The sums, the file system's own requests among them, against the emulator's report.
    for series, direction in (("read_bytes", "reads"), ("written_bytes", "writes")):
        for part in ("staging", "run"):
            counted_bytes = by_counters.get(("hdd", series, part), 0)
            for told in (by_log, by_kernel):
                traced = sum(told.get((f"hdd/{role}", series, part), 0) for role in ROLES)
                assert traced == pytest.approx(counted_bytes, rel=TOLERANCE, abs=MIB), (series, part)
        expected = report[direction]["bytes"]
        assert both_parts(by_counters, "hdd", series) == pytest.approx(expected, rel=TOLERANCE)
        for told in (by_log, by_kernel):
            assert sum(both_parts(told, f"hdd/{role}", series) for role in ROLES) == pytest.approx(
                expected, rel=TOLERANCE
            )
    assert log.doubts() == ()
    assert kernel.doubts() == ()
    assert [one.source for one in requests] == ["emulator log", "block tracepoints"]

    told = signature(requests[:1], [], [attempt(start=began_ms, end=ended_ms)], "mapreduce")
    lines = {(one.phase, one.role, one.direction): one for one in told.accesses}
    reads = lines["map", "input", "read"]
    assert reads.bytes == pytest.approx(BLOCK, rel=TOLERANCE)
    assert reads.sequential_share > 0.95
    assert reads.streams == pytest.approx(1, abs=0.5)
    assert told.media[0].other_share < 0.05
    assert told.media[0].dropped == 0
    for reading in (log, kernel):
        reading.close()
