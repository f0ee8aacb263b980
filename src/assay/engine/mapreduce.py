"""Hadoop MapReduce on YARN: commands of the jobs jar, run as `hadoop jar` runs them, and programs of other jars.

Hadoop's clients say `Submitted application application_N_M` when a job is accepted (YarnClientImpl) and
`Running job: job_N_M` when it is watched (Job.monitorAndPrintJob), at the level INFO. Hive says `App id
application_N_M` of a session of Tez (RenderStrategy).
"""

import re
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from assay.engine.client import ClientEngine, CommandLine, ProgramOutput, is_of_task, job_called
from assay.engine.directing import TAGS, of_mapreduce
from assay.engine.jhist_files import HISTORY_FILE_UNREAD, HistoryFiles
from assay.engine.job_history_server import HistoryServer
from assay.engine.task_logs import read_phases
from assay.engine.tasks import (
    CAUSES,
    CONFIGURATION_BYTES,
    COUNTERS,
    FIGURES,
    FIGURES_NOTE,
    PATH,
    PATH_NOTE,
    STAGES,
    MapReduceAttempt,
    MapReducePhases,
)
from assay.model.engine import (
    HADOOP_JOBS,
    LINES_OUTPUT,
    EngineContext,
    EngineKind,
    History,
    JobReference,
    Launch,
    Program,
)
from assay.model.errors import AssayError
from assay.model.fault import StageProgress
from assay.model.progress import Progress
from assay.model.registry import ENGINES
from assay.model.running_cluster import with_classpath
from assay.model.store import FILES, TABLES
from assay.model.task import TaskAttempt, TaskHistory

_JOB = re.compile(r"(?:Running job: job|Submitted application application|App id application)_(\d+_\d+)")
_DONE = re.compile(r"\bmap (?P<map>\d+)% reduce (?P<reduce>\d+)%")
# The words of org.assay.jobs.driver.JobSequence: the job's number among how many, its name, and tens of percent.
_JOB_DONE = re.compile(r"assay: job \S+ (?P<job>.+) map (?P<map>\d+) % reduce (?P<reduce>\d+) %")
_LOCAL = re.compile(r"Running job: job_local")
_UNKNOWN = "no job of it is known on the cluster"


SAME_NAMES: Mapping[str, str] = {stage.name: stage.name for stage in STAGES}
"""MapReduce itself calls its stages as its client does."""


class HadoopOutput(ProgramOutput):
    """The jobs and the progress that a program's client has printed so far."""

    def __init__(
        self, program: Program, progressed: Callable[[StageProgress], None], stages: Mapping[str, str] = SAME_NAMES
    ) -> None:
        """`stages` are the engine's names of the stages that Hadoop's client calls map and reduce."""
        super().__init__(program, _JOB, prefix="job_")
        self._stages, self._progressed = stages, progressed
        self.without_jobs = f"{_UNKNOWN}: its client named none; it must log at level INFO"

    def keep(self, line: str) -> None:
        """Take the job from a line that names one, or that it runs on no cluster."""
        super().keep(line)
        if _LOCAL.search(line):
            self.without_jobs = f"{_UNKNOWN}: it ran on this machine alone"

    def read_line(self, line: str, progress: Progress) -> None:
        """Read a line of the output, and pass on jobs and progress that it tells of."""
        before = len(self.ids)
        super().read_line(line, progress)
        done = _DONE.search(line)
        if done and len(self.ids) == before:
            progress.detail(f"{self._program.name}: map {done['map']} %, reduce {done['reduce']} %")
            self._progressed(_stage_progress(job_called(self._program, max(0, before - 1)), done, self._stages))


def _stage_progress(job: str, match: re.Match[str], stages: Mapping[str, str]) -> StageProgress:
    return StageProgress(job, {stage: int(match[name]) for name, stage in stages.items()})


_OUTPUT_FORMAT = "mapreduce.job.outputformat.class"
_TEXT_FORMAT = "org.apache.hadoop.mapreduce.lib.output.TextOutputFormat"


