"""Makes the plan of an experiment: its combinations of levels, in an order in which all levels meet the same drift."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice, product
from itertools import count as counting
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from assay.host.files import irregular
from assay.host.yaml_file import Place
from assay.model.cluster import AUTO, OF_NODE, ClusterSpec, EmbeddedSpec, even_racks
from assay.model.dataset import DATASET as THE_DATASET
from assay.model.dataset import NO_DATASET, DatasetSpec
from assay.model.demand import OtherDrive
from assay.model.doubt import Doubt
from assay.model.drive_profile import PROFILE_FILES, SHORT_NAMES
from assay.model.errors import BadInputError, Mistakes
from assay.model.installed import kinds_of, stack_of, variants_on
from assay.model.layout import Role
from assay.model.medium import Options
from assay.model.naming import nearest
from assay.model.network import NO_NETWORK
from assay.model.registry import ENGINES, STORES, WORKLOADS
from assay.model.store import names_store
from assay.model.trial import (
    FACTORS,
    ZERO_DELAY,
    Factor,
    MediumSpec,
    Plan,
    SettingsSpec,
    StoreSpec,
    Trial,
    WorkloadSpec,
)
from assay.plan.directing import check_directing
from assay.plan.experiment import MIX, DatasetEntry, ExperimentFile, WorkloadEntry
from assay.plan.grid import DATASET, PLACEMENT, SETTINGS, WORKLOAD, Axis, Combination, Level, axis, combinations
from assay.plan.order import blocks
from assay.plan.overrides import Override
from assay.plan.pairs import check_pairs
from assay.plan.placement import PlacementLevel, alone_on, placement_level
from assay.plan.properties import check_properties, single_copy
from assay.plan.settings import resolve, shipped_profiles
from assay.plan.shares import engines_unequal
from assay.plan.source import INPUT, ExperimentSource, SchemaMistakesError, Vocabulary
from assay.plan.workers import check_workers

REPLICATION = "replication"


class ReadExperiment(NamedTuple):
    """An experiment file, its plan, and the further repetitions that the plan would go on with, without end."""

    source: ExperimentSource
    plan: Plan
    more: Iterator[tuple[Trial, ...]]


def read_experiment(path: Path, vocabulary: Vocabulary, overrides: Sequence[Override] = ()) -> ReadExperiment:
    """Read and plan an experiment. Raises BadInputError with all mistakes of the file, the gravest first."""
    try:
        source = ExperimentSource(path, overrides)
    except SchemaMistakesError as error:
        mistakes = error.part.mistakes
        if error.rest is not None:
            of_kinds = Mistakes()
            _check_kinds(error.rest, vocabulary, of_kinds)
            mistakes.sentences += [sentence for sentence in of_kinds.sentences if not error.part.explains(sentence)]
        raise mistakes.error() from None
    return ReadExperiment(source, *plan_and_more(source, vocabulary))


def plan_and_more(source: ExperimentSource, vocabulary: Vocabulary) -> tuple[Plan, Iterator[tuple[Trial, ...]]]:
    """The plan, and further repetitions that it would go on with, without end. Raises BadInputError."""
    experiment = source.experiment
    mistakes = Mistakes()
    resolved, doubts = _check_kinds(source, vocabulary, mistakes)
    mistakes.attempt(lambda: _check_scale_model(source), None)
    mistakes.attempt(lambda: _check_write_back_age(source), None)
    mistakes.attempt(lambda: check_directing(source), None)
    if resolved is None or mistakes.sentences:
        raise mistakes.error()
    doubts = [*doubts, *single_copy(experiment)]
    axes = [_axes(experiment, resolved, workload) for workload in resolved.workloads]
    _refuse_repeated(source, resolved, axes[0])
    planned, base = combinations(source, axes)
    repetitions = _equally_slow(_repetitions(experiment, resolved, planned, base))
    first = next(repetitions)
    mistakes.attempt(lambda: check_pairs(source, first), None)
    mistakes.attempt(lambda: check_workers(source, first, kinds_of), None)
    mistakes.refuse()
    repetitions = chain([first], repetitions)
    plan = Plan(
        experiment=experiment.experiment,
        description=experiment.description,
        seed=experiment.seed,
        trials=tuple(chain.from_iterable(islice(repetitions, experiment.repetitions))),
        doubts=(*doubts, *engines_unequal(first)),
        worth=experiment.worth,
        next=experiment.next,
        stands_for=experiment.stands_for,
        placements=tuple(placement.name for placement in resolved.placements),
        base=base,
        predict=resolved.predict,
    )
    return plan, repetitions


def _check_kinds(
    source: ExperimentSource, vocabulary: Vocabulary, mistakes: Mistakes
) -> tuple["_Resolved | None", list[Doubt]]:
    """What an experiment names, None where something of it is not there, and doubts about its properties."""
    vocabulary = vocabulary.with_engines(source.engine_files)
    resolved = mistakes.attempt(lambda: _resolve(source, vocabulary), None)
    return resolved, mistakes.attempt(lambda: check_properties(source, vocabulary), [])


class _Workload(NamedTuple):
    """A workload with a single value of each of its properties; `levels` are those of the ones with several."""

    spec: WorkloadSpec
    levels: Mapping[str, Sequence[str]]
    needs_dataset: bool


class _Resolved(NamedTuple):
    """What an experiment names, with paths and profiles found.

    `properties` are those of Hadoop that are factors, `roles` those of each store and engine together.
    """

    workloads: Sequence[_Workload]
    datasets: Sequence[DatasetSpec]
    settings: Sequence[SettingsSpec]
    media: Mapping[str, MediumSpec]
    placements: Sequence[PlacementLevel]
    roles: Mapping[tuple[str, str], Sequence[Role]]
    cluster: ClusterSpec
    properties: Sequence[str]
    predict: tuple[OtherDrive, ...]


def _resolve(source: ExperimentSource, vocabulary: Vocabulary) -> _Resolved:
    experiment = source.experiment
    mistakes, workloads = Mistakes(), list[_Workload]()
    for at, entry in enumerate(experiment.workloads):
        read: list[_Workload] = mistakes.attempt(lambda: [_workload(source, entry, ["workloads", at], vocabulary)], [])  # noqa: B023
        workloads += [
            workload._replace(spec=workload.spec.model_copy(update={"concurrent": count}))
            for workload in read
            for count in entry.concurrent
        ]
    for factor in FACTORS:
        mistakes.attempt(partial(_check_levels, source, vocabulary, factor), None)
    media: dict[str, MediumSpec] = mistakes.attempt(lambda: _media(source, vocabulary), {})
    datasets: list[DatasetSpec] = []
    for at, dataset in enumerate(experiment.datasets):
        datasets += mistakes.attempt(lambda: [_dataset(source, dataset, at, vocabulary)], [])  # noqa: B023
    settings: list[SettingsSpec] = mistakes.attempt(lambda: _settings(source), [])
    stores = dict.fromkeys(spec.kind for spec in experiment.store)
    pairs = [pair for pair in product(stores, experiment.engine) if pair[0] in STORES and pair[1] in ENGINES]
    roles = {(store, engine): stack_of(store, engine).roles for store, engine in pairs}
    no_placements: list[PlacementLevel] = []
    no_cluster: ClusterSpec = EmbeddedSpec()
    placements = mistakes.attempt(lambda: _placements(source, roles), no_placements) if roles else []
    cluster = mistakes.attempt(lambda: experiment.platform.spec(experiment.cluster.keys, source), no_cluster)
    no_drives: tuple[OtherDrive, ...] = ()
    predict = mistakes.attempt(lambda: _predicted_drives(source, vocabulary, media, roles), no_drives)
    mistakes.refuse()
    if experiment.datasets and not any(workload.needs_dataset for workload in workloads):
        raise source.error_at(
            ["datasets"], "'datasets' has no effect: all workloads generate their own input; leave it out"
        )
    entries = [experiment.properties, *(entry.properties for entry in experiment.workloads)]
    several = dict.fromkeys(name for entry in entries for name, levels in entry.items() if len(levels) > 1)
    return _Resolved(workloads, datasets, settings, media, placements, roles, cluster, list(several), predict)


def _check_levels(source: ExperimentSource, vocabulary: Vocabulary, factor: Factor) -> None:
    """Raise BadInputError for the first level that is none of its factor's."""
    levels = factor.levels_in(source.experiment)
    texts = [level.kind if isinstance(level, StoreSpec) else factor.text(level) for level in levels]
    offered = vocabulary.levels.get(factor.name, texts)
    for at, text in enumerate(texts):
        if text not in offered:
            problem = f"{factor.name} has no level {text!r}; {nearest(text, offered)}"
            raise source.error_at([*factor.key.split("."), at], problem)


