"""The kernel's block tracepoints: their binary buffers, and requests matched from their events.

Sources: Documentation/trace/ring-buffer-design.rst and include/linux/ring_buffer.h (the event header: 5 bits of type or
length in words, 27 bits of time since the event before), Documentation/trace/events.rst (the format files).

A request that is given back and issued again counts once, from its last issue. Events of the processors' buffers are
read one buffer after the other, so the newest ones wait for the next time: a completion may have been read before its
issue.

Source: Documentation/trace/ftrace.rst ("Instances", trace_pipe_raw). The instance lies in tracefs' instances/; its name
tells whose it is (`assay.host.processes.own_name`), so that one that outlived its process can be removed.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from assay.host.mounts import mounts
from assay.host.processes import is_left_over, own_name
from assay.model.probe import CannotMeasureError
from assay.probe.disk import SECTOR_BYTES
from assay.probe.trace.requests import DISCARD, FIELDS, FLUSH, READ, WRITE, Records

if TYPE_CHECKING:
    import numpy as np

HEADER_WORDS = 4
_COMMIT_MASK = (1 << 27) - 1
_LONGEST_SHORT, _PADDING, _TIME_EXTEND = 28, 29, 30
_STAMP_BITS = 59
_FIELD = re.compile(r"field:[^;]*?\b(\w+)(?:\[\d*\])?;\s*offset:(\d+);\s*size:(\d+);")

UNKNOWN = 255
_KINDS = {"R": READ, "W": WRITE, "F": FLUSH, "D": DISCARD}
_ISSUE, _COMPLETE = 0, 1


class EventLayout(NamedTuple):
    """Where an event's fields are, as its format file tells: its number, and byte offsets."""

    number: int
    device: int
    sector: int
    sectors: int
    direction: int


EVENTS = [
    ("time_ns", "<i8"), ("ended", "u1"), ("device", "<u4"), ("sector", "<i8"), ("sectors", "<u4"), ("kind", "u1"),
]  # fmt: skip
"""Events of both kinds: `ended` is 0 for an issue and 1 for a completion."""

Events: TypeAlias = "np.ndarray[Any, Any]"


def parse_format(text: str) -> EventLayout:
    """Raises ValueError when the format lacks a field that is needed, or has it where it can't be read from."""
    number = re.search(r"^ID: (\d+)$", text, re.MULTILINE)
    fields = {name: (int(offset), int(size)) for name, offset, size in _FIELD.findall(text)}
    sizes = {"dev": 4, "sector": 8, "nr_sector": 4}
    wrong = [name for name, size in sizes.items() if fields.get(name, (1, 0))[1] != size or fields[name][0] % 4]
    if number is None or wrong or "rwbs" not in fields:
        raise ValueError(f"the kernel's block events have another form: {', '.join(wrong) or 'no number or no rwbs'}")
    places = (fields[name][0] for name in ("dev", "sector", "nr_sector", "rwbs"))
    return EventLayout(int(number[1]), *places)


