"""Makes the plan of an experiment: its combinations of levels, in an order in which all levels meet the same drift."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from itertools import count as counting
from pathlib import Path
from typing import Any, NamedTuple

from assay.host.files import absolute, irregular
from assay.host.yaml_file import line_of
from assay.model.errors import BadInputError
from assay.model.input import NO_DATASET, DatasetSpec
from assay.model.medium import kind_of
from assay.model.naming import MOST_NAME_CHARACTERS
from assay.model.platform import ClusterSpec
from assay.model.trial import (
    ROLES,
    ZERO_DELAY,
    MediumSpec,
    Placement,
    Plan,
    Role,
    SettingsSpec,
    Trial,
    WorkloadSpec,
    cpus_level,
    memory_level,
    nodes_level,
    pure,
)
from assay.plan.check import (
    check_levels,
    check_properties,
    check_values,
    check_word,
    check_words,
    one_copy,
    refuse_doubles,
    refuse_equal,
    refuse_reserved,
    refuse_stored,
    refuse_unjudged,
    with_paths,
)
from assay.plan.experiment import COPIES, DatasetEntry, ExperimentFile, WorkloadEntry
from assay.plan.grid import (
    DATASET,
    MOST_TRIALS,
    PLACEMENT,
    REPLICATION,
    WORKLOAD,
    Axis,
    Combination,
    Grid,
    Level,
    axis,
    base_levels,
    one_at_a_time,
    without,
    zipped_names,
)
from assay.plan.order import blocks
from assay.plan.settings import Profile, resolve, shipped_profiles
from assay.plan.source import Vocabulary, load, told_at


def media_of(path: Path, experiment: ExperimentFile, tree: Any, vocabulary: Vocabulary) -> dict[str, MediumSpec]:
    """The experiment's media by name. Raises BadInputError for a profile that there is not."""
    if experiment.cluster.kind == "existing":
        return {"existing": MediumSpec(name="existing", kind="existing")}
    media = {}
    for name, medium in experiment.media.items():
        with told_at(path, tree, ["media", name]):
            media[name] = kind_of(medium).located(medium, path.parent, vocabulary.profiles)
    if experiment.zero_delay_baseline:
        first = next(iter(media.values()))
        if (baseline := kind_of(first).without_delays(first, ZERO_DELAY)) is not None:
            media[ZERO_DELAY] = baseline
    return media


def placements_of(experiment: ExperimentFile) -> list[Placement]:
    """What the experiment compares: its placements, or each of its media alone."""
    if experiment.cluster.kind == "existing":
        return [pure("existing")]
    if not experiment.placement:
        return [pure(name) for name in experiment.media]
    found = []
    for entry in experiment.placement:
        roles = {role: {name: share for name, share in getattr(entry, role).items() if share > 0} for role in ROLES}
        found.append(Placement(name=entry.name or _placement_name(roles), **roles))
        if len(found[-1].name) > MOST_NAME_CHARACTERS:
            raise BadInputError(
                f"the placement of {len(found[-1].media)} media would be called {found[-1].name}, which is too long "
                "for a folder's name; give it a `name`"
            )
    return found


def _placement_name(roles: Mapping[Role, Mapping[str, float]]) -> str:
    """`hdd`, `ssd25-hdd75`, or `input-hdd.intermediate-ssd.output-hdd` where the roles differ."""
    names = {
        role: "-".join(_share_name(*item, len(shares)) for item in shares.items()) for role, shares in roles.items()
    }
    if len(set(names.values())) == 1:
        return names["input"]
    return ".".join(f"{role}-{name}" for role, name in names.items())


def _share_name(medium: str, share: float, media: int) -> str:
    return medium if media == 1 else f"{medium}{share * 100:.3g}"


class Named(NamedTuple):
    """An experiment's named things, ready for trials. A workload has a single value of each of its own properties.

    `own_levels` are, for each workload, those of its properties that have several levels.
    """

    workloads: Sequence[WorkloadSpec]
    own_levels: Sequence[Mapping[str, Sequence[str]]]
    needs_dataset: Sequence[bool]
    datasets: Sequence[DatasetSpec]
    settings: Sequence[SettingsSpec]
    placements: Sequence[Placement]


def named_things(path: Path, experiment: ExperimentFile, tree: Any, vocabulary: Vocabulary) -> Named:
    """Whatever has a name in the experiment, ready for trials. Raises BadInputError."""
    entries = experiment.workloads
    with told_at(path, tree, ["placement"]):
        placements = placements_of(experiment)
    return Named(
        workloads=[_workload(path, entry, place, tree, vocabulary) for place, entry in enumerate(entries)],
        own_levels=[{name: all_ for name, all_ in entry.hadoop.items() if len(all_) > 1} for entry in entries],
        needs_dataset=[vocabulary.needs_dataset(entry.name, entry.options) for entry in entries],
        datasets=[_dataset(path, entry, place, tree, vocabulary) for place, entry in enumerate(experiment.datasets)],
        settings=_settings(path, experiment, tree),
        placements=placements,
    )