def _workload(source: ExperimentSource, entry: WorkloadEntry, place: Place, vocabulary: Vocabulary) -> _Workload:
    if entry.together:
        parts = [
            _workload(source, part, [*place, "together", at], vocabulary) for at, part in enumerate(entry.together)
        ]
        spec = WorkloadSpec(name=MIX, variant=MIX, together=tuple(part.spec for part in parts))
        return _Workload(spec, {}, any(part.needs_dataset for part in parts))
    source.check_word(place, "workload", entry.name, list(vocabulary.workloads))
    variants = vocabulary.workloads[entry.name]
    engines = source.experiment.engine
    _check_variant(source, entry, place, variants)
    needs_dataset = vocabulary.needs_dataset(entry.name, entry.options)
    if needs_dataset and not source.experiment.datasets:
        raise source.error_at(place, f"{entry.name} needs a dataset, and 'datasets' is missing")
    options = dict(entry.options)
    for name, default in vocabulary.path_options.get(entry.name, {}).items():
        text = options.get(name, default)
        if names_store(text) and source.experiment.platform.is_managed:
            raise source.error_at(
                [*place, "options", name],
                f"{name} is {text!r}, and a cluster of Assay's own starts with an empty store; name a file or folder "
                "of this machine, or an existing cluster (cluster: {conf_dir: ...})",
            )
        stands_for_dataset = name == INPUT and text == THE_DATASET
        if text and not stands_for_dataset and not names_store(text):
            with source.at(*place, "options"):
                options[name] = str(source.absolute(text))
    of_engines = {
        engine: entry.variant_on(engine) or _usual_variant(entry.name, engine, variants) for engine in engines
    }
    spec = WorkloadSpec(
        name=entry.name,
        variant=next(iter(of_engines.values())),
        variants=of_engines if len({*of_engines.values()}) > 1 else {},
        options=options,
        hadoop={name: levels[0] for name, levels in entry.properties.items()},
        intermediate=entry.intermediate,
    )
    with source.at(*place, "options"):
        vocabulary.check_workload(spec)
    several = {name: levels for name, levels in entry.properties.items() if len(levels) > 1}
    return _Workload(spec, several, needs_dataset)


