"""Media: places to keep bytes, while a trial has them, and the kinds of them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import ConfigDict, ValidationError

from assay.model.base import Frozen
from assay.model.doubt import Doubt
from assay.model.errors import BadInputError
from assay.model.fact import Fact
from assay.model.fault import DRIVE, Fault
from assay.model.installation import Holder, Installation
from assay.model.probe import WatchedDisk, WatchedProcess
from assay.model.trial import MediumSpec


class Space(Frozen):
    """Free and total bytes of a medium as the file system tells them.

    `shared` tells what really holds the bytes, where several media may share that: a file system's device number, with
    `shared_free_bytes` free there, where that may be more than the medium holds. `in_memory` says that what is kept
    there takes memory.
    """

    free_bytes: int
    total_bytes: int
    shared: int | None = None
    shared_free_bytes: int | None = None
    in_memory: bool = False


class Medium(Protocol):
    """A place to keep bytes."""

    spec: MediumSpec
    node: str
    """The worker that it is attached on; empty: this machine, which is then the only node."""

    def facts(self) -> Mapping[str, Fact]:
        """What it is: device, file system, mount options, rotational or not."""

    def space(self) -> Space:
        """How much fits. Raises BadInputError when the place can't be used."""

    def attached(self) -> AbstractContextManager[Path]:
        """A fresh, empty directory on the medium for the time of a scope; it is removed at the end."""

    def make_cold(self) -> tuple[Doubt, ...]:
        """Write out and drop what the kernel caches of it, as far as allowed; a Doubt tells what could not be done."""

    def watched_disk(self, directories: Sequence[Path]) -> WatchedDisk | None:
        """Itself as probes see it while it is attached; `directories` are those that the cluster keeps on it.

        None where there is nothing to see. An emulated drive writes its log of requests from then on.
        """


@runtime_checkable
class Doubtful(Protocol):
    """What a medium or a store can do besides when it may not be quite what was asked for."""

    def doubts(self) -> tuple[Doubt, ...]:
        """What makes its figures doubtful, as known now; of a device, by its last report."""


@runtime_checkable
class Watchable(Protocol):
    """What a medium can do besides when it works by processes of its own."""

    def watched_processes(self) -> tuple[WatchedProcess, ...]:
        """Return the ids of processes to watch while it is attached."""


@runtime_checkable
class Dilated(Protocol):
    """What a medium can do besides when it can be part of a scale model."""

    def dilate(self, dilation: int) -> None:
        """Slow down all it does by this factor from when it is attached, beyond its own slowdown."""


@runtime_checkable
class HoldsBack(Protocol):
    """What a medium can do besides when the kernel's limits on unwritten data can be set for it alone."""

    def hold_back(self, limit_bytes: int) -> None:
        """Bound what is not written to it yet, from when it is attached, unless it has a bound of its own."""


@runtime_checkable
class Device(Medium, Doubtful, Protocol):
    """What a medium can do besides when its device is one of Assay's own: it may die, and it tells what it saw."""

    def failure(self) -> str | None:
        """Why the attached device can no longer be used, in one sentence; None while it can."""

    def write_out(self) -> None:
        """Have the kernel write what it still holds back. Raises AssayError when the device has died."""

    def reset_report(self) -> None:
        """Count anew from now on."""

    def release(self) -> None:
        """Take none of the device's time for requests from now on, and count none; AssayError where it has died."""

    def device_report(self) -> Mapping[str, object]:
        """What it saw since it was attached or the counts were reset; at the end of the scope, what was last known."""


