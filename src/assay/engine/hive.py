"""Queries of Hive: files of statements that the user's own `beeline` runs, with Hive within this client.

Assay has no Hive. The user's runs on the trial's cluster, as DAGs of Tez. Its tables are known to a metastore that
lives as long as the client, and its own configuration is not read. No HiveServer2 is asked, whose sessions and jobs
outlive a query.
"""

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from xml.sax.saxutils import escape

from assay.engine.client import CommandLine
from assay.host.files import plain
from assay.model.errors import BadInputError
from assay.model.registry import VARIANTS
from assay.model.running_cluster import RunningCluster
from assay.model.workload import Variant

HOME = "HIVE_HOME"
QUERIES = "queries"
"""The sort of program: only Tez runs them, since tasks of MapReduce lack jars that Hive 4 takes from older Hadoops."""
_HEAP = "-Xmx700m"
_OPENED = (
    "io", "lang", "lang.reflect", "net", "nio", "time", "util", "util.concurrent", "util.concurrent.atomic",
    "util.regex",
)  # fmt: skip
_OPENS = " ".join(f"--add-opens=java.base/java.{package}=ALL-UNNAMED" for package in _OPENED)
"""What Hive's own scripts open of Java, and `time` for Kryo."""
_JAVA_OPTIONS = ("mapreduce.map.java.opts", "mapreduce.reduce.java.opts", "tez.am.launch.cmd-opts")
"""Hive has the heaps of Tez' tasks from MapReduce's settings, and Hadoop those from the sizes of containers."""
_FIRST_CLASSES = """\
#!/bin/bash
# Hive's jars stand before Hadoop's, of which some are older; the last class path is Java's.
export HADOOP_CLIENT_OPTS="$HADOOP_CLIENT_OPTS -cp $HADOOP_CLASSPATH:$(HADOOP_CLASSPATH= {hadoop} classpath)"
exec {hadoop} "$@"
"""
_NOT_ARGUMENTS = {
    "-u": "the query runs on the trial's cluster",
    "-f": "name the file in jar",
    "-e": "write the query into a file, and name that in jar",
}


def hive_variables() -> dict[str, str]:
    """The variable that names the user's Hive: by HIVE_HOME, or by the `beeline` on the PATH.

    Raises BadInputError where there is none. Vendors' commands on the PATH, which would go to their own cluster, are
    none: they do not lie in Hive's folder.
    """
    named, on_path = os.environ.get(HOME), shutil.which("beeline")
    home = Path(named).absolute() if named else Path(on_path).resolve().parents[1] if on_path else None
    if home is None or not (home / "bin" / "beeline").is_file() or not any(home.glob("lib/hive-exec-*.jar")):
        where = f"{HOME} is not set, and no beeline is on the PATH" if home is None else f"there is none in {home}"
        raise BadInputError(
            f"workload command: a query needs Hive, which Assay does not bring, and {where}; let {HOME} name the "
            "folder of a Hive 4.1 distribution, with bin/beeline and lib/hive-exec-*.jar"
        )
    return {HOME: str(plain(home, HOME))}


def query_line(
    file: str, arguments: Sequence[str], cluster: RunningCluster, environment: Mapping[str, str],
    properties: Mapping[str, str], scratch: Path,
) -> CommandLine:  # fmt: skip
    """How a query's file is run, by the Hive that the environment names.

    `properties` are those of the query's DAGs. Writes Hive's configuration into a new folder in `scratch`.
    """
    folder = Path(mkdtemp(prefix="hive-", dir=scratch))
    given = {**cluster.properties, **properties}
    site = {
        **properties,
        "hive.execution.engine": "tez",
        "hive.metastore.warehouse.dir": "/tmp/hive-warehouse",  # noqa: S108 - in the cluster's file system
        "javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.server2.enable.doAs": "false",
        "hadoop.bin.path": str(cluster.hadoop),
        **{name: f"{given.get(name, '')} {_OPENS}".strip() for name in _JAVA_OPTIONS},
    }
    entries = (
        f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>\n"
        for name, value in site.items()
    )
    (folder / "hive-site.xml").write_text(f"<configuration>\n{''.join(entries)}</configuration>\n", encoding="utf-8")
    hadoop = folder / "bin" / "hadoop"
    hadoop.parent.mkdir()
    hadoop.write_text(_FIRST_CLASSES.format(hadoop=shlex.quote(str(cluster.hadoop))), encoding="utf-8")
    hadoop.chmod(0o755)
    options = (environment.get("HADOOP_CLIENT_OPTS", ""), _HEAP, f"-Djava.io.tmpdir={folder}",
               f"-Dderby.system.home={folder}", _OPENS)  # fmt: skip
    variables = {
        "HIVE_CONF_DIR": str(folder),
        "TEZ_CONF_DIR": str(folder),
        "HADOOP_CLIENT_OPTS": " ".join(filter(None, options)),
        # Hive's scripts take the first one on the path.
        "PATH": f"{hadoop.parent}:{environment.get('PATH', '')}",
    }
    beeline = Path(environment[HOME], "bin", "beeline")
    return CommandLine(
        [str(beeline), "-u", "jdbc:hive2://", *arguments, "-f", file], {**environment, **variables}
    )  # fmt: skip


VARIANTS.add("command/query", Variant(
    about="the file is a query of Hive, as `beeline` runs it; Hive is yours (`HIVE_HOME`, or `beeline` on the PATH)",
    jobs=("FILE 1", "..."),
    program=QUERIES,
    like="own",
    scripts={".sql": hive_variables, ".hql": hive_variables},
    scripts_alone=True,
    submitted=True,
    arguments="--hivevar input={input} --hivevar output={output}",
    not_arguments=_NOT_ARGUMENTS,
), place=200)  # fmt: skip
