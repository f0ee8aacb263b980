"""What it takes to move the inputs of jobs to SSDs of their nodes, and after how many runs that is earned back."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile

from assay.advise.saving import MONTH_NIGHTS, JobSaving
from assay.engine.past.job import PastJob
from assay.model.base import Frozen
from assay.triage.drives import Drives
from assay.triage.names import changes, run_name

_ROOT = re.compile(r"(?:[A-Za-z][\w+.-]*:(?://[^/]*)?)?/")


class JobMove(Frozen):
    """What it takes to move a job's input."""

    job: str
    """The job, as triage calls it."""
    seconds: float
    """For its largest input, with all copies."""
    runs: float | None
    """After so many runs it is earned back by what SSDs for all data probably save; null where that is not known."""
    folders: tuple[str, ...] = ()
    """The folders of its inputs and outputs, where its histories name them, up to what changes from run to run."""


class Move(Frozen):
    """What it takes to move the inputs of jobs that SSDs for all data save anything of.

    What is written later lies there at once. Jobs may read the same data, which move once: then it takes less.
    """

    rate: float
    """Bytes a second that each node moves: what its disks read at least, or what its SSDs write if that is less."""
    node_bytes: float
    """What each node moves: the largest input of each job with all copies."""
    seconds: float
    """How long that takes."""
    nights: float | None
    """After so many nights it is earned back by what SSDs for all data probably save; null where that is not known."""
    jobs: tuple[JobMove, ...]
    """Each of the jobs, those first that save most."""


def move_of(jobs: Iterable[PastJob], saved: Sequence[JobSaving], nodes: int, disk: Drives, ssd: Drives) -> Move:
    """The move within each of so many nodes, from `disk` to `ssd`, for what is saved of jobs in a month.

    The drives alone bound it (Hadoop: Mover.chooseTargetInSameNode comes first, and DataXceiver.replaceBlock holds no
    move within a node back).
    """
    inputs: dict[str, float] = {}
    folders: dict[str, dict[str, None]] = {}
    for job in jobs:
        name, copied = run_name(job), min(job.copies, nodes) * job.whole.store_read
        inputs[name] = max(inputs.get(name, 0.0), copied)
        folders.setdefault(name, {}).update(dict.fromkeys(map(lasting_folder, job.paths)))
    rate = min(disk.number * disk.read_rate, ssd.number * ssd.write_rate)
    moves = tuple(_job_move(of, inputs, nodes * rate, tuple(folders[of.job])) for of in saved)
    seconds = sum(of.seconds for of in moves)
    saved_hours = sum(of.likely_hours or 0.0 for of in saved)
    return Move(
        rate=rate, node_bytes=rate * seconds, seconds=seconds, jobs=moves,
        nights=seconds / 3600 / saved_hours * MONTH_NIGHTS if saved_hours else None,
    )  # fmt: skip


def lasting_folder(path: str) -> str:
    """A path up to the first part that changes from run to run, such as a date; all of it where nothing is left."""
    root = _ROOT.match(path)
    start = root[0] if root else ""
    lasting = [*takewhile(lambda part: not changes(part), path.removeprefix(start).split("/"))]
    return start + "/".join(lasting) if lasting else path


def _job_move(saved: JobSaving, inputs: Mapping[str, float], rate: float, folders: tuple[str, ...]) -> JobMove:
    seconds = inputs[saved.job] / rate
    runs = seconds / 3600 / saved.likely_hours * saved.runs if saved.likely_hours else None
    return JobMove(job=saved.job, seconds=seconds, runs=runs, folders=folders)
