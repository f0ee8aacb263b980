"""An upper bound on what any drive could save of a job, and how it comes about; derived in docs/explanation/triage.md.

It is the smallest of three. *By time*: what the stages could become shorter if tasks never did anything but compute.
*By bytes*: how long the busiest node's drives take at most for what the job moved, with what the jobs beside it moved;
nobody waits for a drive that is idle. *By busy drives*, where that was measured. What contradicts the bound stands
beside it: waits that no counted byte explains, and drives that did much more than what is counted.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from assay.engine.past.job import PastJob, StageSums, Use, Work
from assay.model.naming import bytes_text
from assay.stats.caveats import BUSY_MARGIN
from assay.triage.drives import Drives

BoundBasis = Literal["busy drives", "bytes", "time"]
MUCH_LONGER = 2.0
"""Drives that are busy for so many times what is counted, at their lowest rates, work for somebody else, too."""
_LEAST_REMOTE_RATE = 5e6
"""Bytes a second of a task that reads an object store or writes to it: one that is slower waits for something else."""


class BoundPart(NamedTuple):
    """A phase's use of the drives of one role: the most seconds that a node's drives take for it."""

    phase: str
    role: str
    seconds: float
    how: str


class StageBound(NamedTuple):
    """The most seconds that a stage could become shorter, by each way to tell; None where that is not known.

    For `unexplained_s` its tasks waited although nothing that is counted, or measured, tells for what. For `foreign_s`
    a drive worked, where that is much longer than what is counted explains; else 0. `unplaced_s` would be added to
    `seconds` if bytes of which nobody knows where they lie were on the nodes' drives.
    """

    stage: str
    seconds: float
    time_s: float | None
    bytes_s: float
    busy_s: float | None
    unexplained_s: float = 0.0
    foreign_s: float = 0.0
    unplaced_s: float = 0.0


class Busy(NamedTuple):
    """What drives did during a job: by stage, how long those of the busiest node worked; and bytes that they read.

    `seconds` lacks stages of which the Prometheus does not know enough. `busiest_s` is by stage how long a single drive
    worked at most. `refuted` says why all of that is no evidence; empty where it is. It is `confirmed` where the
    drives count about as many bytes as the jobs do, no less and no more: else tasks may have waited for other drives.
    """

    seconds: Mapping[str, float]
    read_bytes: float
    busiest_s: Mapping[str, float] = {}
    refuted: str = ""
    confirmed: bool = True


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
        return most_moved([self])


def most_moved(bounds: Iterable[Bound]) -> str:
    """The role whose bytes take the drives longest, whatever bounds the jobs; empty where none is moved."""
    by_role: dict[str, float] = {}
    for part in (part for bound in bounds for part in bound.parts):
        by_role[part.role] = by_role.get(part.role, 0.0) + part.seconds
    return max(by_role, key=by_role.__getitem__) if any(by_role.values()) else ""


def bound_of(
    job: PastJob, drives: Mapping[str, Drives], *, beside_s: float = 0.0, cores: int | None = None,
    busy: Busy | None = None,
) -> Bound:  # fmt: skip
    """The bound of a job whose history lacks nothing.

    `beside_s` is how long the drives of a node worked at most, during this job, for the jobs beside it. `cores` are a
    node's hardware threads, if known. `busy` is how long the drives were busy during each stage, if measured.
    """
    parts = [list(parts_of(job, stage, drives)) for stage in job.stages]
    worked_s: list[float] = []
    carried_s = 0.0
    tasks_s = job.tasks_s
    for stage, of_stage in zip(job.stages, parts, strict=True):
        elapsed_s = stage.elapsed_ms / 1000
        alone_s = elapsed_s if job.uncounted else sum(part.seconds for part in of_stage)
        shared_s = beside_s * elapsed_s / tasks_s if tasks_s else 0.0
        # What one stage writes may still be on its way to the drives in the next.
        worked_s.append(alone_s + shared_s + carried_s)
        carried_s = max(0.0, worked_s[-1] - elapsed_s)
    stages: list[StageBound] = []
    early_s = 0.0
    for stage, of_stage, bytes_s in reversed(list(zip(job.stages, parts, worked_s, strict=True))):
        most_s = min(bytes_s + early_s, stage.elapsed_ms / 1000)
        stages.insert(0, _stage_bound(job, stage, drives, most_s, busy))
        # What does not fit into the time after the last map, reducers may have done beside the maps.
        early_s = min(stage.early_ms / 1000, _intermediate_s(of_stage), max(0.0, bytes_s - stages[0].seconds))
    # By clocks that differ, tasks may have run for longer than their job.
    seconds = min(job.ran_s, sum(stage.seconds for stage in stages))
    # On how many nodes a job without names of nodes ran, no one knows.
    processors_s = job.whole.cpu_ms / 1000 / len(job.nodes) / cores if cores and job.nodes and not job.uberized else 0.0
    if processors_s:
        seconds = min(seconds, max(0.0, tasks_s - processors_s))
    return Bound(
        seconds, _basis(stages), tuple(stages), tuple(part for of_stage in parts for part in of_stage), beside_s,
        processors_s,
    )  # fmt: skip


def _intermediate_s(parts: Iterable[BoundPart]) -> float:
    return sum(part.seconds for part in parts if part.role == "intermediate")


def _stage_bound(
    job: PastJob, stage: StageSums, drives: Mapping[str, Drives], bytes_s: float, busy: Busy | None
) -> StageBound:
    """A stage's, whose drives worked for `bytes_s` at most by what is counted."""
    elapsed_s = stage.elapsed_ms / 1000
    # The tasks of an uber job share one process: what each counts of processors is that of all.
    time_s = None if job.uberized else stage.saved_ms / 1000
    measured_s = None if busy is None or stage.name not in busy.seconds else min(elapsed_s, busy.seconds[stage.name])
    worked_s = bytes_s if measured_s is None else min(bytes_s, BUSY_MARGIN * measured_s)
    most_s = elapsed_s if time_s is None else time_s
    seconds = min(most_s, worked_s)
    busiest_s = min(elapsed_s, busy.busiest_s.get(stage.name, 0.0)) if busy and measured_s is not None else 0.0
    foreign_s = busiest_s if busiest_s > MUCH_LONGER * bytes_s else 0.0
    if busy and measured_s is not None and busy.confirmed:
        return StageBound(stage.name, seconds, time_s, bytes_s, measured_s, foreign_s=foreign_s)
    # By drives that may not be the jobs' own, tasks that waited for others are not explained.
    waited_s = (stage.saved_ms - stage.threaded_ms) / 1000
    unexplained_s = max(0.0, waited_s - worked_s - elsewhere_s(job, stage))
    unplaced_s = min(most_s, worked_s + _unplaced_s(job, stage, drives)) - seconds
    return StageBound(stage.name, seconds, time_s, bytes_s, measured_s, unexplained_s, foreign_s, unplaced_s)


