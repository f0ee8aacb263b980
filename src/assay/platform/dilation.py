"""How many times slower than the machines that it stands for a cluster has to run, so that its nodes fit here.

A scale model slows everything down by one factor: processors (`assay.platform.limits`), drives
(`model.medium.Dilated`), links (`model.network.LinkSpec.slowdown`) and the services' timers (`longer`).
Memory and bytes stay. The principle is DieCast's (D. Gupta, K. Vishwanath, A. Vahdat, NSDI 2008).
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from assay.host.control_groups import processor_quota
from assay.host.processors import division
from assay.model.cluster import AUTO, ClusterSpec, EmbeddedSpec
from assay.model.errors import BadInputError

IDLE_SHARE = 0.1
"""Of this machine's processor time at least so much has to be left over, or nodes wait for each other's."""
INSTRUMENTS_CPUS = 0.3
"""What the drives' emulator, the kernel's own work and the probes take beside the nodes, where they have no processors
of their own (`assay.host.processors`)."""


class Processors(NamedTuple):
    """How many a cluster's nodes may use, and whether the instruments use them too."""

    number: float
    shared: bool

    @property
    def usable(self) -> float:
        """Cores' worth of time that nodes may be given together."""
        return self.number * (1 - IDLE_SHARE) - (INSTRUMENTS_CPUS if self.shared else 0.0)


def processors_here() -> Processors:
    """Return how many processors of this machine the process may use."""
    parts = division()
    number = len(parts.cluster) if parts else len(os.sched_getaffinity(0))
    return Processors(min(number, processor_quota() or number), shared=parts is None)


def node_cpus(spec: EmbeddedSpec) -> float:
    """Cores that a node of a scale model stands for."""
    return spec.modelled_nodes.cpus


def chosen(spec: EmbeddedSpec, processors: Processors | None = None) -> int | None:
    """The dilation of a cluster; None for one that is no scale model.

    `auto` is the least with which all nodes, the master's too, can be busy at once, of the plan's largest cluster.
    Raises BadInputError where there are no nodes of their own, or where a node has more cores than this machine can
    stand for.
    """
    if spec.dilation is None:
        return None
    if not spec.workers:
        raise BadInputError(
            "dilation needs nodes of their own, and one node without a network is this machine itself; say "
            "cluster: {nodes: 3}, or give the node a network",
            "dilation", "cluster",
        )  # fmt: skip
    here = processors or processors_here()
    if spec.dilation != AUTO:
        dilation = int(spec.dilation)
    else:
        dilation = max(1, ceil((spec.auto_for or spec.modelled_nodes).cores / here.usable - 1e-9))
    if node_cpus(spec) / dilation > here.number:
        least = ceil(node_cpus(spec) / here.number)
        raise BadInputError(
            f"a node of {node_cpus(spec):g} cpus would take {node_cpus(spec) / dilation:g} of the {here.number:g} "
            f"here, at a dilation of {dilation}; give a dilation of {least} or more, or fewer cpus",
            "cpus", "dilation",
        )  # fmt: skip
    return dilation


def auto_text(spec: EmbeddedSpec, processors: Processors | None = None) -> str:
    """What an `auto` is on this machine, and for which cluster. Raises BadInputError where there can be none."""
    workers, cpus = spec.auto_for or spec.modelled_nodes
    nodes = "1 node and its master" if workers == 1 else f"{workers} nodes and their master"
    each = "1 core" if cpus == 1 else f"{cpus:g} cores"
    return f"dilation {AUTO}: {chosen(spec, processors)} here, for {nodes} of {each} each"


def slowness_lines(clusters: Sequence[ClusterSpec]) -> Iterator[str]:
    """What a plan's times here are, where some clusters are scale models. Raises BadInputError as `auto_text`."""
    chosen_here = [spec for spec in clusters if isinstance(spec, EmbeddedSpec) and spec.dilation == AUTO]
    if chosen_here:
        yield auto_text(chosen_here[0])
    if any(spec.dilation not in {None, 1} for spec in clusters):
        yield "times here are this machine's; those of the results are divided by the dilation"


def resolved(spec: EmbeddedSpec) -> EmbeddedSpec:
    """Fill in the dilation and the nodes' cores. Raises BadInputError where they are impossible here."""
    dilation = chosen(spec)
    if dilation is None:
        return spec
    return spec.model_copy(update={"dilation": dilation, "limit_cpus": node_cpus(spec)})


def slowness(spec: ClusterSpec) -> int:
    """How many times slower than what it stands for a cluster runs here. Raises BadInputError as `chosen`."""
    return (chosen(spec) or 1) if isinstance(spec, EmbeddedSpec) else 1


def slowed(spec: EmbeddedSpec) -> int:
    """The dilation of a resolved cluster, 1 for what is no scale model."""
    return spec.dilation if isinstance(spec.dilation, int) else 1


_TIME = re.compile(r"(-?[0-9]{1,15})\s*(ns|us|ms|s|m|h|d)?")


def longer(properties: Mapping[str, str], dilation: int, timers: Mapping[str, str]) -> dict[str, str]:
    """These properties with all timers so many times longer, also those that are left at their defaults.

    Without that a daemon that gets an eighth of a processor would be asked, and given up, eight times too early.
    Services name what may pass in a trial on a healthy cluster or on one without a node: heartbeats, polls, time-outs,
    retries. Not among them are housekeeping every some hours, thresholds of counts, and what Hadoop has no property
    for: a reducer's poll for map outputs (EventFetcher, 1 s), its penalty for a failed fetch (ShuffleScheduler, 10 s),
    a worker's wait between attempts to register (BPServiceActor, 5 s).

    `timers` are the defaults by their names. A time of 0 or less, which has a meaning of its own, stays. Raises
    BadInputError for what is no time.
    """
    if dilation == 1:
        return dict(properties)
    known = {**timers, **properties}
    return {name: _longer(name, value, dilation) if name in timers else value for name, value in known.items()}


def _longer(name: str, value: str, dilation: int) -> str:
    match = _TIME.fullmatch(value.strip().lower())
    if match is None:
        raise BadInputError(
            f"{name} is {value!r}, and a dilation makes it {dilation} times longer: give a whole number, with a unit "
            "or without",
            name,
        )
    number = int(match[1])
    return f"{number * dilation if number > 0 else number}{match[2] or ''}"
