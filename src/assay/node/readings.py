"""What is read on a node from afar: how it is asked for, how it is parsed, and a node made of it.

A reading is text. `@devices` lists once what of sysfs tells which devices count for themselves (`node.devices`). Then
for each reading `@ TAG TIME`, with the time of the node's clock in seconds since the epoch, each line of the files as
`PATH:LINE` (as grep writes it), and `@end`. All else is left out, such as what a login prints.
Lines of /proc/stat that grow with the machine (processors apart, interrupts) are not sent.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.model.doubt import Doubt, doubt_kind
from assay.model.probe import ClockOffset
from assay.model.record import REMOTE_NODES
from assay.node.devices import devices_by_name, drives, drives_by_name, without_paths

FILES = (
    "/proc/stat", "/proc/diskstats", "/proc/net/dev", "/proc/meminfo", "/proc/pressure/cpu", "/proc/pressure/memory",
    "/proc/pressure/io",
)  # fmt: skip
LISTED = (
    "/sys/block/*/device", "/sys/class/net/*", "/sys/class/net/*/device", "/sys/class/net/*/lower_*",
    "/sys/class/net/*/bridge", "/sys/class/net/*/tun_flags",
)  # fmt: skip
# In one line and without quotes of the other kind, so that any login shell hands it on. It waits for a line, reads the
# files once, and goes on until its input ends: nothing is left when the connection has gone. grep starts once for all.
SCRIPT = (
    f'set -- {" ".join(LISTED)}; echo "@devices $*"; '
    'while read -r tag; do echo "@ $tag $(date +%s.%N)"; '
    f'grep -sHvE "^(intr|softirq|cpu[0-9])" {" ".join(FILES)}; echo @end; done'
)
_TIME = re.compile(r"(\d+)(?:\.(\d+))?")
_DISKSTATS = Path("/proc/diskstats")
_BLOCK = Path("/sys/class/block")


class Raw(NamedTuple):
    """A reading: the line that asked for it (`tag`), its time by the node's clock to within `step_s`, and the files."""

    tag: str
    time_s: float
    step_s: float
    files: Mapping[Path, str]


class Parser:
    """Takes the lines of a node one by one; `listing` are the files of sysfs that it listed."""

    def __init__(self) -> None:
        self.listing: tuple[Path, ...] = ()
        self._head: tuple[str, float, float] | None = None
        self._lines: dict[str, list[str]] = {}

    def take(self, line: str) -> Raw | None:
        """Take a line; return the reading that it completes, else None."""
        if line.startswith("@ "):
            self._begin(line)
        elif line.startswith("@devices "):
            self.listing = tuple(
                Path(word) for word in line.split()[1:] if "*" not in word
            )  # nothing matched the others
        elif line == "@end":
            head, self._head = self._head, None
            if head is not None:
                return Raw(*head, {Path(path): "\n".join(lines) + "\n" for path, lines in self._lines.items()})
        elif self._head is not None and line.startswith("/"):
            path, _, content = line.partition(":")
            self._lines.setdefault(path, []).append(content)
        return None

    def _begin(self, line: str) -> None:
        """Begin a reading. A time in whole seconds is taken half a second later, so it is right by half a second."""
        self._head, self._lines = None, {}
        fields = line.split()
        time = _TIME.match(fields[2]) if len(fields) == 3 else None
        if time is not None:
            whole, fraction = time.groups()
            step_s = 0.0 if fraction else 0.5
            self._head = fields[1], float(f"{whole}.{fraction or 0}") + step_s, step_s


class ReadingNode:
    """A node as its last reading shows it; only what was read is there. See `model.node.ReadableNode`."""

    interfaces: Sequence[str] = ()
    own_machine = True

    def __init__(self, name: str, listing: Iterable[Path]) -> None:
        self.name = name
        self.files: Mapping[Path, str] = {}
        self._listed: dict[Path, set[str]] = {}
        for path in listing:
            for here in (path, *path.parents[:-1]):
                self._listed.setdefault(here.parent, set()).add(here.name)

    def read(self, path: Path, last_bytes: int | None = None) -> str:
        """A block device's `stat` is taken from /proc/diskstats (Documentation/admin-guide/iostats.rst)."""
        if path in self.files:
            return self.files[path][-last_bytes if last_bytes else 0 :]
        if path.is_relative_to(_BLOCK) and path.name == "stat":
            for fields in map(str.split, self.files.get(_DISKSTATS, "").splitlines()):
                if fields[2:3] == [path.parent.name.replace("!", "/")]:
                    return " ".join(fields[3:])
        raise FileNotFoundError(f"{path} was not read")

    def open(self, path: Path) -> "_ReadFile":
        self.read(path)
        return _ReadFile(self, path)

    def names(self, path: Path) -> list[str]:
        if path not in self._listed:
            raise FileNotFoundError(f"{path} was not listed")
        return sorted(self._listed[path])

    def link(self, path: Path) -> str:
        raise FileNotFoundError(f"{path} was not read")


