"""The media of an existing cluster, which Assay neither chooses nor sees."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from assay.model.doubt import Doubt, doubt_kind
from assay.model.fact import Fact
from assay.model.installation import Holder, Installation
from assay.model.medium import Medium, MediumKind, Options, Space
from assay.model.registry import MEDIA
from assay.model.trial import MediumSpec

UNLIMITED_BYTES = 1 << 62


CACHE_UNKNOWN = doubt_kind(
    "cache-unknown",
    "machine",
    when="a trial ran on an existing cluster with `cache: cold`",
    why="reads may come from memory, in later trials more than in earlier trials",
    cure="drop the caches on every node between trials, or use an embedded cluster",
    severity=130,
)


class ExistingMedium:
    """Stands for an existing cluster's disks; gives a local scratch directory for the client's own files."""

    def __init__(self, spec: MediumSpec, lease: Holder, scratch: Path) -> None:
        self.spec = spec
        self.node = ""
        self._lease = lease
        self._scratch = scratch

    def facts(self) -> Mapping[str, Fact]:
        return {"kind": self.spec.kind, "device": "unknown: an existing cluster's own"}

    def space(self) -> Space:
        return Space(free_bytes=UNLIMITED_BYTES, total_bytes=UNLIMITED_BYTES)

    @contextmanager
    def attached(self) -> Iterator[Path]:
        """Give a local directory, in which no data of the trial is kept."""
        yield self._lease.make_directory(self._scratch / f"assay-{self._lease.id}")

    def make_cold(self) -> tuple[Doubt, ...]:
        return (CACHE_UNKNOWN.doubt("the page caches of an existing cluster's nodes were not dropped"),)

    def watched_disk(self, directories: Sequence[Path]) -> None:
        return


class ExistingKind(MediumKind[Options]):
    """The kind of the media of an existing cluster."""

    title = "Existing"
    options = Options
    phrase = "the cluster's own storage"
    chosen = False
    cached = False

    def open(self, spec: MediumSpec, lease: Holder, installation: Installation, node: str = "") -> Medium:
        return ExistingMedium(spec, lease, installation.parts)

    def described(self, spec: MediumSpec) -> str:
        return "the existing cluster's own"


MEDIA.add("existing", ExistingKind("existing"), place=4)
