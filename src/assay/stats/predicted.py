"""Predicted trials beside a run's decisions.

They are compared with what was measured, and nothing measured is compared with them: no verdict, ratio, noise or
interval of measured trials comes from here.
"""

from collections.abc import Sequence

from assay.model.base import Frozen
from assay.model.trial import Plan
from assay.model.trial_summary import TrialSummary
from assay.stats.changes import others_and_level
from assay.stats.decision import Decision
from assay.stats.estimate import Estimate
from assay.stats.sample import MACHINE, Trials
from assay.stats.summary import ratio_to


class PredictedLevel(Frozen):
    """What a `predictor` says of one `level` of a decision's factor, and on what `basis`.

    `elapsed_s` is the jobs' time in seconds, `saving` the share of the base's measured time that it saves: with both
    their errors, and without an interval where the base's time has none. `measured_s` is the level's own measured time
    in seconds, None where it did not run. `verdict` and `surer` are the predictor's.
    """

    predictor: str
    level: str
    basis: str
    elapsed_s: Estimate
    saving: Estimate | None
    measured_s: float | None = None
    verdict: str = ""
    surer: str = ""


def beside(
    plan: Plan, decisions: Sequence[Decision], summaries: Sequence[TrialSummary], predicted: Sequence[TrialSummary]
) -> list[tuple[PredictedLevel, ...]]:
    """For each decision what is predicted of its factor, with all other factors as they are there."""
    machines = Trials.of(summaries).machine_by_trial
    levels: list[list[PredictedLevel]] = [[] for _ in decisions]
    for summary in predicted:
        factors = (*summary.factors.items(), (MACHINE, machines[summary.trial.id]))
        for decision, of_decision in zip(decisions, levels, strict=True):
            others, level = others_and_level(factors, decision.factor, plan.base)
            if dict(others) == decision.levels:
                of_decision.append(_level(summary, level, decision))
    return list(map(tuple, levels))


def _level(summary: TrialSummary, level: str, decision: Decision) -> PredictedLevel:
    saving = None
    ran = {placement.placement: placement.elapsed_s.value for placement in decision.placements}
    if decision.placements:
        base = decision.placements[0].elapsed_s
        ratio, interval = ratio_to(summary, base.value, base.low, base.high)
        saving = Estimate(
            value=1 - ratio, low=1 - interval.high if interval else None, high=1 - interval.low if interval else None
        )
    return PredictedLevel(
        predictor=summary.predictor,
        level=level,
        basis=summary.basis,
        elapsed_s=Estimate(value=summary.elapsed_s or 0.0, low=summary.low_s, high=summary.high_s),
        saving=saving,
        measured_s=ran.get(level),
        verdict=summary.verdict,
        surer=summary.surer,
    )
