"""What all the nouns share: they are frozen, closed, and travel as JSON."""

from typing import Self

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value: immutable, refuses unknown fields, reads and writes JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __copy__(self) -> Self:
        """What was worked out of the original and kept may not hold for a copy, which `model_copy` then changes."""
        copied = super().__copy__()
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied
