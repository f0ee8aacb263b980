"""What all of Hadoop's services share: its common configuration, its clients' subcommands and its logging."""

from collections.abc import Mapping
from types import MappingProxyType

from assay.model.registry import SERVICES
from assay.model.service import ContainerStarts, NodeContext, Service, SiteFile, Timer
from assay.model.value_bounds import ValueBounds

_DEFAULTS = "core-default.xml"
_BRISK = MappingProxyType({
    # The daemons start together and look for each other: ask often instead of once a second or every 30 s.
    "ipc.client.connect.retry.interval": "100",
    "ipc.client.connect.max.retries": "200",
})  # fmt: skip
LOG4J = """\
hadoop.root.logger=INFO,console
log4j.rootLogger=${hadoop.root.logger}
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{ISO8601} %p %c{2}: %m%n
"""
LOG4J_FILE = "log4j.properties"


def _properties(node: NodeContext) -> Mapping[str, str]:
    """A temporary directory, and the workers' racks in a table of Hadoop's own form (TableMapping)."""
    racks = {}
    if node.racks is not None:
        racks = {
            "net.topology.node.switch.mapping.impl": "org.apache.hadoop.net.TableMapping",
            "net.topology.table.file.name": str(node.racks),
        }
    return {"hadoop.tmp.dir": str(node.layout.neutral / "tmp"), **racks}


def _start_properties(starts: ContainerStarts, _chosen: Mapping[str, str]) -> Mapping[str, str]:
    return _BRISK if starts.brisk else {}


HADOOP = Service(
    "hadoop",
    properties=_properties,
    sites=(
        SiteFile(
            "core-site.xml",
            ("fs.", "hadoop.", "ipc.", "net.", "io.file.", "io.compression.", "io.serializations"),
            unclaimed=True,
        ),
    ),
    files=lambda _node, _properties: {LOG4J_FILE: LOG4J},
    timers=(
        Timer("ipc.client.connect.retry.interval", "1000", _DEFAULTS),
        Timer("ipc.client.connect.timeout", "20000", _DEFAULTS),
        Timer("ipc.client.connection.maxidletime", "10000", _DEFAULTS),
        Timer("ipc.client.connection.idle-scan-interval.ms", "10000", _DEFAULTS),
        Timer("ipc.client.rpc-timeout.ms", "120000", _DEFAULTS),
        Timer("ipc.ping.interval", "60000", _DEFAULTS),
        Timer("hadoop.http.idle_timeout.ms", "60000", _DEFAULTS),
        Timer("fs.df.interval", "60000", _DEFAULTS),
        Timer("fs.du.interval", "600000", _DEFAULTS),
    ),
    start_properties=_start_properties,
    bounds={"io.file.buffer.size": ValueBounds(1)},
    reserved=frozenset({"hadoop.tmp.dir"}),
    first_words=frozenset({"io", "fs", "hadoop", "ipc", "ha", "net", "file", "ftp", "s3", "tfile"}),
    open_names=(r"(hadoop\.(proxyuser|security)|fs\.[a-z0-9]+\.impl|ipc\.\d+)\..+", r".*\.impl"),
    commands={
        "jar": "org.apache.hadoop.util.RunJar",
        "fs": "org.apache.hadoop.fs.FsShell",
        "distcp": "org.apache.hadoop.tools.DistCp",
        "version": "org.apache.hadoop.util.VersionInfo",
    },
    variables=("HADOOP_",),
    property_jars=("hadoop-common-[0-9]*.jar",),
    folders=("common", "common/lib"),
)
SERVICES.add(HADOOP.name, HADOOP, place=1)
