"""Down-sampling that hides nothing: of each stretch of time the least, the mean and the greatest value.

A series here is what was the case from one moment to the next: a sample of a probe is of the time since the one before
it. Means are weighted by time, and a value that lies on both sides of a bin's edge counts in each by its share of time:
so the means of all bins, weighted by the time that they tell of, are the mean of the series, and the least and the
greatest of all bins are those of the series.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from assay.model.energy import Span
from assay.model.record import TaskAttempt
from assay.model.signature import AccessPhase
from assay.stats.timeline import spans

if TYPE_CHECKING:
    import numpy as np

SAMPLE_MS = 500
"""What a series' first sample covers: probes tick twice a second."""


class Pieces(NamedTuple):
    """A value for each of some stretches of time, which rise and do not overlap; milliseconds since the epoch."""

    begin_ms: "np.ndarray"
    end_ms: "np.ndarray"
    values: "np.ndarray"


class Bins(NamedTuple):
    """Least, mean and greatest value in each of some stretches of time; those that nothing is told of are left out.

    `told_ms` is of how much of a stretch something is told. `whole` says that each is a single piece, as it came.
    """

    begin_ms: "np.ndarray"
    end_ms: "np.ndarray"
    told_ms: "np.ndarray"
    least: "np.ndarray"
    mean: "np.ndarray"
    greatest: "np.ndarray"
    whole: bool


def sampled(times_ms: Sequence[int], values: Sequence[float]) -> Pieces:
    """A probe's samples: each is of the time since the one before it.

    Samples whose time does not go on, as after a clock was set back, are left out until it does.
    """
    import numpy as np

    times, told = np.asarray(times_ms, np.int64), np.asarray(values, float)
    before = np.concatenate((times[:1] - SAMPLE_MS, np.maximum.accumulate(times)[:-1]))
    on = times > before
    return Pieces(before[on], times[on], told[on])


def added(series: Sequence[Pieces]) -> Pieces:
    """The sum of some series where all of them have a piece with the same ends; nothing elsewhere."""
    import numpy as np

    ends = series[0].end_ms
    for one in series[1:]:
        ends = np.intersect1d(ends, one.end_ms, assume_unique=True)
    places = [np.searchsorted(one.end_ms, ends) for one in series]
    values = sum((one.values[place] for one, place in zip(series, places, strict=True)), np.zeros(len(ends)))
    return Pieces(series[0].begin_ms[places[0]], ends, values)


def running_tasks(attempts: Iterable[TaskAttempt]) -> dict[AccessPhase, Pieces]:
    """How many attempts were in each phase, from the first's beginning to the last's end; of phases with any."""
    import numpy as np

    every = [span for attempt in attempts for span in spans(attempt)]
    edges = np.unique(np.array([(span.began_ms, span.ended_ms) for span in every], np.int64))
    found: dict[AccessPhase, Pieces] = {}
    for phase in dict.fromkeys(span.phase for span in every):
        own = np.array([(span.began_ms, span.ended_ms) for span in every if span.phase == phase], np.int64)
        changes = np.zeros(len(edges))
        np.add.at(changes, np.searchsorted(edges, own[:, 0]), 1)
        np.add.at(changes, np.searchsorted(edges, own[:, 1]), -1)
        found[phase] = Pieces(edges[:-1], edges[1:], np.cumsum(changes)[:-1])
    return found


def within(pieces: Pieces, span: Span) -> Pieces:
    """Only what lies in a span."""
    import numpy as np

    begin, end = np.maximum(pieces.begin_ms, span.begin_ms), np.minimum(pieces.end_ms, span.end_ms)
    some = begin < end
    return Pieces(begin[some], end[some], pieces.values[some])


def binned(pieces: Pieces, span: Span, most: int) -> Bins:
    """At most so many bins: each piece by itself where they are no more, else equal stretches of the span."""
    import numpy as np

    own = within(pieces, span)
    if len(own.values) <= most:
        return Bins(own.begin_ms, own.end_ms, own.end_ms - own.begin_ms, own.values, own.values, own.values, whole=True)
    edges = np.linspace(span.begin_ms, span.end_ms, most + 1).round().astype(np.int64)
    told_ms, sums = (np.diff(one) for one in _until(own, edges, span.begin_ms))
    some = np.flatnonzero(told_ms)
    first = np.searchsorted(own.end_ms, edges[:-1], side="right")
    last = np.searchsorted(own.begin_ms, edges[1:], side="left")
    inside = [own.values[first[place] : last[place]] for place in some]
    least, greatest = np.array([one.min() for one in inside]), np.array([one.max() for one in inside])
    # A mean lies between the two but for the rounding of sums.
    mean = np.clip(sums[some] / told_ms[some], least, greatest)
    return Bins(edges[:-1][some], edges[1:][some], told_ms[some], least, mean, greatest, whole=False)


def _until(own: Pieces, edges: "np.ndarray", begin_ms: int) -> "tuple[np.ndarray, np.ndarray]":
    """Until each edge: how much time was told of, and the values added up over it."""
    import numpy as np

    lengths = own.end_ms - own.begin_ms
    knots = np.stack((own.begin_ms, own.end_ms), axis=1).ravel() - begin_ms
    told = np.repeat(np.concatenate(([0], np.cumsum(lengths))), 2)[1:-1]
    sums = np.repeat(np.concatenate(([0.0], np.cumsum(lengths * own.values))), 2)[1:-1]
    return np.interp(edges - begin_ms, knots, told), np.interp(edges - begin_ms, knots, sums)
