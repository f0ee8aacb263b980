"""Reads an experiment file, once; every mistake in it becomes one sentence with the line and the nearest valid word."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from assay.host.files import UnreadableFileError, absolute
from assay.host.yaml_file import Place, ValidPart, YamlFile, text_of, tree_of
from assay.model.dataset import DATASET, DatasetSpec
from assay.model.errors import BadInputError, SeveralMistakesError
from assay.model.naming import nearest
from assay.model.registry import ENGINE_FILES, VARIANTS
from assay.model.trial import USUAL_ENGINE, USUAL_STORE, WorkloadSpec
from assay.plan.experiment import DECIDING, ExperimentFile
from assay.plan.overrides import Override, apply, lies_within

# The option of a workload that may name any input, the experiment's dataset too.
INPUT = "input"


def no_check(spec: object) -> None:
    """Takes all: those who plan without running have nobody to ask."""


class Vocabulary(NamedTuple):
    """The names that an experiment may use, as the installed kinds offer them.

    `workloads` has each workload's variants, the one that is meant by none first; those in `own_input` need no dataset,
    and what those in `any_output` write may be compressed, or come from maps alone.
    `path_options` has the names of each workload's options that are paths, with their defaults.
    `levels` are the possible ones of the factors whose kinds are installed, by the factor's name.
    `properties` are those that Hadoop knows, with the values of its own tables of defaults, empty where these have
    none; no property at all where Hadoop is not there to ask. `check_workload` and `check_dataset` raise BadInputError
    for what a workload's options, or a dataset's scale, can't be.
    """

    workloads: Mapping[str, Sequence[str]]
    presets: Sequence[str]
    catalogue: Sequence[str]
    profiles: Sequence[str]
    levels: Mapping[str, Sequence[str]] = {"store": (USUAL_STORE,), "engine": (USUAL_ENGINE,)}
    own_input: Collection[str] = ()
    any_output: Collection[str] = ()
    path_options: Mapping[str, Mapping[str, str]] = {}
    properties: Mapping[str, str] = {}
    check_workload: Callable[[WorkloadSpec], object] = no_check
    check_dataset: Callable[[DatasetSpec], object] = no_check

    def needs_dataset(self, workload: str, options: Mapping[str, str]) -> bool:
        """Whether a workload with these options runs on the experiment's datasets."""
        names_dataset = INPUT in self.path_options.get(workload, {}) and options.get(INPUT) == DATASET
        return names_dataset or workload not in self.own_input

    def with_engines(self, names: Collection[str]) -> "Vocabulary":
        """These names, and engines that an experiment's files have registered meanwhile, with their variants."""
        if not names:
            return self
        added = {workload: [name for name in names if f"{workload}/{name}" in VARIANTS] for workload in self.workloads}
        workloads = {
            workload: tuple(dict.fromkeys([*variants, *added[workload]]))
            for workload, variants in self.workloads.items()
        }
        engines = dict.fromkeys([*self.levels.get("engine", ()), *names])
        return self._replace(workloads=workloads, levels={**self.levels, "engine": list(engines)})


class SchemaMistakesError(SeveralMistakesError):
    """An experiment file that its schema refuses; `rest` is what is left of it without these mistakes, if enough is."""

    def __init__(self, part: ValidPart[ExperimentFile], rest: "ExperimentSource | None") -> None:
        super().__init__(part.mistakes.sentences)
        self.part = part
        self.rest = rest


