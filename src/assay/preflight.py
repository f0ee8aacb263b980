"""What a plan will need, held against what there is, before anything starts."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager

from assay.layout import unmet_share
from assay.machine import available_memory_bytes
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.medium import Space
from assay.model.parts import Parts
from assay.model.placement import MOST_DIRECTORIES, ROLES, TOLERANCE_SHARE
from assay.model.progress import Progress, Silent
from assay.model.trial import Estimate, Plan, Trial
from assay.model.workload import Preparing
from assay.stats.expected import Expectation, Expected

MIB = 1 << 20
# Five daemons, the client and an application master, as measured; and one task of a default heap.
CLUSTER_MEMORY_BYTES = 2000 * MIB
TASK_MEMORY_BYTES = 600 * MIB
BLOCK_BYTES = 128 * MIB
# A formatted HDFS, localised jars, job histories and logs.
CLUSTER_DISK_BYTES = 300 * MIB
CLUSTER_S = 12.0
EDGE_LINE_BYTES = 20
_ROOM = "free some space, name a place on another disk, or take a smaller dataset"

MakeParts = Callable[[Trial], AbstractContextManager[Parts]]
Key = tuple[str, ...]


class Needs(Frozen):
    """What a plan needs at its worst moment, and what there is."""

    estimates: Mapping[str, Estimate]
    disk_bytes: Mapping[str, int]
    free_bytes: Mapping[str, int]
    memory_bytes: int
    available_memory_bytes: int
    seconds: float


def check_needs(plan: Plan, make_parts: MakeParts, progress: Progress, expected: Expected | None = None) -> Needs:
    """Check the trials, prepare their datasets, estimate what they need.

    Raises BadInputError for a trial that is impossible or does not fit.

    Times are those that earlier trials took, as far as there were any like these, else the workloads' own estimates.
    """
    expected = expected or Expected([])
    distinct: dict[Key, Trial] = {}
    for trial in plan.trials:
        distinct.setdefault(_key(trial), trial)
    for trial in distinct.values():
        with make_parts(trial) as parts:
            parts.workload()
            _refuse_unmet(trial)
            # The jobs have these besides; those of the daemons are the settings' alone.
            parts.cluster().check({**trial.settings.properties, **trial.workload.hadoop})
    estimates: dict[str, Estimate] = {}
    disk: dict[str, int] = {}
    free: dict[str, int] = {}
    seen: dict[Key, Estimate] = {}
    progress.step("prepare datasets")
    for trial in plan.trials:
        key = _key(trial)
        if key not in seen:
            with make_parts(trial) as parts:
                spaces = {medium.spec.name: medium.space() for medium in parts.media()}
                free |= {name: space.free_bytes for name, space in spaces.items()}
                seen[key] = _estimate(trial, parts, progress)
                if full := _full_together(trial, seen[key], spaces):
                    raise BadInputError(f"{full}; {_ROOM}")
                workload = parts.workload()
                if isinstance(workload, Preparing):
                    workload.prepare()
        estimates[trial.id] = _told_by(expected.of(trial), seen[key])
        for name, wanted in _disk(trial, seen[key]).items():
            disk[name] = max(disk.get(name, 0), wanted)
    needs = Needs(
        estimates=estimates,
        disk_bytes=disk,
        free_bytes=free,
        memory_bytes=max(estimate.memory_bytes for estimate in seen.values()),
        available_memory_bytes=available_memory_bytes(),
        seconds=sum(estimate.seconds for estimate in estimates.values()),
    )
    _refuse(needs)
    return needs


def _key(trial: Trial) -> Key:
    """Of trials with the same one only the first is looked at."""
    return (
        trial.workload.model_dump_json(),
        trial.dataset.name,
        trial.placement.name,
        str(trial.cluster),
        str(trial.settings),
    )


def _told_by(earlier: Expectation | None, estimate: Estimate) -> Estimate:
    if earlier is None:
        return estimate
    return estimate.model_copy(update={"seconds": earlier.seconds, "records": earlier.records})


def _estimate(trial: Trial, parts: Parts, progress: Progress) -> Estimate:
    """The workload's own estimate and what the cluster needs beside it."""
    dataset = parts.dataset()
    staged = dataset.prepare(progress)
    facts = dataset.facts()
    # A file still to be normalised may be compressed, and lies in the store beside its normal form for a while.
    staged_bytes = staged.bytes if staged.canonical else staged.bytes + 2 * EDGE_LINE_BYTES * facts.edges
    estimate = parts.workload().estimate(facts, staged_bytes)
    if trial.cluster.kind == "existing":
        return Estimate(disk_bytes=0, memory_bytes=0, seconds=estimate.seconds)
    disk = estimate.disk_bytes + CLUSTER_DISK_BYTES
    in_memory = disk if any(medium.space().in_memory for medium in parts.media()) else 0
    # Tasks are gone when the output is verified, and the cluster is not; what is bounded takes no more than that.
    bound = trial.cluster.limit_memory_bytes or 1 << 62
    at_work = min(CLUSTER_MEMORY_BYTES + _tasks(trial, estimate) * TASK_MEMORY_BYTES, bound)
    verifying = min(CLUSTER_MEMORY_BYTES, bound) + estimate.memory_bytes
    return Estimate(
        disk_bytes=disk,
        memory_bytes=max(at_work, verifying) + in_memory,
        seconds=estimate.seconds + CLUSTER_S,
    )


