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
from assay.stats.threshold import predicted_verdict


class PredictedLevel(Frozen):
    """What a `predictor` says of one `level` of a decision's factor, and on what `basis`.

    `elapsed_s` is the jobs' time in seconds, `saving` the share of the base's measured time that it saves: with both
    their errors, and without an interval where the base's time has none. `measured_s` is the level's own measured time
    in seconds, None where it did not run. `verdict` is by the interval of the saving where the predictor judges at all,
    but for a `reason` of the predictor's that nothing is known; `surer` is the predictor's.
    """

    predictor: str
    level: str
    basis: str
    elapsed_s: Estimate
    saving: Estimate | None
    measured_s: float | None = None
    verdict: str = ""
    reason: str = ""
    surer: str = ""


def beside(
    plan: Plan, decisions: Sequence[Decision], summaries: Sequence[TrialSummary], predicted: Sequence[TrialSummary]
) -> list[tuple[PredictedLevel, ...]]:
    """For each decision what is predicted of its factor, with all other factors as they are there."""
    machines = Trials.of(summaries).machine_by_trial
    levels: list[list[PredictedLevel]] = [[] for _ in decisions]
    for summary in predicted:
        machine = (MACHINE, machines[summary.trial.id])
        for decision, of_decision in zip(decisions, levels, strict=True):
            (others, level), (like_others, like_level) = (
                others_and_level((*factors.items(), machine), decision.factor, plan.base)
                for factors in (summary.factors, summary.trial.factors)
            )
            if dict(others) == decision.levels:
                like = like_level if dict(like_others) == decision.levels else None
                of_decision.append(_level(summary, level, like, decision))
    return list(map(tuple, levels))


def _level(summary: TrialSummary, level: str, like: str | None, decision: Decision) -> PredictedLevel:
    """What is said of a level; `like` is the level of the trial that it is like, None of another decision's trial."""
    saving: Estimate | None = None
    verdict = summary.verdict
    ran = {placement.placement: placement.elapsed_s.value for placement in decision.placements}
    if decision.placements:
        base, from_base = decision.placements[0].elapsed_s, like == decision.placements[0].placement
        ratio, interval = ratio_to(summary, base.value, base.low, base.high, from_base=from_base)
        saving = Estimate(
            value=1 - ratio, low=1 - interval.high if interval else None, high=1 - interval.low if interval else None
        )
        if verdict and not (verdict == "not known" and summary.reason):
            verdict = predicted_verdict(saving, decision.worth.of(level))
    return PredictedLevel(
        predictor=summary.predictor,
        level=level,
        basis=summary.basis,
        elapsed_s=Estimate(value=summary.elapsed_s or 0.0, low=summary.low_s, high=summary.high_s),
        saving=saving,
        measured_s=ran.get(level),
        verdict=verdict,
        reason=summary.reason if verdict == summary.verdict else "",
        surer=summary.surer,
    )
