"""The kernel's trace buffers in their binary form: pages of events, and the fields of the two block events.

Sources: Documentation/trace/ring-buffer-design.rst and include/linux/ring_buffer.h (the event header: 5 bits of type or
length in words, 27 bits of time since the event before), Documentation/trace/events.rst (the format files).
"""

import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.probe.trace.records import DISCARD, FLUSH, READ, WRITE

if TYPE_CHECKING:
    import numpy as np

HEADER_WORDS = 4
_COMMIT_MASK = (1 << 27) - 1
_LONGEST_SHORT, _PADDING, _TIME_EXTEND = 28, 29, 30
_STAMP_BITS = 59
_FIELD = re.compile(r"field:[^;]*?\b(\w+)(?:\[\d*\])?;\s*offset:(\d+);\s*size:(\d+);")

UNKNOWN = 255
_KINDS = {"R": READ, "W": WRITE, "F": FLUSH, "D": DISCARD}
_ISSUE, _COMPLETE = 0, 1


class Layout(NamedTuple):
    """Where an event's fields are, as its format file tells: its number, and byte offsets."""

    number: int
    device: int
    sector: int
    sectors: int
    direction: int


class Events(NamedTuple):
    """Events of both kinds in the order of their times (ns): whether ended (0 issue, 1 completion), and of what."""

    time_ns: "np.ndarray[Any, Any]"
    ended: "np.ndarray[Any, Any]"
    device: "np.ndarray[Any, Any]"
    sector: "np.ndarray[Any, Any]"
    sectors: "np.ndarray[Any, Any]"
    kind: "np.ndarray[Any, Any]"


def parse_format(text: str) -> Layout:
    """Raises ValueError when the format lacks a field that is needed, or has it where it can't be read from."""
    number = re.search(r"^ID: (\d+)$", text, re.MULTILINE)
    fields = {name: (int(offset), int(size)) for name, offset, size in _FIELD.findall(text)}
    wanted = {"dev": 4, "sector": 8, "nr_sector": 4}
    wrong = [name for name, size in wanted.items() if fields.get(name, (1, 0))[1] != size or fields[name][0] % 4]
    if number is None or wrong or "rwbs" not in fields:
        raise ValueError(f"the kernel's block events have another form: {', '.join(wrong) or 'no number or no rwbs'}")
    places = (fields[name][0] for name in ("dev", "sector", "nr_sector", "rwbs"))
    return Layout(int(number[1]), *places)


def positions(page: bytes) -> tuple[list[int], list[int]]:
    """Where each event's data begins, in bytes from the page's beginning, and its time in nanoseconds."""
    words = memoryview(page[: len(page) & ~3]).cast("I")
    stamp = int.from_bytes(page[:8], sys.byteorder)
    end = min(len(words), HEADER_WORDS + (int.from_bytes(page[8:16], sys.byteorder) & _COMMIT_MASK) // 4)
    places, stamps, at = [], [], HEADER_WORDS
    while at < end:
        header = words[at]
        kind, delta = header & 31, header >> 5
        if kind <= _LONGEST_SHORT:
            stamp += delta
            begin = at + 1 if kind else at + 2
            places.append(begin * 4)
            stamps.append(stamp)
            at += 1 + (kind or (words[at + 1] + 3) // 4)
        elif kind == _PADDING:
            if delta == 0:
                break
            stamp += delta
            at += 1 + (words[at + 1] + 3) // 4
        else:
            value = (words[at + 1] << 27) + delta
            stamp = stamp + value if kind == _TIME_EXTEND else (stamp >> _STAMP_BITS << _STAMP_BITS) + value
            at += 2
    return places, stamps


def decode(pages: Sequence[bytes], issue: Layout, complete: Layout) -> Events:
    """The block events of some pages, whatever processor they are of."""
    import numpy as np

    places: list[int] = []
    stamps: list[int] = []
    base = 0
    for page in pages:
        within, times = positions(page)
        places += [base + place for place in within]
        stamps += times
        base += len(page)
    content = b"".join(pages)
    words = np.frombuffer(content[: len(content) & ~3], np.uint32)
    place, stamp = np.array(places, np.int64), np.array(stamps, np.int64)
    numbers = words[place // 4] & 0xFFFF if len(place) else np.zeros(0, np.uint32)
    parts = [
        _fields(content, words, place[numbers == layout.number], stamp[numbers == layout.number], layout, ended)
        for layout, ended in ((issue, _ISSUE), (complete, _COMPLETE))
    ]
    together = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    order = np.lexsort((together[1], together[0]))
    return Events(*(column[order] for column in together))


def _fields(
    content: bytes,
    words: "np.ndarray[Any, Any]",
    place: "np.ndarray[Any, Any]",
    stamp: "np.ndarray[Any, Any]",
    layout: Layout,
    ended: int,
) -> Events:
    import numpy as np

    octets = np.frombuffer(content, np.uint8)
    word = place // 4
    first, second = octets[place + layout.direction], octets[place + layout.direction + 1]
    # A leading F says that the drive's cache is flushed before; what follows is the request's own kind.
    known = np.full(256, UNKNOWN, np.uint8)
    for letter, kind in _KINDS.items():
        known[ord(letter)] = kind
    kinds = np.where((first == ord("F")) & (known[second] != UNKNOWN), known[second], known[first])
    kinds = kinds.astype(np.uint8)
    low, high = words[word + layout.sector // 4], words[word + layout.sector // 4 + 1]
    return Events(
        time_ns=stamp,
        ended=np.full(len(place), ended, np.uint8),
        device=words[word + layout.device // 4],
        # A flush has no place; the kernel writes 0 at its issue and -1 at its completion.
        sector=np.where(kinds == FLUSH, 0, low.astype(np.int64) | (high.astype(np.int64) << 32)),
        sectors=words[word + layout.sectors // 4],
        kind=kinds,
    )
