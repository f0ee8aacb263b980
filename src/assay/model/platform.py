"""Platforms: what jobs run on."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from pydantic import BaseModel

from assay.model.cluster import ClusterSpec
from assay.model.doubt import Doubt
from assay.model.engine import Engine, EngineKind
from assay.model.fact import Fact
from assay.model.fault import Injector
from assay.model.installation import Holder, Installation
from assay.model.layout import Layout
from assay.model.limits import LimitUse
from assay.model.medium import Medium, MediumKind
from assay.model.probe import Probe, ProbeContext, Scene
from assay.model.progress import Progress
from assay.model.scale import ScaleSeen
from assay.model.service import Stack
from assay.model.store import Placer, Store, StoreKind
from assay.model.trial import Trial
from assay.model.workload import Workload, WorkloadKind


@dataclass(frozen=True)
class RunningPlatform:
    """A healthy platform: what a trial uses of it.

    `facts` go into the record beside the machine's (`hadoop`, its version; `nodes`, how many), as do the `settings`
    that it runs with. `placer` steers the store's bytes to their media; None where Assay has no say in that. `failure`
    tells what has died since the start, in one sentence with its own log line; None while all is well. `limit_use`
    tells what was used of the bounds since the start, also after the end; None where nothing is bounded. `scene` is
    what there is to be measured. `doubts` are those that its start left. `injector` makes the trial's fault happen;
    None where there is none. `stager` is the engine that brings the input into the store; None where that is the jobs'
    own. `scale` tells of a scale model what was seen of it between two times (milliseconds since the epoch); None where
    it is none.
    """

    facts: Mapping[str, Fact]
    settings: Mapping[str, str]
    store: Store
    engine: Engine
    placer: Placer | None
    failure: Callable[[], str | None]
    limit_use: Callable[[], LimitUse | None]
    scene: Callable[[], Scene]
    doubts: tuple[Doubt, ...] = ()
    injector: Injector | None = None
    stager: Engine | None = None
    scale: Callable[[int, int], ScaleSeen] | None = None


class Platform(Protocol):
    """What a trial runs on, as one object: its nodes, media, store and engine."""

    def facts(self) -> Mapping[str, Fact]:
        """Collect facts of the machine and the software."""

    def media(self) -> tuple[Medium, ...]:
        """The media of the trial's placement; the same ones each time."""

    def neutral(self) -> AbstractContextManager[Path]:
        """A fresh directory that is not under test: configuration, logs, names, edits."""

    def logs(self, neutral: Path) -> bytes:
        """The logs that lie in the neutral directory, as a compressed tar archive; empty where there are none.

        Raises OSError.
        """

    def check(self, properties: Mapping[str, str]) -> None:
        """Raises BadInputError when it could not start with these Hadoop properties; asked before anything starts."""

    def user(self) -> str:
        """Return the name by which the store knows the user. Raises BadInputError."""

    def blocking_problem(self) -> str | None:
        """Why no trial can begin or end well now, such as a login that has expired; None where nothing is known."""

    def running(
        self, layout: Layout, properties: Mapping[str, str], progress: Progress
    ) -> AbstractContextManager[RunningPlatform]:
        """Start with these Hadoop properties, wait until healthy, and stop everything at the scope's end.

        Raises AssayError with the daemon's own log line when one dies or is not healthy in time.
        """


class Places(Protocol):
    """Where an experiment says what it says."""

    def at(self, *keys: object) -> AbstractContextManager[None]:
        """Adds the file and the line of these keys to a BadInputError that is raised within the scope."""

    def absolute(self, path: Path | str) -> Path:
        """A path that it names, from its folder. Raises BadInputError where it can't be one."""


class PlatformContext(NamedTuple):
    """What a platform is made with: what it holds on this machine goes with the trial's lease."""

    trial: Trial
    kinds: "TrialKinds"
    installation: Installation
    lease: Holder
    environment: Mapping[str, str]


class PlatformKind(NamedTuple):
    """A kind of platform, as registered in PLATFORMS.

    `is_managed` says that Assay starts it on this machine: an experiment chooses its media and bounds, this machine's
    use tells what its trials take, probes see them, and its store is empty at first. Else it comes with `own_medium`,
    the name of a kind of medium. `keys` are those of `cluster` in an experiment that it has, each with a default, and
    `spec` makes a cluster of them, of its type in CLUSTERS; it may raise BadInputError. `needed_keys` are those that it
    can't do without, with what they are: naming one of them names the kind. `possible` is what this machine can have
    in place of a cluster that an experiment asks for. `lasting` tells what may end before a run of so many seconds.
    `slowness` is how many times slower than what it stands for a cluster runs on this machine.
    """

    open: Callable[[PlatformContext], Platform]
    is_managed: bool
    keys: Callable[[], type[BaseModel]]
    spec: Callable[[Any, Places], ClusterSpec]
    own_medium: str = ""
    needed_keys: Mapping[str, str] = {}
    possible: Callable[[ClusterSpec], ClusterSpec] = lambda spec: spec
    lasting: Callable[[ClusterSpec, float], Sequence[Doubt]] = lambda *_: ()
    slowness: Callable[[ClusterSpec], int] = lambda _: 1


@dataclass(frozen=True)
class TrialKinds:
    """What the names in a trial stand for here.

    `stack` has the services of its store and engine, `stack_of_store` those of the store alone. `stager` is the engine
    that stages its input, None where that is the jobs' own. `media` and `workloads` are by their names, `facts` tell of
    this machine.
    """

    platform: PlatformKind
    store: StoreKind
    engine: EngineKind
    stager: EngineKind | None
    stack: Stack
    stack_of_store: Stack
    media: Mapping[str, MediumKind[Any]]
    workloads: Mapping[str, WorkloadKind]
    facts: Sequence[Callable[[Installation], Mapping[str, Fact]]]


class TrialSetup(NamedTuple):
    """What one trial is made of; `workload` gives the same one each time."""

    kinds: TrialKinds
    platform: Platform
    workload: Callable[[], Workload]
    probes: Callable[[ProbeContext], Sequence[Probe]]
