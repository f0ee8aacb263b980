"""Real drives beside their twins: `python benchmarks/twins.py --out DIRECTORY [DEVICE...]`.

Each device (those of throttled_devices.py, and `own`, the disk of --place) is calibrated, emulated and compared by
`assay media twin`; its run is DIRECTORY/DEVICE. Devices whose run is there already are only shown, so that an
interrupted series goes on. Printed is a table for the docs, and how often the direction is right: of two devices on
which a job's times differ by more than 10 %, the same one is faster by their twins.

About 7 minutes per device with two pairs, on an otherwise idle machine. Needs root and control groups v1.
"""

import argparse
import json
import subprocess
import sys
from contextlib import nullcontext
from itertools import combinations
from math import log
from pathlib import Path
from typing import Any

from throttled_devices import DEVICES, check, throttled

OWN = "own"
USUAL = ("like-a-disk", "like-a-sata-ssd", "slowing-down", OWN)
LEAST_LOG = log(1.1)

Rows = dict[str, list[dict[str, Any]]]


def main() -> int:
    """Run what is not there yet, then show everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("devices", nargs="*", metavar="DEVICE", default=[*USUAL])
    parser.add_argument("--out", type=Path, required=True, help="where the runs go")
    parser.add_argument("--place", type=Path, default=Path("/var/tmp"), help="a directory on this machine's disk")  # noqa: S108
    parser.add_argument("--pairs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=60, help="time to calibrate each device")
    wishes = parser.parse_args()
    if unknown := set(wishes.devices) - {*DEVICES, OWN}:
        sys.exit(f"twins: unknown devices {', '.join(sorted(unknown))}; there are {', '.join([*DEVICES, OWN])}")
    check()
    wishes.out.mkdir(parents=True, exist_ok=True)
    for device in wishes.devices:
        if not (wishes.out / device / "twin.json").exists():
            run_twin(device, wishes)
    rows = {
        device: json.loads(file.read_text(encoding="utf-8"))
        for device in wishes.devices
        if (file := wishes.out / device / "twin.json").exists()
    }
    show(rows)
    return 0 if len(rows) == len(wishes.devices) else 1


def run_twin(device: str, wishes: argparse.Namespace) -> None:
    """One device, for the time of the comparison."""
    options = ["--pairs", str(wishes.pairs), "--seconds", str(wishes.seconds), "--out", str(wishes.out / device)]
    scope = nullcontext(wishes.place) if device == OWN else throttled(DEVICES[device], wishes.place)
    with scope as place:
        subprocess.run([sys.executable, "-m", "assay", "media", "twin", str(place), *options], check=False)


def show(rows: Rows) -> None:
    """The jobs and the long phases of all devices, and the directions."""
    say("| device | job | real | twin | difference | 95 % interval | goal |")
    say("| --- | --- | --- | --- | --- | --- | --- |")
    judged = [(device, row) for device, own in rows.items() for row in own if row["goal"] is not None]
    for device, row in judged:
        job = f"{row['job']}: {row['phase']}" if row["phase"] else row["job"]
        low, high = (row["interval"][end] - 1 for end in ("low", "high"))
        difference = f"{row['ratio'] - 1:+.0%} | {low:+.0%} to {high:+.0%} | {row['verdict']}"
        say(f"| {device} | {job} | {row['real_s']:.1f} s | {row['twin_s']:.1f} s | {difference} |")
    met = sum(row["verdict"] == "met" for _, row in judged)
    missed = sum(row["verdict"] == "missed" for _, row in judged)
    say(f"\nof {len(judged)} long jobs and phases {met} met their goal, {missed} missed it, the others need more pairs")
    right, every = directions(rows)
    say(f"the direction between two devices is right for {right} of {every} jobs that differ by more than 10 %")


def directions(rows: Rows) -> tuple[int, int]:
    """For each two devices, the jobs whose real times differ: how many twins differ in the same direction, and all."""
    jobs = {device: {row["job"]: row for row in own if not row["phase"]} for device, own in rows.items()}
    found = [
        tuple(log(jobs[device][job][which] / jobs[other][job][which]) for which in ("real_s", "twin_s"))
        for device, other in combinations(jobs, 2)
        for job in jobs[device].keys() & jobs[other].keys()
    ]
    differing = [(real, twin) for real, twin in found if abs(real) > LEAST_LOG]
    return sum(real * twin > 0 for real, twin in differing), len(differing)


def say(line: str) -> None:
    """To standard output."""
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
