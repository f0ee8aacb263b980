"""A Spark application's event log, read event by event: sums over its tasks are kept, and of a task four numbers.

Stages whose times overlap are one stage here: Spark runs stages at once that do not wait for one another, so that each
of these begins when the one before has ended.
"""

import math
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from operator import attrgetter
from pathlib import Path
from typing import Any

from assay.engine.directing import of_spark
from assay.engine.past.formats import BY_CONTAINERS, FORMS, Directing, PastForm
from assay.engine.past.job import (
    SUCCEEDED,
    OtherRule,
    PastJob,
    StageSums,
    Uncertain,
    Use,
    Work,
    by_host,
    is_unplaced,
    paths_in_store,
)
from assay.engine.past.spark_advice import OF_SPARK, RULES, taken_over
from assay.engine.past.spark_places import placed_by, shuffle_doubts, unplaced_shuffle
from assay.engine.past.spark_program import program_of
from assay.engine.past.task_times import (
    IMPOSSIBLE,
    SILENT,
    ReadSpan,
    called_together,
    computed_of,
    impossible_words,
    is_possible,
    overlap,
    skewed_words,
    sums_of,
    unknown_bytes,
)
from assay.engine.spark_log import (
    UNLIKE,
    Application,
    EventLog,
    is_head_of_event_log,
    is_log_name,
    is_rolled,
    opened_log,
    read_application,
)
from assay.engine.spark_persisted import MAY_BE_ON_DRIVES, ON_DRIVES
from assay.engine.spark_tasks import COMPUTE, FETCH, WRITE, SparkAttempt, stage_called
from assay.host.files import why
from assay.model.engine import JobReference
from assay.model.naming import bytes_text
from assay.model.task import covered_ms

SPARK = "spark"
_SETTINGS = frozenset({
    "dfs.blocksize", "dfs.replication", "spark.default.parallelism", "spark.driver.memory",
    "spark.dynamicAllocation.enabled", "spark.executor.cores", "spark.executor.memory", "spark.io.compression.codec",
    "spark.master", "spark.memory.fraction", "spark.memory.storageFraction", "spark.serializer",
    "spark.shuffle.compress", "spark.shuffle.spill.compress", "spark.sql.adaptive.enabled",
    "spark.sql.files.maxPartitionBytes", "spark.sql.shuffle.partitions", "spark.task.cpus", "spark.yarn.queue",
    "spark.yarn.scheduler.heartbeat.interval-ms",
})  # fmt: skip
"""The settings that are kept: ten thousand applications have to fit into memory."""
_HEARTBEAT_MS = 3000
"""At such intervals an application master asks for containers at the latest (Spark: ApplicationMaster)."""
_BACKLOG_S = 1.0
"""So long tasks wait before executors are asked for (spark.dynamicAllocation.schedulerBacklogTimeout)."""
_TOGETHER_MS = 10_000
"""Executors that come within such a time were asked for at once."""
_FILE_ACCESSES = 3
"""Of a task that writes shuffle files: the data, its index, and the names of both."""
_LONGEST_FETCH, _TICKS_MS = 1.05, 1000
"""So many times its run a task waits for what it fetches at most, by clocks of so many milliseconds."""
_BYTES = (
    "input_bytes", "output_bytes", "shuffle_read_remote_bytes", "shuffle_read_local_bytes", "shuffle_write_bytes",
    "spilled_disk_bytes", "shuffle_read_to_disk_bytes",
)  # fmt: skip
"""What an attempt moved, by what counts it."""
_moved = attrgetter(*_BYTES)
_MOST_TASKS = 1 << 26
"""Of a stage: a larger index is damaged."""
_MUCH_SHUFFLED, _LONG_WAIT = 500 * 10**9, 0.5
_MOVED_RULE, _WAIT_RULE = "over 500 GB", "waits over 50 %"
RECORDS_ALONE = "records are read or written of which Spark counts no bytes, as of a table"
_IS_KUBERNETES = re.compile(r"spark\.kubernetes\.").match
_POD_NAME = re.compile(r".+-exec-\d+")
"""A pod of an executor (Spark: KubernetesConf)."""
_ADDRESS = re.compile(r"\[?[0-9a-fA-F]*[:.][0-9a-fA-F:.]+\]?")
_OF_SESSIONS = re.compile(
    r"Spark[ -]?shell|PySparkShell|pyspark-shell|SparkR|sparklyr|Databricks Shell|Zeppelin.*|.*Toree.*|livy-session.*|"
    r"Thrift JDBC/ODBC Server|SparkSQL::.*|Spark Connect server|Jupyter.*|.*notebook.*|Hive on Spark.*",
    re.IGNORECASE,
)
"""Names that shells, notebooks and servers give to each of their sessions, whoever has it."""


