"""YAML that users write: read whole, bounded in size, depth and repetition, with the line of whatever is in it.

What comes out are maps with texts as keys, lists, texts, finite numbers, booleans and null, nothing else: dates are
texts, and tags, which would make other things, are refused. An alias may repeat a part, but not so often that the whole
grows beyond all measure, and not inside the part itself.
"""

import io
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from assay.host.files import read_text
from assay.model.errors import BadInputError, MistakeAt, Mistakes
from assay.model.naming import nearest, similar

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MOST_DEPTH = 30
MOST_ITEMS = 50_000
"""Items of all lists and maps together, repeated ones counted each time."""

NOT_SUPPORTED = "not_supported"
"""The type of pydantic's error for a word that stands for something that is known, but can't be had."""
MOST_NUMBER_CHARACTERS = 64
_QUOTED = re.compile("'([^']+)'")
_KIND = "kind"
"""The key that tells which others its map may have."""
_MOST_ROUNDS = 5
"""Of looking for mistakes that others hide."""
LONGEST_LINE = 1 << 16
"""Of a text that is made of a tree: lines stay as they were written."""

Place = Sequence[object]
"""A path to a part of a file: keys and positions in lists, from the outside in."""
ModelT = TypeVar("ModelT", bound=BaseModel)

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
    "string_pattern_mismatch": "made of letters from a to z, digits, '.', '_' and '-', with a letter or digit first",
}  # fmt: skip


class YamlFile:
    """A YAML file, read once, which knows the line of each of its parts."""

    def __init__(self, path: Path, text: str | None = None) -> None:
        """Read a file, or take its text where that was read before. Raises BadInputError."""
        self.path = path
        self.text = read_text(path) if text is None else text
        self.tree = tree_of(self.text, path)

    def validated(self, model: type[ModelT], **more: object) -> ModelT:
        """Return its content, with `more`, as a model. Raises BadInputError with all mistakes and their lines."""
        try:
            return model.model_validate({**plain(self.tree), **more})
        except ValidationError as error:
            mistakes = Mistakes()
            mistakes.sentences += self._mistakes(error, model, more).values()
            raise mistakes.error() from None

    def valid_part(
        self, model: type[ModelT], stand_ins: Mapping[str, object], needed: Sequence[str]
    ) -> "ValidPart[ModelT]":
        """Return as much of its content as is a model, with what is wrong with the rest.

        A part that is wrong is left out, which may show what is wrong with others. `stand_ins` are values of keys that
        must be there; where one of the keys that are `needed` is wrong, nothing can be said of the rest.
        """
        tree, part = plain(self.tree), ValidPart[ModelT](None, Mistakes(), {})
        for _ in range(_MOST_ROUNDS):
            try:
                return part._replace(content=model.model_validate(tree))
            except ValidationError as error:
                wrong = self._mistakes(error, model, ())
                part.mistakes.sentences += [
                    sentence for place, sentence in wrong.items() if not part.explains(sentence, place)
                ]
                for whole, sentence in wrong.items():
                    place = whole[:-1] if whole[-1:] == (_KIND,) else whole
                    meant = _QUOTED.findall(sentence.partition("did you mean ")[2])
                    if {*map(str, place[:1]), *meant} & {*needed} and len(place) == 1:
                        return part
                    if not _leave_out(tree, place, stand_ins):
                        return part
                    named = [key for key in place if isinstance(key, str)]
                    part.removed[place] = [*named[-1:], *meant]
        return part

    def _mistakes(
        self, error: ValidationError, model: type[BaseModel], more: Collection[str]
    ) -> dict[tuple[object, ...], str]:
        """Collect a sentence for each part of the file that is wrong, the gravest first, then in the file's order."""
        sentences: dict[tuple[object, ...], str] = {}
        ordered = sorted(error.errors(), key=lambda detail: (_gravity(detail), self.line(_keys_of(detail)) or 0))
        unknown = [str(detail["loc"][-1]) for detail in ordered if detail["type"] == "extra_forbidden"]
        for detail in ordered:
            keys = _keys_of(detail)
            if detail["type"] == "missing" and similar(str(keys[-1]), unknown):
                continue  # it is there, but misspelt
            if detail["type"] == "value_error":
                mistake = detail["ctx"]["error"]
                keys = keys or (list(mistake.keys) if isinstance(mistake, MistakeAt) else [])
                sentence = str(mistake)
            else:
                sentence = _sentence(detail, keys, model, more)
            part = self._existing(keys)
            if detail["type"] == "missing":
                part = (*self._existing(keys[:-1]), keys[-1])
            if not any(_one_in_the_other(part, other) for other in sentences):
                sentences[part] = str(self.error_at(keys, sentence))
        return sentences

    def _existing(self, keys: Place) -> tuple[object, ...]:
        """Return the path as far as the file has it; a union's alternatives, which pydantic adds, are left out."""
        tree, existing = self.tree, list[object]()
        for key in keys:
            try:
                tree = tree[key]
            except (KeyError, IndexError, TypeError):
                continue
            existing.append(key)
        return tuple(existing)

    def line(self, keys: Place) -> int | None:
        """Return the line of a part, or of the nearest part around it that exists; None where there is none."""
        return line_of(self.tree, keys)

    def error_at(self, keys: Place, message: str) -> BadInputError:
        """Make an error that begins with the file and the line of a part."""
        line = self.line(keys)
        return BadInputError(f"{self.path}, line {line}: {message}" if line else f"{self.path}: {message}")

    @contextmanager
    def at(self, *keys: object) -> Iterator[None]:
        """Add the file and a part's line to an error that is raised within the scope."""
        try:
            yield
        except BadInputError as error:
            raise self.error_at(keys, str(error)) from None


