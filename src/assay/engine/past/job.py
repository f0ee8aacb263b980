"""What triage keeps of a finished job: sums over its tasks, few enough for ten thousand jobs of a site at once."""

import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from assay.model.base import Frozen
from assay.model.host_names import HostNames
from assay.model.signature import Direction

MAP, REDUCE = "map", "reduce"
SUCCEEDED = "SUCCEEDED"
SETTINGS = frozenset({
    "dfs.blocksize", "dfs.replication", "mapreduce.job.reduce.slowstart.completedmaps", "mapreduce.job.reduces",
    "mapreduce.map.output.compress", "mapreduce.map.output.compress.codec", "mapreduce.map.sort.spill.percent",
    "mapreduce.task.io.sort.factor", "mapreduce.task.io.sort.mb",
    "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", "yarn.nodemanager.resource.memory-mb",
})  # fmt: skip
"""The properties of a job that are kept: ten thousand jobs have to fit into memory."""
PLACES = ("mapreduce.input.fileinputformat.inputdir", "mapreduce.output.fileoutputformat.outputdir")
"""Those that name what it reads, with commas between, and what it writes."""
_COMMA = re.compile(r"(?<!\\),")
_PARTS_OF_TABLES = re.compile(r"/[^/]*[=*?\[{].*")
"""Partitions, and what patterns stand for."""
_IN_FILE_SYSTEM = re.compile(r"(?:([A-Za-z][\w+.-]*):(?://[^/]*)?)?/[^/].*")
_MOST_PATHS = 16
REPLICAS, SORT_MIB, SPILL_SHARE = 3, 100, 0.8
"""Hadoop's own values, where a job's configuration is not known."""
OF_STORE = frozenset({"HDFS", "VIEWFS", "WEBHDFS", "SWEBHDFS", "O3FS", "OFS", "MAPRFS"})
REMOTE = frozenset({
    "S3", "S3A", "S3N", "GS", "ABFS", "ABFSS", "WASB", "WASBS", "ADL", "OSS", "COS", "COSN", "OBS", "TOS", "BOS",
    "SWIFT", "OCI", "DBFS", "FTP", "SFTP", "HTTP", "HTTPS",
})  # fmt: skip
"""Object stores and servers; what has another scheme, such as Alluxio, Ceph or Lustre, may lie on the nodes' drives."""
BROKEN = (
    ValueError, LookupError, TypeError, AttributeError, EOFError, OSError, OverflowError, StopIteration, zlib.error,
)  # fmt: skip
"""What readers of files that were cut short, or are something else, raise."""
_STREAMING = re.compile(r"streamjob\d+\.jar")
"""What Hadoop's streaming calls all jobs to which nobody gave a name."""
START_ACCESSES = 10
"""Of a task's start: its launch script, tokens, configuration and directories, each with its own entry on the drive."""


class Work(NamedTuple):
    """What tasks did: bytes by what they were of, records, milliseconds of processors and of tasks.

    `store` is the cluster's own file system (HDFS), `remote` an object store, and `unplaced` any other, which may lie
    on the nodes' drives. `local` is the nodes' local directories. A task counts what it asked for; the page cache may
    have answered.
    """

    tasks: int = 0
    task_ms: int = 0
    cpu_ms: int = 0
    gc_ms: int = 0
    store_read: int = 0
    store_written: int = 0
    remote_read: int = 0
    remote_written: int = 0
    unplaced_read: int = 0
    unplaced_written: int = 0
    local_read: int = 0
    local_written: int = 0
    fetched: int = 0
    fetches: int = 0
    map_output: int = 0
    map_output_on_disk: int = 0
    input_records: int = 0
    output_records: int = 0
    spilled_records: int = 0
    fetch_wait_ms: int = 0
    fetching_ms: int = 0
    """How long tasks waited for what they fetched, and ran in all, of those that fetched anything and counted it."""
    needless_cpu_ms: int = 0
    """Of `cpu_ms`, that of attempts without which the job may do on other drives (`ReadSpan`)."""
    accesses: int = 0
    """How often local drives position for starts of containers and for files of tasks, where an engine tells more of
    that than `tasks` does."""
    served: int = 0
    """Of what was fetched, the most that may have lain on the node, where an engine tells whose outputs were."""

    @property
    def file_systems_read(self) -> int:
        """What was read from file systems, whichever they are, without local directories."""
        return self.store_read + self.remote_read + self.unplaced_read

    @property
    def needed_cpu_ms(self) -> int:
        """The processor time that tasks need on any drive."""
        return self.cpu_ms - self.needless_cpu_ms

    def plus(self, other: "Work") -> "Work":
        """The sum of both."""
        return Work(*map(sum, zip(self, other, strict=True)))

    def most(self, other: "Work") -> "Work":
        """Of each amount the larger one."""
        return Work(*map(max, zip(self, other, strict=True)))