class ExperimentSource(YamlFile):
    """An experiment file, read once: what it says, and in which line, with what a command sets in its place."""

    def __init__(self, path: Path, overrides: Sequence[Override] = ()) -> None:
        """Raises BadInputError for what is no experiment, and SchemaMistakesError for one with mistakes."""
        self._set: list[tuple[Override, Place]] = []
        self._media: Mapping[str, object] = {}
        try:
            super().__init__(path)
        except UnreadableFileError as error:
            if not error.missing:
                raise
            raise BadInputError(
                f"there is no experiment file {path}; `assay experiments` lists the shipped ones"
            ) from None
        if not isinstance(self.tree, dict):
            raise BadInputError(f"{path} must be a mapping that starts with `experiment: NAME`")
        media = self.tree.get("media")
        self._media = dict(media) if isinstance(media, dict) else {}
        self._set = [(override, apply(override, self.tree)) for override in overrides]
        self.engine_files = self._registered_engines()
        part = self.valid_part(ExperimentFile, {"experiment": "unnamed"}, ("workloads", "cluster", "media"))
        if part.content is None:
            raise SchemaMistakesError(part, None)
        experiment = part.content
        kept_with_a_run = (path.parent / "plan.json").is_file()  # which makes that plan again, whatever defaults become
        self.experiment = experiment if kept_with_a_run else experiment.deciding()
        with self.at("folder"):
            self.folder = absolute(path.parent, self.experiment.folder or Path())
        if part.mistakes.sentences:
            raise SchemaMistakesError(part, self)

    def _registered_engines(self) -> dict[str, str]:
        """Register the engines that are named by files, put their names there; the files' paths by these names."""
        engines, files = self.tree.get("engine"), dict[str, str]()
        folder = absolute(self.path.parent, Path(str(self.tree.get("folder") or "")))
        for place, engine in enumerate(engines if isinstance(engines, list) else [engines]):
            if isinstance(engine, str) and engine.endswith((".yaml", ".yml")):
                with self.at("engine"):
                    path = absolute(folder, Path(engine))
                    name = ENGINE_FILES["yaml"](path)
                files[name] = str(path)
                if isinstance(engines, list):
                    engines[place] = name
                else:
                    self.tree["engine"] = name
        return files

    def error_at(self, keys: Place, message: str) -> BadInputError:
        """A mistake, with the option that made it, or else the file and the line of its place."""
        setters = [(override, set_at) for override, set_at in self._set if lies_within(keys, set_at)]
        if setters:
            override, set_at = setters[-1]
            return BadInputError(f"{override.option_at(keys[len(set_at) :])}: {message}")
        parts = [override for override, set_at in self._set if keys and lies_within(set_at, keys)]
        if parts:  # it may come from the file, or from what was set in a part of it
            message = f"with {parts[-1].option}, {message}"
        if list(keys[:1]) == ["placement"]:
            message += self._lost_media(message)
        return super().error_at(keys, message)

    def _lost_media(self, message: str) -> str:
        """A hint for a placement that names media of the file, where an option replaced them all."""
        replaced = [override for override, _ in self._set if override.key == "media"]
        if not replaced or not isinstance(replaced[-1].value, dict):
            return ""
        media = replaced[-1].value
        lost = {name: drive for name, drive in self._media.items() if name not in media}
        if not any(repr(name) in message for name in lost):
            return ""
        named = {name: drive if isinstance(drive, str) else "..." for name, drive in (media | lost).items()}
        option, _ = replaced[-1].words
        return f"; {option} replaces all media: write {','.join(f'{name}={drive}' for name, drive in named.items())}"

    def check_word(self, keys: Place, kind: str, word: str, known: Sequence[str]) -> None:
        """Raises BadInputError for a word that is none of these."""
        if word not in known:
            raise self.error_at(keys, f"unknown {kind} {word!r}; {nearest(word, known)}")

    def refuse_repeated(self, keys: Place, kind: str, names: Sequence[str], cure: str = "leave one out") -> None:
        """Raises BadInputError for a name that comes twice."""
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise self.error_at(keys, f"{kind} has {repeated[0]!r} twice; {cure}")

    def absolute(self, path: Path | str) -> Path:
        """A path of the experiment, from its folder. Raises BadInputError where it can't be one."""
        return absolute(self.folder, Path(path))

    def _with_files_of_engines(self) -> Any:
        """What the file says, with the paths of engines' files in the place of their names."""
        tree = deepcopy(self.tree)
        engines = tree.get("engine")
        if isinstance(engines, list):
            engines[:] = [self.engine_files.get(engine, engine) for engine in engines]
        elif isinstance(engines, str):
            tree["engine"] = self.engine_files.get(engines, engines)
        return tree

    def portable(self) -> str:
        """The file's text with what was set, and the folder from which its paths count, so that it may be moved.

        Defaults that depend on the drives are stated, so that it makes the same plan whatever they become.
        """
        text = text_of(self._with_files_of_engines()) if self._set else self.text
        if self.experiment.folder is not None:
            return text
        tree = tree_of(text, self.path)
        first = next(iter(tree))
        row, column = tree.lc.key(first)
        lines = text.split("\n")
        between = ", " if tree.fa.flow_style() else "\n" + " " * column
        quoted = "'" + str(self.folder).replace("'", "''") + "'"
        stated = "".join(
            f"{name}: {json.dumps(getattr(self.experiment, name))}{between}"
            for name in DECIDING
            if name not in tree and getattr(self.experiment, name) != ExperimentFile.model_fields[name].default
        )
        lines[row] = f"{lines[row][:column]}folder: {quoted}{between}{stated}{lines[row][column:]}"
        return "\n".join(lines)
