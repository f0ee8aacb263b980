"""Which jobs get a small SSD in each node: those that save most for what they hold there at once.

A job gets no SSD that would save next to nothing of its time, since each job that gets one has to be configured.
Jobs are taken in two orders, by what they save for each byte of their peak, and by what they save; each that still fits
beside those taken before. The order that saves more is the choice. If all jobs ran at once on the same nodes, that
would be at least half of what the best choice saves (Dantzig 1957, for the knapsack problem). Where they do not, it is
only certain that what was taken fitted in every moment that the histories tell of.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.advise.alternatives import INTERMEDIATE, on_ssd
from assay.advise.saving import likely_after
from assay.advise.sizes import peak_at_once
from assay.engine.past.job import PastJob
from assay.triage.drives import Drives
from assay.triage.likely import Likely, added
from assay.triage.ranking import DriveSite
from assay.triage.reasons import BoundedRun

LEAST_SAVED = 0.01
"""The least share of a job's time: nobody would see less, since nights differ by more. Prices do not set it, since jobs
share the SSD."""


class Candidate(NamedTuple):
    """A job that may get the SSD: how many seconds that probably saves of its runs, and these runs."""

    job: str
    saved_s: float
    runs: Sequence[PastJob]

    @property
    def peak_bytes(self) -> float:
        """The most that its runs had at once in the local directories of a node."""
        return peak_at_once(self.runs)

    @property
    def gains(self) -> bool:
        """Whether the SSD saves enough of its time."""
        return self.saved_s > 0 and self.saved_s >= LEAST_SAVED * sum(run.ran_s for run in self.runs)


def saved_on_ssd(runs: Iterable[BoundedRun], site: DriveSite, ssd: Drives) -> Likely | str:
    """What an SSD for intermediate data saves of a job's runs together; a clause where no run tells it."""
    each = [likely_after(run, site, on_ssd((INTERMEDIATE,), ssd, run, site)) for run in runs]
    known = [likely for likely in each if isinstance(likely, Likely)]
    return added(known) if known else str(next(iter(each), "its histories lack data"))


def candidate_of(job: str, runs: Sequence[BoundedRun], saved: Likely | str) -> Candidate:
    """A job as a candidate; what is not known counts as nothing saved."""
    return Candidate(job, saved.seconds if isinstance(saved, Likely) else 0.0, [run.job for run in runs])


def few_jobs(candidates: Sequence[Candidate], size_bytes: float) -> list[Candidate]:
    """The jobs that get an SSD of that size in each node, in the order in which they are chosen.

    Jobs that do not gain get none.
    """
    peaks = {of.job: of.peak_bytes for of in candidates if of.gains and of.runs}
    gaining = [of for of in candidates if peaks.get(of.job, size_bytes + 1) <= size_bytes]
    by_name = sorted(gaining, key=lambda of: of.job)
    by_byte = sorted(by_name, key=lambda of: of.saved_s / max(1.0, peaks[of.job]), reverse=True)
    by_saving = sorted(by_name, key=lambda of: of.saved_s, reverse=True)
    choices = [_fitting(ordered, size_bytes) for ordered in (by_byte, by_saving)]
    return max(choices, key=lambda chosen: sum(of.saved_s for of in chosen))


def _fitting(ordered: Iterable[Candidate], size_bytes: float) -> list[Candidate]:
    """Each of these that fits on every node at any time beside those taken before it."""
    chosen: list[Candidate] = []
    for candidate in ordered:
        if peak_of([*chosen, candidate]) <= size_bytes:
            chosen.append(candidate)
    return chosen


def peak_of(candidates: Iterable[Candidate]) -> float:
    """The most that all runs of these jobs had at once in the local directories of a node."""
    return peak_at_once([run for of in candidates for run in of.runs])
