"""Where Hadoop and Java come from, which properties they know, and how start-up waiting is cut.

Brisk starts shorten what lies around a job's work, in which the compiler, collector and heap of JVMs stay as they are:
waiting, and the loading of classes. So compare trials of the same starts only. Whatever brisk sets is listed in the
cluster's settings, so that a record says what it ran with.

The tables are the `*-default.xml` in its jars. They lack some that are read all the same: these are texts in the
classes that hold Hadoop's names of properties (`MRJobConfig`, `DFSConfigKeys`, ...).
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from assay.host.files import plain
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.registry import SERVICES
from assay.model.service import ContainerStarts, DaemonKind

_OLDEST_JAVA = 11  # what the jobs are made for
_PREPARE = "run `hadoop/prepare` (or `./assay` once) to fetch it, or point HADOOP_HOME at an installed Hadoop 3"


class Java(Frozen):
    """A Java runtime: its home, feature version (`17`), full version, and a fingerprint that changes with its build."""

    home: Path
    feature: int
    version: str
    fingerprint: str

    @property
    def command(self) -> Path:
        """The `java` launcher."""
        return self.home / "bin" / "java"


class Distribution(Frozen):
    """A Hadoop and the Java that runs it.

    `classpath` is what daemons and clients need without any configuration: plain jars, directories of web pages, or
    `directory/*`. `jars` is the folder of the bundled jars, `home` an installed Hadoop (exactly one of the two);
    `extras` holds the examples and TestDFSIO. `pathing_jar` stands for the whole class path in one entry, `archive` is
    the class-data archive made for exactly this Java and that jar; without one, `archive_note` says why.
    """

    version: str
    java: Java
    classpath: tuple[str, ...]
    jars: Path | None = None
    home: Path | None = None
    extras: Path | None = None
    pathing_jar: Path | None = None
    formatted_name: Path | None = None
    archive: Path | None = None
    archive_note: str = ""

    @property
    def programs(self) -> tuple[Path, ...]:
        """The files that a daemon or a task loads code from: Java's, Hadoop's jars, the class-data archive."""
        jars = [jar for element in self.classpath for jar in Path(element.removesuffix("/*")).glob("*.jar")]
        java = (self.java.home / "lib").rglob("*")
        files = (*jars, *java, *((self.extras or self.java.home).glob("*.jar")), self.pathing_jar, self.archive)
        return tuple(file for file in files if file is not None and file.is_file())


def find_java(environment: Mapping[str, str]) -> Java:
    """The Java of JAVA_HOME, or else of the PATH.

    Raises BadInputError when there is none or it is too old for the jobs.
    """
    mend = "a JDK of version 17 to 21"
    named = environment.get("JAVA_HOME")
    if named:
        if not (Path(named) / "bin" / "java").is_file():
            raise BadInputError(f"JAVA_HOME is {named}, but there is no bin/java in it; set it to {mend}")
        home = Path(named).resolve()
    else:
        program = shutil.which("java", path=environment.get("PATH", ""))
        if not program:
            raise BadInputError(
                f"no Java found: JAVA_HOME is not set and there is no `java` on the PATH; install {mend}"
            )
        home = Path(program).resolve().parent.parent
    release = home / "release"
    facts = (
        dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', release.read_text(encoding="utf-8"), re.MULTILINE))
        if release.is_file()
        else {}
    )
    version = facts.get("JAVA_VERSION", "")
    number = re.match(r"(?:1\.)?(\d+)", version)
    if number is None:
        raise BadInputError(
            f"{home} does not say which Java it is (no JAVA_VERSION in {release}); set JAVA_HOME to a JDK"
        )
    feature = int(number[1])
    if feature < _OLDEST_JAVA:
        raise BadInputError(f"Java {version} in {home} is too old, jobs need {_OLDEST_JAVA}; set JAVA_HOME to {mend}")
    # A class-data archive is only good for the build that made it: this digest changes with every build.
    digest = hashlib.sha256()
    for part in (release, home / "lib" / "modules", home / "lib" / "server" / "libjvm.so"):
        if part.is_file():
            status = part.stat()
            digest.update(f"{part} {status.st_size} {status.st_mtime_ns}\n".encode())
    return Java(home=home, feature=feature, version=version, fingerprint=digest.hexdigest()[:16])


def find_distribution(installation: Installation, environment: Mapping[str, str]) -> Distribution:
    """The Hadoop to run: `installation.hadoop_home` when it is set, else the bundled jars.

    Raises BadInputError, with the cure, when Java or Hadoop's jars are missing.
    """
    java = find_java(environment)
    home = installation.hadoop_home
    if home is None:
        return bundled(installation.parts / "hadoop", java)
    share = home / "share" / "hadoop"
    version = _version(share / "common")
    if version is None or not (home / "bin" / "hadoop").is_file():
        raise BadInputError(
            f"HADOOP_HOME is {home}, but there is no bin/hadoop and share/hadoop/common/hadoop-common-*.jar in it; "
            "point it at an Apache Hadoop 3, or unset it to use the bundled one"
        )
    if not version.startswith("3."):
        raise BadInputError(
            f"HADOOP_HOME is {home}: Hadoop {version} can't be used, only Hadoop 3; unset it to use the bundled one"
        )
    parts = [share / folder for service in SERVICES.values() for folder in service.folders]
    extras = next((service.extras for service in SERVICES.values() if service.extras), "")
    # Web pages are folders beside the jars, so what has these is an entry of its own.
    web = (str(part) for part in parts if (part / "webapps").is_dir())
    return Distribution(
        version=version, java=java, home=home, extras=share / extras,
        classpath=(*web, *(f"{part}/*" for part in parts)),
        archive_note="an installed Hadoop is used: class-data archives are made for the bundled jars only",
    )  # fmt: skip


# A job's jar is found by its address, in which Java's URLDecoder takes a plus for a blank.
_NO_PLUS = "+"


def check_paths(installation: Installation, distribution: Distribution) -> None:
    """Raises BadInputError where Hadoop or Java would read a path of this copy of Assay, or their own, otherwise."""
    plain(distribution.java.home, "the Java of JAVA_HOME or PATH in")
    plain(installation.jobs_jar, "this copy of Assay, with", but=_NO_PLUS)
    plain(installation.parts.absolute(), "this copy of Assay, with", but=_NO_PLUS)
    if distribution.home is not None:
        plain(distribution.home.absolute(), "HADOOP_HOME", but=_NO_PLUS)
    if distribution.jars is not None:
        plain(distribution.jars, "this copy of Assay, with", but=_NO_PLUS)


def bundled(folder: Path, java: Java) -> Distribution:
    """The jars that `hadoop/prepare` put into `folder`. Raises BadInputError when they are not there."""
    # An archive names the jars' real paths.
    folder = folder.resolve()
    jars = folder / "lib"
    version = _version(jars)
    pathing = folder / "hadoop.jar"
    if version is None or not pathing.is_file():
        raise BadInputError(f"Hadoop's jars are not in {jars}; {_PREPARE}")
    archive, made_for, name = folder / "classes.jsa", folder / "classes.java", folder / "name"
    note = ""
    if not archive.is_file() or not made_for.is_file():
        note = "no class-data archive was made for the bundled jars"
    elif made_for.read_text(encoding="utf-8") != archive_stamp(java, folder):
        note = (
            f"the class-data archive was made for another Java than {java.version} in {java.home}, or in another "
            f"folder than {folder}"
        )
    return Distribution(
        version=version, java=java, jars=jars, extras=folder / "extras", classpath=(f"{jars}/*",), pathing_jar=pathing,
        formatted_name=name if (name / "current" / "VERSION").is_file() else None,
        archive=None if note else archive, archive_note=note,
    )  # fmt: skip


def archive_stamp(java: Java, folder: Path) -> str:
    """What a class-data archive is made for: a Java, and the jars' folder, which Java compares with their path.

    In a copied or moved checkout Java refuses the archive in silence; processes then start later and take more memory.
    """
    return f"{java.fingerprint} {folder}\n"


def _version(folder: Path) -> str | None:
    names = sorted(path.name for path in folder.glob("hadoop-common-*.jar") if "tests" not in path.name)
    match = re.fullmatch(r"hadoop-common-(.+)\.jar", names[0]) if names else None
    return match.group(1) if match else None


# Processes that no byte under test passes through, and that live for seconds: the quick compiler, the small collector.
_CONTROL_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

# Mapped where it was laid out, an archive's pages are shared and need no patching: less memory and a quicker start. By
# default Java 17 moves it at each start, as a hardening measure. What can't be mapped is loaded as usual, in silence.
_SHARING_OPTIONS = (
    "-Xshare:auto", "-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0",
    "-Xlog:cds=off", "-Xlog:cds+dynamic=off",
)  # fmt: skip

SMALL_HEAP_MB = 128
"""Of a worker's daemon that others like it are beside; they hold 30 to 60 MB of it (measured)."""


