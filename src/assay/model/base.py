"""What all the nouns share: they are frozen, closed, and travel as JSON."""

from pydantic import BaseModel, ConfigDict

from assay.model.errors import AssayError, BadInputError

__all__ = ["AssayError", "BadInputError", "Frozen"]


class Frozen(BaseModel):
    """A value: immutable, refuses unknown fields, reads and writes JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")
