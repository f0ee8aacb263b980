"""Holds emulated drives against their profiles: `python benchmarks/media_fidelity.py [PROFILE...] [--json]`.

fio is the judge. For each profile (all shipped ones without arguments): every named figure measured, as the profile
expects it, the error and the verdict; the emulator's CPU time per 100 MB; seconds to attach and detach. A drive without
delays (`null`) goes first: what it can't show, no drive can on this machine, and is said to be beyond it.
Backing files of solid-state drives lie in memory where there is enough of it, so that the host's disk has no part in
the figures; write caches, which take more, are written full on the disk.
Exit code 1 when a bound does not hold or was not measured. Needs root; about two minutes per profile, on an
otherwise idle machine.
"""

import argparse
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from assay.cli.context import find_installation
from assay.host.lease import Lease
from assay.host.machine import available_memory_bytes
from assay.media.emulated.attachment import BLOCK_BYTES, PURPOSE, raw_drive
from assay.media.emulated.emulator import Emulator, System
from assay.media.emulated.medium import EmulatedMedium
from assay.media.emulated.profile import find_profile, profile_names
from assay.media.memory import MemoryMedium
from assay.model.base import Frozen
from assay.model.errors import AssayError
from assay.model.installation import Installation
from assay.model.progress import Silent
from assay.model.trial import MediumSpec
from assay_extras.calibration.calibration import AccessPattern, Calibration, Knee
from assay_extras.calibration.command import Calibrator, Wish, facts_of, spec_of
from assay_extras.calibration.fidelity import compare, named_figures
from assay_extras.calibration.fio import Fio, Limit, Stretch, find_fio
from assay_extras.calibration.measure import Ground, measure_knee
from assay_extras.calibration.page import figure_text

NULL = "null"
# Ceilings that the emulator must leave (named figures of the null profile).
LEAST = {"sequential_read_mb_s": 2000, "sequential_write_mb_s": 2000, "random_read_4k_iops_depth1": 15_000}
CEILINGS = (*LEAST, "random_read_4k_iops_depth32", "random_write_4k_iops_depth1", "random_write_4k_iops_depth32")
MOST_CPU = {"hdd": 0.05, "ssd": 0.15}
"""Cores, per 100 MB/s."""

NULL_BYTES = (2 << 30, 64 << 30)
"""A backing file whose blocks are there already after a first pass, and one that is new all the time: each has an
advantage over the other, and a ceiling is the best of both."""

MEMORY_BYTES = 12 << 30
"""For backing files; half as much again must be available. Faster drives than fit are measured for a shorter time."""
WRITING_SHARE = 0.62 / 6
"""Of a calibration's seconds: what each of the named direct accesses gets."""
PAST_KNEE = 1.15
SPARE_BYTES = 8 << 30
KNEE_PATIENCE = 1.5

ATTACH_S = DETACH_S = 2.0
_CPU_S = 3.0


class Row(Frozen):
    """One line of the table."""

    profile: str
    figure: str
    measured: str
    wanted: str
    error: str
    verdict: str
    basis: str = ""


def main() -> int:
    """Measure, print, judge."""
    arguments = _arguments()
    installation, meter = _installation(), find_fio(os.environ)
    rows: list[Row] = []
    try:
        with _memory(installation) as place:
            sys.stdout.write(f"backing files lie {'on disk' if place is None else 'in memory'}\n")
            bench = Bench(meter=meter, installation=installation, place=place, seconds=arguments.seconds)
            limits = bench.ceilings()
            rows += _say(_ceiling_rows(limits), json_only=arguments.json)
            shipped = profile_names(installation.profiles)
            for profile in [name for name in arguments.profiles or shipped if name != NULL]:
                rows += _say(_figure_rows(bench.calibration(profile), limits), json_only=arguments.json)
                rows += _say(bench.cost_rows(profile), json_only=arguments.json)
    except AssayError as error:
        sys.stderr.write(f"media_fidelity: {error}\n")
        return 2
    # A figure that was not measured has not been shown to be within its bound.
    failed = [row for row in rows if row.verdict in {"fail", "not measured"}]
    if arguments.json:
        sys.stdout.write(json.dumps([row.model_dump() for row in rows], indent=1) + "\n")
    else:
        sys.stdout.write(f"\n{len(rows)} figures, {len(failed)} out of bounds or not measured\n")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="*", metavar="PROFILE", help="names of shipped profiles, or YAML files")
    parser.add_argument("--seconds", type=float, default=110, help="how long fio measures each profile")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    return parser.parse_args()


