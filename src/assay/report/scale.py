"""Axes that trials beside one another share, so that their figures can be compared by eye."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from assay.model.energy import Span
from assay.report.closeup import Closeup
from assay.report.drawing import round_up
from assay.stats.binning import Pieces, added, running_tasks, sampled, within

Power = Mapping[tuple[str, str], Pieces]
"""Watts by node and component."""


class Scale(NamedTuple):
    """The ends of the axes, the same for all trials that stand beside one another."""

    length_ms: int
    mb_s: float
    tasks: float
    watts: float = 1.0


def scale_of(closeups: Sequence[Closeup]) -> Scale:
    """Such that the longest, fastest and widest of some trials fits; those without a run part do not count."""
    spans = [(closeup, closeup.run) for closeup in closeups]
    runs = [(closeup, span) for closeup, span in spans if span is not None]
    rates = [
        float(own.values.max(initial=0.0))
        for closeup, span in runs
        for (probe, series), points in closeup.series.items()
        if probe == "disk" and series.endswith(("/read_mb_s", "/write_mb_s"))
        for own in [within(sampled(*points), span)]
    ]
    tasks = [_all_tasks(closeup, span) for closeup, span in runs]
    return Scale(
        length_ms=max((span.end_ms - span.begin_ms for _, span in runs), default=1),
        mb_s=round_up(max(rates, default=0.0)),
        tasks=round_up(max(tasks, default=0.0)),
    )


def most_watts(powers: Iterable[Power]) -> float:
    """The end of an axis on which the greatest power of some trials, all components together, fits."""
    most = [added(list(power.values())).values.max(initial=0.0) for power in powers if power]
    return round_up(float(max(most, default=0.0)))


def _all_tasks(closeup: Closeup, span: Span) -> float:
    """The most that ran at once."""
    running = [within(pieces, span).values for pieces in running_tasks(closeup.attempts).values()]
    return float(sum(running).max(initial=0.0)) if running else 0.0  # type: ignore[union-attr]
