"""Reads profiles of emulated drives: YAML files of figures, each with its source.

Here only the file's form is judged. Which figures a kind of drive has, and which values are possible, the emulator
alone knows: `assay-emulator check` judges the figures, and what it finds is reported with the line of the file.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from assay.host.files import read_text
from assay.host.yaml_file import YamlFile
from assay.model.drive_profile import EXPECTED, PROFILE_FILES, DriveProfile
from assay.model.errors import BadInputError
from assay.model.naming import nearest

_OURS = frozenset({"file", "lines"})
"""Fields of a profile that no file gives."""

_KEYS = [key for key in DriveProfile.model_fields if key not in _OURS]


def profile_names(folder: Path) -> list[str]:
    """The names of the shipped profiles."""
    return sorted(file.stem for file in folder.glob("*.yaml"))


def names_file(name_or_file: str) -> bool:
    """Whether a text that means a profile is the path of a file."""
    return "/" in name_or_file or Path(name_or_file).suffix in PROFILE_FILES


def find_profile(name_or_file: str, folder: Path, more_names: Sequence[str] = ()) -> DriveProfile:
    """A shipped profile by its name, or a file of the user's.

    Raises BadInputError, with the nearest names, also of `more_names`, which the caller takes for drives, too.
    """
    names = profile_names(folder)
    if name_or_file in names:
        return read_profile(folder / f"{name_or_file}.yaml")
    if names_file(name_or_file):
        return read_profile(Path(name_or_file))
    hint = nearest(name_or_file, [*more_names, *names], most=3)
    raise BadInputError(f"there is no drive profile {name_or_file!r}; {hint} (or give a YAML file)")


def read_profile(file: Path) -> DriveProfile:
    """The profile in a YAML file. Raises BadInputError with the line where its form is wrong."""
    return _profile_in(file, read_text(file))


@lru_cache
def _profile_in(file: Path, text: str) -> DriveProfile:
    """The profile in a file's text. A plan names the same drives many times, and YAML is slow to read."""
    source = YamlFile(file, text)
    if not isinstance(source.tree, dict):
        raise BadInputError(f"{file} must be a mapping with `name`, `kind` and `figures`")
    if "slowdown" in source.tree:
        raise source.error_at(["slowdown"], "slowdown is of an experiment's medium; leave it out of the profile")
    for key in _OURS & set(source.tree):
        raise source.error_at([key], f"unknown key {key!r}; {nearest(key, _KEYS)}")
    figures = source.tree.get("figures")
    places = [["figures"], *(["figures", name] for name in (figures if isinstance(figures, dict) else ()))]
    lines = {keys[-1]: line for keys in places if (line := source.line(keys)) is not None}
    profile = source.validated(DriveProfile, file=file, lines=lines)
    for name in profile.expected:
        if name not in EXPECTED:
            raise source.error_at(["expected", name], f"nothing is measured as {name!r}; {nearest(name, EXPECTED)}")
    return profile
