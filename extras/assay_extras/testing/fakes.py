"""A fake for every protocol: the whole lifecycle runs in memory.

A fake does what its contract promises and no more. `Script.fail_at` makes one of them fail, so that tests can see
what the runner does about it.
"""

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from assay.model.dataset import Graph, GraphFacts
from assay.model.doubt import CheckResult, Doubt, Outcome
from assay.model.engine import Engine, EngineContext, Launch, LaunchReport
from assay.model.errors import AssayError
from assay.model.input import GraphInput
from assay.model.installed import kinds_of
from assay.model.layout import INTERMEDIATE, Layout
from assay.model.medium import Space
from assay.model.platform import RunningPlatform, TrialSetup
from assay.model.probe import CONTAINERS, Evaluation, Moment, Quantity, Scene, Values, WatchedDisk, WatchedProcess
from assay.model.progress import Progress
from assay.model.record import Part
from assay.model.running_cluster import ClusterNode, DaemonFacts, RunningCluster
from assay.model.store import Placer, Store
from assay.model.trial import Landed, MediumSpec, ResourceEstimate, Trial, WorkloadSpec
from assay_extras.testing.fake_hadoop import MIB, FakeEngine, FakePlacer, FakeStore, Script


class FakeProbe:
    """Beats once at each mark, and sees intermediates land where they should."""

    name = "fake"

    def __init__(self, script: Script, trial: Trial, *, sees_writes: bool) -> None:
        self._script = script
        self._trial = trial
        self._beats = 0
        self._sees_writes = sees_writes

    def attach(self, scene: Scene) -> None:
        """Told."""
        self._script.note("attach probe")

    def sample(self, now: Moment) -> Values:
        """One beat."""
        self._beats += 1
        return {("", "beat_count"): 1.0}

    def totals(self) -> Mapping[Quantity, float]:
        """Beats so far."""
        return {Quantity("machine", "beat_count"): self._beats}

    def mark(self, part: Part | None) -> tuple[Landed, ...]:
        """As many bytes as everything lands with, where they should be."""
        self._script.note(f"mark {part}" if part else "begin probe")
        if part != "run" or not self._sees_writes:
            return ()
        shares = self._trial.placement.of(INTERMEDIATE)
        return (Landed(role=INTERMEDIATE, when="run", bytes=100 * MIB, shares=shares),)

    def evaluate(self) -> Evaluation:
        """Nothing more."""
        self._script.note("read probe")
        return Evaluation()

    def doubts(self) -> tuple[Doubt, ...]:
        """None."""
        return ()

    def close(self) -> None:
        """Told."""
        self._script.note("close probe")


__all__ = ["FakePlatform", "Script", "fake_setup"]

NOWHERE = Path("/nowhere")
TRIANGLE = Graph(edges=np.array([[0, 1], [0, 2], [1, 2]], dtype=np.int64), lone=np.array([7], dtype=np.int64))
TRIANGLE_FACTS = GraphFacts(nodes=4, edges=3, wedges=3, wedges_by_id=1, degree_squares=12, triangles=1)


class FakeMedium:
    """A medium that holds whatever is claimed."""

    def __init__(self, script: Script, spec: MediumSpec, free_bytes: int = 1 << 40) -> None:
        self.spec = spec
        self.node = ""
        self._script = script
        self._free_bytes = free_bytes

    def facts(self) -> Mapping[str, str]:
        """Says that it is a fake."""
        return {"kind": "fake"}

    def space(self) -> Space:
        """As much as it was told, on the one fake disk that all fakes share."""
        return Space(free_bytes=self._free_bytes, total_bytes=1 << 40, shared=1)

    @contextmanager
    def attached(self) -> Iterator[Path]:
        """A path at which nothing is."""
        self._script.note("attach medium")
        try:
            yield NOWHERE / self.spec.name
        finally:
            self._script.note("detach medium")

    def make_cold(self) -> tuple[Doubt, ...]:
        """Only told."""
        self._script.note("make cold")
        return ()

    def watched_disk(self, directories: Sequence[Path]) -> WatchedDisk | None:
        """Nothing to see."""
        return None


