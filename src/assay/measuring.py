"""Measuring a trial: probes are attached, begin together, hear of each part's end, are read, and are closed.

A probe is a guest of the trial: whatever it raises becomes a Doubt of its own, and touches neither the other probes nor
the trial. An interrupt passes through, and nothing is read then, since the trial leaves no record.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Literal

from assay.findings import Findings
from assay.model.doubt import Doubt
from assay.model.probe import Closing, Probe, Reading, Scene
from assay.model.record import Amount, Basis, Part
from assay.model.signature import Traced
from assay.stats.signature import signature
from assay.weight import Weight, weighed

OWN_COST: Literal["own-cost"] = "own-cost"


@contextmanager
def measured(probes: Sequence[Probe], scene: Scene, findings: Findings) -> Iterator[Callable[[Part], None]]:
    """Measure under probes; gives what tells them all that a part of the trial has ended.

    What they saw is kept at the scope's end, also when the trial fails: the parts that were marked by then are whole.
    """
    guests = [_Guest(probe, findings) for probe in probes]
    try:
        with ExitStack() as scope:
            for guest in guests:
                scope.enter_context(guest.attached(scene))
            for guest in guests:
                guest.begin()
            yield partial(_mark, guests)
    except Exception:
        _evaluate(guests, findings)
        raise
    else:
        _evaluate(guests, findings)
    finally:
        for guest in guests:
            guest.close()


def _mark(guests: Sequence["_Guest"], part: Part) -> None:
    for guest in guests:
        guest.mark(part)


def _evaluate(guests: Sequence["_Guest"], findings: Findings) -> None:
    """Read them all; what that takes is part of what measuring costs."""
    if not guests:
        return
    with weighed() as weight:
        for guest in guests:
            guest.read()
    findings.amounts += _own_cost(weight)


def _own_cost(weight: Weight) -> Iterator[Amount]:
    told: tuple[tuple[str, float | None, Basis], ...] = (
        ("busy_s", weight.busy_s, "measured"),
        ("resident_growth_bytes", weight.growth_bytes, "estimated"),
    )
    for series, value, basis in told:
        if value is not None:
            yield Amount(
                probe=OWN_COST, subject="evaluation", series=series, part="collect", value=float(value), basis=basis
            )


class _Guest:
    """One probe on its way through a trial. After a failure it hears of no further part; what it saw is still read."""

    def __init__(self, probe: Probe, findings: Findings) -> None:
        self._probe = probe
        self._findings = findings
        self._reading: Reading | None = None
        self._failed = False

    @contextmanager
    def attached(self, scene: Scene) -> Iterator[None]:
        """For the time of a scope, if it can be."""
        scope = ExitStack()
        with self._doubting("be attached"):
            self._reading = scope.enter_context(self._probe.attached(scene))
        try:
            yield
        finally:
            with self._doubting("be detached"):
                scope.close()

    def begin(self) -> None:
        """See Reading.begin."""
        if self._reading is not None and not self._failed:
            with self._doubting("begin"):
                self._reading.begin()

    def mark(self, part: Part) -> None:
        """See Reading.mark. After one that failed the next would take the lost part's figures for its own."""
        if self._reading is not None and not self._failed:
            with self._doubting(f"tell the end of the part {part!r}"):
                self._reading.mark(part)

    def read(self) -> None:
        """All that it saw, as far as it can be read, and the jobs' signature from its requests."""
        reading, findings = self._reading, self._findings
        if reading is None:
            return
        with self._doubting("tell its samples"):
            findings.samples.append(reading.samples())
        with self._doubting("tell its amounts"):
            findings.amounts += reading.amounts()
        with self._doubting("tell its doubts"):
            findings.doubts += reading.doubts()
        if isinstance(reading, Traced) and findings.attempts:
            with self._doubting("have its requests put down to phases"):
                findings.signature = signature(reading.requests(), reading.counted(), findings.attempts)

    def close(self) -> None:
        """See Closing.close."""
        if isinstance(self._reading, Closing):
            with self._doubting("be closed"):
                self._reading.close()

    @contextmanager
    def _doubting(self, what: str) -> Iterator[None]:
        """The first failure is told: those that follow mostly come of it."""
        try:
            yield
        except Exception as error:
            if not self._failed:
                self._findings.doubts.append(_unread(self._probe.name, what, error))
            self._failed = True


def _unread(name: str, what: str, error: Exception) -> Doubt:
    return Doubt(
        kind=f"probe-{name}-unread",
        what=f"the probe {name} could not {what}: {type(error).__name__}: {error}",
        why="what it measures is missing from the record, or ends there",
        cure="this is a fault of Assay's: please report it with this text; the trial's other figures stand",
    )
