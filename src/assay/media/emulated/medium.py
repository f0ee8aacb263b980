"""A drive that you don't have: emulated as its profile says, under a real file system and page cache."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from assay.host.files import absolute
from assay.host.lease import Lease
from assay.host.mounts import mount_of
from assay.media.directory import DirectoryOptions, PlacedKind, disk_facts
from assay.media.emulated.attachment import (
    BLOCK_BYTES,
    LEAST_BYTES,
    MAKE,
    PURPOSE,
    MountedDrive,
    attach_raw,
    check_loop_devices,
    limit_dirty,
    missing,
    mount,
    queue_of,
    scheduler_to_use,
    schedulers,
)
from assay.media.emulated.ceiling import Ceiling, known_ceiling
from assay.media.emulated.emulator import Emulator, EmulatorSilentError, System
from assay.media.emulated.profile import find_profile
from assay.media.page_cache import CACHE_NOT_QUITE_COLD, make_cold, write_out
from assay.model.base import Bytes, UserPath
from assay.model.doubt import Doubt, doubt_kind
from assay.model.drive_profile import ASSUMED, PARAMETERS, PROFILE_FILES, DriveProfile, varied_name, way_of
from assay.model.errors import AssayError, BadInputError
from assay.model.fact import Fact
from assay.model.installation import Holder, Installation
from assay.model.medium import Medium, Space
from assay.model.naming import nearest
from assay.model.probe import WatchedDisk, WatchedProcess
from assay.model.record import Part
from assay.model.registry import MEDIA
from assay.model.trial import MediumSpec

NO_DELAYS = "null"
"""The profile of a drive that takes no time."""
MOST_SLOWDOWN = 100

LATE_SHARE, LATE_S = 0.02, 0.2
"""A larger share of a part's time that its client waited longer than for the drive, and a longer time, is doubted."""

OVERSHOOT_SHARE = 0.1
"""Half of the replies leaving later than this share of the drive's mean response time are doubted."""

SHORT_BYTES = 4096

LATE_IN_MEMORY = "close other programs, or use a slower drive"
SLOWER = "this drive appears slower than the real one"
WAY = ", so most of it is the way to the emulator and back"

EMULATOR_WAS_LATE = doubt_kind(
    "emulator-was-late",
    "medium",
    when=(
        "during staging, the run or the write-out, requests to an emulated drive took longer than its profile says, "
        "by more than 2 % of that time (`late_seconds`)"
    ),
    why="the disk below its backing file, or this machine's path to it, is slower than the emulated drive",
    cure=f"put the backing file into memory (path: /dev/shm) or on a faster disk, {LATE_IN_MEMORY}",
    severity=110,
)
EMULATOR_WAS_SLOW = doubt_kind(
    "emulator-was-slow",
    "medium",
    when="half of an emulated drive's replies were late by more than 10 % of its mean response time",
    why="this machine wakes the emulator too late, or is too slow for such a drive",
    cure="close other programs, use a machine with more processors, or use a slower drive",
    severity=90,
)
DRIVE_TOO_FAST_FOR_THIS_MACHINE = doubt_kind(
    "drive-too-fast-for-this-machine",
    "medium",
    when="a read of 4 KiB takes longer on its way (`path_cost`) than the emulated SSD itself takes",
    why="short requests, one after the other, can't be as fast here as on such a drive",
    cure="use a faster machine, or compare only jobs with long requests",
    severity=100,
)
DRIVE_BEYOND_THE_PATH = doubt_kind(
    "drive-beyond-the-path",
    "medium",
    when="an emulated drive was late for more than 2 % of an interval, and figures of its profile are above 95 % of "
    "what this machine's path to emulated drives carries (`assay media ceiling`)",
    why="at such rates FUSE, the loop device and the emulator need more time for the requests than the drive would",
    cure="use a machine with faster or more processors, a slower drive, or the medium's option `slowdown`",
    severity=105,
)
EMULATOR_MEMORY_NOT_LOCKED = doubt_kind(
    "emulator-memory-not-locked",
    "medium",
    when="the kernel refused to lock an emulator's memory",
    why="some of it may be swapped out, and requests then take longer than on the drive",
    cure="raise the limit of locked memory (ulimit -l)",
)

