"""What the kernel counts for each medium's block device: bytes, requests, utilisation, queue, latency, flushes.

Source: /sys/class/block/DEVICE/stat (Documentation/block/stat.rst; 11 fields, 15 since Linux 4.18 with discards, 17
since 5.5 with flushes). A partition has its own. The kernel adds a request's time when it completes: latency and
queue of an interval are those of the requests that ended in it. Sectors are of 512 bytes whatever the device's are.
"""

from collections.abc import Mapping
from operator import add, sub
from pathlib import Path
from typing import NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.node import NodeFiles
from assay.model.probe import (
    Chart,
    ChartPanel,
    ChartSeries,
    Interval,
    Moment,
    ProbeKind,
    Quantity,
    Scene,
    Values,
    WatchedDisk,
)
from assay.model.quantity import Kind, Wrap
from assay.model.registry import PROBES
from assay.node.devices import sysfs_name
from assay.probe.counters import COUNT_32_BITS, MS_32_BITS, Gains

CLASS = Path("/sys/class/block")
SECTOR_BYTES = 512
FEWEST_FIELDS = 11


class DiskCounters(NamedTuple):
    """What a device has done since it was made; times are added up over requests, but for `busy_ms`."""

    reads: int = 0
    read_bytes: int = 0
    read_ms: int = 0
    writes: int = 0
    written_bytes: int = 0
    write_ms: int = 0
    busy_ms: int = 0
    queue_ms: int = 0
    discards: int = 0
    discarded_bytes: int = 0
    flushes: int = 0
    flush_ms: int = 0


_MS = ("read_ms", "write_ms", "busy_ms", "queue_ms", "flush_ms")
_BYTES = ("read_bytes", "written_bytes", "discarded_bytes")
SECTORS_32_BITS = Wrap(COUNT_32_BITS.range * SECTOR_BYTES, COUNT_32_BITS.most * SECTOR_BYTES)
"""A kernel of 32 bits keeps sectors and requests in one word."""
_WRAPS = {
    **dict.fromkeys(DiskCounters._fields, COUNT_32_BITS), **dict.fromkeys(_BYTES, SECTORS_32_BITS),
    **dict.fromkeys(_MS, MS_32_BITS),
}  # fmt: skip
_PLACES = {
    "reads": 0, "read_bytes": 2, "read_ms": 3, "writes": 4, "written_bytes": 6, "write_ms": 7,
    "busy_ms": 9, "queue_ms": 10, "discards": 11, "discarded_bytes": 13, "flushes": 15, "flush_ms": 16,
}  # fmt: skip


def parse_counters(text: str) -> DiskCounters:
    """Parse a line of a stat file; what an older kernel does not count is 0. Raises ValueError for any other line."""
    fields = [int(word) for word in text.split()]
    if len(fields) < FEWEST_FIELDS:
        raise ValueError(f"the device's counters are {text.strip()[:60]!r}")
    known = {name: fields[index] for name, index in _PLACES.items() if index < len(fields)}
    for name in _BYTES:
        known[name] = known.get(name, 0) * SECTOR_BYTES
    return DiskCounters(**known)


class DiskWork:
    """What a device did from reading to reading."""

    def __init__(self, first: DiskCounters) -> None:
        self._gains = Gains(first._asdict(), dict.fromkeys(_MS, 1000), _WRAPS)

    def done(self, now: DiskCounters) -> DiskCounters | None:
        """Since the last reading; None when a counter began anew or fell, as after a device was made anew."""
        gained, broken = self._gains.add(now._asdict())
        return None if broken else DiskCounters(**gained)


def figures(done: DiskCounters, seconds: float) -> Mapping[str, float]:
    """The figures of one interval; sizes and latencies only where requests ended in it."""
    values = {
        "read_mb_s": done.read_bytes / 1e6 / seconds,
        "write_mb_s": done.written_bytes / 1e6 / seconds,
        "read_requests_s": done.reads / seconds,
        "write_requests_s": done.writes / seconds,
        "busy_percent": min(100.0, done.busy_ms / 10 / seconds),
        "queue_requests": done.queue_ms / 1000 / seconds,
    }
    requests = done.reads + done.writes
    if requests:
        values["request_kib"] = (done.read_bytes + done.written_bytes) / 1024 / requests
        values["latency_ms"] = (done.read_ms + done.write_ms) / requests
    return values


