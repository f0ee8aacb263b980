"""How fast 1 to 16 files are read, and written, at once on an emulated drive, through its file system.

`python benchmarks/streams.py wd10ezex [wd10ezex:slower]`, as root, in a minute a profile. The backing file lies in
/dev/shm and takes 4 GiB there.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from threading import Barrier, Event, Thread

from assay.cli.context import find_installation
from assay.media.emulated.medium import EmulatedMedium
from assay.model.trial import MediumSpec

STREAMS = (1, 2, 4, 8, 16)
MIB = 1 << 20
READ_MIB, WRITTEN_MIB, LONGEST_S = 192, 512, 5.0


def at_once(streams: int, move: Callable[[int, Event], int]) -> float:
    """Move bytes in so many threads until one has no more, or for `LONGEST_S`; returns MB/s of all together."""
    moved, ended, begin = [0] * streams, Event(), Barrier(streams + 1)

    def work(number: int) -> None:
        begin.wait()
        moved[number] = move(number, ended)
        ended.set()

    threads = [Thread(target=work, args=(number,)) for number in range(streams)]
    for thread in threads:
        thread.start()
    begin.wait()
    began_s = time.monotonic()
    ended.wait(LONGEST_S)
    ended.set()
    for thread in threads:
        thread.join()
    return sum(moved) / 1e6 / (time.monotonic() - began_s)


def write(file: Path, size_mib: int, piece: bytes) -> int:
    """Write a file and wait until the drive has it; returns its bytes."""
    with file.open("wb", buffering=0) as written:
        for _ in range(size_mib):
            written.write(piece)
        os.fdatasync(written.fileno())
    return size_mib * MIB


def read(file: Path, ended: Event) -> int:
    """Read a file until another stream has ended; returns how many bytes."""
    buffer, total = bytearray(MIB // 8), 0
    with file.open("rb", buffering=0) as stream:
        while not ended.is_set() and (count := stream.readinto(buffer)):
            total += count
    return total


def measure(profile: str) -> None:
    """Print a line for each number of streams."""
    spec = MediumSpec(name="drive", kind="emulated", profile=profile, path="/dev/shm")  # noqa: S108 - memory
    medium, piece = EmulatedMedium(spec, find_installation()), os.urandom(MIB)
    with medium.attached() as folder:
        for number in range(max(STREAMS)):
            write(folder / f"{number}", READ_MIB, piece)
        for streams in STREAMS:
            medium.make_cold()
            read_mb_s = at_once(streams, lambda number, ended: read(folder / f"{number}", ended))
            medium.make_cold()
            each_mib = WRITTEN_MIB // streams
            written_mb_s = at_once(
                streams, lambda number, _, size=each_mib: write(folder / f"{number}-written", size, piece)
            )
            rates = f"read {read_mb_s:.0f} MB/s, write {written_mb_s:.0f} MB/s"
            sys.stdout.write(f"{profile}: {streams:2} streams {rates}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="+")
    for name in parser.parse_args().profiles:
        measure(name)
