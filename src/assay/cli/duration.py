"""Durations on the command line."""

import re
from typing import Any

import click

_UNITS = {"h": 3600, "min": 60, "m": 60, "s": 1}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(h|min|m|s)\s*")


class Duration(click.ParamType[float]):
    """`2h`, `90min`, `1h30m`: seconds, above 0."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails on anything else."""
        if isinstance(value, float):
            return value
        parts = _PART.findall(str(value))
        seconds = sum(float(count) * _UNITS[unit] for count, unit in parts)
        if _PART.sub("", str(value)) or seconds <= 0:
            self.fail(f"{value!r} is no duration; write it as 2h, 90min or 1h30min", param, ctx)
        return seconds