class Starts(Frozen):
    """One way to start things: JVM options by kind of process; the services' properties go with `containers`."""

    name: str
    control_options: tuple[str, ...] = ()
    data_options: tuple[str, ...] = ()
    data_heap_mb: int | None = None
    """The largest heap of those on the data's path, where it is not their kind's own."""
    containers: ContainerStarts = ContainerStarts()

    def with_processors(self, count: int) -> "Starts":
        """These starts for JVMs that see so many processors, however small their share of this machine's is.

        A JVM chooses its collector and the number of its threads by that.
        """
        option = f"-XX:ActiveProcessorCount={count}"
        return self.model_copy(
            update={
                "control_options": (*self.control_options, option),
                "data_options": (*self.data_options, option),
                "containers": self.containers._replace(processors=count),
            }
        )

    def among_many(self) -> "Starts":
        """These starts for a worker's daemons on a machine that has several workers: with half the heap."""
        return self.model_copy(update={"data_heap_mb": SMALL_HEAP_MB})

    def settings(
        self, distribution: Distribution, properties: Mapping[str, str], daemons: Iterable[DaemonKind]
    ) -> dict[str, str]:
        """What a record has to say of it: every property and JVM option that is not Hadoop's own.

        `properties` are those that the services of these `daemons` start with.
        """
        sharing = "on" if distribution.archive is not None and self.name != "stock" else "off"
        heap = [] if self.data_heap_mb is None else [f"-Xmx{self.data_heap_mb}m"]
        note = f" ({distribution.archive_note})" if distribution.archive_note and self.name != "stock" else ""
        of_java = [daemon for daemon in daemons if daemon.main_class]
        masters = ", ".join([*(daemon.role for daemon in of_java if not daemon.on_workers), "client"])
        workers = ", ".join(daemon.role for daemon in of_java if daemon.on_workers)
        return {
            "starts": self.name,
            **properties,
            "class sharing": sharing + note,
            f"java options: {masters}": " ".join(self.control_options),
            **({f"java options: {workers}": " ".join([*heap, *self.data_options])} if workers else {}),
        }


