"""Nodes of a cluster that is somebody else's, read over SSH: one connection for each, nothing written, nothing left.

OpenSSH's own client does it, so that a user's configuration, keys, agent and jump hosts hold. With BatchMode a question
for a password is an error at once (ssh_config(5)). On the node a shell waits for a line from here before it reads
anything (`assay.node.readings`): it ends with the connection, and each answer measures the clock's offset.
"""

import os
import selectors
import shlex
import shutil
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field

from assay.host.processes import last_telling
from assay.model.base import Frozen, Whole
from assay.model.doubt import Doubt
from assay.model.errors import AssayError, BadInputError
from assay.model.host_names import HostNames
from assay.model.naming import first_few
from assay.model.probe import Ask, ClockOffset, FilesRead, NodeSourceContext, NodeSourceKind, Reading, now
from assay.model.record import Part
from assay.model.registry import NODE_SOURCES
from assay.node.readings import (
    NODE_CLOCK_SET,
    NODES_LOST,
    NODES_SPARSE,
    NODES_UNREAD,
    SCRIPT,
    ClockComparison,
    Parser,
    Raw,
)

INTERVAL_S, MOST_READINGS_S = 1.0, 250
"""All nodes together give no more readings a second than that: the interval of more nodes is longer."""

CONNECT_S, PATIENCE_S, GAP_S = 15.0, 10.0, 5.0
"""For the first answers; for any later one; what counts as a gap between two."""

COMPARISONS = 4
"""Readings before the first that counts, one after another: the shortest of several round trips tells the clock."""

_OPTIONS = (
    "BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5", "ServerAliveCountMax=2", "ClearAllForwardings=yes",
    "ForwardAgent=no", "PermitLocalCommand=no", "RequestTTY=no", "LogLevel=ERROR",
)  # fmt: skip
_MOST_WORDS = 200


FROM_YARN = "from YARN"


def _hosts(value: Any) -> Any:
    """The cluster's own workers are none here; a single one may stand alone."""
    return [] if value == FROM_YARN else [value] if isinstance(value, str) else value


Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:-]*$")]
Hosts = Annotated[list[Host], BeforeValidator(_hosts, json_schema_input_type=Literal["from YARN"] | Host | list[Host])]
"""Nodes by their names; none stands for all that run the jobs' tasks."""


class SshOptions(Frozen):
    """How the nodes of an existing cluster are read over SSH."""

    hosts: Hosts = []
    """The nodes, by the names or addresses that your `ssh` knows; by default, and with `from YARN`, those on
    which tasks run."""
    user: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@\\-]*$")] | None = None
    """The user there; by default the one of your SSH configuration."""
    port: Annotated[Whole, Field(ge=1, le=65535)] | None = None
    """The port; by default the one of your SSH configuration."""
    key: Path | None = None
    """A private key without a passphrase, or whose passphrase your agent knows; by default those of your SSH
    configuration."""
    options: list[Annotated[str, Field(pattern=r"^[A-Za-z]+[= ].+$")]] = []
    """Further options as OpenSSH writes them, such as `ProxyJump=gate` or `StrictHostKeyChecking=accept-new`."""


def ssh_command(spec: SshOptions, host: str) -> list[str]:
    """The client's command line; the user's options go first, since OpenSSH keeps the first value of each."""
    options = [part for option in (*spec.options, *_OPTIONS) for part in ("-o", option)]
    user = ["-l", spec.user] if spec.user is not None else []
    port = ["-p", str(spec.port)] if spec.port is not None else []
    key = ["-i", str(spec.key), "-o", "IdentitiesOnly=yes"] if spec.key is not None else []
    return ["ssh", "-T", *options, *user, *port, *key, "--", host, f"exec env LC_ALL=C sh -c {shlex.quote(SCRIPT)}"]


class _Asked(NamedTuple):
    """A question that was not answered yet; with `ends` a part ends with its reading."""

    at_s: float
    clock_s: float
    ends: bool = False
    part: Part | None = None


