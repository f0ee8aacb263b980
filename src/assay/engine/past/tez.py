"""The DAGs of Tez in a history file, read record by record: sums over their tasks are kept, of a task a few numbers.

A vertex waits for others as the edges of its DAG say. Where each task of later vertices needs all tasks of earlier
ones, the job waits for one after the other, as in MapReduce. Vertices of which that is not certain are one stage.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from assay.engine.directing import of_tez
from assay.engine.past.formats import BY_CONTAINERS, FORMS, Directing, NamesBeside, PastForm
from assay.engine.past.hive_queries import is_query_data, texts_in
from assay.engine.past.job import (
    MAP,
    REDUCE,
    START_ACCESSES,
    SUCCEEDED,
    PastJob,
    PastProgram,
    StageSums,
    Uncertain,
    Use,
    Work,
    by_host,
    sum_of,
    unread,
)
from assay.engine.past.mapreduce import (
    NO_COUNTERS,
    Attempt,
    counted,
    has_impossible,
    most_at_once,
    stage_of,
    unplaced_schemes,
)
from assay.engine.past.query_names import is_query_id, query_id, query_text
from assay.engine.past.task_times import (
    IMPOSSIBLE,
    SILENT,
    ReadSpan,
    called_together,
    impossible_words,
    is_possible,
    skewed_words,
    unknown_bytes,
)
from assay.engine.past.tez_advice import OF_TEZ, RULES, taken_over
from assay.engine.tez_history import Entities, attempts_in, counters_of
from assay.engine.tez_logs import TezLog, is_beside_tez, is_head_of_tez, is_tez_name
from assay.engine.tez_tasks import FILE_SYSTEM_COUNTERS, TASK_COUNTERS
from assay.host.files import why
from assay.model.errors import AssayError
from assay.model.task import TaskAttempt, covered_ms

TEZ = "tez"
_SETTINGS = frozenset({
    "dfs.blocksize", "dfs.replication", "tez.am.am-rm.heartbeat.interval-ms.max", "tez.runtime.compress",
    "tez.runtime.compress.codec", "tez.runtime.io.sort.factor", "tez.runtime.io.sort.mb", "tez.runtime.sorter.class",
    "yarn.nodemanager.resource.memory-mb",
})  # fmt: skip
"""The settings that are kept: ten thousand DAGs have to fit into memory."""
_BEAT, _BEAT_MS, _TASK_POLLS_S = "tez.am.am-rm.heartbeat.interval-ms.max", 1000, 0.55
"""A vertex waits for a heartbeat of its application master, and its tasks for three polls: 200 ms for a task, 100 ms
for what others wrote, and 250 ms for a container that is near its data (Tez: TezConfiguration)."""
_FILE_ACCESSES = 3
"""Of each file that a task writes: the data, its index, and the names of both."""
_FILES = ("ADDITIONAL_SPILL_COUNT", "NUM_MEM_TO_DISK_MERGES", "NUM_DISK_TO_DISK_MERGES")
"""What a task counts of the files that it writes beside its output."""
_AS_IN_MAPREDUCE = {
    "CPU_MILLISECONDS": "CPU_MILLISECONDS", "GC_TIME_MILLIS": "GC_TIME_MILLIS", "SPILLED_RECORDS": "SPILLED_RECORDS",
    "SHUFFLE_BYTES": "REDUCE_SHUFFLE_BYTES", "NUM_SHUFFLED_INPUTS": "SHUFFLED_MAPS", "OUTPUT_BYTES": "MAP_OUTPUT_BYTES",
    "OUTPUT_BYTES_PHYSICAL": "MAP_OUTPUT_MATERIALIZED_BYTES", "INPUT_RECORDS_PROCESSED": "MAP_INPUT_RECORDS",
    "OUTPUT_RECORDS": "MAP_OUTPUT_RECORDS",
}  # fmt: skip
"""MapReduce's names of Tez' counters."""
_ALL_TO_ALL, _ONE_TO_ONE = frozenset({"SCATTER_GATHER", "BROADCAST"}), "ONE_TO_ONE"
_OWN_PROCESSES = "TezYarn"
"""The scheduler that gives each task a process of its own (Tez: TezConstants)."""
_IN_DAEMONS = "its tasks ran in LLAP's daemons, whose readers and cache count in no task"
NO_RECORD = "it holds no record of Tez"
NO_DAG = "it tells of no DAG of Tez: its session ran none, or it is a file of `app_data`, `dag_meta` or `query_data`"
NO_END = "its end: the file was cut short, or the DAG still ran or was ended with its session"
NO_TEXT = (
    "its history has no text of its query, so that other queries count as its runs; Hive's `query_data` in or below "
    "the same folder would tell it"
)
OF_QUERY = PastProgram(
    unknown="a query names tables, and no files; write it into a file that makes its tables on ${input} and writes to "
    "${output} (docs/how-to/run-your-own-job.md)"
)
NO_QUERY = PastProgram(unknown="its history has no text of a query")
RECOVERED = "what ran before its application master was started again, which another file tells"


class PastDag(PastJob):
    """A DAG of Tez as its history tells it: a query of Hive's, a script of Pig's, a MapReduce job."""

    @property
    def engine(self) -> str:
        """The engine that ran it."""
        return TEZ

    @property
    def not_sampled(self) -> str:
        """Assay starts no daemons of LLAP, and runs a query by its text."""
        if self.uncounted:
            return f"{self.uncounted}, and Assay starts no such daemons"
        return NO_QUERY.unknown if self.program is NO_QUERY else ""

    @property
    def polls_s(self) -> float:
        """Waits for heartbeats and polls, of each vertex."""
        beat_s = self.number(_BEAT, _BEAT_MS) / 1000
        return min(self.elapsed_s, self.container_waits * (beat_s + _TASK_POLLS_S))

    @property
    def local_peak(self) -> int:
        """All outputs, which stay until the DAG ends, and the most that a stage has fetched and merges."""
        outputs = sum(stage.busiest.map_output_on_disk for stage in self.stages)
        work = [stage.busiest for stage in self.stages]
        return outputs + max((min(of.local_written, 2 * of.fetched) for of in work), default=0)

    def served(self, stage: StageSums) -> float:
        """What the node with most of the outputs that a stage fetched sent of them."""
        return stage.busiest.served

    def uses(self, stage: StageSums) -> Iterator[Use]:
        """What a stage's vertices move on the drives of each role, on the node that moves most."""
        busiest, whole = stage.busiest, stage.whole
        first, last = (MAP, MAP) if not whole.fetched else ("shuffle", REDUCE)
        files = f"starts of containers, and files of {busiest.tasks:,} task{'' if busiest.tasks == 1 else 's'}"
        piece = whole.fetched / whole.fetches if whole.fetches else None
        yield Use("intermediate", first, "read", 0, None, files, busiest.accesses)
        yield Use("input", MAP, "read", busiest.store_read, None, "input read")
        yield Use("intermediate", "shuffle", "read", self.served(stage), piece, "outputs of vertices fetched from it")
        yield Use("intermediate", last, "write", busiest.local_written, None, "outputs written, spilled and merged")
        yield Use("intermediate", last, "read", busiest.local_read, None, "read again, and read to be merged")
        yield Use("output", last, "write", self.copied(stage), None, "output written, with its copies")


