"""Make the plan: all combinations of factors, in a seeded order in which placements take turns."""

import random
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from assay.model.cluster import ClusterSpec
from assay.model.dataset import NO_DATASET, DatasetSpec
from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.model.placement import ROLES, Placement, Role, pure
from assay.model.trial import MediumSpec, Plan, SettingsSpec, Trial, WorkloadSpec
from assay.plan.experiment import DatasetEntry, ExperimentFile, WorkloadEntry
from assay.plan.load import Vocabulary, line_of, load
from assay.plan.paths import beside, refuse_stored, with_paths
from assay.plan.reserved import refuse_compressed, refuse_reserved
from assay.plan.settings import resolve, shipped_profiles


def make_plan(path: Path, vocabulary: Vocabulary) -> Plan:
    """The plan of an experiment file; relative paths in it count from its folder. Raises BadInputError."""
    experiment, tree = load(path)
    _check_words(path, experiment, tree, vocabulary)
    refuse_reserved(path, experiment, tree)
    refuse_compressed(path, experiment, tree)
    refuse_stored(path, experiment, tree, vocabulary.path_options)
    media = _media(path, experiment, tree, vocabulary)
    placements = _placements(experiment)
    datasets = [_dataset(entry, path.parent) for entry in experiment.datasets]
    settings = _settings(path, experiment, tree)
    workloads = [_workload(entry, vocabulary, path.parent) for entry in experiment.workloads]
    for what, names in (
        ("datasets", [dataset.name for dataset in datasets]),
        (
            "workloads",
            [
                f"{workload.name} {workload.variant} {dict(workload.options)} {dict(workload.hadoop)}"
                for workload in workloads
            ],
        ),
        ("settings", [one.name for one in settings]),
        ("placement", [one.name for one in placements]),
        ("memory", [str(size) for size in experiment.memory]),
        ("cpus", [str(count) for count in experiment.cpus]),
        ("cache", list(experiment.cache)),
        ("probes", list(experiment.probes)),
    ):
        _refuse_doubles(path, line_of(tree, [what]), what, names)
    cluster = _cluster(experiment, path.parent)
    trials: list[Trial] = []
    for combination in _in_order(experiment, _inputs(workloads, datasets, vocabulary), settings, placements):
        repetition, (workload, dataset), setting, memory, cpus, cache, probes, placement = combination
        number = len(trials) + 1
        limits = {"limit_memory_bytes": memory, "limit_cpus": cpus}
        trials.append(
            Trial(
                id=f"{number:04d}-{workload.name}-{placement.name}",
                workload=workload,
                dataset=dataset,
                media=tuple(media[name] for name in placement.media),
                placement=placement,
                strict_placement=experiment.placement_check == "error",
                settings=setting,
                cluster=cluster.model_copy(update=limits),
                cache=cache,
                probes=probes,
                repetition=repetition,
            )
        )
    return Plan(
        experiment=experiment.experiment,
        description=experiment.description,
        seed=experiment.seed,
        trials=tuple(trials),
    )


def _workload(entry: WorkloadEntry, vocabulary: Vocabulary, folder: Path) -> WorkloadSpec:
    variant = entry.variant or vocabulary.workloads[entry.name][0]
    options = with_paths(entry, vocabulary.path_options.get(entry.name, {}), folder)
    return WorkloadSpec.model_validate({**entry.model_dump(), "variant": variant, "options": options})


def _inputs(
    workloads: Sequence[WorkloadSpec], datasets: Sequence[DatasetSpec], vocabulary: Vocabulary
) -> list[tuple[WorkloadSpec, DatasetSpec]]:
    """Each workload with each dataset, but once with none if it makes its own input."""
    return [
        (workload, dataset)
        for workload in workloads
        for dataset in (datasets if vocabulary.needs_dataset(workload.name, workload.options) else [NO_DATASET])
    ]


