"""Traffic as it is counted for the network probe: flows to and from listening ports, whoever counts them."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from assay.model.doubt import Doubt


class FlowsError(Exception):
    """Flows can't be counted, or what was counted can't be read: the reason."""


class Flow(NamedTuple):
    """A direction of traffic: from one address to another, to or from the server that listens on a port."""

    sender: str
    receiver: str
    port: int
    to_server: bool


class Count(NamedTuple):
    """What has passed."""

    bytes: int
    packets: int


class FlowCounter(Protocol):
    """Counts the TCP flows of some listening ports until it is removed.

    `has_stand_in` tells whether all traffic of the loopback interface may stand in for what could not be counted.
    """

    has_stand_in: bool

    def make(self) -> None:
        """Begin to count. Raises FlowsError."""
        ...

    def read(self) -> dict[Flow, Count]:
        """Everything that has passed from `make` until now. Raises FlowsError."""
        ...

    def glance(self) -> dict[Flow, Count]:
        """The same for rates: what passed within the last second may be missing. Raises FlowsError."""
        ...

    def remove(self) -> None:
        """Stop counting; nothing is left."""
        ...

    def not_counted(self, reason: str) -> Doubt:
        """What it means that `make` failed."""
        ...

    def not_read(self, reasons: Sequence[str]) -> Doubt:
        """What it means that `read` failed at the ends of some parts, one reason for each."""
        ...

    def doubts(self) -> tuple[Doubt, ...]:
        """What makes the counts doubtful; asked last, the counting may end for it."""
        ...