def _check_variant(source: ExperimentSource, entry: WorkloadEntry, place: Place, variants: Sequence[str]) -> None:
    """Raise BadInputError for a variant that the workload lacks, or for an engine that the experiment does not name."""
    place = [*place, "variant"]
    if isinstance(entry.variant, Mapping):
        for engine, variant in entry.variant.items():
            source.check_word([*place, engine], "engine of this experiment", engine, source.experiment.engine)
            source.check_word([*place, engine], f"{entry.name} variant", variant, variants)
    elif entry.variant is not None:
        source.check_word(place, f"{entry.name} variant", entry.variant, variants)


def _usual_variant(workload: str, engine: str, variants: Sequence[str]) -> str:
    """The first that is written for what an engine runs; the first of all where there is none, or nobody knows."""
    known = workload in WORKLOADS and engine in ENGINES
    return next(iter(variants_on(workload, ENGINES[engine]) if known else ()), variants[0])


def _dataset(source: ExperimentSource, entry: DatasetEntry, at: int, vocabulary: Vocabulary) -> DatasetSpec:
    place = ["datasets", at]
    if entry.make is not None:
        source.check_word([*place, "make"], "preset", entry.make, vocabulary.presets)
    if entry.get is not None:
        source.check_word([*place, "get"], "catalogue name", entry.get, vocabulary.catalogue)
    fields = entry.model_dump(exclude={"name"})
    if entry.file is not None:
        with source.at(*place):
            file = fields["file"] = source.absolute(entry.file)
        if not file.is_file():
            problem = irregular(file.stat().st_mode) if file.exists() else "not there"
            cure = "give a file's path, absolute or from the experiment's folder"
            if str(entry.file) in vocabulary.catalogue:
                cure = f"for the published graph say {{get: {entry.file}}}, for a generated one {{make: {entry.file}}}"
            raise source.error_at(place, f"dataset file {file} is {problem}; {cure}")
    scale = "" if entry.scale == 1 else f"-x{entry.scale:g}"
    by_source = entry.file.name.split(".")[0] if entry.file is not None else entry.get or f"{entry.make}-like{scale}"
    spec = DatasetSpec(name=entry.name or by_source, **fields)
    with source.at(*place, "scale"):
        vocabulary.check_dataset(spec)
    return spec


