"""What has a name in an experiment, as its trials will hold it: workloads, datasets, settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from assay.files import absolute, irregular
from assay.model.dataset import DatasetSpec
from assay.model.errors import BadInputError
from assay.model.placement import Placement
from assay.model.trial import SettingsSpec, WorkloadSpec
from assay.plan.entries import DatasetEntry, WorkloadEntry
from assay.plan.experiment import ExperimentFile
from assay.plan.load import Vocabulary, told_at
from assay.plan.media import placements_of
from assay.plan.paths import with_paths
from assay.plan.settings import Profile, resolve, shipped_profiles
from assay.plan.words import check_word
from assay.yaml_file import line_of


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
