"""Media: places to keep bytes, while a trial has them."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from assay.model.base import Frozen
from assay.model.doubt import Doubt
from assay.model.probe import WatchedDisk, WatchedProcess
from assay.model.trial import MediumSpec


class Space(Frozen):
    """Free and total bytes of a medium as the file system tells them.

    `shared` tells what really holds the bytes, where several media may share that: a file system's device number.
    `in_memory` says that what is kept there takes memory.
    """

    free_bytes: int
    total_bytes: int
    shared: int | None = None
    in_memory: bool = False


class Medium(Protocol):
    """A place to keep bytes."""

    spec: MediumSpec

    def facts(self) -> Mapping[str, str]:
        """What it is: device, file system, mount options, rotational or not."""
        ...

    def space(self) -> Space:
        """How much fits. Raises BadInputError when the place can't be used."""
        ...

    def attached(self) -> AbstractContextManager[Path]:
        """A fresh, empty directory on the medium for the time of a scope; it is removed at the end."""
        ...

    def make_cold(self) -> tuple[Doubt, ...]:
        """Write out and drop what the kernel caches of it, as far as allowed; a Doubt tells what could not be done."""
        ...


@runtime_checkable
class Doubtful(Protocol):
    """What a medium can do besides when it may not be quite what was asked for."""

    def doubts(self) -> tuple[Doubt, ...]:
        """What makes its figures doubtful, as known now; of a device, by its last report."""
        ...


@runtime_checkable
class Watchable(Protocol):
    """What a medium can do besides when probes may look at what lies below it; asked while it is attached."""

    def watched_disk(self) -> WatchedDisk:
        """Itself as probes see it. An emulated drive writes its log of requests from then on."""
        ...

    def watched_processes(self) -> tuple[WatchedProcess, ...]:
        """The processes that it works by: those of an emulated drive."""
        ...


@runtime_checkable
class Device(Doubtful, Protocol):
    """What a medium can do besides when its device is one of Assay's own: it may die, and it tells what it saw."""

    def failure(self) -> str | None:
        """Why the attached device can no longer be used, in one sentence; None while it can."""
        ...

    def write_out(self) -> None:
        """Have the kernel write what it still holds back. Raises AssayError when the device has died."""
        ...

    def reset_report(self) -> None:
        """Count anew from now on."""
        ...

    def device_report(self) -> Mapping[str, object]:
        """What it saw since it was attached or the counts were reset; at the end of the scope, what was last known."""
        ...
