"""Where Hadoop and Java come from: the jars that set-up resolved, or an installed Hadoop; found before all else."""

import hashlib
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.installation import Installation

_OLDEST_JAVA = 11  # what the jobs are made for
_PREPARE = "run `hadoop/prepare` (or `./assay` once) to fetch it, or point HADOOP_HOME at an installed Hadoop 3"
_INSTALLED = ("common", "common/lib", "hdfs", "hdfs/lib", "mapreduce", "yarn", "yarn/lib")


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


def find_java(environment: Mapping[str, str]) -> Java:
    """The Java of JAVA_HOME, or else of the PATH.

    Raises BadInputError when there is none or it is too old for the jobs.
    """
    home = _java_home(environment)
    release = home / "release"
    facts = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', release.read_text(), re.MULTILINE)) if release.is_file() else {}
    version = facts.get("JAVA_VERSION", "")
    feature = _feature(version)
    if feature is None:
        raise BadInputError(
            f"{home} does not say which Java it is (no JAVA_VERSION in {release}); set JAVA_HOME to a JDK"
        )
    if feature < _OLDEST_JAVA:
        raise BadInputError(
            f"Java {version} in {home} is too old, jobs need {_OLDEST_JAVA}; set JAVA_HOME to a JDK of version 17 to 21"
        )
    return Java(home=home, feature=feature, version=version, fingerprint=_fingerprint(home))


def _java_home(environment: Mapping[str, str]) -> Path:
    named = environment.get("JAVA_HOME")
    if named:
        if not (Path(named) / "bin" / "java").is_file():
            raise BadInputError(
                f"JAVA_HOME is {named}, but there is no bin/java in it; set it to a JDK of version 17 to 21"
            )
        return Path(named).resolve()
    found = shutil.which("java", path=environment.get("PATH", ""))
    if not found:
        raise BadInputError(
            "no Java found: JAVA_HOME is not set and there is no `java` on the PATH; install a JDK of version 17 to 21"
        )
    return Path(found).resolve().parent.parent


def _feature(version: str) -> int | None:
    match = re.match(r"(?:1\.)?(\d+)", version)
    return int(match.group(1)) if match else None


def _fingerprint(home: Path) -> str:
    """Changes whenever the runtime's build changes: a class-data archive is only good for the build that made it."""
    digest = hashlib.sha256()
    for part in (home / "release", home / "lib" / "modules", home / "lib" / "server" / "libjvm.so"):
        if part.is_file():
            facts = part.stat()
            digest.update(f"{part} {facts.st_size} {facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()[:16]


def find_distribution(installation: Installation, environment: Mapping[str, str]) -> Distribution:
    """The Hadoop to run: `installation.hadoop_home` when it is set, else the bundled jars.

    Raises BadInputError, with the cure, when Java or Hadoop's jars are missing.
    """
    java = find_java(environment)
    if installation.hadoop_home is not None:
        return _installed(installation.hadoop_home, java)
    return bundled(installation.parts / "hadoop", java)


def _installed(home: Path, java: Java) -> Distribution:
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
    # The web pages are folders beside the HDFS and YARN jars, so these folders are entries of their own.
    folders = (str(share / "hdfs"), str(share / "yarn"))
    return Distribution(
        version=version, java=java, home=home, extras=share / "mapreduce",
        classpath=(*folders, *(f"{share / part}/*" for part in _INSTALLED)),
        archive_note="an installed Hadoop is used: class-data archives are made for the bundled jars only",
    )  # fmt: skip


def bundled(folder: Path, java: Java) -> Distribution:
    """The jars that `hadoop/prepare` put into `folder`. Raises BadInputError when they are not there."""
    # An archive names the jars' real paths.
    folder = folder.resolve()
    jars = folder / "lib"
    version = _version(jars)
    pathing = folder / "hadoop.jar"
    if version is None or not pathing.is_file():
        raise BadInputError(f"Hadoop's jars are not in {jars}; {_PREPARE}")
    archive, note = _archive(folder, java)
    name = folder / "name"
    return Distribution(
        version=version, java=java, jars=jars, extras=folder / "extras", classpath=(f"{jars}/*",), pathing_jar=pathing,
        formatted_name=name if (name / "current" / "VERSION").is_file() else None, archive=archive, archive_note=note,
    )  # fmt: skip


def _archive(folder: Path, java: Java) -> tuple[Path | None, str]:
    archive, made_for = folder / "classes.jsa", folder / "classes.java"
    if not archive.is_file() or not made_for.is_file():
        return None, "no class-data archive was made for the bundled jars"
    if made_for.read_text().strip() != java.fingerprint:
        return None, f"the class-data archive was made for another Java than {java.version} in {java.home}"
    return archive, ""


def _version(folder: Path) -> str | None:
    names = sorted(path.name for path in folder.glob("hadoop-common-*.jar") if "tests" not in path.name)
    match = re.fullmatch(r"hadoop-common-(.+)\.jar", names[0]) if names else None
    return match.group(1) if match else None
