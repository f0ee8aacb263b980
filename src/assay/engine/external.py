"""An engine that a site has, by a file: its commands run as clients of the cluster, and its outputs are verified.

An experiment names the file (`engine: my-engine.yaml`); reading the experiment registers the engine under its own name.
"""

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

from assay.engine.client import CommandLine, await_end, last_words, run_client
from assay.engine.engine_file import EngineFile, filled, read_engine_file
from assay.engine.mapreduce import KIND as MAPREDUCE
from assay.engine.mapreduce import HadoopOutput, MapReduce
from assay.host.processes import end_processes, marked_processes
from assay.model.doubt import doubt_kind
from assay.model.engine import EngineContext, EngineKind, History, JobReference, Launch, LaunchReport, Program
from assay.model.errors import AssayError, BadInputError
from assay.model.installed import variants_of
from assay.model.progress import Progress
from assay.model.record import JobRecord, Stage
from assay.model.registry import ENGINE_FILES, ENGINES, SERVICES, VARIANTS
from assay.model.running_cluster import LAUNCHER
from assay.model.service import Discovery, Service
from assay.model.store import FILES, Files
from assay.model.task import TaskAttempt, TaskHistory
from assay.model.workload import Variant

_MARK = "ASSAY_ENGINE_COMMAND"
"""The variable by which the processes of a command are found, wherever they went."""
_RESULT = "assay-result "
"""How a line begins by which a command tells what it counted, as JSON."""
_VERSION_S = 60.0
_SHELL = ("bash", "-euo", "pipefail", "-c")
ENGINE_FILE_UNTRIED = doubt_kind(
    "engine-file-untried", "job",
    when="the engine's file says that nobody has tried it (`not_run_here`)",
    why="its commands may not do what its name says",
    cure="look at its output and its logs, and take `not_run_here` out of the file",
)  # fmt: skip


class External(MapReduce):
    """Runs the commands of an engine's file; of those that submit Hadoop's jobs it reads the histories."""

    def __init__(self, file: EngineFile, context: EngineContext) -> None:
        super().__init__(context)
        self._file = file
        self._jobs: dict[str, JobRecord] = {}
        self._version = self._asked_version()

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Run the workload's command to its end. Raises AssayError where it fails, leaves no output or processes."""
        name, mark = self._next_name(), uuid4().hex
        text = filled(self._file.commands[launch.command], self._places(launch, self._work(name)))
        output = HadoopOutput(Program(name=launch.command, jar=""), self._progressed, self.stages)
        phases, results = _Phases(self._file.phases), dict[str, int | float]()
        deadline = time.monotonic() + self._file.limit_s

        def failure() -> str | None:
            late = f"it took longer than limit_s, {self._file.limit_s:g} s" if time.monotonic() > deadline else None
            return self._failure() or late

        def read_line(line: str) -> None:
            output.read_line(line, progress)
            phases.read(line)

        started_ms = round(time.time() * 1000)
        try:
            code, log = self._run(name, text, mark, failure, read_line)
        finally:
            left = _end_marked(mark)
        finished_ms = round(time.time() * 1000)
        self._read_rest(output, log)
        for line in log.read_text(errors="replace", encoding="utf-8").splitlines():
            phases.read(line)  # the last ones have not been told
            results.update(_result_of(line, self._file.engine))
        if code != 0:
            raise AssayError(f"{launch.command} by {self._file.engine} failed with code {code}: {last_words(log)}")
        if left:
            raise AssayError(
                f"{launch.command} by {self._file.engine} left {len(left)} processes, which were ended: {left[0]}; let "
                "the command wait for what it starts"
            )
        self._look_for_output(launch)
        settings = {"engine.version": self._version}
        if self._file.jobs == "hadoop":
            return LaunchReport(jobs=output.jobs(), result=results, settings=settings, counts=bool(results))
        job = JobReference(name=launch.command, id=f"{self._file.engine}-{name}")
        self._jobs[job.id] = JobRecord(
            name=job.name, id=job.id, state="SUCCEEDED", submitted_ms=started_ms, started_ms=started_ms,
            finished_ms=finished_ms, counters={}, phases=phases.seconds(finished_ms / 1000),
            stages=tuple(Stage(name=phase, tasks=1) for phase, _ in phases.begun),
        )  # fmt: skip
        return LaunchReport(jobs=(job,), result=results, settings=settings, counts=bool(results))

    def history(self, job: JobReference) -> History:
        """Read a Hadoop job's history; of another command tell when it ran and its phases."""
        known = self._jobs.get(job.id)
        history = super().history(job) if known is None else History(job=known, attempts=())
        if not self._file.not_run_here:
            return history
        doubt = ENGINE_FILE_UNTRIED.doubt(f"the file of {self._file.engine} says that nobody has tried it", job.id)
        return history.model_copy(update={"doubts": (*history.doubts, doubt)})

    def phases(self, attempts: Sequence[TaskAttempt]) -> TaskHistory:
        """Read the finer phases of Hadoop's jobs."""
        return super().phases(attempts) if self._file.jobs == "hadoop" else TaskHistory()

    def _run(
        self, name: str, text: str, mark: str, failure: Callable[[], str | None], read_line: Callable[[str], None]
    ) -> tuple[int, Path]:
        """Run a command to its end: its exit code and its log.

        One that submits Hadoop's jobs runs where their clients do, any other within the bounds of the first worker.
        """
        command = [*_SHELL, text]
        if self._file.jobs == "hadoop":
            log = self._scratch / f"{name}.log"
            client = CommandLine(command, {**os.environ, **self._environment, _MARK: mark})
            return run_client(client, log, failure, read_line), log
        workers = [
            node.node.name for node in self._cluster.nodes if LAUNCHER in {daemon.role for daemon in node.daemons}
        ]
        launched = self._cluster.launch(workers[0], command, {**self._environment, _MARK: mark})
        return await_end(launched, launched.log, failure, read_line), launched.log

    def _work(self, name: str) -> Path:
        """An empty folder for a command's files: of one that is no job's client, among the intermediate data."""
        folder = self._scratch
        if self._file.jobs == "none":
            folder = Path(self._cluster.properties["mapreduce.cluster.local.dir"].partition(",")[0])
        work = folder / f"{name}-files"
        work.mkdir(parents=True)
        return work

    def _places(self, launch: Launch, work: Path) -> Mapping[str, str]:
        single = {
            "input": self._store.location(launch.input), "output": self._store.location(launch.output),
            "hadoop": str(self._cluster.hadoop), "extras": str(self._cluster.extras),
            "configuration": str(self._cluster.conf_dir), "work": str(work),
        }  # fmt: skip
        return {
            **{place: shlex.quote(text) for place, text in single.items()},
            "options": shlex.join(launch.options),
            "properties": shlex.join(self._generic({**self._file.properties, **launch.properties})),
        }

    def _look_for_output(self, launch: Launch) -> None:
        if isinstance(self._store, Files) and not any(file.bytes for file in self._store.list_files(launch.output)):
            raise AssayError(
                f"{launch.command} by {self._file.engine} ended with code 0 and wrote nothing to {launch.output}; look "
                "at where its command writes"
            )

    def _asked_version(self) -> str:
        """The first line that the version's command prints. Raises AssayError where it fails."""
        if not self._file.version:
            return "not asked for"
        text = filled(self._file.version, self._places(Launch(command="", input="/", output="/"), self._scratch))
        environment = {**os.environ, **self._environment}
        try:
            done = subprocess.run(
                [*_SHELL, text], env=environment, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                errors="replace", timeout=_VERSION_S, check=True, start_new_session=True,
            )  # fmt: skip
        except (subprocess.SubprocessError, OSError) as error:
            raise AssayError(f"the version of {self._file.engine} can't be asked for: {error}") from None
        return next(iter(done.stdout.splitlines()), "it printed nothing")


