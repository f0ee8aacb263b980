"""`assay media twin`: a real drive beside the drive that its calibration emulates, by the jobs that run on both.

The directory is calibrated and a profile made of it; then the jobs of experiments/twin.yaml, or of another experiment,
run on the directory and on the emulated drive in turns. The run's folder is as any other, and has the profile and the
table as `twin.json` beside it.
"""

import json
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from assay.cli.context import vocabulary
from assay.cli.run import RUNS, run_experiment
from assay.host.files import absolute
from assay.host.machine import available_memory_bytes
from assay.host.mounts import mount_of
from assay.host.yaml_file import YamlFile, plain, tree_of
from assay.media.emulated.attachment import missing
from assay.media.emulated.emulator import Emulator
from assay.media.emulated.medium import IN_MEMORY
from assay.media.emulated.profile import read_profile
from assay.media.memory import SHARED_MEMORY
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.naming import bytes_text
from assay.model.record import Record
from assay.model.trial import Plan
from assay.plan.make import plan_and_more
from assay.plan.source import Source
from assay.record.folder import RunFolder
from assay.report.columns import Column, fitted
from assay.report.words import print_line
from assay.stats.comparison import compare
from assay.stats.noise import Interval
from assay.stats.sample import PLACEMENT, Sample, counts, samples
from assay_extras.calibration.command import Wish, calibrate_media, write_profile
from assay_extras.calibration.measure import block_device, direct_in

REAL, TWIN = "real", "twin"
LEAST_FREE_BYTES = 3 << 30
"""A calibration's test file, and then a run's data."""
BUSY_SHARE, LOOK_S = 0.2, 1.0
BACKING_BYTES, MEMORY_BYTES = 5 << 30, 8 << 30
"""What must be free in shared memory, and of memory in all, for the twin's backing file to lie there."""
_LEFT_OUT = (
    "media", "placement", "placement_check", "exclude", "repetitions", "order", "zero_delay_baseline", "worth", "next",
)  # fmt: skip
JOB_GOAL, PHASE_GOAL, LEAST_JOB_S, LEAST_PHASE_S = 0.10, 0.15, 10.0, 5.0
"""A reducer may sleep for a second before its commit (`commits_put_off`), whatever the drive: a tenth of 10 s."""


class Difference(Frozen):
    """A job, or one of its phases, on the twin and on the real drive.

    Seconds are means; `ratio` is the twin's time over the real drive's, with its 95 % interval. `goal` is by how much
    it may differ from 1; None where it is not judged: jobs below 10 s, phases below 5 s.
    """

    workload: str
    job: str
    phase: str = ""
    pairs: int
    real_s: float
    twin_s: float
    ratio: float
    interval: Interval
    goal: float | None

    @property
    def verdict(self) -> str:
        """`met` if all of the interval is within the goal, `missed` if none of it is, else `open`; or empty."""
        if self.goal is None:
            return ""
        inside = [1 - self.goal <= end <= 1 + self.goal for end in (self.interval.low, self.interval.high)]
        if all(inside):
            return "met"
        beyond = self.interval.low > 1 + self.goal or self.interval.high < 1 - self.goal
        return "missed" if beyond else "open"


class Request(NamedTuple):
    """What the user asks for."""

    path: Path
    jobs: Path
    pairs: int
    seconds: float
    out: Path | None = None
    profile: Path | None = None


