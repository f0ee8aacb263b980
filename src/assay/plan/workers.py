"""What an experiment says of single workers: they are there, and a fault on one is possible and leaves the data."""

from collections.abc import Callable, Iterable, Iterator, Mapping

from assay.host.yaml_file import Place
from assay.model.errors import BadInputError
from assay.model.fault import DRIVE, LINK, NODE, STAGING, Fault, Phase
from assay.model.installed import variants_of
from assay.model.medium import medium_of
from assay.model.naming import nearest
from assay.model.network import LEAST_RATE
from assay.model.platform import TrialKinds
from assay.model.service import DaemonKind
from assay.model.trial import Trial
from assay.plan.experiment import ExperimentFile
from assay.plan.source import ExperimentSource

_ENDED_PERCENT = 100


def check_workers(source: ExperimentSource, trials: Iterable[Trial], kinds_of: Callable[[Trial], TrialKinds]) -> None:
    """Raises BadInputError, with its line, for the first thing that a trial's workers can't have."""
    experiment = source.experiment
    if not experiment.platform.is_managed:
        return
    seen = set()
    for trial in trials:
        key = (trial.cluster, trial.placement.name, trial.settings.name, *trial.levels.items(), str(trial.workload))
        if key not in seen:
            seen.add(key)
            mistake = next(_mistakes(experiment, trial, kinds_of), None)
            if mistake is not None:
                raise source.error_at(*mistake)


def _mistakes(
    experiment: ExperimentFile, trial: Trial, kinds_of: Callable[[Trial], TrialKinds]
) -> Iterator[tuple[Place, str]]:
    nodes, network, fault = trial.cluster.nodes or 1, trial.cluster.network, trial.cluster.fault
    for medium in trial.media:
        if wrong := _unknown(medium.on, nodes):
            yield ["media", medium.name], f"medium {medium.name}: {wrong}"
    if wrong := _unknown(sorted(network.workers), nodes):
        yield ["cluster", "network"], f"network {network}: {wrong}"
    for rack in trial.cluster.racks:
        if wrong := _unknown(rack, nodes):
            yield ["cluster", "racks"], f"racks: {wrong}"
    missing = {*range(1, nodes + 1)} - {number for rack in trial.cluster.racks for number in rack}
    if trial.cluster.racks and missing:
        yield ["cluster", "racks"], f"racks: worker {min(missing)} of {nodes} is in none; put each worker into one rack"
    if fault is not None:
        place = ["fault", experiment.fault.index(fault)]
        yield from ((place, f"{fault.level}: {words}") for words in _impossible(fault, trial, kinds_of(trial)))


def _unknown(numbers: Iterable[int], nodes: int) -> str:
    """A sentence where there is no worker of one of these numbers."""
    wrong = next((number for number in numbers if number > nodes), None)
    there = "worker 1 alone" if nodes == 1 else f"the workers 1 to {nodes}"
    return "" if wrong is None else f"there is no worker {wrong}; the cluster has {there}"


