"""What the factors of a run besides the decisions' change: pairs of levels, and each factor's effect over all."""

from collections.abc import Mapping, Sequence
from math import log
from typing import NamedTuple

from assay.model.record import Record
from assay.model.trial import SHIPPED_PRIOR, NoisePrior
from assay.report.analysis import Filter, marks_of
from assay.stats.comparison import Comparison
from assay.stats.effect import Effect, Effects, effects
from assay.stats.sample import APART, samples, varying_factors

MOST_OTHERS = 40
"""Comparisons of other factors that are listed; the rest is in the CSV."""
WITHIN = ("workload", "dataset", "machine")
MOST_EFFECTS, MOST_LEVELS, MOST_TABLES = 10, 8, 12
LEAST_SHARE = 0.005


class FactorRow(NamedTuple):
    """A comparison of two levels of a factor: the levels of all else in words, and how filters know it."""

    comparison: Comparison
    others: str
    marks: str


def factor_rows(
    comparisons: Sequence[Comparison], names: Sequence[str], filters: Sequence[Filter]
) -> tuple[list[FactorRow], int]:
    """The significant first, then by the size of the difference; and how many are left out."""
    ordered = sorted(comparisons, key=lambda one: (not one.significant, -abs(log(one.ratio))))
    rows = []
    for one in ordered[:MOST_OTHERS]:
        others: Mapping[str, str] = dict(one.others)
        levels = [others.get(name) for name in ("workload", "dataset", *names, "placement")]
        words = ", ".join(dict.fromkeys(level for level in levels if level and level != "none"))
        rows.append(FactorRow(one, words, marks_of(filters, others)))
    return rows, max(0, len(ordered) - MOST_OTHERS)


def p_text(p: float | None) -> str:
    """Three decimals."""
    return "not tested" if p is None else "under 0.001" if p < 0.001 else f"{p:.3f}"


def effect_tables(records: Sequence[Record], prior: NoisePrior = SHIPPED_PRIOR) -> list[Effects]:
    """One for each workload, data set and machine with at least two factors; none where only one varies."""
    found = samples(records)
    within = [name for name in WITHIN if any(name == factor for one in found[:1] for factor, _ in one.factors)]
    varies = [name for name in varying_factors(found) if name not in (*within, *APART)]
    if len(varies) < 2:
        return []
    several = [one for one in effects(found, within, prior) if sum(len(each.factors) == 1 for each in one.effects) > 1]
    return several[:MOST_TABLES]


def effects_shown(table: Effects) -> list[Effect]:
    """Those of single factors, and those of two that explain something."""
    return [one for one in table.effects[:MOST_EFFECTS] if one.share >= LEAST_SHARE or len(one.factors) == 1]


def levels_text(effect: Effect) -> str:
    """The levels that differ most from the average, as `ssd 0.80 (0.78 to 0.83)`."""
    most = sorted(effect.levels, key=lambda one: -abs(one.times - 1))[:MOST_LEVELS]
    words = [
        f"{' with '.join(one.levels)} {one.times:.2f}"
        + (f" ({one.interval.low:.2f} to {one.interval.high:.2f})" if one.interval else "")
        for one in effect.levels
        if one in most
    ]
    left_out = len(effect.levels) - len(words)
    return "; ".join([*words, *([f"and {left_out} more"] if left_out else [])])
