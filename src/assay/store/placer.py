"""Steers HDFS blocks to the directories of their role, and tells where they landed.

The landed bytes are those of block files as they lie in the DataNode's directories: what the NameNode believes about
storage types is not asked, so a policy that fell back silently shows.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from assay.model.cluster import DataDirectory, StorageType
from assay.model.placement import Landed, Role
from assay.store.webhdfs import WebHdfs

SYSTEM_PATH = "/tmp"  # noqa: S108 - in HDFS: where MapReduce stages jobs and keeps their histories


class HdfsPlacer:
    """See `model.store.Placer`; for a cluster whose DataNode's directories lie on this machine."""

    def __init__(
        self, store: WebHdfs, directories: Sequence[DataDirectory], policies: Mapping[StorageType, str]
    ) -> None:
        self._store = store
        self._directories = directories
        self._policies = policies

    def prepare(self, base: str, input_path: str) -> None:
        """Policies for the workload's input, for all else below its base, and for the jobs' own files."""
        types = {one.storage for one in self._directories}
        self._steer(SYSTEM_PATH, "ARCHIVE")
        self._steer(base, "SSD" if "SSD" in types else "DISK")
        if "SSD" in types:
            self._steer(input_path, "DISK")

    def landed(self, role: Role, when: Literal["staged", "run"], path: str) -> Landed:
        """Bytes of the path's block files on each medium."""
        wanted = self._store.blocks(path)
        by_medium: dict[str, int] = {}
        for directory in self._directories if wanted else ():
            size = sum(size for block, size in _block_files(directory.path) if block in wanted)
            if size:
                by_medium[directory.medium] = by_medium.get(directory.medium, 0) + size
        total = sum(by_medium.values())
        shares = {medium: size / total for medium, size in by_medium.items()}
        return Landed(role=role, when=when, bytes=total, shares=shares, of_bytes=sum(wanted.values()))

    def _steer(self, path: str, storage: StorageType) -> None:
        self._store.make_directory(path)
        self._store.set_policy(path, self._policies[storage])


def _block_files(directory: Path) -> list[tuple[int, int]]:
    """Ids and sizes of the block files in a DataNode's directory (`current/BP-*/current/{finalized,rbw}/...`)."""
    return [
        (int(file.name.removeprefix("blk_")), file.stat().st_size)
        for file in directory.glob("current/BP-*/current/*/**/blk_*")
        if file.suffix != ".meta"
    ]
