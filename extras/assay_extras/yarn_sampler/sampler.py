"""Nodes of a cluster that is somebody else's, read from containers of a small YARN application.

`org.assay.sampler` (extras/java/yarn-sampler) is the application: a client, a master, and on each node a container that
reads the same files as a shell does over SSH (`assay.node.readings`) and keeps what it read in memory. When the client
ends the sampling, each container writes that into a folder of the store, from where the client fetches it. The client
lives as long as its input is open, and renews a mark in the store; containers that no longer see it renewed end by
themselves.

Clocks are compared through the NameNode: the time of a file's creation is its own, and lies between the request and the
answer. The offset to this machine is that of a node less that of this machine, and both uncertainties add up.
"""

import gzip
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from assay.host.processes import last_telling
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import AssayError
from assay.model.host_names import HostNames
from assay.model.naming import first_few
from assay.model.probe import ClockOffset, NodeSourceContext, Reading
from assay.model.record import READ_FROM_AFAR, Amount, Part
from assay.node.readings import NODE_CLOCK_SET, NODES_LOST, NODES_UNREAD, STEP_S, Parser, moment, parsed
from assay_extras.yarn_sampler.kind import YarnSamplerOptions, jar_of

MAIN = "org.assay.sampler.SamplerClient"
INTERVAL_MS = 1000
BEGIN_S, END_S, LEAVE_S = 90.0, 120.0, 20.0
"""For the first containers on all nodes; for what they write at the end; for a client that is to go."""

_MIB = 1 << 20


class Sampling(NamedTuple):
    """What the application needs: its jar, a folder of the store's that is not there yet, one of this machine's."""

    jar: Path
    base: str
    scratch: Path


class _Ended(NamedTuple):
    """A part that ended, by this machine's clock."""

    part: Part | None
    at_s: float


