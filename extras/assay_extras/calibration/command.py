"""`assay media calibrate`: measure media with fio, keep what came of it, show it.

An emulated drive is measured twice: as a whole block device, and through a file system on another, equal drive.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from assay.cli.console import ConsoleDisplay
from assay.host.files import possible, replace_text
from assay.host.interrupts import interruptible
from assay.host.lease import Lease, release_stale
from assay.host.machine import machine_facts
from assay.media.directory import DIRECTORY, DirectoryOptions
from assay.media.emulated.attachment import PURPOSE, raw_drive
from assay.media.emulated.emulator import Drive, Emulator, System
from assay.media.emulated.medium import EMULATED, EmulatedMedium, EmulatedOptions, doubts_of
from assay.media.emulated.profile import find_profile, profile_names, read_profile
from assay.model.base import Frozen, json_text
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import BadInputError
from assay.model.fact import Fact
from assay.model.installation import Installation
from assay.model.installed import kind_of
from assay.model.progress import Progress
from assay.model.trial import MediumSpec
from assay.report.words import print_line
from assay_extras.calibration.calibration import Calibration, CalibrationFolder, Form, Knee
from assay_extras.calibration.fidelity import named_figures
from assay_extras.calibration.fio import Meter, find_fio
from assay_extras.calibration.measure import (
    Ground,
    MeasuredMedium,
    block_device,
    measure,
    measure_knee,
    plan_accesses,
    queue_settings,
    write_out,
)
from assay_extras.calibration.page import calibration_page, print_calibration
from assay_extras.calibration.profile import make_profile, nearest

# Of an emulated drive's seconds: the share for the block device as a whole; the rest is for the file system on it.
_RAW_SHARE = 0.62
# How far past the expected knee, so that the rate beyond it shows; and which share of the seconds, and of the room
# below the backing file, it may take.
_PAST_KNEE, _KNEE_SHARE, _ROOM_SHARE = 1.3, 0.35, 0.4
# Facts that change from day to day and tell no medium from another.
_PASSING = {"free_bytes", "path_cost", "seed"}


class Wish(Frozen):
    """How to calibrate: for how long, how finely, and whether although there is a calibration already."""

    seconds: float = 120.0
    form: Form = "brief"
    again: bool = False


class KneePlan(Frozen):
    """What writing past a write cache takes, by what the profile expects; `doubt` when it takes too much."""

    total_bytes: int = 0
    seconds: float = 0.0
    doubt: Doubt | None = None


def facts_of(spec: MediumSpec, installation: Installation) -> dict[str, Fact]:
    """What a calibration holds for: the medium, the machine, and for an emulated drive the emulator.

    Raises BadInputError where the medium can't be used.
    """
    with Lease(installation.state, "calibrate") as lease:
        medium = kind_of(spec).open(spec, lease, installation)
        medium.space()
        lasting = {name: value for name, value in medium.facts().items() if name not in _PASSING}
    machine = {name: value for name, value in machine_facts().items() if name in {"cpu", "cores", "kernel"}}
    return {**lasting, **{f"machine_{name}": value for name, value in machine.items()}}


class Calibrator(NamedTuple):
    """Measures media as was wished."""

    wish: Wish
    meter: Meter
    installation: Installation
    progress: Progress

    def calibrate(self, spec: MediumSpec, facts: Mapping[str, Fact]) -> Calibration:
        """One medium, whose facts these are, now. Raises AssayError when it, or fio, fails."""
        self.progress.step(f"calibrate {spec.name}")
        if kind_of(spec).emulated:
            return self._emulated(EmulatedMedium(spec, self.installation), facts)
        return self._directory(spec, facts)

    def _directory(self, spec: MediumSpec, facts: Mapping[str, Fact]) -> Calibration:
        device = block_device(facts)
        readable = device is not None and device.readable
        with Lease(self.installation.state, "calibrate") as lease:
            ground = Ground(
                directory=lease.make_directory(Path(str(facts["place"])) / f"assay-{lease.id}"),
                device=device.path if device and readable else None,
                device_bytes=device.bytes if device and readable else 0,
                rotational=facts.get("rotational") is True,
            )
            accesses = plan_accesses(ground, self.wish.form)
            measured = measure(ground, accesses, self.meter, self.wish.seconds, self.progress)
        made = self._calibration(spec.name, facts, [measured], device.bytes if device else None)
        queue = queue_settings(device.path) if device else None
        return made.model_copy(update={"knee": measured.knee, "behaviour": measured.behaviour, "queue": queue})

    def _emulated(self, medium: EmulatedMedium, facts: Mapping[str, Fact]) -> Calibration:
        plan = _plan_knee(medium, self.wish)
        size_bytes = int(facts["size_bytes"])
        raw, knee, raw_doubts = self._raw(medium, size_bytes, plan)
        with medium.attached() as directory:
            ground = Ground(directory=directory, settle=medium.make_cold)
            accesses = [access for access in plan_accesses(ground, self.wish.form) if access.buffered]
            mounted = measure(ground, accesses, self.meter, self.wish.seconds * (1 - _RAW_SHARE), self.progress)
        made = self._calibration(medium.spec.name, facts, [raw, mounted], size_bytes)
        doubts = [*made.doubts, *([plan.doubt] if plan.doubt else []), *raw_doubts]
        doubts += [doubt for doubt in medium.doubts() if doubt not in doubts]
        expected = medium.profile.expected
        return made.model_copy(update={"knee": knee, "doubts": tuple(doubts), "expected": expected})

    def _raw(
        self, medium: EmulatedMedium, size_bytes: int, plan: KneePlan
    ) -> tuple[MeasuredMedium, Knee | None, tuple[Doubt, ...]]:
        """The block device as a whole, its write cache first."""
        knee, emulator = None, Emulator(self.installation)
        with (
            Lease(self.installation.state, PURPOSE) as lease,
            raw_drive(medium.profile, size_bytes, medium.place, lease, emulator, System()) as (device, drive),
        ):
            ground = Ground(
                device=device,
                device_bytes=size_bytes,
                may_overwrite=True,
                rotational=medium.profile.kind == "hdd",
                write_cache_bytes=int(medium.profile.expected_values.get("write_cache_knee_bytes", 0)),
                settle=lambda: _settle(drive),
            )
            seconds = self.wish.seconds * _RAW_SHARE
            if plan.total_bytes and plan.doubt is None:
                self.progress.detail("write past the write cache")
                knee = measure_knee(ground, self.meter, plan.total_bytes, plan.seconds * 1.5 + 5)
                seconds = max(seconds - plan.seconds, seconds / 2)
            accesses = plan_accesses(ground, self.wish.form)
            measured = measure(ground, accesses, self.meter, seconds, self.progress)
            doubts = doubts_of(medium.spec.name, medium.profile, {}, [drive.ask("report")])
        return measured, knee, doubts

    def _calibration(
        self, medium: str, facts: Mapping[str, Fact], measured: Sequence[MeasuredMedium], device_bytes: int | None
    ) -> Calibration:
        return Calibration(
            medium=medium,
            facts=facts,
            fio_version=self.meter.version,
            taken=f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
            form=self.wish.form,
            budget_s=self.wish.seconds,
            file_bytes=max(measurement.file_bytes for measurement in measured),
            device_bytes=device_bytes,
            points=tuple(point for measurement in measured for point in measurement.points),
            doubts=tuple(doubt for measurement in measured for doubt in measurement.doubts),
        )


def _settle(drive: Drive) -> None:
    """Empty the drive's caches, and write out its backing file, which the kernel would do amidst what is next."""
    drive.ask("settle")
    write_out(drive.backing)


