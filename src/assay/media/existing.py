"""Whatever an existing cluster keeps its data on: Assay neither chooses nor sees it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from assay.host.lease import Lease
from assay.model.doubt import Doubt
from assay.model.medium import Space
from assay.model.trial import MediumSpec

UNLIMITED_BYTES = 1 << 62


class ExistingMedium:
    """Stands for an existing cluster's disks; gives a local scratch directory for the client's own files."""

    def __init__(self, spec: MediumSpec, lease: Lease, scratch: Path) -> None:
        self.spec = spec
        self._lease = lease
        self._scratch = scratch

    def facts(self) -> Mapping[str, str]:
        """Only that it is not known."""
        return {"kind": "existing", "device": "unknown: an existing cluster's own"}

    def space(self) -> Space:
        """Not limited by Assay: the cluster refuses what doesn't fit."""
        return Space(free_bytes=UNLIMITED_BYTES, total_bytes=UNLIMITED_BYTES)

    @contextmanager
    def attached(self) -> Iterator[Path]:
        """A local directory; no data of the trial is kept in it."""
        yield self._lease.make_directory(self._scratch / f"assay-{self._lease.id}")

    def make_cold(self) -> tuple[Doubt, ...]:
        """Can't be done from a client."""
        return (
            Doubt(
                kind="cache-unknown",
                what="the page caches of an existing cluster's nodes were left as they are",
                why="reads may come from memory, and more so in later trials than in earlier ones",
                cure="drop the caches on every node between trials, or use an embedded cluster",
            ),
        )