class YarnSampler:
    """See `model.probe.NodeSource`. All readings come at the end."""

    def __init__(
        self, spec: YarnSamplerOptions, hadoop: Path, environment: Mapping[str, str], sampling: Sampling
    ) -> None:
        self._spec, self._hadoop, self._environment, self._sampling = spec, hadoop, environment, sampling
        self._receive: Callable[[Reading], None] = lambda _: None
        self._process: subprocess.Popen[str] | None = None
        self._thread: threading.Thread | None = None
        self._begun, self._news = threading.Event(), threading.Lock()
        self._failure: str | None = None
        self._late = False
        self._missing: dict[str, list[str]] = {}
        self._own_clock: ClockOffset | None = None
        self._taken: tuple[int, int, int] | None = None
        self._ended: list[_Ended] = []
        self._doubts: list[Doubt] = []

    def begin(self, receive: Callable[[Reading], None]) -> None:
        self._receive = receive
        self._sampling.scratch.mkdir(parents=True)
        path = [str(self._sampling.jar), *filter(None, [self._environment.get("HADOOP_CLASSPATH")])]
        queue = ["--queue", self._spec.queue] if self._spec.queue is not None else []
        hosts = ["--hosts", ",".join(self._spec.hosts)] if self._spec.hosts else []
        command = [
            str(self._hadoop), MAIN, "--base", self._sampling.base, "--jar", str(self._sampling.jar),
            "--out", str(self._sampling.scratch), "--interval-ms", str(INTERVAL_MS),
            "--memory-mb", str(self._spec.memory_mb), "--begin-s", str(round(BEGIN_S * 2 / 3)), *queue, *hosts,
        ]  # fmt: skip
        try:
            with (self._sampling.scratch / "client.log").open("wb") as log:
                self._process = subprocess.Popen(
                    command, env={**self._environment, "HADOOP_CLASSPATH": ":".join(path)}, encoding="utf-8",
                    errors="replace", stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            self._failure = f"Hadoop's client can't be started ({error})"
            return
        self._thread = threading.Thread(target=self._listen, name="probe-yarn-sampler", daemon=True)
        self._thread.start()
        if not self._begun.wait(BEGIN_S):
            self._fail(f"it was not running within {BEGIN_S:.0f} s (is the queue full?)")
            self._late = True
            self._end_input()  # containers that come now would take room from the jobs for nothing

    def mark(self, part: Part | None) -> None:
        self._ended.append(_Ended(part, time.time()))

    def end(self) -> Sequence[Amount]:
        """Give out all readings. A part ends with the first reading after its end: they are an interval apart.

        Of a node whose sampler came late nothing is: its first reading would end parts that it has not seen.
        """
        self._leave(END_S)
        late = {host for hosts in self._missing.values() for host in hosts}
        for file in sorted(self._sampling.scratch.glob("*.readings.gz")):
            host = file.name.removesuffix(".readings.gz")
            if self._late or host in late:
                continue
            try:
                self._give_out(host, file)
            except (OSError, EOFError, ValueError) as error:
                self._doubts.append(NODES_LOST.doubt(f"{host}: what its sampler wrote can't be read: {error}"))
        if self._taken is None:
            return ()
        containers, memory_mb, vcores = self._taken
        what = f"the sampler held {containers} containers with {memory_mb} MB and {vcores} vcores together"
        self._doubts.append(SAMPLER_TAKES_CONTAINERS.doubt(what))
        sizes = {"containers_count": containers, "memory_bytes": memory_mb * _MIB, "vcores_count": vcores}
        return [
            Amount(probe=READ_FROM_AFAR, subject="sampler", series=series, part="collect", value=value)
            for series, value in sizes.items()
        ]

    def doubts(self) -> tuple[Doubt, ...]:
        missing = [
            NODES_UNREAD.doubt(f"{first_few(hosts)}: not read from YARN: {why}") for why, hosts in self._missing.items()
        ]
        failed = [] if self._failure is None else [NODES_LOST if self._ended else NODES_UNREAD]
        return (*(kind.doubt(f"the sampler in YARN: {self._failure}") for kind in failed), *missing, *self._doubts)

    def close(self) -> None:
        self._leave(LEAVE_S)

    def _leave(self, patience_s: float) -> None:
        """Close the client's input and wait; one that does not go is ended, and the containers then end themselves."""
        self._end_input()
        process, self._process = self._process, None
        if process is None:
            return
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self._fail(f"its client did not end within {patience_s:.0f} s")
            process.terminate()
            try:
                process.wait(LEAVE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._thread is not None:
            self._thread.join(LEAVE_S)

    def _end_input(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None  # noqa: S101 - it is a pipe
            with suppress(OSError):
                self._process.stdin.close()

    def _fail(self, reason: str) -> None:
        with self._news:
            self._failure = self._failure or reason

    def _listen(self) -> None:
        """The client's lines: a word that says what, and what it says."""
        process = self._process
        assert process is not None  # noqa: S101 - started before
        assert process.stdout is not None  # noqa: S101 - it is a pipe
        with process.stdout as lines:
            for line in lines:
                word, _, rest = line.strip().partition(" ")
                with suppress(ValueError):  # a line of something else that looks alike
                    self._hear(word, rest)
        code = process.wait()
        if code and self._failure is None:
            self._fail(_last_words(self._sampling.scratch / "client.log", code))
        self._begun.set()

    def _hear(self, word: str, rest: str) -> None:
        if word == "@clock":
            self._own_clock = ClockOffset(*map(float, rest.split()))
        elif word == "@missing":
            host, _, why = rest.partition(" ")
            self._missing.setdefault(why, []).append(host)
        elif word == "@taken":
            containers, memory_mb, vcores = map(int, rest.split())
            self._taken = containers, memory_mb, vcores
        elif word == "@ready":
            self._begun.set()
        elif word == "@failed":
            self._fail(rest)

    def _give_out(self, host: str, file: Path) -> None:
        if self._own_clock is None:
            raise ValueError("the clocks were not compared")
        with gzip.open(file, "rt", encoding="utf-8", errors="replace") as text:
            clock, set_by_s = _compared([line for line in text if line.startswith("@clock ")], self._own_clock)
        if set_by_s > STEP_S:
            what = f"the clock of {host} went by {set_by_s:.1f} s apart from this machine's during the trial"
            self._doubts.append(NODE_CLOCK_SET.doubt(what))
        left = list(self._ended)
        with gzip.open(file, "rt", encoding="utf-8", errors="replace") as text:
            parser = Parser()
            for raw in parsed(text, parser):
                at = moment(raw.time_s, clock)
                ended = tuple(_due(left, at.clock_s))
                self._receive(Reading(host, at, clock, raw.files, parser.listing, ended))
        if left:
            parts = ", ".join(str(one.part) for one in left)
            self._doubts.append(NODES_LOST.doubt(f"{host}: its readings end before the end of {parts}"))


def _due(left: list[_Ended], at_s: float) -> Iterator[Part | None]:
    """The parts that had ended by a time; they are left no more."""
    while left and left[0].at_s <= at_s:
        yield left.pop(0).part


def _compared(lines: Sequence[str], own: ClockOffset) -> tuple[ClockOffset, float]:
    """The offset of a node by its `@clock` lines, and how far these are apart beyond what measuring explains."""
    found = [ClockOffset(*map(float, line.split()[1:3])) for line in lines]
    if not found:
        raise ValueError("it did not compare its clock")
    best = min(found, key=lambda one: one.uncertainty_s)
    apart_s = max(abs(one.offset_s - best.offset_s) - one.uncertainty_s - best.uncertainty_s for one in found)
    return ClockOffset(best.offset_s - own.offset_s, best.uncertainty_s + own.uncertainty_s), apart_s


def _last_words(log: Path, code: int) -> str:
    text = log.read_text(errors="replace", encoding="utf-8")
    said = last_telling(text, lambda line: "Exception" in line or "ERROR" in line, silent="it printed nothing")
    return f"its client ended with exit code {code}: {said[:300]}"


SAMPLER_TAKES_CONTAINERS = doubt_kind(
    "sampler-takes-containers", "cluster", instrument=READ_FROM_AFAR,
    when="nodes of an existing cluster were read from containers in YARN",
    why="these containers' memory and vcores were not there for the jobs, which may have run in more waves",
    cure="compare only trials with the sampler, or read the nodes over SSH",
)  # fmt: skip


def opened(options: YarnSamplerOptions, context: NodeSourceContext) -> YarnSampler:
    """A sampler of one trial; nodes that the experiment names are called as the ResourceManager calls them."""
    names = HostNames()
    with suppress(AssayError):  # it names no node: those of the experiment are taken as they stand
        names = HostNames(context.workers())
    hosts = list(dict.fromkeys(names.find([host]) or host for host in options.hosts))
    sampling = Sampling(jar_of(context.installation), f"assay/sampler-{context.lease_id}", context.scratch / "sampler")
    return YarnSampler(options.model_copy(update={"hosts": hosts}), context.hadoop, context.environment, sampling)
