"""What Hadoop calls its properties now: `deprecated.txt` is Hadoop's own list of its deprecated names."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def renamed() -> Mapping[str, str]:
    """What Hadoop calls a property now, by its deprecated name; several names apart by commas."""
    lines = files("assay.model").joinpath("deprecated.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split() for line in lines if not line.startswith("#"))
