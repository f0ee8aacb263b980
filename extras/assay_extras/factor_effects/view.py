"""The effects of a run's factors as a section of its page, and in JSON."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.base import json_text
from assay.model.trial import SHIPPED_PRIOR, NoisePrior
from assay.model.trial_summary import TrialSummary
from assay.report.templates import template
from assay.report.words import shown_level
from assay.stats.sample import APART, samples, varying_factors
from assay_extras.factor_effects.effects import Effect, Effects, effects

WITHIN = ("workload", "dataset", "machine")
MOST_EFFECTS, MOST_LEVELS, MOST_TABLES = 10, 8, 12
LEAST_SHARE = 0.005


class EffectsView(NamedTuple):
    """A `SectionView`: one table for each workload, data set and machine; on the page alone, and in JSON."""

    tables: Sequence[Effects]
    repeated: bool
    """Whether any combination has several trials."""

    def summary_html(self) -> str:
        return ""

    def html(self) -> str:
        section = template("effects.html.j2", "assay_extras.factor_effects")
        return str(
            section.render(
                tables=self.tables, repeated=self.repeated, effects_shown=effects_shown, levels_text=levels_text
            )
        )

    def text(self) -> str:
        return ""

    def markdown(self) -> str:
        return ""

    def json(self) -> str:
        return json_text([table.model_dump(mode="json") for table in self.tables])


def effects_view(summaries: Sequence[TrialSummary], prior: NoisePrior = SHIPPED_PRIOR) -> EffectsView | None:
    """None where fewer than two factors vary."""
    finished = samples(summaries)
    within = [name for name in WITHIN if any(name == factor for trial in finished[:1] for factor, _ in trial.factors)]
    if len([name for name in varying_factors(finished) if name not in (*within, *APART)]) < 2:
        return None
    several = [
        effect
        for effect in effects(finished, within, prior)
        if sum(len(each.factors) == 1 for each in effect.effects) > 1
    ]
    repeated = len({trial.factors for trial in finished}) < len(finished)
    return EffectsView(several[:MOST_TABLES], repeated) if several else None


def effects_shown(table: Effects) -> list[Effect]:
    """Those of single factors, and those of two that explain something."""
    return [
        effect for effect in table.effects[:MOST_EFFECTS] if effect.share >= LEAST_SHARE or len(effect.factors) == 1
    ]


def levels_text(effect: Effect) -> str:
    """The levels that differ most from the average, as `ssd 0.80 (0.78 to 0.83)`."""
    most = sorted(effect.levels, key=lambda level: -abs(level.times - 1))[:MOST_LEVELS]
    phrases = [
        f"{' with '.join(map(shown_level, effect.factors, level.levels))} {level.times:.2f}"
        + (f" ({level.interval.low:.2f} to {level.interval.high:.2f})" if level.interval else "")
        for level in effect.levels
        if level in most
    ]
    left_out = len(effect.levels) - len(phrases)
    return "; ".join([*phrases, *([f"and {left_out} more"] if left_out else [])])
