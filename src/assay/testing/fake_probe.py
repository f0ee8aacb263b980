"""A fake probe: it beats once in each part of a trial."""

from collections.abc import Iterator
from contextlib import contextmanager

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.model.record import Amount, Part, Sample
from assay.testing.script import Script


class FakeReading:
    """One sample, one amount for each part that is marked, and no doubt."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._parts: list[Part] = []

    def begin(self) -> None:
        """Told."""
        self._script.note("begin probe")

    def mark(self, part: Part) -> None:
        """Told."""
        self._script.note(f"mark {part}")
        self._parts.append(part)

    def amounts(self) -> tuple[Amount, ...]:
        """One beat in each part."""
        self._script.note("read probe")
        return tuple(
            Amount(probe="fake", subject="heart", series="beat_count", part=part, value=1.0) for part in self._parts
        )

    def samples(self) -> tuple[Sample, ...]:
        """At time 0."""
        return (Sample(probe="fake", series="beat_count", time_ms=0, value=1.0),)

    def doubts(self) -> tuple[Doubt, ...]:
        """None."""
        return ()

    def close(self) -> None:
        """Told."""
        self._script.note("close probe")


class FakeProbe:
    """Beats once."""

    name = "fake"

    def __init__(self, script: Script) -> None:
        self._script = script

    @contextmanager
    def attached(self, scene: Scene) -> Iterator[FakeReading]:
        """Told at both ends."""
        self._script.note("attach probe")
        try:
            yield FakeReading(self._script)
        finally:
            self._script.note("detach probe")
