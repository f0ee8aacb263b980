"""Which recurring jobs get a small SSD in each node, with the reason of each, from what triage says of them."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.advise.advice import nights_of
from assay.advise.few_jobs import LEAST_SAVED, Candidate, candidate_of, few_jobs, peak_of, saved_on_ssd
from assay.advise.saving import MONTH_NIGHTS
from assay.advise.sizes import FREE_SHARE, peak_at_once
from assay.engine.past.formats import FORMS
from assay.engine.past.job import PastJob
from assay.model.base import Frozen
from assay.model.naming import bytes_text
from assay.report.words import percent
from assay.triage.drives import Drives
from assay.triage.likely import Likely
from assay.triage.ranking import DriveSite, JobRow, Triage, TriageVerdict
from assay.triage.reasons import BoundedRun, by_job


class ChosenJob(Frozen):
    """A recurring job. Hours are of its time in a month of nights such as the histories have."""

    job: str
    """Its name, as triage has it."""
    engine: str
    """The engine that ran it."""
    directed: bool
    """Whether it gets the SSD."""
    reason: str
    """Why not; empty where it does."""
    peak_bytes: float
    """The most that its runs had in local directories of a node at once."""
    likely_hours: float | None
    """What the SSD probably saves; null where nothing tells, and good for an order alone where `unknown` says why."""
    low_hours: float
    """The lower end of its interval."""
    high_hours: float
    """The upper end."""
    unknown: str
    """Why what is likely is not known, or no more than an order; empty where it is."""


class Choice(Frozen):
    """Which jobs get the SSD of each node, and what that saves."""

    ssd_bytes: int
    """The size of a node's SSD."""
    room_bytes: float
    """What of that may be filled: a fifth stays free, as `advise` has it."""
    peak_bytes: float
    """The most that the directed jobs had on a node at once."""
    all_peak_bytes: float
    """The same of all jobs, failed ones too, as far as their histories tell."""
    unknown_runs: int
    """How many histories lack data or could not be read, so that their runs may have had more."""
    likely_hours: float
    """What they probably save in a month."""
    low_hours: float
    """The lower end of its interval."""
    high_hours: float
    """The upper end."""
    nights: int
    """Nights from the first of the histories to the last, of which a month has 30."""
    jobs: tuple[ChosenJob, ...]
    """All jobs: first those that are directed, by what they save."""

    @property
    def directed(self) -> tuple[ChosenJob, ...]:
        """The jobs that get the SSD."""
        return tuple(job for job in self.jobs if job.directed)

    @property
    def holds_all(self) -> bool:
        """Whether it is known that all jobs would have fitted, so that none need be directed."""
        return not self.unknown_runs and self.all_peak_bytes <= self.room_bytes


class _Job(NamedTuple):
    """A job, what the SSD saves of its runs together (a clause where that is not known), and it as a candidate."""

    row: JobRow
    saved: Likely | str
    candidate: Candidate


def choose(
    jobs: Sequence[PastJob], answer: Triage, bounded: Sequence[BoundedRun], site: DriveSite, ssd: Drives, ssd_bytes: int
) -> Choice:
    """The choice for SSDs of that size in each node, from all past jobs, triage's answer, and its runs that count."""
    runs = by_job(bounded)
    jobs_read = [_job(row, runs.get(row.job, []), site, ssd) for row in answer.rows]
    reasons = {job.row.job: _why_never(job) for job in jobs_read}
    possible = [job.candidate for job in jobs_read if not reasons[job.row.job]]
    room = (1 - FREE_SHARE) * ssd_bytes
    taken = few_jobs(possible, room)
    names = {candidate.job for candidate in taken}
    for candidate in possible:
        if candidate.job not in names:
            reasons[candidate.job] = _why_left(candidate, taken, room)
    to_hours = MONTH_NIGHTS / nights_of(answer) / 3600
    rows = [_chosen(job, reasons[job.row.job], to_hours) for job in jobs_read]
    rows.sort(key=lambda job: (not job.directed, -(job.likely_hours or 0.0), job.job))
    directed = [job for job in rows if job.directed]
    return Choice(
        ssd_bytes=ssd_bytes, room_bytes=room, peak_bytes=peak_of(taken),
        all_peak_bytes=peak_at_once([job for job in jobs if job.stages]),
        unknown_runs=sum(bool(job.missing) for job in jobs) + len(answer.summary.unread),
        likely_hours=sum(job.likely_hours or 0.0 for job in directed),
        low_hours=sum(job.low_hours for job in directed), high_hours=sum(job.high_hours for job in directed),
        nights=nights_of(answer), jobs=tuple(rows),
    )  # fmt: skip


def _job(row: JobRow, runs: Sequence[BoundedRun], site: DriveSite, ssd: Drives) -> _Job:
    saved = saved_on_ssd(runs, site, ssd)
    return _Job(row, saved, candidate_of(row.job, runs, saved))


def _why_never(job: _Job) -> str:
    """Why a job is left out however large the SSD is; empty where it may be taken."""
    row, saved = job.row, job.saved
    if FORMS[row.engine].directing is None:
        return f"jobs of {row.engine} can't be directed"
    if row.verdict is TriageVerdict.CANNOT_MATTER:
        return "drives cannot matter"
    if row.bound_s is None:
        return "not known: its histories lack data, or something contradicts its bound"
    if isinstance(saved, str):
        return f"not known: {saved}"
    if job.candidate.gains and job.candidate.peak_bytes > 0:
        return ""
    return f"an SSD for intermediate data saves less than {percent(LEAST_SAVED)} of its time"


def _why_left(candidate: Candidate, taken: Sequence[Candidate], room: float) -> str:
    if candidate.peak_bytes > room:
        return f"too large: {bytes_text(candidate.peak_bytes)} on a node"
    return f"no room beside the others: together {bytes_text(peak_of([*taken, candidate]))} on a node"


def _chosen(job: _Job, reason: str, to_hours: float) -> ChosenJob:
    saved = job.saved if isinstance(job.saved, Likely) else None
    return ChosenJob(
        job=job.row.job, engine=job.row.engine, directed=not reason, reason=reason,
        peak_bytes=job.candidate.peak_bytes, likely_hours=to_hours * saved.seconds if saved else None,
        low_hours=to_hours * saved.low_s if saved else 0.0, high_hours=to_hours * saved.high_s if saved else 0.0,
        unknown=saved.unlike if saved else str(job.saved),
    )  # fmt: skip