class ValidPart(NamedTuple, Generic[ModelT]):
    """What of a file is a model, None where too little of it is; what is wrong with the rest.

    `removed` has the places of what is left out, each with names by which other parts may refer to it.
    """

    content: ModelT | None
    mistakes: Mistakes
    removed: dict[tuple[object, ...], list[str]]

    def explains(self, sentence: str, place: Place = ()) -> bool:
        """Whether a mistake, and its place, may only follow from what is left out."""
        names = [name for of_place in self.removed.values() for name in of_place]
        return any(_one_in_the_other(place, other) for other in self.removed) or any(
            repr(name) in sentence for name in names
        )


def _leave_out(tree: Any, part: Place, stand_ins: Mapping[str, object]) -> bool:
    """Take a part out of a tree, or the whole list that it is in; return whether there was one.

    Items of a list stay where they are, as their places tell their lines.
    """
    keys = list(part)
    key = str(keys[0]) if len(keys) == 1 else ""
    if key in stand_ins and tree.get(key) != stand_ins[key]:
        tree[key] = stand_ins[key]
        return True
    while keys:
        *around, last = keys
        here = tree
        with suppress(KeyError, IndexError, TypeError):
            for step in around:
                here = here[step]
            if isinstance(here, dict) and last in here:
                del here[last]
                return True
        keys = around
    return False


def _keys_of(detail: "ErrorDetails") -> list[int | str]:
    return [part for part in detail["loc"] if not str(part).startswith("function-")]


def _gravity(detail: "ErrorDetails") -> int:
    """A word that can't be, then an unknown key, since a misspelt key also makes another one missing, then the rest."""
    kinds = (NOT_SUPPORTED, "extra_forbidden")
    return kinds.index(detail["type"]) if detail["type"] in kinds else len(kinds) + (detail["type"] == "missing")


def _one_in_the_other(part: Place, other: Place) -> bool:
    """Whether one of two parts of a file lies in the other: a second mistake there follows from the first as a rule."""
    shorter = min(len(part), len(other))
    return bool(shorter) and list(part[:shorter]) == list(other[:shorter])


