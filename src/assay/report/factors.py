"""What storage costs in each job and phase, and what the other factors of a run change."""

from collections.abc import Mapping, Sequence
from math import log
from typing import NamedTuple

from assay.model.record import Record
from assay.model.trial import SHIPPED_PRIOR, ZERO_DELAY, NoisePrior
from assay.report.analysis import Filter, RunAnalysis, marks_of
from assay.report.answer import interval_text, percent
from assay.report.words import seconds_text
from assay.stats.breakdown import Change, JobPart
from assay.stats.comparison import Comparison
from assay.stats.effect import Effects, LevelEffect, effects
from assay.stats.sample import APART, samples, varying_factors

MOST_OTHERS = 40
"""Comparisons of other factors that are listed; the rest is in the CSV."""


class Cell(NamedTuple):
    """Words and the value that they are sorted by; whether the difference is significant."""

    words: str
    value: float | None = None
    significant: bool = False


class BreakdownRow(NamedTuple):
    """One job or phase on one placement: seconds, how much of it is storage, what is saved of the base's time."""

    part: str
    kind: str
    placement: str
    time: Cell
    storage: Cell
    saves: Cell


class BreakdownTable(NamedTuple):
    """One decision's parts; `untested` are those that are not tested, as `JobPart` says.

    `repeated` is whether any trial of the decision ran twice: else nothing can be tested.
    """

    subject: str
    lines: list[BreakdownRow]
    untested: list[str]
    repeated: bool
    levels: str


class FactorRow(NamedTuple):
    """One comparison of two levels of a factor beside the placement."""

    of: str
    factor: str
    levels: str
    ratio: Cell
    p: Cell
    marks: str


def breakdown_tables(analysis: RunAnalysis, places: Sequence[int], filters: Sequence[Filter]) -> list[BreakdownTable]:
    """One for each decision at some places, in their order."""
    shown = [(analysis.breakdowns[place], analysis.answers[place]) for place in places]
    return [
        BreakdownTable(
            subject=answer.subject,
            lines=[line for part in one.parts if part.tested for line in _lines(part)],
            untested=[_untested(part) for part in one.parts if not part.tested],
            repeated=any(time.trials > 1 for part in one.parts for time in part.times),
            levels=marks_of(filters, one.levels),
        )
        for one, answer in shown
    ]


def _lines(part: JobPart) -> list[BreakdownRow]:
    return [
        BreakdownRow(
            part=part.name,
            kind=part.kind,
            placement=one.placement,
            time=Cell(f"{seconds_text(one.seconds)} s", one.seconds),
            storage=_change(one.storage_share),
            saves=_change(None if one.placement == ZERO_DELAY else one.saving),
        )
        for one in part.times
    ]


def _untested(part: JobPart) -> str:
    return f"{part.name}: " + ", ".join(f"{seconds_text(one.seconds)} s on {one.placement}" for one in part.times)


def _change(one: Change | None) -> Cell:
    if one is None:
        return Cell("-")
    return Cell(f"{percent(one.share.value)} ({interval_text(one.share)})", one.share.value, one.significant)


def factor_rows(
    comparisons: Sequence[Comparison], names: Sequence[str], filters: Sequence[Filter]
) -> tuple[list[FactorRow], int]:
    """The significant first, then by the size of the difference; and how many are left out."""
    ordered = sorted(comparisons, key=lambda one: (not one.significant, -abs(log(one.ratio))))
    return [_other(one, names, filters) for one in ordered[:MOST_OTHERS]], max(0, len(ordered) - MOST_OTHERS)


def _other(one: Comparison, names: Sequence[str], filters: Sequence[Filter]) -> FactorRow:
    others: Mapping[str, str] = dict(one.others)
    told = [
        others[name]
        for name in ("workload", "dataset", *names, "placement")
        if others.get(name) not in {None, "none", ""}
    ]
    interval = f" ({one.interval.low:.2f} to {one.interval.high:.2f})"
    return FactorRow(
        of=", ".join(dict.fromkeys(told)),
        factor=one.factor,
        levels=f"{one.level} / {one.base}",
        ratio=Cell(f"{one.ratio:.2f}{interval}", one.ratio, one.significant),
        p=Cell("not tested" if one.p_adjusted is None else _p_text(one.p_adjusted), one.p_adjusted),
        marks=marks_of(filters, others),
    )


def _p_text(p: float) -> str:
    return "under 0.001" if p < 0.001 else f"{p:.3f}"


WITHIN = ("workload", "dataset", "machine")
MOST_EFFECTS, MOST_LEVELS, MOST_TABLES = 10, 8, 12
LEAST_SHARE = 0.005


class EffectRow(NamedTuple):
    """One factor, or two together: its share of all variation, and what its levels do."""

    name: str
    share: str
    levels: str


class EffectTable(NamedTuple):
    """Those within one workload and data set, and what could not be told."""

    title: str
    lines: list[EffectRow]
    drift: str
    rest: str
    refused: tuple[str, ...]
    balanced: bool


def effect_tables(records: Sequence[Record], prior: NoisePrior = SHIPPED_PRIOR) -> list[EffectTable]:
    """One for each workload, data set and machine with at least two factors; none where only one varies."""
    found = samples(records)
    within = [name for name in WITHIN if any(name == factor for one in found[:1] for factor, _ in one.factors)]
    varies = [name for name in varying_factors(found) if name not in (*within, *APART)]
    if len(varies) < 2:
        return []
    told = [one for one in effects(found, within, prior) if sum(len(each.factors) == 1 for each in one.effects) > 1]
    return [_table(one) for one in told[:MOST_TABLES]]


def _table(one: Effects) -> EffectTable:
    return EffectTable(
        title=", ".join(level for name, level in one.within if name != "machine" or level != "A"),
        lines=[
            EffectRow(" and ".join(each.factors), _percent(each.share), _levels(each.levels))
            for each in one.effects[:MOST_EFFECTS]
            if each.share >= LEAST_SHARE or len(each.factors) == 1
        ],
        drift=_percent(one.drift_share),
        rest=_percent(one.rest_share),
        refused=one.refused,
        balanced=one.balanced,
    )


def _levels(levels: Sequence[LevelEffect]) -> str:
    """The levels that differ most from the average, as `ssd 0.80 (0.78 to 0.83)`."""
    ordered = sorted(levels, key=lambda one: -abs(one.times - 1))[:MOST_LEVELS]
    kept = [one for one in levels if one in ordered]
    more = f"; and {len(levels) - len(kept)} more" if len(levels) > len(kept) else ""
    return "; ".join(map(_level, kept)) + more


def _level(one: LevelEffect) -> str:
    interval = f" ({one.interval.low:.2f} to {one.interval.high:.2f})" if one.interval else ""
    return f"{' with '.join(one.levels)} {one.times:.2f}{interval}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
