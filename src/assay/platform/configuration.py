"""Hadoop's configuration files: an embedded cluster's own, and those of somebody else's cluster.

They are read as Hadoop's `org.apache.hadoop.conf.Configuration` does, with which a test compares: its short form, its
`xi:include` with a fallback, final properties, deprecated names and variables.
"""

import getpass
import os
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from assay.host.files import read_bytes
from assay.host.processes import MARK
from assay.model.errors import BadInputError
from assay.model.platform import ClusterSpec, Layout
from assay.model.renamed import renamed

# In the order in which Hadoop's clients load them.
FILES = ("core-site.xml", "hdfs-site.xml", "yarn-site.xml", "mapred-site.xml")
# See hadoop/src/org/assay/hadoop/OneDirectoryPerTask.java.
IN_TURN = "org.assay.hadoop.OneDirectoryPerTask"
_SCHEDULER = "yarn.scheduler.capacity."
SHUFFLE_PORT, ANY_PORT = "mapreduce.shuffle.port", ":0"

LOG4J = """\
hadoop.root.logger=INFO,console
log4j.rootLogger=${hadoop.root.logger}
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""

# The file that Hadoop ships, without its comments: the scheduler has no defaults for its queues.
CAPACITY_SCHEDULER = {
    "yarn.scheduler.capacity.maximum-applications": "10000",
    "yarn.scheduler.capacity.maximum-am-resource-percent": "0.1",
    "yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource.DefaultResourceCalculator",
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": "100",
    "yarn.scheduler.capacity.root.default.user-limit-factor": "1",
    "yarn.scheduler.capacity.root.default.maximum-capacity": "100",
    "yarn.scheduler.capacity.root.default.state": "RUNNING",
    "yarn.scheduler.capacity.root.default.acl_submit_applications": "*",
    "yarn.scheduler.capacity.root.default.acl_administer_queue": "*",
    "yarn.scheduler.capacity.node-locality-delay": "40",
    "yarn.scheduler.capacity.rack-locality-additional-delay": "-1",
}


def embedded_properties(
    spec: ClusterSpec, layout: Layout, host: str, container_classpath: str, conf_dir: Path, master: str
) -> dict[str, str]:
    """What makes an engine's daemons one private cluster: the addresses that nobody asks for, directories, sizes.

    Nothing here touches what jobs are measured for. The store has properties of its own, the daemons addresses. `host`
    is the node with this configuration, `master` the one of the daemons that the cluster has once.
    """
    any_port = f"{host}:0"
    local = ",".join(str(directory.path) for directory in layout.local)
    whitelist = (
        "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,CLASSPATH_PREPEND_DISTCACHE,HADOOP_YARN_HOME"
    )
    return {
        "yarn.resourcemanager.hostname": master,
        "yarn.resourcemanager.admin.address": f"{master}:0",
        "yarn.nodemanager.hostname": host,
        "yarn.nodemanager.address": any_port,
        "yarn.nodemanager.localizer.address": any_port,
        "yarn.nodemanager.collector-service.address": any_port,
        "yarn.nodemanager.webapp.address": any_port,
        SHUFFLE_PORT: "0",
        "mapreduce.jobhistory.admin.address": f"{master}:0",
        "hadoop.tmp.dir": str(layout.neutral / "tmp"),
        "yarn.nodemanager.local-dirs": local,
        "mapreduce.cluster.local.dir": local,
        "yarn.nodemanager.log-dirs": str(container_logs(layout)),
        "mapreduce.framework.name": "yarn",
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.resource.memory-mb": str(spec.memory_mb),
        "yarn.nodemanager.resource.cpu-vcores": str(spec.vcores),
        # A container asking for the default 1024 MB must fit a small NodeManager too.
        "yarn.scheduler.maximum-allocation-mb": str(spec.memory_mb),
        "yarn.scheduler.maximum-allocation-vcores": str(min(spec.vcores, 4)),
        # A 64-bit JVM since 11 reserves more addresses than the limit, without using them, and would be killed.
        "yarn.nodemanager.vmem-check-enabled": "false",
        # Above 90 % full Hadoop gives a disk up and the jobs wait for ever; small media under test do get that full.
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "99",
        # So that containers too are found again by the lease they belong to.
        "yarn.nodemanager.env-whitelist": f"{whitelist},HADOOP_HOME,PATH,LANG,LC_ALL,TZ,{MARK}",
        "yarn.application.classpath": str(conf_dir),
        "mapreduce.application.classpath": container_classpath,
    }


def with_fixed_ports(properties: Mapping[str, str], ports: Iterable[int]) -> dict[str, str]:
    """Each port that is left to the kernel replaced by the next of these, in the order of the properties' names.

    So all nodes have the same port for the same purpose, which tells what passes between them.
    """
    free = iter(ports)
    return {
        name: f"{value[: value.rindex(ANY_PORT)]}:{next(free)}"
        if value.endswith(ANY_PORT)
        else str(next(free))
        if name == SHUFFLE_PORT
        else value
        for name, value in sorted(properties.items())
    }


def container_logs(layout: Layout) -> Path:
    """Where a NodeManager keeps its containers' logs."""
    return layout.neutral / "logs" / "containers"


