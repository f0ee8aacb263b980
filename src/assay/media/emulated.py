"""A drive that you don't have: emulated as its profile says, under a real file system and page cache."""

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.lease import Lease
from assay.media.attachment import Attached, Wanted, attach_drive, path_text, wanted_size
from assay.media.directory import disk_facts
from assay.media.drive import SilentError
from assay.media.emulator import Emulator
from assay.media.file_system import make_cold, write_out
from assay.media.judging import doubts_of, still_cached
from assay.media.loop import check_loop_devices, scheduler_to_use, schedulers
from assay.media.profile import Profile, find_profile
from assay.media.raw import queue_of
from assay.media.requirements import missing
from assay.media.system import RealSystem, System
from assay.model.doubt import Doubt
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation
from assay.model.medium import Space
from assay.model.probe import WatchedDisk, WatchedProcess
from assay.model.trial import MediumSpec
from assay.mounts import mount_of

PURPOSE = "medium"
"""Begins the names of the leases that hold emulated drives."""

FILE_SYSTEM_SHARE = 0.02
"""What ext4 and xfs take of a device for themselves, about."""


IN_MEMORY = ("tmpfs", "ramfs")
"""A backing file on one of these takes memory for what is written."""


class EmulatedMedium:
    """Keeps its bytes on an emulated drive (see `Device` for what it can do besides).

    Its backing file is sparse: it takes as much of the disk below as was written and not discarded, and nothing is
    left of it after the scope.
    """

    def __init__(
        self, spec: MediumSpec, installation: Installation, emulator: Emulator | None = None,
        system: System | None = None,
    ) -> None:  # fmt: skip
        self.spec = spec
        self._installation = installation
        self._emulator = emulator or Emulator(installation)
        self._system = system or RealSystem()
        self._attached: Attached | None = None
        self._reports: list[Mapping[str, Any]] = []
        self._path_cost: Mapping[str, Any] = {}

    @cached_property
    def profile(self) -> Profile:
        """The drive's. Raises BadInputError when there is none of that name, or its form is wrong."""
        if self.spec.profile is None:
            raise BadInputError(f"medium {self.spec.name!r} is emulated and has no profile; name one")
        found = find_profile(self.spec.profile, self._installation.profiles)
        return found.model_copy(update={"slowdown": self.spec.slowdown})

    @property
    def place(self) -> Path:
        """The directory that the backing file goes to."""
        return (self.spec.path or self._installation.parts / "work").resolve()

    def facts(self) -> Mapping[str, str]:
        """Digests of profile and emulator, the settings of block device and file system, and the disk underneath."""
        queue = queue_of(self.profile)
        known = {
            "kind": self.spec.kind,
            "profile": self.profile.name,
            "profile_digest": self.profile.digest,
            "emulator_digest": self._emulator.digest,
            "drive": _drive(self.profile),
            **({"model": self.profile.model} if self.profile.model and self.profile.slowdown == 1 else {}),
            "size_bytes": str(self._size()),
            "file_system": self.spec.file_system,
            "rotational": "yes" if queue.rotational else "no",
            "scheduler": self._scheduler(queue.scheduler),
            "read_ahead_kb": str(queue.read_ahead_kb),
            "queue_depth": str(queue.depth),
        }
        if known["scheduler"] != queue.scheduler:
            known["scheduler_of_drive"] = f"{queue.scheduler}, which this kernel does not offer"
        below = mount_of(_existing(self.place))
        known |= {"backing_device": below.source, "backing_file_system": below.file_system}
        known |= {f"backing_{name}": value for name, value in disk_facts(below.device_number).items()}
        if self._attached is not None:
            known["seed"] = str(self._attached.drive.seed)
            known["device"] = str(self._attached.device)
            known["mount_options"] = mount_of(self._attached.mount_point).options
            known["path_cost"] = path_text(self._attached.path_cost)
        return known

    def space(self) -> Space:
        """What fits: the drive, or what is free on the disk below its backing file, whichever is less.

        Nothing is attached for it. Raises BadInputError when an emulated drive can't be had here, or not this one: no
        root, no FUSE, no loop device, no emulator, an impossible profile, a place that can't be written to.
        """
        self.check()
        total = int(self._size() * (1 - FILE_SYSTEM_SHARE))
        below = _existing(self.place)
        numbers = os.statvfs(below)
        free_bytes = min(total, numbers.f_bavail * numbers.f_frsize)
        in_memory = mount_of(below).file_system in IN_MEMORY
        return Space(free_bytes=free_bytes, total_bytes=total, shared=below.stat().st_dev, in_memory=in_memory)

    def check(self) -> None:
        """Raises BadInputError when `attached` could not work, as far as can be told without attaching."""
        profile = self.profile
        lacking = missing(self._installation, self.spec.file_system)
        if lacking:
            raise BadInputError(f"medium {self.spec.name!r}: {'; '.join(lacking)}")
        self._emulator.check(profile)
        self._size()
        if self.spec.path is not None and not (self.place.is_dir() and os.access(self.place, os.W_OK | os.X_OK)):
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

    def attach(self, lease: Lease, scope: ExitStack, mount_point: Path | None = None) -> Attached:
        """Mount the drive, at a mount point of the caller's or its own, for the time of a scope."""
        wanted = Wanted(
            profile=self.profile, size_bytes=self._size(), file_system=self.spec.file_system, place=self.place,
            mount_point=mount_point,
        )  # fmt: skip
        self._attached = attach_drive(wanted, lease, self._emulator, self._system, scope)
        self._reports, self._path_cost = [], self._attached.path_cost
        scope.callback(self._take_leave)
        return self._attached

    def _take_leave(self) -> None:
        """Keep the last report; an emulator that hangs is ended, since unmounting would wait for it without end."""
        if self._attached is None:
            return
        try:
            self.device_report()
        except SilentError:
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
        return (still_cached(self.spec.name, left),) if left else ()

    def failure(self) -> str | None:
        """Why the drive can no longer be used: its emulator ended or hangs, or the disk below failed it."""
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
        """Have the kernel write what it still holds back. Raises AssayError when the drive has died."""
        if self._attached is not None:
            try:
                write_out(self._attached.mount_point)
            except OSError as error:
                raise AssayError(self.failure() or f"{self.spec.name} can't be written out: {error}") from error

    def reset_report(self) -> None:
        """Count anew from now on."""
        if self._attached is not None:
            self._attached.drive.ask("reset")

    def device_report(self) -> Mapping[str, Any]:
        """What the emulator tells; after the scope, what it told last."""
        if self._attached is not None:
            self._reports.append(self._attached.drive.ask("report"))
        return self._reports[-1] if self._reports else {}

    def watched_disk(self) -> WatchedDisk:
        """See `model.medium.Watchable`."""
        if self._attached is None:
            raise AssayError(f"{self.spec.name} is not attached")
        rotational = queue_of(self.profile).rotational
        return self._attached.watched(self.spec.name, rotational=rotational, log=self._attached.drive.request_log())

    def watched_processes(self) -> tuple[WatchedProcess, ...]:
        """The emulator's."""
        process = None if self._attached is None else self._attached.drive.process
        return () if process is None else (WatchedProcess(group="emulator", pid=process.pid),)

    def take_report(self, report: Mapping[str, Any]) -> None:
        """Judge by a report that was taken elsewhere."""
        self._reports = [report]

    def doubts(self) -> tuple[Doubt, ...]:
        """By all reports since it was attached, for the worst of them: staging may be late where the run is not."""
        return doubts_of(self.spec.name, self.profile, self._path_cost, self._reports)

    def _scheduler(self, wanted: str) -> str:
        """The one in use; before attaching, the one that will be as far as a free loop device tells."""
        if self._attached is not None:
            return next(iter(schedulers(self._attached.device)), wanted)
        try:
            return scheduler_to_use(wanted, schedulers(check_loop_devices()))
        except BadInputError:
            return wanted

    def _size(self) -> int:
        capacity = self.profile.values.get("capacity_bytes") or self._default("capacity_bytes")
        return wanted_size(self.profile, self.spec.size_bytes, self.spec.file_system, int(capacity))

    def _default(self, figure: str) -> float:
        """The value of a figure that the profile leaves out."""
        self._emulator.check(self.profile)
        (spec,) = [one for one in self._emulator.figures()[self.profile.kind] if one.name == figure]
        return spec.default or 0.0


def _drive(profile: Profile) -> str:
    """Its title, and how much slower it is made."""
    title = profile.title or profile.name
    return title if profile.slowdown == 1 else f"{title}, {profile.slowdown} times slower"


def _existing(place: Path) -> Path:
    """The place, or the nearest directory above it that is there."""
    return next(folder for folder in (place, *place.parents) if folder.is_dir())
