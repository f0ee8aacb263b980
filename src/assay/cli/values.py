"""Values on the command line: durations, numbers and paths, each refused in one sentence before anything starts."""

import math
import re
from pathlib import Path
from typing import Any

import click

_NUMBER = r"([0-9]{1,9}(?:\.[0-9]{1,9})?)"
_PARTS = re.compile(rf"(?:{_NUMBER} ?h)? ?(?:{_NUMBER} ?m(?:in)?)? ?(?:{_NUMBER} ?s)?")
_UNITS_S = (3600, 60, 1)
_LONGEST_TEXT = 100
_MOST_S = 366 * 24 * 3600
_HOW = "write it as 2h, 90min or 1h30min"


class Duration(click.ParamType[float]):
    """`2h`, `90min`, `1h30m`: seconds, from 1 to those of a year."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails on anything else."""
        if isinstance(value, float):
            return value
        text = str(value).strip()
        parts = _PARTS.fullmatch(text) if text and len(text) < _LONGEST_TEXT else None
        if parts is None:
            self.fail(f"{value!r} is no duration; {_HOW}", param, ctx)
        seconds = sum(float(count or 0) * unit_s for count, unit_s in zip(parts.groups(), _UNITS_S, strict=True))
        if not 1 <= seconds <= _MOST_S:
            self.fail(f"{value!r} is not between a second and a year; {_HOW}", param, ctx)
        return seconds


class Number(click.ParamType[float]):
    """A finite number."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails on anything else."""
        try:
            found = float(value)
        except ValueError:
            found = math.nan
        if not math.isfinite(found):
            self.fail(f"{value!r} is no finite number", param, ctx)
        return found


class UserPath(click.ParamType[Path]):
    """A path as a user types it: one that something may be at."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Raises BadInputError for what can't be a path."""
        from assay.files import possible
        from assay.model.errors import BadInputError

        if str(value) == "":
            self.fail("it is empty; name a file or folder", param, ctx)
        try:
            return possible(Path(value))
        except BadInputError as error:
            self.fail(str(error), param, ctx)