def tree_of(text: str, file: Path | str) -> Any:
    """Parse a text into a tree; `file` names its origin, a file or an option. Raises BadInputError."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.parser import ParserError
    from ruamel.yaml.reader import ReaderError
    from ruamel.yaml.scanner import ScannerError

    try:
        yaml = YAML()
        yaml.Parser = _parser(_Shape(file))
        yaml.Constructor = _constructor()
        tree = yaml.load(text)
    except MarkedYAMLError as error:
        mark, begin = error.problem_mark or error.context_mark, error.context_mark
        where = f"{file}, line {mark.line + 1}" if mark else str(file)
        problem = " ".join(str(error.problem or error.context).split())
        before = f"line {begin.line + 1}" if mark and begin and begin.line < mark.line else "the line above"
        hint = f"; look at {before}, too" if isinstance(error, ParserError | ScannerError) else ""
        raise _bad(where, f"not readable as YAML: {problem}{hint}") from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _bad(f"{file}, line {line}", f"has the character U+{error.character:04X}; remove it") from None
    except (YAMLError, ValueError) as error:
        raise _bad(str(file), f"not readable as YAML: {' '.join(str(error).split())}") from None
    _check_values(tree, file)
    return tree


def text_of(tree: Any) -> str:
    """Write a tree as text, with its comments."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = LONGEST_LINE
    written = io.StringIO()
    yaml.dump(tree, written)
    return written.getvalue()


