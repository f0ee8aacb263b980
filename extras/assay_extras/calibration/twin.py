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
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

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
BUSY_SHARE, SAMPLE_S = 0.2, 1.0
BACKING_BYTES, MEMORY_BYTES = 5 << 30, 8 << 30
"""What must be free in shared memory, and of memory in all, for the twin's backing file to lie there."""
_LEFT_OUT = (
    "media", "placement", "placement_check", "exclude", "repetitions", "order", "zero_delay_baseline", "worth", "next",
)  # fmt: skip
JOB_GOAL, PHASE_GOAL, LEAST_PHASE_S = 0.10, 0.15, 5.0
Verdict = Literal["met", "missed", "not certain"]


class Difference(Frozen):
    """A job, or one of its phases, on the twin and on the real drive.

    Seconds are means; `ratio` is the twin's time over the real drive's, with its 95 % interval. `goal` is by how much
    it may differ from 1; None where it is not judged, as phases of less than 5 s.
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
    def verdict(self) -> Verdict | None:
        """Whether the goal is met, by the whole interval: not certain where that lies within the goal only in part."""
        if self.goal is None:
            return None
        if 1 - self.goal <= self.interval.low and self.interval.high <= 1 + self.goal:
            return "met"
        outside = self.interval.high < 1 - self.goal or self.interval.low > 1 + self.goal
        return "missed" if outside else "not certain"


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
        raise BadInputError(f"--pairs {wanted.pairs} is too few; give at least 1, and 5 for an interval that says much")
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
            assumed = f"figures that can't be measured are taken from {template}"
            print_line(console, f"the twin is of kind {_kind(profile)}; {assumed}")
        kept = absolute(Path.cwd(), out).with_name(f"{out.name}.profile.yaml")
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(profile, kept)
        write_experiment(tree, wanted, str(kept), experiment)
        code = run_experiment(experiment, out, installation, console)
    run = RunFolder(out)
    plan = run.plan()
    print_line(console, f"profile: {kept}")
    return conclude(out, differences(plan, run.records(plan)[0]), code, console)


def conclude(out: Path, measured: Sequence[Difference], code: int, console: Console) -> int:
    """Show the differences, and keep them as `twin.json` if the run succeeded (`code` 0) and has any; the exit code."""
    if not measured:
        print_line(console, "nothing can be compared: no trial of a job counts on both the drive and its twin")
        return code or 1
    print_differences(measured, console)
    if code == 0:
        rows = [difference.model_dump() | {"verdict": difference.verdict} for difference in measured]
        (out / "twin.json").write_text(json.dumps(rows, indent=1))
        print_line(console, f"differences: {out / 'twin.json'}")
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
        time.sleep(SAMPLE_S)
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
    compared = [
        _difference(plan, name, [sample for sample in known if sample.trial in own], own) for name, own in times.items()
    ]
    return [difference for difference in compared if difference is not None]


def _difference(
    plan: Plan, name: tuple[str, str, str], known: Sequence[Sample], seconds: Mapping[str, float]
) -> Difference | None:
    """The comparison of these times instead of the trials' own."""
    timed = [sample._replace(elapsed_s=seconds[sample.trial]) for sample in known if seconds[sample.trial] > 0]
    comparisons = compare(timed, [PLACEMENT], plan.prior, {PLACEMENT: [REAL, TWIN]})
    # Drives have their own facts: the machine's kind is that of both.
    comparison = next((own for own in comparisons if (own.base, own.level) == (REAL, TWIN)), None)
    if comparison is None:
        return None
    means = {
        placement: sum(own) / len(own)
        for placement in (REAL, TWIN)
        for own in [[sample.elapsed_s for sample in timed if sample.level(PLACEMENT) == placement]]
    }
    long = not name[2] or max(means.values()) >= LEAST_PHASE_S
    goal = (PHASE_GOAL if name[2] else JOB_GOAL) if long else None
    return Difference(
        workload=name[0], job=name[1], phase=name[2], pairs=comparison.repetitions, real_s=means[REAL],
        twin_s=means[TWIN], ratio=comparison.ratio, interval=comparison.interval, goal=goal,
    )  # fmt: skip


def print_differences(measured: Sequence[Difference], console: Console) -> None:
    """Jobs, and their phases of at least half a second."""
    shown = [row for row in measured if not row.phase or max(row.real_s, row.twin_s) >= 0.5]
    columns = [
        Column("job", [f"{row.job}: {row.phase}" if row.phase else row.job for row in shown], name=True),
        Column("real", [f"{row.real_s:.1f} s" for row in shown]),
        Column("twin", [f"{row.twin_s:.1f} s" for row in shown]),
        Column("difference", [f"{row.ratio - 1:+.0%}" for row in shown]),
        Column("95 % interval", [f"{row.interval.low - 1:+.0%} to {row.interval.high - 1:+.0%}" for row in shown]),
        Column("goal", ["-" if row.goal is None else f"{row.goal:.0%}" for row in shown]),
        Column("", [row.verdict or "-" for row in shown]),
    ]
    for line in fitted(columns, console.width):
        print_line(console, line)
    print_line(console, counted([row.verdict for row in shown if row.verdict]))


def counted(verdicts: Sequence[str]) -> str:
    """How many goals are met, in a sentence."""
    words = f"{verdicts.count('met')} of {len(verdicts)} jobs and long phases are within their goals"
    missed, unsure = verdicts.count("missed"), verdicts.count("not certain")
    words += f", {missed} are not" if missed else ""
    return words + (f"; {unsure} are not certain: more pairs would tell" if unsure else "")
