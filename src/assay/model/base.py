"""What all the nouns share: they are frozen, closed, and travel as JSON."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A value: immutable, refuses unknown fields, reads and writes JSON."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class AssayError(Exception):
    """Something went wrong while a trial ran; the message is one clear sentence."""


class BadInputError(AssayError):
    """The user's input can't be used; says what, where and how to mend it. Raised before anything starts."""
