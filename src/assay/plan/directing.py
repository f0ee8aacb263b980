"""Directed jobs: whether an experiment can have them, and the properties by which they name a tier."""

from collections.abc import Iterator

from assay.host.yaml_file import Place
from assay.model.errors import BadInputError
from assay.model.layout import DIRECTED, INTERMEDIATE
from assay.model.naming import nearest
from assay.model.registry import ENGINES
from assay.model.trial import Trial, WorkloadSpec
from assay.plan.experiment import WithProperties, WorkloadEntry
from assay.plan.layout import tier_of
from assay.plan.placement import PlacementEntry
from assay.plan.property_keys import key_of
from assay.plan.source import ExperimentSource

_ANY = "ANY"
"""Some tier."""


def check_directing(source: ExperimentSource) -> None:
    """Raises BadInputError, with its line, for the first workload, placement or engine that can't be directed so."""
    experiment = source.experiment
    entries = [(place, entry) for place, entry in _entries(source) if entry.intermediate]
    placements = [(at, entry) for at, entry in enumerate(experiment.placement) if entry.local_directories == DIRECTED]
    for place, _ in [] if placements else entries:
        raise source.error_at(
            [*place, "intermediate"],
            "intermediate has no effect without a placement whose `local_directories` are `directed`; add one, or "
            "leave it out",
        )
    for at, placement in placements:
        _check_placement(source, at, placement, entries)
    with_properties: list[tuple[Place, WithProperties]] = [([], experiment), *_entries(source)]
    for engine in filter(ENGINES.__contains__, experiment.engine if placements else ()):
        properties = ENGINES[engine].directed
        if properties is None:
            problem = f"jobs of {engine} can't be directed; leave out the engine, or `directed`"
            raise source.error_at(["engine"], problem)
        for place, owner in with_properties:
            for name in sorted(owner.properties.keys() & properties(_ANY).keys()):
                raise source.error_at(
                    [*place, key_of(name)],
                    f"{name} is what directs jobs of {engine} where `local_directories` are `directed`; leave it out",
                )


def _entries(source: ExperimentSource) -> Iterator[tuple[Place, WorkloadEntry]]:
    """All workloads, those of mixes too, with their places in the file."""
    for at, entry in enumerate(source.experiment.workloads):
        for part, each in enumerate(entry.each):
            yield ["workloads", at, *(["together", part] if entry.together else [])], each


def _check_placement(
    source: ExperimentSource, at: int, placement: PlacementEntry, entries: list[tuple[Place, WorkloadEntry]]
) -> None:
    shares = placement.roles.get(INTERMEDIATE) or placement.every or {}
    media = [medium for medium, share in shares.items() if share > 0]
    if len(media) < 2:
        raise source.error_at(
            ["placement", at],
            "jobs are directed to one of several media, and `intermediate` has one; name a second, or leave out "
            "`local_directories`",
        )
    if not entries:
        raise source.error_at(
            ["placement", at, "local_directories"],
            "no workload says where its intermediate data go; give one `intermediate`, such as "
            f"`intermediate: {media[-1]}`",
        )
    for place, entry in entries:
        if entry.intermediate not in media:
            raise source.error_at(
                [*place, "intermediate"],
                f"intermediate is {entry.intermediate!r}, and directed jobs have local directories on "
                f"{', '.join(media)}; {nearest(entry.intermediate, media)}",
            )
    named = sorted({entry.intermediate for _, entry in entries})
    if len({tier_of(medium, named) for medium in named}) < len(named):
        raise source.error_at(
            ["placement", at],
            f"of the media {', '.join(named)}, to which jobs are directed, two differ in capitals or signs alone; "
            "rename one",
        )


def directed(trial: Trial) -> WorkloadSpec:
    """The trial's workload with what directs its jobs; as it is where the placement directs none.

    A workload that names no medium is directed to those that none names. Raises BadInputError for an engine whose jobs
    can't be directed.
    """
    workload, properties = trial.workload, ENGINES[trial.engine].directed
    if trial.placement.local_directories != DIRECTED:
        return workload
    if properties is None:
        raise BadInputError(f"jobs of {trial.engine} can't be directed", "placement")
    named = workload.directed_media

    def told(spec: WorkloadSpec) -> WorkloadSpec:
        return spec.model_copy(update={"hadoop": {**spec.hadoop, **properties(tier_of(spec.intermediate, named))}})

    if workload.together:
        return workload.model_copy(update={"together": tuple(map(told, workload.together))})
    return told(workload)
