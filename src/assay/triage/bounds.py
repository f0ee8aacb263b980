"""An upper bound on what any drive could save of a job, and how it comes about; derived in docs/explanation/triage.md.

It is the smallest of three. *By time*: what the stages could become shorter if tasks never did anything but compute.
*By bytes*: how long the busiest node's drives take at most for what the job moved, with what the jobs beside it moved;
nobody waits for a drive that is idle. *By busy drives*, where that was measured. What contradicts the bound stands
beside it: waits that no counted byte explains, and drives that did much more than what is counted.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
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
    `seconds` if bytes of which nobody knows where they lie were on the nodes' drives. `seconds` would be longer by
    `cut_s` if nobody knew how busy its tasks kept the nodes' processors.
    """

    stage: str
    seconds: float
    time_s: float | None
    bytes_s: float
    busy_s: float | None
    unexplained_s: float = 0.0
    foreign_s: float = 0.0
    unplaced_s: float = 0.0
    cut_s: float = 0.0


class Busy(NamedTuple):
    """What drives did during a job: by stage, how long those of the busiest node worked; and bytes that they read.

    `seconds` lacks stages of which too little was measured. `busiest_s` is by stage how long a single drive
    worked at most. `refuted` says why all of that is no evidence; empty where it is. It is `confirmed` where the
    drives count about as many bytes as the jobs do, no less and no more: else tasks may have waited for other drives.

    `usual_s` is by stage how long the busiest of `drives` worked in it, without a margin; it lacks stages that are too
    short for the steps in which this is known.
    """

    seconds: Mapping[str, float]
    read_bytes: float
    busiest_s: Mapping[str, float] = {}
    refuted: str = ""
    confirmed: bool = True
    usual_s: Mapping[str, float] = {}
    drives: int = 1


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
    basis = _basis(stages)
    if cores:
        stages = [
            _cut(of_stage, _idle_s(job, stage, cores)) for of_stage, stage in zip(stages, job.stages, strict=True)
        ]
    # By clocks that differ, tasks may have run for longer than their job.
    seconds = min(job.ran_s, sum(stage.seconds for stage in stages))
    # On how many nodes a job ran no one knows where not all are named.
    processors_s = 0.0
    if cores and job.all_nodes and not job.uberized:
        processors_s = job.whole.needed_cpu_ms / 1000 / len(job.all_nodes) / cores
    if processors_s:
        seconds = min(seconds, max(0.0, tasks_s - processors_s))
    return Bound(
        seconds, basis, tuple(stages), tuple(part for of_stage in parts for part in of_stage), beside_s,
        processors_s,
    )  # fmt: skip


def _idle_s(job: PastJob, stage: StageSums, cores: int) -> float:
    """How long the processors of its nodes computed for none of a stage's tasks, on average over all of them.

    A stage can't become shorter by more. It is all of its time where nobody knows on which nodes it ran, or how much of
    their processor time reducers had before the last map ended.
    """
    elapsed_s = stage.elapsed_ms / 1000
    if not job.all_nodes or job.uberized or stage.early_ms:
        return elapsed_s
    return max(0.0, elapsed_s - stage.whole.needed_cpu_ms / 1000 / len(job.all_nodes) / cores)