KNEE_NOT_MEASURED = doubt_kind(
    "knee-not-measured",
    "calibration",
    when="writing beyond the write cache would take too much time or space",
    why="where and how far the write rate falls is only known from the profile",
    cure="calibrate for longer (--seconds), with more space below the backing file",
)


def _plan_knee(medium: EmulatedMedium, wish: Wish) -> KneePlan:
    """Nothing for a drive without a knee."""
    expected = medium.profile.expected_values
    knee = expected.get("write_cache_knee_bytes", 0.0)
    before = expected.get("sequential_write_mb_s", 0.0)
    beyond = expected.get("sequential_write_beyond_cache_mb_s", before)
    if not knee or not before or not beyond:
        return KneePlan()
    total_bytes = int(knee * _PAST_KNEE)
    seconds = knee / before / 1e6 + knee * (_PAST_KNEE - 1) / beyond / 1e6
    medium.place.mkdir(parents=True, exist_ok=True)
    room = shutil.disk_usage(medium.place).free * _ROOM_SHARE
    if seconds <= wish.seconds * _KNEE_SHARE and total_bytes <= room:
        return KneePlan(total_bytes=total_bytes, seconds=seconds)
    doubt = KNEE_NOT_MEASURED.doubt(
        f"the write cache was not filled: that takes {total_bytes / 1e9:.0f} GB and {seconds:.0f} s",
        cure=f"calibrate with --seconds {seconds / _KNEE_SHARE + 1:.0f}, and at least "
        f"{total_bytes / _ROOM_SHARE / 1e9:.0f} GB free below the backing file",
    )
    return KneePlan(total_bytes=total_bytes, seconds=seconds, doubt=doubt)


_LEAST_SECONDS = 20.0
_MOST_SECONDS = 86_400.0


