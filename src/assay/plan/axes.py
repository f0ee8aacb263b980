"""What varies in an experiment, for each of its workloads: its lists as axes of the grid."""

from collections.abc import Sequence

from assay.model.dataset import NO_DATASET
from assay.model.trial import cpus_level, memory_level
from assay.plan.experiment import ExperimentFile
from assay.plan.factors import DATASET, PLACEMENT, REPLICATION, WORKLOAD, Axis, Level, axis
from assay.plan.named import Named


def workload_axis(experiment: ExperimentFile, named: Named) -> Axis:
    """The workloads, each with what tables show of it."""
    return Axis(WORKLOAD, [_workload(experiment, named, place) for place in range(len(named.workloads))])


def axes_of(experiment: ExperimentFile, named: Named, place: int) -> list[Axis]:
    """The axes of the workload in one place: itself alone, and all that it is combined with."""
    copies = experiment.replication
    memory: Sequence[int | None] = experiment.memory or [None]
    cpus: Sequence[float | None] = experiment.cpus or [None]
    datasets = named.datasets if named.needs_dataset[place] else [NO_DATASET]
    return [
        Axis(WORKLOAD, [_workload(experiment, named, place)]),
        axis(DATASET, ((one, one.name) for one in datasets)),
        axis("settings", ((one, one.name) for one in named.settings)),
        *_properties(experiment, named, place),
        *([axis(REPLICATION, ((count, str(count)) for count in copies))] if copies else []),
        axis("memory", ((size, memory_level(size)) for size in memory)),
        axis("cpus", ((count, cpus_level(count)) for count in cpus)),
        axis("cache", ((one, one) for one in experiment.cache)),
        axis("probes", ((one, one) for one in experiment.probes)),
        axis(PLACEMENT, ((one, one.name) for one in named.placements)),
    ]  # fmt: skip


def further_factors(experiment: ExperimentFile, named: Named) -> list[str]:
    """The properties that have several levels anywhere, in the experiment's order."""
    everywhere = [name for name, levels in experiment.hadoop.items() if len(levels) > 1]
    return list(dict.fromkeys([*everywhere, *(name for own in named.own_levels for name in own)]))


def _workload(experiment: ExperimentFile, named: Named, place: int) -> Level:
    spec = named.workloads[place]
    own = spec.own_but(further_factors(experiment, named))
    return Level(spec, {"workload": spec.name, "variant": spec.variant, "options": own})


def _properties(experiment: ExperimentFile, named: Named, place: int) -> list[Axis]:
    """The properties that are factors; where one is none of this workload, its one value there."""
    spec, own = named.workloads[place], named.own_levels[place]
    found = []
    for name in further_factors(experiment, named):
        if name in own:
            levels: Sequence[str] = own[name]
        elif name in spec.hadoop:
            levels = [spec.hadoop[name]]
        else:
            levels = experiment.hadoop.get(name, [])
        found.append(axis(name, ((level, level) for level in levels) if levels else [(None, "default")]))
    return found