class FakeDrive(FakeMedium):
    """A medium whose device is Assay's own: always late, and dead as soon as the script has failed."""

    def failure(self) -> str | None:
        """Dead once anything has failed."""
        return "the drive died" if self._script.fail_at in self._script.log else None

    @contextmanager
    def attached(self) -> Iterator[Path]:
        """Explains a failure by its own."""
        with super().attached() as place:
            try:
                yield place
            except AssayError as error:
                raise AssayError(self.failure() or str(error)) from error

    def write_out(self) -> None:
        """Only told."""
        self._script.note("write out")

    def reset_report(self) -> None:
        """Only told."""
        self._script.note("reset report")

    def release(self) -> None:
        """Only told."""
        self._script.note("release")

    def device_report(self) -> Mapping[str, object]:
        """One request."""
        return {"reads": {"requests": 1, "bytes": 4096}}

    def doubts(self) -> tuple[Doubt, ...]:
        """That it was late."""
        return (Doubt(kind="late", what="a fake was late", why="it is a fake", cure="take a real one"),)


class FakeInput(GraphInput):
    """One triangle and a lone vertex."""

    def __init__(self, script: Script) -> None:
        self._script = script

    def prepare(self, progress: Progress) -> None:
        """Only told."""
        self._script.note("prepare dataset")

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put a file that is not there."""
        store.put(NOWHERE / "edges.tsv", f"{path}/edges.tsv")
        return LaunchReport(jobs=(), result={})

    def facts(self) -> GraphFacts:
        """Counted by hand."""
        return TRIANGLE_FACTS

    def graph(self) -> Graph:
        """The triangle."""
        return TRIANGLE


class FakeWorkload:
    """Stages, runs one command and expects the answer 1."""

    base = "/fake"
    input_path = read_path = "/fake/input"
    output_path = "/fake/output"

    def __init__(self, script: Script, spec: WorkloadSpec) -> None:
        self.spec = spec
        self.input = FakeInput(script)
        self._script = script

    def estimate(self) -> ResourceEstimate:
        """A little of each."""
        return ResourceEstimate(disk_bytes=14, memory_bytes=1, seconds=1)

    def stage(self, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put the dataset's file."""
        self._script.note("stage")
        return self.input.stage(self.input_path, store, engine, progress)

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """One launch."""
        return engine.run(Launch(command="answer", input="/fake/input", output=self.output_path), progress)

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        """The output says 1."""
        self._script.note("verify")
        found = list(store.lines(self.output_path))
        outcome = Outcome.PASS if found == [b"1"] else Outcome.FAIL
        return (CheckResult(check="the answer is 1", outcome=outcome, detail=repr(found)),)


class FakeProcess:
    """A process that ended well at once."""

    pid = 1

    def poll(self) -> int:
        """0."""
        return 0

    def wait(self, timeout: float | None = None) -> int:
        """0."""
        return 0


class FakeNode:
    """A host whose files are in memory, by their paths."""

    interfaces: Sequence[str] = ()
    own_machine = True

    def __init__(self, script: Script, name: str) -> None:
        self.name = name
        self.files: dict[Path, str] = {}
        self._script = script

    def start(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> FakeProcess:
        """The command is all that it logs."""
        self._script.note(f"start {command[0]} on {self.name}")
        self.files[log] = " ".join(command)
        return FakeProcess()

    def read(self, path: Path, last_bytes: int | None = None) -> str:
        """What was kept there."""
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path][-last_bytes if last_bytes else 0 :]

    def open(self, path: Path) -> "FakeFile":
        """What is kept there at each reading."""
        self.read(path)
        return FakeFile(self, path)

    def names(self, path: Path) -> list[str]:
        """Of the files that were kept below it."""
        return [file.relative_to(path).parts[0] for file in self.files if file.is_relative_to(path)]

    def link(self, path: Path) -> str:
        """There is none."""
        raise FileNotFoundError(path)

    def command(self, command: Sequence[str]) -> Sequence[str]:
        """By a program that is not there."""
        return ("run-on", self.name, *command)

    def copy(self, source: Path, target: Path) -> None:
        """Only told."""
        self._script.note(f"copy to {self.name}")

    def free_ports(self, count: int) -> list[int]:
        """The first ones."""
        return list(range(1, count + 1))

    def connect(self, address: tuple[str, int], timeout_s: float | None = None) -> socket.socket:
        """Nobody is there."""
        raise ConnectionRefusedError(f"nothing listens at {address} of {self.name}")


