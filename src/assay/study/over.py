"""Claims that are said of all levels of a field, of which one alone shows nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

from assay.study.claim import Compare, Finding, Flat, Steps
from assay.study.point import Field, Measured
from assay.study.shape import Like


@dataclass(frozen=True)
class Over:
    """A claim that is not seen unless it can be seen at `least` levels of a field."""

    field: Field
    claim: Compare | Flat | Steps | Like
    least: int = 2

    def findings(self, measured: Measured) -> Iterator[Finding]:
        """The claim's, at each level."""
        levels = dict.fromkeys(getattr(point, self.field) for point in measured.where(self.claim.where))
        every = [
            list(replace(self.claim, where={**self.claim.where, self.field: level}).findings(measured))
            for level in levels
        ]
        if sum(map(bool, every)) >= self.least:
            yield from chain(*every)
