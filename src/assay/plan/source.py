"""Reads an experiment file; every mistake in it becomes one sentence with the line and the nearest valid word."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ValidationError

from assay.host.files import UnreadableFileError
from assay.host.yaml_file import line_of, plain, read_tree, shown
from assay.model.errors import BadInputError
from assay.model.input import DATASET, DatasetSpec
from assay.model.naming import nearest
from assay.model.trial import HDFS, MAPREDUCE, WorkloadSpec
from assay.plan.experiment import ExperimentFile

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_WHOLE, _NUMBER, _TEXT, _MAP = "a whole number", "a number", "a single text or number", "a map such as {{key: value}}"
# What a value must be, by the type of pydantic's errors.
_MUST = {
    "int_type": _WHOLE, "int_parsing": _WHOLE, "int_from_float": _WHOLE, "float_type": _NUMBER,
    "float_parsing": _NUMBER, "finite_number": "a finite number", "path_type": "a path", "string_type": _TEXT,
    "dict_type": _MAP, "mapping_type": _MAP, "model_type": _MAP,
    "model_attributes_type": _MAP, "list_type": "a list such as [one, other]", "literal_error": "{expected}",
    "greater_than_equal": "{ge} or more", "greater_than": "above {gt:g}", "less_than_equal": "{le} or less",
    "bool_parsing": "true or false", "bool_type": "true or false", "too_short": "a list of {min_length} or more",
    "string_too_long": "of at most {max_length} characters", "int_parsing_size": "a smaller whole number",
    "string_pattern_mismatch": "made of letters, digits, '.', '_' and '-', with a letter or digit first",
}  # fmt: skip
# The option of a workload that may name any input, the experiment's dataset too.
INPUT = "input"


def no_check(spec: object) -> None:
    """Takes all: those who plan without running have nobody to ask."""


class Vocabulary(NamedTuple):
    """The names that an experiment may use, as the installed kinds offer them.

    `workloads` has each workload's variants, the one that is meant by none first; those in `own_input` need no dataset.
    `path_options` has the names of each workload's options that are paths, with their defaults.
    `stores`, `engines`, `nodes` and `networks` are the levels of the factors of these names.
    `properties` are those that Hadoop knows, with the values of its own tables of defaults, empty where these have
    none; no property at all where Hadoop is not there to ask. `check_workload` and `check_dataset` raise BadInputError
    for what a workload's options, or a dataset's scale, can't be.
    """

    workloads: Mapping[str, Sequence[str]]
    presets: Sequence[str]
    catalogue: Sequence[str]
    profiles: Sequence[str]
    stores: Sequence[str] = (HDFS,)
    engines: Sequence[str] = (MAPREDUCE,)
    nodes: Sequence[int] = (1,)
    networks: Sequence[str] = ("none",)
    own_input: Collection[str] = ()
    path_options: Mapping[str, Mapping[str, str]] = {}
    properties: Mapping[str, str] = {}
    check_workload: Callable[[WorkloadSpec], object] = no_check
    check_dataset: Callable[[DatasetSpec], object] = no_check

    def needs_dataset(self, workload: str, options: Mapping[str, str]) -> bool:
        """Whether a workload with these options runs on the experiment's datasets."""
        asked = INPUT in self.path_options.get(workload, {}) and options.get(INPUT) == DATASET
        return asked or workload not in self.own_input


def load(path: Path) -> tuple[ExperimentFile, Any]:
    """The experiment in a file, and the YAML tree that knows its lines. Raises BadInputError."""
    try:
        tree = read_tree(path)
    except UnreadableFileError as error:
        if not error.missing:
            raise
        raise BadInputError(f"there is no experiment file {path}; see the experiments/ folder for examples") from None
    if not isinstance(tree, dict):
        raise BadInputError(f"{path} must be a mapping that starts with `experiment: NAME`")
    try:
        return ExperimentFile.model_validate(plain(tree)), tree
    except ValidationError as error:
        raise BadInputError(f"{path}{_sentence(error, tree)}") from None


@contextmanager
def told_at(path: Path, tree: Any, location: Sequence[object]) -> Iterator[None]:
    """A mistake that is met meanwhile, told with the file and the line of this place in it."""
    try:
        yield
    except BadInputError as error:
        line = line_of(tree, location)
        raise BadInputError(f"{path}, line {line}: {error}" if line else f"{path}: {error}") from None


def _sentence(error: ValidationError, tree: Any) -> str:
    """One mistake as `, line 3: ...`; an unknown key first, because a misspelt key also makes another one missing."""
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    location = [part for part in first["loc"] if not str(part).startswith("function-")]
    told = str(first["ctx"]["error"]) if first["type"] == "value_error" else ""
    # What is wrong with several keys together begins with the one that it is about.
    line = line_of(tree, location or told.replace(":", " ").split(" ")[:1])
    return (f", line {line}" if line else "") + ": " + (told or _mistake(first, location))


def _mistake(first: "ErrorDetails", location: Sequence[int | str]) -> str:
    name = ".".join(str(part) for part in location if isinstance(part, str) and part != "[key]")
    if first["type"] == "extra_forbidden":
        return f"unknown key {location[-1]!r}; {nearest(str(location[-1]), _keys_beside(location))}"
    if first["type"] == "missing":
        return f"{name!r} is missing"
    if first["input"] is None or first["input"] in ([], {}):
        key = ExperimentFile.model_fields.get(name)
        return f"{name} is empty; give it a value" + ("" if key and key.is_required() else ", or leave it out")
    must = _MUST.get(first["type"])
    if must is not None:
        levels = location[0] == "profiles" and isinstance(first["input"], list)
        where = "; a list of levels belongs under `hadoop`" if levels and must == _TEXT else ""
        return f"{name} is {shown(first['input'])}, and must be {must.format(**first.get('ctx', {}))}{where}"
    return f"{name} is {shown(first['input'])}: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _keys_beside(location: Sequence[int | str]) -> list[str]:
    """The keys that are valid where an unknown key stands."""
    model: type[BaseModel] = ExperimentFile
    for part in location[:-1]:
        field = model.model_fields.get(str(part))
        if field is not None:
            model = _model_within(field.annotation) or model
    return list(model.model_fields)


def _model_within(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation like `list[Annotated[Model, ...]]` is about."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        found = _model_within(argument)
        if found is not None:
            return found
    return None
