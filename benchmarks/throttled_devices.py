"""Makes real, slow block devices without the emulator: `python benchmarks/throttled_devices.py NAME,... -- COMMAND...`.

Each is a loop device on a sparse file, held to a rate and a number of requests by the kernel (blkio.throttle of control
groups v1, in the root group), and a second loop device on it, with ext4. COMMAND runs while they are mounted, and
`{NAME}` in it is the mount point. At the end of the scope, or of the command, nothing is left. Needs root.

The kernel holds requests back before it counts them: the throttled device itself would look idle. The device on it
waits for each of its requests as for those of a slow drive, so that its counters tell how busy that was. It also merges
requests before they count against the limit. Both use direct I/O, so that nothing is cached twice; a file in memory
needs none.

In v1 the root group's limits hold for all processes that are in no other group of the blkio hierarchy, and for the
kernel's own write-back, which no other group of v1 is charged for: a dd of 300 MB with an fsync through the page cache
takes as long as the limit says. In v2 the root group has no limits (io.max); there the maker refuses.

What the disk below can't give, no limit adds: see that it is faster (`fio` on it) than the device that you make.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

GROUP = Path("/sys/fs/cgroup/blkio")
SIZE_BYTES = 24 << 30
SECTOR_BYTES = 512
WATCH_S = 0.05
QUEUE = {"scheduler": "none", "nr_requests": "128", "rotational": "0", "max_sectors_kb": "1024", "read_ahead_kb": "128"}
"""What a loop device may have otherwise from whoever used it before. Limits change the read-ahead, which comes last."""


class Throttle(NamedTuple):
    """Limits of a device, the same for reads and for writes; 0 is none.

    After `fast_bytes` written the rate of writes is `slow_mb_s`; while less than that is written, fast writes come back
    at this rate.
    """

    mb_s: float
    iops: int
    fast_bytes: int = 0
    slow_mb_s: float = 0.0


UNLIMITED = "unlimited"
DEVICES = {
    "like-a-disk": Throttle(mb_s=120, iops=200),
    "like-a-sata-ssd": Throttle(mb_s=500, iops=20_000),
    "slowing-down": Throttle(mb_s=250, iops=10_000, fast_bytes=600_000_000, slow_mb_s=60),
    "slow-disk": Throttle(mb_s=15, iops=150),
    "slow-ssd": Throttle(mb_s=60, iops=2_500),
    UNLIMITED: Throttle(mb_s=0, iops=0),
}
"""One in the range of hard disks, one in that of SATA SSDs, and one whose fast writes end within a small job; two that
are as slow beside two processors as a disk and an SSD beside sixteen, and one without limits to compare them with."""


def run(*command: str) -> str:
    """A command's output. Raises CalledProcessError when it fails."""
    return subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout.strip()


def check() -> None:
    """Exits with a sentence where no device can be made."""
    if os.geteuid() != 0:
        sys.exit("throttled_devices: loop devices and limits need root")
    if not (GROUP / "blkio.throttle.write_bps_device").exists():
        sys.exit(f"throttled_devices: {GROUP} has no limits: this needs control groups v1 with blkio")
    if not any(
        line.endswith(":blkio:/") for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    ):
        sys.exit(
            "throttled_devices: this process is in a blkio group of its own, where the root group's limits don't hold"
        )


@contextmanager
def throttled(throttle: Throttle, place: Path, hold_back_bytes: int = 0) -> Iterator[Path]:
    """The mount point of a device with these limits, its backing file below `place`.

    `hold_back_bytes` bound what the kernel holds back of the device's writes; 0 is no bound but its own.
    """
    with ExitStack() as scope:
        home = Path(scope.enter_context(tempfile.TemporaryDirectory(prefix="assay-throttled-", dir=place)))
        backing, point = home / "disk.img", home / "mount"
        with backing.open("xb") as file:
            file.truncate(SIZE_BYTES)
        in_memory = run("stat", "--file-system", "--format=%T", str(place)) == "tmpfs"
        below = scope.enter_context(loop_device(backing, direct=not in_memory))
        device = scope.enter_context(loop_device(below, direct=True))
        options = "lazy_itable_init=1,lazy_journal_init=1,nodiscard"
        run("mkfs.ext4", "-q", "-F", "-E", options, str(device))
        point.mkdir()
        run("mount", "-o", "discard,noinit_itable", str(device), str(point))
        scope.callback(run, "umount", str(point))
        if hold_back_bytes:
            scope.callback(hold_back, device, "max_ratio", 100)
            hold_back(device, "max_bytes", hold_back_bytes)
        number = (Path("/sys/block") / below.name / "dev").read_text(encoding="utf-8").strip()
        for what in ("read", "write"):
            for name, value in ((f"{what}_bps", int(throttle.mb_s * 1e6)), (f"{what}_iops", throttle.iops)):
                scope.callback(limit, number, name, 0)
                limit(number, name, value)
        if throttle.fast_bytes:
            ended = threading.Event()
            watcher = threading.Thread(target=slow_down, args=(throttle, below, number, ended))
            watcher.start()
            scope.callback(watcher.join)
            scope.callback(ended.set)
        yield point


