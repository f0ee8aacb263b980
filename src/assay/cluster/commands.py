"""The command lines and the environment of Hadoop's processes, and the `hadoop` command that clients get."""

import shlex
from collections.abc import Mapping
from pathlib import Path

from assay.cluster.distribution import Distribution
from assay.cluster.starts import Starts

MAIN_CLASSES = {
    "namenode": "org.apache.hadoop.hdfs.server.namenode.NameNode",
    "datanode": "org.apache.hadoop.hdfs.server.datanode.DataNode",
    "resourcemanager": "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager",
    "nodemanager": "org.apache.hadoop.yarn.server.nodemanager.NodeManager",
    "historyserver": "org.apache.hadoop.mapreduce.v2.hs.JobHistoryServer",
}

# Bounded, so that the five together stay below 1.5 GiB: by itself each would take up to a quarter of the memory.
_HEAP_MB = {"namenode": 256, "datanode": 256, "resourcemanager": 256, "nodemanager": 256, "historyserver": 192}

# Guice, in the daemons with web applications, reaches into java.lang, which modules forbid since Java 16.
_OPEN_MODULES = ("--add-opens", "java.base/java.lang=ALL-UNNAMED")

# The data path: DataNode and NodeManager (shuffle) keep the JVM that Hadoop would run them with.
_DATA_ROLES = ("datanode", "nodemanager")

_FOREIGN = ("HADOOP_", "YARN_", "HDFS_", "MAPRED_")
_FOREIGN_NAMES = ("CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")

# What Hadoop's own scripts dispatch to; everything else is a main class.
_SUBCOMMANDS = {
    "jar": "org.apache.hadoop.util.RunJar",
    "fs": "org.apache.hadoop.fs.FsShell",
    "dfs": "org.apache.hadoop.fs.FsShell",
    "job": "org.apache.hadoop.mapred.JobClient",
    "dfsadmin": "org.apache.hadoop.hdfs.tools.DFSAdmin",
    "storagepolicies": "org.apache.hadoop.hdfs.tools.StoragePolicyAdmin",
    "mover": "org.apache.hadoop.hdfs.server.mover.Mover",
    "fsck": "org.apache.hadoop.hdfs.tools.DFSck",
    "distcp": "org.apache.hadoop.tools.DistCp",
    "version": "org.apache.hadoop.util.VersionInfo",
}


def clean_environment(environment: Mapping[str, str], distribution: Distribution) -> dict[str, str]:
    """The user's environment without what would change Hadoop or Java unseen, and with the Java that was found."""
    kept = {
        name: value
        for name, value in environment.items()
        if not name.startswith(_FOREIGN) and name not in _FOREIGN_NAMES
    }
    return {**kept, "JAVA_HOME": str(distribution.java.home)}


def classpath(distribution: Distribution, conf_dir: Path) -> str:
    """The jars first (else a class-data archive is not used), then the configuration: no jar has site files."""
    if distribution.pathing_jar is not None:
        return f"{distribution.pathing_jar}:{conf_dir}"
    return ":".join((str(conf_dir), *distribution.classpath))


def java_command(
    distribution: Distribution, options: tuple[str, ...], conf_dir: Path, main: str, arguments: tuple[str, ...] = ()
) -> list[str]:
    """Run a main class of Hadoop's with this configuration."""
    return [
        str(distribution.java.command), *_OPEN_MODULES, *options,
        f"-Dlog4j.configuration=file:{conf_dir}/log4j.properties",
        "-cp", classpath(distribution, conf_dir), main, *arguments,
    ]  # fmt: skip


def daemon_command(role: str, distribution: Distribution, starts: Starts, conf_dir: Path) -> list[str]:
    """The command line of a daemon."""
    by_kind = starts.data_options if role in _DATA_ROLES else starts.control_options
    # Web applications are unpacked there; processes that are killed leave that behind, and it goes with the cluster.
    scratch = f"-Djava.io.tmpdir={conf_dir.parent / 'tmp'}"
    options = (f"-Dproc_{role}", f"-Xmx{_HEAP_MB[role]}m", scratch, *by_kind)
    return java_command(distribution, options, conf_dir, MAIN_CLASSES[role])


def write_hadoop_command(path: Path, distribution: Distribution, starts: Starts, conf_dir: Path) -> Path:
    """Write an executable `hadoop` pointed at this cluster: Hadoop's own subcommands, or a main class by name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.parent.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    path.write_text(_script(distribution, starts, conf_dir, scratch))
    path.chmod(0o755)
    return path


def _script(distribution: Distribution, starts: Starts, conf_dir: Path, scratch: Path) -> str:
    java_home = f"export JAVA_HOME={shlex.quote(str(distribution.java.home))}"
    if distribution.home is not None:
        hadoop = shlex.quote(str(distribution.home / "bin" / "hadoop"))
        return f'#!/bin/bash\n{java_home}\nexec {hadoop} --config {shlex.quote(str(conf_dir))} "$@"\n'
    options = (*starts.control_options, f"-Djava.io.tmpdir={scratch}")
    command = shlex.join(java_command(distribution, options, conf_dir, "")[:-1])
    cases = "\n".join(f"  {name}) shift; main={main} ;;" for name, main in _SUBCOMMANDS.items())
    plain = ":".join((str(conf_dir), *distribution.classpath))
    return f"""\
#!/bin/bash
# Hadoop {distribution.version}, pointed at {conf_dir}: `hadoop jar x.jar ARGS`, `hadoop fs -ls /`, `hadoop CLASS`
{java_home}
export HADOOP_CONF_DIR={shlex.quote(str(conf_dir))}
case "${{1:-}}" in
  "") echo "usage: hadoop {"|".join([*_SUBCOMMANDS, "classpath"])}|CLASS [ARGS]" >&2; exit 1 ;;
  classpath) echo {shlex.quote(plain)}; exit 0 ;;
{cases}
  *) main="$1"; shift ;;
esac
# HADOOP_CLASSPATH, HADOOP_CLIENT_OPTS: as with Hadoop's own script.
exec {command}"${{HADOOP_CLASSPATH:+:$HADOOP_CLASSPATH}}" ${{HADOOP_CLIENT_OPTS:-}} "$main" "$@"
"""
