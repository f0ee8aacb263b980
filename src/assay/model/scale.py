"""Scale models: clusters that run so many times slower than what they stand for, and whether they did so evenly.

See docs/research/scale-model.md.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from assay.model.base import Frozen, Whole

MOST_DILATION = 64
"""A trial would take longer than anybody waits, and Hadoop's timers hours."""

DEFAULT_CPUS = 1.0
"""Cores of a scale model's node where nothing else is said."""

DilationLevel = Annotated[Whole, Field(ge=1, le=MOST_DILATION)] | Literal["auto"]
"""What experiments may say."""


class CheckId(StrEnum):
    """The checks of a scale model, in the order of tables."""

    IDLE = "idle"
    WAKES = "wakes"
    DRIVES = "drives"
    LINKS = "links"
    HEARTBEATS = "heartbeats"

    @property
    def heading(self) -> str:
        """What it looks at."""
        return TITLES[self]


TITLES: Mapping[CheckId, str] = {
    CheckId.IDLE: "idle processor time",
    CheckId.WAKES: "wake-up latency",
    CheckId.DRIVES: "late drives",
    CheckId.LINKS: "links with a backlog",
    CheckId.HEARTBEATS: "heartbeats",
}


class LinkSeen(Frozen):
    """What a link sent while packets waited before it."""

    sent_bytes: int
    """Bytes sent in windows at both ends of which packets waited."""
    seconds: float
    """The windows' length."""
    rate_bytes_per_s: float
    """The rate that it was given, in bytes a second."""


class HeartbeatsSeen(Frozen):
    """The heartbeats that reached a daemon in some time."""

    beats: int
    """How many came."""
    nodes: float
    """From how many nodes; their mean over the time where a node was lost on the way."""
    seconds: float
    """The time."""
    interval_s: float
    """Every how many seconds each node was to send one."""


class StrikeSeen(Frozen):
    """The heartbeats of a run in which a daemon or a node was killed, before and after that."""

    killed: str
    """The killed daemon's role, or `node`."""
    before: Mapping[str, HeartbeatsSeen]
    """By daemon."""
    after: Mapping[str, HeartbeatsSeen]
    """By daemon; `nodes` are those of the beginning."""


class DriveSeen(Frozen):
    """How late an emulated drive was in the run; see [how late a drive was](media.md#how-late-a-drive-was)."""

    elapsed_s: float
    """The run, as the drive's report has it."""
    busy_s: float | None = None
    """The time in which it had requests."""
    late_s: float
    """How much longer requests waited than for the drive, by none of the two causes below."""
    late_behind_flush_s: float = 0.0
    """The same of requests that had reached the driver and waited for a flush to end."""
    late_before_driver_s: float = 0.0
    """The same of requests that had not reached the driver yet, though it had room."""
    flush_alone: bool = True
    """Whether the drive takes no command while a flush is under way, as drives behind SATA do."""


class ScaleSeen(Frozen):
    """What was seen of a scale model while its jobs ran, by this machine's clock, so that it can be judged again."""

    dilation: int
    """How many times slower it ran than what it stands for."""
    idle_shares: tuple[float, ...] = ()
    """The share of the processors' time that was idle, of each window of a second."""
    late_us: Mapping[int, int] = {}
    """How many times a thread woke by so many microseconds too late: 64 steps for each doubling, by their ends."""
    links: Mapping[str, LinkSeen] = {}
    """The links with a backlog, by name."""
    heartbeats: Mapping[str, HeartbeatsSeen] = {}
    """The heartbeats of the whole run, by the daemon that they reached."""
    strike: StrikeSeen | None = None
    """Heartbeats around the kill of a daemon or a node; null without one."""
    drives: Mapping[str, DriveSeen] = {}
    """The emulated drives, by node and medium."""
    troubles: tuple[str, ...] = ()
    """What could not be seen, and why."""


class ScaleCheck(Frozen):
    """One condition under which a scale model's times can be believed."""

    id: CheckId
    """What was looked at."""
    value: float | None
    """What was seen, in the unit of the limit; null if it could not be seen."""
    limit: float
    """What it may be at most, or at least."""
    passed: bool | None
    """Whether it was within; null if it could not be seen, or there was nothing to be seen."""
    detail: str
    """The same in words."""
    lowest: float | None = None
    """Of idle processor time: its share of the window with the least; null of other checks, and if it was not seen."""


class ScaleReport(Frozen):
    """A trial on a scale model."""

    dilation: int
    """How many times slower it ran than what it stands for."""
    clock: Literal["wall", "model"] = "wall"
    """`wall`: the record's times are those of this machine's clock, as every record is kept. `model`: they have been
    divided by the dilation, as reports and tables have them."""
    seen: ScaleSeen | None = None
    """What was seen of it; null in records that kept verdicts only."""
    rules: int | None = Field(default=None, ge=1)
    """The version of [the rules](../research/scale-model.md#the-rules) that `checks` are by, the newest whenever a
    record is read; null in records that kept verdicts only, which are as they were written."""
    checks: tuple[ScaleCheck, ...] = ()
    """The checks of this trial."""

    @property
    def modelled(self) -> bool:
        """Whether the cluster's times are other than this machine's clock says."""
        return self.dilation > 1

    @property
    def failed(self) -> tuple[ScaleCheck, ...]:
        """The failed checks, for which its times are not valid."""
        return tuple(check for check in self.checks if check.passed is False)
