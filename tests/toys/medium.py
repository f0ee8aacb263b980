"""Tapes: a toy kind of medium, added from outside the package. Its bytes lie in the working directory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import Field

from assay.model.doubt import Doubt, doubt_kind
from assay.model.fact import Fact
from assay.model.installation import Holder, Installation
from assay.model.medium import Medium, MediumKind, Options, Space
from assay.model.probe import WatchedDisk
from assay.model.registry import MEDIA
from assay.model.trial import MediumSpec

WORN = doubt_kind(
    "tape-worn", "medium", when="there are several tapes", why="a worn tape is read again and again",
    cure="take a new one", severity=10,
)  # fmt: skip


class TapeOptions(Options):
    """How many tapes there are."""

    reels: int = Field(default=1, ge=1, le=8, description="the number of tapes.")


class TapeMedium:
    """Keeps its bytes in a fresh directory."""

    def __init__(self, spec: MediumSpec, lease: Holder) -> None:
        self.spec = spec
        self.node = ""
        self._lease = lease
        self._reels = TAPE.options_of(spec).reels

    def facts(self) -> Mapping[str, Fact]:
        return {"kind": self.spec.kind, "drive": "TapeWorm 9", "reels": self._reels, "rotational": True}

    def space(self) -> Space:
        return Space(free_bytes=self._reels << 40, total_bytes=self._reels << 40)

    @contextmanager
    def attached(self) -> Iterator[Path]:
        yield self._lease.make_directory(Path.cwd() / f"{self._lease.id}-{self.spec.name}")

    def make_cold(self) -> tuple[Doubt, ...]:
        return ()

    def watched_disk(self, directories: Sequence[Path]) -> WatchedDisk:
        return WatchedDisk(medium=self.spec.name, place=Path.cwd(), device=Path("/dev/st0"), own=True)


class TapeKind(MediumKind[TapeOptions]):
    """What experiments, figures and reports need to know of tapes."""

    title = "Tape"
    phrase = "the tape"
    options = TapeOptions
    cached = False

    def open(self, spec: MediumSpec, lease: Holder, installation: Installation, node: str = "") -> Medium:
        return TapeMedium(spec, lease)

    def described(self, spec: MediumSpec) -> str:
        return f"{self.options_of(spec).reels} reels of tape"

    def doubts(self, spec: MediumSpec, facts: Mapping[str, Fact]) -> tuple[Doubt, ...]:
        return (WORN.doubt(f"a tape of {spec.name} is worn", spec.name),) if self.options_of(spec).reels > 1 else ()


TAPE = TapeKind("tape")
MEDIA.add(TAPE.name, TAPE)
