"""The finer phases of task attempts, from their logs.

A reducer's shuffle is logged apart, into `syslog.shuffle` (yarn.app.mapreduce.shuffle.log.separate). Stamps are the
node's local time without its zone: the offset to UTC is taken as the quarter hour that brings the first line nearest to
the container's launch. The tasks of a job that ran inside its master share the master's log, one after the other.

Which line says what (Hadoop 3.4.2): MapTask "Processing split", "Spilling map output", "Finished spill N", "Starting
flush of map output"; Merger "Merging N sorted segments", one line for each further pass; Task "is done. And is in the
process of committing", "Task '...' done."; ReduceTask "Using ShuffleConsumerPlugin"; ShuffleSchedulerImpl "HOST freed
by fetcher#N in N ms"; EventFetcher "is interrupted" (all is fetched); MergeManagerImpl where a merge begins and ends.
The master's TaskImpl "Result of canCommit for ATTEMPT:false": the commit is put off, and the task sleeps for one second
(a constant of Task.commit) before it asks again. That happens when a task asks before the master has handled the event
that it is ready, and makes jobs of a second or two fall into two groups.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice, pairwise
from pathlib import Path
from typing import NamedTuple

from assay.engine.tasks import MapReduceAttempt, MapReducePhases
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import AssayError
from assay.model.running_cluster import ClusterNode
from assay.model.task import TaskHistory, covered_ms

_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) [A-Z]+ \[(.*?)\] ([\w.$]+): (.*)")
_ZONE_STEP_MS = 15 * 60 * 1000
# Threads write in turn, but each takes its time stamp before it waits for its turn.
_SLACK_MS = 1000
# The log begins after the launch, by the time that a JVM takes to start; the clocks of two nodes may differ a little.
_EARLIEST_MS, _LATEST_MS = -60_000, 5 * 60_000
_DONE = re.compile(r"Task '(\w+)' done\.")


class LogLine(NamedTuple):
    """One stamped line: `logger` is the class's own name, without its package."""

    time_ms: int
    thread: str
    logger: str
    message: str


def stamped(text: Iterable[str]) -> Iterator[LogLine]:
    """The stamped lines of a log (stack traces and the like are left out), in local time as if it were UTC."""
    for line in text:
        match = _LINE.match(line)
        if match:
            time = datetime.fromisoformat(match[1]).replace(tzinfo=UTC)
            yield LogLine(round(time.timestamp() * 1000), match[2], match[3].rpartition(".")[2], match[4])


def merged(logs: Sequence[Sequence[LogLine]]) -> list[LogLine]:
    """Several logs of one process as one. Raises AssayError where a log's times run backwards."""
    for log in logs:
        latest = 0
        for line in log:
            if line.time_ms < latest - _SLACK_MS:
                raise AssayError(f"its time stamps run backwards by {(latest - line.time_ms) / 1000:.1f} s")
            latest = max(latest, line.time_ms)
    return sorted((line for log in logs for line in log), key=lambda line: line.time_ms)


def section(lines: Sequence[LogLine], attempt: str) -> list[LogLine]:
    """An attempt's own part: after the end of the attempt before it, up to its own end."""
    ours: list[LogLine] = []
    for line in lines:
        ours.append(line)
        done = _DONE.match(line.message) if line.logger == "Task" else None
        if done and done[1] == attempt:
            return ours
        if done:
            ours = []
    return ours


def in_utc(lines: Sequence[LogLine], started_ms: int) -> list[LogLine]:
    """Convert lines to UTC. Raises AssayError where no whole offset brings the first near the container's launch."""
    if not lines:
        return []
    offset_ms = round((lines[0].time_ms - started_ms) / _ZONE_STEP_MS) * _ZONE_STEP_MS
    late_ms = lines[0].time_ms - offset_ms - started_ms
    if not _EARLIEST_MS <= late_ms <= _LATEST_MS:
        raise AssayError(f"its first time stamp lies {late_ms / 1000:.0f} s from the container's launch")
    return [line._replace(time_ms=line.time_ms - offset_ms) for line in lines]


PhaseInterval = tuple[int, int]

