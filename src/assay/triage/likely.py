"""What drives without delay probably save of a job, with an interval, by the best evidence at hand.

A stage is a closed network of computing and the drives (`stats.closed_network`): its time, and how long the drives
worked, tell how long it computes, and the rest is saved. A node with several drives is taken for as many nodes with one
drive each, among which its tasks are divided. What is unlike all that was measured has the widest interval: from
nothing to the bound. See docs/explanation/triage.md.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Literal, NamedTuple

from assay.engine.past.job import PastJob, StageSums
from assay.plan.job_experiment import ROLES
from assay.stats.closed_network import computing_time
from assay.triage.bounds import Bound, Busy, StageBound, tasks_at_once, uses_of
from assay.triage.drives import Drives

Evidence = Literal["busy drives", "timers", "page cache", "counters", "bound"]
WORKED: Mapping[Evidence, tuple[float, float]] = {
    "busy drives": (1.9, 1.9), "page cache": (2.3, 2.3), "counters": (inf, 2.3),
}  # fmt: skip
"""By how many times less, and more, drives may have worked than each tells: so that intervals hold nine of ten of the
kept runs' cases (`benchmarks/likely.py`)."""
DEEPEST = 2.0
"""The most tasks at once on each drive that the kept runs have."""
MOST_DRIVES = 2
"""The most drives of a node that they have."""
_INTERMEDIATE = "intermediate"
_SAMPLED = "its history names the nodes of a few tasks alone, so that nobody knows how many nodes shared its data"


class Likely(NamedTuple):
    """The seconds by which a job, or a stage, would probably be shorter, with the interval that holds nine of ten.

    `unlike` says what about the job was never measured; empty where jobs like it were. Else the interval is all that is
    possible, from 0 to the bound, and the seconds are good for an order alone.
    """

    seconds: float
    low_s: float
    high_s: float
    evidence: Evidence
    unlike: str = ""


def likely_of(
    job: PastJob, bound: Bound, drives: Mapping[str, Drives], busy: Busy | None = None, cache_bytes: float | None = None
) -> Likely | str:
    """What drives without delay probably save of a job; where that is not known, a clause that says why.

    `busy` is how long the drives worked, if measured; `cache_bytes` the memory that a node leaves to files, if known.
    """
    if not job.nodes:
        return "its history names no nodes, so that nobody knows how many drives its data lay on"
    stages: list[Likely] = []
    number = busy.drives if busy and busy.usual_s else max(of_role.number for of_role in drives.values())
    unlike = _SAMPLED if job.nodes_are_sampled else _many_drives(number)
    for stage, of_stage in zip(job.stages, bound.stages, strict=True):
        if not of_stage.seconds:
            continue
        busy_s = busy.usual_s.get(stage.name) if busy else None
        if busy_s is None and job.uncounted:
            return f"{job.uncounted}; how long the drives were busy would tell"
        shared_drives = drives[_INTERMEDIATE].number
        if busy is not None and busy_s is not None:
            shared_drives = busy.drives
            stages.append(_by_work(stage, of_stage, [busy_s], "busy drives"))
        else:
            stages.append(_by_counters(job, stage, of_stage, drives, passed_share(job, bound, cache_bytes)))
        depth = tasks_at_once(stage, len(job.nodes)) / shared_drives
        if not unlike and round(depth, 1) > DEEPEST:
            unlike = f"{depth:.2g} tasks at once shared a drive, and no job with more than {DEEPEST:g} was measured"
        if not unlike and stages[-1].evidence == "timers":
            unlike = "no job with timers of its own was measured"
    likely = _within(added(stages), bound.seconds)
    return likely._replace(low_s=0.0, high_s=bound.seconds, unlike=unlike) if unlike and bound.seconds else likely


def _many_drives(number: int) -> str:
    """Why what is measured on few drives says nothing certain of a node with so many; empty where it does."""
    if number <= MOST_DRIVES:
        return ""
    return f"a node has {number} drives, and no job on nodes with more than {MOST_DRIVES} was measured"