class Use(NamedTuple):
    """What a phase moves on the drives of a role: bytes of the busiest node, and the size of requests where known.

    Or `accesses` of the busiest node, each of which positions once.
    """

    role: str
    phase: str
    direction: Direction
    moved: float
    request: float | None
    purpose: str
    accesses: int = 0


class Uncertain(NamedTuple):
    """What is known to have been done although nobody counted it, a clause, and for how long tasks may have waited.

    That is in seconds; infinite where nobody knows how long it took.
    """

    clause: str
    seconds: float


class OtherRule(Frozen):
    """A rule of thumb that others go by, and what it says of a job: shown beside the verdict, and no part of it."""

    rule: str
    """What it is called."""
    asks: bool
    """Whether it asks for faster drives in any run."""
    amount: str
    """The amount that it goes by, of the run with the largest bound."""


class StageSums(NamedTuple):
    """The tasks of a stage, and the time in which the job waits for no other stage.

    Of a MapReduce job that time is the maps' until the last of them ends, and the reducers' from then on.
    """

    name: str
    begin_ms: int
    end_ms: int
    """That time: milliseconds since the epoch, 0 if unknown."""
    elapsed_ms: int
    """How long at least one of its tasks ran in that time."""
    saved_ms: int
    """The most that the stage could become shorter if its tasks never waited (`docs/explanation/triage.md`)."""
    early_ms: int
    """Time of reducers before the last map's end, added up."""
    phases_ms: Mapping[str, int]
    """Time of its tasks by phase, added up, without `early_ms`."""
    peak: int
    """The most of its tasks that ran at once."""
    whole: Work
    """All of its tasks."""
    busiest: Work
    """Of each amount the most that the tasks on any one node had."""
    unverified_ms: int = 0
    """Of `saved_ms`, what is known only not to be refuted: several threads of a task computed, so that the processor
    time of some says nothing of the waits of others; or an attempt did not end well, and may not be needed at all."""


class PastProgram(NamedTuple):
    """The program of a past job as its history tells it; nothing is checked, and its files may be gone.

    `file` is its jar or script, as the history names it, and empty where `unknown`, a clause, says why it is not known.
    Relative paths begin in `folder`. `properties` name further files that the job needs, with commas between them.
    """

    file: str = ""
    main_class: str = ""
    arguments: tuple[str, ...] = ()
    joined: bool = False
    """Whether nobody can tell an argument with blanks from several arguments."""
    folder: str = ""
    properties: Mapping[str, str] = {}
    unknown: str = ""