class _ReadFile:
    """A file of the node at each reading."""

    def __init__(self, node: ReadingNode, path: Path) -> None:
        self._node: ReadingNode | None = node
        self._path = path

    def read(self, most_bytes: int = 8192) -> str:
        if self._node is None:
            raise OSError("it has been closed")
        return self._node.read(self._path)[:most_bytes]

    def close(self) -> None:
        self._node = None


def in_use(files: Mapping[Path, str]) -> set[str]:
    """Return the names in sysfs of devices that have ever answered a request; an empty CD drive has not."""
    return {
        fields[2].replace("/", "!")
        for fields in map(str.split, files.get(_DISKSTATS, "").splitlines())
        if len(fields) > 7 and (fields[3], fields[7]) != ("0", "0")
    }


def drives_in_use(node: ReadingNode) -> tuple[frozenset[str], Sequence[Doubt]]:
    """Return the drives to be counted, and a doubt where they were chosen by their names alone."""
    used = in_use(node.files)
    try:
        return without_paths(drives(node) & used), ()
    except OSError:
        choice = drives_by_name(used)
    return choice.counted, tuple(devices_by_name("drives", choice, REMOTE_NODES))


STEP_S = 0.1
"""A clock that is off by this more than measuring explains was set."""


class ClockComparison:
    """Compares a node's clock with this machine's by round trips, as NTP does (RFC 5905, section 8).

    The node's answer carries its time, which is that of some moment between the question and the answer: the offset is
    known to half of the round trip. The shortest one counts, since nothing can be nearer than it says.
    """

    def __init__(self) -> None:
        self.best: ClockOffset | None = None
        self.set_by_s = 0.0
        """The largest jump of the node's clock in seconds; 0 if it was never set."""

    def add(self, sent_s: float, received_s: float, there_s: float, step_s: float = 0.0) -> ClockOffset:
        """Add a round trip, sent and received by this machine's clock; return the best offset so far."""
        offset = ClockOffset(there_s - (sent_s + received_s) / 2, (received_s - sent_s) / 2 + step_s)
        if self.best is not None:
            apart_s = abs(offset.offset_s - self.best.offset_s)
            if apart_s > offset.uncertainty_s + self.best.uncertainty_s + STEP_S:
                self.set_by_s, self.best = max(self.set_by_s, apart_s), offset
        if self.best is None or offset.uncertainty_s < self.best.uncertainty_s:
            self.best = offset
        return self.best


NODES_UNREAD = doubt_kind(
    "nodes-unread", "cluster", instrument=REMOTE_NODES,
    when="nodes of an existing cluster could not be read",
    why="the record has no processor, memory, disk and network figures of them; the trial's other figures hold",
    cure="try it by hand (`ssh -o BatchMode=yes HOST true`: a key or a ticket, no password), and run the trial again",
)  # fmt: skip
NODES_LOST = doubt_kind(
    "nodes-lost", "cluster", instrument=REMOTE_NODES,
    when="nodes of an existing cluster could no longer be read during a trial",
    why="their figures end there, and this interval and the later ones have no totals of them",
    cure="find out what happened to the node or its connection, and run the trial again",
)  # fmt: skip
NODES_SPARSE = doubt_kind(
    "nodes-sparse", "cluster", instrument=REMOTE_NODES,
    when="there was a gap of more than 5 s between two readings of a node",
    why="the samples after the gap are averages over it; totals hold",
    cure="look for what kept the node or the network busy",
)  # fmt: skip
NODE_CLOCK_SET = doubt_kind(
    "node-clock-set", "cluster", instrument=REMOTE_NODES,
    when="the clock of a node was set during the trial",
    why="samples of that node around that time may be stamped wrongly",
    cure="let the clocks be slewed, not stepped (chronyd, ntpd), and run the trial again",
)  # fmt: skip