def _result_of(line: str, engine: str) -> Mapping[str, int | float]:
    """What a command tells of its result in a line. Raises AssayError for a line that is no map of numbers."""
    if not line.startswith(_RESULT):
        return {}
    with suppress(ValueError):
        told = json.loads(line.removeprefix(_RESULT))
        if isinstance(told, dict) and all(isinstance(value, int | float) for value in told.values()):
            return told
    raise AssayError(f"{engine} told its result in a line that is no map of numbers: {line[:100]!r}")


class _Phases:
    """When each phase began, by the lines that a command printed."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern) if pattern else None
        self.begun: list[tuple[str, float]] = []

    def read(self, line: str) -> None:
        match = self._pattern.search(line) if self._pattern else None
        if match and match["phase"] not in dict(self.begun):
            self.begun.append((match["phase"], time.time()))

    def seconds(self, end_s: float) -> dict[str, float]:
        """How long each phase took: until the next one began, or the end."""
        begun = [*self.begun, ("", end_s)]
        return {phase: next_s - begun_s for (phase, begun_s), (_, next_s) in pairwise(begun)}


def _end_marked(mark: str) -> list[str]:
    """End the processes that still have a command's mark; what they were called."""

    def find() -> list[int]:
        return marked_processes(mark, _MARK)

    left = [f"{_called(pid)} ({pid})" for pid in find()]
    end_processes(find, grace_s=2.0)
    return left


def _called(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "?"


_REGISTERED: dict[str, str] = {}
"""The texts of the files that were registered, by the engines' names."""


def register(path: Path) -> str:
    """Register the engine of a file, and return its name. Raises BadInputError for what can't be one."""
    file, text = read_engine_file(path)
    name = file.engine
    if _REGISTERED.get(name) == text:
        return name
    if name in ENGINES or name in SERVICES:
        raise BadInputError(f"{path}: there is an engine or service {name} already; give `engine` another name")
    hadoop = file.jobs == "hadoop"
    service = Service(
        name, needs=("mapreduce",) if hadoop else ("mapreduce", LAUNCHER), settings=lambda _: {f"{name}.file": text},
        discovery=Discovery() if hadoop else None,
    )  # fmt: skip
    program = f"commands of {name}"
    base = MAPREDUCE if hadoop else EngineKind(open=MapReduce)
    kind = base._replace(
        open=partial(External, file), runs=frozenset({program}), reads=frozenset({FILES}), services=(name,),
        staged_by="mapreduce", directed=None,
    )  # fmt: skip
    for workload in file.commands:
        usual, variant = next(iter(variants_of(workload).items()))
        like = usual if variant.cost else ""
        about = {"about": file.about, "jobs": (workload,), "command": workload, "program": program, "like": like}
        VARIANTS.add(f"{workload}/{name}", Variant.model_validate(about))
    SERVICES.add(name, service)
    ENGINES.add(name, kind)
    _REGISTERED[name] = text
    return name


ENGINE_FILES.add("yaml", register)