class MapReduce(ClientEngine):
    """Runs launches as `hadoop jar` does, and programs as `hadoop` does."""

    stages: Mapping[str, str] = SAME_NAMES
    """The engine's names of the stages that Hadoop's client calls map and reduce."""

    def __init__(self, context: EngineContext) -> None:
        super().__init__(context)
        self._jar = context.jobs_jar
        self._environment = with_classpath(self._cluster.environment, list(map(str, self._cluster.job_jars)))
        # As by Hadoop's `-libjars`, which uploads no file of the cluster's own. Names after # keep it from taking all
        # jars from its upload folder by a wildcard (JobResourceUploader).
        stored = ",".join(f"{path}#{Path(path).name}" for path in self._cluster.stored_jars)
        self._sends: Mapping[str, str] = {**context.properties, **({"tmpjars": stored} if stored else {})}
        self._history = HistoryServer(
            self._cluster.addresses["historyserver"], connect=self._cluster.connect, ca_file=self._cluster.ca_file,
            slower=self._cluster.slower, authorize=self._cluster.authorize,
        )  # fmt: skip
        self._files: HistoryFiles | None = None
        if self._cluster.history is not None:
            self._files = HistoryFiles(self._cluster.history, self._cluster.hadoop, self._environment)

    def _progress_of(self, launch: Launch) -> Callable[[str], None]:  # noqa: ARG002 - its lines name the job
        def read_progress(line: str) -> None:
            if match := _JOB_DONE.match(line):
                self._progressed(_stage_progress(match["job"], match, self.stages))

        return read_progress

    def _command_line(self, launch: Launch, arguments: Sequence[str]) -> CommandLine:
        command, *further = arguments
        jar = [str(self._cluster.hadoop), "jar", str(self._jar), command]
        return CommandLine([*jar, *self._generic(launch.properties), *further], self._environment)

    def _program_line(self, program: Program, jar: str, arguments: Sequence[str]) -> CommandLine:
        environment = {**self._environment, **program.variables}
        command = [str(self._cluster.hadoop), program.main_class or "jar"]
        if program.main_class is None:
            command.append(jar)
        else:  # its jar goes on the client's class path, before what the user has put there
            environment = with_classpath(environment, [jar])
        lines_output = self._cluster.properties.get(_OUTPUT_FORMAT, _TEXT_FORMAT)
        command += self._generic(program.properties)
        command += [argument.replace(LINES_OUTPUT, lines_output) for argument in arguments]
        return CommandLine(command, environment)

    def _generic(self, properties: Mapping[str, str]) -> list[str]:
        """Return generic options, which come first, as Hadoop's ToolRunner wants them."""
        return [f"-D{name}={value}" for name, value in {**self._sends, **properties}.items()]

    def _output_of(self, program: Program) -> ProgramOutput:
        return HadoopOutput(program, self._progressed, self.stages)

    def _settings_of(self, program: Program, jobs: Sequence[JobReference]) -> Mapping[str, str]:
        return {**self._settings(jobs[-1]), **program.properties}

    def history(self, job: JobReference) -> History:
        """Read the job's history file where the cluster names a folder of these, else ask the JobHistoryServer."""
        if self._files is None:
            return self._history.read(job)
        try:
            return self._files.read(job)
        except AssayError as error:
            history = self._history.read(job)
            doubt = HISTORY_FILE_UNREAD.doubt(
                f"the history file of {job.name} ({job.id}) was not read: {error}", job.id
            )
            return history.model_copy(update={"doubts": (*history.doubts, doubt)})

    def phases(self, attempts: Sequence[TaskAttempt]) -> TaskHistory:
        """Read the finer phases from the containers' logs, as far as the platform's nodes give them."""
        return read_phases(
            self._cluster.nodes, [attempt for attempt in attempts if isinstance(attempt, MapReduceAttempt)]
        )

    def _further_lines(self, lines: Sequence[str], jobs: Sequence[str]) -> Sequence[str]:
        """Ask history for a task's error: the client prints only those of tasks that are tried again."""
        if jobs and not any(map(is_of_task, lines)):
            with suppress(AssayError):
                return self._history.failure(jobs[-1])
        return ()

    def _settings(self, job: JobReference) -> Mapping[str, str]:
        return self._history.settings(job)

    def _abandon(self, jobs: Iterable[str]) -> None:
        """Kill the jobs whose client was ended, on a cluster that outlives the trial."""
        for job in jobs if self._cluster.outlives else ():
            command = [str(self._cluster.hadoop), "job", "-kill", job]
            with suppress(subprocess.TimeoutExpired):
                subprocess.run(command, env=self._environment, capture_output=True, check=False, timeout=60)


KIND = EngineKind(
    open=MapReduce,
    runs=frozenset({HADOOP_JOBS}),
    reads=frozenset({FILES, TABLES}),
    stages=STAGES,
    attempt=MapReduceAttempt,
    log=MapReducePhases,
    causes=CAUSES,
    counters=COUNTERS,
    uncounted_bytes=CONFIGURATION_BYTES,
    path=PATH,
    path_note=PATH_NOTE,
    figures=FIGURES,
    figures_note=FIGURES_NOTE,
    services=("mapreduce",),
    directed=lambda tier: {**of_mapreduce(tier), **TAGS},
)
ENGINES.add("mapreduce", KIND, place=1)
