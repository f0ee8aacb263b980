"""Reads profiles of emulated drives: YAML files of figures, each with its source.

Here only the file's form is judged. Which figures a kind of drive has, and which values are possible, the emulator
alone knows: `assay-emulator check` judges the figures, and what it finds is told with the line of the file.
"""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assay.host.yaml_file import line_of, plain, read_tree, shown
from assay.model.drive_profile import EXPECTED, DriveProfile, Figure
from assay.model.errors import BadInputError
from assay.model.naming import nearest

_OURS = frozenset({"file", "lines"})
"""Fields of a profile that no file gives."""

_KEYS = [key for key in DriveProfile.model_fields if key not in _OURS]

_MUST = {
    "literal_error": "{expected}", "float_type": "a number", "string_type": "a text", "dict_type": "a map",
    "mapping_type": "a map", "model_type": "a map", "string_too_long": "of at most {max_length} characters",
    "string_pattern_mismatch": "made of letters, digits, '.', '_' and '-', with a letter or digit first",
}  # fmt: skip


def profile_names(folder: Path) -> list[str]:
    """The names of the shipped profiles."""
    return sorted(file.stem for file in folder.glob("*.yaml"))


def find_profile(name_or_file: str, folder: Path) -> DriveProfile:
    """A shipped profile by its name, or a file of the user's. Raises BadInputError, with the nearest name."""
    names = profile_names(folder)
    if name_or_file in names:
        return read_profile(folder / f"{name_or_file}.yaml")
    file = Path(name_or_file)
    if file.suffix in {".yaml", ".yml"} or "/" in name_or_file:
        return read_profile(file)
    raise BadInputError(
        f"there is no drive profile {name_or_file!r}; {nearest(name_or_file, names)}, or give a YAML file of your own"
    )


def read_profile(file: Path) -> DriveProfile:
    """The profile in a YAML file. Raises BadInputError with the line where its form is wrong."""
    tree = read_tree(file)
    if not isinstance(tree, dict):
        raise BadInputError(f"{file} must be a mapping with `name`, `kind` and `figures`")
    if "slowdown" in tree:
        line = line_of(tree, ("slowdown",))
        raise BadInputError(f"{file}, line {line}: slowdown is of an experiment's medium; leave it out of the profile")
    for key in _OURS & set(tree):
        raise BadInputError(f"{file}, line {line_of(tree, (key,))}: unknown key {key!r}; {nearest(key, _KEYS)}")
    try:
        profile = DriveProfile.model_validate({**plain(tree), "file": file, "lines": _lines(tree)})
    except ValidationError as error:
        raise BadInputError(_sentence(error, file, tree)) from None
    for name in profile.expected:
        if name not in EXPECTED:
            line = line_of(tree, ("expected", name))
            raise BadInputError(f"{file}, line {line}: nothing is measured as {name!r}; {nearest(name, EXPECTED)}")
    return profile


def _lines(tree: Any) -> dict[str, int]:
    """The line (from 1) of every figure, and of the heading `figures`."""
    if "figures" not in tree:
        return {}
    figures = tree["figures"]
    names = list(figures) if isinstance(figures, dict) else []
    lines = {name: line_of(tree, ("figures", name)) for name in names} | {"figures": line_of(tree, ("figures",))}
    return {name: line for name, line in lines.items() if line is not None}


def _sentence(error: ValidationError, file: Path, tree: Any) -> str:
    """The first mistake of a file's form; an unknown key first, because a misspelt one also makes another missing."""
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    location = [str(part) for part in first["loc"]]
    line = line_of(tree, location)
    where = f"{file}, line {line}" if line else str(file)
    if first["type"] == "missing":
        return f"{where}: {'.'.join(location)} is missing"
    if first["type"] == "extra_forbidden":
        known = list(Figure.model_fields) if len(location) > 1 else _KEYS
        return f"{where}: unknown key {location[-1]!r}; {nearest(location[-1], known)}"
    must = _MUST.get(first["type"])
    if must is not None:
        must = must.format(**first.get("ctx", {}))
        return f"{where}: {'.'.join(location)} is {shown(first['input'])}, and must be {must}"
    return f"{where}: {'.'.join(location)} is {shown(first['input'])}: {first['msg'].lower()}"
