"""Probes: measuring instruments attached to a trial."""

from contextlib import AbstractContextManager
from typing import Protocol

from assay.model.doubt import Doubt
from assay.model.record import Sample


class Reading(Protocol):
    """What an attached probe has seen so far."""

    def samples(self) -> tuple[Sample, ...]:
        """All samples, oldest first."""
        ...

    def doubts(self) -> tuple[Doubt, ...]:
        """What makes these samples doubtful; a probe that can't work stores no samples and says why here."""
        ...


class Probe(Protocol):
    """A measuring instrument."""

    name: str

    def attached(self) -> AbstractContextManager[Reading]:
        """Measure for the time of a scope. Never raises for want of a counter: that is a Doubt."""
        ...
