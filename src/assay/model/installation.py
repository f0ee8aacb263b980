"""Where this copy of Assay keeps its parts: parsed once at the start and passed down."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol

from assay.model.base import Frozen


class Installation(Frozen):
    """The places of one copy of Assay.

    `root` is the checkout; `parts` holds what set-up made (`hadoop/` jars and class-data archives, `venv/`);
    `jobs_jar` the jobs; `cache` what can be made or downloaded again (datasets); `state` the leases
    of what is held on this machine; `hadoop_home` an installed Hadoop to be used instead of the bundled jars.
    """

    root: Path
    parts: Path
    jobs_jar: Path
    cache: Path
    state: Path
    hadoop_home: Path | None = None

    @property
    def profiles(self) -> Path:
        """The folder of the shipped drive profiles; an installed package has its own."""
        of_checkout = self.root / "emulator" / "profiles"
        return of_checkout if of_checkout.is_dir() else Path(__file__).parents[1] / "profiles"


class Holder(Protocol):
    """What holds a trial's things on this machine, and takes them away when the trial has ended."""

    id: str

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """The environment of a process that belongs to it."""

    def make_directory(self, path: Path) -> Path:
        """Create a fresh directory that goes with it. Raises FileExistsError when it is there already."""


class Finding(Frozen):
    """A line of `assay doctor`. `lacking` takes something away, `broken` makes Assay unusable."""

    what: str
    state: Literal["good", "lacking", "broken"]
    detail: str
