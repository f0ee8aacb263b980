"""Makes real, slow block devices without the emulator: `python benchmarks/throttled_devices.py NAME -- COMMAND...`.

A loop device with direct I/O on a sparse file of this machine's disk, held to a rate and a number of requests by the
kernel (blkio.throttle of control groups v1, in the root group), with ext4 on it. COMMAND runs while it is mounted, and
`{}` in it is the mount point. At the end of the scope, or of the command, nothing is left. Needs root.

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
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

GROUP = Path("/sys/fs/cgroup/blkio")
SIZE_BYTES = 24 << 30
SECTOR_BYTES = 512
WATCH_S = 0.05


class Throttle(NamedTuple):
    """Limits of a device, the same for reads and for writes.

    After `fast_bytes` written the rate of writes is `slow_mb_s`; while less than that is written, fast writes come back
    at this rate.
    """

    mb_s: float
    iops: int
    fast_bytes: int = 0
    slow_mb_s: float = 0.0


DEVICES = {
    "like-a-disk": Throttle(mb_s=120, iops=200),
    "like-a-sata-ssd": Throttle(mb_s=500, iops=20_000),
    "slowing-down": Throttle(mb_s=250, iops=10_000, fast_bytes=600_000_000, slow_mb_s=60),
}
"""One in the range of hard disks, one in that of SATA SSDs, and one whose fast writes end within a small job."""


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
def throttled(throttle: Throttle, place: Path) -> Iterator[Path]:
    """The mount point of a device with these limits, its backing file below `place`."""
    with ExitStack() as scope:
        home = Path(scope.enter_context(tempfile.TemporaryDirectory(prefix="assay-throttled-", dir=place)))
        backing, point = home / "disk.img", home / "mount"
        with backing.open("xb") as file:
            file.truncate(SIZE_BYTES)
        device = Path(run("losetup", "--find", "--show", "--direct-io=on", str(backing)))
        scope.callback(run, "losetup", "--detach", str(device))
        options = "lazy_itable_init=1,lazy_journal_init=1,nodiscard"
        run("mkfs.ext4", "-q", "-F", "-E", options, str(device))
        point.mkdir()
        run("mount", "-o", "discard,noinit_itable", str(device), str(point))
        scope.callback(run, "umount", str(point))
        number = (Path("/sys/block") / device.name / "dev").read_text(encoding="utf-8").strip()
        for what in ("read", "write"):
            for name, value in ((f"{what}_bps", int(throttle.mb_s * 1e6)), (f"{what}_iops", throttle.iops)):
                scope.callback(limit, number, name, 0)
                limit(number, name, value)
        if throttle.fast_bytes:
            ended = threading.Event()
            watcher = threading.Thread(target=slow_down, args=(throttle, device, number, ended))
            watcher.start()
            scope.callback(watcher.join)
            scope.callback(ended.set)
        yield point


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
    """Make a device, run the command on it, take it away."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("device", choices=DEVICES)
    parser.add_argument("--place", type=Path, default=Path("/var/tmp"), help="where the backing file goes")  # noqa: S108
    parser.add_argument("command", nargs="+", help="what to run; {} is the mount point")
    arguments = parser.parse_args()
    check()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with throttled(DEVICES[arguments.device], arguments.place) as point:
        return subprocess.run([word.replace("{}", str(point)) for word in arguments.command], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