DIRTY_LIMIT_MISSING = doubt_kind(
    "dirty-limit-missing",
    "medium",
    when="the kernel did not accept the limit of an emulated drive's unwritten data, its own `dirty_limit` or that of "
    "`write_back: node`: it has no such setting (Linux has it since 6.2), or the limit is above the kernel's own for "
    "all disks",
    why="the kernel holds back as much written data as for any other disk, so jobs may wait less for the drive",
    cure="use a newer kernel, or give a smaller `dirty_limit`, or less memory",
    severity=20,
)


def doubts_of(
    medium: str,
    profile: DriveProfile,
    path_cost: Mapping[str, Any],
    reports: Sequence[Mapping[str, Any]],
    *,
    intervals: Sequence[str] = (),
    in_memory: bool = False,
    ceiling: Ceiling | None = None,
) -> tuple[Doubt, ...]:
    """What the reports since attaching say, each doubt by the worst of them, and what the path's cost says.

    The first reports are of these intervals of a trial; `in_memory`: the backing file is in memory already; `ceiling`:
    what the path carries, which matters only where the drive was late.
    """
    doubts = []
    worst = max((one for one in reports if _late_s(one) > LATE_S), key=_late_share, default={})
    if _late_share(worst) > LATE_SHARE:
        late, place = worst["late"], reports.index(worst)
        during = f" ({intervals[place]})" if place < len(intervals) else ""
        what = (
            f"requests to {medium} took {_late_s(worst):.1f} s longer than its profile says, within "
            f"{worst['elapsed_seconds']:.1f} s{during}; {late['share']:.1%} of the emulator's replies were late, at "
            f"worst by {late['worst_us'] / 1000:.1f} ms{WAY if late['share'] < LATE_SHARE else ''}"
        )
        doubts.append(EMULATOR_WAS_LATE.doubt(what, medium, cure=LATE_IN_MEMORY if in_memory else ""))
        if beyond := list(ceiling.beyond(profile)) if ceiling else []:
            doubts.append(DRIVE_BEYOND_THE_PATH.doubt(f"{medium}: {'; '.join(beyond)}", medium))
    over = max(reports, key=_overshoot_share, default={})
    if _overshoot_share(over) > OVERSHOOT_SHARE:
        what = (
            f"half of the replies of {medium} were sent at least {over['overshoot']['median_us']:.0f} us late; "
            f"requests take {over['mean_response_us']:.0f} us on average, so {SLOWER}"
        )
        doubts.append(EMULATOR_WAS_SLOW.doubt(what, medium))
    # The drive's own time for one short read, alone; other drives need none, or milliseconds.
    own_us = profile.values.get("read_command_us", 0.0) + profile.values.get("read_latency_us", 0.0)
    response_us, path_us = own_us * profile.slowdown, path_us_of(path_cost)
    if own_us and path_us > response_us:
        what = (
            f"FUSE and the loop device alone add {path_us:.0f} us to a read of 4 KiB from {medium}, and the real drive "
            f"answers within {response_us:.0f} us, so {SLOWER}"
        )
        doubts.append(DRIVE_TOO_FAST_FOR_THIS_MACHINE.doubt(what, medium))
    if any(not report.get("memory_locked", True) for report in reports):
        what = f"the kernel refused to lock the memory of the emulator of {medium}"
        doubts.append(EMULATOR_MEMORY_NOT_LOCKED.doubt(what, medium))
    return tuple(doubts)


def path_us_of(path_cost: Mapping[str, Any]) -> float:
    """Microseconds that a read of 4 KiB takes on its way alone; 0 when nothing was measured."""
    line = path_cost.get("read")
    return (line["base_ns"] + SHORT_BYTES * line["ns_per_byte"]) / 1000 if line else 0.0


def _overshoot_share(report: Mapping[str, Any]) -> float:
    mean_us = report.get("mean_response_us", 0.0)
    return float(report["overshoot"]["median_us"] / mean_us) if mean_us else 0.0


def _late_share(report: Mapping[str, Any]) -> float:
    """How much of a part's time its client waited longer than for the drive."""
    elapsed_s = float(report.get("elapsed_seconds", 0.0))
    return _late_s(report) / elapsed_s if elapsed_s else 0.0


def _late_s(report: Mapping[str, Any]) -> float:
    """For how many seconds that was."""
    return float(report.get("late_seconds", 0.0))


