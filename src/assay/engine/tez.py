"""Tez on YARN: MapReduce's jobs and programs as DAGs of two vertices, by Hadoop's framework name `yarn-tez`.

Or Hive's queries, whose DAGs are those of one session. Tez' client logs as Hadoop's own does. What its tasks did is in
the application master's history file, which lies in the store, outside of what a trial measures.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from assay.engine.client import CommandLine
from assay.engine.directing import of_tez
from assay.engine.hive import HOME, QUERIES, query_line
from assay.engine.mapreduce import MapReduce
from assay.engine.tasks import CAUSES
from assay.engine.tez_history import file_prefix, is_whole, read_history
from assay.engine.tez_tasks import COUNTERS, FIGURES, FIGURES_NOTE, STAGES, VERTICES, TezAttempt
from assay.model.engine import HADOOP_JOBS, EngineContext, EngineKind, History, JobReference, Program
from assay.model.errors import AssayError
from assay.model.registry import ENGINES, SERVICES
from assay.model.running_cluster import with_classpath
from assay.model.service import ContainerStarts, NodeContext, Programs, Service, Timer
from assay.model.store import Files
from assay.model.task import TaskAttempt, TaskHistory

PATIENCE_S, POLL_S = 30.0, 0.1
HISTORY_FOLDER = "/tez-history"
_HISTORY_FOLDER_PROPERTY = "tez.simple.history.logging.dir"
_CLASSPATH = "tez.cluster.additional.classpath.prefix"
_MOST_BEATS = "tez.am.am-rm.heartbeat.interval-ms.max"
_BEFORE_EXIT = "tez.am.sleep.time.before.exit.millis"


class Tez(MapReduce):
    """Runs launches and programs as MapReduce does, with Tez' jars on the clients' class path."""

    stages: Mapping[str, str] = VERTICES

    def __init__(self, context: EngineContext) -> None:
        cluster = context.cluster
        environment = with_classpath(cluster.environment, [cluster.properties[_CLASSPATH]])
        super().__init__(context._replace(cluster=replace(cluster, environment=environment)))
        self._stored = cluster.client("hdfs", Files)
        self._patience_s = PATIENCE_S * cluster.slower

    def history(self, job: JobReference) -> History:
        """Read its history file, after a wait: the file is whole when the application master has ended."""
        deadline_s = time.monotonic() + self._patience_s
        prefix = file_prefix(job.id)
        while True:
            for file in reversed(self._stored.list_files(HISTORY_FOLDER)):
                if Path(file.path).name.startswith(prefix):
                    text = b"".join(self._stored.pieces(file.path)).decode(errors="replace")
                    if is_whole(text):
                        return self._with_outcomes(read_history(text, job))
            if time.monotonic() > deadline_s:
                raise AssayError(f"no whole history file of {job.id} is in {HISTORY_FOLDER} of HDFS")
            time.sleep(POLL_S)

    def _program_line(self, program: Program, jar: str, arguments: Sequence[str]) -> CommandLine:
        if HOME not in program.variables:
            return super()._program_line(program, jar, arguments)
        environment, properties = {**self._environment, **program.variables}, {**self._sends, **program.properties}
        return query_line(jar, arguments, self._cluster, environment, properties, self._scratch)

    def phases(self, attempts: Sequence[TaskAttempt]) -> TaskHistory:  # noqa: ARG002 - the history has all there is
        """Return no phases finer than those of the history."""
        return TaskHistory()

    def _settings(self, job: JobReference) -> Mapping[str, str]:  # noqa: ARG002 - no server knows them
        return {}


def _properties(node: NodeContext) -> Mapping[str, str]:
    """They go into the file of MapReduce's properties, which the client hands on to Tez and the jobs' driver reads."""
    return {
        "mapreduce.framework.name": "yarn-tez",
        # All nodes have the folder: Tez need not be copied from the store, nor its archive be made.
        "tez.ignore.lib.uris": "true",
        "tez.use.cluster.hadoop-libs": "false",
        _CLASSPATH: ":".join(
            (str(node.conf_dir), *node.classpath, *map(str, node.job_jars), f"{node.programs}/{TEZ.name}/lib/*")
        ),
        _HISTORY_FOLDER_PROPERTY: HISTORY_FOLDER,
        # Guice, in the application master, opens a package of Java's own.
        "yarn.nodemanager.admin-env":
            "MALLOC_ARENA_MAX=$MALLOC_ARENA_MAX,JDK_JAVA_OPTIONS=--add-opens=java.base/java.lang=ALL-UNNAMED",
    }  # fmt: skip


def _start_properties(starts: ContainerStarts, _chosen: Mapping[str, str]) -> Mapping[str, str]:
    return {_MOST_BEATS: "50", _BEFORE_EXIT: "0"} if starts.brisk else {}


TEZ = Service(
    "tez",
    needs=("mapreduce",),
    programs=Programs("tez-api-*.jar"),
    queue_property="tez.queue.name",
    properties=_properties,
    timers=(
        Timer(_MOST_BEATS, "1000", "TezConfiguration"),
        Timer(_BEFORE_EXIT, "5000", "TezConfiguration"),
        Timer("tez.task.am.heartbeat.interval-ms.max", "100", "TezConfiguration"),
        Timer("tez.task.get-task.sleep.interval-ms.max", "200", "TezConfiguration"),
        Timer("tez.task.timeout-ms", "300000", "TezConfiguration"),
        Timer("tez.am.container.reuse.locality.delay-allocation-millis", "250", "TezConfiguration"),
    ),
    start_properties=_start_properties,
    first_words=frozenset({"tez"}),
    properties_key="tez",
    open_names=(r"tez\..+",),
    reserved=frozenset({"mapreduce.framework.name", _CLASSPATH, "tez.lib.uris", "tez.ignore.lib.uris"}),
    history_properties=frozenset(
        {
            "tez.history.logging.service.class",
            _HISTORY_FOLDER_PROPERTY,
            "tez.am.history.logging.enabled",
            "tez.history.logging.log.level",
            "tez.history.logging.taskattempt-filters",
        }
    ),
)
SERVICES.add(TEZ.name, TEZ, place=5)

KIND = EngineKind(
    open=Tez,
    runs=frozenset({HADOOP_JOBS, QUERIES}),
    stages=STAGES,
    attempt=TezAttempt,
    causes=CAUSES,
    counters=COUNTERS,
    figures=FIGURES,
    figures_note=FIGURES_NOTE,
    services=(TEZ.name,),
    directed=of_tez,
)
ENGINES.add("tez", KIND, place=2)