class _Vertex:
    """What is kept of a vertex: its attempts, and by node what they did."""

    def __init__(self, number: str) -> None:
        self.name, self.scheduler = number, _OWN_PROCESSES
        self.attempts: list[Attempt] = []
        self.nodes: dict[str, Work] = {}
        self.done: set[str] = set()

    @property
    def begin_ms(self) -> int:
        """The first start of a task."""
        return min(attempt.begin_ms for attempt in self.attempts)

    @property
    def end_ms(self) -> int:
        """The last end of a task."""
        return max(attempt.end_ms for attempt in self.attempts)

    @property
    def first_good_end_ms(self) -> float:
        """The first end of a task that was needed."""
        return min((attempt.end_ms for attempt in self.attempts if not attempt.needless), default=math.inf)

    def called(self, info: dict[str, Any]) -> None:
        """What its records say of it as a whole."""
        self.name = str(info.get("vertexName", self.name))
        for name in ("counters", "stats"):  # they are sums over tasks, and long
            info.pop(name, None)
        self.scheduler = str((info.get("servicePlugin") or {}).get("taskSchedulerName", self.scheduler))


class _Dag:
    """What is kept of a DAG."""

    def __init__(self, number: str) -> None:
        self.number = number
        self.vertices: dict[str, _Vertex] = {}
        self.edges: list[tuple[str, str, str]] | None = None
        self.read_inputs: set[str] = set()
        """The vertices that read more than what others wrote."""
        self.text = ""
        self.in_daemons = False
        self.silent: list[Attempt] = []
        self.impossible: list[Attempt] = []
        self.running_ms: list[int] = []
        """The starts of attempts whose ends are not told."""
        self.unplaced: set[str] = set()
        self.ended: set[str] = set()
        self.repeated = self.skewed = self.failed = self.uncounted = 0
        self.containers: set[str] = set()

    def vertex(self, number: str) -> _Vertex:
        """The vertex of that number, `TIME_APP_DAG_V`."""
        return self.vertices.setdefault(number, _Vertex(number))

    def called(self, info: dict[str, Any]) -> None:
        """What its records say of it as a whole."""
        info.pop("counters", None)
        self.text = self.text or query_text(info)
        plan = info.pop("dagPlan", None)
        if plan and plan.get("vertices"):
            self.edges = [
                (edge["inputVertexName"], edge["outputVertexName"], str(edge["dataMovementType"]))
                for edge in plan.get("edges") or ()
            ]
            self.read_inputs = {of["vertexName"] for of in plan["vertices"] if of.get("additionalInputs")}

    def add(self, number: str, entities: Entities, entity: str, began_ms: int) -> None:
        """One more attempt that ended. One whose own start can't be right waited since `began_ms` at most."""
        info, times = entities.info[entity], entities.times[entity]
        good = info.get("status") == SUCCEEDED
        self.failed += not good
        if entity in self.ended:
            self.repeated += 1
            return
        self.ended.add(entity)
        vertex = self.vertex(number.rsplit("_", 2)[0])
        counters = counters_of(info)
        files, tez = counters.get(FILE_SYSTEM_COUNTERS, {}), counters.get(TASK_COUNTERS, {})
        self.in_daemons |= any("llap" in name.lower() for name in (vertex.scheduler, *counters))
        tasks = {_AS_IN_MAPREDUCE[name]: value for name, value in tez.items() if name in _AS_IN_MAPREDUCE}
        fetched = sum(tez.get(f"SHUFFLE_BYTES_{way}", 0) for way in ("TO_MEM", "TO_DISK", "DISK_DIRECT"))
        tasks["REDUCE_SHUFFLE_BYTES"] = max(tasks.get("REDUCE_SHUFFLE_BYTES", 0), fetched)
        if vertex.scheduler != _OWN_PROCESSES:  # what it counts of processors is that of all tasks in the process
            tasks |= {"CPU_MILLISECONDS": 0, "GC_TIME_MILLIS": 0}
        begin_ms = times.get("TASK_ATTEMPT_STARTED") or int(info.get("startTime") or 0)
        end_ms = times["TASK_ATTEMPT_FINISHED"]
        skewed = not is_possible(begin_ms, end_ms)
        if end_ms <= 0 or (skewed and not good and not tasks.get("CPU_MILLISECONDS") and not any(files.values())):
            return  # it never ran
        node, container = entities.place_of(entity)
        task = entity.rpartition("_")[0]
        needless = not good or task in vertex.done
        if good:
            vertex.done.add(task)
        work = counted(MAP, 1, 0 if skewed else end_ms - begin_ms, files, tasks)
        starts = not container or container not in self.containers
        self.containers.add(container)
        written = 1 + sum(max(0, tez.get(name, 0)) for name in _FILES)
        work = work._replace(
            accesses=START_ACCESSES * starts + _FILE_ACCESSES * written,
            needless_cpu_ms=work.cpu_ms if needless else 0,
        )
        vertex.nodes[node] = vertex.nodes.get(node, Work()).plus(work)
        attempt = Attempt(
            min(began_ms, end_ms) if skewed else begin_ms, end_ms, work.cpu_ms, work.gc_ms,
            () if skewed else self._phases(vertex, tez, begin_ms, end_ms), skewed, needless,
        )  # fmt: skip
        vertex.attempts.append(attempt)
        self.skewed += skewed
        self.unplaced.update(unplaced_schemes(files))
        moved = any((work.file_systems_read, work.store_written, work.local_read, work.local_written, work.fetched))
        if has_impossible(files, tasks):
            self.impossible.append(attempt)
        elif not moved and not good:
            self.silent.append(attempt)
        self.uncounted += not moved and not work.cpu_ms

    def _phases(self, vertex: _Vertex, tez: Mapping[str, int], begin_ms: int, end_ms: int) -> tuple[int, ...]:
        """The ends of an attempt's phases: of its shuffle and merge if it has any, which each input adds to."""
        inputs = sum(target == vertex.name for _, target, _ in self.edges or ())
        shuffle_ms, merged_ms = (tez.get(f"{name}_PHASE_TIME", 0) // max(1, inputs) for name in ("SHUFFLE", "MERGE"))
        if shuffle_ms <= 0:
            return (end_ms,)
        fetched_ms = min(begin_ms + shuffle_ms, end_ms)
        return fetched_ms, max(fetched_ms, min(begin_ms + merged_ms, end_ms))


class HistoryReading:
    """What the records of a file have told so far."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._entities = Entities()
        self._dags: dict[str, _Dag] = {}
        self._settings: dict[str, str] = {}
        self._empty = True

    def read(self, log: TezLog) -> list[PastJob]:
        """All of a file: its DAGs, and a job that says so where the file may have told of more."""
        for record in log:
            self._empty = False
            try:
                self._take(self._entities.take(record))
            except (LookupError, TypeError, AttributeError, ValueError):  # a record without its fields
                log.note_damage(f"{{{record['entity']}".encode())
        for entity, times in self._entities.times.items():
            if entity.startswith("attempt_") and times.get("TASK_ATTEMPT_STARTED"):
                self._dag(entity.rsplit("_", 3)[0]).running_ms.append(times["TASK_ATTEMPT_STARTED"])
        jobs = [self._job(dag, log.damaged[dag.number] + log.damaged[""], log.foreign) for dag in self._dags.values()]
        return [*jobs, *(unread("", self._source, reason) for reason in self._lost(log))]

    def _lost(self, log: TezLog) -> Iterator[str]:
        """What the file may have told of more than its DAGs, each a clause."""
        if log.cut:
            yield f"{log.cut}, and what followed is lost; copy it again"
        elif not self._dags:
            damaged = sum(log.damaged.values())
            nothing = NO_RECORD if self._empty else NO_DAG
            yield f"{damaged:,} of its records can't be read; copy it again" if damaged else nothing
        elif unknown := [number for number in log.damaged if number and number not in self._dags]:
            yield f"the records of dag_{unknown[0]} can't be read; copy it again"

    def _dag(self, entity: str) -> _Dag:
        number = entity.partition("_")[2]
        return self._dags.setdefault(number, _Dag(number))

    def _take(self, entity: str) -> None:
        """One record more. Raises LookupError, TypeError, AttributeError or ValueError where it lacks what all have."""
        kind, _, number = entity.partition("_")
        if kind == "dag":
            self._dag(entity).called(self._entities.info[entity])
            return
        if kind == "vertex":
            self._dag(entity.rpartition("_")[0]).vertex(number).called(self._entities.info[entity])
            return
        if kind == "attempt":
            if "TASK_ATTEMPT_FINISHED" not in self._entities.times[entity]:
                return
            dag = self._dag(entity.rsplit("_", 3)[0])
            dag.add(number, self._entities, entity, self._times(dag)[0])
        elif entity.startswith("tez_application_"):
            config = self._entities.info[entity].get("config") or {}
            self._settings |= {name: str(value) for name, value in config.items() if name in _SETTINGS}
        self._entities.drop(entity)

    def _times(self, dag: _Dag) -> tuple[int, int, int]:
        """When a DAG was submitted, started and finished; 0 if unknown."""
        times = self._entities.times[f"dag_{dag.number}"]
        submitted_ms = times.get("DAG_SUBMITTED") or times.get("DAG_RECOVERED", 0)
        started_ms = times.get("DAG_STARTED") or times.get("DAG_INITIALIZED") or submitted_ms
        return submitted_ms, started_ms, times.get("DAG_FINISHED", 0)

    def _job(self, dag: _Dag, damaged: int, foreign: int) -> PastDag:
        """A DAG with all that is known of it; so many of its records are damaged, and of the file's lines foreign."""
        info = self._entities.info[f"dag_{dag.number}"]
        submitted_ms, started_ms, finished_ms = self._times(dag)
        state = str(info.get("status", "")) if finished_ms else ""
        stages, nodes = _stages_of(dag)
        ran = sum(bool(vertex.attempts) for vertex in dag.vertices.values())
        doubts = [*_doubts(dag)]
        if foreign:
            doubts.append(f"{foreign:,} lines of its file are no records, such as those of a logger, and are left out")
        dag_name, caller = str(info.get("dagName", "")), str(info.get("callerId", ""))
        if not dag.text and is_query_id(dag_name):
            doubts.append(NO_TEXT)
        return PastDag(
            f"dag_{dag.number}", dag.text or dag_name,
            self._entities.related[f"dag_{dag.number}"].get("user", ""), str(info.get("queueName") or ""), state,
            submitted_ms, started_ms, finished_ms, uberized=False, maps=0, reduces=0, stages=tuple(stages),
            nodes=nodes, settings=self._settings, missing=tuple(self._missing(dag, info, state, damaged)),
            source=self._source, uncounted=_IN_DAEMONS if dag.in_daemons else "", container_waits=ran,
            unplaced=tuple(sorted(dag.unplaced)), doubts=tuple(doubts),
            uncertain=tuple(_uncertain(dag, info, finished_ms)),
            name_id="" if dag.text else query_id(dag_name) or query_id(caller),
            program=OF_QUERY if dag.text else NO_QUERY,
            containers=0 if "" in dag.containers else len(dag.containers),
        )  # fmt: skip

    def _missing(self, dag: _Dag, info: Mapping[str, Any], state: str, damaged: int) -> Iterator[str]:
        times, attempts = self._entities.times[f"dag_{dag.number}"], len(_attempts_of(dag))
        if not state:
            yield NO_END
        elif state != SUCCEEDED:
            yield f"a good end: the DAG was {state.lower()}; runs of it that succeeded tell more"
        if "DAG_RECOVERED" in times:
            yield RECOVERED
        elif "DAG_SUBMITTED" not in times:
            yield "its start: take the whole file"
        if damaged:
            yield f"{damaged:,} of its records, which can't be read; copy the file again"
        done = sum(len(vertex.done) for vertex in dag.vertices.values())
        lost = int(info.get("numSucceededTasks") or 0) - done if state == SUCCEEDED else 0
        if damaged:
            return
        if lost > 0 and not attempts:
            yield "its tasks: tez.history.logging.log.level leaves them out"
        elif lost > 0:
            yield f"{lost:,} of its tasks: Tez leaves events out while too many wait, and those that a filter names"
        elif attempts and dag.uncounted == attempts and not dag.in_daemons:
            yield NO_COUNTERS


def _attempts_of(dag: _Dag) -> list[Attempt]:
    return [attempt for vertex in dag.vertices.values() for attempt in vertex.attempts]


def _doubts(dag: _Dag) -> Iterator[str]:
    """What is odd in a DAG's history and prevents no bound."""
    if dag.repeated:
        yield f"{dag.repeated:,} ends of attempts are repeated in it, and count once"
    if dag.skewed:
        yield skewed_words(dag.skewed)
    if dag.impossible:
        yield impossible_words(len(dag.impossible))
    if dag.in_daemons:
        yield "it ran in LLAP: what its cache held was read from no drive, and another run may have to read it"


def _uncertain(dag: _Dag, info: Mapping[str, Any], finished_ms: int) -> Iterator[Uncertain]:
    """What a DAG's attempts did although nobody counted it."""
    for attempts, which in ((dag.silent, SILENT), (dag.impossible, IMPOSSIBLE)):
        if attempts:
            yield unknown_bytes([ReadSpan(of.begin_ms, of.end_ms, of.computed_ms) for of in attempts], which)
    lost = sum(int(info.get(f"num{how}TaskAttempts") or 0) for how in ("Failed", "Killed")) - dag.failed
    if lost > 0:
        yield Uncertain(f"its history lacks {lost:,} attempts that failed or were killed", math.inf)
    if dag.running_ms and finished_ms:
        seconds = covered_ms([(begin_ms, max(begin_ms, finished_ms)) for begin_ms in dag.running_ms]) / 1000
        yield Uncertain(
            f"its history lacks the ends of {len(dag.running_ms):,} attempts, which ran in up to {seconds:,.0f} s of "
            "its time: what they moved is not known", seconds,
        )  # fmt: skip


def _stages_of(dag: _Dag) -> tuple[list[StageSums], tuple[str, ...]]:
    """The stages of a DAG, and its nodes."""
    hosts = by_host({node for vertex in dag.vertices.values() for node in vertex.nodes})
    slots = most_at_once(_attempts_of(dag))
    outputs = {vertex.name: _by_host(vertex, hosts) for vertex in dag.vertices.values()}
    stages: list[StageSums] = []
    begin_ms = 0
    for level in _levels(dag):
        works = {host: Work() for host in hosts.values()}
        for vertex in level:
            for host, work in outputs[vertex.name].items():
                works[host] = works[host].plus(work)
            for host, served in _served(dag, vertex, outputs).items():
                works[host] = works[host].plus(Work(served=served))
        attempts = [attempt for vertex in level for attempt in vertex.attempts]
        name = called_together([vertex.name for vertex in level])
        stages.append(stage_of(name, attempts, begin_ms, list(works.values()), slots))
        begin_ms = max(begin_ms, *(vertex.end_ms for vertex in level))
    return stages, tuple(sorted(set(filter(None, hosts.values()))))


def _by_host(vertex: _Vertex, hosts: Mapping[str, str]) -> dict[str, Work]:
    works: dict[str, Work] = {}
    for node, work in vertex.nodes.items():
        works[hosts[node]] = works.get(hosts[node], Work()).plus(work)
    return works


def _served(dag: _Dag, vertex: _Vertex, outputs: Mapping[str, Mapping[str, Work]]) -> dict[str, int]:
    """By host, the most that it may have sent of what a vertex fetched: as if all came from its worst source."""
    fetched = sum_of(outputs[vertex.name].values()).fetched
    if not fetched:
        return {}
    sources = {source for source, target, _ in dag.edges or () if target == vertex.name} or set(outputs)
    served: dict[str, int] = {}
    for source in sources & set(outputs):
        whole = sum(work.map_output_on_disk for work in outputs[source].values())
        for host, work in outputs[source].items():
            share = work.map_output_on_disk / whole if whole else 1.0
            served[host] = max(served.get(host, 0), math.ceil(share * fetched))
    return served


def _levels(dag: _Dag) -> list[list[_Vertex]]:
    """Its vertices in stages: each task of a later one needed all tasks of the earlier ones, and ended after them."""
    ran = {vertex.name: vertex for vertex in dag.vertices.values() if vertex.attempts}
    needed = _needed(dag.edges or (), ran)
    ordered = sorted(ran, key=lambda name: (len(needed[name]), ran[name].begin_ms))
    levels: list[list[_Vertex]] = []
    for number, name in enumerate(ordered):
        before, later = set(ordered[:number]), ordered[number:]
        if not levels or any(not before <= needed[other] for other in later):
            levels = levels or [[]]
            levels[-1].append(ran[name])
        else:
            levels.append([ran[name]])
    return _in_sequence(dag, levels)


def _needed(edges: Sequence[tuple[str, str, str]], ran: Iterable[str]) -> dict[str, set[str]]:
    """By vertex, those of which each of its tasks needs all tasks."""
    names = {name for edge in edges for name in edge[:2]} | set(ran)
    needed: dict[str, set[str]] = {name: set() for name in names}
    changed = True
    while changed:
        changed = False
        for source, target, way in edges:
            through = needed[source] if way in _ALL_TO_ALL or way == _ONE_TO_ONE else set()
            more = (through | ({source} if way in _ALL_TO_ALL else set())) - needed[target]
            needed[target] |= more
            changed |= bool(more)
    return {name: of & set(ran) for name, of in needed.items()}


def _in_sequence(dag: _Dag, levels: list[list[_Vertex]]) -> list[list[_Vertex]]:
    """The same; those are joined whose times contradict that they followed one another.

    What a task does before the stage before it has ended may be fetching alone, and only beside that stage: else drives
    may have worked for it while the job waited for others.
    """
    kept = levels[:1]
    for number, level in enumerate(levels[1:], 1):
        later = [vertex for of in levels[number:] for vertex in of]
        begin_ms = min(vertex.begin_ms for vertex in later)
        while len(kept) > 1 and begin_ms < max(vertex.end_ms for of in kept[:-1] for vertex in of):
            kept[-2:] = [[*kept[-2], *kept[-1]]]
        cut_ms = max(vertex.end_ms for of in kept for vertex in of)
        if all(
            vertex.first_good_end_ms >= cut_ms
            and (vertex.name not in dag.read_inputs or vertex.begin_ms >= cut_ms)
            for vertex in later
        ):  # fmt: skip
            kept.append(level)
        else:
            kept[-1] = [*kept[-1], *level]
    return kept


def read_tez_history(file: Path) -> list[PastJob]:
    """The DAGs of a history file, of either form. Never raises: one that can't be read says so."""
    try:
        with ExitStack() as opened:
            return HistoryReading(str(file)).read(TezLog(file, opened))
    except OSError as error:
        return [unread("", str(file), f"it can't be read: {why(error)}")]
    except ValueError as error:
        return [unread("", str(file), f"it {error}")]


def _attempts(file: Path) -> Sequence[TaskAttempt]:
    with ExitStack() as opened:
        log = TezLog(file, opened)
        attempts = attempts_in(log)
        if log.cut or log.damaged:
            raise AssayError(log.cut or "some of its records can't be read")
        return attempts


def _under_text(job: PastJob, text: str) -> PastJob:
    """A DAG whose history has no text of its query, named by that text."""
    doubts = tuple(doubt for doubt in job.doubts if doubt != NO_TEXT)
    return job._replace(name=text, name_id="", program=OF_QUERY, doubts=doubts)


FORMS.add(TEZ, PastForm(
    noun="DAG of Tez",
    program="tez-dags",
    place="Tez' histories (tez.history.logging.proto-base-dir, or tez.simple.history.logging.dir)",
    is_named=is_tez_name,
    is_head=is_head_of_tez,
    read=read_tez_history,
    attempts=_attempts,
    amounts="Of DAGs of Tez, read, map output, spilled, shuffled and written are the counters HDFS_BYTES_READ, "
    "OUTPUT_BYTES, FILE_BYTES_WRITTEN, SHUFFLE_BYTES and HDFS_BYTES_WRITTEN.",
    idle="starts and waits for containers",
    waits="waits between heartbeats and polls",
    taken_over=taken_over,
    sample=OF_TEZ,
    directing=Directing(
        lambda tier, _jar, _tags: of_tez(tier),
        needs=f"{BY_CONTAINERS}, and a session that opens with these properties",
        listing="tez.task.launch.env",
    ),
    rules=RULES,
    is_beside=is_beside_tez,
    names=NamesBeside(is_query_data, texts_in, _under_text),
    file="QUERY.sql",
), place=3)  # fmt: skip
