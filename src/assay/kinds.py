"""Which kinds of things there are: the one place where a spec's name meets the class behind it.

A new Medium, Probe or Store is one file in its own folder and one line here; a Workload registers itself.
"""

import getpass
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from assay.engine.mapreduce import MapReduce
from assay.host.lease import Lease
from assay.host.machine import machine_facts
from assay.input.graph_file import NoDataset
from assay.input.opening import open_dataset
from assay.model.engine import Engine
from assay.model.errors import BadInputError
from assay.model.input import Dataset
from assay.model.installation import Installation
from assay.model.instrument import Instrument, ProbeContext
from assay.model.medium import Medium, kind_of
from assay.model.platform import Cluster, Layout, RunningCluster
from assay.model.probe import Probe, Scene
from assay.model.registry import FACTS, PROBE_SETS, PROBES, WORKLOADS
from assay.model.store import Placer, Store
from assay.model.trial import DEFAULT_PROBES, NO_PROBES, Landed, Trial
from assay.model.workload import Workload
from assay.plan.layout import POLICIES
from assay.platform.distribution import find_distribution
from assay.platform.embedded import EmbeddedCluster
from assay.platform.existing import ExistingCluster
from assay.platform.scene import build_scene
from assay.probe.cpu import CpuProbe, PressureProbe
from assay.probe.disk import DiskInstrument
from assay.probe.disk_processes import DiskProcessesInstrument
from assay.probe.memory import MemoryProbe
from assay.probe.network import Network
from assay.probe.nftables import CountingTable, run_nft
from assay.probe.own_cost import Children, OwnCost
from assay.probe.process_stat import OpenProcess
from assay.probe.processes import ProcessProbe
from assay.probe.rapl import Rapl, has_zones
from assay.probe.sampler import Samples, Ticking
from assay.probe.trace.probe import BlockTraceProbe
from assay.store.hadoop_fs import HadoopFs
from assay.store.hdfs import HdfsPlacer, WebHdfs
from assay.version import measuring_code_sha256