def calibrate_media(
    media: tuple[str, ...], wish: Wish, installation: Installation, console: Console, *,
    profile_to: Path | None = None, quiet: bool = False,
) -> list[Calibration]:  # fmt: skip
    """Calibrate each medium (a directory, a profile's name or file) or take what is stored; show it unless `quiet`.

    Raises BadInputError before anything starts when one of them can't be calibrated, or `profile_to`, where a profile
    shall be written afterwards, can't be.
    """
    _check_profile_to(profile_to, media)
    if not wish.seconds >= _LEAST_SECONDS:  # as no NaN is
        raise BadInputError(f"--seconds {wish.seconds:g} is too short for any figure; give at least {_LEAST_SECONDS:g}")
    if wish.seconds > _MOST_SECONDS:
        raise BadInputError(f"--seconds {wish.seconds:g} is more than a day; give at most {_MOST_SECONDS:g}")
    meter = find_fio(os.environ)
    for lease in release_stale(installation.state, lambda text: print_line(console, f"assay: {text}")):
        print_line(console, f"assay: removed what a killed run left behind ({lease.id})")
    folder = CalibrationFolder(installation.cache)
    specs = [spec_of(medium, installation) for medium in media]
    facts = [facts_of(spec, installation) for spec in specs]
    made = []
    for spec, medium_facts in zip(specs, facts, strict=True):
        stored = _stored(spec, medium_facts, wish, folder, console)
        if stored is None:
            with closing(ConsoleDisplay(console)) as display, interruptible():
                stored = Calibrator(wish, meter, installation, display).calibrate(spec, medium_facts)
            folder.store(stored)
        made.append(stored)
        page = folder.file(stored.medium, stored.facts).with_suffix(".html")
        replace_text(page, calibration_page(stored))
        if not quiet:
            print_calibration(stored, console)
            print_line(console, f"page: {page}")
    return made


def write_profile(calibration: Calibration, file: Path, name: str | None, installation: Installation) -> str:
    """Make a profile of what was measured; returns the name of the shipped one that lent the rest.

    Raises BadInputError when the medium shows no drive, and when the emulator finds a figure impossible.
    """
    figures = named_figures(calibration)
    shipped = [find_profile(profile, installation.profiles) for profile in profile_names(installation.profiles)]
    template = nearest(calibration, figures, shipped)
    emulator = Emulator(installation)
    bounds = {figure.name: (figure.least, figure.most) for figure in emulator.figures()[template.kind]}
    file.write_text(make_profile(calibration, figures, template, name or file.stem, bounds), encoding="utf-8")
    try:
        emulator.check(read_profile(file))
    except BadInputError:
        file.unlink()
        raise
    return template.name


def _check_profile_to(file: Path | None, media: tuple[str, ...]) -> None:
    if file is None:
        return
    if len(media) != 1:
        raise BadInputError(f"--profile-to makes a profile of one medium, and {len(media)} were given")
    if file.exists():
        raise BadInputError(f"{file} already exists; name another file or remove it")
    if file.suffix not in {".yaml", ".yml"} or not file.parent.is_dir():
        raise BadInputError(f"{file} must be a new .yaml file in an existing directory")


def calibrations_json(calibrations: list[Calibration]) -> str:
    """All points and facts, as data."""
    return json_text([calibration.model_dump(mode="json") for calibration in calibrations], indent=1)


def spec_of(medium: str, installation: Installation) -> MediumSpec:
    """A shipped profile's name before a directory of that name (`./NAME` is always a directory or file)."""
    if not medium:
        raise BadInputError("a medium's name is empty; give a directory, or a profile's name or YAML file")
    path = possible(Path(medium))
    if medium not in profile_names(installation.profiles) and path.is_dir():
        return DIRECTORY.spec(medium, DirectoryOptions(path=path.resolve()))
    if path.suffix not in {".yaml", ".yml"} and "/" in medium:
        raise BadInputError(f"{medium} is not a directory; make it, or give a profile's name or YAML file")
    profile = find_profile(medium, installation.profiles)
    return EMULATED.spec(profile.name, EmulatedOptions(profile=medium))


def _stored(
    spec: MediumSpec, facts: Mapping[str, Fact], wish: Wish, folder: CalibrationFolder, console: Console
) -> Calibration | None:
    """What is stored for these facts, if it is as fine and took as long as what is wished for now."""
    if wish.again:
        return None
    calibration = folder.load(spec.name, facts)
    for sentence in folder.said:
        print_line(console, f"assay: {sentence}")
    folder.said.clear()
    if calibration is None or calibration.form != wish.form or calibration.budget_s < wish.seconds:
        return None
    print_line(console, f"{calibration.medium}: measured {calibration.taken} and stored since; --again measures anew")
    return calibration
