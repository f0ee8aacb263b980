"""The logs of a job's containers, where the NodeManager's log directory can be read."""

import re
from collections.abc import Sequence
from pathlib import Path

from assay.engine.phases import phases_of
from assay.engine.task_log import LogLine, stamped
from assay.model.doubt import Doubt
from assay.model.errors import AssayError
from assay.model.record import TaskAttempt
from assay.model.task import TaskHistory, TaskPhases

_FILES = ("syslog", "syslog.shuffle")
_APPLICATION = re.compile(r"container_(?:e\d+_)?(\d+_\d+)_\d+_\d+")
# A task that logs that much is no longer measured for its storage; reading it would take seconds.
_LONGEST_BYTES = 64 << 20
_WHY = "their finer phases, spills and merge passes are missing; what history and counters tell is there"


def read_phases(logs: Path | None, attempts: Sequence[TaskAttempt]) -> TaskHistory:
    """The finer phases of these attempts.

    `logs` is the NodeManager's log directory (`application_*/container_*/syslog` lie there), None where it is out of
    reach. Never raises for a log: what can't be read or makes no sense has no phases, and a Doubt says why.
    """
    if logs is None:
        return TaskHistory(doubts=(_elsewhere(),) if attempts else ())
    phases: list[TaskPhases] = []
    missing: list[str] = []
    unclear: dict[str, str] = {}
    read: dict[str, list[list[LogLine]]] = {}
    for attempt in sorted(attempts, key=lambda one: one.container):
        try:
            if attempt.container not in read:
                # Only tasks that ran inside their job's master share a log: never is more than one job's kept.
                read = {attempt.container: _read(logs, attempt.container)}
            if any(read[attempt.container]):
                phases.append(phases_of(attempt, read[attempt.container]))
            elif attempt.state == "SUCCEEDED":  # one that was killed may never have begun to log
                missing.append(attempt.attempt)
        except (AssayError, OSError, ValueError) as error:
            unclear[attempt.attempt] = str(error)
    return TaskHistory(phases=tuple(phases), doubts=(*_missing(missing, attempts), *_unclear(unclear, attempts)))


def _read(logs: Path, container: str) -> list[list[LogLine]]:
    application = _APPLICATION.fullmatch(container)
    if application is None:
        return []
    folder = logs / f"application_{application[1]}" / container
    return [_lines(folder / name) for name in _FILES if (folder / name).is_file()]


def _lines(file: Path) -> list[LogLine]:
    size = file.stat().st_size
    if size > _LONGEST_BYTES:
        raise AssayError(f"its log has {size >> 20} MiB")
    with file.open(encoding="utf-8", errors="replace") as text:
        return list(stamped(text))


def _elsewhere() -> Doubt:
    return Doubt(
        kind="task-logs-elsewhere",
        what="the tasks' logs lie on the nodes of an existing cluster",
        why=_WHY,
        cure="run the experiment on an embedded cluster to see them",
    )


def _missing(missing: Sequence[str], attempts: Sequence[TaskAttempt]) -> tuple[Doubt, ...]:
    if not missing:
        return ()
    return (
        Doubt(
            kind="task-log-missing",
            what=f"{len(missing)} of {len(attempts)} task attempts left no log, the first {missing[0]}",
            why=_WHY,
            cure="keep yarn.nodemanager.log.retain-seconds longer than a trial, and leave "
            "yarn.log-aggregation-enable off",
        ),
    )


def _unclear(unclear: dict[str, str], attempts: Sequence[TaskAttempt]) -> tuple[Doubt, ...]:
    if not unclear:
        return ()
    attempt, reason = next(iter(unclear.items()))
    return (
        Doubt(
            kind="task-log-unclear",
            what=f"the logs of {len(unclear)} of {len(attempts)} task attempts can't be used, as that of {attempt}: "
            f"{reason}",
            why=_WHY,
            cure="look at that log; see that nothing sets the clock while a trial runs",
        ),
    )