class PastApplication(PastJob):
    """An application of Spark as its event log tells it."""

    @property
    def engine(self) -> str:
        """The engine that ran it."""
        return SPARK

    @property
    def cluster(self) -> str:
        """The address of the cluster that ran it."""
        return self.settings.get("spark.master", "")

    @property
    def owner(self) -> str:
        """Its user, where a shell, notebook or server gives its name to everybody's sessions."""
        return self.user if _OF_SESSIONS.fullmatch(self.name) else ""

    @property
    def fetching_phases(self) -> tuple[str, ...]:
        """The phases in which its tasks only fetch what others wrote."""
        return (FETCH,)

    @property
    def polls_s(self) -> float:
        """Waits for executors: their containers are asked for with heartbeats of the application master."""
        beat_s = self.number("spark.yarn.scheduler.heartbeat.interval-ms", _HEARTBEAT_MS) / 1000
        grows = self.setting("spark.dynamicAllocation.enabled", "false").lower() == "true"
        return min(self.elapsed_s, self.container_waits * (beat_s + (_BACKLOG_S if grows else 0.0)))

    def waiting_ms(self, stage: StageSums) -> float | None:
        """Fetch wait, which other nodes' blocks have alone and the node's own are taken to have as much, and writing.

        None where tasks spilled, which no timer counts, and on a single node, whose blocks are fetched without waits.
        """
        nodes = len(self.nodes)
        if nodes < 2 or stage.whole.local_read:
            return None
        return stage.phases_ms.get(FETCH, 0) * nodes / (nodes - 1) + stage.phases_ms.get(WRITE, 0)

    @property
    def local_peak(self) -> int:
        """All shuffle files, which stay until the application ends or forgets their shuffle, and the most spills."""
        files = sum(stage.busiest.map_output_on_disk for stage in self.stages)
        return files + max((stage.busiest.local_read for stage in self.stages), default=0)

    def uses(self, stage: StageSums) -> Iterator[Use]:
        """What a stage's phases move on the drives of each role, on the node that moves most.

        Where a shuffle has few partitions, a task writes a file for each of them and then copies them into one (Spark:
        BypassMergeSortShuffleWriter), which the log does not tell: so all are taken to be written twice and read once.
        """
        busiest, whole = stage.busiest, stage.whole
        tasks = max(1, whole.tasks)
        yield Use("input", COMPUTE, "read", busiest.store_read, None, "input read")
        piece = whole.fetched / whole.fetches if whole.fetches else None
        yield Use("intermediate", FETCH, "read", self.served(stage), piece, "shuffle blocks fetched from it")
        written = busiest.map_output_on_disk
        if written:
            files = f"shuffle files of {busiest.tasks:,} task{'' if busiest.tasks == 1 else 's'}"
            yield Use("intermediate", WRITE, "read", 0, None, files, _FILE_ACCESSES * busiest.tasks)
            each = whole.map_output_on_disk / tasks
            yield Use(
                "intermediate", WRITE, "write", 2 * written, each, "shuffle blocks written, and merged into files"
            )
            yield Use("intermediate", WRITE, "read", written, each, "shuffle blocks read to be merged")
        spill = whole.local_read / tasks
        yield Use("intermediate", COMPUTE, "write", busiest.local_read, spill, "spills and large blocks written")
        yield Use("intermediate", COMPUTE, "read", busiest.local_read, spill, "spills and large blocks read again")
        yield Use("output", COMPUTE, "write", self.copied(stage), None, "output written, with its copies")

    @property
    def other_rules(self) -> tuple[OtherRule, ...]:
        """Two rules: shuffle and spill of over 500 GB; fetch wait of over 50 % of the run of the tasks that fetch."""
        work = self.whole
        share = work.fetch_wait_ms / work.fetching_ms if work.fetching_ms else 0.0
        return (
            OtherRule(
                rule=_MOVED_RULE, asks=work.local_written > _MUCH_SHUFFLED, amount=bytes_text(work.local_written)
            ),
            OtherRule(rule=_WAIT_RULE, asks=share > _LONG_WAIT, amount=f"{100 * share:.0f} %"),
        )