def positions(page: bytes) -> tuple[list[int], list[int]]:
    """Return the offset of each event's data in its page, in bytes, and the event's time in nanoseconds."""
    numbers = memoryview(page[: len(page) & ~3]).cast("I")
    stamp = int.from_bytes(page[:8], sys.byteorder)
    end = min(len(numbers), HEADER_WORDS + (int.from_bytes(page[8:16], sys.byteorder) & _COMMIT_MASK) // 4)
    places, stamps, at = [], [], HEADER_WORDS
    while at < end:
        header = numbers[at]
        kind, delta = header & 31, header >> 5
        if kind <= _LONGEST_SHORT:
            stamp += delta
            begin = at + 1 if kind else at + 2
            places.append(begin * 4)
            stamps.append(stamp)
            at += 1 + (kind or (numbers[at + 1] + 3) // 4)
        elif kind == _PADDING:
            if delta == 0:
                break
            stamp += delta
            at += 1 + (numbers[at + 1] + 3) // 4
        else:
            value = (numbers[at + 1] << 27) + delta
            stamp = stamp + value if kind == _TIME_EXTEND else (stamp >> _STAMP_BITS << _STAMP_BITS) + value
            at += 2
    return places, stamps


def decode(pages: Sequence[bytes], issue: EventLayout, complete: EventLayout) -> Events:
    """The block events of some pages, whatever processor they are of."""
    import numpy as np

    places: list[int] = []
    stamps: list[int] = []
    base = 0
    for page in pages:
        offsets, times = positions(page)
        places += [base + offset for offset in offsets]
        stamps += times
        base += len(page)
    content = b"".join(pages)
    cells = np.frombuffer(content[: len(content) & ~3], np.uint32)
    begin, stamp = np.array(places, np.int64), np.array(stamps, np.int64)
    numbers = cells[begin // 4] & 0xFFFF if len(begin) else np.zeros(0, np.uint32)
    octets = np.frombuffer(content, np.uint8)
    known = np.full(256, UNKNOWN, np.uint8)
    for letter, kind in _KINDS.items():
        known[ord(letter)] = kind
    every = np.zeros(len(begin), EVENTS)
    every["time_ns"] = stamp
    for layout, ended in ((issue, _ISSUE), (complete, _COMPLETE)):
        chosen = numbers == layout.number
        octet, word = begin[chosen], begin[chosen] // 4
        first, second = octets[octet + layout.direction], octets[octet + layout.direction + 1]
        # A leading F says that the drive's cache is flushed before; what follows is the request's own kind.
        kinds = np.where((first == ord("F")) & (known[second] != UNKNOWN), known[second], known[first])
        low, high = cells[word + layout.sector // 4], cells[word + layout.sector // 4 + 1]
        every["ended"][chosen], every["kind"][chosen] = ended, kinds
        every["device"][chosen] = cells[word + layout.device // 4]
        every["sectors"][chosen] = cells[word + layout.sectors // 4]
        # A flush has no place; the kernel writes 0 at its issue and -1 at its completion.
        every["sector"][chosen] = np.where(kinds == FLUSH, 0, low.astype(np.int64) | (high.astype(np.int64) << 32))
    events = every[np.isin(numbers, (issue.number, complete.number))]
    return events[np.lexsort((events["ended"], events["time_ns"]))]


FORGOTTEN_NS = 600_000_000_000
"""An issue without a completion for ten minutes has lost it."""


class Matcher:
    """Takes events in portions, gives requests by device."""

    def __init__(self) -> None:
        self._waiting: Events | None = None

    def add(self, events: Events, until_ns: int) -> Mapping[int, Records]:
        """Requests that are known to be complete; only events before `until_ns` are looked at now."""
        import numpy as np

        every = events if self._waiting is None else np.concatenate([self._waiting, events])
        settled = every["time_ns"] < until_ns
        late, now = every[~settled], every[settled & (every["kind"] != UNKNOWN)]
        now = now[np.lexsort([now[name] for name in ("ended", "time_ns", "kind", "sector", "device")])]
        if not len(now):
            self._waiting = late
            return {}
        same = np.logical_and.reduce([now[name][:-1] == now[name][1:] for name in ("device", "sector", "kind")])
        is_issue = now["ended"] == _ISSUE
        pair = np.append(same & is_issue[:-1] & ~is_issue[1:], False)
        last = np.append(~same, True) & is_issue & (now["time_ns"] > until_ns - FORGOTTEN_NS)
        self._waiting = np.concatenate([now[last], late])
        issues = np.flatnonzero(pair)
        issues = issues[np.argsort(now["time_ns"][issues], kind="stable")]
        issued, completed = now[issues], now[issues + 1]
        records = np.zeros(len(issues), dtype=FIELDS)
        records["arrived_ns"] = issued["time_ns"]
        records["latency_ns"] = completed["time_ns"] - issued["time_ns"]
        records["offset"] = issued["sector"] * SECTOR_BYTES
        records["bytes"] = np.minimum(issued["sectors"].astype(np.int64) * SECTOR_BYTES, (1 << 32) - 1)
        records["kind"] = issued["kind"]
        return {int(device): records[issued["device"] == device] for device in np.unique(issued["device"])}


TRACING = Path("/sys/kernel/tracing")
ISSUE, COMPLETE = "block_rq_issue", "block_rq_complete"
LARGEST_PAGE_BYTES = 64 << 10
ALL_BUFFERS_KB, SMALLEST_BUFFER_KB = 8192, 256
"""What all processors' buffers take together: seconds of a fast drive's requests."""
MOST_PAGES = 4096
"""What is taken at once from one processor's buffer."""

_WHY = "without it requests to real disks are not seen one by one, and the I/O signature is an estimate from counters"


class KernelTrace:
    """A running trace; made by `tracing`."""

    def __init__(self, instance: Path, issue: EventLayout, complete: EventLayout) -> None:
        self.instance, self.issue, self.complete = instance, issue, complete
        self._cpus = sorted((instance / "per_cpu").glob("cpu*"), key=lambda cpu: int(cpu.name[3:]))
        self._pipes: list[int] = []

    def open(self) -> None:
        for cpu in self._cpus:
            self._pipes.append(os.open(cpu / "trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC))

    def take(self) -> list[bytes]:
        """Take all pages of events since the last call."""
        pages = []
        for pipe in self._pipes:
            for _ in range(MOST_PAGES):
                try:
                    page = os.read(pipe, LARGEST_PAGE_BYTES)
                except BlockingIOError:
                    break
                if not page:
                    break
                pages.append(page)
        return pages

    def lost(self) -> int:
        """Events that found no room."""
        lost = 0
        for cpu in self._cpus:
            with suppress(OSError, ValueError):
                for line in (cpu / "stats").read_text(encoding="utf-8").splitlines():
                    name, _, value = line.partition(":")
                    lost += int(value) if name in {"overrun", "dropped events"} else 0
        return lost

    def close(self) -> None:
        """Close the buffers; the instance can't be removed before."""
        while self._pipes:
            os.close(self._pipes.pop())


@contextmanager
def tracing(devices: Sequence[int], root: Path = TRACING) -> Iterator[KernelTrace]:
    """Trace the requests of some devices (12 bits of major, 20 bits of minor number) for the time of a scope.

    Raises CannotMeasureError where that can't be: no root, no tracefs, no such tracepoint.
    """
    with ExitStack() as scope:
        if root == TRACING and not (root / "instances").is_dir():
            # It stays while others use it. Its source is a name of our own, by which what outlived us is known.
            scope.callback(_run, "umount", str(root))
            _run("mount", "-t", "tracefs", own_name(), str(root))
        try:
            remove_left_overs(root)
            events = root / "events" / "block"
            layouts = [
                parse_format((events / name / "format").read_text(encoding="utf-8")) for name in (ISSUE, COMPLETE)
            ]
            instance = root / "instances" / own_name()
            instance.mkdir()
            scope.callback(remove, instance)
            trace = KernelTrace(instance, *layouts)
            scope.callback(trace.close)
            _set_up(instance, devices)
            trace.open()
            (instance / "tracing_on").write_text("1", encoding="utf-8")
        except (OSError, ValueError) as error:
            scope.close()  # what was made so far, and nothing that others made
            raise CannotMeasureError(
                f"the kernel's block tracepoints can't be used: {error}", _WHY, "run as root"
            ) from None
        yield trace


def remove_left_overs(root: Path = TRACING) -> list[str]:
    """Take away what processes that are gone left: instances, which it names, and a tracefs that one had mounted.

    Raises OSError when it may not look.
    """
    there = root / "instances"
    names = [name for name in os.listdir(there) if is_left_over(name)] if there.is_dir() else []
    for name in names:
        remove(there / name)
    gone = [name for name in names if not (there / name).exists()]
    if any(mount.point == str(root) and is_left_over(mount.source) for mount in mounts()):
        _run("umount", str(root))
    return [f"kernel trace {name}" for name in gone]


def remove(instance: Path) -> None:
    """Stop a trace and take its instance away; one that is gone already is fine."""
    with suppress(OSError):
        for name in (ISSUE, COMPLETE):
            (instance / "events" / "block" / name / "enable").write_text("0", encoding="utf-8")
    with suppress(OSError):
        instance.rmdir()


def _set_up(instance: Path, devices: Iterable[int]) -> None:
    condition = " || ".join(f"dev == {device}" for device in devices)
    (instance / "tracing_on").write_text("0", encoding="utf-8")
    (instance / "trace_clock").write_text("mono", encoding="utf-8")
    cpus = len(list((instance / "per_cpu").glob("cpu*")))
    (instance / "buffer_size_kb").write_text(
        str(max(SMALLEST_BUFFER_KB, ALL_BUFFERS_KB // max(1, cpus))), encoding="utf-8"
    )
    for name in (ISSUE, COMPLETE):
        event = instance / "events" / "block" / name
        (event / "filter").write_text(condition, encoding="utf-8")
        (event / "enable").write_text("1", encoding="utf-8")


def _run(*command: str) -> None:
    """Without the right to do it nothing happens, and the trace then says what it misses."""
    with suppress(OSError):
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
