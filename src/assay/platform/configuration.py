"""Hadoop's configuration files: an embedded cluster's own, and those of somebody else's cluster."""

import os
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree import ElementInclude
from xml.sax.saxutils import escape

from assay.host.files import UnreadableFileError, read_bytes
from assay.host.processes import MARK
from assay.model.errors import BadInputError
from assay.model.platform import ClusterSpec, Layout

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
    entries = "".join(
        f"  <property>\n    <name>{escape(name)}</name>\n    <value>{escape(properties[name])}</value>\n  </property>\n"
        for name in sorted(properties)
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<configuration>\n{entries}</configuration>\n'


_VARIABLE = re.compile(r"\$\{([^}$\s]+)\}")
_MOST_BYTES = 1 << 22
_DEPTH = 20  # as in Hadoop's Configuration: a variable may name another


def read_site(conf_dir: Path) -> dict[str, str]:
    """The properties of the four site files, variables replaced where they are known; later files win.

    Raises BadInputError when the directory has none of them or one can't be read as XML.
    """
    files = [conf_dir / file for file in FILES if (conf_dir / file).is_file()]
    if not files:
        raise BadInputError(f"{conf_dir} is not a Hadoop configuration directory: none of {', '.join(FILES)} is in it")
    properties: dict[str, str] = {}
    for file in files:
        for entry in _parse(file).iter("property"):
            if name := entry.findtext("name"):
                properties[name.strip()] = (entry.findtext("value") or "").strip()
    expanded = dict(properties)
    for _ in range(_DEPTH):
        for name, value in expanded.items():
            expanded[name] = _VARIABLE.sub(lambda match: properties.get(match[1], match[0]), value)
    return expanded


def derive_site(source: Path, target: Path, properties: Mapping[str, str]) -> None:
    """Copy a configuration directory to `target` (which must not exist) and change these properties for its clients.

    What this user may not read there is no client's, and left out.
    """
    shutil.copytree(
        source, target, ignore=lambda folder, names: [n for n in names if not os.access(Path(folder, n), os.R_OK)]
    )
    for file in FILES:
        own = {name: value for name, value in properties.items() if file in files_of(name)}
        if not own and not (source / file).is_file():
            continue
        # With what the source includes: that may lie anywhere beside it.
        root = _parse(source / file) if (source / file).is_file() else ET.Element("configuration")
        # Not only overruled: a property that is final would stay.
        for parent in root.iter("configuration"):
            for entry in parent.findall("property"):
                if (entry.findtext("name") or "").strip() in own:
                    parent.remove(entry)
        for name, value in own.items():
            entry = ET.SubElement(root, "property")
            ET.SubElement(entry, "name").text = name
            ET.SubElement(entry, "value").text = value
        (target / file).unlink(missing_ok=True)
        ET.ElementTree(root).write(target / file, encoding="UTF-8", xml_declaration=True)


def _parse(file: Path) -> ET.Element:
    try:
        # The user's own cluster's configuration: as trusted as the user.
        root = ET.fromstring(read_bytes(file, _MOST_BYTES))  # noqa: S314
        ElementInclude.include(root, loader=_included, base_url=str(file))  # type: ignore[arg-type]  # its overloads
    except (ET.ParseError, ElementInclude.FatalIncludeError, LookupError, UnicodeDecodeError, ValueError) as error:
        raise BadInputError(f"{file} can't be read as a Hadoop configuration file: {error}") from error
    return root


def _included(name: str, parse: str, encoding: str | None = None) -> ET.Element | str:
    try:
        content = read_bytes(Path(name), _MOST_BYTES)
    except UnreadableFileError as error:
        raise ElementInclude.FatalIncludeError(str(error)) from None
    return ET.fromstring(content) if parse == "xml" else content.decode(encoding or "utf-8")  # noqa: S314 - see above
