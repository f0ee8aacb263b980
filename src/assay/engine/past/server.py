"""Finished jobs from a JobHistoryServer's REST interface (Hadoop: MapReduce History Server REST API).

It tells the counters of a job by stage, and when each task ran. Counters of single tasks would take two requests for
each of them, so nobody knows which tasks of a stage computed: the bound by time holds whichever did, and what they wait
for is told by processor time that is spread over them by their time. The nodes are those of a few tasks, so that of a
larger job nobody knows them all. The history's files tell more, and faster.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from assay.engine.past.histories import MOST_HISTORIES, Histories, NoHistoriesError
from assay.engine.past.job import (
    MAP,
    REDUCE,
    SUCCEEDED,
    PastJob,
    StageSums,
    Uncertain,
    Work,
    without_places,
)
from assay.engine.past.mapreduce import (
    CUT_SHORT,
    KEPT,
    Attempt,
    counted,
    has_impossible,
    most_at_once,
    stage_of,
    unplaced_schemes,
)
from assay.engine.past.query_names import QUERY_TEXT, query_of_job
from assay.model.errors import BadInputError, NoAnswerError, NoLoginError
from assay.model.host_names import host_of
from assay.model.probe import Ask

PAGE = "/ws/v1/history/mapreduce/jobs"
_NODES_OF = 8
"""Tasks of a stage that are asked for their node."""
_IMPOSSIBLE = "its counters can't be right, with bytes below 0, which count for nothing"
_UNREAD = (LookupError, TypeError, AttributeError, ValueError)


def from_server(url: str, since_ms: int, ask: Ask, progressed: Callable[[int], object]) -> Histories:
    """The jobs that ended since a time. Raises BadInputError where the server can't be asked, or has none of them."""
    root = url.rstrip("/").removesuffix(PAGE) + PAGE
    try:
        listed = _listed(ask(root, {"finishedTimeBegin": str(since_ms)} if since_ms else {}), "jobs", "job")
    except NoLoginError as error:
        raise BadInputError(
            f"--history {url} wants a login: {error.reason}; name the cluster's configuration in --cluster and run "
            "`kinit`, or take the history's files instead"
        ) from None
    except NoAnswerError as error:
        raise BadInputError(
            f"--history {url} can't be asked: {error.reason}; it must be the JobHistoryServer's web address, such as "
            "http://HOST:19888"
        ) from None
    except _UNREAD:
        raise BadInputError(f"--history {url} is no JobHistoryServer: its answer lists no jobs") from None
    if not listed:
        raise NoHistoriesError(url, "has no finished jobs since then; choose an earlier time for --since")
    if len(listed) > MOST_HISTORIES:
        raise BadInputError(f"{url} has {len(listed):,} jobs; take the newest of them, such as --since 7d")
    progressed(len(listed))
    return Histories(len(listed), (_job(root, job, ask) for job in listed))


def _job(root: str, listed: Mapping[str, Any], ask: Ask) -> PastJob:
    """One of the jobs that the server lists; what it does not tell of it is missing."""
    name = str(listed.get("id", ""))
    missing: list[str] = []
    state = str(listed.get("state", ""))
    if state != SUCCEEDED:
        missing.append(f"a good end: the job was {state.lower()}; runs of it that succeeded tell more")
    of_job = f"{root}/{quote(name)}"
    counters: dict[str, Work] = {}
    unplaced: set[str] = set()
    impossible = False
    stages = []
    nodes: list[str] = []
    settings: dict[str, str] = {}
    paths: tuple[str, ...] = ()
    sampled = False
    if not missing:
        try:
            counters, unplaced, impossible = _counters(ask(f"{of_job}/counters", {}))
            tasks = _listed(ask(f"{of_job}/tasks", {}), "tasks", "task")
            by_stage = [_of_stage(tasks, stage) for stage in (MAP, REDUCE)]
            nodes = sorted({node for of_stage in by_stage for node in _nodes(of_job, of_stage, ask)})
            sampled = any(len(of_stage) > _NODES_OF for of_stage in by_stage)
            stages = list(_stages(tasks, counters, len(nodes)))
            settings, paths = without_places(_settings(of_job, ask))
            promised, ended = _promised(listed), sum(stage.whole.tasks for stage in stages)
            if ended < promised:
                missing.append(
                    f"{promised - ended:,} of its {promised:,} tasks, which the server does not list; take the file "
                    "from the folder of finished jobs"
                )
        except NoAnswerError as error:
            gone = "404" in error.reason
            why = "the server has forgotten it (mapreduce.jobhistory.max-age-ms)" if gone else error.reason
            missing.append(f"its counters: {why}; take the file from the folder of finished jobs, if it is still there")
        except _UNREAD:
            missing.append(CUT_SHORT)
        if not missing and stages and not any(work.cpu_ms for work in counters.values()):
            missing.append("its counters: the server lists none for it")
    called = str(listed.get("name", ""))
    query = query_of_job(called, settings.pop(QUERY_TEXT, ""))
    return PastJob(
        name, called, str(listed.get("user", "")), str(listed.get("queue", "")), state,
        _time(listed, "submitTime"), _time(listed, "startTime"), _time(listed, "finishTime"),
        bool(listed.get("uberized", False)), int(listed.get("mapsTotal", 0)), int(listed.get("reducesTotal", 0)),
        tuple(stages), tuple(nodes), settings, tuple(missing), of_job,
        unplaced=tuple(sorted(unplaced)), doubts=(_IMPOSSIBLE,) if impossible else (),
        uncertain=(Uncertain(_IMPOSSIBLE, math.inf),) if impossible else (), nodes_are_sampled=sampled,
        paths=paths, query=query,
    )  # fmt: skip


