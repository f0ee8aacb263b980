"""`assay media twin`: a real drive beside the drive that its calibration emulates, by the jobs that run on both.

The directory is calibrated and a profile made of it; then the jobs of experiments/twin.yaml, or of another experiment,
run on the directory and on the emulated drive in turns. The run's folder is as any other, and has the profile and the
table as `twin.json` beside it.
"""

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from assay.cli.console import Output
from assay.cli.context import RUNS, vocabulary
from assay.cli.run import run_experiment
from assay.host.files import absolute, replace_text
from assay.host.machine import available_memory_bytes
from assay.host.mounts import mount_of
from assay.host.yaml_file import YamlFile, plain, tree_of
from assay.media.emulated.attachment import missing
from assay.media.emulated.emulator import Emulator
from assay.media.emulated.medium import IN_MEMORY
from assay.media.emulated.profile import read_profile
from assay.media.memory import SHARED_MEMORY
from assay.model.base import json_text
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.naming import bytes_text
from assay.plan.make import read_experiment
from assay.record.folder import RunFolder
from assay.report.words import print_line
from assay.stats.changes import REAL, TWIN
from assay_extras.calibration.command import Wish, calibrate_media, write_profile
from assay_extras.calibration.differences import differences, rows_of
from assay_extras.calibration.measure import block_device, direct_in

LEAST_FREE_BYTES = 3 << 30
"""A calibration's test file, and then a run's data."""
BUSY_SHARE, LOOK_S = 0.2, 1.0
BACKING_BYTES, MEMORY_BYTES = 5 << 30, 8 << 30
"""What must be free in shared memory, and of memory in all, for the twin's backing file to lie there."""
_LEFT_OUT = (
    "media", "placement", "placement_check", "exclude", "repetitions", "order", "zero_delay_baseline", "worth", "next",
)  # fmt: skip
STAND_IN = "cloud-volume-3000-iops"
"""The profile with which jobs are checked before there is the twin's own."""


class Request(NamedTuple):
    """What the user asks for."""

    path: Path
    jobs: Path
    pairs: int
    seconds: float
    out: Path | None = None
    profile: Path | None = None


def run_twin(request: Request, installation: Installation, console: Console) -> int:
    """Calibrate, run, compare. Raises BadInputError before anything starts."""
    check_place(request.path, installation)
    if request.pairs < 1:
        raise BadInputError(f"--pairs {request.pairs} is too few; give at least 1")
    out = request.out or RUNS / f"twin-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    RunFolder(out).check_free()
    jobs = read_experiment(request.jobs, vocabulary(installation)).source
    tree = tree_of(jobs.portable(), request.jobs)
    if request.profile is not None:
        Emulator(installation).check(read_profile(request.profile))
    with tempfile.TemporaryDirectory(prefix="assay-twin-") as folder:
        experiment = Path(folder, "twin-experiment.yaml")
        profile = request.profile
        if profile is None:
            check_jobs(tree, request, experiment, partial(run_experiment, out=out, installation=installation))
            profile = Path(folder, "twin.yaml")
            wish = Wish(seconds=request.seconds, form="named", again=True)
            (calibration,) = calibrate_media((str(request.path),), wish, installation, console)
            template = write_profile(calibration, profile, None, installation)
            kind = YamlFile(profile).tree["kind"]
            print_line(console, f"the twin is of kind {kind}; what can't be measured is that of {template}")
        kept_profile = absolute(Path.cwd(), out).with_name(f"{out.name}.profile.yaml")
        kept_profile.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(profile, kept_profile)
        write_experiment(tree, request, str(kept_profile), experiment)
        code = run_experiment(experiment, out, installation, Output.on(console))
    run = RunFolder(out)
    plan = run.plan()
    rows = rows_of(differences(plan, run.records(plan)[0]))
    replace_text(out / "twin.json", json_text(rows, indent=1))
    print_line(console, f"profile: {kept_profile}; differences: {out / 'twin.json'}")
    return code


def check_jobs(tree: Mapping[str, Any], request: Request, file: Path, run: Callable[..., int]) -> None:
    """Plan the jobs on both drives and ask what they need, with another profile in the place of the twin's.

    Calibrating takes minutes. Raises BadInputError where the jobs can't run so, with the name of the user's file.
    """
    write_experiment(tree, request, STAND_IN, file)
    try:
        run(file, output=Output.on(Console(quiet=True)), dry_run=True)
    except BadInputError as error:
        reason = re.sub(rf"^{re.escape(str(file))}(, line \d+)?: ", "", str(error))
        raise BadInputError(f"{request.jobs}, with the drive and its twin as media: {reason}") from None


def check_place(path: Path, installation: Installation) -> None:
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
    share = busy_share(Path("/sys/dev/block", mount.device_number))
    if share > BUSY_SHARE:
        raise BadInputError(
            f"the drive of {path} ({mount.source}) is busy for {share:.0%} of the time; stop what uses it"
        )


def busy_share(device: Path) -> float:
    """For how much of a second the device had requests (sysfs `stat`, field 10); 0 where the kernel does not tell."""

    def busy_ms() -> int:
        return int((device / "stat").read_text(encoding="utf-8").split()[9])

    try:
        before, began = busy_ms(), time.monotonic()
        time.sleep(LOOK_S)
        return (busy_ms() - before) / 1000 / (time.monotonic() - began)
    except (OSError, ValueError, IndexError):
        return 0.0


def write_experiment(tree: Mapping[str, Any], request: Request, profile: str, file: Path) -> None:
    """The jobs' experiment with the directory and its twin as media; whatever compares others is left out."""
    file_system = mount_of(request.path).file_system
    in_memory = _fits_into_memory()
    twin = {
        "profile": profile,
        "file_system": file_system if file_system in {"ext4", "xfs"} else "ext4",
        **({"path": str(SHARED_MEMORY)} if in_memory else {}),
    }
    made = {name: value for name, value in tree.items() if name not in _LEFT_OUT}
    made |= {"media": {REAL: {"path": str(request.path)}, TWIN: twin}, "repetitions": request.pairs}
    file.write_text(json.dumps(plain(made), indent=1), encoding="utf-8")  # which is YAML


def _fits_into_memory() -> bool:
    try:
        free = shutil.disk_usage(SHARED_MEMORY).free
    except OSError:
        return False
    return free >= BACKING_BYTES and available_memory_bytes() >= MEMORY_BYTES
