"""What emulated drives need of this machine, looked at without attaching anything."""

import os
import shutil
from pathlib import Path

from assay.media.emulated.attachment import check_loop_devices
from assay.media.emulated.emulator import Emulator
from assay.model.errors import BadInputError
from assay.model.installation import Installation

ADMINISTRATOR_BIT = 21
"""CAP_SYS_ADMIN (linux/capability.h): without it root can't mount, as in most containers."""

FUSE = Path("/dev/fuse")


def missing(installation: Installation, file_system: str = "ext4") -> list[str]:
    """What keeps emulated drives with this file system from working here, a sentence each; empty when they work."""
    found = [_privilege(), _fuse(), _loop(), *_tools(file_system), Emulator(installation).missing()]
    return [reason for reason in found if reason]


def may_mount() -> bool:
    """Whether this process has the right to mount; root has it but in most containers."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> ADMINISTRATOR_BIT & 1)
    return os.geteuid() == 0


def _privilege() -> str | None:
    if may_mount():
        return None
    if os.geteuid() != 0:
        return "emulated drives need root, to mount them: start Assay as root"
    return "emulated drives need the right to mount (CAP_SYS_ADMIN), which root lacks here: give it to the container"


def _fuse() -> str | None:
    try:
        os.close(os.open(FUSE, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return (
            f"emulated drives need FUSE, and {FUSE} can't be opened ({error.strerror}): load the kernel's module with "
            "`modprobe fuse`, or in a container make the device available"
        )
    return None


def _loop() -> str | None:
    try:
        check_loop_devices()
    except BadInputError as error:
        return str(error)
    return None


def _tools(file_system: str) -> list[str]:
    packages = {"losetup": "util-linux", "mount": "util-linux", "mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs"}
    wanted = ("losetup", "mount", f"mkfs.{file_system}")
    return [f"there is no {tool}: install {packages[tool]}" for tool in wanted if shutil.which(tool) is None]
