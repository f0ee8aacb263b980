"""A workload's options: texts as an experiment has them, checked before anything starts."""

import math
from collections.abc import Mapping

from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.model.sizes import size_of
from assay.model.trial import WorkloadSpec

MOST_DIGITS = 18
"""What Java's `long` holds, whatever the digits are."""

_TRUE, _FALSE = {"true", "yes", ""}, {"false", "no"}


class Options:
    """The options of one workload; those that its spec leaves out have their defaults."""

    def __init__(self, spec: WorkloadSpec, defaults: Mapping[str, str]) -> None:
        """Raises BadInputError for an option that is unknown."""
        for name in spec.options:
            if not defaults:
                raise BadInputError(f"workload {spec.name} has no options; leave {name!r} out")
            if name not in defaults:
                raise BadInputError(f"workload {spec.name} has no option {name!r}; {nearest(name, list(defaults))}")
        self._workload = spec.name
        self._texts = {**defaults, **spec.options}

    def text(self, name: str) -> str:
        """As it stands."""
        return self._texts[name]

    def count(self, name: str, least: int = 1) -> int:
        """A whole number, at least `least`. Raises BadInputError."""
        text = self._texts[name]
        if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS) or int(text) < least:
            raise self.refusal(name, f"a whole number from {least} on")
        return int(text)

    def number(self, name: str, low: float, high: float) -> float:
        """A number above `low` and below `high`. Raises BadInputError."""
        try:
            found = float(self._texts[name])
        except ValueError:
            found = math.nan
        if not low < found < high:
            raise self.refusal(name, f"a number above {low:g}" + (f" and below {high:g}" if high < math.inf else ""))
        return found

    def size_bytes(self, name: str) -> int:
        """A size in bytes, at least one. Raises BadInputError."""
        size = size_of(self._texts[name])
        if not size:
            raise self.refusal(name, "a size such as 128MiB (1024s) or 800MB (1000s)")
        return size

    def flag(self, name: str) -> bool:
        """Whether it is on. Raises BadInputError."""
        text = self._texts[name].lower()
        if text not in _TRUE | _FALSE:
            raise self.refusal(name, "true or false")
        return text in _TRUE

    def refusal(self, name: str, wanted: str) -> BadInputError:
        """What is wrong with an option, in a sentence."""
        return BadInputError(f"workload {self._workload}: {name} is {self._texts[name]!r}, and must be {wanted}")
