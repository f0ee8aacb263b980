"""What both kinds of platform share: Hadoop's clients on this machine, the trial's media, facts."""

import hashlib
import io
import tarfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from stat import S_ISREG

from assay.host.machine import SPEED, compressed_mb_s, machine_facts, user_name
from assay.model.engine import Engine, EngineContext, ignore_progress
from assay.model.errors import BadInputError
from assay.model.fact import Fact
from assay.model.fault import worker_number
from assay.model.layout import Layout
from assay.model.limits import LimitUse
from assay.model.medium import Device, Dilated, HoldsBack, Medium, medium_of
from assay.model.platform import PlatformContext, RunningPlatform
from assay.model.probe import Scene
from assay.model.progress import Progress
from assay.model.running_cluster import RunningCluster, unnoticed
from assay.model.scale import ScaleSeen
from assay.model.service import Stack
from assay.model.store import Placer
from assay.platform.distribution import Distribution, check_paths, find_distribution
from assay.platform.faults import FaultInjector
from assay.platform.programs import check_programs, job_jars, needed_here
from assay.version import measuring_code_sha256

LOG_NAMES = ("*.log", "stdout", "stderr", "syslog", "prelaunch.*")
MOST_LOG_BYTES, MOST_LOGS_BYTES = 1 << 18, 1 << 24


class Cluster(ABC):
    """A Hadoop cluster that can be used for the time of a scope; for its methods see `model.platform.Platform`."""

    def check(self, properties: Mapping[str, str]) -> None:
        """What is not started has nothing in its way."""
        return

    @abstractmethod
    def running(
        self, layout: Layout, properties: Mapping[str, str], progress: Progress
    ) -> AbstractContextManager[RunningCluster]: ...

    @abstractmethod
    def failure(self) -> str | None: ...

    def limit_use(self) -> LimitUse | None:
        """Unbounded, or its limits are its own."""
        return None