class PastJob(NamedTuple):
    """A job as its history tells it. Times are milliseconds since the epoch, 0 if unknown.

    What depends on the engine is MapReduce's here; a class for another engine's jobs says it otherwise.
    """

    id: str
    name: str
    user: str
    queue: str
    state: str
    submitted_ms: int
    started_ms: int
    finished_ms: int
    uberized: bool
    maps: int
    reduces: int
    stages: tuple[StageSums, ...]
    nodes: tuple[str, ...]
    """The nodes on which its tasks ran."""
    settings: Mapping[str, str]
    """Those of `SETTINGS` that its configuration has."""
    missing: tuple[str, ...] = ()
    """What the history lacks without which no bound can be worked out, each with how to get it."""
    source: str = ""
    uncounted: str = ""
    """Which of its bytes on drives nobody counted, so that only the time bounds it; empty where all are counted."""
    remark: str = ""
    """How it was run, where that is unusual: what several runs `were`; else empty."""
    container_waits: int = 0
    """How often it waited for containers after they had been asked for, where that is known."""
    ran_ms: int = 0
    """How long any of its own jobs ran, where it had several; 0 if it is one job itself."""
    hosts_are_nodes: bool = True
    """Whether its tasks name the nodes where they ran. Of pods nobody knows their nodes: all is taken to lie on one."""
    unplaced: tuple[str, ...] = ()
    """The schemes of file systems that it used and that may lie on the nodes' drives or elsewhere, in lower case."""
    doubts: tuple[str, ...] = ()
    """What is odd in its history and prevents no bound, each a clause."""
    uncertain: tuple[Uncertain, ...] = ()
    """What its bound leaves out, since nobody counted it: the job can't be excluded where that is much."""
    nodes_are_sampled: bool = False
    """Whether `nodes` are those of a few of its tasks, so that it may have run on more."""
    program: PastProgram | None = None
    """What it ran, where its history tells that."""
    paths: tuple[str, ...] = ()
    """What it read and wrote in the cluster's store, where its history names that: sixteen paths at most, of tables
    without their partitions."""
    name_id: str = ""
    """The id under which a file beside its history may tell its name; empty where its own history tells it."""
    query: str = ""
    """The query of which it runs a part, without literals, if it is a job of a query that has several."""
    containers: int = 0
    """How many containers ran its tasks; 0 where that is not known."""

    @property
    def all_nodes(self) -> tuple[str, ...]:
        """The nodes on which its tasks ran, where all of them are known; else none."""
        return () if self.nodes_are_sampled else self.nodes

    @property
    def engine(self) -> str:
        """The engine that ran it."""
        return "mapreduce"

    @property
    def not_sampled(self) -> str:
        """Why no sample of it can be run as it ran, a clause; empty where that can be."""
        return ""

    @property
    def cluster(self) -> str:
        """What tells the cluster that ran it from others; empty where its history does not."""
        return ""

    @property
    def fetching_phases(self) -> tuple[str, ...]:
        """The phases in which its tasks only fetch what others wrote."""
        return ("shuffle",)

    @property
    def other_rules(self) -> tuple[OtherRule, ...]:
        """What rules of others say of it."""
        return ()

    def waiting_ms(self, stage: StageSums) -> float | None:  # noqa: ARG002 - MapReduce has no such timers
        """How long a stage's tasks waited for intermediate data, added up; None where its engine does not time that."""
        return None

    @property
    def local_peak(self) -> int:
        """The most that it had in the local directories of one node at once, in bytes.

        Map outputs stay until the job ends; a reducer has what it fetched, and while it merges that once more.
        """
        stages = {stage.name: stage.busiest for stage in self.stages}
        outputs = sum(work.map_output_on_disk for work in stages.values())
        reduced = stages.get(REDUCE, Work())
        return outputs + min(reduced.local_written, 2 * reduced.fetched)

    def uses(self, stage: StageSums) -> Iterator[Use]:
        """What a stage's phases move on the drives of each role, on the node that moves most."""
        busiest, whole = stage.busiest, stage.whole
        phase = MAP if stage.name == MAP else "shuffle"
        starts = f"starts of {busiest.tasks:,} task{'' if busiest.tasks == 1 else 's'}"
        yield Use("intermediate", phase, "read", 0, None, starts, START_ACCESSES * busiest.tasks)
        if stage.name == MAP:
            yield Use("input", MAP, "read", busiest.store_read, None, "input read")
            spills = "map outputs spilled and merged"
            yield Use("intermediate", MAP, "write", busiest.local_written, self.spill_bytes, spills)
            yield Use("intermediate", MAP, "read", busiest.local_read, None, "spills read to be merged")
        else:
            piece = whole.fetched / whole.fetches if whole.fetches else None
            yield Use("input", REDUCE, "read", busiest.store_read, None, "read from the store")
            yield Use("intermediate", "shuffle", "read", self.served(stage), piece, "map outputs fetched from it")
            merged = "fetched map outputs written and merged"
            yield Use("intermediate", "merge", "write", busiest.local_written, None, merged)
            yield Use("intermediate", "merge", "read", busiest.local_read, None, "read to be merged")
        yield Use("output", stage.name, "write", self.copied(stage), None, "output written, with its copies")

    def served(self, stage: StageSums) -> float:
        """What the node with the largest map outputs sent: what was fetched lay where the maps had run."""
        whole = self.whole.map_output_on_disk
        most = sum(stage.busiest.map_output_on_disk for stage in self.stages)
        return stage.whole.fetched * most / whole if whole else stage.whole.fetched

    def copied(self, stage: StageSums) -> float:
        """What a stage wrote to the store on the busiest node, with copies of what other nodes wrote."""
        nodes = max(1, len(self.nodes))
        copies = self.copies if nodes > 1 else 1.0
        return stage.busiest.store_written + (copies - 1) * stage.whole.store_written / nodes

    @property
    def elapsed_s(self) -> float:
        """From its start to its end, in seconds; 0 where either is not known."""
        return max(0, self.finished_ms - self.started_ms) / 1000 if self.started_ms and self.finished_ms else 0.0

    @property
    def ran_s(self) -> float:
        """How long any of its own jobs ran, in seconds: a session waits for its user in the rest of its time."""
        return min(self.elapsed_s, self.ran_ms / 1000) if self.ran_ms else self.elapsed_s

    @property
    def owner(self) -> str:
        """The user without whom its name does not tell which job it is a run of; empty where the name does."""
        return self.user if _STREAMING.fullmatch(self.name) else ""

    @property
    def reuses_containers(self) -> bool:
        """Whether any of its tasks are known to have run in a container that another one had started."""
        return 0 < self.containers < self.whole.tasks

    @property
    def counts(self) -> bool:
        """Whether a bound can be worked out: its history lacks nothing, and says when it ran."""
        return not self.missing and self.elapsed_s > 0

    @property
    def queued_s(self) -> float:
        """From its submission to its start, in seconds."""
        return max(0, self.started_ms - self.submitted_ms) / 1000 if self.submitted_ms and self.started_ms else 0.0

    @property
    def tasks_s(self) -> float:
        """How long tasks ran while the job waited for nothing but them, in seconds."""
        return sum(stage.elapsed_ms for stage in self.stages) / 1000

    @property
    def polls_s(self) -> float:
        """What waits between heartbeats and polls may come to, in seconds: a drive may spare them, and no byte tells.

        Of each stage the containers are asked for with a heartbeat of the application master. A reducer asks once a
        second for the maps that ended (EventFetcher), and a task that may not commit yet asks again after a second
        (Task.commit): so each stage ends with such a wait.
        """
        beat_s = self.number("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", 1000) / 1000
        return min(self.elapsed_s, len(self.stages) * (beat_s + 1))

    @property
    def copies(self) -> float:
        """How many copies of its output the cluster's store keeps."""
        return self.number("dfs.replication", REPLICAS)

    @property
    def sort_mib(self) -> float:
        """Its maps' sort buffer, in MiB."""
        return self.number("mapreduce.task.io.sort.mb", SORT_MIB)

    @property
    def spill_share(self) -> float:
        """The share of the sort buffer that is full when its maps begin to spill."""
        return self.number("mapreduce.map.sort.spill.percent", SPILL_SHARE)

    @property
    def spill_bytes(self) -> float:
        """What a map writes at once when it spills."""
        return self.sort_mib * (1 << 20) * self.spill_share

    @property
    def whole(self) -> Work:
        """What all of its tasks did."""
        return sum_of(stage.whole for stage in self.stages)

    def stage(self, name: str) -> StageSums | None:
        """The stage of that name, if any of its tasks ended."""
        return next((stage for stage in self.stages if stage.name == name), None)

    def setting(self, name: str, default: str) -> str:
        """A property of the job, or what Hadoop takes where nothing is said."""
        return self.settings.get(name, default)

    def number(self, name: str, default: float) -> float:
        """A property of the job that is a number; the default where it is none."""
        try:
            return float(self.settings[name])
        except (KeyError, ValueError):
            return default


