"""What faults cost: the time of trials with one against those without, and the work that they lost."""

from collections import defaultdict
from collections.abc import Sequence

from assay.model.base import Frozen
from assay.model.doubt import Outcome
from assay.model.fault import NO_FAULT, Fault, FaultReport
from assay.model.record import JobRecord
from assay.model.task import TaskAttempt
from assay.model.trial_summary import TrialSummary
from assay.stats.comparison import Comparison
from assay.stats.sample import Levels, by_levels, has_failed

FAULT = "fault"
"""The factor."""


def with_losses(
    report: FaultReport, fault: Fault, jobs: Sequence[JobRecord], attempts: Sequence[TaskAttempt]
) -> FaultReport:
    """With what the history of the trial's own jobs tells of the fault; it did not strike where all had ended then."""
    struck_ms = report.struck_ms
    if struck_ms is None or all(job.finished_ms <= struck_ms for job in jobs):
        return report.model_copy(update={"struck_ms": None})
    job_ids = {job.id for job in jobs}
    starts_ms: dict[str, list[int]] = defaultdict(list)
    lost = 0
    for attempt in attempts:
        if attempt.job in job_ids:
            starts_ms[attempt.task].append(attempt.started_ms)
            lost += _is_lost(attempt, fault, struck_ms)
    again = sum(len(of_task) > 1 and max(of_task) >= struck_ms for of_task in starts_ms.values())
    return report.model_copy(update={"lost_attempts": lost, "repeated_tasks": again})


def _is_lost(attempt: TaskAttempt, fault: Fault, struck_ms: int) -> bool:
    """An attempt on the worker that did not end well, or not for good, after the fault struck."""
    # On a second network a node is called by another name, which begins with its own.
    on_it = attempt.node == fault.worker or attempt.node.startswith(f"{fault.worker}-")
    unended = not attempt.finished_ms or attempt.finished_ms >= struck_ms
    return on_it and (attempt.output_lost or (attempt.state != "SUCCEEDED" and unended))


class FaultCost(Frozen):
    """What one fault did to equal trials: `comparison` is with those without a fault, None where there are none.

    Of `trials` it `struck` so many; of those so many `failed`, or a job of several in them, or have a `wrong` output,
    which count in no time. The losses are the most of any trial, None where no trial tells.
    """

    level: str
    others: Levels
    trials: int
    struck: int
    failed: int
    wrong: int
    lost_attempts: int | None
    repeated_tasks: int | None
    copies_lost: int | None
    under_replicated_blocks: int | None
    missing_blocks: int | None
    missing_lines: int | None
    base_s: float | None
    seconds: float | None
    comparison: Comparison | None


def fault_costs(
    summaries: Sequence[TrialSummary], compared: Sequence[Comparison], times: "dict[Levels, float]"
) -> list[FaultCost]:
    """One for each fault and combination of all other factors, in the order of their levels.

    `compared` are all comparisons that were made of the same trials, `times` the combinations' times by all factors.
    """
    grouped: dict[Levels, list[TrialSummary]] = {}
    for summary in summaries:
        factors = summary.trial.factors
        if factors[FAULT] != NO_FAULT and summary.trial.is_repetition:
            others = tuple((name, level) for name, level in factors.items() if name != FAULT)
            grouped.setdefault((*others, (FAULT, factors[FAULT])), []).append(summary)
    return [_cost(levels[-1][1], levels[:-1], grouped[levels], compared, times) for levels in by_levels(grouped)]


def _cost(
    level: str,
    others: Levels,
    summaries: Sequence[TrialSummary],
    compared: Sequence[Comparison],
    times: "dict[Levels, float]",
) -> FaultCost:
    known = [
        comparison
        for comparison in compared
        if (comparison.factor, comparison.base, comparison.level) == (FAULT, NO_FAULT, level)
        and set(others) <= set(comparison.others)
    ]
    struck = [summary for summary in summaries if not summary.missed_fault]
    reports = [summary.fault for summary in struck if summary.fault]
    copies = [report.redundancy for report in reports if report.redundancy]
    return FaultCost(
        level=level, others=others, trials=len(summaries), struck=len(struck),
        failed=sum(map(has_failed, struck)),
        wrong=sum(summary.outcome is Outcome.FAIL and not has_failed(summary) for summary in struck),
        lost_attempts=_most([report.lost_attempts for report in reports]),
        repeated_tasks=_most([report.repeated_tasks for report in reports]),
        copies_lost=_most([copy.copies_lost for copy in copies]),
        under_replicated_blocks=_most([copy.under_replicated_blocks for copy in copies]),
        missing_blocks=_most([copy.missing_blocks for copy in copies]),
        missing_lines=_most([report.kept.missing for report in reports if report.kept]),
        base_s=times.get(_key(others, NO_FAULT)), seconds=times.get(_key(others, level)),
        comparison=known[0] if len(known) == 1 else None,
    )  # fmt: skip


def _key(others: Levels, level: str) -> Levels:
    return tuple(sorted((*others, (FAULT, level))))


def _most(counts: Sequence[int | None]) -> int | None:
    return max((count for count in counts if count is not None), default=None)