def _workload(path: Path, entry: WorkloadEntry, place: int, tree: Any, vocabulary: Vocabulary) -> WorkloadSpec:
    """Of its properties with several levels the first, until a trial chooses."""
    at = ["workloads", *([place] if isinstance(tree["workloads"], list) else [])]
    with told_at(path, tree, [*at, "options"]):
        spec = WorkloadSpec(
            name=entry.name,
            variant=entry.variant or vocabulary.workloads[entry.name][0],
            options=with_paths(entry, vocabulary.path_options.get(entry.name, {}), path.parent),
            hadoop={name: levels[0] for name, levels in entry.hadoop.items()},
        )
        vocabulary.check_workload(spec)
    return spec


def _settings(path: Path, experiment: ExperimentFile, tree: Any) -> list[SettingsSpec]:
    profiles = shipped_profiles() | dict(experiment.profiles)
    resolved = {name: _resolved(path, tree, name, profiles) for name in profiles}
    everywhere = {name: levels[0] for name, levels in experiment.hadoop.items() if len(levels) == 1}
    found = []
    for index, name in enumerate(experiment.settings):
        place = ["settings", index] if isinstance(tree.get("settings"), list) else ["settings"]
        check_word(path, line_of(tree, place), "settings profile", name, list(profiles))
        found.append(SettingsSpec(name=name, properties={**resolved[name], **everywhere}))
    return found


def _resolved(path: Path, tree: Any, name: str, profiles: Mapping[str, Profile]) -> Mapping[str, str]:
    inherits = profiles[name].inherits
    line = line_of(tree, ["profiles", name, "inherits"])
    if inherits is not None:
        check_word(path, line, "settings profile", inherits, list(profiles))
    try:
        return resolve(name, profiles).properties
    except ValueError as error:
        raise BadInputError(f"{path}, line {line}: {error}") from None


def _dataset(path: Path, entry: DatasetEntry, place: int, tree: Any, vocabulary: Vocabulary) -> DatasetSpec:
    fields = entry.model_dump(exclude={"name"})
    if entry.file is not None:
        with told_at(path, tree, ["datasets", place]):
            fields["file"] = absolute(path.parent, entry.file)
        if not fields["file"].is_file():
            there = fields["file"].exists()
            what = irregular(fields["file"].stat().st_mode) if there else "not there"
            cure = "give a file's path, absolute or from the experiment's folder"
            if str(entry.file) in vocabulary.catalogue:
                cure = f"for the published graph say {{get: {entry.file}}}, for a generated one {{make: {entry.file}}}"
            line = line_of(tree, ["datasets", place])
            raise BadInputError(f"{path}, line {line}: dataset file {fields['file']} is {what}; {cure}")
    spec = DatasetSpec(name=entry.name or _derived_name(entry), **fields)
    with told_at(path, tree, ["datasets", place, "scale"]):
        vocabulary.check_dataset(spec)
    return spec


def _derived_name(entry: DatasetEntry) -> str:
    if entry.file is not None:
        return entry.file.name.split(".")[0]
    if entry.get is not None:
        return entry.get
    scale = "" if entry.scale == 1 else f"-x{entry.scale:g}"
    return f"{entry.make}-like{scale}"


def workload_axis(experiment: ExperimentFile, named: Named) -> Axis:
    """The workloads, each with what tables show of it."""
    return Axis(WORKLOAD, [_workload_axes(experiment, named, place) for place in range(len(named.workloads))])


