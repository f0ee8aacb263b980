"""Sizes in bytes as people write them: `4GiB` (1024s), `500GB` (1000s), `800m`, or a number of bytes."""

import re

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*([kmgtpe]?)(i?)(b?)\s*", re.IGNORECASE)
_PREFIXES = " kmgtpe"
MOST_BYTES = 2**63 - 1

HOW = "a size such as 4GiB (1024s) or 500GB (1000s)"


def size_of(value: object) -> int | None:
    """Bytes, 0 or more; None for what is no size. The whole text must be one."""
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return int(value) if 0 <= value <= MOST_BYTES else None
    return None


def _parsed(text: str) -> int | None:
    found = _SIZE.fullmatch(text) if len(text) < 100 else None
    if found is None or (found[3] and not found[2]):
        return None
    number, prefix = found[1], _PREFIXES.index(found[2].lower() or " ")
    unit = (1024 if found[3] else 1000) ** prefix
    size = int(number) * unit if number.isdecimal() else int(float(number) * unit)
    return size if size <= MOST_BYTES else None