def _unplaced_s(job: PastJob, stage: StageSums, drives: Mapping[str, Drives]) -> float:
    """How long a node's drives would take for what may lie on them, or elsewhere."""
    uses = (
        Use("input", "", "read", stage.busiest.unplaced_read, None, ""),
        Use("output", "", "write", job.copies * stage.busiest.unplaced_written, None, ""),
    )
    together = tasks_at_once(stage, max(1, len(job.nodes)))
    return sum(_part(use, drives[use.role], together).seconds for use in uses)


def elsewhere_s(job: PastJob, stage: StageSums) -> float:
    """How long a stage's tasks may have waited for other machines: for what they fetched, and for object stores.

    In a shuffle tasks do nothing that is not counted, so that all of its time is explained.
    """
    tasks_ms = sum(stage.phases_ms.values())
    if not tasks_ms:
        return 0.0
    fetching_ms = sum(stage.phases_ms.get(phase, 0) for phase in job.fetching_phases)
    work = stage.whole
    remote = work.remote_read + work.remote_written + work.unplaced_read + work.unplaced_written
    remote_ms = 1000 * remote / _LEAST_REMOTE_RATE
    return stage.elapsed_ms / 1000 * min(1.0, (fetching_ms + remote_ms) / tasks_ms)


class Computed(NamedTuple):
    """How much processor time tasks had in a time, and on how many nodes."""

    cpu_s: float
    elapsed_s: float
    nodes: int

    @property
    def threads(self) -> float:
        """The hardware threads that each node must have had, on average."""
        return self.cpu_s / self.elapsed_s / self.nodes if self.elapsed_s else 0.0