class TrialParts:
    """The real things that one trial touches; what they hold on this machine goes with the trial's lease."""

    def __init__(self, trial: Trial, installation: Installation, lease: Lease, environment: Mapping[str, str]) -> None:
        self._trial = trial
        self._installation = installation
        self._lease = lease
        self._environment = environment

    def facts(self) -> Mapping[str, str]:
        """The machine's facts, and the software's: digests of the measuring code and of the jobs' jar, Java."""
        java = find_distribution(self._installation, self._environment).java
        jar = hashlib.sha256(self._installation.jobs_jar.read_bytes()).hexdigest()
        here = [] if self._trial.cluster.kind == "existing" else [facts(self._installation) for facts in FACTS.values()]
        software = {"code_sha256": measuring_code_sha256(), "jobs_jar_sha256": jar, "java": java.version}
        return {**machine_facts(), **{name: value for facts in here for name, value in facts.items()}, **software}

    def media(self) -> tuple[Medium, ...]:
        """The media of the trial's placement."""
        return tuple(kind_of(spec).open(spec, self._lease, self._installation) for spec in self._trial.media)

    @contextmanager
    def neutral(self) -> Iterator[Path]:
        """A directory among Assay's own parts."""
        yield self._lease.make_directory(self._installation.parts / "work" / self._lease.id)

    def cluster(self) -> Cluster:
        """A fresh embedded cluster, or the existing one."""
        spec = self._trial.cluster
        distribution = find_distribution(self._installation, self._environment)
        if spec.kind == "existing":
            if spec.conf_dir is None:
                raise BadInputError("an existing cluster needs conf_dir, the directory of its Hadoop configuration")
            return ExistingCluster(distribution, spec, self._environment)
        return EmbeddedCluster(distribution, spec, self._installation.state, self._environment)

    def store(self, running: RunningCluster) -> Store:
        """WebHDFS on our own cluster; on an existing one the user's own client, which has its rights."""
        if self._trial.cluster.kind == "existing":
            return HadoopFs(running.hadoop, self._lease.environment(self._environment))
        return WebHdfs(running.namenode_url)

    def engine(self, running: RunningCluster, scratch: Path, failure: Callable[[], str | None]) -> Engine:
        """MapReduce."""
        shared = self._trial.cluster.kind == "existing"
        # What a user exported for another Hadoop (HADOOP_USER_NAME, HADOOP_OPTS) has no place on a cluster of our own.
        ours = {name: value for name, value in self._environment.items() if not name.startswith("HADOOP_")}
        return MapReduce(
            running,
            self._installation.jobs_jar,
            scratch,
            self._lease.environment(self._environment if shared else ours),
            failure,
            shared=shared,
        )

    def placer(self, running: RunningCluster, layout: Layout) -> Placer | None:
        """HDFS storage policies on our own cluster; an existing one keeps its bytes as it is set up to."""
        if self._trial.cluster.kind == "existing":
            return None
        return HdfsPlacer(WebHdfs(running.namenode_url), layout.data, POLICIES)

    @contextmanager
    def intermediates(self, layout: Layout) -> Iterator[Callable[[], Landed] | None]:
        """What is written into the local directories of a cluster on this machine."""
        if self._trial.cluster.kind == "existing":
            yield None
            return
        from assay.probe.local_writes import LocalWrites

        with LocalWrites(layout.local).watching() as writes:
            yield writes.landed

    def dataset(self) -> Dataset:
        """From the trial's spec."""
        if self._trial.dataset.is_none:
            return NoDataset(self._trial.dataset)
        return open_dataset(self._trial.dataset, self._installation.cache)

    def workload(self) -> Workload:
        """From the trial's spec; its files lie in a directory of the store that no other run uses."""
        return WORKLOADS.find(self._trial.workload.name)(
            self._trial.workload, f"/user/{getpass.getuser()}/assay/{self._lease.id}"
        )

    @property
    def _measures(self) -> bool:
        """On an existing cluster this machine's use tells nothing of the nodes'."""
        return self._trial.cluster.kind != "existing" and self._trial.probes != NO_PROBES

    def scene(self, running: RunningCluster, layout: Layout, media: Sequence[Medium]) -> Scene:
        """The cluster's daemons, disks and ports on this machine."""
        if not self._measures:
            return Scene(layout=layout)
        return build_scene(running, layout, media)

    def probes(self) -> tuple[Probe, ...]:
        """All that is measured by default, or nothing."""
        if not self._measures:
            return ()
        samples, environment = Samples(), self._lease.environment(self._environment)
        ticking = instruments(samples, environment, self._trial.probes)
        return (Ticking(ticking, samples=samples), BlockTraceProbe())


def instruments(
    samples: Samples, environment: Mapping[str, str], level: str = DEFAULT_PROBES
) -> tuple[Instrument, ...]:
    """What is read twice a second, in this order; the first tells what all of them cost.

    `level` is the trial's of `probes`: the default, or a set whose instruments replace those of the same name.
    Power is measured where the machine can: most virtual ones have no counters of it.
    """
    rapl = (Rapl(),) if has_zones() else ()
    children = Children()
    nft = partial(run_nft, children=children)
    context = ProbeContext(environment, children.watch)
    plugged = [one for probe in PROBES.values() if (one := probe(context)) is not None]
    own: list[Instrument] = [
        OwnCost(lambda: samples.bytes, OpenProcess(os.getpid()), children_s=lambda: children.busy_s),
        CpuProbe(),
        ProcessProbe(os.cpu_count() or 1),
        MemoryProbe(),
        PressureProbe(),
        DiskInstrument(),
        DiskProcessesInstrument(),
        Network(partial(CountingTable, run=nft)),
        *rapl,
        *plugged,
    ]
    instead = {} if level == DEFAULT_PROBES else {one.name: one for one in PROBE_SETS.find(level)(context)}
    return (*(instead.pop(one.name, one) for one in own), *instead.values())


@contextmanager
def trial_parts(trial: Trial, installation: Installation) -> Iterator[TrialParts]:
    """The parts of one trial for the time of a scope."""
    with Lease(installation.state, "trial") as lease:
        yield TrialParts(trial, installation, lease, dict(os.environ))
