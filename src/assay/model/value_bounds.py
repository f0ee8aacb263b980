"""Bounds of what Hadoop properties may be set to."""

import re
from typing import NamedTuple

from assay.model.naming import lettered_size

MOST_INT = 2**31 - 1
MOST_LONG = 2**63 - 1
_SHARE = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,20})?([eE]-?[0-9]{1,3})?[fFdD]?")


class ValueBounds(NamedTuple):
    """The least and the most, as numbers; `whole` ones have no fraction, a `size` may have a unit (`64m`)."""

    least: float
    most: float = MOST_INT
    whole: bool = True
    size: bool = False
    besides: tuple[str, ...] = ()
    """Texts that have a meaning of their own."""
    per: str = ""
    """What a number may be for each of: `3 per core`."""

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        if self.size:
            kind = "a size in bytes (a unit such as 64m is allowed)"
        end = " on" if self.most >= MOST_INT else f" to {self.most:g}"
        besides = f", or {' or '.join(self.besides)} for Hadoop's own choice" if self.besides else ""
        each = f", which may be for each {self.per} (3 per {self.per})" if self.per else ""
        return f"{kind} from {self.least:g}{end}{each}{besides}"

    def hold(self, text: str) -> bool:
        """Whether a property's value lies within."""
        if text in self.besides:
            return True
        text = text.removesuffix(f" per {self.per}") if self.per else text
        if not self.whole:
            return _SHARE.fullmatch(text) is not None and self.least <= float(text.rstrip("fFdD")) <= self.most
        number = lettered_size(text) if text.lstrip("-").isdecimal() or (self.size and "." not in text) else None
        return number is not None and self.least <= number <= self.most
