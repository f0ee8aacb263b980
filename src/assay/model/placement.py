"""Placements: which media serve which role, with the fraction of the role's bytes on each."""

from collections.abc import Mapping
from typing import Literal

from pydantic import model_validator

from assay.model.base import Frozen

Role = Literal["input", "intermediate", "output"]
ROLES: tuple[Role, ...] = ("input", "intermediate", "output")

TOLERANCE_SHARE = 0.05
"""A landed share that differs by more than this from the wanted one is doubted."""

SEEN_SHARE = 0.9
"""Less than this of what should have been found says too little about the rest."""

MOST_DIRECTORIES = 20
"""Of one role, and so the most media that can share it."""

MATERIAL_BYTES = 1 << 20
"""Less than this can't be divided in a way that any disk would notice (a count of triangles is 7 bytes)."""


class Placement(Frozen):
    """For each role the fraction of its bytes on each medium, by the media's names.

    Fractions are above 0 and add up to 1 per role. `intermediate` is what the NodeManager's local directories take
    (spills, merges, map outputs); `input` and `output` lie in HDFS.
    """

    name: str
    input: Mapping[str, float]
    intermediate: Mapping[str, float]
    output: Mapping[str, float]

    @model_validator(mode="after")
    def _fractions_add_up(self) -> "Placement":
        for role in ROLES:
            fractions = self.of(role)
            if not fractions or min(fractions.values()) <= 0 or abs(sum(fractions.values()) - 1) > 1e-6:
                raise ValueError(f"{role}'s fractions must be above 0 and add up to 1, and they are {dict(fractions)}")
        return self

    def of(self, role: Role) -> Mapping[str, float]:
        """The fractions of one role."""
        by_role: dict[Role, Mapping[str, float]] = {
            "input": self.input, "intermediate": self.intermediate, "output": self.output,
        }  # fmt: skip
        return by_role[role]

    @property
    def media(self) -> tuple[str, ...]:
        """The names of all media in use, in the order of the roles."""
        return tuple(dict.fromkeys(name for role in ROLES for name in self.of(role)))


def pure(medium: str) -> Placement:
    """All of a trial's bytes on one medium."""
    whole = {medium: 1.0}
    return Placement(name=medium, input=whole, intermediate=whole, output=whole)


class Landed(Frozen):
    """Where a role's bytes really lay at one moment.

    `when` is `staged` (before the jobs) or `run` (after them). `shares` are fractions of `bytes` by medium;
    `bytes` are those of block files for input and output, those written into local directories for intermediates.
    `of_bytes` are those that should have been found: the blocks' lengths as the NameNode knows them, what the tasks
    counted as written; None where nobody counted. `trouble` is why the look was not a whole one.
    """

    role: Role
    when: Literal["staged", "run"]
    bytes: int
    shares: Mapping[str, float]
    of_bytes: int | None = None
    trouble: str | None = None

    @property
    def unseen(self) -> bool:
        """Whether too little was found to judge by."""
        missed = 0 if self.of_bytes is None else self.of_bytes - self.bytes
        return missed > max(MATERIAL_BYTES, (1 - SEEN_SHARE) * (self.of_bytes or 0))

    def error(self, placement: Placement) -> float:
        """The largest difference between a landed and a wanted share, 0 to 1; 0 for less than MATERIAL_BYTES."""
        if self.bytes < MATERIAL_BYTES:
            return 0.0
        wanted = placement.of(self.role)
        names = {*wanted, *self.shares}
        return max(abs(self.shares.get(name, 0.0) - wanted.get(name, 0.0)) for name in names)