FILE_SYSTEM_SHARE = 0.02
"""What ext4 and xfs take of a device for themselves, about."""


IN_MEMORY = ("tmpfs", "ramfs")
"""A backing file on one of these takes memory for what is written."""


class EmulatedOptions(DirectoryOptions):
    """A drive that behaves as its profile says."""

    path: UserPath | None = Field(
        default=None,
        description="the directory of its backing file, on a disk faster than the drive; by default `.assay/work`.",
    )
    size_bytes: Bytes | None = Field(
        default=None, alias="size", description="use only the first bytes of the drive; by default all."
    )
    profile: str = Field(
        default="",
        description="the name of its profile, or the path of a profile file, which ends in `.yaml` or `.yml`.",
    )
    file_system: Literal["ext4", "xfs"] = Field(default="ext4", description="its file system.")
    slowdown: Annotated[int, Field(strict=True)] = Field(
        default=1,
        ge=1,
        le=MOST_SLOWDOWN,
        description="multiplies all of its times, for a machine whose processors are slower, or fewer, by this factor "
        "than those of the real machine with the drive.",
    )
    shared_by: float | None = Field(
        default=None,
        exclude_if=lambda users: users is None,
        ge=1,
        le=MOST_SLOWDOWN,
        description="how many equal users share the drive, of whom the experiment is one: it gets that part of the "
        "rates and buffers, at the same latencies; by default none shares it. Not for hard disks, which are slower in "
        "all that they do: use `slowdown`.",
    )
    dirty_limit_bytes: Bytes | None = Field(
        default=None,
        alias="dirty_limit",
        description="how much the kernel may hold back of what is written to it; by default as much as for any disk.",
    )

    @model_validator(mode="after")
    def _names_its_profile(self) -> "EmulatedOptions":
        if not self.profile:
            raise ValueError("an emulated medium needs a profile; `assay media list` shows those there are")
        return self