def starts_of(name: str, distribution: Distribution) -> Starts:
    """The starts called `brisk` or `stock` for this Hadoop."""
    if name == "stock":
        return Starts(name=name)
    # Used if it fits, which the JVM checks (class path and Java).
    archive = distribution.archive
    sharing = () if archive is None else (f"-XX:SharedArchiveFile={archive}", *_SHARING_OPTIONS)
    containers = ContainerStarts(
        brisk=True, options=_container_options(distribution, sharing), master_options=_CONTROL_OPTIONS,
        bundled=distribution.jars is not None,
    )  # fmt: skip
    return Starts(name=name, control_options=(*sharing, *_CONTROL_OPTIONS), data_options=sharing, containers=containers)


def training_starts(distribution: Distribution, lists: Path) -> Starts:
    """Starts whose processes write down, in files in `lists`, which classes they load."""
    writing = (f"-XX:DumpLoadedClassList={lists}/%p.lst", *_CONTROL_OPTIONS)
    containers = ContainerStarts(brisk=True, options=_container_options(distribution, writing))
    return Starts(name="training", control_options=writing, data_options=writing, containers=containers)


def _container_options(distribution: Distribution, options: tuple[str, ...]) -> tuple[str, ...]:
    """Class sharing for JVMs in containers.

    An archive is only used when the class path begins as it did when it was made, but a container's begins with its
    working directory. So Hadoop's jars are put before it; what a job brings is still found, as Hadoop's own classes
    win anyway, unless the job asks for its own first.
    """
    if distribution.pathing_jar is None or not options:
        return ()
    return (*options, "-cp", f"{distribution.pathing_jar}:$CLASSPATH")


_CODEC = re.compile(r".+\.codec(\.classname)?")
_OF_HADOOP = "org.apache.hadoop.io.compress."
_PURE_CODECS = frozenset({"DefaultCodec", "GzipCodec", "DeflateCodec", "BZip2Codec", "PassthroughCodec"})
_CODECS_IN_JARS = {"SnappyCodec": "snappy-java-*.jar", "Lz4Codec": "lz4-java-*.jar"}
"""What Hadoop's codecs need beside Java; of the others native code, which the bundled jars lack."""


def check_codecs(distribution: Distribution, properties: Mapping[str, str]) -> None:
    """Raises BadInputError for a codec of Hadoop's that can't work with the bundled jars: each task would fail."""
    if distribution.jars is None:  # an installed Hadoop may have its native code
        return
    jars = {codec for codec, jar in _CODECS_IN_JARS.items() if any(distribution.jars.rglob(jar))}
    usable = _PURE_CODECS | jars
    for name, value in properties.items():
        codec = value.strip()
        if _CODEC.fullmatch(name) and codec.startswith(_OF_HADOOP) and codec.removeprefix(_OF_HADOOP) not in usable:
            raise BadInputError(
                f"{name} is {value!r}, which the bundled Hadoop can't run (no such class, or it needs native code): "
                f"take one of {', '.join(sorted(usable))}, or let HADOOP_HOME name a Hadoop that has it",
                name,
            )