def plain(tree: Any) -> Any:
    """Turn ruamel's decorated containers, texts and numbers into plain ones."""
    if isinstance(tree, dict):
        return {str(key): plain(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [plain(value) for value in tree]
    if isinstance(tree, bool) or tree is None:
        return tree
    return next((kind(tree) for kind in (int, float, str) if isinstance(tree, kind)), tree)


def line_of(tree: Any, location: Sequence[object]) -> int | None:
    """Return the line (from 1) of a key or list item in a YAML tree, or of its nearest parent that exists.

    A place in a list counts for nothing where one thing alone stands instead of a list.
    """
    line: int | None = None
    for part in location:
        if isinstance(part, int) and isinstance(tree, dict) and part not in tree:
            continue
        try:
            places: Any = tree.lc
            line = (places.key(part) if isinstance(tree, dict) else places.item(part))[0] + 1
            tree = tree[part]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
    return line


def shown(value: Any) -> str:
    """Write a value for a message, nearly as YAML has it; a long value is cut."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, dict):
        text = "{" + ", ".join(f"{key}: {shown(item)}" for key, item in value.items()) + "}"
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(map(shown, value)) + "]"
    else:
        text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 100 else f"{text[:97]}..."


def _bad(where: str, reason: str) -> BadInputError:
    return BadInputError(f"{where}: {reason}")


@dataclass
class _Extent:
    """The size of a list, map or scalar once its aliases are replaced: its items and its depth."""

    anchor: str | None = None
    items: int = 1
    depth: int = 0

    def add(self, other: "_Extent") -> None:
        self.items += other.items
        self.depth = max(self.depth, other.depth)


class _Shape:
    """How large and deep what is parsed of a text is: too much is refused before any of it is built."""

    def __init__(self, file: Path | str) -> None:
        self._file = file
        self._named: dict[str, _Extent] = {}
        self._open = [_Extent()]  # lists and maps whose ends have not come yet

    def add(self, event: Any) -> None:
        """Raise BadInputError where an event goes too far, or is of a tag."""
        from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent, ScalarEvent

        where = f"{self._file}, line {event.start_mark.line + 1}"
        if isinstance(event, AliasEvent):
            if any(extent.anchor == event.anchor for extent in self._open):
                raise _bad(where, f"*{event.anchor} stands inside the part that it repeats; write it out")
            self._open[-1].add(self._named.get(event.anchor, _Extent()))
        elif isinstance(event, CollectionEndEvent):
            ended = self._open.pop()
            ended.depth += 1
            if ended.anchor is not None:
                self._named[ended.anchor] = ended
            self._open[-1].add(ended)
        elif isinstance(event, CollectionStartEvent | ScalarEvent):
            if event.tag is not None and str(event.tag) != "!":
                tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
                raise _bad(where, f"the tag {tag} has no meaning here; leave it out")
            if isinstance(event, ScalarEvent):
                self._open[-1].add(_Extent())
            else:
                self._open.append(_Extent(event.anchor))
        if len(self._open) + self._open[-1].depth > MOST_DEPTH:
            raise _bad(where, f"lists and maps lie more than {MOST_DEPTH} deep in one another; flatten them")
        if self._open[-1].items > MOST_ITEMS:
            raise _bad(where, f"there are more than {MOST_ITEMS:,} items, repeated ones counted; write fewer")


def _parser(shape: _Shape) -> type:
    """Make a parser like ruamel's whose events go through `shape`."""
    from ruamel.yaml.parser import RoundTripParser

    class Parser(RoundTripParser):
        """Parses a text into events."""

        def get_event(self) -> Any:
            """Return the next event, once."""
            event = super().get_event()
            shape.add(event)
            return event

    return Parser


def _check_values(tree: Any, file: Path | str) -> None:
    """Raise BadInputError for keys that aren't texts, and numbers that aren't finite."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        where = f"{file}, line {line_of(tree, [key])}"
        if isinstance(tree, dict) and not isinstance(key, str):
            word = shown(plain(key)) if not isinstance(key, dict | list | tuple) else "that begins with ? or {"
            raise _bad(where, f"the key {word} is not text; put it into quotes")
        if isinstance(value, float) and not math.isfinite(value):
            raise _bad(where, f"{key if isinstance(key, str) else 'a number'} is {value}, and must be a finite number")
        _check_values(value, file)


def _constructor() -> type:
    """Make a constructor like ruamel's that keeps dates as texts and bounds the length of numbers."""
    from ruamel.yaml.constructor import ConstructorError, RoundTripConstructor

    def bounded(make: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def number(constructor: Any, node: Any) -> Any:
            if len(node.value) > MOST_NUMBER_CHARACTERS:
                problem = f"a number of {len(node.value):,} characters is too long"
                raise ConstructorError(None, None, problem, node.start_mark)
            return make(constructor, node)

        return number

    class Constructor(RoundTripConstructor):
        """Constructs values from texts."""

    prefix = "tag:yaml.org,2002:"
    Constructor.add_constructor(f"{prefix}timestamp", lambda constructor, node: str(constructor.construct_scalar(node)))
    Constructor.add_constructor(f"{prefix}int", bounded(Constructor.construct_yaml_int))
    Constructor.add_constructor(f"{prefix}float", bounded(Constructor.construct_yaml_float))
    return Constructor


def _sentence(first: "ErrorDetails", path: Sequence[int | str], model: type[BaseModel], more: Collection[str]) -> str:
    name = ".".join(str(part) for part in path if isinstance(part, str) and part != "[key]")
    if first["type"] == "extra_forbidden":
        for part in path[:-1]:
            field = _fields(model).get(str(part))
            if field is not None:
                model = _model_within(field.annotation) or model
        keys = [key for key in _fields(model) if key not in more]
        return f"unknown key {path[-1]!r}; {nearest(str(path[-1]), keys)}"
    if first["type"] == NOT_SUPPORTED:
        return first["msg"]
    if first["type"] == "missing":
        return f"{name!r} is missing"
    if first["input"] is None or first["input"] in ([], {}):
        key = model.model_fields.get(name)
        return f"{name} is empty; give it a value" + ("" if key and key.is_required() else ", or leave it out")
    unquoted = first["type"] == "string_type" and isinstance(first["input"], bool | int | float)
    must = "text; put it into quotes" if unquoted else _MUST.get(first["type"])
    if must is not None:
        return f"{name} is {shown(first['input'])}, and must be {must.format(**first.get('ctx', {}))}"
    return f"{name} is {shown(first['input'])}: {first['msg'][:1].lower()}{first['msg'][1:]}"


def _fields(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Return a model's fields, with its `further_fields`."""
    further = getattr(model, "further_fields", dict)
    return {**model.model_fields, **further()}


def _model_within(annotation: Any) -> type[BaseModel] | None:
    """Find the model in an annotation such as `list[Annotated[Model, ...]]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for argument in getattr(annotation, "__args__", ()):
        model = _model_within(argument)
        if model is not None:
            return model
    return None