class _Device:
    """One medium's block device, its counters held open."""

    def __init__(self, disk: WatchedDisk, node: NodeFiles) -> None:
        self.medium = disk.medium
        assert disk.device is not None  # noqa: S101 - asked for by the caller
        self.name = sysfs_name(disk.device.resolve())
        self._file = node.open(CLASS / self.name / "stat")
        self.close = self._file.close
        self._work: DiskWork | None = None
        self._interval = Interval[DiskCounters]()
        self.total = DiskCounters()
        self.resets = 0
        self.gone: str | None = None
        self.read(None)

    def read(self, now: Moment | None) -> Mapping[str, float]:
        """Count what was done since the last reading; figures when enough time has gone. Notes a device's end."""
        try:
            counters = parse_counters(self._file.read())
        except (OSError, ValueError) as error:
            self.gone = str(error)
            return {}
        if self._work is None:
            self._work = DiskWork(counters)
        done = self._work.done(counters)
        if done is None:
            self.resets += 1
            self._interval, done = Interval(), DiskCounters()
        self.total = DiskCounters(*map(add, self.total, done))
        ended = self._interval.ended(now, self.total) if now is not None else None
        return {} if ended is None else figures(DiskCounters(*map(sub, self.total, ended[1])), ended[0])


class DiskInstrument:
    """The block devices of the media under test."""

    name = "disk"

    def __init__(self, node: NodeFiles) -> None:
        self._node = node
        self._devices: list[_Device] = []
        self._doubts: list[Doubt] = []

    def attach(self, scene: Scene) -> None:
        """Open the counters of each medium that has a block device; memory has none, and needs no word about it."""
        first: dict[Path, str] = {}
        for disk in scene.disks:
            if disk.device is None:
                if not disk.in_memory:
                    self._doubts.append(_uncounted(disk.medium, "there is no block device of its own below it"))
                continue
            if (other := first.setdefault(disk.device.resolve(), disk.medium)) != disk.medium:
                conflict = f"media {disk.medium!r} and {other!r} are both on {disk.device}"
                conflict += f": only {other!r} has its figures"
                self._doubts.append(MEDIA_SHARE_DEVICE.doubt(conflict, disk.medium))
                continue
            if disk.shared:
                conflict = f"{disk.device}, the device of medium {disk.medium!r}, is used by others too"
                self._doubts.append(DISK_SHARED.doubt(conflict, disk.medium))
            if _counts_nothing(self._node, sysfs_name(disk.device.resolve())):
                off = f"the kernel's statistics of {disk.device} are off (queue/iostats is 0)"
                cure = "write 1 into /sys/block/DEVICE/queue/iostats, and run the trials again"
                self._doubts.append(_uncounted(disk.medium, off, cure))
                continue
            try:
                self._devices.append(_Device(disk, self._node))
            except OSError as error:
                self._doubts.append(_uncounted(disk.medium, str(error)))

    def sample(self, now: Moment) -> Values:
        values: dict[tuple[str, str], float] = {}
        for device in self._devices:
            if device.gone is None:
                values |= {(device.medium, name): value for name, value in device.read(now).items()}
        return values

    def totals(self) -> Mapping[Quantity, float]:
        """Return the totals of each medium whose device is still there."""
        quantities: dict[Quantity, float] = {}
        for medium, total in ((device.medium, device.total) for device in self._devices if device.gone is None):
            series = {
                "read_bytes": total.read_bytes,
                "written_bytes": total.written_bytes,
                "discarded_bytes": total.discarded_bytes,
                "read_requests": total.reads,
                "write_requests": total.writes,
                "flush_requests": total.flushes,
                "busy_s": total.busy_ms / 1000,
                "queue_s": total.queue_ms / 1000,
                "read_latency_s": total.read_ms / 1000,
                "write_latency_s": total.write_ms / 1000,
            }
            quantities |= {Quantity(medium, name): value for name, value in series.items()}
        return quantities

    def doubts(self) -> tuple[Doubt, ...]:
        vanished, reset = [], []
        for device in self._devices:
            counters = f"the counters of {device.name} (medium {device.medium!r})"
            if device.gone is not None:
                loss = f"{counters} could no longer be read: {device.gone}"
                vanished.append(DISK_VANISHED.doubt(loss, device.medium))
            if device.resets:
                loss = f"{counters} began again from zero {device.resets} times"
                reset.append(DISK_COUNTERS_RESET.doubt(loss, device.medium))
        return (*self._doubts, *vanished, *reset)

    def close(self) -> None:
        for device in self._devices:
            device.close()