def is_remote(scheme: str) -> bool:
    """Whether a file system of that scheme is on no drive of the nodes."""
    return scheme.upper() in REMOTE


def is_unplaced(scheme: str) -> bool:
    """Whether a file system of that scheme may be on the nodes' drives or elsewhere."""
    return scheme.upper() not in OF_STORE | REMOTE | {"FILE"}


def without_places(settings: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The settings of a job but for `PLACES`, and the paths that these name (`PastJob.paths`)."""
    named = [path.replace("\\,", ",") for name in PLACES for path in _COMMA.split(settings.get(name, ""))]
    return {name: value for name, value in settings.items() if name not in PLACES}, paths_in_store(named)


def paths_in_store(named: Iterable[str]) -> tuple[str, ...]:
    """Of some paths those in the cluster's store, each once, as `PastJob.paths` has them."""
    paths = dict.fromkeys(_PARTS_OF_TABLES.sub("", path).rstrip("/") for path in named)
    places = ((path, _IN_FILE_SYSTEM.fullmatch(path)) for path in paths)
    return tuple(path for path, of in places if of and (not of[1] or of[1].upper() in OF_STORE))[:_MOST_PATHS]


def unread(name: str, source: str, reason: str) -> PastJob:
    """A job of which nothing is known but why its history was not read."""
    missing = (f"the whole history: {reason}",)
    return PastJob(name, "", "", "", "", 0, 0, 0, False, 0, 0, (), (), {}, missing, source)  # noqa: FBT003 - not an uber job


def sum_of(works: Iterable[Work]) -> Work:
    """The sum of any number of them."""
    total = Work()
    for work in works:
        total = total.plus(work)
    return total


def by_host(names: Iterable[str]) -> Mapping[str, str]:
    """For each of the names of hosts the one that stands for all names of the same host."""
    hosts = HostNames()
    # Full names come first, which tell apart what is called alike without a domain.
    return {name: hosts.add(name) if name else "" for name in sorted(names, key=lambda name: (-name.count("."), name))}


def distinct(jobs: Iterable[PastJob]) -> list[PastJob]:
    """Each run once, by the history that tells most of it: folders may hold files twice, and a copy may be cut short.

    Two clusters may give one id to two jobs, which are two runs.
    """
    by_id: dict[str, list[PastJob]] = {}
    alike: dict[tuple[str, ...], list[int]] = {}
    for job in jobs:
        name = job.id or job.source
        runs, key = by_id.setdefault(name, []), _alike(name, job)
        # Most runs say all: comparing each with each would take hours where a thousand share an id.
        candidates = range(len(runs)) if key == (name,) else [*alike.get(key, ()), *alike.get((name,), ())]
        number = next((number for number in candidates if _is_same_run(runs[number], job)), len(runs))
        if number == len(runs):
            runs.append(job)
        elif _lacks(job) < _lacks(runs[number]):
            runs[number] = job
        else:
            continue
        alike.setdefault(key, []).append(number)
    return [job for runs in by_id.values() for job in runs]


def _alike(name: str, job: PastJob) -> tuple[str, ...]:
    """What two histories of one run have in common if both say all of it; else the name alone."""
    facts = (job.name, job.user, str(job.submitted_ms or ""))
    return (name, *facts) if all(facts) else (name,)


def _is_same_run(job: PastJob, other: PastJob) -> bool:
    """Whether two jobs of one id are one run: nothing that both histories say from the start differs."""
    facts = ((of.name, of.user, of.submitted_ms, of.cluster) for of in (job, other))
    return all(fact == same or not fact or not same for fact, same in zip(*facts, strict=True))


def _lacks(job: PastJob) -> tuple[bool, bool, int]:
    return bool(job.missing), not job.state, len(job.doubts)
