"""The work that a trial lost by its fault, from the history of its jobs."""

from collections import defaultdict
from collections.abc import Sequence

from assay.model.fault import Fault, FaultReport
from assay.model.record import JobRecord
from assay.model.task import TaskAttempt


def with_losses(
    report: FaultReport, fault: Fault, jobs: Sequence[JobRecord], attempts: Sequence[TaskAttempt]
) -> FaultReport:
    """With what the history of the trial's own jobs tells of the fault; it did not strike where all had ended then."""
    struck_ms = report.struck_ms
    if struck_ms is None or all(job.finished_ms <= struck_ms for job in jobs):
        return report.model_copy(update={"struck_ms": None})
    job_ids = {job.id for job in jobs}
    by_task: dict[str, list[TaskAttempt]] = defaultdict(list)
    for attempt in attempts:
        if attempt.job in job_ids:
            by_task[attempt.task].append(attempt)
    lost = [
        attempt
        for attempts_of_task in by_task.values()
        for attempt in attempts_of_task
        if _is_lost(attempt, fault, struck_ms)
    ]
    again = [
        attempts_of_task
        for attempts_of_task in by_task.values()
        if any(attempt.started_ms >= struck_ms for attempt in _further(attempts_of_task))
    ]
    return report.model_copy(update={"lost_attempts": len(lost), "repeated_tasks": len(again)})


def _is_lost(attempt: TaskAttempt, fault: Fault, struck_ms: int) -> bool:
    """An attempt on the worker that did not end well, or not for good, after the fault struck."""
    # On a second network a node is called by another name, which begins with its own.
    on_it = attempt.node == fault.worker or attempt.node.startswith(f"{fault.worker}-")
    unended = not attempt.finished_ms or attempt.finished_ms >= struck_ms
    return on_it and (attempt.output_lost or (attempt.state != "SUCCEEDED" and unended))


def _further(attempts: Sequence[TaskAttempt]) -> Sequence[TaskAttempt]:
    """Return a task's attempts after the first."""
    return sorted(attempts, key=lambda attempt: attempt.started_ms)[1:]