def read_event_log(log: Path) -> PastApplication:
    """The application of an event log, a file or rolled folder. Never raises: one that can't be read says so."""
    reading = ApplicationReading(str(log))
    try:
        with ExitStack() as opened:
            return reading.read(opened_log(log, opened))
    except OSError as error:
        return reading.unread(f"it can't be read: {why(error)}")
    except ValueError as error:
        return reading.unread(f"it {error}")


class _Stage:
    """What is kept of a stage: begin, end and computing time of its attempts, whether each is needless, and sums."""

    def __init__(self) -> None:
        self.times_ms = array("q")
        self.nodes: dict[str, Work] = {}
        self.phases_ms: dict[str, int] = {}
        self.running_ms: dict[tuple[int, int, int], int] = {}
        """The starts of tasks that have not ended, by stage attempt, index and attempt."""
        self.silent: list[ReadSpan] = []
        """The attempts that did not end well and counted no byte."""
        self.impossible: list[ReadSpan] = []
        """Those whose counters can't be right."""
        self._done: dict[int, bytearray] = {}
        """By the attempt of the stage, or -1 for partitions, whose numbers all attempts share: 1 where one ended well.
        """
        self._ended: dict[tuple[int, int], bytearray] = {}
        """By the attempt of the stage and that of its task: a byte for each task, 1 where its end is known."""

    def is_repeated(self, stage_attempt: int, task: Mapping[str, Any]) -> bool:
        """Whether the end of an attempt, by its `Task Info`, has been told before."""
        self.running_ms.pop((stage_attempt, task["Index"], task["Attempt"]), None)
        return _marked(self._ended.setdefault((stage_attempt, task["Attempt"]), bytearray()), task["Index"])

    def note_done(self, stage_attempt: int, task: Mapping[str, Any]) -> bool:
        """A task ended well, by its `Task Info`: whether it had before."""
        partition = task.get("Partition ID", -1)
        by_partition = partition >= 0
        done = self._done.setdefault(-1 if by_partition else stage_attempt, bytearray())
        return _marked(done, partition if by_partition else task["Index"])

    @property
    def succeeded(self) -> int:
        """How many of its tasks ended well, each counted once."""
        return sum(map(sum, self._done.values()))

    def add(self, attempt: SparkAttempt, earliest_ms: int, *, impossible: bool, again: bool) -> None:
        """One more attempt that ended; if its own start can't be right, it waited since `earliest_ms` at most.

        `impossible` is whether its counters can't be right, and `again` whether its task had ended well before.
        """
        skewed = _is_skewed(attempt)
        begun_ms = min(earliest_ms, attempt.finished_ms) if skewed else attempt.started_ms
        length_ms = 0 if skewed else attempt.finished_ms - attempt.started_ms
        computed_ms = 0 if skewed else computed_of(length_ms, attempt.cpu_ms, attempt.gc_ms)
        needless = again or attempt.state != SUCCEEDED
        self.times_ms.extend((begun_ms, attempt.finished_ms, computed_ms, needless))
        work = _work_of(attempt, length_ms, needless=needless)
        self.nodes[attempt.node] = self.nodes.get(attempt.node, Work()).plus(work)
        for phase, begin_ms, end_ms in () if skewed else attempt.phase_spans():
            self.phases_ms[phase] = self.phases_ms.get(phase, 0) + end_ms - begin_ms
        if impossible or (attempt.state != SUCCEEDED and not any(_moved(attempt))):
            unknown = self.impossible if impossible else self.silent
            unknown.append(ReadSpan(begun_ms, attempt.finished_ms, computed_ms))

    @property
    def spans(self) -> Iterator[ReadSpan]:
        """When its tasks ran, and how long they computed."""
        times = iter(self.times_ms)
        return (
            ReadSpan(begin_ms, end_ms, computed_ms, bool(needless))
            for begin_ms, end_ms, computed_ms, needless in zip(times, times, times, times, strict=True)
        )

    @property
    def begin_ms(self) -> int:
        """The first start of a task."""
        return min(self.times_ms[::4])

    @property
    def end_ms(self) -> int:
        """The last end of a task."""
        return max(self.times_ms[1::4])


