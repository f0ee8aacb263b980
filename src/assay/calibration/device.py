"""The block device under a directory: what it is, and whether all of it may be read."""

import os
from collections.abc import Mapping
from pathlib import Path

from assay.model.base import Frozen

_SECTOR_BYTES = 512


class BlockDevice(Frozen):
    """A block device as the kernel tells it (sysfs-block); `model` is empty where it has none."""

    path: Path
    bytes: int
    model: str
    rotational: bool

    @property
    def readable(self) -> bool:
        """Whether its raw bytes may be read: tried, since a container's root may have the right and not the device."""
        try:
            os.close(os.open(self.path, os.O_RDONLY | os.O_CLOEXEC))
        except OSError:
            return False
        return True


def block_device(facts: Mapping[str, str], sys: Path = Path("/sys/class/block")) -> BlockDevice | None:
    """The device that a medium's facts name; None where the file system has none of its own (tmpfs, overlay, nfs)."""
    path = Path(facts.get("device", ""))
    if not path.is_absolute() or not path.exists():
        return None
    folder = sys / path.resolve().name
    try:
        sectors = int((folder / "size").read_text())
    except (OSError, ValueError):
        return None
    disk = folder.resolve()
    if (disk / "partition").exists():
        disk = disk.parent
    model = disk / "device/model"
    return BlockDevice(
        path=path,
        bytes=sectors * _SECTOR_BYTES,
        model=model.read_text().strip() if model.exists() else "",
        rotational=facts.get("rotational") == "yes",
    )