_JVM_OPTIONS = re.compile(r".+\.(java\.opts|[a-zA-Z]*JavaOptions|cmd-opts)")
# Only what sizes and switches a JVM is tried: another option may name a file that lies in a container alone, write one,
# load an agent, open a port or wait for a debugger.
_ASKED = re.compile(
    r"-X(?!run)[A-Za-z]+\d*[A-Za-z]*|-XX:(?!.(AlwaysPreTouch|PauseAtStartup)$)([+-]\w+|\w+=-?[\d.]+\w?)"
)
OPTION_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
"""By which a user's environment changes any Java."""
# What a JVM prints beside the reason why it does not start.
_BESIDE = re.compile(
    r"Picked up |NOTE: |.* VM warning: |\[.*\]\[warning|"
    r"Error: (Could not create|A fatal exception)|Error occurred during initialization"
)
_JVM_PATIENCE_S = 20.0


def check_jvm_options(java: Java, properties: Mapping[str, str]) -> None:
    """Raises BadInputError for options of a JVM in a property that this Java refuses: no container would start."""
    for name, value in properties.items():
        if _JVM_OPTIONS.fullmatch(name) and (reason := _refusal(java, value)):
            raise BadInputError(f"{name} is {value!r}, which Java {java.version} refuses: {reason}", name)


@lru_cache(maxsize=64)
def _refusal(java: Java, options: str) -> str:
    """What Java says to options that it does not start with; empty where it starts, or nobody can ask it."""
    try:
        needed = [option for option in shlex.split(options) if _ASKED.fullmatch(option)]
    except ValueError as error:
        return str(error)
    if not needed:
        return ""
    environment = {name: value for name, value in os.environ.items() if name not in OPTION_VARIABLES}
    try:
        with tempfile.TemporaryDirectory(prefix="assay-java-") as folder:
            done = subprocess.run(
                [str(java.command), *needed, "-version"], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                capture_output=True, encoding="utf-8", errors="replace", timeout=_JVM_PATIENCE_S, check=False,
            )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    reasons = [line for line in (done.stdout + done.stderr).splitlines() if line.strip() and not _BESIDE.match(line)]
    return "" if not done.returncode else next(iter(reasons), f"exit code {done.returncode}")


_TABLE = re.compile(r"[a-z]+-default\.xml")
_NAMES = re.compile(
    r"org/apache/hadoop/.*(Config|ConfigKeys|Configuration|ConfigurationKeys(Public)?|File(In|Out)putFormat"
    r"|TotalOrderPartitioner)(\$\w+)?\.class"
)
_IN_TABLE = re.compile(rb"<name>\s*([^<\s]+)\s*</name>(?:\s*<value>\s*([^<]*?)\s*</value>)?")
# A text in a class: a mark, its length in two bytes, and itself (Java's class file format, CONSTANT_Utf8).
_IN_CLASS = re.compile(rb"\x01\x00(.)([a-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)+)", re.DOTALL)


def known_properties(installation: Installation) -> Mapping[str, str]:
    """The names, each with its value in the tables, empty where it has none there.

    None at all where one of the jars is not there or can't be read.
    """
    home = installation.hadoop_home
    folder = home / "share" / "hadoop" if home is not None else installation.parts / "hadoop" / "lib"
    values: dict[str, str] = {}
    for pattern in (jar for service in SERVICES.values() for jar in service.property_jars):
        jar = next((file for file in sorted(folder.rglob(pattern)) if "tests" not in file.name), None)
        if jar is None:
            return {}
        try:
            for name, value in _names(jar, jar.stat().st_mtime_ns):
                values[name] = value or values.get(name, "")
        except (OSError, BadZipFile):
            return {}
    return values


@lru_cache(maxsize=16)
def _names(jar: Path, changed_ns: int) -> Sequence[tuple[str, str]]:  # noqa: ARG001 - another time is another content
    """Read a jar as it is since a time: a command that plans more than once reads it once."""
    names: list[tuple[str, str]] = []
    with ZipFile(jar) as archive:
        for entry in archive.namelist():
            if _TABLE.fullmatch(entry):
                names += [(name.decode(), value.decode()) for name, value in _IN_TABLE.findall(archive.read(entry))]
            elif _NAMES.fullmatch(entry):
                for length, name in _IN_CLASS.findall(archive.read(entry)):
                    # A longer match goes on into what follows the text.
                    names.append((name[: length[0]].decode(), ""))
    return names
