"""An instrument on its way through a trial: its failure becomes its own Doubt, its totals become amounts."""

import time
from collections.abc import Mapping

from assay.model.doubt import Doubt
from assay.model.instrument import CannotMeasureError, Instrument, Moment, Quantity
from assay.model.probe import Scene
from assay.model.record import Amount, Part
from assay.probe.samples import Samples


class Member:
    """What became of an instrument, and its totals at the last mark."""

    def __init__(self, instrument: Instrument) -> None:
        self.instrument = instrument
        self.alive = False
        self.doubts: list[Doubt] = []
        self._before: Mapping[Quantity, float] = {}

    def begin(self, scene: Scene) -> None:
        """Begin it; it is alive if that worked."""
        try:
            self.instrument.begin(scene)
            self._before = dict(self.instrument.totals())
            self.alive = True
        except Exception as error:  # whatever it trips over is its own affair: the others go on
            self.doubts.append(_missing(self.instrument.name, error))

    def tick(self, now: Moment, samples: Samples) -> None:
        """Tick it while it lives, and keep its samples."""
        if not self.alive:
            return
        try:
            samples.add(self.instrument.name, now.time_ms, self.instrument.tick(now))
        except Exception as error:
            self._stop(error)

    def count_anew(self) -> None:
        """What it counted so far belongs to no part."""
        totals = self._totals()
        self._before = self._before if totals is None else totals

    def mark(self, part: Part) -> list[Amount]:
        """The part's amounts: levels as they are, counters by their differences; none for one that went back."""
        totals = self._totals()
        if totals is None:
            return []
        before, self._before = self._before, totals
        gone = {what: value if what.level else value - before.get(what, 0.0) for what, value in totals.items()}
        backwards = [what for what, value in gone.items() if value < 0 and not what.level]
        if backwards:
            self.doubts.append(_went_back(self.instrument.name, backwards[0], part))
        return [
            Amount(
                probe=self.instrument.name, subject=what.subject, series=what.series, part=part, value=value,
                basis=what.basis,
            )
            for what, value in gone.items()
            if what not in backwards
        ]  # fmt: skip

    def end(self) -> None:
        """Hear its doubts, and close it, whether or not it has any to tell."""
        try:
            self.doubts += self.instrument.doubts()
        except Exception as error:
            self._stop(error)
        try:
            self.instrument.end()
        except Exception as error:
            self._stop(error)

    def _totals(self) -> Mapping[Quantity, float] | None:
        if not self.alive:
            return None
        try:
            return dict(self.instrument.totals())
        except Exception as error:
            self._stop(error)
            return None

    def _stop(self, error: Exception) -> None:
        self.alive = False
        self.doubts.append(_stopped(self.instrument.name, error))


def _missing(name: str, error: Exception) -> Doubt:
    kind, what = f"probe-{name}-missing", f"the probe {name} measured nothing: {_words(error)}"
    if isinstance(error, CannotMeasureError):
        return Doubt(kind=kind, what=what, why=error.why, cure=error.cure)
    return Doubt(
        kind=kind,
        what=what,
        why=f"the record has no figures of {name}",
        cure="run where the counters it names can be read",
    )


def _stopped(name: str, error: Exception) -> Doubt:
    return Doubt(
        kind=f"probe-{name}-stopped",
        what=f"the probe {name} stopped at {time.strftime('%H:%M:%S')}: {_words(error)}",
        why="its samples end there, and the part of the trial that ran then and those after it have no totals of it",
        cure="run the trial again; if it stops again, report what it says",
    )


def _went_back(name: str, what: Quantity, part: Part) -> Doubt:
    return Doubt(
        kind=f"probe-{name}-counter-went-back",
        what=f"{what.series} of {what.subject} was less at the end of {part!r} than at its beginning",
        why="a counter that was reset can't tell what was counted; that total is left out",
        cure="leave the machine's counters and devices alone while a trial runs",
    )


def _words(error: Exception) -> str:
    if isinstance(error, CannotMeasureError | OSError | ValueError):
        return str(error)
    return f"{type(error).__name__}: {error}"