def _promised(listed: Mapping[str, Any]) -> int:
    """How many tasks a job has, as the server's list of jobs says."""
    return int(listed.get("mapsTotal") or 0) + int(listed.get("reducesTotal") or 0)


def _settings(of_job: str, ask: Ask) -> dict[str, str]:
    """Those of its properties that are kept; nothing where the server has lost its configuration."""
    try:
        properties = _listed(ask(f"{of_job}/conf", {}), "conf", "property")
    except NoAnswerError:
        return {}
    return {entry["name"]: entry["value"] for entry in properties if entry.get("name") in KEPT}


def _time(listed: Mapping[str, Any], name: str) -> int:
    value = listed.get(name, 0)
    return max(0, value) if isinstance(value, int) else 0


def _counters(answer: Any) -> tuple[dict[str, Work], set[str], bool]:
    """What the maps and the reducers counted, the schemes of file systems that may lie anywhere, and what can't be.

    The last is whether any bytes are below 0.
    """
    whole = {}
    impossible = False
    unplaced: set[str] = set()
    groups = answer["jobCounters"].get("counterGroup") or []
    for stage in (MAP, REDUCE):
        values: dict[str, dict[str, int]] = {"FileSystemCounter": {}, "TaskCounter": {}}
        for group in groups:
            for ending, by_name in values.items():
                if group["counterGroupName"].endswith(ending):
                    by_name |= {
                        counter["name"]: counter.get(f"{stage}CounterValue", 0) for counter in group.get("counter", ())
                    }
        whole[stage] = counted(stage, 0, 0, values["FileSystemCounter"], values["TaskCounter"])
        unplaced.update(unplaced_schemes(values["FileSystemCounter"]))
        impossible |= has_impossible(values["FileSystemCounter"], values["TaskCounter"])
    return whole, unplaced, impossible


def _of_stage(tasks: list[dict[str, Any]], stage: str) -> list[dict[str, Any]]:
    return [task for task in tasks if task.get("type") == stage.upper()]


def _nodes(of_job: str, tasks: list[dict[str, Any]], ask: Ask) -> Iterator[str]:
    """The nodes of a few tasks, spread over all of them."""
    for task in tasks[:: max(1, len(tasks) // _NODES_OF)][:_NODES_OF]:
        for attempt in _listed(
            ask(f"{of_job}/tasks/{quote(str(task['id']))}/attempts", {}), "taskAttempts", "taskAttempt"
        ):
            if node := host_of(str(attempt.get("nodeHttpAddress", ""))):
                yield node


def _stages(tasks: list[dict[str, Any]], counters: Mapping[str, Work], nodes: int) -> Iterator[StageSums]:
    times_of = {stage: _times(_of_stage(tasks, stage)) for stage in (MAP, REDUCE)}
    maps_end_ms = max((_time(task, "finishTime") for task in _of_stage(tasks, MAP)), default=0)
    slots = most_at_once(Attempt(begin, end, 0, 0) for times in times_of.values() for begin, end in times)
    for stage, begin_ms in ((MAP, 0), (REDUCE, maps_end_ms)):
        times = times_of[stage]
        task_ms = sum(end - begin for begin, end in times)
        if not times:
            continue
        whole = counters[stage]._replace(tasks=len(times), task_ms=task_ms)
        share = (whole.cpu_ms / task_ms) if task_ms else 0.0
        attempts = [Attempt(begin, end, round(share * (end - begin)), 0) for begin, end in times]
        # Of the busiest node nothing is known: it is taken to have twice its share.
        busiest = Work(*(min(value, -(-2 * value // max(1, nodes))) for value in whole))
        made = stage_of(stage, attempts, begin_ms, [whole], slots)
        in_stage_ms = [end - max(begin, begin_ms) for begin, end in times if end > begin_ms]
        least_ms = _least_ms(share * sum(in_stage_ms), in_stage_ms, slots)
        saved_ms = max(made.saved_ms, round(made.elapsed_ms - least_ms))
        unverified_ms = made.unverified_ms + saved_ms - made.saved_ms
        yield made._replace(busiest=busiest, saved_ms=saved_ms, unverified_ms=unverified_ms)


def _least_ms(computed_ms: float, lengths_ms: Sequence[int], slots: int) -> float:
    """The least time in which tasks of such lengths end on so many slots that computed for so long together.

    Nobody knows which of them computed: the longest computing is shortest where all compute for as long, or for all of
    their time.
    """
    left_ms, longest_ms = computed_ms, 0.0
    for number, length_ms in enumerate(sorted(lengths_ms)):
        longest_ms = min(float(length_ms), left_ms / (len(lengths_ms) - number))
        left_ms -= longest_ms
    return max(longest_ms, computed_ms / max(1, slots))


def _times(tasks: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """When those tasks began and ended of which the server says both."""
    times = [(_time(task, "startTime"), _time(task, "finishTime")) for task in tasks]
    return [(begin, end) for begin, end in times if 0 < begin <= end]


def _listed(answer: Any, outer: str, inner: str) -> list[dict[str, Any]]:
    """A list of the interface, which leaves out what is empty and may say null."""
    listed: list[dict[str, Any]] = (answer[outer] or {}).get(inner) or []
    return listed
