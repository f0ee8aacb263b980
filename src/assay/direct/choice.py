"""Which recurring jobs get a small SSD in each node: those that save most for what they hold there at once.

Jobs are taken in two orders, by what they save for each byte of their peak, and by what they save; each that still fits
beside those taken before. The order that saves more is the choice. If all jobs ran at once on the same nodes, that
would be at least half of what the best choice saves (Dantzig 1957, for the knapsack problem). Where they do not, it is
only certain that what was taken fitted in every moment that the histories tell of.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from assay.advise.advice import MONTH_NIGHTS, nights_of
from assay.advise.alternatives import INTERMEDIATE, on_ssd
from assay.advise.saving import likely_after
from assay.advise.sizes import FREE_SHARE, peak_bytes
from assay.engine.past.formats import FORMS
from assay.model.base import Frozen
from assay.model.naming import bytes_text
from assay.triage.drives import Drives
from assay.triage.likely import Likely, added
from assay.triage.names import run_name
from assay.triage.ranking import DriveSite, JobRow, Triage, TriageVerdict
from assay.triage.reasons import BoundedRun


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
    likely_hours: float
    """What they probably save in a month."""
    low_hours: float
    """The lower end of its interval."""
    high_hours: float
    """The upper end."""
    nights: int
    """The nights of the histories, of which a month has 30."""
    jobs: tuple[ChosenJob, ...]
    """All jobs: first those that are directed, by what they save."""

    @property
    def directed(self) -> tuple[ChosenJob, ...]:
        """The jobs that get the SSD."""
        return tuple(job for job in self.jobs if job.directed)


class _Candidate(NamedTuple):
    """A job with its runs, and what the SSD saves of them together; a clause where that is not known."""

    row: JobRow
    runs: Sequence[BoundedRun]
    saved: Likely | str

    @property
    def seconds(self) -> float:
        return self.saved.seconds if isinstance(self.saved, Likely) else 0.0

    @property
    def peak(self) -> float:
        return peak_bytes([run.job for run in self.runs]) if self.runs else 0.0


def choose(answer: Triage, bounded: Sequence[BoundedRun], site: DriveSite, ssd: Drives, ssd_bytes: int) -> Choice:
    """The choice for SSDs of that size in each node, from triage's answer and its runs that count."""
    runs: dict[str, list[BoundedRun]] = {}
    for run in bounded:
        runs.setdefault(run_name(run.job), []).append(run)
    candidates = [
        _Candidate(row, runs.get(row.job, []), _saved(runs.get(row.job, []), site, ssd)) for row in answer.rows
    ]
    reasons = {of.row.job: _why_never(of) for of in candidates}
    possible = [of for of in candidates if not reasons[of.row.job]]
    room = (1 - FREE_SHARE) * ssd_bytes
    orders: Sequence[Callable[[_Candidate], float]] = (lambda of: of.seconds / max(1.0, of.peak), lambda of: of.seconds)
    taken = max(
        (_taken(sorted(possible, key=order, reverse=True), room) for order in orders),
        key=lambda jobs: sum(of.seconds for of in jobs),
    )
    names = {of.row.job for of in taken}
    for of in possible:
        if of.row.job not in names:
            reasons[of.row.job] = _why_left(of, taken, room)
    to_hours = MONTH_NIGHTS / nights_of(answer) / 3600
    jobs = [_chosen(of, reasons[of.row.job], to_hours) for of in candidates]
    jobs.sort(key=lambda job: (not job.directed, -(job.likely_hours or 0.0), job.job))
    directed = [job for job in jobs if job.directed]
    return Choice(
        ssd_bytes=ssd_bytes, room_bytes=room, peak_bytes=_peak(taken),
        likely_hours=sum(job.likely_hours or 0.0 for job in directed),
        low_hours=sum(job.low_hours for job in directed), high_hours=sum(job.high_hours for job in directed),
        nights=nights_of(answer), jobs=tuple(jobs),
    )  # fmt: skip


def _saved(runs: Sequence[BoundedRun], site: DriveSite, ssd: Drives) -> Likely | str:
    """What the SSD saves of a job's runs; why that is not known where no run tells it."""
    each = [likely_after(run, site, on_ssd((INTERMEDIATE,), ssd, run, site)) for run in runs]
    known = [likely for likely in each if isinstance(likely, Likely)]
    return added(known) if known else str(next(iter(each), "its histories lack data"))


def _why_never(candidate: _Candidate) -> str:
    """Why a job is left out however large the SSD is; empty where it may be taken."""
    row, saved = candidate.row, candidate.saved
    if FORMS[row.engine].directing is None:
        return f"jobs of {row.engine} can't be directed"
    if row.verdict is TriageVerdict.CANNOT_MATTER:
        return "drives cannot matter"
    if row.bound_s is None:
        return "not known: its histories lack data, or contradict one another"
    if isinstance(saved, str):
        return f"not known: {saved}"
    return "" if saved.seconds > 0 and candidate.peak > 0 else "an SSD for intermediate data saves nothing"


def _peak(candidates: Iterable[_Candidate]) -> float:
    jobs = [run.job for candidate in candidates for run in candidate.runs]
    return peak_bytes(jobs) if jobs else 0.0


def _taken(ordered: Sequence[_Candidate], room: float) -> list[_Candidate]:
    """Each of these that fits beside those taken before it."""
    taken: list[_Candidate] = []
    for candidate in ordered:
        if _peak([*taken, candidate]) <= room:
            taken.append(candidate)
    return taken


def _why_left(candidate: _Candidate, taken: Sequence[_Candidate], room: float) -> str:
    if candidate.peak > room:
        return f"too large: {bytes_text(candidate.peak)} on a node"
    return f"no room beside the others: together {bytes_text(_peak([*taken, candidate]))} on a node"


def _chosen(candidate: _Candidate, reason: str, to_hours: float) -> ChosenJob:
    saved = candidate.saved if isinstance(candidate.saved, Likely) else None
    return ChosenJob(
        job=candidate.row.job, engine=candidate.row.engine, directed=not reason, reason=reason,
        peak_bytes=candidate.peak, likely_hours=to_hours * saved.seconds if saved else None,
        low_hours=to_hours * saved.low_s if saved else 0.0, high_hours=to_hours * saved.high_s if saved else 0.0,
        unknown=saved.unlike if saved else str(candidate.saved),
    )  # fmt: skip
