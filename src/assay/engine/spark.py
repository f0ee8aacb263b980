"""Spark on YARN: applications of the jar of Spark's workloads, submitted as `spark-submit` does it, and others.

The driver runs in the client's process (deploy mode `client`), its executors in YARN's containers. The driver logs what
it did into a file of the trial's scratch directory, which lies on no medium under test.

Spark's client says `Submitted application application_N_M` when an application is accepted (YarnClientImpl).
"""

import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from assay.engine.client import ClientEngine, CommandLine, ProgramOutput
from assay.engine.directing import of_spark
from assay.engine.spark_log import log_of, read_application
from assay.engine.spark_persisted import BLOCK_UPDATES
from assay.engine.spark_service import (
    DRIVER_MEMORY,
    HADOOP,
    HADOOP_CLASSPATH,
    JARS,
    PREFIX,
    REDUCERS,
    SPARK,
    executors_of,
    node_of,
    with_partitions,
)
from assay.engine.spark_tasks import (
    CAUSES,
    COUNTERS,
    FIGURES,
    FIGURES_NOTE,
    PATH,
    PATH_NOTE,
    SparkAttempt,
    stage_called,
)
from assay.engine.spark_variants import SPARK_JOBS
from assay.model.cluster import EmbeddedSpec
from assay.model.engine import (
    EngineContext,
    EngineKind,
    History,
    JobReference,
    Launch,
    LaunchReport,
    Program,
)
from assay.model.errors import AssayError
from assay.model.fault import StageProgress
from assay.model.progress import Progress
from assay.model.registry import ENGINES, SERVICES
from assay.model.service import DaemonKind
from assay.model.store import FILES, TABLES
from assay.model.task import TaskAttempt, TaskHistory

SUBMIT, MAIN, JOBS_JAR = "org.apache.spark.deploy.SparkSubmit", "org.assay.spark.Main", "assay-jobs-spark.jar"
_PATIENCE_S = 60.0
_MAPREDUCE_CLASSPATH = "mapreduce.application.classpath"
_STAGE = re.compile(r"assay: stage (?P<stage>\d+) .* (?P<percent>\d+) %")
_SUBMITTED = re.compile(r"Submitted application (application_\d+_\d+)")
_LOCAL_DIRS = "SPARK_LOCAL_DIRS"
"""The variable that wins over `spark.local.dir`."""
_CLIENT_OPTIONS = "HADOOP_CLIENT_OPTS"
"""The variable with options of the JVMs of Hadoop's clients."""
_STOPPED = "SparkContext was shut down"
"""In the error of a driver that was stopped from elsewhere, whose log then says why."""

# What Spark reaches into, which modules forbid since Java 16 (Spark: JavaModuleOptions).
_OPEN = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "jdk.internal.ref", "sun.nio.ch", "sun.nio.cs",
    "sun.security.action", "sun.util.calendar",
)  # fmt: skip
_OPTIONS = (
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED", "-Djdk.reflect.useDirectMethodHandle=false",
    # A driver is no mere client: it has Java's own compiler and collector, whatever clients are started with.
    "-XX:TieredStopAtLevel=4", "-XX:-UseSerialGC",
)  # fmt: skip
LOG4J = """\
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{yyyy-MM-dd HH:mm:ss,SSS} %p %c{2}: %m%n%ex
logger.submitted.name = org.apache.hadoop.yarn.client.api.impl.YarnClientImpl
logger.submitted.level = info
"""