class FakeFile:
    """A file of a fake node that is kept open."""

    def __init__(self, node: FakeNode, path: Path) -> None:
        self._node, self._path = node, path

    def read(self, most_bytes: int = 8192) -> str:
        """As it is now."""
        return self._node.read(self._path)[:most_bytes]

    def close(self) -> None:
        """Nothing to let go."""


class FakePlatform:
    """A platform without daemons, on which everything is fake. Of its store there is one."""

    def __init__(
        self, script: Script, trial: Trial, free_bytes: int = 1 << 40, *, nodes: int = 1, registered: bool = False
    ) -> None:
        """With `registered` store and engine are those that the trial names."""
        self.script = script
        self.trial = trial
        self.store = FakeStore(script)
        self.nodes = [FakeNode(script, f"node-{number}") for number in range(1, nodes + 1)]
        self.registered = registered
        self._free_bytes = free_bytes

    def facts(self) -> Mapping[str, str]:
        """Says that it is a fake."""
        return {"assay": "fake", "memory_bytes": str(8 << 30)}

    def media(self) -> tuple[FakeMedium, ...]:
        """Fake media."""
        kind = FakeDrive if self.script.device else FakeMedium
        return tuple(kind(self.script, spec, self._free_bytes) for spec in self.trial.media)

    @contextmanager
    def neutral(self) -> Iterator[Path]:
        """A path at which nothing is."""
        yield NOWHERE / "neutral"

    def logs(self, neutral: Path) -> bytes:
        """One line."""
        self.script.note("read logs")
        return b"the logs"

    def check(self, properties: Mapping[str, str]) -> None:
        """Only told."""
        self.script.note("check cluster")

    def user(self) -> str:
        """Somebody."""
        return "somebody"

    def blocking_problem(self) -> str | None:
        """Nothing ends."""
        return None

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningPlatform]:
        """Healthy at once, and nothing ever dies."""
        self.script.note("start cluster")
        try:
            store, engine, placer, stager = self._registered(layout) if self.registered else self._fakes()
            yield RunningPlatform(
                facts={"hadoop": "fake", "nodes": str(len(self.nodes))}, settings=dict(properties), store=store,
                engine=engine, stager=stager, placer=placer, failure=lambda: None, scene=lambda: self.scene(layout),
                limit_use=lambda: self.script.limit_use,
            )  # fmt: skip
        finally:
            self.script.note("stop cluster")

    def scene(self, layout: Layout) -> Scene:
        """The layout's directories, nothing on them, and one process on each node."""
        processes = tuple(
            WatchedProcess(group="worker", pid=pid, children=CONTAINERS, node=node.name)
            for pid, node in enumerate(self.nodes, 1)
        )
        return Scene(layout=layout, processes=processes, nodes=tuple(self.nodes))

    def _fakes(self) -> tuple[Store, Engine, Placer | None, Engine | None]:
        engine = FakeEngine(self.script, self.trial, self.store)
        return self.store, engine, FakePlacer(self.script, self.trial), None

    def _registered(self, layout: Layout) -> tuple[Store, Engine, Placer | None, Engine | None]:
        nodes = tuple(
            ClusterNode(node, (DaemonFacts(role="worker", pid=pid, log=NOWHERE / "worker.log"),), NOWHERE / "logs")
            for pid, node in enumerate(self.nodes, 1)
        )
        kinds = kinds_of(self.trial)
        cluster = RunningCluster(
            NOWHERE / "hadoop", layout.neutral, "fake", addresses={}, nodes=nodes, clients=kinds.stack.clients
        )
        store = kinds.store.open(cluster)
        context = EngineContext(cluster, self.trial.cluster, store, NOWHERE / "jobs.jar", layout.neutral, lambda: None)
        stager = kinds.stager.open(context) if kinds.stager else None
        return store, kinds.engine.open(context), kinds.store.placer_on(cluster, kinds.stack.keep_apart(layout)), stager


def fake_setup(
    script: Script, trial: Trial, free_bytes: int = 1 << 40, *, nodes: int = 1, registered: bool = False
) -> TrialSetup:
    """The setup of one trial, all fake; for `registered` see `FakePlatform`."""
    return TrialSetup(
        kinds=kinds_of(trial),
        platform=FakePlatform(script, trial, free_bytes, nodes=nodes, registered=registered),
        workload=lambda: FakeWorkload(script, trial.workload),
        probes=lambda context: (FakeProbe(script, trial, sees_writes=context.is_first),),
    )
