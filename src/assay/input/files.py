"""Any files as input: of this machine, or in the store already."""

from collections.abc import Sequence
from pathlib import Path

from assay.model.engine import Engine, LaunchReport
from assay.model.errors import AssayError
from assay.model.input import Amounts, Input
from assay.model.progress import Progress
from assay.model.store import Store


class LocalFiles(Input):
    """Files of this machine with the names that they get in the store; none where the workload writes all by itself.

    `size_bytes` are those of the files, or of what the workload writes.
    """

    def __init__(self, files: Sequence[tuple[Path, str]], size_bytes: int) -> None:
        self._files, self._bytes = files, size_bytes

    def size(self) -> Amounts:
        """All files together."""
        return Amounts(bytes=self._bytes)

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Put each."""
        for file, name in self._files:
            store.put(file, f"{path}/{name}")
        return LaunchReport(jobs=(), result={})


class StoredFiles(Input):
    """What lies in the store already, below a path of it; how much that is isn't known before."""

    def __init__(self, path: str) -> None:
        self._path = path

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Only looked for. Raises AssayError where there is nothing."""
        if store.size_bytes(self._path) == 0:
            raise AssayError(f"the input {self._path} is not there, or empty; name a path of the cluster's store")
        return LaunchReport(jobs=(), result={})
