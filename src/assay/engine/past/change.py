"""A cheaper change than a drive, and from which amounts on one is worth it, whatever the engine."""

from typing import NamedTuple

MUCH_BYTES = 64 << 20
"""Less than so much is not worth a change."""
SMALL_PIECE_BYTES, MANY_PIECES = 64 << 10, 1000


class Change(NamedTuple):
    """A change, and the counters that suggest it."""

    kind: str
    change: str
    counter: str
