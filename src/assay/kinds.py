"""Which kinds of things there are: the one place where a spec's name meets the class behind it.

A new Medium, Probe or Store is one file in its own folder and one line here; a Workload registers itself.
"""

import getpass
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from assay.host.lease import Lease
from assay.input.opening import open_dataset
from assay.model.installation import Installation
from assay.model.instrument import Instrument, ProbeContext
from assay.model.platform import Layout, PlatformContext, TrialSetup
from assay.model.probe import Probe
from assay.model.registry import PLATFORMS, PROBE_SETS, PROBES, WORKLOADS
from assay.model.trial import DEFAULT_PROBES, NO_PROBES, Landed, Trial
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
def open_trial(trial: Trial, installation: Installation) -> Iterator[TrialSetup]:
    """The real setup of one trial for the time of a scope; what it holds on this machine goes with its lease."""
    kind = PLATFORMS.find(trial.cluster.kind)
    with Lease(installation.state, "trial") as lease:
        environment = dict(os.environ)
        platform = kind.open(PlatformContext(trial, installation, lease, environment))
        # No other run uses that directory of the store.
        base = f"/user/{getpass.getuser()}/assay/{lease.id}"
        dataset = None if trial.dataset.is_none else open_dataset(trial.dataset, installation.cache)
        yield TrialSetup(
            platform=platform,
            workload=lambda: WORKLOADS.find(trial.workload.name)(trial.workload, base, dataset),
            probes=_probes(trial, lease.environment(environment)) if kind.ours else (),
            intermediates=_intermediates if kind.ours else None,
        )


def _probes(trial: Trial, environment: Mapping[str, str]) -> tuple[Probe, ...]:
    """All that is measured by default, or nothing."""
    if trial.probes == NO_PROBES:
        return ()
    samples = Samples()
    return (Ticking(instruments(samples, environment, trial.probes), samples=samples), BlockTraceProbe())


@contextmanager
def _intermediates(layout: Layout) -> Iterator[Callable[[], Landed]]:
    """What is written into the local directories of a cluster on this machine."""
    from assay.probe.local_writes import LocalWrites

    with LocalWrites(layout.local).watching() as writes:
        yield writes.landed