class EmulatedMedium:
    """Keeps its bytes on an emulated drive (see `Device` for what it can do besides).

    Its backing file is sparse: it takes as much of the disk below as was written and not discarded, and nothing is
    left of it after the scope.
    """

    def __init__(
        self, spec: MediumSpec, installation: Installation, emulator: Emulator | None = None,
        system: System | None = None, node: str = "",
    ) -> None:  # fmt: skip
        self.spec = spec
        self.node = node
        self._options = EMULATED.options_of(spec)
        self._installation = installation
        self._emulator = emulator or Emulator(installation)
        self._system = system or System()
        self._attached: MountedDrive | None = None
        self._reports: list[Mapping[str, Any]] = []
        self._path_cost: Mapping[str, Any] = {}
        self._dirty_limit_bytes = self._options.dirty_limit_bytes
        self._dirty_limited = True
        self._dilation = 1

    def dilate(self, dilation: int) -> None:
        """Beside a slowdown of its own; facts stay those of the drive that it stands for."""
        self._dilation = dilation

    def hold_back(self, limit_bytes: int) -> None:
        """Unless it has a `dirty_limit` of its own."""
        if self._options.dirty_limit_bytes is None:
            self._dirty_limit_bytes = limit_bytes

    @property
    def _as_attached(self) -> DriveProfile:
        """The profile with all that makes the drive slower here."""
        return self.profile.model_copy(update={"slowdown": self.profile.slowdown * self._dilation})

    @cached_property
    def profile(self) -> DriveProfile:
        """The drive's. Raises BadInputError when there is none of that name, or its form is wrong."""
        name, way = way_of(self._options.profile)
        profile = find_profile(name, self._installation.profiles)
        profile = profile.varied(way) if way else profile
        if self._options.shared_by is not None:
            try:
                profile = profile.shared(self._options.shared_by)
            except ValueError as error:
                raise BadInputError(f"medium {self.spec.name}: {error}") from None
        return profile.model_copy(update={"slowdown": self._options.slowdown})

    @property
    def place(self) -> Path:
        """The directory that the backing file goes to."""
        return (self._options.path or self._installation.parts / "work").resolve()

    def facts(self) -> Mapping[str, Fact]:
        queue = queue_of(self.profile)
        title, slowdown = self.profile.title or self.profile.name, self.profile.slowdown
        scheduler = queue.scheduler
        if self._attached is not None:
            scheduler = next(iter(schedulers(self._attached.device)), scheduler)
        else:  # the one that it will be, as far as a free loop device tells
            with suppress(BadInputError):
                scheduler = scheduler_to_use(scheduler, schedulers(check_loop_devices()))
        known: dict[str, Fact] = {
            "kind": self.spec.kind,
            "profile": self.profile.name,
            "profile_digest": self.profile.digest,
            ASSUMED: self.profile.assumed,
            PARAMETERS: len(self.profile.figures),
            "emulator_digest": self._emulator.digest,
            "drive": title if slowdown == 1 else f"{title}, {slowdown} times slower",
            **({"model": self.profile.model} if self.profile.model and slowdown == 1 else {}),
            "size_bytes": self._size(),
            "file_system": self._options.file_system,
            "rotational": queue.rotational,
            "scheduler": scheduler,
            "read_ahead_kb": queue.read_ahead_kb,
            "queue_depth": queue.depth,
            **queue.further,
        }
        if scheduler != queue.scheduler:
            known["scheduler_of_drive"] = f"{queue.scheduler}, which this kernel does not offer"
        below = mount_of(_existing(self.place))
        known |= {"backing_device": below.source, "backing_file_system": below.file_system}
        known |= {f"backing_{name}": value for name, value in disk_facts(below.device_number).items()}
        if (ceiling := known_ceiling(self._installation, self._emulator)) is not None:
            known["path_ceiling"] = ceiling.fact
        if self._attached is not None:
            known["seed"] = self._attached.drive.seed
            known["device"] = str(self._attached.device)
            if self._dirty_limited and self._dirty_limit_bytes is not None:
                known["dirty_limit_bytes"] = self._dirty_limit_bytes
            known["mount_options"] = mount_of(self._attached.mount_point).options
            known["path_cost"] = ", ".join(
                f"{name} {line['base_ns'] / 1000:.0f} us + {line['ns_per_byte']:.2f} ns/byte"
                for name, line in self._path_cost.items()
                if isinstance(line, Mapping)
            )
        return known

    def space(self) -> Space:
        """What fits: the drive, or what is free on the disk below its backing file, whichever is less.

        Nothing is attached for it. Raises BadInputError when an emulated drive can't be had here, or not this one: no
        root, no FUSE, no loop device, no emulator, an impossible profile, a place that can't be written to.
        """
        self.check()
        total = int(self._size() * (1 - FILE_SYSTEM_SHARE))
        below = _existing(self.place)
        free_below = shutil.disk_usage(below).free
        return Space(
            free_bytes=min(total, free_below), total_bytes=total, shared=below.stat().st_dev,
            shared_free_bytes=free_below, in_memory=mount_of(below).file_system in IN_MEMORY,
        )  # fmt: skip

    def check(self) -> None:
        """Raises BadInputError when `attached` could not work, as far as can be told without attaching."""
        profile = self._as_attached
        lacking = missing(self._installation, self._options.file_system)
        if lacking:
            raise BadInputError(f"medium {self.spec.name!r}: {'; '.join(lacking)}")
        self._emulator.check(profile)
        self._size()
        if self._options.path is not None and not (self.place.is_dir() and os.access(self.place, os.W_OK | os.X_OK)):
            raise BadInputError(f"medium {self.spec.name!r}: {self.place} is not a directory that can be written to")

    @contextmanager
    def attached(self) -> Iterator[Path]:
        """An empty directory on the freshly made drive; at the end nothing is left of either.

        When the drive died meanwhile this raises AssayError with the reason, whatever came of it.
        """
        with Lease(self._installation.state, PURPOSE) as lease, ExitStack() as scope:
            directory = self.attach(lease, scope).mount_point / "trial"
            directory.mkdir(mode=0o700)
            try:
                yield directory
            except Exception as error:
                if reason := self.failure():
                    raise AssayError(reason) from error
                raise
            if reason := self.failure():
                raise AssayError(reason)

    def attach(self, lease: Lease, scope: ExitStack, mount_point: Path | None = None) -> MountedDrive:
        """Mount the drive, empty, at a mount point of the caller's or its own, for the time of a scope.

        Raises AssayError (BadInputError where the backing disk is too small) when a step fails; the scope undoes the
        rest.
        """
        profile, system = self._as_attached, self._system
        device, drive = attach_raw(profile, self._size(), self.place, lease, self._emulator, system, scope)
        point = mount_point or drive.home / "mount"
        point.mkdir(exist_ok=True)
        system.run(*MAKE[self._options.file_system], str(device))
        cost = self._emulator.measure(device, drive.home)
        mount(device, self._options.file_system, point, system, scope)
        drive.begin(cost, device)
        self._attached = MountedDrive(drive=drive, device=device, mount_point=point)
        limit = self._dirty_limit_bytes
        self._dirty_limited = limit_dirty(device, limit, system)
        if limit is not None:
            scope.callback(limit_dirty, device, None, system)
        self._reports, self._path_cost = [], cost
        scope.callback(self._keep_last_report)
        return self._attached

    def _keep_last_report(self) -> None:
        """Keep the last report; an emulator that hangs is ended, since unmounting would wait for it without end."""
        if self._attached is None:
            return
        try:
            self.device_report()
        except EmulatorSilentError:
            self._attached.drive.kill()
        except AssayError:
            pass
        self._attached = None

    def make_cold(self) -> tuple[Doubt, ...]:
        """Write out and drop what the kernel caches of this drive, and nothing else; then let the drive itself settle.

        That nothing stays is counted. Raises AssayError when the drive has died.
        """
        if self._attached is None:
            return ()
        try:
            left = make_cold(self._attached.mount_point, self._attached.device)
            self._attached.drive.ask("settle")
        except (OSError, AssayError) as error:
            raise AssayError(self.failure() or f"{self.spec.name} can't be made cold: {error}") from error
        doubt = CACHE_NOT_QUITE_COLD.doubt(
            f"{left} bytes of files on {self.spec.name} stayed in the page cache",
            self.spec.name,
            why="pages that a process has mapped or is writing can't be dropped, so their first reads come from memory",
            cure="see what keeps files on the medium open (fuser -vm), and have nothing else use it",
        )
        return (doubt,) if left else ()

    def failure(self) -> str | None:
        if self._attached is None:
            return None
        if reason := self._attached.drive.failure():
            return f"medium {self.spec.name!r}: {reason}"
        errors = self._attached.drive.seen.get("backing_errors", {"count": 0})
        if errors["count"]:
            return (
                f"medium {self.spec.name!r}: the disk below its backing file failed {errors['count']} times "
                f"({'; '.join(errors['reasons'])}); see that {self.place} has room"
            )
        return None

    def write_out(self) -> None:
        if self._attached is not None:
            try:
                write_out(self._attached.mount_point)
            except OSError as error:
                raise AssayError(self.failure() or f"{self.spec.name} can't be written out: {error}") from error

    def reset_report(self) -> None:
        if self._attached is not None:
            self._attached.drive.ask("reset")

    def release(self) -> None:
        if self._attached is not None:
            self._attached.drive.ask("release")

    def device_report(self) -> Mapping[str, Any]:
        if self._attached is not None:
            self._reports.append(self._attached.drive.ask("report"))
        return self._reports[-1] if self._reports else {}

    def watched_disk(self, directories: Sequence[Path] = ()) -> WatchedDisk:
        if self._attached is None:
            raise AssayError(f"{self.spec.name} is not attached")
        return WatchedDisk(
            medium=self.spec.name, place=self._attached.mount_point, device=self._attached.device, own=True,
            rotational=queue_of(self.profile).rotational, log=self._attached.drive.request_log(), node=self.node,
        )  # fmt: skip

    def watched_processes(self) -> tuple[WatchedProcess, ...]:
        process = None if self._attached is None else self._attached.drive.process
        return () if process is None else (WatchedProcess(group="emulator", pid=process.pid),)

    def doubts(self) -> tuple[Doubt, ...]:
        """By all reports since it was attached, for the worst of them: staging may be late where the run is not."""
        in_memory = mount_of(_existing(self.place)).file_system in IN_MEMORY
        unlimited = DIRTY_LIMIT_MISSING.doubt(
            f"the kernel did not take the dirty limit of {self.spec.name}", self.spec.name
        )
        limit = () if self._dirty_limited else (unlimited,)
        return limit + doubts_of(
            self.spec.name,
            self._as_attached,
            self._path_cost,
            self._reports,
            intervals=get_args(Part),
            in_memory=in_memory,
            ceiling=known_ceiling(self._installation, self._emulator),
        )

    def _size(self) -> int:
        """Bytes of the drive that are used, from its start. Raises BadInputError when they are too many or too few."""
        capacity = self.profile.values.get("capacity_bytes")
        if not capacity:
            self._emulator.check(self.profile)
            figures = self._emulator.figures()[self.profile.kind]
            capacity = next(figure.default for figure in figures if figure.name == "capacity_bytes") or 0
        options, least = self._options, LEAST_BYTES[self._options.file_system]
        size = int(options.size_bytes or capacity) // BLOCK_BYTES * BLOCK_BYTES
        if size > capacity:
            raise BadInputError(
                f"{options.size_bytes} bytes are more than the drive {self.profile.name} has ({int(capacity)})"
            )
        if size < least:
            raise BadInputError(f"{size} bytes are too few: {options.file_system} needs {least} at least")
        return size


