"""Memory as a medium: a tmpfs of a given size, or a directory on the tmpfs that every machine has."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field

from assay.host.machine import available_memory_bytes
from assay.host.mounts import mount_of
from assay.media.directory import DirectoryMedium, DirectoryOptions, PlacedKind
from assay.media.emulated.attachment import may_mount
from assay.media.emulated.emulator import System
from assay.model.base import Bytes, UserPath
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import BadInputError
from assay.model.fact import Fact
from assay.model.installation import Holder, Installation
from assay.model.medium import Medium, Space
from assay.model.naming import bytes_text
from assay.model.probe import WatchedDisk
from assay.model.registry import MEDIA
from assay.model.trial import MediumSpec

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a tmpfs that needs no privileges; the directory in it is ours alone


_BESIDE_BACKING_BYTES = 3 << 30
"""What a cluster takes."""


def backing_fits_into_memory(most_bytes: int) -> bool:
    """Whether emulated drives that hold so much may keep it in shared memory, beside a cluster."""
    try:
        numbers = os.statvfs(SHARED_MEMORY)
    except OSError:
        return False
    in_shared = numbers.f_bavail * numbers.f_frsize >= most_bytes
    return in_shared and available_memory_bytes() >= most_bytes + _BESIDE_BACKING_BYTES


class MemoryOptions(DirectoryOptions):
    """A tmpfs, with or without a size."""

    path: UserPath | None = Field(default=None, description="a tmpfs other than `/dev/shm`.")
    size_bytes: Bytes | None = Field(
        default=None,
        alias="size",
        description="the size of a tmpfs of its own, which needs root; without root the size has no effect, and a "
        "doubt says so.",
    )


MEMORY_NOT_BOUNDED = doubt_kind(
    "memory-not-bounded",
    "medium",
    when="a size was given for memory, but without the right to mount nothing enforces it",
    why="only root can mount a tmpfs of a given size; more data fit here",
    cure="run as root, or leave the size out",
    severity=70,
)


class MemoryMedium(DirectoryMedium):
    """Keeps its bytes in a tmpfs; nothing but swap touches a disk.

    With a size, and as root, it is a new tmpfs that is full at that size; else a directory on a tmpfs that every
    user may write to (/dev/shm). It is made cold like any directory: its own pages stay, but what the jobs read
    elsewhere (jars, the JDK) is as cold for memory as for the media it is compared with.
    """

    def __init__(self, spec: MediumSpec, lease: Holder, system: System | None = None, node: str = "") -> None:
        super().__init__(spec, lease, SHARED_MEMORY, node)
        self._size_bytes = MEMORY.options_of(spec).size_bytes
        self._system = system or System()

    def dilate(self, dilation: int) -> None:
        """It is as slow as the processors that use it: memory's own time per byte is little beside theirs."""

    @property
    def _own(self) -> bool:
        """Whether a new tmpfs is wanted, and can be mounted."""
        return self._size_bytes is not None and may_mount()

    def facts(self) -> Mapping[str, Fact]:
        size = self._size_bytes if self._own else None
        return {**super().facts(), "size_bytes": "that of the tmpfs it lies on" if size is None else size}

    def space(self) -> Space:
        """Measure the space: the requested size, the tmpfs' limit or the available memory, whichever is least."""
        if not self._place.is_dir() or mount_of(self._place).file_system != "tmpfs":
            raise BadInputError(
                f"medium {self.spec.name!r}: {self._place} is not a tmpfs; mount one there or name another"
            )
        available = available_memory_bytes()
        size = self._size_bytes
        if size is not None and size > available:
            raise BadInputError(
                f"medium {self.spec.name!r}: {size >> 20} MiB are asked for, and {available >> 20} MiB of memory are "
                "available; take a smaller size, or close other programs"
            )
        if self._own and size is not None:
            return Space(free_bytes=size, total_bytes=size, in_memory=True)
        space = super().space()
        total = min(space.total_bytes, size or space.total_bytes)
        return Space(free_bytes=min(space.free_bytes, available, total), total_bytes=total, in_memory=True)

    @contextmanager
    def attached(self) -> Iterator[Path]:
        """Give a fresh directory, which the trial's lease removes; a new tmpfs is mounted there for the scope."""
        with super().attached() as directory:
            if not self._own:
                yield directory
                return
            options = f"size={self._size_bytes},mode=0700"
            self._system.run("mount", "-t", "tmpfs", "-o", options, "assay", str(directory))
            try:
                yield directory
            finally:
                self._system.unmount(directory)

    def doubts(self) -> tuple[Doubt, ...]:
        if self._size_bytes is None or self._own:
            return ()
        return (
            MEMORY_NOT_BOUNDED.doubt(
                f"{self.spec.name} lies in {self._place}, and nothing bounds it to {self._size_bytes} bytes",
                self.spec.name,
            ),
        )

    def watched_disk(self, directories: Sequence[Path]) -> WatchedDisk | None:
        disk = super().watched_disk(directories)
        return disk and WatchedDisk(medium=disk.medium, place=disk.place, in_memory=True, node=self.node)


class MemoryKind(PlacedKind[MemoryOptions]):
    """Memory instead of a drive."""

    title = "Memory"
    options = MemoryOptions
    phrase = "memory"
    in_memory = True
    cached = False
    dilated = True

    def open(self, spec: MediumSpec, lease: Holder, installation: Installation, node: str = "") -> Medium:
        return MemoryMedium(spec, lease, node=node)

    def described(self, spec: MediumSpec) -> str:
        size = (spec.model_extra or {}).get("size_bytes")
        return f"memory of {bytes_text(size)}" if isinstance(size, int) and size else "memory"

    def drive(self, spec: MediumSpec, facts: Mapping[str, Fact]) -> str:
        return self.name


MEMORY = MemoryKind("memory")
MEDIA.add(MEMORY.name, MEMORY, place=2)
