"""The calibration of one medium: which grounds are measured, for how long, and what the figures hold for.

An emulated drive is measured twice: as a whole block device, and through a file system on another, equal drive.
"""

import shutil
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from assay.calibration.device import block_device
from assay.calibration.fio import Meter
from assay.calibration.laying import write_out
from assay.calibration.measure import Ground, Measured, measure, measure_knee, plan_accesses
from assay.lease import Lease
from assay.machine import machine_facts
from assay.media.directory import DirectoryMedium
from assay.media.drive import Drive
from assay.media.emulated import PURPOSE, EmulatedMedium
from assay.media.emulator import Emulator
from assay.media.raw import raw_drive
from assay.media.system import RealSystem
from assay.model.base import Frozen
from assay.model.calibration import Calibration, Expected, Form, Knee
from assay.model.doubt import Doubt
from assay.model.installation import Installation
from assay.model.progress import Progress
from assay.model.trial import MediumSpec

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


def calibrate(
    spec: MediumSpec, facts: Mapping[str, str], wish: Wish, meter: Meter, installation: Installation, progress: Progress
) -> Calibration:
    """Measure one medium, whose facts these are, now. Raises AssayError when it, or fio, fails."""
    progress.step(f"calibrate {spec.name}")
    if spec.kind == "emulated":
        return _calibrate_emulated(EmulatedMedium(spec, installation), facts, wish, meter, installation, progress)
    return _calibrate_directory(spec, facts, wish, meter, installation, progress)


def facts_of(spec: MediumSpec, installation: Installation) -> dict[str, str]:
    """What a calibration holds for: the medium, the machine, and for an emulated drive the emulator."""
    if spec.kind == "emulated":
        medium = EmulatedMedium(spec, installation)
        medium.check()
        return {**_lasting(medium.facts()), **_machine()}
    with Lease(installation.state, "calibrate") as lease:
        directory = DirectoryMedium(spec, lease, Path.cwd())
        directory.space()
        return {**_lasting(directory.facts()), **_machine()}


def _calibrate_directory(
    spec: MediumSpec, facts: Mapping[str, str], wish: Wish, meter: Meter, installation: Installation, progress: Progress
) -> Calibration:
    device = block_device(facts)
    readable = device is not None and device.readable
    with Lease(installation.state, "calibrate") as lease:
        ground = Ground(
            directory=lease.make_directory(Path(facts["place"]) / f"assay-{lease.id}"),
            device=device.path if device and readable else None,
            device_bytes=device.bytes if device and readable else 0,
            rotational=facts.get("rotational") == "yes",
        )
        measured = measure(ground, plan_accesses(ground, wish.form), meter, wish.seconds, progress)
    return _calibration(spec.name, facts, wish, meter, [measured], device_bytes=device.bytes if device else None)


def _calibrate_emulated(
    medium: EmulatedMedium, facts: Mapping[str, str], wish: Wish, meter: Meter, installation: Installation,
    progress: Progress,
) -> Calibration:  # fmt: skip
    plan = _plan_knee(medium, wish)
    raw, knee, raw_doubts = _measure_raw(medium, int(facts["size_bytes"]), wish, plan, meter, installation, progress)
    with medium.attached() as directory:
        ground = Ground(directory=directory, settle=medium.make_cold)
        accesses = [access for access in plan_accesses(ground, wish.form) if access.buffered]
        mounted = measure(ground, accesses, meter, wish.seconds * (1 - _RAW_SHARE), progress)
    made = _calibration(medium.spec.name, facts, wish, meter, [raw, mounted], device_bytes=int(facts["size_bytes"]))
    doubts = [*made.doubts, *([plan.doubt] if plan.doubt else []), *raw_doubts]
    doubts += [doubt for doubt in medium.doubts() if doubt not in doubts]
    expected = {
        name: Expected(value=figure.value, basis=figure.basis, source=figure.source)
        for name, figure in medium.profile.expected.items()
    }
    return made.model_copy(update={"knee": knee, "doubts": tuple(doubts), "expected": expected})


def _measure_raw(
    medium: EmulatedMedium, size_bytes: int, wish: Wish, plan: KneePlan, meter: Meter, installation: Installation,
    progress: Progress,
) -> tuple[Measured, Knee | None, tuple[Doubt, ...]]:  # fmt: skip
    """The block device as a whole, its write cache first."""
    knee, emulator = None, Emulator(installation)
    with (
        Lease(installation.state, PURPOSE) as lease,
        raw_drive(medium.profile, size_bytes, medium.place, lease, emulator, RealSystem()) as (device, drive),
    ):
        ground = Ground(
            device=device,
            device_bytes=size_bytes,
            may_overwrite=True,
            rotational=medium.profile.kind == "hdd",
            write_cache_bytes=_write_cache_bytes(medium),
            settle=lambda: _settle(drive),
        )
        seconds = wish.seconds * _RAW_SHARE
        if plan.total_bytes and plan.doubt is None:
            progress.detail("write past the write cache")
            knee = measure_knee(ground, meter, plan.total_bytes, plan.seconds * 1.5 + 5)
            seconds = max(seconds - plan.seconds, seconds / 2)
        measured = measure(ground, plan_accesses(ground, wish.form), meter, seconds, progress)
        medium.take_report(drive.ask("report"))
    return measured, knee, medium.doubts()


def _write_cache_bytes(medium: EmulatedMedium) -> int:
    """What its profile expects of its fast write cache; 0 where it has none."""
    knee = medium.profile.expected.get("write_cache_knee_bytes")
    return int(knee.value) if knee else 0


def _settle(drive: Drive) -> None:
    """Empty the drive's caches, and write out its backing file, which the kernel would do amidst what is next."""
    drive.ask("settle")
    write_out(drive.backing)


def _calibration(
    medium: str,
    facts: Mapping[str, str],
    wish: Wish,
    meter: Meter,
    measured: list[Measured],
    *,
    device_bytes: int | None,
) -> Calibration:
    return Calibration(
        medium=medium,
        facts=facts,
        fio_version=meter.version,
        taken=f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
        form=wish.form,
        budget_s=wish.seconds,
        file_bytes=max(one.file_bytes for one in measured),
        device_bytes=device_bytes,
        points=tuple(point for one in measured for point in one.points),
        doubts=tuple(doubt for one in measured for doubt in one.doubts),
    )


def _plan_knee(medium: EmulatedMedium, wish: Wish) -> KneePlan:
    """Nothing for a drive without a knee."""
    expected = {name: figure.value for name, figure in medium.profile.expected.items()}
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
    doubt = Doubt(
        kind="knee-not-measured",
        what=f"the write cache was not written full: that takes {total_bytes / 1e9:.0f} GB and {seconds:.0f} s",
        why="where the rate falls, and to what, is the profile's word only",
        cure=f"calibrate with --seconds {seconds / _KNEE_SHARE + 1:.0f}, and at least "
        f"{total_bytes / _ROOM_SHARE / 1e9:.0f} GB free below the backing file",
    )
    return KneePlan(total_bytes=total_bytes, seconds=seconds, doubt=doubt)


def _lasting(facts: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in facts.items() if name not in _PASSING}


def _machine() -> dict[str, str]:
    return {
        f"machine_{name}": str(value) for name, value in machine_facts().items() if name in {"cpu", "cores", "kernel"}
    }