def _is_skewed(attempt: SparkAttempt) -> bool:
    return not is_possible(attempt.started_ms, attempt.finished_ms)


def _work_of(attempt: SparkAttempt, length_ms: int, *, needless: bool) -> Work:
    again = attempt.spilled_disk_bytes + attempt.shuffle_read_to_disk_bytes
    fetched = attempt.shuffled_bytes
    return Work(
        tasks=1, task_ms=length_ms, cpu_ms=attempt.cpu_ms, gc_ms=attempt.gc_ms,
        store_read=attempt.input_bytes - attempt.cached_bytes, store_written=attempt.output_bytes,
        local_read=again, local_written=again + attempt.shuffle_write_bytes,
        fetched=fetched, fetches=attempt.shuffle_read_remote_blocks + attempt.shuffle_read_local_blocks,
        map_output=attempt.shuffle_write_bytes, map_output_on_disk=attempt.shuffle_write_bytes,
        input_records=attempt.input_records, output_records=attempt.output_records,
        fetch_wait_ms=attempt.fetch_wait_ms, fetching_ms=attempt.run_ms if fetched else 0,
        needless_cpu_ms=attempt.cpu_ms if needless else 0,
    )  # fmt: skip


class ApplicationReading:
    """What an event log has told so far."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._seen = Application()
        self._stages: dict[str, _Stage] = {}
        self._records_alone = False
        self._repeated = self._skewed = 0

    def read(self, log: EventLog) -> PastApplication:
        """All of a log. Raises OSError, and ValueError for what is no event log."""
        for kind, event in log:
            attempt = self._seen.take(kind, event)
            # Of an output that was lost the end was told before.
            if attempt is None or attempt.lost:
                continue
            try:
                self._take_attempt(attempt, event)
            except UNLIKE:
                self._seen.unlike += 1
        self._seen.sources.all &= not log.skipped
        return self.application(self._seen, tuple(self._missing(log)), tuple(self._doubts(log)))

    def _take_attempt(self, attempt: SparkAttempt, event: Mapping[str, Any]) -> None:
        """The start or end of an attempt. Raises one of `UNLIKE` where its event lacks what all have."""
        stage, task = self._stages.setdefault(attempt.stage, _Stage()), event["Task Info"]
        stage_attempt = event.get("Stage Attempt ID", 0)
        if not attempt.finished_ms:
            stage.running_ms[stage_attempt, task["Index"], task["Attempt"]] = attempt.started_ms
            return
        if stage.is_repeated(stage_attempt, task):
            self._repeated += 1
            return
        again = attempt.state == SUCCEEDED and stage.note_done(stage_attempt, task)
        self.add(attempt, self._earliest_ms(event["Stage ID"]), again=again)

    def _earliest_ms(self, stage: int) -> int:
        """Before that no task of a stage began."""
        job = self._seen.jobs.get(self._seen.job_of_stage.get(stage, -1))
        return job.begin_ms if job and job.begin_ms else self._seen.started_ms

    def add(self, attempt: SparkAttempt, earliest_ms: int = 0, *, again: bool = False) -> None:
        """One more attempt, if it has ended; `again` is whether its task had ended well before."""
        if attempt.finished_ms > 0:
            self._skewed += _is_skewed(attempt)
            self._records_alone |= attempt.input_records > 0 == attempt.input_bytes
            self._records_alone |= attempt.output_records > 0 == attempt.output_bytes
            moved = _moved(attempt)
            changes = (
                {name: 0 for name, amount in zip(_BYTES, moved, strict=True) if amount < 0} if min(moved) < 0 else {}
            )
            if attempt.fetch_wait_ms > _LONGEST_FETCH * attempt.run_ms + _TICKS_MS:
                changes["fetch_wait_ms"] = 0
            stage = self._stages.setdefault(attempt.stage, _Stage())
            counted = attempt.model_copy(update=changes) if changes else attempt
            stage.add(counted, earliest_ms, impossible=bool(changes), again=again)

    def unread(self, reason: str) -> PastApplication:
        """An application of which nothing more is known than why its log can't be read."""
        return self.application(self._seen, (f"the whole log: {reason}",))

    def application(
        self, seen: Application, missing: tuple[str, ...] = (), doubts: tuple[str, ...] = ()
    ) -> PastApplication:
        """All of it, with what is known of the application as a whole."""
        state = "" if not seen.finished_ms or seen.unended else SUCCEEDED if seen.succeeded else "FAILED"
        settings = {name: value for name, value in seen.settings.items() if name in _SETTINGS}
        hosts = by_host({node for stage in self._stages.values() for node in stage.nodes})
        hosts_are_nodes = not _names_pods(seen, hosts)
        placed = placed_by(seen)
        sequence = [(called_together(names), [self._stages[name] for name in names]) for names in self._sequence()]
        slots = max((overlap(_spans(stages)).peak for _, stages in sequence), default=0)
        nodes = hosts if hosts_are_nodes else {}
        sums = [_sums(stages, name, placed, nodes, slots) for name, stages in sequence]
        persisted = ON_DRIVES if seen.persisted.seen_on_drives else MAY_BE_ON_DRIVES
        uncounted = persisted if seen.persisted.on_drives else RECORDS_ALONE if self._records_alone else ""
        return PastApplication(
            seen.id, seen.name, seen.user, settings.get("spark.yarn.queue", ""), state, seen.submitted_ms,
            seen.started_ms, seen.finished_ms or seen.last_ms, uberized=False, maps=0, reduces=0, stages=tuple(sums),
            nodes=tuple(sorted(set(hosts.values()))) if hosts_are_nodes else (),
            settings=settings, missing=missing, source=self._source,
            uncounted=uncounted, remark=f"were run {unusual}" if (unusual := seen.unusual()) else "",
            container_waits=0 if seen.deployment else _groups(seen.executors_added_ms.values()),
            ran_ms=self._ran_ms(seen), hosts_are_nodes=hosts_are_nodes,
            unplaced=tuple(sorted([*filter(is_unplaced, seen.sources.schemes), *unplaced_shuffle(seen)])),
            doubts=(*doubts, *shuffle_doubts(seen)),
            uncertain=tuple(self._uncertain(seen)), program=program_of(seen.settings, seen.system),
            paths=paths_in_store(seen.sources.paths),
        )  # fmt: skip

    def _uncertain(self, seen: Application) -> Iterator[Uncertain]:
        """What its tasks did although no event counts it."""
        silent = [span for stage in self._stages.values() for span in stage.silent]
        if silent:
            yield unknown_bytes(silent, SILENT)
        if impossible := self._impossible:
            yield unknown_bytes(impossible, IMPOSSIBLE)
        running: list[tuple[int, int]] = []
        at_cut = 0
        for number, of_stage in seen.stages.items():
            stage = self._stages.get(stage_called(number))
            if seen.is_whole(number):
                continue
            if not seen.finished_ms and not of_stage.ended_ms:
                at_cut += max(0, of_stage.tasks - (stage.succeeded if stage else 0))
            elif stage:
                until_ms = of_stage.ended_ms or seen.finished_ms
                running += [(begin_ms, until_ms) for begin_ms in stage.running_ms.values()]
        if at_cut:
            yield Uncertain(
                f"its log ends before the ends of {at_cut:,} tasks, and how long these took is not known",
                math.inf,
            )
        if running:
            seconds = covered_ms(running) / 1000
            yield Uncertain(
                f"its log lacks the ends of {len(running):,} tasks, which ran in up to {seconds:,.0f} s of its time: "
                "what they moved is not known", seconds,
            )  # fmt: skip

    def _ran_ms(self, seen: Application) -> int:
        """How long any of its jobs or tasks ran; 0 if no event tells of jobs."""
        spans = [(stage.begin_ms, stage.end_ms) for stage in self._stages.values() if stage.times_ms]
        spans += [(job.begin_ms, job.end_ms) for job in seen.jobs.values() if job.begin_ms and job.end_ms]
        return covered_ms(spans) if seen.jobs else 0

    def _sequence(self) -> list[list[str]]:
        """The names of stages that ran at once, one list after the other."""
        together: list[list[str]] = []
        until_ms = 0
        begun = {name: stage for name, stage in self._stages.items() if stage.times_ms}
        for name, stage in sorted(begun.items(), key=lambda item: item[1].begin_ms):
            if not together or stage.begin_ms >= until_ms:
                together.append([])
            together[-1].append(name)
            until_ms = max(until_ms, stage.end_ms)
        return together

    def _missing(self, log: EventLog) -> Iterator[str]:
        seen = self._seen
        if not seen.id and not seen.started_ms:
            yield "the start of its application: take the whole log"
        failed = sum(job.failed for job in seen.jobs.values())
        if failed and failed == len(seen.jobs):
            yield f"a good end: {_share(failed, len(seen.jobs))} failed; runs of it that succeeded tell more"
        elif not any(stage.times_ms for stage in self._stages.values()):
            yield "its tasks: it ran none, or was ended before it did"
        if len(seen.ids) > 1:
            yield f"a log of its own: this one holds {len(seen.ids)} applications; take the logs as they were written"
        if lacks := [*log.gaps, *([log.cut] if log.cut and seen.finished_ms else []), *seen.damages(log)]:
            yield f"parts of the log: {'; '.join(lacks)}; copy it again"
        lost = sum(
            max(0, stage.tasks - (self._stages[name].succeeded if name in self._stages else 0))
            for name, stage in seen.whole_stages()
        )
        if lost:
            yield (
                f"{lost:,} of its tasks: Spark leaves events out while too many wait "
                "(spark.scheduler.listenerbus.eventqueue.capacity)"
            )

    def _doubts(self, log: EventLog) -> Iterator[str]:
        """What is odd in the log and prevents no bound."""
        seen = self._seen
        failed = sum(job.failed for job in seen.jobs.values())
        if not seen.finished_ms:
            how = f" ({log.cut})" if log.cut else ""
            yield f"its log has no end{how}: it still ran, was killed or was cut short, and counts until its last event"
        if seen.unended:
            yield f"the end of {_share(len(seen.unended), len(seen.jobs))} is missing in its log"
        if 0 < failed < len(seen.jobs):
            yield f"{_share(failed, len(seen.jobs))} failed, and count as they are"
        if log.foreign:
            yield f"{log.foreign:,} of its log's lines are no events, such as those of a logger, and are left out"
        if self._repeated:
            yield f"{self._repeated:,} ends of tasks are repeated in its log, and count once"
        if self._skewed:
            yield skewed_words(self._skewed)
        if impossible := self._impossible:
            yield impossible_words(len(impossible))

    @property
    def _impossible(self) -> list[ReadSpan]:
        return [span for stage in self._stages.values() for span in stage.impossible]