DISK_UNCOUNTED = doubt_kind(
    "disk-uncounted", "medium", instrument="disk",
    when="a medium has no block device with counters, or the kernel's statistics of it are switched off",
    why="the record does not show how busy it was, nor what was read and written",
    cure="use a directory on a file system that is on a block device",
)  # fmt: skip


def _uncounted(medium: str, reason: str, cure: str = "") -> Doubt:
    return DISK_UNCOUNTED.doubt(f"the disk of medium {medium!r} was not measured: {reason}", medium, cure=cure)


def _counts_nothing(node: NodeFiles, device: str) -> bool:
    """Whether a device's counters stand still: its own switch, or that of the disk that it is a part of, is off."""
    for queue in (CLASS / device / "queue", CLASS / device / ".." / "queue"):
        try:
            return node.read(queue / "iostats").strip() == "0"
        except OSError:
            continue
    return False


DISK_SHARED = doubt_kind(
    "disk-shared", "medium", instrument="disk",
    when="a medium's device holds the system's root, the trial's own logs, swap or another medium, or is mounted "
         "elsewhere",
    why="the kernel counts by device: what others read and wrote is in this medium's figures",
    cure="give the medium a disk or a partition of its own, or an emulated drive",
)  # fmt: skip
MEDIA_SHARE_DEVICE = doubt_kind(
    "media-share-device", "medium", instrument="disk",
    when="several media are on one device",
    why="the kernel counts by device: with figures for both, each byte would count twice",
    cure="give each medium a device of its own, or make them one medium",
)  # fmt: skip
DISK_VANISHED = doubt_kind(
    "disk-vanished", "medium", instrument="disk",
    when="a device's counters could no longer be read",
    why="its samples end there, and this interval and the later ones have no totals",
    cure="find out what happened to the device (dmesg)",
)  # fmt: skip
DISK_COUNTERS_RESET = doubt_kind(
    "disk-counters-reset", "medium", instrument="disk",
    when="a device's counters began again from zero",
    why="what the device did in the half second of each reset is missing from its totals",
    cure="find out what happened to the device (dmesg)",
)  # fmt: skip
_MB_S = (ChartSeries("read_mb_s", "read", "blue"), ChartSeries("write_mb_s", "write", "vermilion"))
THROUGHPUT = ChartPanel("throughput, MB/s", "MB/s", "lines", _MB_S, height_px=80)
_BUSY = (ChartSeries("busy_percent", "busy", "ink"),)
UTILISATION = ChartPanel("utilisation, % of the time", "%", "level", _BUSY, height_px=44, greatest=100)
DISK_CHART = Chart("throughput and utilisation", (THROUGHPUT, UTILISATION), of="medium", expected=True)
SERIES = {
    **dict.fromkeys(("read_mb_s", "write_mb_s", "read_requests_s", "write_requests_s"), Kind.RATE),
    **dict.fromkeys(("busy_percent", "queue_requests", "request_kib"), Kind.LEVEL),
    **dict.fromkeys(("latency_ms", "busy_s", "queue_s", "read_latency_s", "write_latency_s"), Kind.CLOCK_TIME),
    **dict.fromkeys(_BYTES, Kind.BYTES),
    **dict.fromkeys(("read_requests", "write_requests", "flush_requests"), Kind.COUNT),
}
PROBES.add(
    "disk",
    ProbeKind(
        lambda context: DiskInstrument(context.node), (DISK_CHART,), of_nodes=True, of_files=DiskInstrument,
        series=SERIES,
    ),
    place=6,
)  # fmt: skip