_FREED = re.compile(r".* freed by \S+ in (\d+)ms")
_LOST_HOST = re.compile(r"Failed to connect to .* with (\d+) map outputs")
_IN_MEMORY = "InMemoryMerger"
_MERGE_BEGINS = ("Initiating in-memory merge", "Initiating Memory-to-Memory merge", "OnDiskMerger: We have")
_MERGE_ENDS = re.compile(r"\S+ (Merge of the|Memory-to-Memory merge of the|Finished merging) \d+ ")
_MEMORY_SPILL = re.compile(r"\S+ Merge of the \d+ |Merged ")
# A task's clock, its node's, and the master's that stamped its launch are read in turn.
_DISORDER_MS = 1000


def phases_of(attempt: MapReduceAttempt, logs: Sequence[Sequence[LogLine]]) -> MapReducePhases:
    """The phases that an attempt's logs tell. Raises AssayError with the reason when they make no sense."""
    lines = in_utc(section(merged(logs), attempt.attempt), attempt.started_ms)
    return _map(attempt, lines) if attempt.stage == "map" else _reduce(attempt, lines)


def _map(attempt: MapReduceAttempt, lines: Sequence[LogLine]) -> MapReducePhases:
    begun = _first(lines, "MapTask", "Processing split")
    finished = _times(lines, "MapTask", "Finished spill")
    counts = MapReducePhases(
        job=attempt.job, attempt=attempt.attempt, stage="map", start_s=_seconds(attempt.started_ms, begun),
        spills=len(finished), merge_passes=max((passes for _, passes in _passes(lines)), default=0),
    )  # fmt: skip
    worked, done = _ends(attempt, lines)
    if begun is None or worked is None:
        return counts
    flushed = _first(lines, "MapTask", "Starting flush")
    spilt = None if flushed is None else max([flushed, *finished])
    mapped = worked if flushed is None else flushed
    _check_order(attempt.started_ms, begun, flushed, spilt, worked, done)
    during = list(zip(_times(lines, "MapTask", "Spilling map output"), finished, strict=False))
    return counts.model_copy(update={
        "map_s": _seconds(begun, mapped), "final_spill_s": _seconds(flushed, spilt),
        "merge_s": _seconds(spilt, worked), "commit_s": _seconds(worked, done),
        "spill_s": None if flushed is None else covered_s(during, (begun, mapped)),
    })  # fmt: skip


def _reduce(attempt: MapReduceAttempt, lines: Sequence[LogLine]) -> MapReducePhases:
    begun = _first(lines, "ReduceTask", "Using ShuffleConsumerPlugin")
    merges = _passes(lines)
    spills = [line for line in lines if line.logger == "MergeManagerImpl" and _MEMORY_SPILL.match(line.message)]
    # As FAILED_SHUFFLE counts: each map output of a host that can't be reached, and each that came broken.
    fetcher = [line.message for line in lines if line.logger == "Fetcher"]
    lost = map(_LOST_HOST.match, fetcher)
    broken = [message for message in fetcher if message.startswith("copyMapOutput failed")]
    counts = MapReducePhases(
        job=attempt.job, attempt=attempt.attempt, stage="reduce", start_s=_seconds(attempt.started_ms, begun),
        spills=len(spills), merge_passes=sum(passes for _, passes in merges),
        failed_fetches=sum(int(host[1]) for host in lost if host)
        + sum(message.count("attempt_") for message in broken),
    )  # fmt: skip
    worked, done = _ends(attempt, lines)
    # History has both by the same clock; the log stands in where it does not.
    fetched = attempt.shuffle_finished_ms or _first(lines, "EventFetcher", "EventFetcher is interrupted")
    combined = attempt.merge_finished_ms or (merges[-1][0] if merges else None)
    if begun is None or worked is None or fetched is None or combined is None:
        return counts
    _check_order(attempt.started_ms, begun, fetched, combined, worked, done)
    freed = ((line, _FREED.match(line.message)) for line in lines if line.logger == "ShuffleSchedulerImpl")
    fetches = [(line.time_ms - int(match[1]), line.time_ms) for line, match in freed if match]
    return counts.model_copy(update={
        "shuffle_s": _seconds(begun, fetched), "merge_s": _seconds(fetched, combined),
        "reduce_s": _seconds(combined, worked), "commit_s": _seconds(worked, done),
        "fetch_s": covered_s(fetches, (begun, fetched)) if fetches else None,
        "background_merge_s": covered_s(_background_merges(lines), (begun, worked)),
    })  # fmt: skip


def covered_s(intervals: Iterable[PhaseInterval], window: PhaseInterval) -> float:
    """Seconds of a window (both in ms) in which at least one of the intervals was under way."""
    return covered_ms((max(begin, window[0]), min(end, window[1])) for begin, end in intervals) / 1000


