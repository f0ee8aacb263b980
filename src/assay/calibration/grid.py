"""Which accesses are measured: few that say much, in an order in which each disturbs the next ones least.

Blocks and depths span what Hadoop does: 4 KiB index reads to 1 MiB spills, one stream per task. The brief form varies
one thing at a time around four corners; the full form is the whole product. The named form has only what profiles have
names for.
"""

from itertools import product

from assay.model.calibration import Access, Form

KIB, MIB = 1 << 10, 1 << 20
STREAM_BLOCK_BYTES = 128 * KIB

_NAMED_SEQUENTIAL, _NAMED_RANDOM = [(MIB, 8)], [(4 * KIB, 1), (4 * KIB, 32)]
_BRIEF_SEQUENTIAL = [(4 * KIB, 1), (4 * KIB, 32), (64 * KIB, 1), (MIB, 1), (MIB, 8)]
_BRIEF_RANDOM = [(4 * KIB, 1), (4 * KIB, 4), (4 * KIB, 32), (64 * KIB, 1), (64 * KIB, 32), (MIB, 1)]
_PRODUCT = list(product([4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB], [1, 2, 4, 8, 16, 32]))
_CORNERS = {
    "named": {"sequential": _NAMED_SEQUENTIAL, "random": _NAMED_RANDOM},
    "brief": {"sequential": _BRIEF_SEQUENTIAL, "random": _BRIEF_RANDOM},
    "full": {"sequential": _PRODUCT, "random": _PRODUCT},
}
_STREAMS = {"named": [1, 2, 4, 8], "brief": [1, 2, 4, 8], "full": [1, 2, 3, 4, 6, 8]}
# Of a disk's whole span: a rotating one is faster outside, where it begins, than inside. The first is in the corners.
_ZONES = [0.25, 0.5, 0.75, 0.97]


def direct_accesses(form: Form) -> list[Access]:
    """With O_DIRECT: the device itself. All reads before all writes, sequential before random."""
    return [
        _access(direction, pattern, block_bytes, depth=depth)
        for direction in ("read", "write")
        for pattern, corners in _CORNERS[form].items()
        for block_bytes, depth in corners
    ]


def zone_accesses() -> list[Access]:
    """Sequential reads along the span of a block device; with the one at its beginning they give its average."""
    return [
        _access("read", "sequential", MIB, depth=8, span="device", start_share=start_share) for start_share in _ZONES
    ]


def buffered_accesses(form: Form) -> list[Access]:
    """Through the page cache, as Hadoop does it. Those written without fsync show the memory, not the medium."""
    reads = [
        *(
            _access("read", "sequential", STREAM_BLOCK_BYTES, streams=streams, buffered=True)
            for streams in _STREAMS[form]
        ),
        _access("read", "random", 4 * KIB, buffered=True),
    ]
    if form == "named":
        return reads[:-1]
    logs = [_access("write", "sequential", block_bytes, buffered=True, fsync="each") for block_bytes in (4 * KIB, MIB)]
    writes = [
        _access("write", "random", 4 * KIB, buffered=True, fsync="each"),
        _access("write", "random", 4 * KIB, buffered=True, fsync="end"),
        *(
            _access("write", "sequential", MIB, streams=streams, buffered=True, fsync="end")
            for streams in _STREAMS[form]
        ),
        _access("write", "sequential", MIB, buffered=True),
    ]
    return [*reads, *logs, *writes]


def weight(access: Access) -> float:
    """How much more time than others an access deserves: those that have names in profiles are what is judged."""
    random_corner = access.pattern == "random" and access.block_bytes == 4 * KIB and access.depth in {1, 32}
    sequential_corner = access.pattern == "sequential" and access.block_bytes == MIB and access.depth == 8
    return 2.0 if (random_corner or sequential_corner) and not access.buffered else 1.0


def _access(direction: str, pattern: str, block_bytes: int, **rest: object) -> Access:
    return Access.model_validate({"direction": direction, "pattern": pattern, "block_bytes": block_bytes, **rest})
