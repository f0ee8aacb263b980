"""Proves the block trace from end to end without a disk: an emulator's log, captured tracepoints, and counters."""

import os
import struct
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from assay.model.installed import stack_of
from assay.model.layout import Directory, Layout
from assay.model.probe import CannotMeasureError, Evaluated, Scene, WatchedDisk
from assay.model.signature import READ_KIND
from assay.probe.block_trace import BlockTrace
from assay.probe.sampler import Samples
from assay.probe.trace import attribution as devices
from assay.probe.trace import medium as watched
from assay.probe.trace import requests as records
from assay.probe.trace.attribution import FileMap, Placed, place_of, roots_of, single_role, unmapped
from assay.probe.trace.kernel import KernelTrace, parse_format
from assay.probe.trace.medium import Tally
from tests.probe.faking import attached
from tests.probe.test_disk import BEFORE

FIXTURES = Path(__file__).parents[1] / "fixtures" / "probe" / "trace"
ROLES = ("input", "intermediate", "output", "other")


def refuse(numbers):
    raise CannotMeasureError("the kernel's block tracepoints can't be used: not here", "", "run as root")


class Log:
    """What an emulator writes, as far as told; complete for ever."""

    def __init__(self, path):
        self.path, self.records = path, b""
        self.write()

    def add(self, offset, size, kind, latency_ns=1000):
        self.records += struct.pack("<QQQIB3x", time.monotonic_ns(), offset, latency_ns, size, kind)
        self.write()

    def write(self, dropped=0, complete_ns=1 << 62):
        head = struct.pack("<8sIIQQQQQQ", b"ASSAYLOG", 1, 32, 1, 1, len(self.records) // 32, dropped, complete_ns, 0)
        self.path.write_bytes(head + self.records)


@pytest.fixture
def layout(tmp_path):
    for name in ("data", "local"):
        (tmp_path / name).mkdir()
    return Layout(
        neutral=tmp_path / "neutral",
        directories=(
            Directory(path=tmp_path / "data", medium="hdd"),
            Directory(path=tmp_path / "local", medium="hdd", roles=("intermediate",)),
        ),
    )


@pytest.fixture
def log(tmp_path):
    return Log(tmp_path / "log")


@pytest.fixture
def scene(tmp_path, layout, log):
    """Of one emulated drive, with its log."""
    return Scene(layout=layout, disks=(disk(tmp_path, log=log.path),))


def on_two(layout, home):
    """Intermediates on another medium."""
    local = Directory(path=home / "local", medium="tmp", roles=("intermediate",))
    return layout.model_copy(update={"directories": (*layout.of("input"), local)})


@pytest.fixture
def placing(monkeypatch):
    """Places by file name, as if the files lay on the device."""
    places = {}
    monkeypatch.setattr(watched, "unmapped", lambda disk, roots: None)
    monkeypatch.setattr(
        watched, "FileMap", lambda roots: FileMap(roots, lambda path: Placed(places.get(path.name, ()), False))
    )
    return places


def disk(tmp_path, **changes):
    given = {"medium": "hdd", "own": True, "place": tmp_path, "device": Path("/dev/loop9"), **changes}
    return WatchedDisk(**given)


def told(reading):
    return {(one.subject, one.series, one.part): one.value for one in reading.amounts()}


def test_requests_of_an_emulated_drive_by_role_and_part(tmp_path, placing, scene, log):
    placing |= {"block": ((0, 1000),), "spill": ((5000, 6000),), "result": ((9000, 9900),)}
    with attached(BlockTrace(interval_s=0.01, tracing=refuse), scene) as reading:
        (tmp_path / "data" / "block").touch()
        log.add(0, 1000, 1)
        reading.mark("staging")
        (tmp_path / "local" / "spill").touch()
        (tmp_path / "data" / "result").touch()
        log.add(0, 600, 0)
        log.add(5000, 500, 1)
        log.add(9000, 100, 1)
        log.add(20_000, 50, 1)
        log.add(0, 0, 2)
        reading.mark("run")
        log.add(5000, 1, 1)
    assert told(reading) == {
        ("hdd/input", "written_bytes", "staging"): 1000, ("hdd/input", "write_requests", "staging"): 1,
        ("hdd/input", "read_bytes", "run"): 600, ("hdd/input", "read_requests", "run"): 1,
        ("hdd/intermediate", "written_bytes", "run"): 500, ("hdd/intermediate", "write_requests", "run"): 1,
        ("hdd/output", "written_bytes", "run"): 100, ("hdd/output", "write_requests", "run"): 1,
        ("hdd/other", "written_bytes", "run"): 50, ("hdd/other", "write_requests", "run"): 1,
    }  # fmt: skip
    assert {one.basis for one in reading.amounts()} == {"measured"}
    (requests,) = reading.requests()
    assert (requests.source, requests.medium, len(requests.kind)) == ("emulator log", "hdd", 7)
    assert abs(int(requests.arrived_ns[0]) - time.time_ns()) < 60 * 10**9
    series = {(one.subject, one.series) for one in reading.samples()}
    assert {("hdd/input", "read_mb_s"), ("hdd/intermediate", "write_mb_s")} <= series
    assert sum(one.value for one in reading.samples()) == pytest.approx(2251 / 1e6)
    assert reading.doubts() == ()


def test_what_the_log_lacks_is_told(placing, scene, log):
    log.add(20_000, 50, 1)
    log.write(dropped=3, complete_ns=5)
    with attached(BlockTrace(interval_s=0.01, tracing=refuse), scene) as reading:
        reading.media[0].log.finish = lambda until: False
    assert [doubt.kind for doubt in reading.doubts()] == ["trace-incomplete", "trace-dropped"]
    assert "3 of 4 requests" in reading.doubts()[1].what


def test_a_large_share_of_no_known_file_is_doubted(tmp_path, placing, scene, log):
    placing["block"] = ((0, 1000),)
    (tmp_path / "data" / "block").touch()
    with attached(BlockTrace(interval_s=0.01, tracing=refuse), scene) as reading:
        reading.mark("staging")
        log.add(0, 100, 0)
        log.add(5000, 300, 0)
    (doubt,) = reading.doubts()
    assert (doubt.kind, "75 % of the bytes" in doubt.what) == ("trace-roles-unknown", True)


class Capture(KernelTrace):
    """The captured pages, told as if they had just come."""

    def __init__(self):
        layouts = [parse_format((FIXTURES / f"block_rq_{name}.format").read_text()) for name in ("issue", "complete")]
        super().__init__(FIXTURES, *layouts)
        content = (FIXTURES / "pages.bin").read_bytes()
        pages = [content[at : at + 4096] for at in range(0, len(content), 4096)]
        # A page begins with its time; the machine may have been started later than the one that they are of.
        ahead = min(struct.unpack_from("<Q", page)[0] for page in pages) - time.monotonic_ns() + 10_000_000_000
        self.pages = [struct.pack("<Q", struct.unpack_from("<Q", page)[0] - ahead) + page[8:] for page in pages]

    def take(self):
        pages, self.pages = self.pages, []
        return pages


@pytest.fixture
def sys(tmp_path, monkeypatch):
    """A partition of 40 MiB that begins at 8 MiB of loop0."""
    parent = tmp_path / "sys" / "loop0"
    (parent / "loop0p1").mkdir(parents=True)
    for file, text in {"dev": "7:0", "size": "102400"}.items():
        (parent / file).write_text(text)
    for file, text in {"dev": "259:0", "size": "81920", "start": "16384", "partition": "1", "stat": BEFORE}.items():
        (parent / "loop0p1" / file).write_text(text)
    (tmp_path / "sys" / "loop0p1").symlink_to("loop0/loop0p1")
    monkeypatch.setattr(devices, "CLASS", tmp_path / "sys")
    monkeypatch.setattr(place_of, "__defaults__", (tmp_path / "sys",))
    monkeypatch.setattr(watched, "CLASS", tmp_path / "sys")
    return tmp_path / "sys"


def capturing(asked):
    """What is traced is what was captured once."""

    @contextmanager
    def capture(numbers):
        asked.append(list(numbers))
        yield Capture()

    return capture


def test_a_real_disk_by_tracepoints(tmp_path, layout, placing, sys):
    """`direct` was 2 MiB at byte 8717312 of the disk; the file system here begins at byte 8 MiB of it."""
    asked = []
    placing["direct"] = ((8717312 - (8 << 20), 8717312 - (8 << 20) + (2 << 20)),)
    (tmp_path / "data" / "direct").touch()
    scene = Scene(layout=layout, disks=(disk(tmp_path, own=False, device=Path("/dev/loop0p1")),))
    with attached(BlockTrace(interval_s=0.01, tracing=capturing(asked)), scene) as reading:
        reading.mark("staging")
    assert asked == [[7 << 20]]
    (requests,) = reading.requests()
    assert requests.source == "block tracepoints"
    assert requests.offset.min() >= 0
    reads = (requests.kind == READ_KIND) & (requests.bytes == 16384)
    assert reads.sum() == 16
    assert set(requests.role[reads].tolist()) == {ROLES.index("input")}


def test_without_the_right_to_trace_there_is_an_estimate(tmp_path, layout, sys):
    only_local = layout.model_copy(update={"directories": layout.of("intermediate")})
    scene = Scene(layout=only_local, disks=(disk(tmp_path, own=False, device=Path("/dev/loop0p1")),))
    with attached(BlockTrace(interval_s=0.01, tracing=refuse), scene) as reading:
        (sys / "loop0p1" / "stat").write_text("300 5 10192 450 20 0 16800 120 3 700 570 2 0 64 1 3 9")
        time.sleep(0.05)
        reading.mark("run")
    assert told(reading) == {
        ("hdd/intermediate", "read_bytes", "run"): 8192 * 512, ("hdd/intermediate", "read_requests", "run"): 200,
        ("hdd/intermediate", "written_bytes", "run"): 16000 * 512, ("hdd/intermediate", "write_requests", "run"): 10,
    }  # fmt: skip
    assert {one.basis for one in reading.amounts()} == {"estimated"}
    (counted,) = reading.counted()
    assert counted.latency_s["write"].sum() == pytest.approx(0.1)
    assert [doubt.kind for doubt in reading.doubts()] == ["trace-estimated"]
    assert "run as root" in reading.doubts()[0].cure


def test_memory_has_no_requests_and_a_medium_without_a_device_is_doubted(tmp_path, layout):
    memory = disk(tmp_path, in_memory=True, device=None)
    overlay = disk(tmp_path, medium="overlay", own=False, device=None)
    with attached(
        BlockTrace(interval_s=0.01, tracing=refuse), Scene(layout=layout, disks=(memory, overlay))
    ) as reading:
        reading.mark("staging")
    assert (reading.amounts(), list(reading.samples()), reading.requests(), reading.counted()) == ((), [], [], [])
    (doubt,) = reading.doubts()
    assert "overlay" in doubt.what


def test_a_thread_that_dies_is_told(placing, monkeypatch, scene, log):

    def fail(self, now_ns, wall_ns):
        raise RuntimeError("no more")

    monkeypatch.setattr(FileMap, "poll", fail)
    with attached(BlockTrace(interval_s=0.01, tracing=refuse), scene) as reading:
        time.sleep(0.05)
        reading.mark("staging")
    assert ["file map stopped: RuntimeError: no more" in doubt.what for doubt in reading.doubts()] == [True]
    assert reading.amounts() == (), "no part was over when the files were looked at for the last time"


def test_parts_that_were_over_before_a_threads_death_are_told(tmp_path, layout, placing, sys):
    """The tracepoints are drained for the last time just after staging."""
    scene = Scene(layout=layout, disks=(disk(tmp_path, own=False, device=Path("/dev/loop0p1")),))
    with attached(BlockTrace(interval_s=60, tracing=capturing([])), scene) as reading:
        reading.mark("staging")
        time.sleep(0.003)
        reading.look(last=False)
        reading.tracepoints.trace.take = lambda: 1 / 0
        late = np.zeros(1, dtype=records.FIELDS)
        late["arrived_ns"], late["bytes"], late["offset"] = time.monotonic_ns(), 512, 8 << 20
        reading.tracepoints._spools[7 << 20].add(late)
        reading.mark("run")
    assert {one.part for one in reading.amounts()} == {"staging"}, "of the rest of the run nothing is known"
    assert reading.requests()[0].bytes[-1] == 512
    assert "ZeroDivisionError" in reading.doubts()[0].what


def test_a_step_of_the_clock_moves_nothing_from_one_part_to_another(placing, scene, log):
    with attached(BlockTrace(interval_s=60, tracing=refuse), scene) as reading:
        reading.begin()
        log.add(0, 1000, 1)
        reading.mark("staging")
        reading.clock._realtime_ns = lambda: time.time_ns() - 3_600_000_000_000
        reading.clock.look()
        log.add(0, 600, 0)
        reading.mark("run")
    assert told(reading) == {
        ("hdd/other", "written_bytes", "staging"): 1000, ("hdd/other", "write_requests", "staging"): 1,
        ("hdd/other", "read_bytes", "run"): 600, ("hdd/other", "read_requests", "run"): 1,
    }  # fmt: skip
    first = {(one.subject, one.series): one.time_ms for one in reversed(list(reading.samples()))}
    assert first["hdd/other", "write_mb_s"] - first["hdd/other", "read_mb_s"] == pytest.approx(3_600_000, abs=2000), (
        "samples are of the time of day"
    )
    reading.close()


def test_what_came_before_the_beginning_is_not_counted(tmp_path, layout, placing, sys, log):
    only_local = layout.model_copy(update={"directories": layout.of("intermediate")})
    disks = (disk(tmp_path, log=log.path), disk(tmp_path, medium="ssd", own=False, device=Path("/dev/loop0p1")))
    with attached(BlockTrace(interval_s=60, tracing=refuse), Scene(layout=only_local, disks=disks)) as reading:
        log.add(0, 1000, 1)
        (sys / "loop0p1" / "stat").write_text("300 5 10192 450 20 0 16800 120 3 700 570 2 0 64 1 3 9")
        reading.begin()
        log.add(0, 600, 0)
        reading.mark("run")
        (sys / "loop0p1" / "stat").write_text("301 5 10200 450 20 0 16800 120 3 700 570 2 0 64 1 3 9")
        reading.mark("collect")
    found = {key: value for key, value in told(reading).items() if key[1] == "read_bytes"}
    assert found == {("hdd/other", "read_bytes", "run"): 600, ("ssd/other", "read_bytes", "collect"): 4096}
    assert len(reading.requests()[0].kind) == 1
    assert reading.counted()[0].bytes["read"].tolist() == [4096]
    reading.close()


def open_files():
    return len(os.listdir("/proc/self/fd"))


def test_nothing_is_held_after_it_was_closed(tmp_path, layout, placing, sys, log):
    before = open_files()
    disks = (disk(tmp_path, log=log.path), disk(tmp_path, medium="ssd", own=False, device=Path("/dev/loop0p1")))
    with attached(BlockTrace(interval_s=60, tracing=capturing([])), Scene(layout=layout, disks=disks)) as reading:
        for spool in reading.tracepoints._spools.values():
            spool._file.rollover()
        log.add(0, 1000, 1)
        reading.mark("run")
    samples, amounts = reading.samples(), reading.amounts()
    assert isinstance(reading.probe, Evaluated)
    assert open_files() == before + 2, "log and spool: they may still be asked"
    assert len(reading.requests()) == 2
    for _ in range(2):
        reading.close()
        assert open_files() == before
    assert len(samples) > 0
    assert amounts


def test_a_probe_that_can_not_begin_holds_nothing(tmp_path, layout, placing, log):
    before = open_files()

    def fail(*_given):
        raise KeyError("odd")

    disks = (disk(tmp_path, log=log.path), disk(tmp_path, medium="ssd", device=Path("/dev/null"), own=False))
    probe = BlockTrace(tracing=fail)
    probe._trace = fail
    with pytest.raises(KeyError), attached(probe, Scene(layout=layout, disks=disks)):
        pass
    assert open_files() == before


def test_two_media_on_one_device_count_each_request_once(tmp_path, layout, placing, sys):
    """The captured device has direct writes of 2 MiB (on `spill`) and a file of 4 MiB that is no medium's."""
    begin = 8717312 - (8 << 20)
    placing["spill"] = ((begin, begin + (2 << 20)),)
    (tmp_path / "local" / "spill").touch()
    apart = on_two(layout, tmp_path)
    device = Path("/dev/loop0p1")
    disks = [disk(tmp_path, medium=name, own=False, device=device, shared=True) for name in ("hdd", "tmp")]
    with attached(BlockTrace(interval_s=0.01, tracing=capturing([])), Scene(layout=apart, disks=disks)) as both:
        both.mark("staging")
    with attached(BlockTrace(interval_s=0.01, tracing=capturing([])), Scene(layout=apart, disks=disks[1:])) as alone:
        alone.mark("staging")
    hdd, tmp = both.requests()
    (whole,) = alone.requests()
    assert len(hdd.kind) + len(tmp.kind) == len(whole.kind)
    assert hdd.bytes.sum() + tmp.bytes.sum() == whole.bytes.sum()
    assert set(tmp.role.tolist()) == {ROLES.index("intermediate")}
    assert tmp.bytes.sum() == whole.bytes[whole.role == ROLES.index("intermediate")].sum() > 0
    assert set(hdd.role.tolist()) == {ROLES.index("other")}
    doubts = [doubt for doubt in both.doubts() if doubt.kind == "trace-shares-device"]
    assert ["'tmp' and 'hdd' are both on /dev/loop0p1" in doubt.what for doubt in doubts] == [True]
    both.close()
    alone.close()


def test_a_place_that_two_media_had_one_after_the_other_counts_for_one(tmp_path, layout, placing, sys):
    """As far as two looks tell, both had it at once."""
    begin = 8717312 - (8 << 20)
    placing |= dict.fromkeys(("spill", "result"), ((begin, begin + (2 << 20)),))
    (tmp_path / "local" / "spill").touch()
    (tmp_path / "data" / "result").touch()
    apart = on_two(layout, tmp_path)
    device = Path("/dev/loop0p1")
    disks = [disk(tmp_path, medium=name, own=False, device=device, shared=True) for name in ("hdd", "tmp")]
    scene = Scene(layout=apart, disks=disks)
    with attached(BlockTrace(interval_s=0.01, tracing=capturing([])), scene) as reading:
        reading.mark("staging")
    assert [len(one.kind) > 0 for one in reading.requests()] == [True, False]
    reading.close()


def test_two_media_on_one_device_share_its_counters_too(tmp_path, layout, sys):
    disks = [disk(tmp_path, medium=name, own=False, device=Path("/dev/loop0p1")) for name in ("hdd", "tmp")]
    with attached(BlockTrace(interval_s=60, tracing=refuse), Scene(layout=layout, disks=disks)) as reading:
        (sys / "loop0p1" / "stat").write_text("300 5 10192 450 20 0 16800 120 3 700 570 2 0 64 1 3 9")
        reading.mark("run")
    assert {subject for subject, _, _ in told(reading)} == {"hdd/other"}
    assert [one.medium for one in reading.counted()] == ["hdd"]


def test_requests_are_held_narrow_and_samples_packed(placing, monkeypatch, scene, log):
    monkeypatch.setattr(records, "CHUNK_RECORDS", 7)
    for number in range(20):
        log.add(number << 33, 1000, 1, latency_ns=number)
    with attached(BlockTrace(interval_s=60, tracing=refuse), scene) as reading:
        reading.mark("run")
    (requests,) = reading.requests()
    columns = [requests.arrived_ns, requests.offset, requests.bytes, requests.latency_ns, requests.kind, requests.role]
    assert sum(column.itemsize for column in columns) == 26
    assert all(column.base.nbytes == column.nbytes for column in columns), "no view that keeps a larger array"
    assert requests.offset.tolist() == [number << 33 for number in range(20)]
    assert requests.latency_ns.tolist() == list(range(20))
    assert isinstance(reading.samples(), Samples)
    reading.close()


def test_a_latency_of_more_than_4_s_is_kept_whole(placing, scene, log):
    log.add(0, 1000, 1, latency_ns=9_000_000_000)
    with attached(BlockTrace(interval_s=60, tracing=refuse), scene) as reading:
        pass
    assert reading.requests()[0].latency_ns.tolist() == [9_000_000_000]
    reading.close()


def test_seconds_between_requests_are_told_as_0_but_not_those_of_a_step_of_the_clock():
    tally, samples = Tally([], ROLES), Samples()
    seconds = np.array([10, 13, 13, 1_000_000], np.int64)
    one = np.ones(4, np.uint8)
    tally.add(seconds, seconds * 1_000_000_000, one.astype(np.int64) * 232, one * 0, one * 3)
    tally.tell_samples("block-trace", "hdd", samples)
    assert [(sample.time_ms // 1000 - 1, sample.value * 1e6) for sample in samples] == [
        (10, 232), (11, 0), (12, 0), (13, 464), (14, 0), (1_000_000, 232), (1_000_001, 0)
    ]  # fmt: skip


def test_a_failure_of_the_trial_passes_through(tmp_path, layout):
    scene = Scene(layout=layout, disks=())
    with (
        pytest.raises(OSError, match="the trial's own"),
        attached(BlockTrace(interval_s=0.01, tracing=refuse), scene),
    ):
        raise OSError("the trial's own")


def test_places_of_disks_and_partitions(sys):
    assert place_of(Path("/dev/loop0p1"), sys) == (7 << 20, 8 << 20, 48 << 20)
    assert place_of(Path("/dev/loop0"), sys) == (7 << 20, 0, 50 << 20)


def test_roles_that_a_medium_serves(tmp_path):
    def directory(name, medium, *roles):
        return Directory(path=tmp_path / name, medium=medium, roles=roles)

    local = directory("l", "ssd", "intermediate")
    apart = Layout(
        neutral=tmp_path,
        directories=(
            directory("i", "hdd", "input"),
            local,
            directory("o", "nvme", "output"),
            directory("s", "neutral", "system"),
        ),
    )
    assert [single_role(apart, name) for name in ("hdd", "nvme", "ssd", "none")] == [
        "input",
        "output",
        "intermediate",
        None,
    ]
    together = Layout(neutral=tmp_path, directories=(directory("d", "hdd", "input", "output"), local))
    assert [single_role(together, name) for name in ("hdd", "ssd")] == [None, "intermediate"]
    assert [root.role for root in roots_of(apart, "ssd")] == ["intermediate"]


def test_where_places_of_files_say_nothing(tmp_path):
    assert "no block device" in unmapped(disk(tmp_path, device=None), ())
    assert "none of the cluster's directories" in unmapped(disk(tmp_path), ())
    roots = roots_of(Layout.below(tmp_path, stack_of().roles), "home")
    assert "does not lie on /dev/null directly" in unmapped(disk(tmp_path, device=Path("/dev/null")), roots)
    assert "No such file" in unmapped(disk(tmp_path, device=Path("/dev/none")), roots)
    assert np.uint8(len(roots)) == 2