def _marked(marks: bytearray, index: int) -> bool:
    """Mark an index; whether it was before. One that can't be right is never marked."""
    if not 0 <= index < _MOST_TASKS:
        return False
    marks.extend(bytes(max(0, index + 1 - len(marks))))
    known, marks[index] = marks[index], 1
    return bool(known)


def _share(count: int, jobs: int) -> str:
    return f"{count:,} of its {jobs:,} jobs" if jobs > 1 else "its only job"


def _names_pods(seen: Application, hosts: Iterable[str]) -> bool:
    """Whether executors gave the addresses of pods in place of those of nodes.

    On Kubernetes they register by their pod's address or name; a pod with its node's network is not told from others.
    """
    kubernetes = seen.master.startswith("k8s") or (
        not seen.master.startswith(("yarn", "local", "mesos")) and any(map(_IS_KUBERNETES, seen.settings))
    )
    return kubernetes and any(_ADDRESS.fullmatch(host) or _POD_NAME.fullmatch(host) for host in hosts)


def _groups(times_ms: Iterable[int]) -> int:
    """How many times there are that lie apart."""
    count, before_ms = 0, 0
    for time_ms in sorted(times_ms):
        count += time_ms > before_ms + _TOGETHER_MS
        before_ms = time_ms
    return count