def _settings(source: ExperimentSource) -> list[SettingsSpec]:
    experiment = source.experiment
    profiles = {**shipped_profiles(), **experiment.profiles}
    for name, profile in experiment.profiles.items():
        with source.at("profiles", name, "inherits"):
            for inherited in profile.inherits:
                source.check_word(["profiles", name, "inherits"], "settings profile", inherited, list(profiles))
            resolve(name, profiles)
    everywhere = {name: levels[0] for name, levels in experiment.properties.items() if len(levels) == 1}
    settings = []
    for at, name in enumerate(experiment.settings):
        source.check_word(["settings", at], "settings profile", name, list(profiles))
        properties = resolve(name, profiles).properties
        settings.append(SettingsSpec(name=name, properties={**properties, **everywhere}))
    return settings


def _media(source: ExperimentSource, vocabulary: Vocabulary) -> dict[str, MediumSpec]:
    """By name; the zero-delay baseline's drive too."""
    experiment = source.experiment
    if own := experiment.platform.own_medium:
        return {own: MediumSpec(name=own, kind=own)}
    options: dict[str, Options] = {}
    media: dict[str, MediumSpec] = {}
    mistakes = Mistakes()
    for name, medium in experiment.media.items():
        with mistakes.noted(), source.at("media", name):
            options[name] = medium.kind.located(name, medium.options, source.folder, vocabulary.profiles)
            media[name] = medium.kind.spec(name, options[name])
    mistakes.refuse()
    for name, medium in experiment.media.items():
        if medium.elsewhere:
            with source.at("media", name, "elsewhere"):
                other = _elsewhere(name, medium.elsewhere, experiment, media)
            media[name] = media[name].model_copy(update={"on": medium.on, "elsewhere": other})
    if experiment.zero_delay_baseline:
        first, medium = next(iter(experiment.media.items()))
        if (without_delays := medium.kind.without_delays(options[first])) is not None:
            media[ZERO_DELAY] = medium.kind.spec(ZERO_DELAY, without_delays)
    return media


