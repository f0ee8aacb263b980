"""The ceiling of the path to emulated drives: what FUSE, the loop device and the emulator carry without any drive.

It belongs to a machine's boot, its kernel and the emulator's program. It is measured before a run's first trial, never
within one, and kept in the state directory.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

from pydantic import ValidationError

from assay.host.files import replace_text
from assay.host.lease import Lease
from assay.host.machine import usable_processors
from assay.media.emulated.attachment import PURPOSE, attach_raw
from assay.media.emulated.emulator import Emulator, System
from assay.media.emulated.profile import find_profile
from assay.model.base import Frozen
from assay.model.drive_profile import DriveProfile
from assay.model.installation import Installation

FILE = "ceiling.json"
BOOT = Path("/proc/sys/kernel/random/boot_id")

DRIVE_BYTES = 1 << 30
MEMORY = Path("/dev/shm")  # noqa: S108  where the disk of this machine has no part in the figures
ROOM_BYTES = 512 << 20

REACHABLE = 0.95
"""Of a ceiling: what is nearer leaves a drive's model no time of its own."""
_NEAR = f"from {100 * REACHABLE:.0f} % of that on the path slows the drive down"

WORDS: Mapping[str, str] = {
    "random_read_4k_iops_depth1": "{} random reads per second",
    "random_write_4k_iops_depth1": "{} random writes per second",
    "random_read_4k_iops_depth32": "{} random reads per second at depth 32",
    "random_write_4k_iops_depth32": "{} random writes per second at depth 32",
    "sequential_read_mb_s": "{} MB/s in sequential reads",
    "sequential_write_mb_s": "{} MB/s in sequential writes",
}
"""The figures of a ceiling, under the names of a profile's `expected`, and how a sentence gives one."""


class Ceiling(Frozen):
    """The best rates of the path, for one boot of one kernel and one program of the emulator."""

    boot: str
    kernel: str
    emulator_digest: str
    cores: float
    """How many processors' time it had; a quota may give parts of a processor."""
    rates: Mapping[str, float]

    @property
    def fact(self) -> str:
        """Write it as a fact of a record."""
        return ", ".join(f"{name} {self.rates[name]:.0f}" for name in WORDS if name in self.rates)

    def beyond(self, profile: DriveProfile) -> Iterator[str]:
        """Say in a clause each what a drive of this profile should do and can't here."""
        for name, expected in profile.expected_values.items():
            demanded = expected / profile.slowdown
            if name in self.rates and demanded > REACHABLE * self.rates[name]:
                demand, most = WORDS[name].format(f"{demanded:,.0f}"), f"{self.rates[name]:,.0f}"
                carries = f"only {most}" if demanded > self.rates[name] else f"{most}; {_NEAR}"
                yield f"the drive should answer {demand}, and this machine's path carries {carries}"


def known_ceiling(installation: Installation, emulator: Emulator | None = None) -> Ceiling | None:
    """Read the ceiling measured since this machine's start with this emulator; None where there is none."""
    try:
        ceiling = Ceiling.model_validate_json((installation.state / FILE).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    here = _here(emulator or Emulator(installation))
    return ceiling if ceiling.model_dump(include=set(here)) == here else None


def measure_ceiling(
    installation: Installation, emulator: Emulator | None = None, system: System | None = None
) -> Ceiling:
    """Measure and store the ceiling, in about ten seconds. Raises AssayError where no drive can be attached."""
    emulator = emulator or Emulator(installation)
    roomy = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= ROOM_BYTES
    directory = MEMORY if roomy else installation.parts / "work"
    null = find_profile("null", installation.profiles)
    with Lease(installation.state, PURPOSE) as lease, ExitStack() as scope:
        # Until it begins a drive answers at once.
        device, _ = attach_raw(null, DRIVE_BYTES, directory, lease, emulator, system or System(), scope)
        ceiling = Ceiling.model_validate(_here(emulator) | {"rates": emulator.rates(device)})
    with suppress(OSError):  # then it is measured again next time
        replace_text(installation.state / FILE, ceiling.model_dump_json(indent=1))
    return ceiling


def _here(emulator: Emulator) -> dict[str, str | float]:
    return {
        "boot": BOOT.read_text(encoding="utf-8").strip(),
        "kernel": os.uname().release,
        "emulator_digest": emulator.digest,
        "cores": usable_processors(),
    }