def axes_of(experiment: ExperimentFile, named: Named, place: int) -> list[Axis]:
    """The axes of the workload in one place: itself alone, and all that it is combined with."""
    copies = experiment.replication
    memory: Sequence[int | None] = experiment.memory or [None]
    cpus: Sequence[float | None] = experiment.cpus or [None]
    existing = experiment.cluster.kind == "existing"
    nodes: Sequence[int | None] = [None] if existing else experiment.cluster.nodes
    datasets = named.datasets if named.needs_dataset[place] else [NO_DATASET]
    return [
        Axis(WORKLOAD, [_workload_axes(experiment, named, place)]),
        axis(DATASET, ((one, one.name) for one in datasets)),
        axis("settings", ((one, one.name) for one in named.settings)),
        *_properties(experiment, named, place),
        *([axis(REPLICATION, ((count, str(count)) for count in copies))] if copies else []),
        axis("store", ((one, one) for one in experiment.store)),
        axis("engine", ((one, one) for one in experiment.engine)),
        axis("nodes", ((count, nodes_level(count)) for count in nodes)),
        axis("network", ((one, one) for one in experiment.cluster.network)),
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


def _workload_axes(experiment: ExperimentFile, named: Named, place: int) -> Level:
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


def make_plan(path: Path, vocabulary: Vocabulary) -> Plan:
    """The plan of an experiment file; relative paths in it count from its folder. Raises BadInputError."""
    return plan_and_more(path, vocabulary)[0]


def plan_and_more(path: Path, vocabulary: Vocabulary) -> tuple[Plan, Iterator[tuple[Trial, ...]]]:
    """The plan, and the repetitions that it would go on with if it had more of them: one after the other, without end.

    Raises BadInputError.
    """
    experiment, tree = load(path)
    check_words(path, experiment, tree, vocabulary)
    check_levels(path, experiment, tree, vocabulary)
    check_values(path, experiment, tree)
    refuse_reserved(path, experiment, tree)
    refuse_unjudged(path, experiment, tree)
    refuse_stored(path, experiment, tree, vocabulary.path_options)
    doubts = [*check_properties(path, experiment, tree, vocabulary.properties), *one_copy(experiment)]
    media = media_of(path, experiment, tree, vocabulary)
    named = named_things(path, experiment, tree, vocabulary)
    _refuse_doubles(path, experiment, tree, named)
    combinations = _combinations(path, experiment, tree, named)
    with told_at(path, tree, ["cluster", "conf_dir"]):
        cluster = _cluster(experiment, path.parent)
    make = _TrialMaker(experiment, cluster, media, further_factors(experiment, named))
    repetitions = make.repetitions(combinations)
    plan = Plan(
        experiment=experiment.experiment,
        description=experiment.description,
        seed=experiment.seed,
        trials=tuple(chain.from_iterable(islice(repetitions, experiment.repetitions))),
        doubts=tuple(doubts),
        worth=experiment.worth,
        next=experiment.next,
        placements=tuple(one.name for one in named.placements),
    )
    return plan, repetitions


def _combinations(path: Path, experiment: ExperimentFile, tree: Any, named: Named) -> list[Combination]:
    """All combinations that the experiment asks for, each once."""
    axes = [axes_of(experiment, named, place) for place in range(len(named.workloads))]
    every = [workload_axis(experiment, named), *(one for own in axes for one in own)]
    with told_at(path, tree, ["zip"]):
        zipped = zipped_names(experiment.zip, every)
    grids = [Grid(own, zipped, place) for place, own in enumerate(axes)]
    with told_at(path, tree, ["base" if experiment.base else "design" if "design" in tree else "workloads"]):
        found = _designed(experiment, grids, base_levels(experiment.base, every))
    with told_at(path, tree, ["exclude"]):
        found = without(found, experiment.exclude)
    return _with_baseline(found) if experiment.zero_delay_baseline else found


def _with_baseline(combinations: Sequence[Combination]) -> list[Combination]:
    """All of them, and for each that differs in more than its placement the same with zero storage delay."""
    baseline = Level(pure(ZERO_DELAY), {PLACEMENT: ZERO_DELAY})
    added: dict[tuple[tuple[str, str], ...], Combination] = {}
    for one in combinations:
        own = Combination({**one.levels, PLACEMENT: baseline})
        added.setdefault(tuple(own.shown.items()), own)
    return [*combinations, *added.values()]


def _designed(experiment: ExperimentFile, grids: Sequence[Grid], base: Mapping[str, str]) -> list[Combination]:
    if experiment.design == "grid":
        if base:
            raise BadInputError("base belongs to `design: one-at-a-time`; add that, or leave base out")
        _refuse_many(sum(grid.size for grid in grids) * experiment.repetitions)
        return [one for grid in grids for one in grid.full()]
    if not base:
        raise BadInputError(
            "`design: one-at-a-time` needs a base: the factors to change, each with the level at which it stays "
            "otherwise, such as base: {settings: defaults}"
        )
    found = list(islice(one_at_a_time(grids, base), MOST_TRIALS + 1))
    _refuse_many(len(found) * experiment.repetitions)
    return found


def _refuse_many(trials: int) -> None:
    if trials > MOST_TRIALS:
        raise BadInputError(
            f"these are {trials} trials, more than {MOST_TRIALS}; give fewer levels, zip some, or sweep one factor at "
            "a time"
        )


class _TrialMaker:
    """Makes trials of combinations of levels."""

    def __init__(
        self, experiment: ExperimentFile, cluster: ClusterSpec, media: Mapping[str, MediumSpec], factors: Sequence[str]
    ) -> None:
        self._experiment = experiment
        self._cluster = cluster
        self._media = media
        self._factors = factors

    def repetitions(self, combinations: Sequence[Combination]) -> Iterator[tuple[Trial, ...]]:
        """A block for each, without end; warm-ups go before the first."""
        experiment = self._experiment
        mirrored = experiment.order == "mirrored"
        turns_each = 2 if mirrored else 1
        width = max(4, len(str(turns_each * len(combinations) * experiment.repetitions + experiment.warm_up)))
        numbers = counting(1)
        for repetition, block in enumerate(blocks(combinations, experiment.seed, mirrored=mirrored), start=1):
            warming = [(block[turn % len(block)], 0) for turn in range(experiment.warm_up)] if repetition == 1 else []
            turns = [*warming, *((combination, repetition) for combination in block)]
            yield tuple(self._trial(f"{next(numbers):0{width}d}", *turn) for turn in turns)

    def _trial(self, number: str, combination: Combination, repetition: int) -> Trial:
        """A repetition of 0 is a warm-up."""
        level = {name: one.value for name, one in combination.levels.items()}
        workload, placement = level[WORKLOAD], level[PLACEMENT]
        further = {name: level[name] for name in self._factors if level[name] is not None}
        own = {name: value for name, value in further.items() if name in workload.hadoop}
        properties = {name: value for name, value in further.items() if name not in own}
        if REPLICATION in level:
            properties[COPIES] = str(level[REPLICATION])
        settings: SettingsSpec = level["settings"]
        shown = combination.shown
        return Trial(
            id=f"{number}-{workload.name}-{placement.name}",
            workload=workload.model_copy(update={"hadoop": {**workload.hadoop, **own}}) if own else workload,
            dataset=level[DATASET],
            media=tuple(self._media[name] for name in placement.media),
            placement=placement,
            strict_placement=self._experiment.placement_check == "error",
            settings=settings.model_copy(update={"properties": {**settings.properties, **properties}}),
            store=level["store"],
            engine=level["engine"],
            cluster=self._cluster.model_copy(
                update={
                    "nodes": level["nodes"],
                    "network": level["network"],
                    "limit_memory_bytes": level["memory"],
                    "limit_cpus": level["cpus"],
                }
            ),
            cache=level["cache"],
            probes=level["probes"],
            repetition=repetition,
            levels={name: shown[name] for name in (*self._factors, *([REPLICATION] if REPLICATION in level else []))},
            warm_up=repetition == 0,
            zero_delay=placement.name == ZERO_DELAY,
        )


def _refuse_doubles(path: Path, experiment: ExperimentFile, tree: Any, named: Named) -> None:
    rename = "leave one out, or give it another name"
    workloads = [" ".join([one.name, one.variant, one.own]).strip() for one in named.workloads]
    for what, names, cure in (
        ("datasets", [one.name for one in named.datasets], rename),
        ("workloads", workloads, "leave one out, or give it another variant or options"),
        ("placement", [one.name for one in named.placements], rename),
    ):
        refuse_doubles(path, line_of(tree, [what]), what, names, cure)
    for what, given in (
        ("settings", [one.name for one in named.settings]),
        ("memory", [memory_level(size) for size in experiment.memory]),
        ("cpus", [cpus_level(count) for count in experiment.cpus]),
        ("cache", list(experiment.cache)),
        ("probes", list(experiment.probes)),
        ("replication", [str(count) for count in experiment.replication]),
        ("store", experiment.store),
        ("engine", experiment.engine),
    ):
        refuse_doubles(path, line_of(tree, [what]), what, given)
    refuse_doubles(path, line_of(tree, ["cluster", "nodes"]), "nodes", list(map(str, experiment.cluster.nodes)))
    refuse_doubles(path, line_of(tree, ["cluster", "network"]), "network", experiment.cluster.network)
    for name, values in experiment.hadoop.items():
        refuse_equal(path, line_of(tree, ["hadoop", name]), name, values)
    for own in named.own_levels:
        for name, levels in own.items():
            refuse_equal(path, line_of(tree, ["workloads"]), name, levels)


def _cluster(experiment: ExperimentFile, folder: Path) -> ClusterSpec:
    spec = ClusterSpec(**experiment.cluster.model_dump(exclude={"nodes", "network"}))
    if spec.conf_dir is None:
        return spec
    conf_dir = absolute(folder, spec.conf_dir)
    if not (conf_dir / "core-site.xml").is_file():
        raise BadInputError(
            f"conf_dir {conf_dir} has no core-site.xml; name the directory of the cluster's configuration"
        )
    return spec.model_copy(update={"conf_dir": conf_dir})