class Spark(ClientEngine):
    """Submits launches and programs as applications."""

    process = "driver"

    def __init__(self, context: EngineContext) -> None:
        super().__init__(context)
        self._properties = {**self._cluster.properties, **context.properties}
        partitions = self._cluster.properties.get(REDUCERS)
        self._sends = {**({REDUCERS: partitions} if partitions else {}), **context.properties}
        self._lib = self._cluster.programs / SPARK.name / "lib"
        self._events = self._scratch / "events"
        self._events.mkdir()
        self._log4j = self._scratch / "log4j2.properties"
        self._log4j.write_text(LOG4J, encoding="utf-8")

    def run(self, launch: Launch, progress: Progress) -> LaunchReport:
        """Run a command to its end."""
        report = super().run(launch, progress)
        settings = {name: text for name, text in report.settings.items() if name != _MAPREDUCE_CLASSPATH}
        return report.model_copy(update={"settings": settings})

    def _progress_of(self, launch: Launch) -> Callable[[str], None]:
        done: dict[str, int] = {}

        def read_progress(line: str) -> None:
            if match := _STAGE.match(line):
                done[stage_called(int(match["stage"]))] = int(match["percent"])
                self._progressed(StageProgress(launch.command, dict(done)))

        return read_progress

    def _command_line(self, launch: Launch, arguments: Sequence[str]) -> CommandLine:
        jar = self._lib / "jobs" / JOBS_JAR
        # All nodes of a cluster of Assay's own have the jar; those of another get it from the driver.
        place = jar.as_uri() if self._cluster.outlives else f"local:{jar}"
        main = ["--name", f"assay {launch.command}", "--class", MAIN]
        submit, environment = self._submitted_with(launch.properties)
        return CommandLine([*submit, *main, place, *arguments], environment)

    def _program_line(self, program: Program, jar: str, arguments: Sequence[str]) -> CommandLine:
        main = [] if program.main_class is None else ["--class", program.main_class]
        submit, environment = self._submitted_with(program.properties)
        return CommandLine([*submit, *main, jar, *arguments], {**environment, **program.variables})

    def _output_of(self, program: Program) -> ProgramOutput:
        output = ProgramOutput(program, _SUBMITTED, noun="application")
        output.without_jobs = "its driver ran no application on YARN"
        return output

    def _settings_of(self, program: Program, jobs: Sequence[JobReference]) -> Mapping[str, str]:  # noqa: ARG002
        return self._settings(program.properties)

    def history(self, job: JobReference) -> History:
        """Read what its driver logged, also of one that did not come to its end."""
        log = log_of(job.id, self._events)
        if log is None:
            raise AssayError(f"the driver of {job.name} ({job.id}) left no event log")
        return self._with_outcomes(read_application(log, job))

    def phases(self, attempts: Sequence[TaskAttempt]) -> TaskHistory:  # noqa: ARG002 - the history has all there is
        """Return no phases finer than those of the history."""
        return TaskHistory()

    def _settings(self, properties: Mapping[str, str]) -> dict[str, str]:
        """Spark's properties of an application that has these beside the trial's."""
        every = {**self._properties, **properties}
        settings = {name: value for name, value in every.items() if name.startswith(PREFIX)}
        settings |= {
            f"{HADOOP}{name}": value for name, value in {**self._sends, **properties}.items() if name not in settings
        }
        # Spark's client reads no file of MapReduce's, and takes its class path for Hadoop's.
        if classpath := self._configured("mapred-site.xml", _MAPREDUCE_CLASSPATH):
            settings[HADOOP + _MAPREDUCE_CLASSPATH] = classpath
        if isinstance(self._context.spec, EmbeddedSpec):
            node = node_of(self._context.spec, every, self._daemons())
            settings = executors_of(every, node).properties(settings)
        else:
            settings = with_partitions(settings, None)
            sent_jars, stored_jars = (
                ",".join(f"{self._file_system}{path}" for path in paths)
                for paths in (self._cluster.sent_jars.get(SPARK.name, ()), self._cluster.stored_jars)
            )
            # Nodes that lack Spark fetch it from the cluster's own file system; Hadoop's jars are theirs.
            settings |= {
                JARS: sent_jars,
                HADOOP_CLASSPATH: "true",
                **({"spark.jars": stored_jars} if stored_jars else {}),
            }
        return {
            **settings,
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": self._events.as_uri(),
            # Says whether persisted partitions lay on drives.
            BLOCK_UPDATES: "true",
            "spark.local.dir": str(self._scratch),  # the driver's: executors have YARN's directories
            "spark.ui.enabled": "false",
        }

    def _submitted_with(self, properties: Mapping[str, str]) -> CommandLine:
        """How an application with these properties is submitted: arguments up to its class or jar, and environment."""
        settings = self._settings(properties)
        conf = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
        options = (
            *_OPTIONS, f"-Xmx{settings.get(DRIVER_MEMORY, '1g')}", f"-Dlog4j2.configurationFile={self._log4j.as_uri()}",
            # A driver that is killed leaves files there, which go with the trial.
            f"-Djava.io.tmpdir={self._scratch}", "-cp", self._classpath,
        )  # fmt: skip
        environment = {name: text for name, text in self._cluster.environment.items() if name != _LOCAL_DIRS}
        # Hadoop's script puts these after its own, and the last class path is Java's.
        environment[_CLIENT_OPTIONS] = " ".join((*filter(None, [environment.get(_CLIENT_OPTIONS)]), *options))
        if "spark.driver.host" in settings:
            environment["SPARK_LOCAL_HOSTNAME"] = settings["spark.driver.host"]
        submit = [str(self._cluster.hadoop), SUBMIT, "--master", "yarn", "--deploy-mode", "client", *conf]
        return CommandLine(submit, environment)

    @cached_property
    def _classpath(self) -> str:
        """The driver's: Spark's jars before Hadoop's, of which some are older."""
        command = [str(self._cluster.hadoop), "classpath"]
        try:
            done = subprocess.run(
                command, env=dict(self._cluster.environment), capture_output=True, check=True, timeout=_PATIENCE_S
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise AssayError(f"`{' '.join(command)}` does not say where Hadoop's jars are: {error}") from error
        conf_dir, jobs = str(self._cluster.conf_dir), map(str, self._cluster.job_jars)
        return ":".join((conf_dir, f"{self._lib}/*", done.stdout.decode().strip(), *jobs))

    @cached_property
    def _file_system(self) -> str:
        """The default one of the cluster's configuration: Spark takes paths without a scheme for local ones."""
        return self._configured("core-site.xml", "fs.defaultFS").rstrip("/")

    def _configured(self, file: str, name: str) -> str:
        """A property as a file of the clients' configuration has it; empty where it has none."""
        path = self._cluster.conf_dir / file
        # The user's own cluster's configuration: as trusted as the user.
        entries = ET.parse(path).getroot() if path.exists() else ()  # noqa: S314
        return next((entry.findtext("value", "") for entry in entries if entry.findtext("name") == name), "")

    def _abandon(self, jobs: Iterable[str]) -> None:
        """Do nothing: an application whose driver has gone ends by itself."""

    def _command_reason(self, code: int, error: str | None, log: Path) -> str:
        """Why a command failed; a driver that was stopped from elsewhere knows no reason, and its log has YARN's."""
        return super()._command_reason(code, None if error and _STOPPED in error else error, log)

    def _daemons(self) -> list[DaemonKind]:
        """The daemons beside which a node has room for executors."""
        roles = next(
            ({daemon.role for daemon in node.daemons} for node in self._cluster.nodes if node.container_logs), set()
        )
        return [kind for service in SERVICES.values() for kind in service.daemons if kind.role in roles]


KIND = EngineKind(
    open=Spark,
    runs=frozenset({SPARK_JOBS}),
    reads=frozenset({FILES, TABLES}),
    staged_by="mapreduce",
    makes_stages=True,
    attempt=SparkAttempt,
    causes=CAUSES,
    counters=COUNTERS,
    path=PATH,
    path_note=PATH_NOTE,
    figures=FIGURES,
    figures_note=FIGURES_NOTE,
    services=(SPARK.name,),
    directed=of_spark,
)
ENGINES.add("spark", KIND, place=3)
