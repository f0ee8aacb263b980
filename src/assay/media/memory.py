"""Memory as a medium: a directory on a tmpfs."""

from pathlib import Path

from assay.lease import Lease
from assay.machine import available_memory_bytes
from assay.media.directory import DirectoryMedium
from assay.model.errors import BadInputError
from assay.model.medium import Space
from assay.model.trial import MediumSpec
from assay.mounts import mount_of

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a tmpfs that needs no privileges; the directory in it is ours alone


class MemoryMedium(DirectoryMedium):
    """Keeps its bytes in a tmpfs that every user may write to (/dev/shm); nothing but swap touches a disk.

    It is made cold like any directory: its own pages stay, but what the jobs read elsewhere (jars, the JDK) is as cold
    for memory as for the media it is compared with.
    """

    def __init__(self, spec: MediumSpec, lease: Lease) -> None:
        super().__init__(spec, lease, SHARED_MEMORY)

    def space(self) -> Space:
        """What fits: the tmpfs' own limit or the available memory, whichever is less."""
        if not self._place.is_dir() or mount_of(self._place).file_system != "tmpfs":
            raise BadInputError(
                f"medium {self.spec.name!r}: {self._place} is not a tmpfs; mount one there or name another"
            )
        space = super().space()
        return Space(free_bytes=min(space.free_bytes, available_memory_bytes()), total_bytes=space.total_bytes)