def _existing(place: Path) -> Path:
    """The place, or the nearest directory above it that is there."""
    return next(folder for folder in (place, *place.parents) if folder.is_dir())


class EmulatedKind(PlacedKind[EmulatedOptions]):
    """Drives that you don't have."""

    title = "Emulated drive"
    options = EmulatedOptions
    known_by = "profile"
    emulated = True
    dilated = True
    energy = "reported"
    passing_facts = frozenset({"device"})

    def located(self, name: str, options: EmulatedOptions, folder: Path, words: Sequence[str]) -> EmulatedOptions:
        """A profile's file by its whole path; `words` are the shipped profiles' names."""
        options = super().located(name, options, folder, words)
        profile = options.profile
        if Path(profile).suffix in PROFILE_FILES:
            return options.model_copy(update={"profile": str(absolute(folder, Path(profile)))})
        if "/" in profile:
            raise BadInputError(
                f"medium {name} is {profile!r}, no profile's name; for a directory say {{path: {profile}}}, "
                "and a profile's file ends in .yaml"
            )
        if profile not in words:
            known = [*(name for name, kind in MEDIA.items() if kind.chosen and kind is not self), *words]
            raise BadInputError(f"unknown kind of medium or profile {profile!r}; {nearest(profile, known)}")
        return options

    def open(self, spec: MediumSpec, lease: Holder, installation: Installation, node: str = "") -> Medium:
        return EmulatedMedium(spec, installation, node=node)

    def described(self, spec: MediumSpec) -> str:
        fields = spec.model_extra or {}  # as recorded: bounds may have been others then
        profile, way = way_of(str(fields.get("profile", "")).rpartition("/")[2])
        name = profile.removesuffix(".yaml").removesuffix(".yml") + (f", assumed figures {way}" if way else "")
        slowdown, users = self.slowdown(spec), float(fields.get("shared_by") or 1)
        name = f"1/{users:g} of {name}" if users > 1 else name
        return f"emulated {name}{f', {slowdown} times slower' if slowdown != 1 else ''}"

    def slowdown(self, spec: MediumSpec) -> int:
        return int((spec.model_extra or {}).get("slowdown") or 1)

    def slower(self, options: EmulatedOptions, factor: int) -> EmulatedOptions | None:
        """By its slowdown; a drive without delays has nothing to multiply."""
        slowdown = options.slowdown * factor
        if options.profile == NO_DELAYS or slowdown > MOST_SLOWDOWN:
            return None
        return options.model_copy(update={"slowdown": slowdown})

    def varied(self, options: EmulatedOptions, way: str, installation: Installation) -> EmulatedOptions | None:
        """By a profile that is made of its own. Raises BadInputError where there is none."""
        if not find_profile(options.profile, installation.profiles).speed_is_assumed:
            return None
        return options.model_copy(update={"profile": varied_name(options.profile, way)})

    def without_delays(self, options: EmulatedOptions) -> EmulatedOptions:
        same = options.model_dump(include={"path", "file_system", "dirty_limit_bytes"})
        return EmulatedOptions(profile=NO_DELAYS, **same)


EMULATED = EmulatedKind("emulated")
MEDIA.add(EMULATED.name, EMULATED, place=3)