class Options(Frozen):
    """What an experiment says of a medium of one kind. In the experiment a key is a field's alias, else its name."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)

    @classmethod
    def names(cls) -> list[str]:
        """The keys that an experiment may use."""
        return [field.alias or name for name, field in cls.model_fields.items()]


OptionsT = TypeVar("OptionsT", bound=Options)


class MediumKind(Generic[OptionsT]):
    """A kind of medium: what experiments say of it, how one is had, what figures and reports make of it.

    A kind is a subclass in one file, which adds an instance to `MEDIA`. Only it and its media know its options: an
    experiment's are read once, and a plan keeps them as plain JSON (`spec`), which `options_of` reads again.
    """

    title: ClassVar[str] = ""
    """Its name at the beginning of a sentence."""
    options: type[OptionsT]
    known_by: ClassVar[str] = ""
    """The option that tells its kind where `kind` is left out, and that a single word stands for."""
    chosen: ClassVar[bool] = True
    """Whether experiments may choose it; else it comes with a platform."""
    in_memory: ClassVar[bool] = False
    """Whether there is no device that could be busy."""
    cached: ClassVar[bool] = True
    """Whether this machine's page cache may stand between the jobs and the medium."""
    emulated: ClassVar[bool] = False
    """Whether it is a drive that is made for each trial, with times of Assay's making."""
    dilated: ClassVar[bool] = False
    """Whether it is as slow as a scale model of a cluster asks (`Dilated`)."""
    energy: ClassVar[Literal["by busy time", "reported", "none"]] = "none"
    """Its energy: modelled by its busy time, told by its own reports, or none beside the machine's."""
    phrase: ClassVar[str] = ""
    """What a sentence calls it, where `drive` gives its own name; with the article that it takes."""
    passing_facts: ClassVar[frozenset[str]] = frozenset()
    """Facts that change from trial to trial and tell no medium from another."""

    def __init__(self, name: str) -> None:
        self.name = name

    def options_of(self, spec: MediumSpec) -> OptionsT:
        """The kind's own fields of a spec; those of other kinds, as old records have them, are left out.

        Raises BadInputError for one that can't be.
        """
        fields = spec.model_extra or {}
        known = {name: fields[name] for name in self.options.model_fields if name in fields}
        try:
            return self.options.model_validate(known, by_alias=False, by_name=True)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            raise BadInputError(f"medium {spec.name!r}: {where and f'{where}: '}{first['msg']}") from None

    def located(self, name: str, options: OptionsT, folder: Path, words: Sequence[str]) -> OptionsT:
        """With paths made absolute from the experiment's folder. Raises BadInputError for a wrong one.

        `name` is the medium's; `words` are the names that may stand for its `known_by` option.
        """
        return options

    def open(self, spec: MediumSpec, lease: Holder, installation: Installation, node: str = "") -> Medium:
        """The medium of a node, not attached yet."""
        raise BadInputError(f"medium {spec.name!r}: there is no kind of medium {self.name!r} here")

    def described(self, spec: MediumSpec) -> str:
        """What it is, in a few words, whatever a record says of it."""
        return self.title.lower() or self.name

    def drive(self, spec: MediumSpec, facts: Mapping[str, Fact]) -> str:
        """What a decision calls it: `hard disk`, `SSD`, `UNKNOWN_DRIVE`, or the kind's name."""
        return self.name

    def doubts(self, spec: MediumSpec, facts: Mapping[str, Fact]) -> tuple[Doubt, ...]:
        """What the facts of the medium say against it."""
        return ()

    def without_delays(self, options: OptionsT) -> OptionsT | None:
        """A medium that is reached by the same path and takes no time; None where it can't be had."""
        return None

    def slowdown(self, spec: MediumSpec) -> int:
        """How many times slower it is than what it is named after, as recorded."""
        return 1

    def slower(self, options: OptionsT, factor: int) -> OptionsT | None:
        """The same medium, all of whose times are so many times as long; None where it can't be had."""
        return None

    def varied(self, options: OptionsT, way: str, installation: Installation) -> OptionsT | None:
        """The same medium with what is assumed of its speed `slower` or `faster`; None where nothing is assumed."""
        return None

    def changed(
        self, spec: MediumSpec, change: Callable[[OptionsT], OptionsT | None], name: str = ""
    ) -> MediumSpec | None:
        """The medium with other options, under its own name or another; None where it can't be had."""
        options = change(self.options_of(spec))
        return None if options is None else self.spec(name or spec.name, options)

    def spec(self, name: str, options: OptionsT) -> MediumSpec:
        """A medium of this kind, as data."""
        return MediumSpec(name=name, kind=self.name, **options.model_dump(mode="json"))


def medium_of(
    spec: MediumSpec, worker: int, kinds: Mapping[str, MediumKind[Any]], fault: Fault | None = None
) -> MediumSpec:
    """What a worker has as a medium of one of these kinds: its own part of it, slower where a fault makes it so.

    Raises BadInputError for a medium that can't be slower.
    """
    of_worker = spec.of_worker(worker)
    kind, factor = kinds[of_worker.kind], 1 if fault is None else fault.slows(DRIVE, worker)
    slower = of_worker if factor == 1 else kind.changed(of_worker, lambda options: kind.slower(options, factor))
    if slower is None:
        raise BadInputError(
            f"medium {spec.name!r} can't be {factor} times slower: only emulated drives with delays can, up to a "
            "hundred times with their `slowdown`"
        )
    return slower


UNKNOWN_DRIVE = "disk"
"""A drive of which the kernel does not know whether it rotates."""