def _ends(attempt: MapReduceAttempt, lines: Sequence[LogLine]) -> tuple[int | None, int | None]:
    """When its work was done, and when that was committed. Raises AssayError when a log breaks off before its task."""
    worked = _first(lines, "Task", f"Task:{attempt.attempt} is done.")
    done = _first(lines, "Task", f"Task '{attempt.attempt}' done.")
    if attempt.state == "SUCCEEDED" and done is None:
        raise AssayError("it breaks off before its task's end")
    return worked, done


def _passes(lines: Sequence[LogLine]) -> list[tuple[int, int]]:
    """The merges that read files: when the last pass of each began (ms), and how many passes it took."""
    merges: list[tuple[int, int]] = []
    under_way: dict[str, int] = {}
    for line in lines:
        if line.logger == "MergeManagerImpl" and line.message.startswith("Merged ") and merges:
            merges.pop()  # that one was of memory, and is a spill
        if line.logger != "Merger" or line.thread.startswith(_IN_MEMORY):
            continue
        begins = line.message.endswith("sorted segments")
        under_way[line.thread] = 0 if begins else under_way.get(line.thread, 0) + 1
        if line.message.startswith("Down to the last merge-pass"):
            merges.append((line.time_ms, under_way[line.thread]))
    return merges


def _background_merges(lines: Sequence[LogLine]) -> list[PhaseInterval]:
    begun: dict[str, int] = {}
    intervals = []
    for line in lines:
        if line.logger != "MergeManagerImpl":
            continue
        if line.message.startswith(_MERGE_BEGINS):
            begun[line.thread] = line.time_ms
        elif _MERGE_ENDS.match(line.message) and line.thread in begun:
            intervals.append((begun.pop(line.thread), line.time_ms))
    return intervals


def _check_order(*times_ms: int | None) -> None:
    known = [time for time in times_ms if time is not None]
    back_ms = max((before - after for before, after in pairwise(known)), default=0)
    if back_ms > _DISORDER_MS:
        raise AssayError(f"its phases are out of order by {back_ms / 1000:.1f} s: a clock was set, or clocks disagree")


def _seconds(begin_ms: int | None, end_ms: int | None) -> float | None:
    return None if begin_ms is None or end_ms is None else max(0, end_ms - begin_ms) / 1000


def _first(lines: Sequence[LogLine], logger: str, message: str) -> int | None:
    return next(iter(_times(lines, logger, message)), None)


def _times(lines: Sequence[LogLine], logger: str, message: str) -> list[int]:
    return [line.time_ms for line in lines if line.logger == logger and line.message.startswith(message)]


_FILES = ("syslog", "syslog.shuffle")
_MASTER = "000001"
_PUT_OFF = re.compile(r"Result of canCommit for (\w+):false")
# In a job of that length the second is a tenth.
_SHORT_S = 10
_APPLICATION = re.compile(r"container_(?:e\d+_)?(\d+_\d+)_\d+_\d+")
# A task that logs that much is no longer measured for its storage; reading it would take seconds.
_LONGEST_BYTES = 64 << 20
_WHY = "their finer phases, spills and merge passes are missing; what history and counters tell is there"


def read_phases(nodes: Sequence[ClusterNode], attempts: Sequence[MapReduceAttempt]) -> TaskHistory:
    """The finer phases of these attempts.

    Never raises for a log: what can't be read or makes no sense has no phases, and a Doubt says why.
    """
    if not any(node.container_logs for node in nodes):
        elsewhere = TASK_LOGS_ELSEWHERE.doubt("the tasks' logs are on the nodes of an existing cluster")
        return TaskHistory(doubts=(elsewhere,) if attempts else ())
    phases: list[MapReducePhases] = []
    missing: list[str] = []
    unclear: dict[str, str] = {}
    read: dict[str, list[list[LogLine]]] = {}
    put_off = _Masters(nodes).put_off
    for attempt in sorted(attempts, key=lambda candidate: candidate.container):
        try:
            if attempt.container not in read:
                # Only tasks that ran inside their job's master share a log: never is more than one job's kept.
                read = {attempt.container: _read(nodes, attempt.container)}
            if any(read[attempt.container]):
                phase = phases_of(attempt, read[attempt.container])
                phases.append(phase.model_copy(update={"commits_put_off": put_off(attempt)}))
            elif attempt.state == "SUCCEEDED":  # one that was killed may never have begun to log
                missing.append(attempt.attempt)
        except (AssayError, OSError, ValueError) as error:
            unclear[attempt.attempt] = str(error)
    doubts = []
    if missing:
        loss = f"{len(missing)} of {len(attempts)} task attempts left no log, the first {missing[0]}"
        doubts.append(TASK_LOG_MISSING.doubt(loss))
    for attempt_id, reason in islice(unclear.items(), 1):
        of = f"{len(unclear)} of {len(attempts)} task attempts"
        doubts.append(TASK_LOG_UNCLEAR.doubt(f"the logs of {of} can't be used, as that of {attempt_id}: {reason}"))
    doubts += _short_jobs_put_off(attempts, phases)
    return TaskHistory(phases=tuple(phases), doubts=tuple(doubts))