def _elsewhere(name: str, other: str, experiment: ExperimentFile, media: Mapping[str, MediumSpec]) -> MediumSpec:
    """What workers have that a medium is not on."""
    on_all = [known for known, medium in experiment.media.items() if not medium.on]
    if other not in on_all:
        raise BadInputError(f"elsewhere is {other!r}, no medium that all workers can have; {nearest(other, on_all)}")
    if media[other].kind != media[name].kind:
        raise BadInputError(
            f"medium {name} is {media[name].kind}, and {other}, which is elsewhere, {media[other].kind}: what serves "
            "one role on different workers must be of one kind"
        )
    return media[other]


def _placements(source: ExperimentSource, roles: Mapping[tuple[str, str], Sequence[Role]]) -> list[PlacementLevel]:
    """What the experiment compares: its placements, or each of its media alone.

    Raises BadInputError for a role that no stack has, and where a stack has one that has no media.
    """
    experiment = source.experiment
    if own_medium := experiment.platform.own_medium:
        return [alone_on(own_medium)]
    known = list(dict.fromkeys(role.name for of_stack in roles.values() for role in of_stack))
    levels = []
    for at, entry in enumerate(experiment.placement):
        for name in entry.roles:
            if name not in known:
                stacks = " or ".join(f"{store} with {engine}" for store, engine in roles)
                why = f"no service of {stacks} has the role {name!r}; possible are {', '.join(known)}"
                raise source.error_at(["placement", at, name], why)
        with source.at("placement", at):
            level = placement_level(entry)
            for of_stack in roles.values():
                level.among(of_stack)
        levels.append(level)
    return levels or [alone_on(name) for name in experiment.media]


def _axes(experiment: ExperimentFile, resolved: _Resolved, workload: _Workload) -> list[Axis]:
    """A workload alone, and all that it is combined with."""
    spec, properties = workload.spec, resolved.properties
    own = Level(spec, {"workload": spec.name, "variant": spec.variant_level, "options": spec.own_but(properties)})
    axes = [
        Axis(WORKLOAD, [own]),
        axis(DATASET, ((one, one.name) for one in (resolved.datasets if workload.needs_dataset else [NO_DATASET]))),
        axis(SETTINGS, ((setting, setting.name) for setting in resolved.settings)),
    ]
    for name in properties:  # of a workload that has one value of it, that alone
        levels = workload.levels.get(name) or (
            [spec.hadoop[name]] if name in spec.hadoop else experiment.properties.get(name)
        )
        axes.append(axis(name, ((level, level) for level in levels) if levels else [(None, "default")]))
    if experiment.replication:
        axes.append(axis(REPLICATION, ((str(count), str(count)) for count in experiment.replication)))
    for factor in FACTORS:
        given = factor.levels_in(experiment) or [attrgetter(factor.field)(resolved)]
        axes.append(axis(factor.name, ((level, factor.text(level)) for level in given)))
    return [*axes, axis(PLACEMENT, ((placement, placement.name) for placement in resolved.placements))]


def _refuse_repeated(source: ExperimentSource, resolved: _Resolved, axes: Sequence[Axis]) -> None:
    """Levels that come twice; those of Hadoop's properties have been checked."""
    rename = "leave one out, or give it another name"
    workloads = [
        " ".join([workload.spec.name, workload.spec.variant_level, workload.spec.own]).strip()
        for workload in resolved.workloads
    ]
    of_keys: list[tuple[Place, str, list[str], str]] = [
        (["workloads"], "workloads", workloads, "leave one out, or give it another variant or options"),
        (["datasets"], "datasets", [dataset.name for dataset in resolved.datasets], rename),
        (["placement"], "placement", [placement.name for placement in resolved.placements], rename),
    ]
    keys = {SETTINGS: SETTINGS, REPLICATION: REPLICATION, **{factor.name: factor.key for factor in FACTORS}}
    for axis_ in axes:
        if axis_.name in keys:
            names = [level.labels[axis_.name] for level in axis_.levels]
            of_keys.append((keys[axis_.name].split("."), axis_.name, names, "leave one out"))
    mistakes = Mistakes()
    for of_key in of_keys:
        mistakes.attempt(partial(source.refuse_repeated, *of_key), None)
    mistakes.refuse()