def _impossible(fault: Fault, trial: Trial, kinds: TrialKinds) -> Iterator[str]:
    """Why a trial can't have its fault."""
    nodes, store, daemons = trial.cluster.nodes or 1, kinds.store, kinds.stack_of_store.daemons
    of_store = [daemon.role for daemon in daemons if daemon.on_workers and not daemon.serves_only]
    roles = [*(daemon.role for daemon in kinds.stack.daemons if daemon.on_workers), NODE]
    if fault.kill and fault.kill not in roles:
        yield f"no worker has a {fault.kill!r} to be killed; {nearest(fault.kill, roles)}"
    if wrong := _unknown([fault.on], nodes):
        yield wrong
    loses_data = fault.kill in {*of_store, NODE}
    if nodes == 1:
        yield _on_the_only_node(fault, daemons, loses_data=loses_data)
    asked = {**trial.settings.properties, **trial.workload.hadoop}
    if (
        loses_data
        and min(store.promise(properties, nodes).copies for properties in (trial.settings.properties, asked)) == 1
    ):
        cure = "say replication: 2, or more" if store.copies_property else "choose a store that keeps several"
        yield (
            f"with one copy of each block the data of worker {fault.on} would be lost with it, and no job could go on; "
            f"{cure}"
        )
    for spec in trial.workload.each if loses_data else ():
        workload = kinds.workloads.get(spec.name)
        own_copies = workload.output_replication if workload else ""
        if not own_copies or {**asked, **spec.hadoop}.get(own_copies, "1") != "1":
            continue
        yield (
            f"the output of {spec.name} has one copy whatever `replication` is, and would be lost with "
            f"worker {fault.on}; give the workload hadoop: {{{own_copies}: 2}}, or more"
        )
    yield from _no_such_phase(fault, trial, kinds, asked)
    if fault.slow == DRIVE:
        for medium in trial.media:
            try:
                medium_of(medium, fault.on, kinds.media, fault)
            except BadInputError as error:
                yield str(error)
    if fault.slow == LINK:
        links = [link for link in trial.cluster.network.links(fault.on) if link is not None]
        if not links:
            yield "the network is none, so there is no link with a rate; say cluster: {network: gigabit}, or another"
        if any(link.rate_bits_per_s // fault.factor < LEAST_RATE for link in links):
            yield "that leaves the link less than 1 Mbit/s, the least there is; give a smaller factor"


def _on_the_only_node(fault: Fault, of_store: Iterable[DaemonKind], *, loses_data: bool) -> str:
    more = "give the cluster more nodes (cluster: {nodes: 3})"
    if loses_data:
        names = " and ".join(kind.name for kind in of_store if kind.on_workers and not kind.serves_only)
        return f"the only node has the only {names}, and all data would be lost with it; {more} and say replication: 2"
    if fault.kill:
        return f"nothing would be left to run the jobs, as the cluster has one node; {more}"
    if fault.slow == DRIVE:
        return "all drives of a cluster of one node would be slow, which is another medium: give it a `slowdown`"
    return f"a cluster of one node has no link that its jobs use; {more}"


def _no_such_phase(fault: Fault, trial: Trial, kinds: TrialKinds, properties: Mapping[str, str]) -> Iterator[str]:
    """Why the workload's jobs have no such phase, where that is known before they run."""
    phase = fault.at
    if phase is None:
        return
    if phase.stage == STAGING:
        yield from _not_while_staging(phase, trial)
        return
    engine = kinds.engine
    stages = [stage.name for stage in engine.stages]
    if phase.stage not in stages and not engine.makes_stages:
        hint = nearest(phase.stage, stages)
        yield f"the jobs of {trial.engine} have no phase {phase.stage!r} with a progress; {hint}"
    if phase.stage in stages[-1:] and not engine.makes_stages and phase.percent >= _ENDED_PERCENT:
        yield f"at {phase} the job has ended; give less than 100%"
    absent_with = next((stage.absent_with for stage in engine.stages if stage.name == phase.stage), {})
    for name, value in absent_with.items():
        if properties.get(name) == value:
            others = " or ".join(stage for stage in stages if stage != phase.stage)
            yield f"the jobs have no phase {phase.stage!r}, as {name} is {value}; choose {others}"
    if not phase.job:
        return
    jobs = [
        job
        for spec in trial.workload.each
        if spec.name in kinds.workloads
        for job in variants_of(spec.name)[spec.variant].jobs
    ]
    if jobs and "..." not in jobs and phase.job not in jobs:
        yield f"{trial.workload.name} has no job {phase.job!r}; {nearest(phase.job, jobs)}"


def _not_while_staging(phase: Phase, trial: Trial) -> Iterator[str]:
    """Why a fault can't strike while the input is staged."""
    if phase.job:
        yield f"staging is no stage of a job; leave out {phase.job!r}"
    if phase.percent >= _ENDED_PERCENT:
        yield f"at {phase} the input has been staged; give less than 100%"
    if trial.cluster.dilation is not None:
        yield "a scale model is watched while its jobs run, and so is what strikes it; choose a stage of a job"