class _Connection:
    """One node's. Whatever goes wrong with it is kept as `lost`, the reason in words; it is asked nothing then."""

    def __init__(self, host: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Raises OSError if the client can't be started."""
        self.host = host
        self.lost: str | None = None
        self.clock = ClockComparison()
        self.parser = Parser()
        self.answers = 0
        self.longest_gap_s = 0.0
        self.lost_at: str = ""
        self._asked: deque[_Asked] = deque()
        self._rest = b""
        self._head_s = 0.0
        self._last_clock_s: float | None = None
        # Errors in a file in memory: no pipe that would have to be emptied.
        self._complained: IO[bytes] = os.fdopen(os.memfd_create("assay-ssh"), "w+b")
        self.process = subprocess.Popen(
            command, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complained,
            start_new_session=True, bufsize=0,
        )  # fmt: skip
        assert self.process.stdin is not None  # noqa: S101 - they are pipes
        assert self.process.stdout is not None  # noqa: S101
        self._questions, self.output = self.process.stdin, self.process.stdout

    @property
    def waits(self) -> bool:
        """Whether something that was asked is not answered yet."""
        return bool(self._asked)

    @property
    def overdue(self) -> bool:
        return bool(self._asked) and time.monotonic() - self._asked[0].clock_s > PATIENCE_S

    def ask(self, question: _Asked) -> None:
        if self.lost is None:
            self._asked.append(question)
            try:
                self._questions.write(b"%d\n" % question.ends)
            except OSError:  # it has ended: what it said is read next
                self._asked.pop()

    def received(self) -> list[tuple[Raw, _Asked, ClockOffset]]:
        """What it has answered by now; an end of its output loses it."""
        content = os.read(self.output.fileno(), 1 << 16)
        at_s = time.time()
        if not content:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(2)
            self.lose(self._reason())
            return []
        *lines, self._rest = (self._rest + content).split(b"\n")
        answers = []
        for line in (line_bytes.decode(errors="replace") for line_bytes in lines):
            if line.startswith("@ "):
                self._head_s = at_s
            raw = self.parser.take(line)
            if raw is not None and self._asked:
                question = self._asked.popleft()
                self._count()
                answers.append((raw, question, self.clock.add(question.at_s, self._head_s, raw.time_s, raw.step_s)))
        return answers

    def _count(self) -> None:
        clock_s = time.monotonic()
        if self._last_clock_s is not None:
            self.longest_gap_s = max(self.longest_gap_s, clock_s - self._last_clock_s)
        self._last_clock_s = clock_s
        self.answers += 1

    def lose(self, reason: str) -> None:
        if self.lost is None:
            self.lost, self.lost_at = reason, time.strftime("%H:%M:%S")

    def hang_up(self) -> None:
        """End its input, with which all on the node ends."""
        for pipe in (self._questions, self.output):
            with suppress(OSError):
                pipe.close()

    def close(self) -> None:
        """Once it was hung up."""
        try:
            self.process.wait(2 if self.lost is None else 0.1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._complained.close()

    def _reason(self) -> str:
        """The last line of what the client complained of."""
        self._complained.seek(0)
        silent = f"ssh ended with exit code {self.process.poll()} without a word"
        return last_telling(self._complained.read().decode(errors="replace"), silent=silent)[:_MOST_WORDS]


class SshNodes:
    """See `model.probe.NodeSource`. A thread asks all nodes once each interval, and takes their answers."""

    def __init__(
        self,
        spec: SshOptions,
        environment: Mapping[str, str],
        known_hosts: Callable[[], Sequence[str]],
        command: Callable[[SshOptions, str], Sequence[str]] = ssh_command,
    ) -> None:
        """`known_hosts` gives the cluster's own workers, asked for where the description names none."""
        self._spec = spec
        self._environment = environment
        self._known_hosts = known_hosts
        self._command = command
        self._connections: list[_Connection] = []
        self._receive: Callable[[Reading], None] = lambda _: None
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._trouble: list[Doubt] = []

    def begin(self, receive: Callable[[Reading], None]) -> None:
        self._receive = receive
        try:
            hosts = tuple(self._spec.hosts or self._known_hosts())
        except AssayError as error:
            self._trouble.append(NODES_UNREAD.doubt(f"no node was read over SSH: {error}"))
            hosts = ()
        for host in dict.fromkeys(map(HostNames(hosts).add, hosts)):
            try:
                self._connections.append(_Connection(host, self._command(self._spec, host), self._environment))
            except OSError as error:
                detail = f"no node was read over SSH: ssh can't be started ({error})"
                self._trouble.append(NODES_UNREAD.doubt(detail, cure="install OpenSSH's client (openssh-client)"))
                break
        if not self._connections:
            return
        self._thread = threading.Thread(target=self._run, name="probe-ssh", daemon=True)
        self._thread.start()
        deadline_s = time.monotonic() + CONNECT_S
        while time.monotonic() < deadline_s and any(
            connection.lost is None and connection.answers < COMPARISONS for connection in self._connections
        ):
            time.sleep(0.02)
        for connection in self._connections:
            if connection.answers < COMPARISONS:
                connection.lose(f"it did not answer within {CONNECT_S:.0f} s")

    def mark(self, part: Part | None) -> int:
        with self._lock:
            for connection in self._connections:
                connection.ask(_asked(ends=True, part=part))
        return now().time_ms

    def end(self) -> None:
        deadline_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline_s and any(
            connection.waits and connection.lost is None for connection in self._connections
        ):
            time.sleep(0.02)
        self._stop()

    def doubts(self) -> tuple[Doubt, ...]:
        unread: dict[str, list[str]] = {}
        ended: dict[str, list[str]] = {}
        sparse = []
        for connection in self._connections:
            if connection.lost is not None and connection.answers < COMPARISONS:
                unread.setdefault(connection.lost, []).append(connection.host)
            elif connection.lost is not None:
                ended.setdefault(f"at {connection.lost_at}: {connection.lost}", []).append(connection.host)
            elif connection.longest_gap_s > GAP_S:
                gap = f"{connection.host} once took {connection.longest_gap_s:.1f} s to answer"
                sparse.append(NODES_SPARSE.doubt(gap))
        clocks = [
            NODE_CLOCK_SET.doubt(
                f"the clock of {connection.host} was set by {connection.clock.set_by_s:.1f} s during the trial"
            )
            for connection in self._connections
            if connection.clock.set_by_s
        ]
        return (
            *self._trouble,
            *(NODES_UNREAD.doubt(f"{first_few(hosts)}: not read over SSH: {why}") for why, hosts in unread.items()),
            *(NODES_LOST.doubt(f"{first_few(hosts)}: no longer read over SSH {why}") for why, hosts in ended.items()),
            *sparse,
            *clocks,
        )

    def close(self) -> None:
        self._stop()
        connections, self._connections = self._connections, []
        for connection in connections:
            connection.hang_up()
        for connection in connections:
            connection.close()

    def _stop(self) -> None:
        self._ended.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_S)

    def _run(self) -> None:
        try:
            self._keep_asking()
        except Exception as error:  # a thread that dies in silence would leave figures that look whole
            for connection in self._connections:
                connection.lose(f"the thread that reads it ended with {type(error).__name__}: {error}")

    def _keep_asking(self) -> None:
        interval_s = max(INTERVAL_S, len(self._connections) / MOST_READINGS_S)
        next_s = time.monotonic()
        with selectors.DefaultSelector() as selector:
            for connection in self._connections:
                selector.register(connection.output, selectors.EVENT_READ, connection)
            while not self._ended.is_set():
                for key, _ in selector.select(min(0.1, max(0.0, next_s - time.monotonic()))):
                    self._take(key.data)
                    if key.data.lost is not None:
                        selector.unregister(key.fileobj)
                if time.monotonic() >= next_s:
                    # A late reading is not made up for.
                    next_s += interval_s * (1 + (time.monotonic() - next_s) // interval_s)
                    self._ask_all()

    def _ask_all(self) -> None:
        with self._lock:
            for connection in self._connections:
                if connection.overdue:
                    connection.lose(f"it did not answer within {PATIENCE_S:.0f} s")
                elif not connection.waits:
                    connection.ask(_asked())

    def _take(self, connection: _Connection) -> None:
        for raw, question, clock in connection.received():
            if connection.answers < COMPARISONS:
                with self._lock:
                    connection.ask(_asked())
            elif connection.lost is None:
                ended = (question.part,) if question.ends else ()
                files = FilesRead(clock, raw.files, connection.parser.listing, ended)
                self._receive(Reading(connection.host, raw.time_s - clock.offset_s, files=files))


def _asked(*, ends: bool = False, part: Part | None = None) -> _Asked:
    return _Asked(time.time(), time.monotonic(), ends, part)


def _located(options: SshOptions, absolute: Callable[[Path], Path]) -> SshOptions:
    """With the key's whole path. Raises BadInputError where there is none."""
    if options.key is None:
        return options
    key = absolute(options.key)
    if not key.is_file():
        raise BadInputError(f"key {key} is not there; name the file of a private key, or leave key out")
    return options.model_copy(update={"key": key})


def _check(_options: SshOptions, environment: Mapping[str, str], _ask: Ask) -> None:
    """Raises BadInputError where there is no client."""
    if shutil.which("ssh", path=environment.get("PATH")) is None:
        raise BadInputError(
            "cluster: ssh needs OpenSSH's client, and there is no `ssh` on the PATH; install it (Debian, Ubuntu: "
            "apt-get install openssh-client), or leave ssh out",
            "ssh",
        )


def _open(options: SshOptions, context: NodeSourceContext) -> SshNodes:
    return SshNodes(options, context.environment, context.cluster.workers)


NODE_SOURCES.add(
    "ssh",
    NodeSourceKind(
        options=SshOptions,
        about="Reads the nodes' counters [over SSH](../how-to/measure-a-cluster.md#step-2-over-ssh), such as "
        "`{user: me, key: ~/.ssh/id}`. Existing only.",
        open=_open,
        located=_located,
        check=_check,
    ),
    place=1,
)
