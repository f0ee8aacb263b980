"""What each factor does over the whole plan, as rows of a table; for plans in which several vary."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.noise import SHIPPED_PRIOR, NoisePrior
from assay.model.record import Record
from assay.stats.effect import Effects, LevelEffect, effects
from assay.stats.sample import APART, samples, varying_factors

WITHIN = ("workload", "dataset", "machine")
MOST_EFFECTS, MOST_LEVELS, MOST_TABLES = 10, 8, 12
LEAST_SHARE = 0.005


class EffectLine(NamedTuple):
    """One factor, or two together: its share of all variation, and what its levels do."""

    name: str
    share: str
    levels: str


class EffectTable(NamedTuple):
    """Those within one workload and data set, and what could not be told."""

    title: str
    lines: list[EffectLine]
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
            EffectLine(" and ".join(each.factors), _percent(each.share), _levels(each.levels))
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