def run_twin(wanted: Request, installation: Installation, console: Console) -> int:
    """Calibrate, run, compare. Raises BadInputError before anything starts."""
    check_place(wanted.path, installation)
    if wanted.pairs < 1:
        raise BadInputError(f"--pairs {wanted.pairs} is too few; give at least 1")
    out = wanted.out or RUNS / f"twin-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    RunFolder(out).check_free()
    jobs = Source(wanted.jobs)
    plan_and_more(jobs, vocabulary(installation))  # its mistakes are found before anything is measured
    tree = tree_of(jobs.portable(), wanted.jobs)
    if wanted.profile is not None:
        Emulator(installation).check(read_profile(wanted.profile))
    with tempfile.TemporaryDirectory(prefix="assay-twin-") as folder:
        experiment = Path(folder, "twin-experiment.yaml")
        profile = wanted.profile
        if profile is None:
            profile = Path(folder, "twin.yaml")
            wish = Wish(seconds=wanted.seconds, form="named", again=True)
            (calibration,) = calibrate_media((str(wanted.path),), wish, installation, console)
            template = write_profile(calibration, profile, None, installation)
            print_line(console, f"the twin is of kind {_kind(profile)}; what can't be measured is that of {template}")
        kept = absolute(Path.cwd(), out).with_name(f"{out.name}.profile.yaml")
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(profile, kept)
        write_experiment(tree, wanted, str(kept), experiment)
        code = run_experiment(experiment, out, installation, console)
    run = RunFolder(out)
    plan = run.plan()
    found = differences(plan, run.records(plan)[0])
    (out / "twin.json").write_text(json.dumps([one.model_dump() | {"verdict": one.verdict} for one in found], indent=1))
    print_differences(found, console)
    print_line(console, f"profile: {kept}; differences: {out / 'twin.json'}")
    return code


def _kind(profile: Path) -> str:
    return str(YamlFile(profile).tree["kind"])


def check_place(path: Path, installation: Installation, sys: Path = Path("/sys")) -> None:
    """Raises BadInputError, with one sentence, for a directory that can have no twin here."""
    if not path.is_dir():
        raise BadInputError(f"{path} is not a directory; make it, or name another on the drive")
    if not os.access(path, os.W_OK | os.X_OK):
        raise BadInputError(f"{path} can't be written to; change its owner or mode, or name another on the drive")
    mount = mount_of(path)
    if mount.file_system in IN_MEMORY:
        raise BadInputError(
            f"{path} is in memory ({mount.file_system}), and a twin is of a drive; name a directory on one"
        )
    device = block_device({"device": mount.source})
    if device is None:
        raise BadInputError(
            f"{path} is on {mount.file_system}, which has no block device; name a directory on a drive's ext4 or xfs"
        )
    free = shutil.disk_usage(path).free
    if free < LEAST_FREE_BYTES:
        raise BadInputError(
            f"{path} has only {bytes_text(free)} free, and calibration and jobs need {bytes_text(LEAST_FREE_BYTES)}; "
            "make room, or name a directory on a larger file system"
        )
    if not direct_in(path):
        raise BadInputError(
            f"{path} has no direct I/O, so its drive can't be measured; name a directory on ext4 or xfs"
        )
    if lacking := missing(installation):
        raise BadInputError(f"the twin can't be emulated here: {'; '.join(lacking)}")
    share = busy_share(sys / "dev" / "block" / mount.device_number)
    if share > BUSY_SHARE:
        raise BadInputError(
            f"the drive of {path} ({mount.source}) is busy for {share:.0%} of the time; stop what uses it"
        )


def busy_share(device: Path) -> float:
    """For how much of a second the device had requests (sysfs `stat`, field 10); 0 where the kernel does not tell."""

    def busy_ms() -> int:
        return int((device / "stat").read_text().split()[9])

    try:
        before, began = busy_ms(), time.monotonic()
        time.sleep(LOOK_S)
        return (busy_ms() - before) / 1000 / (time.monotonic() - began)
    except (OSError, ValueError, IndexError):
        return 0.0


def write_experiment(tree: Mapping[str, Any], wanted: Request, profile: str, file: Path) -> None:
    """The jobs' experiment with the directory and its twin as media; whatever compares others is left out."""
    file_system = mount_of(wanted.path).file_system
    in_memory = _fits_into_memory()
    twin = {
        "profile": profile,
        "file_system": file_system if file_system in {"ext4", "xfs"} else "ext4",
        **({"path": str(SHARED_MEMORY)} if in_memory else {}),
    }
    made = {name: value for name, value in tree.items() if name not in _LEFT_OUT}
    made |= {"media": {REAL: {"path": str(wanted.path)}, TWIN: twin}, "repetitions": wanted.pairs}
    file.write_text(json.dumps(plain(made), indent=1))  # which is YAML


