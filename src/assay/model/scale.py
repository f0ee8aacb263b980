"""Scale models: clusters that run so many times slower than what they stand for, and whether they did so evenly.

See docs/explanation/scale-model.md.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from assay.model.base import Frozen, Whole

MOST_DILATION = 64
"""A trial would take longer than anybody waits, and Hadoop's timers hours."""

DEFAULT_CPUS = 1.0
"""Cores of a scale model's node where nothing else is said."""

DilationLevel = Annotated[Whole, Field(ge=1, le=MOST_DILATION)] | Literal["auto"]
"""What experiments may say."""


class LinkSeen(NamedTuple):
    """What a link sent while packets waited before it: bytes in so many seconds, and its rate in bytes a second."""

    sent_bytes: int
    seconds: float
    rate_bytes_per_s: float


class HeartbeatsSeen(NamedTuple):
    """How many heartbeats came from so many nodes in so many seconds, and every how many seconds each was to send.

    Where a node was lost on the way, `nodes` is their mean over the time.
    """

    beats: int
    nodes: float
    seconds: float
    interval_s: float


class ScaleSeen(NamedTuple):
    """What was seen of a scale model in some time.

    Per window of a second the share of the processors' time that was idle, the microseconds by which a thread woke too
    late, the links with a backlog and the daemons with heartbeats by name. `troubles` say what could not be seen.
    """

    dilation: int
    idle_shares: Sequence[float] = ()
    late_us: Sequence[int] = ()
    links: Mapping[str, LinkSeen] = {}
    heartbeats: Mapping[str, HeartbeatsSeen] = {}
    troubles: Sequence[str] = ()


class ScaleCheck(Frozen):
    """One condition under which a scale model's times can be believed."""

    name: str
    """What was looked at, such as `idle processor time`."""
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
    checks: tuple[ScaleCheck, ...] = ()
    """The checks of this trial."""

    @property
    def modelled(self) -> bool:
        """Whether the cluster's times are other than this machine's clock says."""
        return self.dilation > 1

    @property
    def failed(self) -> tuple[ScaleCheck, ...]:
        """Those for which its times are not to be believed."""
        return tuple(check for check in self.checks if check.passed is False)
