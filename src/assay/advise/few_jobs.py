"""Which jobs get a small SSD: those that save most for each byte of their peaks, while all that run at once fit."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.advise.sizes import peak_at_once
from assay.engine.past.job import PastJob


class Candidate(NamedTuple):
    """A job that may get the SSD: how many seconds that probably saves of its runs, and these runs."""

    job: str
    saved_s: float
    runs: Sequence[PastJob]

    @property
    def peak_bytes(self) -> float:
        """The most that one of its runs had in the local directories of a node."""
        return max((run.local_peak for run in self.runs), default=0)


def few_jobs(candidates: Iterable[Candidate], size_bytes: float) -> list[Candidate]:
    """The jobs that get an SSD of that size in each node, in the order in which they are chosen.

    They are taken by saved time for each byte of their peaks: each that still fits on every node at any time, beside
    those that were taken before it. Jobs that save nothing get none.
    """
    chosen: list[Candidate] = []
    gaining = [candidate for candidate in candidates if candidate.saved_s > 0 and candidate.peak_bytes <= size_bytes]
    for candidate in sorted(gaining, key=lambda of: (-of.saved_s / max(1.0, of.peak_bytes), of.job)):
        if peak_at_once([run for of in (*chosen, candidate) for run in of.runs]) <= size_bytes:
            chosen.append(candidate)
    return chosen