@contextmanager
def loop_device(below: Path, *, direct: bool) -> Iterator[Path]:
    """A loop device on a file or on another device."""
    device = Path(run("losetup", "--find", "--show", f"--direct-io={'on' if direct else 'off'}", str(below)))
    try:
        for name, value in QUEUE.items():
            (Path("/sys/block") / device.name / "queue" / name).write_text(f"{value}\n", encoding="utf-8")
        yield device
    finally:
        run("losetup", "--detach", str(device))


def hold_back(device: Path, name: str, value: int) -> None:
    """Bound what is not written to a device yet; a `max_ratio` of 100 lifts the bound, which outlives the device."""
    folder = Path("/sys/block") / device.name / "bdi"
    (folder / "strict_limit").write_text(f"{int(name == 'max_bytes')}\n", encoding="utf-8")
    (folder / name).write_text(f"{value}\n", encoding="utf-8")


def limit(number: str, name: str, value: int) -> None:
    """Set a limit of the root group for a device; 0 is none."""
    (GROUP / f"blkio.throttle.{name}_device").write_text(f"{number} {value}\n", encoding="utf-8")


def slow_down(throttle: Throttle, device: Path, number: str, ended: threading.Event) -> None:
    """Take the fast writes away when they are used up, and give them back.

    The device's own count of what was written (sysfs `stat`, field 7) is looked at twenty times a second; what is
    written too fast meanwhile is a debt.
    """
    stat = Path("/sys/block") / device.name / "stat"
    written, at = _written(stat), time.monotonic()
    left, slow = float(throttle.fast_bytes), False
    while not ended.wait(WATCH_S):
        now_written, now = _written(stat), time.monotonic()
        back = throttle.slow_mb_s * 1e6 * (now - at)
        left = min(left + back - (now_written - written), float(throttle.fast_bytes))
        written, at = now_written, now
        if slow != (left <= 0):
            slow = left <= 0
            limit(number, "write_bps", int((throttle.slow_mb_s if slow else throttle.mb_s) * 1e6))


def _written(stat: Path) -> int:
    return int(stat.read_text(encoding="utf-8").split()[6]) * SECTOR_BYTES


def main() -> int:
    """Make the devices, run the command on them, take them away."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("devices", metavar="NAME,...", help=f"one or several of {', '.join(DEVICES)}")
    parser.add_argument("--place", type=Path, default=Path("/var/tmp"), help="where the backing files go")  # noqa: S108
    parser.add_argument("--hold-back", type=int, default=0, metavar="MIB", help="how much may wait unwritten for each")
    parser.add_argument("command", nargs="+", help="what to run; {NAME} is a device's mount point")
    arguments = parser.parse_args()
    names = arguments.devices.split(",")
    if unknown := set(names) - DEVICES.keys():
        parser.error(f"unknown devices {', '.join(sorted(unknown))}; there are {', '.join(DEVICES)}")
    check()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with ExitStack() as scope:
        points = {
            name: scope.enter_context(throttled(DEVICES[name], arguments.place, arguments.hold_back << 20))
            for name in names
        }
        command = subprocess.Popen([placed(word, points) for word in arguments.command])
        signal.signal(signal.SIGINT, lambda *_: None)  # the terminal tells the command, which must let go first
        signal.signal(signal.SIGTERM, lambda *_: command.terminate())
        return command.wait()


def placed(word: str, points: Mapping[str, Path]) -> str:
    """A word of a command with the devices' mount points in place of their names."""
    for name, point in points.items():
        word = word.replace(f"{{{name}}}", str(point))
    return word


if __name__ == "__main__":
    sys.exit(main())