def _installation() -> Installation:
    installation = find_installation()
    scratch = installation.parts / "work" / "media-fidelity"
    return installation.model_copy(update={"cache": scratch / "cache", "state": scratch / "state"})


@contextmanager
def _memory(installation: Installation) -> Iterator[Path | None]:
    """A tmpfs for backing files; None where memory is too short for it."""
    if available_memory_bytes() < 1.5 * MEMORY_BYTES:
        yield None
        return
    with Lease(installation.state, PURPOSE) as lease:
        spec = MediumSpec(name="backing", kind="memory", size_bytes=MEMORY_BYTES)
        with MemoryMedium(spec, lease).attached() as place:
            yield place


class Bench(NamedTuple):
    """What all measurements share; `place` is where backing files go, None for the installation's own."""

    meter: Fio
    installation: Installation
    place: Path | None
    seconds: float

    def ceilings(self) -> dict[str, float]:
        """What a drive without delays shows."""
        found: dict[str, float] = {}
        for size_bytes in NULL_BYTES:
            figures = named_figures(self._calibrated(self.spec(NULL, size_bytes), self.seconds / 3))
            found = {name: max(value, found.get(name, 0.0)) for name, value in figures.items()}
        return found

    def calibration(self, profile: str) -> Calibration:
        """All named figures of a profile; a write cache's knee from a drive of its own on the disk."""
        found = self._calibrated(self.spec(profile), min(self.seconds, self._seconds_that_fit(profile)))
        if found.knee is not None or "write_cache_knee_bytes" not in found.expected:
            return found
        doubts = tuple(doubt for doubt in found.doubts if doubt.kind != "knee-not-measured")
        return found.model_copy(update={"knee": self._knee(profile, found), "doubts": doubts})

    def cost_rows(self, name: str) -> list[Row]:
        """The emulator's CPU time while it reads and writes in order, and how long attaching and detaching take."""
        medium = EmulatedMedium(self.spec(name), self.installation)
        began = time.monotonic()
        with medium.attached():
            mounted = time.monotonic()
            leaving = mounted
        attach_s, detach_s = mounted - began, time.monotonic() - leaving
        most = MOST_CPU.get(medium.profile.kind, 1.0)
        rows = [
            _bounded(name, "attach_s", attach_s, ATTACH_S, "{:.2f} s"),
            _bounded(name, "detach_s", detach_s, DETACH_S, "{:.2f} s"),
        ]
        for direction, cores in _cpu_per_100_mb_s(medium, self.meter, self.installation).items():
            rows.append(_bounded(name, f"cpu_{direction}_cores_per_100_mb_s", cores, most, "{:.1%}"))
        return rows

    def spec(self, profile: str, size_bytes: int | None = None) -> MediumSpec:
        """The drive, with its backing file in its place; a hard disk's is on the disk, which is fast enough for it."""
        spec = spec_of(profile, self.installation)
        slow = find_profile(profile, self.installation.profiles).kind == "hdd"
        return spec.model_copy(update={"size_bytes": size_bytes, "path": None if slow else self.place})

    def _calibrated(self, spec: MediumSpec, seconds: float) -> Calibration:
        """Only the accesses that have names; nothing is stored, since the machine's load differs from run to run."""
        wish = Wish(seconds=seconds, form="named")
        calibrator = Calibrator(wish, self.meter, self.installation, Silent())
        return calibrator.calibrate(spec, facts_of(spec, self.installation))

    def _seconds_that_fit(self, profile: str) -> float:
        """How long a drive may be written to until its backing file fills the memory."""
        expected = find_profile(profile, self.installation.profiles).expected
        bytes_s = sum(
            figure.value * (BLOCK_BYTES if "4k_iops" in name else 1e6)
            for name, figure in expected.items()
            if name in {"sequential_write_mb_s", "random_write_4k_iops_depth1", "random_write_4k_iops_depth32"}
        )
        return math.inf if self.place is None or not bytes_s else 0.9 * MEMORY_BYTES / (bytes_s * WRITING_SHARE)

    def _knee(self, profile: str, found: Calibration) -> Knee | None:
        """None where the disk has no room for what must be written."""
        medium = EmulatedMedium(spec_of(profile, self.installation), self.installation)
        expected = {name: figure.value for name, figure in found.expected.items()}
        knee, rates = (
            expected["write_cache_knee_bytes"],
            (
                expected["sequential_write_mb_s"],
                expected["sequential_write_beyond_cache_mb_s"],
            ),
        )
        total_bytes = int(knee * PAST_KNEE)
        seconds = math.fsum((knee / rates[0], (total_bytes - knee) / rates[1])) / 1e6
        medium.place.mkdir(parents=True, exist_ok=True)
        if total_bytes + SPARE_BYTES > shutil.disk_usage(medium.place).free:
            return None
        size_bytes = int(medium.facts()["size_bytes"])
        with (
            Lease(self.installation.state, PURPOSE) as lease,
            raw_drive(medium.profile, size_bytes, medium.place, lease, Emulator(self.installation), System()) as (
                device,
                _,
            ),
        ):
            ground = Ground(device=device, device_bytes=size_bytes, may_overwrite=True)
            return measure_knee(ground, self.meter, total_bytes, seconds * KNEE_PATIENCE)


