"""The process that holds free memory: `python -m assay.memory.holder FILE BYTES MOST_FREE_BYTES`.

It maps a file that is one hole, and looks at as much of it as leaves little memory free. Its pages are clean, so that
the kernel takes them for anything else as soon as that is needed, and counts them as available; and they are mapped, so
that they stay when the page cache is dropped. What others free is taken again within moments, before the host has it.
"""

import mmap
import os
import sys
import time
from itertools import cycle, islice
from pathlib import Path

from assay.machine import memory_bytes

CHUNK_BYTES = 64 << 20
EVERY_S = 0.25
FRUITLESS_S = 10.0
"""How long it rests where all is mapped and much is free all the same: in a container that may use no more."""

POPULATE_READ = 22
"""Map all pages of a range, as if each were read (MADV_POPULATE_READ in linux/mman.h, since Linux 5.14)."""

READY = "ready"
"""What it writes, with a line's end, when little is free for the first time."""


def main(file: Path, size: int, most_free: int) -> None:
    """Hold memory until the process is ended. Raises OSError where the kernel can't do it."""
    Path("/proc/self/oom_score_adj").write_text("1000")  # whoever else needs memory comes first
    os.setpriority(os.PRIO_PROCESS, 0, 19)
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), size, mmap.MAP_SHARED, mmap.PROT_READ) as held:
        places = cycle(range(0, size, CHUNK_BYTES))
        told = False
        while True:
            fruitless = True
            for place in islice(places, -(-size // CHUNK_BYTES)):
                if memory_bytes("MemFree") <= most_free:
                    fruitless = False
                    break
                held.madvise(POPULATE_READ, place, min(CHUNK_BYTES, size - place))
            if not told:
                sys.stdout.write(f"{READY}\n")
                sys.stdout.flush()
                told = True
            time.sleep(FRUITLESS_S if fruitless else EVERY_S)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
