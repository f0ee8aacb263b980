"""What all the nouns share: they are frozen, closed, and travel as JSON."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value: immutable, refuses unknown fields, reads and writes JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")