def write_configuration(conf_dir: Path, properties: Mapping[str, str]) -> None:
    """Write the four site files, the scheduler's and log4j's into `conf_dir`, which must exist.

    Each property goes where Hadoop reads it; one that says nothing of its part goes to core-site and mapred-site
    (old names such as `io.sort.mb` are known to MapReduce only).
    """
    for file in FILES:
        own = {name: value for name, value in properties.items() if file in files_of(name)}
        (conf_dir / file).write_text(to_xml(own), encoding="utf-8")
    queues = {name: value for name, value in properties.items() if name.startswith(_SCHEDULER)}
    (conf_dir / "capacity-scheduler.xml").write_text(to_xml({**CAPACITY_SCHEDULER, **queues}), encoding="utf-8")
    (conf_dir / "log4j.properties").write_text(LOG4J, encoding="utf-8")


def files_of(name: str) -> tuple[str, ...]:
    """Which of `FILES` a property belongs into."""
    if name.startswith("dfs."):
        return ("hdfs-site.xml",)
    if name.startswith(("mapreduce.", "mapred.", "yarn.app.mapreduce.")):
        return ("mapred-site.xml",)
    if name.startswith("yarn."):
        return ("yarn-site.xml",)
    if name.startswith(("fs.", "hadoop.", "ipc.", "net.", "io.file.", "io.compression.", "io.serializations")):
        return ("core-site.xml",)
    return ("core-site.xml", "mapred-site.xml")


def to_xml(properties: Mapping[str, str]) -> str:
    """A Hadoop configuration file with these properties, sorted by name."""
    return _entries_xml(Entry(name, properties[name], final=False) for name in sorted(properties))


_MOST_BYTES = 1 << 22
_MOST_INCLUDED = 20  # files within one another
# The innermost of `${...}`, in which Hadoop has neither blanks nor `$`.
_VARIABLE = re.compile(r"\$\{([^}$ ]+)\}")
_IN_ENVIRONMENT = re.compile(r"env\.(?P<name>.+?)(?:(?P<how>:-|-)(?P<default>.*))?", re.DOTALL)
_DEPTH = 20  # Configuration.MAX_SUBST


class Entry(NamedTuple):
    """A property as a file has it, by the name that Hadoop has for it now."""

    name: str
    value: str
    final: bool


def read_site(conf_dir: Path, environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The properties of the four site files as Hadoop's clients know them, without what surrounds them.

    Later files win, but for final properties. Variables are replaced where they are known, which those are not that
    only Hadoop's own defaults tell. Raises BadInputError when the directory has no such file or one can't be read.
    """
    files = [conf_dir / file for file in FILES if (conf_dir / file).is_file()]
    if not files:
        raise BadInputError(f"{conf_dir} is not a Hadoop configuration directory: none of {', '.join(FILES)} is in it")
    properties: dict[str, str] = {}
    final: set[str] = set()
    for entry in (entry for file in files for entry in _entries(file, conf_dir)):
        if entry.name not in final:
            properties[entry.name] = entry.value
        if entry.final:
            final.add(entry.name)
    known = properties | dict(_of_java())
    return {name: _replaced(value, known, environment).strip() for name, value in properties.items()}


def _of_java() -> Iterator[tuple[str, str]]:
    """The system properties that configurations use; a user without a name or home has none."""
    with suppress(KeyError, OSError):
        yield "user.name", getpass.getuser()
    with suppress(RuntimeError):
        yield "user.home", str(Path.home())
    yield "java.io.tmpdir", "/tmp"  # noqa: S108 - Java's, wherever TMPDIR is


def _replaced(value: str, known: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """A value without variables, up to the first that is not known; as it stands where they lead in a circle."""
    text, seen = value, set[str]()
    for _ in range(_DEPTH):
        match = _VARIABLE.search(text)
        if match is None:
            return text
        other = _of_environment(match[1], environment) if match[1].startswith("env.") else None
        other = known.get(match[1]) if other is None else other
        if other is None:
            return text
        if match[0] in seen:
            return value
        seen.add(match[0])
        text = text[: match.start()] + other + text[match.end() :]
    return value


def _of_environment(variable: str, environment: Mapping[str, str]) -> str | None:
    """Of `env.X`, `env.X-default` and `env.X:-default`, of which the last also stands for an empty one."""
    match = _IN_ENVIRONMENT.fullmatch(variable)
    if match is None:
        return None
    value = environment.get(match["name"])
    if match["how"] and (value is None or (match["how"] == ":-" and not value)):
        return match["default"]
    return value


def derive_site(source: Path, target: Path, properties: Mapping[str, str]) -> None:
    """Copy a configuration directory to `target` (which must not exist) and change these properties for its clients.

    What this user may not read there is no client's, and left out. What the four files include is written into them:
    it may lie anywhere beside the source.
    """
    shutil.copytree(
        source, target, ignore=lambda folder, names: [n for n in names if not os.access(Path(folder, n), os.R_OK)]
    )
    for file in FILES:
        changed = [Entry(name, value, final=False) for name, value in properties.items() if file in files_of(name)]
        there = (source / file).is_file()
        if not changed and not there:
            continue
        # Not only overruled: a property that is final, here or in another file, would stay.
        kept = [entry for entry in _entries(source / file, source) if entry.name not in properties] if there else []
        (target / file).unlink(missing_ok=True)
        (target / file).write_text(_entries_xml([*kept, *changed]), encoding="utf-8")


def _entries(file: Path, conf_dir: Path, depth: int = 0) -> Iterator[Entry]:
    """The properties of a file and what it includes, in their order. An empty value leaves an earlier one as it is.

    Raises BadInputError.
    """
    try:
        if depth > _MOST_INCLUDED:
            raise BadInputError(f"{file} can't be read: files include one another more than {_MOST_INCLUDED} deep")
        # The user's own cluster's configuration: as trusted as the user.
        root = ET.fromstring(read_bytes(file, _MOST_BYTES))  # noqa: S314
    except (ET.ParseError, LookupError, UnicodeDecodeError, ValueError) as error:
        raise BadInputError(f"{file} can't be read as a Hadoop configuration file: {error}") from error
    yield from _within(root, file, conf_dir, depth)


def _within(element: ET.Element, file: Path, conf_dir: Path, depth: int) -> Iterator[Entry]:
    for child in element:
        kind = _local(child)
        if kind == "property":
            yield from _property(child)
        elif kind == "include" and child.get("href"):
            included = _included(str(child.get("href")), file, conf_dir)
            fallback = next((inner for inner in child if _local(inner) == "fallback"), None)
            if included is not None:
                yield from _entries(included, conf_dir, depth + 1)
            elif fallback is not None:
                yield from _within(fallback, file, conf_dir, depth)
            else:
                raise BadInputError(
                    f"{file} includes {child.get('href')}, which is not there, and has no fallback for that"
                )
        elif kind == "configuration":
            yield from _within(child, file, conf_dir, depth)


def _property(element: ET.Element) -> Iterator[Entry]:
    """It has attributes, or parts of the same names, which win."""
    parts = {key: str(element.get(key)) for key in ("name", "value", "final") if element.get(key) is not None}
    parts |= {_local(part): part.text or "" for part in element if part.text or _local(part) == "final"}
    name = parts.get("name", "").strip()
    if name and "value" in parts:
        for now in renamed().get(name, name).split(","):
            yield Entry(now, parts["value"], final=parts.get("final") == "true")


def _local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _included(href: str, file: Path, conf_dir: Path) -> Path | None:
    """The file; None where it is not there. Looked for on the class path, where the configuration is, first.

    Raises BadInputError for what is to be fetched from elsewhere.
    """
    if "://" in href and not href.startswith("file:"):
        raise BadInputError(f"{file} includes {href}; Assay reads files only: save it beside it, and include that")
    path = Path(unquote(urlsplit(href).path)) if href.startswith("file:") else Path(href)
    return next((place for place in (conf_dir / path, file.parent / path) if place.is_file()), None)


def _entries_xml(entries: Iterable[Entry]) -> str:
    lines = "".join(
        f"  <property>\n    <name>{escape(entry.name)}</name>\n    <value>{escape(entry.value)}</value>\n"
        f"{'    <final>true</final>' + chr(10) if entry.final else ''}  </property>\n"
        for entry in entries
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<configuration>\n{lines}</configuration>\n'