class HadoopPlatform(ABC):
    """See `model.platform.Platform`."""

    def __init__(self, context: PlatformContext) -> None:
        self._trial, self._kinds, self._installation, self._lease, self._user_environment = context

    @cached_property
    def _distribution(self) -> Distribution:
        return find_distribution(self._installation, self._user_environment)

    @property
    def _stack(self) -> Stack:
        """The services that the trial needs."""
        return self._kinds.stack

    @property
    def _parts(self) -> Path:
        return self._installation.parts.resolve()

    @property
    @abstractmethod
    def _cluster(self) -> Cluster:
        """The cluster, the same one each time. Raises BadInputError where there can be none."""

    @abstractmethod
    def _environment(self) -> Mapping[str, str]:
        """The environment of the cluster's clients."""

    @abstractmethod
    def _placer(self, cluster: RunningCluster, layout: Layout) -> Placer | None:
        """What steers the bytes of the trial's store."""

    @abstractmethod
    def _scene(self, cluster: RunningCluster, layout: Layout) -> Scene:
        """What probes may see."""

    def facts(self) -> Mapping[str, Fact]:
        """The machine's, and digests of the measuring code and of the jobs' jar, Java."""
        return {
            **machine_facts(),
            SPEED: round(compressed_mb_s(), 1),
            "code_sha256": measuring_code_sha256(),
            "jobs_jar_sha256": hashlib.sha256(self._installation.jobs_jar.read_bytes()).hexdigest(),
            "java": self._distribution.java.version,
        }

    def media(self) -> tuple[Medium, ...]:
        return self._media

    @cached_property
    def _media(self) -> tuple[Medium, ...]:
        """Open each node's media. Raises BadInputError for a medium that can't be part of a scale model."""
        specs = (
            (medium_of(spec, worker_number(node), self._kinds.media, self._trial.cluster.fault), node)
            for node in self._trial.cluster.workers or ("",)
            for spec in self._trial.media
        )
        media = tuple(
            self._kinds.media[spec.kind].open(spec, self._lease, self._installation, node) for spec, node in specs
        )
        for medium in media if self._slower > 1 else ():
            if not isinstance(medium, Dilated):
                raise BadInputError(
                    f"medium {medium.spec.name!r} can't be slowed down, as a dilation needs it; take an emulated drive",
                    "media", "dilation",
                )  # fmt: skip
            medium.dilate(self._slower)
        limit_bytes = self._trial.cluster.dirty_limit_bytes
        for medium in media:
            if limit_bytes is not None and isinstance(medium, HoldsBack):
                medium.hold_back(limit_bytes)
        return media

    @property
    def _slower(self) -> int:
        """How many times slower than what it stands for all of it runs."""
        return 1

    @contextmanager
    def _scale(self, cluster: RunningCluster) -> Iterator[Callable[[int, int], ScaleSeen] | None]:
        """Watch a scale model for the time of a scope; gives what tells how it was kept to between two times."""
        yield None

    @contextmanager
    def neutral(self) -> Iterator[Path]:
        yield self._lease.make_directory(self._installation.parts / "work" / self._lease.id)

    def logs(self, neutral: Path) -> bytes:
        """The ends of the daemons', the containers' and the clients' logs, the newest first if they are too many."""
        return archived(neutral)

    def check(self, properties: Mapping[str, str]) -> None:
        check_paths(self._installation, self._distribution)
        services = needed_here(self._stack, is_managed=self._kinds.platform.is_managed)
        check_programs(services, self._parts, self._trial.store.kind)
        self._cluster.check(properties)

    def user(self) -> str:
        return user_name()

    def blocking_problem(self) -> str | None:
        return None

    @contextmanager
    def running(self, layout: Layout, properties: Mapping[str, str], progress: Progress) -> Iterator[RunningPlatform]:
        injector = self._injector()
        with (
            self._cluster.running(layout, properties, progress) as started,
            self._scale(started) as scale,
            self._supplied(self._equipped(started, properties)) as supplied,
        ):
            cluster = replace(supplied, took=injector.took if injector else unnoticed, failure=self._failure)
            store = self._kinds.store.open(cluster)
            context = EngineContext(
                cluster, self._trial.cluster, store, self._installation.jobs_jar, layout.neutral, self._failure,
                progressed=injector.progressed if injector else ignore_progress,
            )  # fmt: skip
            placer = self._placer(cluster, layout)
            of_output = placer.output_properties if placer is not None else {}
            yield RunningPlatform(
                facts={
                    "hadoop": cluster.version,
                    "nodes": self._trial.cluster.nodes or len(cluster.nodes),
                    **cluster.facts,
                },
                settings=cluster.settings,
                store=store,
                engine=self._kinds.engine.open(context._replace(properties=of_output)),
                stager=self._stager(context, apart=bool(of_output)),
                placer=placer,
                failure=self._failure,
                limit_use=self._cluster.limit_use,
                scene=lambda: self._scene(cluster, layout),
                doubts=cluster.doubts,
                injector=injector,
                scale=scale,
            )

    def _equipped(self, started: RunningCluster, properties: Mapping[str, str]) -> RunningCluster:
        """The cluster with what its clients need; `properties` are the trial's."""
        return replace(
            started, clients=self._stack.clients, environment=self._lease.environment(self._environment()),
            job_jars=job_jars(self._stack, self._parts), programs=self._parts,
        )  # fmt: skip

    @contextmanager
    def _supplied(self, cluster: RunningCluster) -> Iterator[RunningCluster]:
        """Have what jobs need where its nodes find it, for the time of a scope; those of Assay's own find all here."""
        yield cluster

    def _stager(self, context: EngineContext, *, apart: bool) -> Engine | None:
        """The engine that stages the input, where that is another, or `apart` since output has properties of its own.

        Its files have a folder of their own.
        """
        if self._kinds.stager is None and not apart:
            return None
        scratch = context.scratch / "staging"
        scratch.mkdir()
        kind = self._kinds.stager or self._kinds.engine
        return kind.open(context._replace(scratch=scratch))

    def _injector(self) -> FaultInjector | None:
        """What makes the trial's fault happen; None where there is none."""
        return None

    def _failure(self) -> str | None:
        """A device of Assay's own that has died explains why a daemon then died too."""
        devices = (medium.failure() for medium in self._media if isinstance(medium, Device))
        return next((reason for reason in devices if reason), None) or self._cluster.failure()


def archived(neutral: Path) -> bytes:
    """The last MOST_LOG_BYTES of each log below a directory, by its path there, up to MOST_LOGS_BYTES together.

    Logs are what Hadoop's processes name so: `*.log`, and a container's `stdout`, `stderr`, `syslog` and `prelaunch.*`.
    """
    logs: list[tuple[float, Path]] = []
    for file in (file for pattern in LOG_NAMES for file in neutral.rglob(pattern)):
        with suppress(OSError):  # one that has gone takes no other with it
            status = file.lstat()
            if S_ISREG(status.st_mode):
                logs.append((status.st_mtime, file))
    target, left = io.BytesIO(), MOST_LOGS_BYTES
    with tarfile.open(fileobj=target, mode="w:gz") as archive:
        for changed, file in sorted(logs, reverse=True):
            text = b""
            with suppress(OSError), file.open("rb") as content:
                content.seek(max(0, file.stat().st_size - min(MOST_LOG_BYTES, left)))
                text = content.read(min(MOST_LOG_BYTES, left))
            if text:
                entry = tarfile.TarInfo(str(file.relative_to(neutral)))
                entry.size, entry.mtime = len(text), int(changed)
                archive.addfile(entry, io.BytesIO(text))
                left -= len(text)
    return target.getvalue() if left < MOST_LOGS_BYTES else b""
