"""A run in a few words and numbers: what lists of runs show, and what scripts get."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from assay.model.base import Frozen
from assay.model.doubt import Doubt, Outcome, decisive
from assay.report.analysis import RunAnalysis, RunData
from assay.report.answer import OUTCOMES, Answer, deciding_level, outcome_of
from assay.report.words import job_name, percent
from assay.stats.decision import Decision

NO_TRIAL, NO_TRIAL_READ, NOTHING_COMPARED = "no trial has finished", "no trial can be read", "nothing compared"


class AnswerSummary(Frozen):
    """One answer of a run."""

    subject: str
    """The workload and its data set, and what else tells the run's answers apart."""
    verdict: str
    """`worth it` or `not worth it`; of faults `costs time` or `no significant cost`; of a drive and its twin
    `within the goal` or `beyond the goal`; of all of them `not known yet`."""
    headline: str
    """The verdict in a sentence."""
    base: str | None
    """What the others are compared with: a placement, or the level of another factor."""
    level: str | None
    """What the verdict is about: the fastest of the others, of faults the slowest; null where there is no other."""
    saves_share: float | None
    """The share of the base's time that it saves; below 0 it takes more."""
    saves_share_low: float | None
    """The lower end of the 95 % interval of that; null without repetitions."""
    saves_share_high: float | None
    """The upper end."""


class RunSummary(Frozen):
    """A run: what was planned, what has run, and what came out."""

    folder: Path
    """The run's folder, as it was named."""
    experiment: str
    """The experiment's name."""
    began: datetime | None
    """When its first trial began; null before that."""
    planned: int
    """The trials of the plan."""
    finished: int
    """The trials with a readable record, failed ones included."""
    failed: int
    """Those of them that failed, or whose output is wrong."""
    unchecked: int
    """Those of them whose output nobody could check."""
    unreadable: int
    """The trials whose records can't be read."""
    answer: str
    """All answers in a few words."""
    answers: tuple[AnswerSummary, ...]
    """Each answer, in the order of the report."""
    doubts: tuple[Doubt, ...]
    """The doubts that can change an answer, the most severe first; of several of one kind the first."""


def summary_of(run: RunData, analysis: RunAnalysis) -> RunSummary:
    """Summarise a run that was read from its folder."""
    begun = [summary.began_ms for summary in run.trials if summary.began_ms]
    return RunSummary(
        folder=run.folder or Path(),
        experiment=run.plan.experiment,
        began=datetime.fromtimestamp(min(begun) / 1000, UTC) if begun else None,
        planned=len(run.plan.trials),
        finished=len(run.trials),
        failed=sum(summary.outcome not in {Outcome.PASS, Outcome.UNKNOWN} for summary in run.trials),
        unchecked=sum(summary.outcome is Outcome.UNKNOWN for summary in run.trials),
        unreadable=len(run.damaged),
        answer=answer_text(analysis.decisions) if run.trials else NO_TRIAL_READ if run.damaged else NO_TRIAL,
        answers=tuple(_answer(answer.decision, answer.words) for answer in analysis.answers),
        doubts=tuple(doubt for doubt, _ in decisive(analysis.doubts)),
    )


def answer_text(decisions: Sequence[Decision]) -> str:
    """`k-means: worth it (ssd saves 54 %)`, or of several `worth it in 3 of 8, not known yet in 5`."""
    compared = [decision for decision in decisions if len(decision.placements) > 1]
    if not compared:
        return NOTHING_COMPARED
    if len(compared) == 1:
        return f"{job_name(compared[0].levels)}: {outcome_of(compared[0])}{_change(compared[0])}"
    outcomes = [outcome_of(decision) for decision in compared]
    known = dict.fromkeys(outcome for decision in compared for outcome in OUTCOMES[decision.question])
    first, *others = [f"{outcome} in {outcomes.count(outcome)}" for outcome in known if outcome in outcomes]
    return ", ".join([f"{first} of {len(compared)}", *others])


def _change(decision: Decision) -> str:
    other = deciding_level(decision)
    if other is None or other.saving is None:
        return ""
    share = other.saving.value
    change = f"saves {percent(share)}" if share >= 0 else f"takes {percent(-share)} more"
    return f" ({other.placement} {change})"


def _answer(decision: Decision, answer: Answer) -> AnswerSummary:
    other = deciding_level(decision)
    saving = other.saving if other else None
    return AnswerSummary(
        subject=answer.subject,
        verdict=answer.verdict,
        headline=answer.headline,
        base=decision.placements[0].placement if decision.placements else None,
        level=other.placement if other else None,
        saves_share=saving.value if saving else None,
        saves_share_low=saving.low if saving else None,
        saves_share_high=saving.high if saving else None,
    )
