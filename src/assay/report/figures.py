"""Figures of trials beside their times, for CSV, JSON and comparisons of runs, from the core or a plug-in.

Plug-ins import this file while they are found: it imports nothing that takes long.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from assay.model.fact import Value
from assay.model.plugins import Registry

if TYPE_CHECKING:
    from assay.model.record import Record
    from assay.model.trial_summary import TrialSummary
    from assay.report.columns import Column


class FiguresKind(NamedTuple):
    """One sort of figures of trials, by functions that give None where there are none.

    `columns` stand in a trial's line of a CSV, and their medians in that of its combination; units are in their names.
    They are of the trial's summary, for which `SUMMARY_FIGURES` may count more. `document` is of its whole record, and
    stands in JSON by the trial's id; without one, nothing does. `table` shows such columns of several lines
    to people, where runs are compared, below its `title` and above its `note`; without one, comparisons leave them out.
    """

    columns: "Callable[[TrialSummary], Mapping[str, Value] | None]"
    document: "Callable[[Record], Mapping[str, object] | None] | None" = None
    table: "Callable[[Sequence[Mapping[str, Value]]], Sequence[Column]] | None" = None
    title: str = ""
    note: str = ""


FIGURES: Registry[FiguresKind] = Registry("sort of figures", "assay.report", parts=("columns", "document"))

Figures = Mapping[str, Mapping[str, Mapping[str, Value]]]
"""Columns by sort of figures and trial; a sort of which no trial has any is left out."""


def figures_of(summaries: "Sequence[TrialSummary]", names: Sequence[str] = ()) -> Figures:
    """The figures of trials: all sorts, or those of some names."""
    kinds = {name: kind for name, kind in FIGURES.items() if not names or name in names}
    by_kind: dict[str, dict[str, Mapping[str, Value]]] = {name: {} for name in kinds}
    for summary in summaries:
        for name, kind in kinds.items():
            if (columns := kind.columns(summary)) is not None:
                by_kind[name][summary.id] = columns
    return {name: by_trial for name, by_trial in by_kind.items() if by_trial}


def medians_over(
    by_trial: Mapping[str, Mapping[str, Value]], groups: Sequence[Sequence[str]]
) -> list[dict[str, Value]]:
    """One sort's columns over the trials of each group: of numbers the median of those known, of texts each once."""
    names = dict.fromkeys(name for columns in by_trial.values() for name in columns)
    known = ([by_trial[trial] for trial in trials if trial in by_trial] for trials in groups)
    return [{name: _median([columns.get(name) for columns in several]) for name in names} for several in known]


def _median(values: Sequence[Value]) -> Value:
    numbers = [value for value in values if isinstance(value, int | float)]
    return median(numbers) if numbers else ", ".join(sorted({text for text in values if isinstance(text, str)})) or None