def _repetitions(
    experiment: ExperimentFile, resolved: _Resolved, planned: Sequence[Combination], base: Mapping[str, str]
) -> Iterator[tuple[Trial, ...]]:
    """A block of trials for each, without end; warm-ups go before the first."""
    mirrored = experiment.order == "mirrored"
    most = (2 if mirrored else 1) * len(planned) * experiment.repetitions + experiment.warm_up
    numbers, digits = counting(1), max(4, len(str(most)))
    for repetition, block in enumerate(
        blocks(planned, experiment.seed, {PLACEMENT, *base}, mirrored=mirrored), start=1
    ):
        warming = [(block[turn % len(block)], 0) for turn in range(experiment.warm_up)] if repetition == 1 else []
        turns = [*warming, *((combination, repetition) for combination in block)]
        yield tuple(_trial(experiment, resolved, f"{next(numbers):0{digits}d}", *turn) for turn in turns)


def _trial(
    experiment: ExperimentFile, resolved: _Resolved, number: str, combination: Combination, repetition: int
) -> Trial:
    """A repetition of 0 is a warm-up."""
    level: dict[str, Any] = {name: one.value for name, one in combination.levels.items()}
    workload: WorkloadSpec = level[WORKLOAD].on(level["engine"])
    placement = level[PLACEMENT].among(resolved.roles[level["store"].kind, level["engine"]])
    settings: SettingsSpec = level[SETTINGS]
    further = [*resolved.properties, *([REPLICATION] if REPLICATION in level else [])]
    given = {name: level[name] for name in resolved.properties if level[name] is not None}
    of_workload = {name: value for name, value in given.items() if name in workload.hadoop}
    properties = {name: value for name, value in given.items() if name not in of_workload}
    if REPLICATION in level:
        properties[STORES[level["store"].kind].copies_property] = level[REPLICATION]
    chosen: dict[str, dict[str, Any]] = {"cluster": {}, "": {}}
    for factor in FACTORS:
        above, _, field = factor.field.rpartition(".")
        chosen[above][field] = level[factor.name]
    racks = experiment.cluster.get("racks")
    # Of the whole plan: clusters of one comparison are configured alike, however many jobs each has.
    chosen["cluster"]["jobs_at_once"] = max(entry.spec.jobs_at_once for entry in resolved.workloads)
    if level["write_back"] == OF_NODE:
        chosen["cluster"]["write_back_age_s"] = experiment.write_back_age
    chosen["cluster"]["racks"] = even_racks(racks, level["nodes"] or 0) if isinstance(racks, int) else racks
    cluster = resolved.cluster
    if isinstance(cluster, EmbeddedSpec):
        cluster = cluster.model_copy(update=chosen["cluster"])
    return Trial(
        id=f"{number}-{workload.name}-{placement.name}",
        workload=workload.model_copy(update={"hadoop": {**workload.hadoop, **of_workload}})
        if of_workload
        else workload,
        dataset=level[DATASET],
        media=tuple(resolved.media[name] for name in placement.media),
        placement=placement,
        strict_placement=experiment.placement_check == "error",
        keep_requests=experiment.keep_requests or bool(resolved.predict),
        settings=settings.model_copy(update={"properties": {**settings.properties, **properties}}),
        cluster=cluster,
        repetition=repetition,
        levels={name: combination.labels[name] for name in further},
        warm_up=repetition == 0,
        zero_delay=placement.name == ZERO_DELAY,
        **chosen[""],
    )


