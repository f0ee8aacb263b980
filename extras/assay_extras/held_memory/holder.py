"""The process that holds free memory: `python -m assay_extras.held_memory.holder FILE BYTES MOST_FREE_BYTES`.

It maps a file that is one hole, and looks at as much of it as leaves little memory free. Its pages are clean, so that
the kernel takes them for anything else as soon as that is needed, and counts them as available; and they are mapped, so
that they stay when the page cache is dropped. What others free is taken again, before the host has most of it.
"""

import errno
import mmap
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path

from assay.host.machine import memory_bytes

CHUNK_BYTES = 64 << 20
EVERY_S = 0.25
FRUITLESS_S = 10.0
"""How long it rests where much stays free whatever it maps."""

POPULATE_READ = 22
"""madvise(2): map all pages, as if each were read (since Linux 5.14)."""

READY = "ready"
"""What it writes, with a line's end, when it holds for the first time what it can."""


def main(file: Path, size: int, most_free: int) -> None:
    """Hold memory until the process is ended. Ends by itself, and says why, where it can't hold enough."""
    Path("/proc/self/oom_score_adj").write_text("1000", encoding="utf-8")  # whoever else needs memory comes first
    count = -(-size // CHUNK_BYTES)
    with hole(file, size) as populate:
        populate(0)
        places = cycle(range(count))
        enough = (most_free + free_bytes()) // 2
        while free_bytes() > most_free and fill(populate, islice(places, count), free_bytes, most_free):
            pass
        if free_bytes() > max(most_free, enough):
            sys.exit("much stays free whatever is mapped: something, as of a container, bounds what this may use")
        sys.stdout.write(f"{READY}\n")
        sys.stdout.flush()
        while True:
            useful = fill(populate, islice(places, count), free_bytes, most_free)
            time.sleep(EVERY_S if useful else FRUITLESS_S)


@contextmanager
def hole(file: Path, size: int) -> Iterator[Callable[[int], None]]:
    """Map a file of that size without data; what maps the pages of its chunk of a number."""
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), size, mmap.MAP_SHARED, mmap.PROT_READ) as mapping:

        def populate(number: int) -> None:
            begin = number * CHUNK_BYTES
            length = min(CHUNK_BYTES, size - begin)
            try:
                mapping.madvise(POPULATE_READ, begin, length)
            except OSError as error:
                sys.exit("Linux 5.14 or newer is needed" if error.errno == errno.EINVAL else f"madvise: {error}")

        yield populate


def fill(populate: Callable[[int], None], chunks: Iterable[int], free: Callable[[], int], most_free: int) -> bool:
    """Map chunks until little memory is free; whether that, or less than before, is free then."""
    before = left = free()
    for chunk in chunks:
        if left <= most_free:
            break
        populate(chunk)
        left = free()
    return left <= most_free or before - left >= CHUNK_BYTES


def free_bytes() -> int:
    """Memory that nobody uses, the page cache neither."""
    return memory_bytes("MemFree")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