def _cut(stage: StageBound, most_s: float) -> StageBound:
    """The same of a stage that can't become shorter by more than that."""
    seconds = min(stage.seconds, most_s)
    left_s = most_s - seconds
    return stage._replace(
        seconds=seconds, cut_s=stage.seconds - seconds, unexplained_s=min(stage.unexplained_s, left_s),
        unplaced_s=min(stage.unplaced_s, left_s),
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
    waited_s = (stage.saved_ms - stage.unverified_ms) / 1000
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
    return sum(part_of(use, drives[use.role], together).seconds for use in uses)


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
    """Of a job or one of its stages, what takes most hardware threads; nothing where not all of its nodes are known."""
    if not job.all_nodes or job.uberized:
        return Computed(0.0, 0.0, 1)
    spans = [(job.whole.cpu_ms / 1000, job.tasks_s)]
    spans += [(stage.whole.cpu_ms / 1000, stage.elapsed_ms / 1000) for stage in job.stages if not stage.early_ms]
    return max((Computed(*span, len(job.all_nodes)) for span in spans), key=lambda of_span: of_span.threads)


def _basis(stages: Sequence[StageBound]) -> BoundBasis:
    """What the larger part of the bound rests on."""
    if not stages:
        return "time"
    widest = max(stages, key=lambda stage: stage.seconds)
    if widest.time_s is not None and widest.seconds >= widest.time_s:
        return "time"
    return "bytes" if widest.busy_s is None or widest.seconds >= widest.bytes_s else "busy drives"


class Load(NamedTuple):
    """How long the drives of the busiest node of a job work at most in one of its stages."""

    begin_ms: int
    end_ms: int
    seconds: float


def drive_loads(job: PastJob, drives: Mapping[str, Drives]) -> list[Load]:
    """The work of a job's stages; as long as they have tasks where nobody knows.

    Of what reducers do in local directories, a part is done before their stage begins: by how long they ran then.
    """
    loads: list[Load] = []
    early_s = 0.0
    for stage in reversed(job.stages):
        parts = list(parts_of(job, stage, drives))
        worked_s = stage.elapsed_ms / 1000 if job.uncounted else sum(part.seconds for part in parts)
        all_ms = stage.early_ms + sum(stage.phases_ms.values())
        own_early_s = _intermediate_s(parts) * stage.early_ms / all_ms if all_ms and not job.uncounted else 0.0
        seconds = worked_s - own_early_s + early_s
        loads.insert(0, Load(stage.begin_ms, max(stage.begin_ms + 1, stage.end_ms), seconds))
        early_s = own_early_s
    return loads


def parts_of(job: PastJob, stage: StageSums, drives: Mapping[str, Drives]) -> Iterator[BoundPart]:
    """Each phase's use of the drives of a role, on the node that moves most, at the drives' lowest rates."""
    together = tasks_at_once(stage, max(1, len(job.nodes)))
    for use in uses_of(job, stage):
        if use.moved > 0 or use.accesses:
            yield part_of(use, drives[use.role], together)


def uses_of(job: PastJob, stage: StageSums) -> Iterator[Use]:
    """What a stage's phases move on the drives of each role, what is sent to object stores included."""
    yield from job.uses(stage)
    yield from _uploads(stage.busiest)


def _uploads(work: Work) -> Iterator[Use]:
    """What clients of object stores write to local directories before they send it (Hadoop: S3ABlockOutputStream)."""
    sent = work.remote_written
    yield Use("intermediate", "upload", "write", sent, None, "output to object stores, buffered before it is sent")
    yield Use("intermediate", "upload", "read", sent, None, "read again to be sent")


def part_of(use: Use, drives: Drives, together: float) -> BoundPart:
    """A use of a node's drives, while so many tasks run at once on it."""
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
    """For each job, how long the drives of one of its nodes worked at most during it for all of the other jobs.

    `loads` are those of each job; each is spread evenly over its time, and takes place on all nodes of its job. Where
    its nodes are not known, it is spread over all nodes, and what copies of outputs do on others may be so much at
    least. Takes time as sorting does, for each node.
    """
    jobs_of: dict[str, list[int]] = {}
    for number, job in enumerate(jobs):
        for node in job.nodes:
            jobs_of.setdefault(node, []).append(number)
    nodes = max(1, len(jobs_of))
    spreads = [max(1, len(job.nodes)) / max(nodes, len(job.nodes)) for job in jobs]
    everywhere = _Worked((load, spread) for of_job, spread in zip(loads, spreads, strict=True) for load in of_job)
    anywhere = _Worked(
        (load, 1 / nodes) for job, of_job in zip(jobs, loads, strict=True) if not job.nodes for load in of_job
    )
    own_s = [_own_s(job, of_job) for job, of_job in zip(jobs, loads, strict=True)]
    most_s = [everywhere.during(job) - spread * job_s for job, spread, job_s in zip(jobs, spreads, own_s, strict=True)]
    for alike in {tuple(numbers) for numbers in jobs_of.values()}:  # nodes with the same jobs have the same loads
        worked = _Worked((load, 1.0) for number in alike for load in loads[number])
        for number in alike:
            of_node_s = worked.during(jobs[number]) + anywhere.during(jobs[number]) - own_s[number]
            most_s[number] = max(most_s[number], of_node_s)
    return [max(0.0, seconds) for seconds in most_s]


class _Worked:
    """How long drives have worked at any moment, by loads and which share of each is theirs."""

    def __init__(self, loads: Iterable[tuple[Load, float]]) -> None:
        changes: dict[int, float] = {}
        for load, share in loads:
            per_ms = share * load.seconds / (load.end_ms - load.begin_ms)
            changes[load.begin_ms] = changes.get(load.begin_ms, 0.0) + per_ms
            changes[load.end_ms] = changes.get(load.end_ms, 0.0) - per_ms
        self._edges = sorted(changes)
        self._rates = list(accumulate(changes[edge] for edge in self._edges))
        steps = (rate * (end - begin) for rate, (begin, end) in zip(self._rates, pairwise(self._edges), strict=False))
        self._until = [0.0, *accumulate(steps)]

    def during(self, job: PastJob) -> float:
        """How long they worked from its start to its end, in seconds."""
        return self._at(job.finished_ms) - self._at(job.started_ms)

    def _at(self, moment_ms: int) -> float:
        number = bisect_right(self._edges, moment_ms) - 1
        if number < 0:
            return 0.0
        return self._until[number] + self._rates[number] * (moment_ms - self._edges[number])


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