def _ceiling_rows(figures: Mapping[str, float]) -> list[Row]:
    rows = []
    for name in CEILINGS:
        least = LEAST.get(name)
        rows.append(
            Row(
                profile=NULL,
                figure=name,
                measured=figure_text(name, figures[name]),
                wanted=f">= {figure_text(name, least)}" if least else "",
                error="",
                verdict="" if least is None else "pass" if figures[name] >= least else "fail",
                basis="ceiling of this machine",
            )
        )
    return rows


def _figure_rows(calibration: Calibration, ceilings: Mapping[str, float]) -> list[Row]:
    rows = [
        Row(
            profile=calibration.medium,
            figure=figure.name,
            measured="-" if figure.measured is None else figure_text(figure.name, figure.measured),
            wanted=figure_text(figure.name, figure.expected),
            error="-" if figure.error is None else f"{figure.error:+.1%}",
            verdict=figure.judgement
            if figure.judgement != "beyond this machine"
            else f"beyond this machine (ceiling {figure_text(figure.name, figure.ceiling or 0)})",
            basis=figure.basis,
        )
        for figure in compare(calibration, ceilings)
    ]
    # A drive beyond this machine can't but be late; any other must not be.
    beyond = any(row.verdict.startswith("beyond") for row in rows)
    for doubt in calibration.doubts:
        verdict = "fail" if doubt.kind == "emulator-was-late" and not beyond else "doubt"
        rows.append(
            Row(
                profile=calibration.medium, figure=doubt.kind, measured=doubt.what, wanted="", error="", verdict=verdict
            )
        )
    return rows


def _cpu_per_100_mb_s(medium: EmulatedMedium, meter: Fio, installation: Installation) -> dict[str, float]:
    """CPU seconds of the emulator's process per 100 MB: the cores it takes at 100 MB/s."""
    size_bytes, found = int(medium.facts()["size_bytes"]), {}
    with (
        Lease(installation.state, PURPOSE) as lease,
        raw_drive(medium.profile, size_bytes, medium.place, lease, Emulator(installation), System()) as (
            device,
            drive,
        ),
    ):
        for direction in ("read", "write"):
            access = AccessPattern.model_validate(
                {"direction": direction, "pattern": "sequential", "block_bytes": 1 << 20, "depth": 8}
            )
            before = drive.ask("report")
            meter.measure(access, Stretch(path=device, span_bytes=size_bytes), Limit(seconds=_CPU_S))
            after = drive.ask("report")
            moved = sum(after[kind]["bytes"] - before[kind]["bytes"] for kind in ("reads", "writes"))
            found[direction] = (after["cpu_s"] - before["cpu_s"]) / (moved / 1e8)
    return found


def _bounded(profile: str, figure: str, measured: float, most: float, form: str) -> Row:
    return Row(
        profile=profile,
        figure=figure,
        measured=form.format(measured),
        wanted=f"<= {form.format(most)}",
        error="",
        verdict="pass" if measured <= most else "fail",
    )


def _say(rows: list[Row], *, json_only: bool) -> list[Row]:
    """Print as soon as it is known: a run over all profiles takes a quarter of an hour."""
    if not json_only:
        sys.stdout.write(f"\n{rows[0].profile}\n")
        for row in rows:
            line = f"  {row.figure:<34} {row.measured:>11} {row.wanted:>13} {row.error:>7}  {row.verdict}"
            sys.stdout.write(line + (f"  [{row.basis}]" if row.basis else "") + "\n")
        sys.stdout.flush()
    return rows


if __name__ == "__main__":
    try:
        code = main()
    finally:
        shutil.rmtree(_installation().cache.parent, ignore_errors=True)
    sys.exit(code)
