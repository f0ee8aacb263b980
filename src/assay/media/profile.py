"""Profiles of emulated drives: YAML files of figures, each with its source.

Here only the file's form is judged. Which figures a kind of drive has, and which values are possible, the emulator
alone knows: `assay-emulator check` judges the figures, and what it finds is told with the line of the file.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator

from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.naming import nearest

# A number as it stands in the file: neither text nor yes or no, neither infinite nor undefined.
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Basis = Literal["data-sheet", "review", "assumption", "calibration", "not stated"]


EXPECTED = (
    "sequential_read_mb_s", "sequential_write_mb_s", "random_read_4k_iops_depth1", "random_read_4k_iops_depth32",
    "random_write_4k_iops_depth1", "random_write_4k_iops_depth32", "streams_2_read_mb_s", "streams_4_read_mb_s",
    "streams_8_read_mb_s", "write_cache_knee_bytes", "sequential_write_beyond_cache_mb_s",
)  # fmt: skip
"""What published measurements may be given of, by the names under which calibration measures it."""


class Figure(Frozen):
    """One figure of a drive; its unit is in its name. `basis` and `source` tell how far it can be trusted."""

    value: Number
    basis: Basis = "not stated"
    source: str = ""


class Profile(Frozen):
    """A drive as a profile file describes it.

    `title` names the drive in full, `model` in short, as answers name it. `figures` are what its emulation is built
    from, and all that it does takes `slowdown` times as long; `expected` are what published measurements show of such a
    drive, against which calibration holds the emulated one. `lines` are where the figures stand in the file.
    """

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    kind: str
    title: str = ""
    model: str = ""
    figures: Mapping[str, Figure]
    slowdown: int = 1
    expected: Mapping[str, Figure] = {}
    file: Path
    lines: Mapping[str, int] = {}

    @field_validator("figures", "expected", mode="before")
    @classmethod
    def _plain_values(cls, value: Any) -> Any:
        """A plain value is a figure without a source."""
        if not isinstance(value, dict):
            return value
        return {name: one if isinstance(one, dict) else {"value": one} for name, one in value.items()}

    @property
    def values(self) -> dict[str, float]:
        """The figures alone."""
        return {name: figure.value for name, figure in self.figures.items()}

    @property
    def for_emulator(self) -> str:
        """As the emulator reads it: JSON with plain values."""
        slowdown = {"slowdown": self.slowdown} if self.slowdown != 1 else {}
        return json.dumps({"name": self.name, "kind": self.kind, "figures": self.values, **slowdown}, sort_keys=True)

    @property
    def digest(self) -> str:
        """Tells two versions of a profile apart: the start of a SHA-256 of what the emulator reads."""
        return hashlib.sha256(self.for_emulator.encode()).hexdigest()[:16]

    def where(self, figure: str | None) -> str:
        """File and line of a figure, for errors; of the figures' heading when the figure is not in the file."""
        line = self.lines.get(figure or "", self.lines.get("figures"))
        return f"{self.file}, line {line}" if line else str(self.file)


def profile_names(folder: Path) -> list[str]:
    """The names of the shipped profiles."""
    return sorted(file.stem for file in folder.glob("*.yaml"))


def find_profile(name_or_file: str, folder: Path) -> Profile:
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


def read_profile(file: Path) -> Profile:
    """The profile in a YAML file. Raises BadInputError with the line where its form is wrong."""
    tree = _tree(file)
    if "slowdown" in tree:
        line = _line(tree, ("slowdown",))
        raise BadInputError(f"{file}, line {line}: slowdown is of an experiment's medium; leave it out of the profile")
    plain = json.loads(json.dumps(tree, default=str))
    try:
        profile = Profile.model_validate({**plain, "file": file, "lines": _lines(tree)})
    except ValidationError as error:
        raise BadInputError(_sentence(error, file, tree)) from None
    for name in profile.expected:
        if name not in EXPECTED:
            line = _line(tree, ("expected", name))
            raise BadInputError(f"{file}, line {line}: nothing is measured as {name!r}; {nearest(name, EXPECTED)}")
    return profile


def _tree(file: Path) -> Any:
    """Ruamel's tree of a file, which knows its lines."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        tree = YAML().load(file.read_text())
    except OSError as error:
        raise BadInputError(f"the drive profile {file} can't be read: {error.strerror}") from None
    except (YAMLError, UnicodeDecodeError) as error:
        raise BadInputError(f"{file} is not readable YAML: {' '.join(str(error).split())}") from None
    if not isinstance(tree, dict):
        raise BadInputError(f"{file} must be a mapping with `name`, `kind` and `figures`")
    return tree


def _lines(tree: Any) -> dict[str, int]:
    """The line (from 1) of every figure, and of the heading `figures`."""
    if "figures" not in tree:
        return {}
    figures = tree["figures"]
    names = list(figures) if isinstance(figures, dict) else []
    lines = {name: _line(tree, ("figures", name)) for name in names} | {"figures": _line(tree, ("figures",))}
    return {name: line for name, line in lines.items() if line is not None}


def _sentence(error: ValidationError, file: Path, tree: Any) -> str:
    """The first mistake of a file's form; an unknown key first, because a misspelt one also makes another missing."""
    first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    location = [str(part) for part in first["loc"]]
    line = _line(tree, location)
    where = f"{file}, line {line}" if line else str(file)
    if first["type"] == "missing":
        return f"{where}: {'.'.join(location)} is missing"
    if first["type"] == "extra_forbidden":
        known: Sequence[str] = list(Figure.model_fields if len(location) > 1 else Profile.model_fields)
        shown = [key for key in known if key not in {"file", "lines"}]
        return f"{where}: unknown key {location[-1]!r}; {nearest(location[-1], shown)}"
    if first["type"] == "literal_error":
        return f"{where}: {'.'.join(location)} is {first['input']!r}, and must be {first['ctx']['expected']}"
    return f"{where}: {'.'.join(location)} is {first['input']!r}: {first['msg'].lower()}"


def _line(tree: Any, location: Sequence[str]) -> int | None:
    """The line of the last part of a location that is in the tree."""
    line: int | None = None
    for part in location:
        if not hasattr(tree, "lc") or part not in tree:
            break
        line = tree.lc.key(part)[0] + 1
        tree = tree[part]
    return line