class _Masters:
    """The logs of the jobs' application masters, each read once."""

    def __init__(self, nodes: Sequence[ClusterNode]) -> None:
        self._nodes = nodes
        self._put_off: dict[str, Counter[str] | None] = {}

    def put_off(self, attempt: MapReduceAttempt) -> int | None:
        """How often an attempt's commit was put off; None where the log of its job's master can't be read."""
        master = f"{attempt.container.rpartition('_')[0]}_{_MASTER}"
        if master not in self._put_off:
            try:
                log = [line for part in _read(self._nodes, master) for line in part]
            except (AssayError, OSError, ValueError):
                log = []
            refused = (_PUT_OFF.match(line.message) for line in log if line.logger == "TaskImpl")
            self._put_off[master] = Counter(match[1] for match in refused if match) if log else None
        counts = self._put_off[master]
        return None if counts is None else counts[attempt.attempt]


def _short_jobs_put_off(attempts: Sequence[MapReduceAttempt], phases: Sequence[MapReducePhases]) -> Iterator[Doubt]:
    """A doubt about the jobs in whose time such a second is a large part."""
    late = Counter[str]()
    for phase in phases:
        late[phase.job] += phase.commits_put_off or 0
    for job, times in sorted((+late).items()):
        job_attempts = [attempt for attempt in attempts if attempt.job == job]
        took_s = (
            max(attempt.finished_ms for attempt in job_attempts) - min(attempt.started_ms for attempt in job_attempts)
        ) / 1000
        if took_s < _SHORT_S:
            yield COMMITS_PUT_OFF.doubt(
                f"{job}, whose tasks took {took_s:.1f} s from the first start to the last end, slept for 1 s before a "
                f"commit, {times} time{'s' if times > 1 else ''}"
            )


def _read(nodes: Sequence[ClusterNode], container: str) -> list[list[LogLine]]:
    """The log of a container, which ran on one of the nodes (`application_*/container_*/syslog`)."""
    application = _APPLICATION.fullmatch(container)
    if application is None:
        return []
    read = []
    for node, _, folder in nodes:
        for name in _FILES if folder else ():
            with suppress(FileNotFoundError):
                file = Path(folder or "", f"application_{application[1]}", container, name)
                text = node.read(file, _LONGEST_BYTES + 1)
                if len(text) > _LONGEST_BYTES:
                    raise AssayError(f"its log has more than {_LONGEST_BYTES >> 20} MiB")
                read.append(list(stamped(text.splitlines())))
    return read


COMMITS_PUT_OFF = doubt_kind(
    "commits-put-off", "task", why="equal trials of such a job differ by a whole second, whatever the drive",
    instrument="task-logs",
    when="a job of less than 10 s slept before a commit: its task had asked before the master was ready",
    cure="make its data larger, so that the second is a small part of its time",
)  # fmt: skip
TASK_LOGS_ELSEWHERE = doubt_kind(
    "task-logs-elsewhere", "task", why=_WHY, instrument="task-logs",
    when="the tasks' logs are on the nodes of an existing cluster",
    cure="run the experiment on an embedded cluster to see them",
)  # fmt: skip
TASK_LOG_MISSING = doubt_kind(
    "task-log-missing", "task", why=_WHY, instrument="task-logs", when="task attempts left no log",
    cure="keep yarn.nodemanager.log.retain-seconds longer than a trial, and leave yarn.log-aggregation-enable off",
)  # fmt: skip
TASK_LOG_UNCLEAR = doubt_kind(
    "task-log-unclear", "task", why=_WHY, instrument="task-logs", when="logs of task attempts can't be used",
    cure="look at that log; check that nothing sets the clock while a trial runs",
)  # fmt: skip