def _disk(trial: Trial, estimate: Estimate) -> dict[str, int]:
    """Bytes on each medium: its largest share of any role, of all the trial's bytes (no role is known alone)."""
    placement = trial.placement
    largest = {name: max(placement.of(role).get(name, 0.0) for role in ROLES) for name in placement.media}
    return {name: int(share * estimate.disk_bytes) for name, share in largest.items()}


def _refuse_unmet(trial: Trial) -> None:
    """Raises BadInputError for fractions that the most directories come nowhere near."""
    for role in ROLES:
        unmet = unmet_share(trial.placement.of(role))
        if unmet > TOLERANCE_SHARE:
            raise BadInputError(
                f"placement {trial.placement.name!r}: the fractions of {role} can't be met by {MOST_DIRECTORIES} "
                f"directories, the nearest is off by {unmet:.0%}; name fewer media, or larger fractions"
            )


def lack_of_room(trial: Trial, parts: Parts) -> str | None:
    """Why a trial can't begin now: something has filled its media since the plan was checked; None where it can."""
    estimate = _estimate(trial, parts, Silent())
    spaces = {medium.spec.name: medium.space() for medium in parts.media()}
    free = {name: space.free_bytes for name, space in spaces.items()}
    return _full(_disk(trial, estimate), free) or _full_together(trial, estimate, spaces)


def _full(disk: Mapping[str, int], free: Mapping[str, int]) -> str | None:
    """Which medium has less free than is wanted there."""
    for medium, wanted in disk.items():
        if wanted > free[medium]:
            return f"medium {medium!r} has {gib(free[medium])} free, and about {gib(wanted)} are needed"
    return None


def _full_together(trial: Trial, estimate: Estimate, spaces: Mapping[str, Space]) -> str | None:
    """Which media lie on one disk and don't fit there together."""
    disk = _disk(trial, estimate)
    for shared in {space.shared for space in spaces.values() if space.shared is not None}:
        names = [name for name, space in spaces.items() if space.shared == shared]
        wanted = min(sum(disk[name] for name in names), estimate.disk_bytes)
        free = max(spaces[name].free_bytes for name in names)
        if len(names) > 1 and wanted > free:
            media = f"the media {', '.join(names)} lie on one disk with {gib(free)} free"
            return f"{media}, and about {gib(wanted)} are needed there"
    return None


def _tasks(trial: Trial, estimate: Estimate) -> int:
    """How many tasks may run at once: what fits beside the master's container, but not more than there are blocks."""
    bound = trial.cluster.limit_memory_bytes
    offered_mb = min(trial.cluster.memory_mb, bound // MIB) if bound else trial.cluster.memory_mb
    slots = max(1, offered_mb // 1024 - 2)
    return min(slots, max(2, estimate.disk_bytes // BLOCK_BYTES))


def _refuse(needs: Needs) -> None:
    full = _full(needs.disk_bytes, needs.free_bytes)
    if full:
        raise BadInputError(f"{full}; {_ROOM}")
    if needs.memory_bytes > needs.available_memory_bytes:
        raise BadInputError(
            f"this machine has {gib(needs.available_memory_bytes)} of memory available, and the largest trial needs "
            f"about {gib(needs.memory_bytes)}; close other programs, or take a smaller dataset or a medium on disk"
        )


def gib(count: int) -> str:
    """Bytes for people."""
    return f"{count / (1 << 30):.1f} GiB"