def _spans(stages: list[_Stage]) -> list[ReadSpan]:
    return [span for stage in stages for span in stage.spans]


def _sums(
    stages: list[_Stage], name: str, placed: Callable[[Work], Work], hosts: Mapping[str, str], slots: int
) -> StageSums:
    """The sums of stages that ran at once. `hosts` are by their names; those without may all be one.

    `slots` are the most tasks of the application that ran at once.
    """
    nodes: dict[str, Work] = {}
    phases_ms: dict[str, int] = {}
    for stage in stages:
        for host, work in stage.nodes.items():
            node = hosts.get(host, "")
            nodes[node] = nodes.get(node, Work()).plus(placed(work))
        for phase, length_ms in stage.phases_ms.items():
            phases_ms[phase] = phases_ms.get(phase, 0) + length_ms
    return sums_of(name, _spans(stages), phases_ms, nodes.values(), slots=slots)


FORMS.add(SPARK, PastForm(
    noun="Spark application",
    program="spark-jobs",
    place="Spark's event logs (spark.eventLog.dir)",
    is_named=is_log_name,
    is_head=is_head_of_event_log,
    read=lambda log: [read_event_log(log)],
    attempts=lambda file: read_application(file, JobReference(name="", id="")).attempts,
    amounts="Of Spark applications, read and written are the metrics Bytes Read and Bytes Written, map output is "
    "Shuffle Bytes Written, spilled that and Disk Bytes Spilled, and shuffled Remote and Local Bytes Read.",
    idle="its driver, starts and waits for executors",
    waits="waits for executors",
    taken_over=taken_over,
    sample=OF_SPARK,
    directing=Directing(lambda tier, _jar, _tags: of_spark(tier), needs=BY_CONTAINERS),
    rules=RULES,
    is_folder=is_rolled,
    is_beside=lambda name: name.startswith("appstatus_"),
), place=2)  # fmt: skip