def _fits_into_memory() -> bool:
    try:
        free = shutil.disk_usage(SHARED_MEMORY).free
    except OSError:
        return False
    return free >= BACKING_BYTES and available_memory_bytes() >= MEMORY_BYTES


def differences(plan: Plan, records: Sequence[Record]) -> list[Difference]:
    """Each workload's jobs and their phases, in the jobs' order; what has not run on both is left out."""
    times: dict[tuple[str, str, str], dict[str, float]] = {}
    trials = {record.trial.id: record for record in records if counts(record)}
    for record in trials.values():
        for job in record.jobs:
            own = times.setdefault((record.trial.workload.name, job.name, ""), {})
            own[record.trial.id] = own.get(record.trial.id, 0.0) + job.elapsed_s
            for phase, seconds in job.phases.items():
                own = times.setdefault((record.trial.workload.name, job.name, phase), {})
                own[record.trial.id] = own.get(record.trial.id, 0.0) + seconds
    known = samples([*trials.values()])
    found = [_difference(plan, name, [one for one in known if one.trial in own], own) for name, own in times.items()]
    return [one for one in found if one is not None]


def _difference(
    plan: Plan, name: tuple[str, str, str], known: Sequence[Sample], seconds: Mapping[str, float]
) -> Difference | None:
    """The comparison of these times instead of the trials' own."""
    timed = [one._replace(elapsed_s=seconds[one.trial]) for one in known if seconds[one.trial] > 0]
    compared = compare(timed, [PLACEMENT], plan.prior, {PLACEMENT: [REAL, TWIN]})
    # Drives have their own facts: the machine's kind is that of both.
    one = next((one for one in compared if (one.base, one.level) == (REAL, TWIN)), None)
    if one is None:
        return None
    means = {
        placement: sum(own) / len(own)
        for placement in (REAL, TWIN)
        for own in [[sample.elapsed_s for sample in timed if sample.level(PLACEMENT) == placement]]
    }
    long = max(means.values()) >= (LEAST_PHASE_S if name[2] else LEAST_JOB_S)
    goal = (PHASE_GOAL if name[2] else JOB_GOAL) if long else None
    return Difference(
        workload=name[0], job=name[1], phase=name[2], pairs=one.repetitions, real_s=means[REAL], twin_s=means[TWIN],
        ratio=one.ratio, interval=one.interval, goal=goal,
    )  # fmt: skip


def print_differences(found: Sequence[Difference], console: Console) -> None:
    """Jobs, and their phases of at least half a second."""
    shown = [one for one in found if not one.phase or max(one.real_s, one.twin_s) >= 0.5]
    columns = [
        Column("job", [f"{one.job}: {one.phase}" if one.phase else one.job for one in shown], name=True),
        Column("real", [f"{one.real_s:.1f} s" for one in shown]),
        Column("twin", [f"{one.twin_s:.1f} s" for one in shown]),
        Column("difference", [f"{one.ratio - 1:+.0%}" for one in shown]),
        Column("95 % interval", [f"{one.interval.low - 1:+.0%} to {one.interval.high - 1:+.0%}" for one in shown]),
        Column("goal", ["-" if one.goal is None else f"{one.goal:.0%}" for one in shown]),
        Column("", [one.verdict or "-" for one in shown]),
    ]
    for line in fitted(columns, console.width):
        print_line(console, line)
    counts = Counter(one.verdict for one in shown if one.verdict)
    words = f"{counts['met']} met their goal, {counts['missed']} missed it, and {counts['open']} need more pairs"
    print_line(console, f"of {counts.total()} long jobs and phases {words}")