def computed(job: PastJob) -> Computed:
    """Of a job or one of its stages, what takes most hardware threads; nothing where its nodes are not known."""
    if not job.nodes or job.uberized:
        return Computed(0.0, 0.0, 1)
    spans = [(job.whole.cpu_ms / 1000, job.tasks_s)]
    spans += [(stage.whole.cpu_ms / 1000, stage.elapsed_ms / 1000) for stage in job.stages if not stage.early_ms]
    return max((Computed(*span, len(job.nodes)) for span in spans), key=lambda of_span: of_span.threads)


def _basis(stages: Sequence[StageBound]) -> BoundBasis:
    """What the larger part of the bound rests on."""
    if not stages:
        return "time"
    widest = max(stages, key=lambda stage: stage.seconds)
    if widest.time_s is not None and widest.seconds >= widest.time_s:
        return "time"
    return "bytes" if widest.busy_s is None or widest.seconds >= widest.bytes_s else "busy drives"


class Load(NamedTuple):
    """How long the drives of an average node of the site work at most in a stage of a job."""

    begin_ms: int
    end_ms: int
    seconds: float


def drive_loads(job: PastJob, drives: Mapping[str, Drives], sites_nodes: int) -> list[Load]:
    """The work of a job's stages; as long as they have tasks where nobody knows."""
    nodes = max(1, len(job.nodes))
    spread = nodes / max(nodes, sites_nodes)
    loads = []
    for stage in job.stages:
        bytes_s = sum(part.seconds for part in parts_of(job, stage, drives))
        worked_s = stage.elapsed_ms / 1000 if job.uncounted else bytes_s
        loads.append(Load(stage.begin_ms, max(stage.begin_ms + 1, stage.end_ms), spread * worked_s))
    return loads


def parts_of(job: PastJob, stage: StageSums, drives: Mapping[str, Drives]) -> Iterator[BoundPart]:
    """Each phase's use of the drives of a role, on the node that moves most, at the drives' lowest rates."""
    together = tasks_at_once(stage, max(1, len(job.nodes)))
    for use in (*job.uses(stage), *_uploads(stage.busiest)):
        if use.moved > 0 or use.accesses:
            yield _part(use, drives[use.role], together)


def _uploads(work: Work) -> Iterator[Use]:
    """What clients of object stores write to local directories before they send it (Hadoop: S3ABlockOutputStream)."""
    sent = work.remote_written
    yield Use("intermediate", "upload", "write", sent, None, "output to object stores, buffered before it is sent")
    yield Use("intermediate", "upload", "read", sent, None, "read again to be sent")


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


def beside(jobs: Sequence[PastJob], loads: Sequence[Sequence[Load]]) -> list[float]:
    """For each job, how long a node's drives worked at most during it for all of the other jobs.

    `loads` are those of each job; each is spread evenly over its time. Takes time as sorting does.
    """
    of_all = [load for of_job in loads for load in of_job]
    edges = sorted({
        *(edge for job in jobs for edge in (job.started_ms, job.finished_ms)),
        *(edge for load in of_all for edge in (load.begin_ms, load.end_ms)),
    })  # fmt: skip
    index_of = {edge: number for number, edge in enumerate(edges)}
    density = [0.0] * (len(edges) + 1)
    for load in of_all:
        per_ms = load.seconds / (load.end_ms - load.begin_ms)
        density[index_of[load.begin_ms]] += per_ms
        density[index_of[load.end_ms]] -= per_ms
    worked, running = [0.0], 0.0
    for number in range(1, len(edges)):
        running += density[number - 1]
        worked.append(worked[-1] + running * (edges[number] - edges[number - 1]))
    return [
        max(0.0, worked[index_of[job.finished_ms]] - worked[index_of[job.started_ms]] - _own_s(job, own))
        for job, own in zip(jobs, loads, strict=True)
    ]


def _own_s(job: PastJob, loads: Sequence[Load]) -> float:
    """What a job's own loads come to within its time: by clocks that differ, tasks may have run for longer."""
    return sum(
        load.seconds * max(0, min(load.end_ms, job.finished_ms) - max(load.begin_ms, job.started_ms))
        / (load.end_ms - load.begin_ms)
        for load in loads
    )  # fmt: skip


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
