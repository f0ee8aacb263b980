"""An upper bound on what any drive could save of a job, and how it comes about; derived in docs/explanation/triage.md.

It is the smaller of two. *By time*: what the stages could become shorter if tasks never did anything but compute. *By
bytes*: how long the busiest node's drives take at most for what the job moved, with what the jobs beside it moved;
nobody waits for a drive that is idle. Where the drives' busy time was measured, that takes the place of the bytes.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from assay.engine.past.job import PastJob, StageSums, Use
from assay.model.naming import bytes_text
from assay.stats.caveats import BUSY_MARGIN
from assay.triage.drives import Drives

BoundBasis = Literal["busy drives", "bytes", "time"]


class BoundPart(NamedTuple):
    """A phase's use of the drives of one role: the most seconds that a node's drives take for it."""

    phase: str
    role: str
    seconds: float
    how: str


class StageBound(NamedTuple):
    """The most seconds that a stage could become shorter, by each way to tell; None where that is not known."""

    stage: str
    seconds: float
    time_s: float | None
    bytes_s: float
    busy_s: float | None


class Bound(NamedTuple):
    """The most seconds that any drive could save of a job, what it rests on, and by role and phase what it is made of.

    `processors_s` is the least time that the job needs for computing alone, where the nodes' processors are known.
    """

    seconds: float
    basis: BoundBasis
    stages: tuple[StageBound, ...]
    parts: tuple[BoundPart, ...]
    beside_s: float = 0.0
    processors_s: float = 0.0

    def role_seconds(self) -> dict[str, float]:
        """By role, the most that faster drives for that role alone could save."""
        by_role: dict[str, float] = {}
        for part in self.parts:
            by_role[part.role] = by_role.get(part.role, 0.0) + part.seconds
        return {role: min(seconds, self.seconds) for role, seconds in by_role.items()}

    @property
    def role(self) -> str:
        """The role whose bytes take the drives longest; empty where none is moved."""
        seconds = self.role_seconds()
        return max(seconds, key=seconds.__getitem__) if any(seconds.values()) else ""


def bound_of(
    job: PastJob, drives: Mapping[str, Drives], *, beside_s: float = 0.0, cores: int | None = None,
    busy_s: Mapping[str, float] | None = None,
) -> Bound:  # fmt: skip
    """The bound of a job whose history lacks nothing.

    `beside_s` is how long the drives of a node worked at most, during this job, for the jobs beside it. `cores` are a
    node's, if known. `busy_s` is how long the drives of the busiest node were busy during each stage, if measured.
    """
    parts: list[BoundPart] = []
    stages = []
    carried_s = 0.0
    tasks_s = job.tasks_s
    for stage in job.stages:
        elapsed_s = stage.elapsed_ms / 1000
        of_stage = list(parts_of(job, stage, drives))
        parts += of_stage
        alone_s = elapsed_s if job.uncounted else sum(part.seconds for part in of_stage)
        shared_s = beside_s * elapsed_s / tasks_s if tasks_s else 0.0
        # What one stage writes may still be on its way to the drives in the next.
        bytes_s = alone_s + shared_s + carried_s
        carried_s = max(0.0, bytes_s - elapsed_s)
        bytes_s = min(bytes_s, elapsed_s)
        # The tasks of an uber job share one process: what each counts of processors is that of all.
        time_s = None if job.uberized else stage.saved_ms / 1000
        measured_s = None if busy_s is None or stage.name not in busy_s else min(elapsed_s, busy_s[stage.name])
        worked_s = bytes_s if measured_s is None else min(elapsed_s, BUSY_MARGIN * measured_s)
        stage_s = worked_s if time_s is None else min(time_s, worked_s)
        stages.append(StageBound(stage.name, stage_s, time_s, bytes_s, measured_s))
    # By clocks that differ, tasks may have run for longer than their job.
    seconds = min(job.elapsed_s, sum(stage.seconds for stage in stages))
    processors_s = job.whole.cpu_ms / 1000 / max(1, len(job.nodes)) / cores if cores and not job.uberized else 0.0
    if processors_s:
        seconds = min(seconds, max(0.0, tasks_s - processors_s))
    return Bound(seconds, _basis(stages), tuple(stages), tuple(parts), beside_s, processors_s)


def _basis(stages: Sequence[StageBound]) -> BoundBasis:
    """What the larger part of the bound rests on."""
    if not stages:
        return "time"
    widest = max(stages, key=lambda stage: stage.seconds)
    if widest.time_s is not None and widest.seconds >= widest.time_s:
        return "time"
    return "bytes" if widest.busy_s is None else "busy drives"


def drive_seconds(job: PastJob, drives: Mapping[str, Drives], sites_nodes: int) -> float:
    """How long the drives of an average node of the site work at most for a job; while it has tasks if nobody knows."""
    spread = len(job.nodes) / max(1, sites_nodes, len(job.nodes))
    if job.uncounted:
        return spread * job.tasks_s
    return spread * sum(part.seconds for stage in job.stages for part in parts_of(job, stage, drives))


def parts_of(job: PastJob, stage: StageSums, drives: Mapping[str, Drives]) -> Iterator[BoundPart]:
    """Each phase's use of the drives of a role, on the node that moves most, at the drives' lowest rates."""
    together = tasks_at_once(stage, max(1, len(job.nodes)))
    for use in job.uses(stage):
        if use.moved > 0 or use.accesses:
            yield _part(use, drives[use.role], together)


def _part(use: Use, drives: Drives, together: float) -> BoundPart:
    at_once = busy_at_once(drives.number, together)
    if use.accesses:
        seconds = use.accesses * drives.read_access_s
        how = f"{use.purpose} on the busiest node: {use.accesses:,} accesses of {1000 * drives.read_access_s:.3g} ms"
    else:
        seconds = drives.seconds(use.direction, use.moved, use.request)
        how = (
            f"{use.purpose}: {bytes_text(use.moved)} on the busiest node at "
            f"{drives.rate_text(use.direction, use.request)} a drive, {at_once:.3g} of its drives at once"
        )
    return BoundPart(use.phase, use.role, seconds / at_once, how)


def tasks_at_once(stage: StageSums, nodes: int) -> float:
    """How many tasks ran at once on a node, on average over the stage: a task waits for one drive at a time."""
    return sum(stage.phases_ms.values()) / stage.elapsed_ms / nodes if stage.elapsed_ms else 1.0


def busy_at_once(drives: int, tasks: float) -> float:
    """How many of a node's drives work at once while so many tasks wait for one each, whichever it is.

    That is the throughput of a closed, balanced queueing network over that of one of its queues.
    """
    tasks = max(1.0, tasks)
    return drives * tasks / (drives + tasks - 1)


def beside(jobs: Sequence[PastJob], seconds: Sequence[float]) -> list[float]:
    """For each job, how long a node's drives worked at most during it for all of the other jobs.

    `seconds` are those of each job; they are spread evenly over its time. Takes time as sorting does.
    """
    edges = sorted({edge for job in jobs for edge in (job.started_ms, job.finished_ms)})
    index_of = {edge: number for number, edge in enumerate(edges)}
    density = [0.0] * (len(edges) + 1)
    for job, alone_s in zip(jobs, seconds, strict=True):
        length_ms = max(1, job.finished_ms - job.started_ms)
        density[index_of[job.started_ms]] += alone_s / length_ms
        density[index_of[job.finished_ms]] -= alone_s / length_ms
    worked, running = [0.0], 0.0
    for number in range(1, len(edges)):
        running += density[number - 1]
        worked.append(worked[-1] + running * (edges[number] - edges[number - 1]))
    return [
        max(0.0, worked[index_of[job.finished_ms]] - worked[index_of[job.started_ms]] - alone_s)
        for job, alone_s in zip(jobs, seconds, strict=True)
    ]


class Concurrency(NamedTuple):
    """How many jobs ran at once: on average while any ran, and at most; and for how long any ran, in seconds."""

    average: float
    most: int
    covered_s: float


def concurrency(jobs: Sequence[PastJob]) -> Concurrency:
    """Of jobs with both times."""
    edges = sorted([(job.started_ms, 1) for job in jobs] + [(job.finished_ms, -1) for job in jobs])
    running, most, covered_ms, before_ms = 0, 0, 0, 0
    for at_ms, change in edges:
        covered_ms += (at_ms - before_ms) * (running > 0)
        running, before_ms = running + change, at_ms
        most = max(most, running)
    total_ms = sum(job.finished_ms - job.started_ms for job in jobs)
    return Concurrency(total_ms / covered_ms if covered_ms else 0.0, most, covered_ms / 1000)
