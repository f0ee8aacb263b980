"""Daemons: their command lines, processes, logs and health."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from assay.host.processes import last_telling
from assay.model.errors import AssayError
from assay.model.node import Node, Process
from assay.model.registry import SERVICES
from assay.model.running_cluster import DaemonFacts
from assay.model.service import DaemonKind, NodeContext
from assay.node.local import LocalNode
from assay.platform.distribution import OPTION_VARIABLES, Distribution, Starts
from assay.platform.loopback import PRELOADED

_TAIL_BYTES = 256 * 1024
HERE = LocalNode()
# A log line of that level; the end of a stack trace's chain, or its head; a complaint of the JVM itself.
_WRONG = re.compile(
    r"\b(ERROR|FATAL)\b"
    r"|^(Caused by: |Exception in thread \S+ )?[\w.$]+(Exception|Error)\b"
    r"|^(Error: |Unrecognized |Could not |# )\S"
)
# Hadoop's own farewell, and lines that only say that a signal came: never the reason.
_NOISE = re.compile(r"SHUTDOWN_MSG|RECEIVED SIGNAL")


def last_words(log: Path, node: Node = HERE, kind: DaemonKind | None = None) -> str:
    """The last line that says what went wrong (for a stack trace its root cause), or else the last line at all.

    Where a kind knows how its logs say so, by that. A remark where there is no line.
    """
    reason, noise = (kind.reason, kind.shutdown_noise) if kind is not None else ("", "")

    def is_reason(line: str) -> bool:
        return bool(reason and re.search(reason, line))

    def is_wrong(line: str) -> bool:
        only_ends = _NOISE.search(line) or (noise and re.search(noise, line))
        return bool(_WRONG.search(line)) and not only_ends

    text = ""
    with suppress(OSError):
        text = node.read(log, _TAIL_BYTES)
    return last_telling(text, is_reason, is_wrong, silent="it logged nothing")


# Guice, in the daemons with web applications, reaches into java.lang, which modules forbid since Java 16.
_OPEN_MODULES = ("--add-opens", "java.base/java.lang=ALL-UNNAMED")

_PORT_TAKEN = re.compile(r"[Aa]ddress already in use|is in use by another process")
_FOREIGN_NAMES = ("CLASSPATH", *OPTION_VARIABLES)


def clean_environment(environment: Mapping[str, str], distribution: Distribution) -> dict[str, str]:
    """The user's environment without what would change Hadoop or Java unseen, and with the Java that was found."""
    of_services = tuple(prefix for service in SERVICES.values() for prefix in service.variables)
    harmless = {
        name: value
        for name, value in environment.items()
        if not name.startswith(of_services) and name not in _FOREIGN_NAMES
    }
    return {**harmless, "JAVA_HOME": str(distribution.java.home)}


def java_command(
    distribution: Distribution, options: tuple[str, ...], conf_dir: Path, main: str, arguments: tuple[str, ...] = (),
    other_classpath: Sequence[str] = (),
) -> list[str]:  # fmt: skip
    """Run a main class of Hadoop's, or on another class path, with this configuration."""
    # The jars first (else a class-data archive is not used), then the configuration: no jar has site files.
    classpath = f"{distribution.pathing_jar}:{conf_dir}"
    if other_classpath or distribution.pathing_jar is None:
        classpath = ":".join((str(conf_dir), *(other_classpath or distribution.classpath)))
    return [
        str(distribution.java.command), *_OPEN_MODULES, *options,
        f"-Dlog4j.configuration=file:{conf_dir}/log4j.properties",
        "-cp", classpath, main, *arguments,
    ]  # fmt: skip


def daemon_command(kind: DaemonKind, distribution: Distribution, starts: Starts, node: NodeContext) -> list[str]:
    """The command line of a daemon on a node."""
    if kind.program is not None:
        return list(kind.program(node))
    by_kind = starts.data_options if kind.on_workers else starts.control_options
    # Web applications are unpacked there; processes that are killed leave that behind, and it goes with the cluster.
    scratch = f"-Djava.io.tmpdir={node.layout.neutral / 'tmp'}"
    heap_mb = max((starts.data_heap_mb if kind.on_workers else None) or kind.heap_mb, kind.least_heap_mb)
    options = (f"-Dproc_{kind.role}", f"-Xmx{heap_mb}m", scratch, *by_kind, *kind.options)
    classpath = () if kind.classpath is None else kind.classpath(node)
    arguments = () if kind.arguments is None else tuple(kind.arguments(node))
    return java_command(distribution, options, node.conf_dir, kind.main_class, arguments, classpath)


