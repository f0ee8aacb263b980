"""Free memory that is held until the user releases it: whether the host takes it back, and how it is held.

A virtual machine with free page reporting (virtio-balloon) tells its host of blocks that have been free for about two
seconds, and the host takes them away. Whoever uses a page of them next waits until the host gives one again. That is
the host's work, and counts as processor time of the program that touched the page.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

from assay.host.control_groups import memory_limit_bytes
from assay.host.lease import Lease, leases, uninterrupted
from assay.host.machine import FREE_MEMORY, GOES_BACK, HELD, STAYS, memory_bytes
from assay.host.mounts import mount_of
from assay.model.errors import AssayError, BadInputError
from assay.model.fact import Fact
from assay.model.installation import Installation
from assay.model.naming import bytes_text
from assay_extras.held_memory.holder import READY

PURPOSE = "memory"
HOLE = "hole"
LEAST_FREE_BYTES = 256 << 20
FILE_SYSTEMS = ("ext4", "xfs", "btrfs", "f2fs")
"""Of which it is known that to read a hole takes clean pages of the page cache, and no space."""


def hold(installation: Installation, most_free: int | None = None) -> int:
    """Hold the machine's free memory but `most_free` bytes and leave it so; how many bytes are held.

    Does nothing where it is held already. Returns when little is free: that takes the host's time for each page, some
    seconds for each GiB on slow ones. Raises AssayError, with the reason, where it can't be held; then nothing stays.
    """
    if bytes_held := held_bytes(installation.state):
        return bytes_held
    let_go(installation.state)  # what is still written down of a process that is gone
    lease = Lease(installation.state, PURPOSE)
    try:
        home = lease.make_directory(installation.parts / "work" / lease.id)
        if (kind := mount_of(home).file_system) not in FILE_SYSTEMS:
            known = ", ".join(FILE_SYSTEMS)
            raise AssayError(f"{home} lies on {kind}, where a file may use up memory; have the checkout on {known}")
        _start(home, _little() if most_free is None else most_free, lease)
        lease.keep()
    except BaseException:
        with uninterrupted():
            lease.release()
        raise
    return held_bytes(installation.state)


def held_bytes(state: Path) -> int:
    """The bytes that are held now; 0 where nothing is, or its process is gone."""
    return sum(
        resident_bytes(pid, directory / HOLE)
        for lease in _kept(state)
        for pid in lease.processes()
        for directory in lease.directories
    )


def let_go(state: Path) -> bool:
    """End what holds memory; whether anything did."""
    stale = _kept(state)
    with uninterrupted():
        for lease in stale:
            lease.release()
    return bool(stale)


def memory_facts(state: Path) -> dict[str, Fact]:
    """What becomes of memory that lies free."""
    return {FREE_MEMORY: HELD if held_bytes(state) else GOES_BACK if goes_back() else STAYS}


def resident_bytes(pid: int, file: Path) -> int:
    """Bytes of a file that a process has mapped and finds in memory (proc(5), smaps); 0 when it is gone."""
    try:
        maps = Path(f"/proc/{pid}/smaps").read_text(encoding="utf-8")
    except OSError:
        return 0
    return sum(
        int(kib) << 10 for kib in re.findall(rf" {re.escape(str(file.resolve()))}\n(?:\w.*\n)*?Rss: +(\d+) kB", maps)
    )


def _start(home: Path, most_free: int, lease: Lease) -> None:
    """Start the process, and wait until it holds what it can."""
    if (limit := memory_limit_bytes()) is not None:
        raise BadInputError(
            f"a control group bounds this process to {bytes_text(limit)}: the machine's memory can't be held from "
            "inside; hold it outside of the container"
        )
    size = memory_bytes("MemTotal")
    file = home / HOLE
    with file.open("wb") as made:
        made.truncate(size)
    command = [sys.executable, "-m", "assay_extras.held_memory.holder", str(file), str(size), str(most_free)]
    with (home / "errors").open("wb") as errors:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
            env=lease.environment(os.environ),
        )  # fmt: skip
    with process.stdout as said:  # type: ignore[union-attr] # a pipe was asked for
        if said.readline().decode().strip() != READY:
            last = (home / "errors").read_text(encoding="utf-8").strip().rpartition("\n")[2]
            raise AssayError(f"free memory can't be held here: {last or 'its process was ended'}")


def _little() -> int:
    """Bytes below which hosts are told of next to nothing, and above which the kernel needs to take no page back.

    The kernel frees pages up to each zone's `high` (proc(5), zoneinfo).
    """
    pages = sum(
        int(number)
        for number in re.findall(r"^ +high +(\d+)$", Path("/proc/zoneinfo").read_text(encoding="utf-8"), re.M)
    )
    return max(LEAST_FREE_BYTES, 2 * pages * os.sysconf("SC_PAGE_SIZE"))


def _kept(state: Path) -> list[Lease]:
    return [lease for lease in leases(state) if lease.purpose == PURPOSE and lease.kept]


BALLOONS = Path("/sys/bus/virtio/drivers/virtio_balloon")
REPORTING = 5
"""The number of the feature (VIRTIO_BALLOON_F_REPORTING in linux/virtio_balloon.h)."""


def goes_back(balloons: Path = BALLOONS) -> bool:
    """Whether free memory goes back to the host; False too where the kernel tells of no such device."""
    return any(
        file.read_text(encoding="utf-8")[REPORTING : REPORTING + 1] == "1" for file in balloons.glob("virtio*/features")
    )
