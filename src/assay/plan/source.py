"""Reads an experiment file, once; every mistake in it becomes one sentence with the line and the nearest valid word."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ValidationError

from assay.host.files import UnreadableFileError, absolute, read_text
from assay.host.yaml_file import line_of, plain, shown, tree_of
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

Place = Sequence[object]
"""Where something stands in a file: keys and positions in lists, from the outside in."""


def no_check(spec: object) -> None:
    """Takes all: those who plan without running have nobody to ask."""


class Vocabulary(NamedTuple):
    """The names that an experiment may use, as the installed kinds offer them.

    `workloads` has each workload's variants, the one that is meant by none first; those in `own_input` need no dataset.
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
    levels: Mapping[str, Sequence[str]] = {
        "store": (HDFS,), "engine": (MAPREDUCE,), "nodes": ("1",), "network": ("none",),
    }  # fmt: skip
    own_input: Collection[str] = ()
    path_options: Mapping[str, Mapping[str, str]] = {}
    properties: Mapping[str, str] = {}
    check_workload: Callable[[WorkloadSpec], object] = no_check
    check_dataset: Callable[[DatasetSpec], object] = no_check

    def needs_dataset(self, workload: str, options: Mapping[str, str]) -> bool:
        """Whether a workload with these options runs on the experiment's datasets."""
        asked = INPUT in self.path_options.get(workload, {}) and options.get(INPUT) == DATASET
        return asked or workload not in self.own_input


class Source:
    """An experiment file, read once: what it says, and in which line."""

    def __init__(self, path: Path) -> None:
        """Raises BadInputError for what is no experiment."""
        self.path = path
        try:
            self.text = read_text(path)
        except UnreadableFileError as error:
            if not error.missing:
                raise
            raise BadInputError(
                f"there is no experiment file {path}; see the experiments/ folder for examples"
            ) from None
        self._tree = tree_of(self.text, path)
        if not isinstance(self._tree, dict):
            raise BadInputError(f"{path} must be a mapping that starts with `experiment: NAME`")
        try:
            self.experiment = ExperimentFile.model_validate(plain(self._tree))
        except ValidationError as error:
            raise self.error_at(*_mistake(error)) from None
        with self.at("folder"):
            self.folder = absolute(path.parent, self.experiment.folder or Path())

    def line(self, place: Place) -> int | None:
        """The line of a place, or of the nearest place around it that is there; None where there is none."""
        return line_of(self._tree, place)

    def error_at(self, place: Place, message: str) -> BadInputError:
        """A mistake, with the file and the line of its place."""
        line = self.line(place)
        return BadInputError(f"{self.path}, line {line}: {message}" if line else f"{self.path}: {message}")

    @contextmanager
    def at(self, *place: object) -> Iterator[None]:
        """A mistake that is met meanwhile gets the file and the line of this place."""
        try:
            yield
        except BadInputError as error:
            raise self.error_at(place, str(error)) from None

    def check_word(self, place: Place, what: str, word: str, words: Sequence[str]) -> None:
        """Raises BadInputError for a word that is none of these."""
        if word not in words:
            raise self.error_at(place, f"unknown {what} {word!r}; {nearest(word, words)}")

    def refuse_repeated(self, place: Place, what: str, names: Sequence[str], cure: str = "leave one out") -> None:
        """Raises BadInputError for a name that comes twice."""
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise self.error_at(place, f"{what} has {repeated[0]!r} twice; {cure}")

    def absolute(self, path: Path | str) -> Path:
        """A path of the experiment, from its folder. Raises BadInputError where it can't be one."""
        return absolute(self.folder, Path(path))

    def portable(self) -> str:
        """The file's text, with the folder from which its relative paths count, so that it may be moved."""
        if self.experiment.folder is not None:
            return self.text
        first = next(iter(self._tree))
        row, column = self._tree.lc.key(first)
        lines = self.text.split("\n")
        between = ", " if self._tree.fa.flow_style() else "\n" + " " * column
        lines[row] = f"{lines[row][:column]}folder: {_quoted(str(self.folder))}{between}{lines[row][column:]}"
        return "\n".join(lines)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _mistake(error: ValidationError) -> tuple[Place, str]:
    """One mistake and its place; an unknown key first, because a misspelt key also makes another one missing."""
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    place = [part for part in first["loc"] if not str(part).startswith("function-")]
    if first["type"] != "value_error":
        return place, _sentence(first, place)
    message = str(first["ctx"]["error"])
    # What is wrong with several keys together begins with the one that it is about.
    return place or message.replace(":", " ").split(" ")[:1], message


def _sentence(first: "ErrorDetails", place: Sequence[int | str]) -> str:
    name = ".".join(str(part) for part in place if isinstance(part, str) and part != "[key]")
    if first["type"] == "extra_forbidden":
        return f"unknown key {place[-1]!r}; {nearest(str(place[-1]), _keys_beside(place))}"
    if first["type"] == "missing":
        return f"{name!r} is missing"
    if first["input"] is None or first["input"] in ([], {}):
        key = ExperimentFile.model_fields.get(name)
        return f"{name} is empty; give it a value" + ("" if key and key.is_required() else ", or leave it out")
    must = _MUST.get(first["type"])
    if must is not None:
        levels = place[0] == "profiles" and isinstance(first["input"], list)
        where = "; a list of levels belongs under `hadoop`" if levels and must == _TEXT else ""
        return f"{name} is {shown(first['input'])}, and must be {must.format(**first.get('ctx', {}))}{where}"
    return f"{name} is {shown(first['input'])}: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _keys_beside(place: Sequence[int | str]) -> list[str]:
    """The keys that are valid where an unknown key stands."""
    model: type[BaseModel] = ExperimentFile
    for part in place[:-1]:
        field = model.model_fields.get(str(part))
        if field is not None:
            model = _model_within(field.annotation) or model
    return list(model.model_fields)


def _model_within(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation like `list[Annotated[Model, ...]]` is about."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        model = _model_within(argument)
        if model is not None:
            return model
    return None