def write_hadoop_command(
    path: Path, distribution: Distribution, starts: Starts, conf_dir: Path, subcommands: Mapping[str, str],
    node: Node = HERE,
    entering: Callable[[Sequence[str]], Sequence[str]] = list,
    preloaded: Path | None = None,
) -> Path:  # fmt: skip
    """Write an executable `hadoop` pointed at this cluster: these subcommands, or a main class by name.

    What it starts runs on the node, in the folder that it is called in, within what `entering` has a command enter, and
    with a library that is `preloaded`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.parent.parent / "tmp"
    scratch.mkdir(exist_ok=True)
    exports = f"export JAVA_HOME={shlex.quote(str(distribution.java.home))}"
    if preloaded is not None:
        exports += f"\nexport {PRELOADED}={shlex.quote(str(preloaded))}${{{PRELOADED}:+:${PRELOADED}}}"
    entry = entering(["/bin/sh", "-c", 'cd "$0" && exec "$@"'])
    there = "" if node is HERE else f'{shlex.join(node.command(entry))} "$PWD" '
    if distribution.home is not None:
        hadoop = shlex.quote(str(distribution.home / "bin" / "hadoop"))
        script = f'#!/bin/bash\n{exports}\nexec {there}{hadoop} --config {shlex.quote(str(conf_dir))} "$@"\n'
    else:
        options = (*starts.control_options, f"-Djava.io.tmpdir={scratch}")
        command = shlex.join(java_command(distribution, options, conf_dir, "")[:-1])
        cases = "\n".join(f"  {name}) shift; main={main} ;;" for name, main in subcommands.items())
        plain = ":".join((str(conf_dir), *distribution.classpath))
        script = f"""\
#!/bin/bash
# Hadoop {distribution.version}, pointed at {conf_dir}: `hadoop jar x.jar ARGS`, `hadoop fs -ls /`, `hadoop CLASS`
{exports}
export HADOOP_CONF_DIR={shlex.quote(str(conf_dir))}
case "${{1:-}}" in
  "") echo "usage: hadoop {"|".join([*subcommands, "classpath"])}|CLASS [ARGS]" >&2; exit 1 ;;
  classpath) echo {shlex.quote(plain)}; exit 0 ;;
{cases}
  *) main="$1"; shift ;;
esac
# HADOOP_CLASSPATH, HADOOP_CLIENT_OPTS: as with Hadoop's own script.
exec {there}{command}"${{HADOOP_CLASSPATH:+:$HADOOP_CLASSPATH}}" ${{HADOOP_CLIENT_OPTS:-}} "$main" "$@"
"""
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)
    return path


class PortTakenError(AssayError):
    """A daemon found its port in use: worth another try with other ports."""


@dataclass(frozen=True)
class Daemon:
    """A daemon that was started on a node."""

    kind: DaemonKind
    node: Node
    process: Process
    log: Path

    @property
    def facts(self) -> DaemonFacts:
        return DaemonFacts(role=self.kind.role, pid=self.process.pid, log=self.log)

    def failure(self) -> str | None:
        """Say how the daemon ended, with its most telling log line; None while it runs."""
        code = self.process.poll()
        if code is None:
            return None
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return f"the {self.kind.name} {how}: {self.last_words()} (log: {self.log})"

    def last_words(self) -> str:
        """See the function of this name."""
        return last_words(self.log, self.node, self.kind)

    def check(self) -> None:
        """Raise AssayError when it has died; PortTakenError when that was because its port was taken."""
        failure = self.failure()
        if failure is not None:
            raise (PortTakenError if _PORT_TAKEN.search(failure) else AssayError)(failure)

    def reap(self) -> None:
        """Collect the ended process, so that it is no zombie."""
        self.process.wait(timeout=30)