def _in_order(experiment: ExperimentFile, *factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Every repetition is a block with all combinations in a new random order; placements stand side by side within it.

    What is compared (the placements) thus runs close in time and drift of the machine hits all levels alike.
    """
    inputs, settings, placements = factors
    memories: Sequence[int | None] = experiment.memory or [None]
    cpus: Sequence[float | None] = experiment.cpus or [None]
    source = random.Random(experiment.seed)  # noqa: S311 - an order, not a secret
    order = []
    for repetition in range(1, experiment.repetitions + 1):
        groups = list(product(inputs, settings, memories, cpus, experiment.cache, experiment.probes))
        source.shuffle(groups)
        for group in groups:
            turns = list(placements)
            source.shuffle(turns)
            order += [(repetition, *group, placement) for placement in turns]
    return order


def _check_words(path: Path, experiment: ExperimentFile, tree: Any, vocabulary: Vocabulary) -> None:
    for index, workload in enumerate(experiment.workloads):
        place = ["workloads", index] if isinstance(tree["workloads"], list) else ["workloads"]
        _check_word(path, line_of(tree, place), "workload", workload.name, list(vocabulary.workloads))
        variants = list(vocabulary.workloads[workload.name])
        if workload.variant is not None:
            line = line_of(tree, [*place, "variant"])
            _check_word(path, line, f"{workload.name} variant", workload.variant, variants)
        if not experiment.datasets and vocabulary.needs_dataset(workload.name, workload.options):
            raise BadInputError(
                f"{path}, line {line_of(tree, place)}: {workload.name} needs a dataset, and 'datasets' is missing"
            )
    for index, dataset in enumerate(experiment.datasets):
        place = ["datasets", index] if isinstance(tree["datasets"], list) else ["datasets"]
        if dataset.make is not None:
            _check_word(path, line_of(tree, [*place, "make"]), "preset", dataset.make, vocabulary.presets)
        if dataset.get is not None:
            _check_word(path, line_of(tree, [*place, "get"]), "catalogue name", dataset.get, vocabulary.catalogue)


def _check_word(path: Path, line: int | None, what: str, word: str, words: Sequence[str]) -> None:
    if word not in words:
        raise BadInputError(f"{path}, line {line}: unknown {what} {word!r}; {nearest(word, words)}")


def _refuse_doubles(path: Path, line: int | None, what: str, names: Sequence[str]) -> None:
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise BadInputError(
            f"{path}, line {line}: {what} has {doubles[0]!r} twice; leave one out or give it another name"
        )


def _settings(path: Path, experiment: ExperimentFile, tree: Any) -> list[SettingsSpec]:
    profiles = shipped_profiles() | dict(experiment.profiles)
    found = []
    for index, name in enumerate(experiment.settings):
        place = ["settings", index] if isinstance(tree.get("settings"), list) else ["settings"]
        _check_word(path, line_of(tree, place), "settings profile", name, list(profiles))
        try:
            profile = resolve(name, profiles)
        except (KeyError, ValueError) as error:
            line = line_of(tree, ["profiles", name])
            raise BadInputError(f"{path}, line {line}: settings profile {name!r}: {error.args[0]}") from None
        found.append(SettingsSpec(name=name, properties={**profile.properties, **experiment.hadoop}))
    return found


def _media(path: Path, experiment: ExperimentFile, tree: Any, vocabulary: Vocabulary) -> dict[str, MediumSpec]:
    if experiment.cluster.kind == "existing":
        return {"existing": MediumSpec(name="existing", kind="existing")}
    media = {}
    for name, entry in experiment.media.items():
        profile = entry.profile
        if profile is not None and Path(profile).suffix in {".yaml", ".yml"}:
            profile = str(beside(path.parent, Path(profile)))
        elif profile is not None:
            words = ["directory", "memory", *vocabulary.profiles]
            _check_word(path, line_of(tree, ["media", name]), "kind of medium or profile", profile, words)
        media[name] = MediumSpec(
            name=name, kind=entry.kind, size_bytes=entry.size, profile=profile, file_system=entry.file_system,
            path=None if entry.path is None else beside(path.parent, entry.path),
        )  # fmt: skip
    return media


def _placements(experiment: ExperimentFile) -> list[Placement]:
    """What the experiment compares: its placements, or each of its media alone."""
    if experiment.cluster.kind == "existing":
        return [pure("existing")]
    if not experiment.placement:
        return [pure(name) for name in experiment.media]
    found = []
    for entry in experiment.placement:
        roles = {role: {name: share for name, share in getattr(entry, role).items() if share > 0} for role in ROLES}
        found.append(Placement(name=entry.name or _placement_name(roles), **roles))
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


def _dataset(entry: DatasetEntry, folder: Path) -> DatasetSpec:
    fields = entry.model_dump(exclude={"name"})
    if entry.file is not None:
        fields["file"] = beside(folder, entry.file)
        if not fields["file"].is_file():
            what = "is a folder" if fields["file"].is_dir() else "is not there"
            raise BadInputError(
                f"dataset file {fields['file']} {what}; give a file's path, absolute or from the experiment's folder"
            )
    return DatasetSpec(name=entry.name or _derived_name(entry), **fields)


def _derived_name(entry: DatasetEntry) -> str:
    if entry.file is not None:
        return entry.file.name.split(".")[0]
    if entry.get is not None:
        return entry.get
    scale = "" if entry.scale == 1 else f"-x{entry.scale:g}"
    return f"{entry.make}-like{scale}"


def _cluster(experiment: ExperimentFile, folder: Path) -> ClusterSpec:
    if experiment.cluster.conf_dir is None:
        return experiment.cluster
    conf_dir = beside(folder, experiment.cluster.conf_dir)
    if not (conf_dir / "core-site.xml").is_file():
        raise BadInputError(
            f"conf_dir {conf_dir} has no core-site.xml; name the directory of the cluster's configuration"
        )
    return experiment.cluster.model_copy(update={"conf_dir": conf_dir})