def _check_scale_model(source: ExperimentSource) -> None:
    """Raises BadInputError where there is a dilation, and no nodes of their own or a medium that can't be slower."""
    experiment = source.experiment
    if not experiment.dilation:
        return
    networks = experiment.cluster.get("network", [NO_NETWORK])
    if NO_NETWORK in networks and min(experiment.cluster.get("nodes"), default=1) == 1:
        raise source.error_at(
            ["dilation"],
            "dilation needs nodes of their own, and one node without a network is this machine itself; say cluster: "
            "{nodes: 3}, or give the node a network",
        )
    real = next((name for name, medium in experiment.media.items() if not medium.kind.dilated), None)
    if real is not None:
        raise source.error_at(
            ["dilation"],
            f"dilation needs drives that can be slower, and the medium {real!r} is a "
            f"{experiment.media[real].kind.name}; take an emulated drive, or memory",
        )


def _predicted_drives(
    source: ExperimentSource,
    vocabulary: Vocabulary,
    media: Mapping[str, MediumSpec],
    roles: Mapping[tuple[str, str], Sequence[Role]],
) -> tuple[OtherDrive, ...]:
    """The drives on which the experiment wants times predicted; `roles` are those of each store and engine together.

    Raises BadInputError for a drive that nobody describes, a role that no stack has, and for scale models.
    """
    experiment = source.experiment
    emulated = {name: fields for name, medium in media.items() if (fields := medium.model_extra or {}).get("profile")}
    known_roles = list(dict.fromkeys(role.name for of_stack in roles.values() for role in of_stack))
    drives = []
    for place, entry in enumerate(experiment.predict):
        for number, role in enumerate(entry.roles):
            source.check_word(["predict", place, "roles", number], "role", role, known_roles)
        medium = emulated.get(entry.drive)
        profile = str(medium["profile"]) if medium else SHORT_NAMES.get(entry.drive, entry.drive)
        if Path(profile).suffix in PROFILE_FILES:
            with source.at("predict", place):
                profile = str(source.absolute(profile))
        elif profile not in vocabulary.profiles:
            known = [*emulated, *SHORT_NAMES, *vocabulary.profiles]
            problem = f"nobody describes the drive {entry.drive!r}; {nearest(entry.drive, known)} (or give a YAML file)"
            raise source.error_at(["predict", place], problem)
        drives.append(OtherDrive.on(entry.drive, profile, tuple(entry.roles), medium))
    source.refuse_repeated(["predict"], "predict", [drive.name for drive in drives])
    if drives and experiment.dilation:
        raise source.error_at(
            ["predict"], "times are predicted from clusters of full speed alone; leave out predict, or dilation"
        )
    return tuple(drives)


def _check_write_back_age(source: ExperimentSource) -> None:
    """Raises BadInputError for an age of unwritten data where no trial writes back as a node."""
    experiment = source.experiment
    if "write_back_age" in experiment.model_fields_set and OF_NODE not in experiment.write_back:
        raise source.error_at(
            ["write_back_age"],
            f"write_back_age has no effect without `write_back: {OF_NODE}`, the default where all drives are emulated "
            "and memory or page_cache is bounded; add that, or leave write_back_age out",
        )


def _equally_slow(repetitions: Iterator[tuple[Trial, ...]]) -> Iterator[tuple[Trial, ...]]:
    """The trials with the largest cluster of those whose dilation is chosen where they run; the first block has all."""
    first = next(repetitions)
    clusters = [trial.cluster for trial in first if isinstance(trial.cluster, EmbeddedSpec)]
    chosen_there = [cluster.modelled_nodes for cluster in clusters if cluster.dilation == AUTO]
    largest = max(chosen_there, key=attrgetter("cores"), default=None)

    def fit(trial: Trial) -> Trial:
        cluster = trial.cluster
        if largest is None or not isinstance(cluster, EmbeddedSpec) or cluster.dilation != AUTO:
            return trial
        if cluster.modelled_nodes.cores == largest.cores:
            return trial
        return trial.model_copy(update={"cluster": cluster.model_copy(update={"auto_for": largest})})

    return (tuple(map(fit, block)) for block in chain([first], repetitions))
