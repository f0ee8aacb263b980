"""Free memory that is held until the user lets it go: start, tell and end."""

import os
import subprocess
import sys
from pathlib import Path

from assay.lease import Lease, leases, uninterrupted
from assay.machine import FREE_MEMORY, GOES_BACK, HELD, memory_bytes
from assay.memory.holder import READY
from assay.memory.reporting import goes_back
from assay.model.errors import AssayError
from assay.model.installation import Installation
from assay.mounts import mount_of

PURPOSE = "memory"
MOST_FREE_BYTES = 768 << 20
"""What stays free: programs that start find some at once."""

IN_MEMORY = ("tmpfs", "ramfs")


def hold(installation: Installation, most_free: int = MOST_FREE_BYTES) -> int:
    """Hold the machine's free memory, anew, and leave it so; how many bytes are held.

    Returns when little is free: that takes the host's time for each page, some seconds for each GiB on slow ones.
    Raises AssayError where the kernel or the file system can't do it; then nothing stays.
    """
    let_go(installation.state)
    lease = Lease(installation.state, PURPOSE)
    try:
        home = lease.make_directory(installation.parts / "work" / lease.id)
        if (kind := mount_of(home).file_system) in IN_MEMORY:
            raise AssayError(f"{home} lies on {kind}, which would use the memory up; have the checkout on a disk")
        _start(home, most_free, lease)
        lease.keep()
    except BaseException:
        with uninterrupted():
            lease.release()
        raise
    return held_bytes(installation.state)


def held_bytes(state: Path) -> int:
    """The bytes that are held now; 0 where nothing is, or its process is gone."""
    page = os.sysconf("SC_PAGE_SIZE")
    return sum(page * _resident(pid) for lease in _kept(state) for pid in lease.processes())


def let_go(state: Path) -> bool:
    """End what holds memory; whether anything did."""
    held = _kept(state)
    with uninterrupted():
        for lease in held:
            lease.release()
    return bool(held)


def memory_facts(state: Path) -> dict[str, str]:
    """`FREE_MEMORY`, where it goes back to the host or is held; nothing on a machine that keeps its own."""
    if held_bytes(state):
        return {FREE_MEMORY: HELD}
    return {FREE_MEMORY: GOES_BACK} if goes_back() else {}


def _start(home: Path, most_free: int, lease: Lease) -> None:
    """Start the process, and wait until it holds what it can."""
    size = memory_bytes("MemTotal")
    file = home / "hole"
    with file.open("wb") as made:
        made.truncate(size)
    command = [sys.executable, "-m", "assay.memory.holder", str(file), str(size), str(most_free)]
    with (home / "errors").open("wb") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
            env=lease.environment(os.environ),
        )  # fmt: skip
    with process.stdout as said:  # type: ignore[union-attr] # a pipe was asked for
        if said.readline().decode().strip() != READY:
            last = (home / "errors").read_text().strip().rpartition("\n")[2]
            raise AssayError(f"free memory can't be held here: {last}; that needs Linux 5.14 or newer")


def _kept(state: Path) -> list[Lease]:
    return [lease for lease in leases(state) if lease.purpose == PURPOSE and lease.kept]


def _resident(pid: int) -> int:
    """Pages of a process that are in memory (proc(5)); 0 when it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