def added(parts: Sequence[Likely]) -> Likely:
    """Of all stages or runs of a job: their errors are alike, and add up.

    Where any is unlike all that was measured, so is their sum. The evidence is that of the widest, and the bound where
    that alone says that nothing can be saved.
    """
    total = Likely(0.0, 0.0, 0.0, max(parts, key=lambda part: part.high_s).evidence if parts else "bound")
    for part in parts:
        total = Likely(
            total.seconds + part.seconds, total.low_s + part.low_s, total.high_s + part.high_s, total.evidence,
            total.unlike or part.unlike,
        )  # fmt: skip
    return total


def _within(likely: Likely, most_s: float) -> Likely:
    seconds, low_s, high_s = (min(limit_s, most_s) for limit_s in (likely.seconds, likely.low_s, likely.high_s))
    return likely._replace(seconds=seconds, low_s=low_s, high_s=high_s)


def _by_work(stage: StageSums, of_stage: StageBound, worked_s: Iterable[float], evidence: Evidence) -> Likely:
    """By how long drives of each kind worked.

    The page cache may have held all that counters alone tell of, or nothing: half of it is taken.
    """
    elapsed_s, each_s = stage.elapsed_ms / 1000, list(worked_s)
    less, more = WORKED[evidence]

    def saved_s(factor: float) -> float:
        most_s = elapsed_s - computing_time(elapsed_s, [min(elapsed_s, factor * seconds) for seconds in each_s])
        return min(of_stage.seconds, most_s)

    likely = Likely(saved_s(1), saved_s(1 / less), saved_s(more), evidence)
    return likely._replace(seconds=likely.seconds / 2) if evidence == "counters" else likely


def _by_counters(
    job: PastJob, stage: StageSums, of_stage: StageBound, drives: Mapping[str, Drives], read_back: float | None
) -> Likely:
    """By what its tasks counted; for intermediate data by its engine's timers, where these say less."""
    evidence: Evidence = "counters" if read_back is None else "page cache"

    def of_roles(roles: Collection[str]) -> Likely:
        by_drives = worked_s(job, stage, drives, 1.0 if read_back is None else read_back, roles)
        return _by_work(stage, of_stage, by_drives.values(), evidence)

    of_all, waiting_ms = of_roles(ROLES), job.waiting_ms(stage)
    if waiting_ms is None:
        return of_all
    others = of_roles([role for role in ROLES if role != _INTERMEDIATE])
    waited_s = stage.elapsed_ms / 1000 * waiting_ms / max(1, sum(stage.phases_ms.values()))
    seconds, high_s = others.seconds + waited_s, others.high_s + waited_s
    by_timers = _within(Likely(seconds, others.low_s, high_s, "timers"), of_stage.seconds)
    return min(of_all, by_timers)


def worked_s(
    job: PastJob, stage: StageSums, drives: Mapping[str, Drives], read_back: float, roles: Collection[str]
) -> dict[Drives, float]:
    """How long each drive of a kind usually works for what a stage counts of some roles, on the busiest node."""
    by_drives = dict.fromkeys((drives[role] for role in roles), 0.0)
    tasks = tasks_at_once(stage, len(job.nodes))
    for use in uses_of(job, stage):
        if use.role in roles and use.moved > 0:
            of_role = drives[use.role]
            share = read_back if use.role == _INTERMEDIATE and use.direction == "read" else 1.0
            seconds = share * of_role.usually_s(use.direction, use.moved, use.request)
            by_drives[of_role] += seconds / max(1.0, min(of_role.number, tasks))
    return by_drives


def passed_share(job: PastJob, bound: Bound, cache_bytes: float | None) -> float | None:
    """The share of all that passed through a page cache of that size that it could not hold; None where none is known.

    What passed is what the job read and wrote on its busiest node, and what jobs beside it did: as much more as they
    kept its drives busy for longer.
    """
    if not cache_bytes:
        return None
    busiest = [stage.busiest for stage in job.stages]
    passed: float = sum(work.store_read + work.local_written + work.store_written for work in busiest)
    own_s = sum(part.seconds for part in bound.parts)
    passed *= 1 + (bound.beside_s / own_s if own_s else 0.0)
    return 1 - min(1.0, cache_bytes / passed) if passed else 0.0
