"""How large SSDs for local directories must be, and how long they last."""

from collections.abc import Iterable, Sequence

from assay.engine.past.job import PastJob
from assay.model.base import Frozen
from assay.triage.bounds import uses_of
from assay.triage.drives import Drives

FREE_SHARE = 0.2
"""Of an SSD: Hadoop leaves a directory that is nine tenths full, and localised files lie in it, too."""
WARRANTY_YEARS = 5
"""For so long makers promise the drive writes a day by which they state an endurance."""
DRIVE_WRITES = 1.0
"""How often an SSD may be written whole each day, where nothing says so: usual for drives that are mostly read."""


class Sizes(Frozen):
    """What lies in the local directories of a node, what is written there, and what SSDs make of that."""

    peak_bytes: float
    """The most that all jobs at once had in the local directories of one node."""
    needed_bytes: float
    """The size that its SSDs need together, with a fifth of it free."""
    has_bytes: float
    """The size that those have which are compared."""
    written_a_day_bytes: float
    """What the node that writes most writes there in a day, on average over days with and without jobs."""
    writes_a_day: float
    """How often an SSD may be written whole each day, over five years."""
    years: float | None
    """Until that is used up; null where nothing is written."""


def sizes(jobs: Sequence[PastJob], days: int, ssd: Drives, ssd_bytes: float, writes_a_day: float) -> Sizes:
    """Of the jobs of so many days, failed ones too, for SSDs of that size each."""
    peak = peak_at_once(jobs)
    written = sum(
        use.moved for job in jobs for stage in job.stages for use in uses_of(job, stage)
        if use.role == "intermediate" and use.direction == "write"
    ) / days  # fmt: skip
    has_bytes = ssd.number * ssd_bytes
    return Sizes(
        peak_bytes=peak, needed_bytes=peak / (1 - FREE_SHARE), has_bytes=has_bytes, written_a_day_bytes=written,
        writes_a_day=writes_a_day,
        years=writes_a_day * WARRANTY_YEARS * has_bytes / written if written else None,
    )  # fmt: skip


def peak_at_once(jobs: Sequence[PastJob]) -> float:
    """The most bytes that jobs at once have in local directories of a node; one whose nodes are not known, on each."""
    jobs_of: dict[str, list[int]] = {}
    anywhere = [number for number, job in enumerate(jobs) if not job.all_nodes]
    for number, job in enumerate(jobs):
        for node in job.all_nodes:
            jobs_of.setdefault(node, []).append(number)
    alike = {(*numbers, *anywhere) for numbers in jobs_of.values()} or {tuple(anywhere)}
    edges = [_edges(job) for job in jobs]
    return max(_most_at_once(edge for number in numbers for edge in edges[number]) for numbers in alike)


def _edges(job: PastJob) -> tuple[tuple[int, float], tuple[int, float]]:
    """When its data come, and when they go."""
    peak = job.local_peak
    return (job.started_ms, peak), (max(job.finished_ms, job.started_ms + 1), -peak)


def _most_at_once(edges: Iterable[tuple[int, float]]) -> float:
    most = held = 0.0
    for _, change in sorted(edges):
        held += change
        most = max(most, held)
    return most
