"""The loop device that makes a block device of the emulated drive's file, set up as the real drive's would be."""

import fcntl
import os
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path

from assay.media.system import System
from assay.model.base import Frozen
from assay.model.errors import AssayError, BadInputError
from assay.mounts import Loop, loops

LOOP_CTL_GET_FREE = 0x4C82
"""Name a free loop device, making one if need be (linux/loop.h)."""

CONTROL = Path("/dev/loop-control")


class Queue(Frozen):
    """How the kernel treats the block device.

    `depth` requests at most are given to the drive at once; those beyond wait in the scheduler, which sorts and merges
    them. The kernel's own choices for real drives: `mq-deadline` for those on SATA, `none` for NVMe (blk-mq).
    """

    rotational: bool
    scheduler: str
    depth: int
    read_ahead_kb: int = 128


def check_loop_devices(control: Path = CONTROL) -> Path:
    """A loop device that is free now. Raises BadInputError when none can be had."""
    try:
        descriptor = os.open(control, os.O_RDWR | os.O_CLOEXEC)
    except OSError as error:
        raise BadInputError(
            f"emulated drives need loop devices, and {control} can't be opened ({error.strerror}): load the kernel's "
            "module with `modprobe loop`, or in a container make the device available"
        ) from None
    try:
        number = fcntl.ioctl(descriptor, LOOP_CTL_GET_FREE)
    except OSError as error:
        raise BadInputError(f"no loop device is free and none can be made ({error.strerror})") from None
    finally:
        os.close(descriptor)
    device = Path(f"/dev/loop{number}")
    if not device.exists():
        raise BadInputError(
            f"no loop device is free: the kernel offers /dev/loop{number}, which is not there; "
            f"make it with `mknod /dev/loop{number} b 7 {number}`, or detach another (`losetup -l` lists them)"
        )
    return device


def schedulers(device: Path, sys: Path = Path("/sys")) -> tuple[str, ...]:
    """What a block device's queue offers, the one in use first; empty where the kernel does not tell."""
    try:
        words = (sys / "block" / device.name / "queue" / "scheduler").read_text().split()
    except OSError:
        return ()
    return tuple(word.strip("[]") for word in sorted(words, key=lambda word: "[" not in word))


def scheduler_to_use(wanted: str, offered: Collection[str]) -> str:
    """The one that such a drive would have, or none where this kernel does not offer it."""
    return wanted if wanted in offered or not offered else "none"


def attach_loop(file: Path, queue: Queue, system: System, scope: ExitStack) -> Path:
    """A loop device on a file, with direct I/O so that nothing is cached twice; it is detached with the scope."""
    device = Path(system.run("losetup", "--find", "--show", "--direct-io=on", str(file)).strip())
    # Its file by the name that the kernel gives it: links in the path are gone from that.
    scope.callback(system.detach, next((loop for loop in loops() if loop.device == device), Loop(device, file)))
    set_queue(device, queue, system)
    return device


def set_queue(device: Path, queue: Queue, system: System) -> None:
    """Make the block layer treat the device as it would the real drive. Raises AssayError when it does not.

    Where the kernel does not offer the drive's scheduler there is none.
    """
    folder = Path("/sys/block") / device.name / "queue"
    wanted = (
        ("scheduler", "none"),
        # Without a scheduler this bounds what the driver is given at once; with one it would bound the scheduler's own.
        ("nr_requests", str(queue.depth)),
        ("rotational", "1" if queue.rotational else "0"),
        ("scheduler", scheduler_to_use(queue.scheduler, schedulers(device))),
        ("read_ahead_kb", str(queue.read_ahead_kb)),
    )
    for name, value in wanted:
        if not system.write(folder / name, f"{value}\n"):
            raise AssayError(f"{device} can't be set up as the drive is: {folder / name} does not take {value!r}")
