"""What a plan needs at its worst moment of disk, memory and time, and whether that is there."""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager

from assay.host.machine import available_memory_bytes
from assay.model.base import Frozen
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.medium import Space
from assay.model.naming import bytes_text
from assay.model.platform import TrialKinds, TrialSetup
from assay.model.progress import Progress, Silent
from assay.model.service import Stack
from assay.model.trial import MOST_DIRECTORIES, TOLERANCE_SHARE, Plan, ResourceEstimate, Trial
from assay.plan.layout import unmet_share
from assay.stats.duration_history import Expected

MIB = 1 << 20
QUICK_DRIVES_FACTOR = 2.5
"""A workload's own estimate is for quick drives: plans took two to three times as long on hard disks."""
LOG_BYTES = 15
"""About what a request takes in the log that a record keeps."""
LEAST_REQUEST_BYTES = 96_000
"""Half of the least mean size of requests in any trial by which predictions were judged."""
SetUp = Callable[[Trial], AbstractContextManager[TrialSetup]]
Key = tuple[str, ...]


class Needs(Frozen):
    """What a plan needs at its worst moment, and what there is."""

    estimates: Mapping[str, ResourceEstimate]
    disk_bytes: Mapping[str, int]
    free_bytes: Mapping[str, int]
    memory_bytes: int
    available_memory_bytes: int
    seconds: float
    request_log_bytes: int | None = 0
    """What the logs of requests of all its trials take at most, in the run's folder; None where nobody knows."""

    @property
    def known(self) -> bool:
        """Whether all of its times are."""
        return all(one.known for one in self.estimates.values())

    @property
    def least_s(self) -> float:
        """The least time that all trials are likely to take together."""
        return sum(one.seconds if one.least_s is None else one.least_s for one in self.estimates.values())

    @property
    def most_s(self) -> float:
        """The most time that all trials are likely to take together."""
        return sum(one.seconds if one.most_s is None else one.most_s for one in self.estimates.values())


def check_needs(plan: Plan, set_up: SetUp, progress: Progress, expected: Expected | None = None) -> Needs:
    """Check the trials, prepare their datasets, estimate what they need.

    Raises BadInputError for a trial that is impossible or does not fit. Times are those that earlier trials took,
    as far as there were any like these, else the workloads' own estimates.
    """
    distinct: dict[Key, Trial] = {}
    for trial in plan.trials:
        distinct.setdefault(_key(trial), trial)
    for trial in distinct.values():
        with set_up(trial) as setup:
            setup.workload()
            for role, fractions in trial.placement.roles.items():
                if (unmet := unmet_share(fractions)) > TOLERANCE_SHARE:
                    raise BadInputError(
                        f"placement {trial.placement.name!r}: the fractions of {role} can't be met by "
                        f"{MOST_DIRECTORIES} directories, the nearest is off by {unmet:.0%}; name fewer media, or "
                        "larger fractions"
                    )
            # The jobs have these besides; those of the daemons are the settings' alone.
            setup.platform.check({**trial.settings.properties, **trial.workload.hadoop})
    estimates_by_key: dict[Key, ResourceEstimate] = {}
    stacks: dict[Key, Stack] = {}
    disk: dict[str, int] = {}
    free: dict[str, int] = {}
    progress.step("preparing inputs")
    for key, trial in distinct.items():
        with set_up(trial) as setup:
            spaces = {medium.spec.name: medium.space() for medium in setup.platform.media()}
            estimates_by_key[key], stacks[key] = _estimate(trial, setup, progress), setup.kinds.stack
            if lack := _lack(trial, estimates_by_key[key], spaces, stacks[key]):
                cure = f"free some space, name a place on another disk, or take {_smaller(trial)}"
                raise BadInputError(f"{lack}; {cure}", "media")
            if lack := _lack_for_any(trial, setup.kinds, spaces):
                raise BadInputError(f"{lack}; take a larger medium, or lower values of these properties", "media")
            _check_held(trial, setup)
        several = (trial.cluster.nodes or 1) > 1
        free |= {name: (several and space.shared_free_bytes) or space.free_bytes for name, space in spaces.items()}
        for name, needed_bytes in _disk(trial, estimates_by_key[key], stacks[key]).items():
            disk[name] = max(disk.get(name, 0), needed_bytes)
    estimates = {trial.id: estimates_by_key[_key(trial)] for trial in plan.trials}
    for trial in plan.trials:
        if expected is not None and (earlier := expected.of(trial)) is not None:
            estimates[trial.id] = estimates[trial.id].model_copy(update=earlier._asdict())
    needs = Needs(
        estimates=estimates,
        disk_bytes=disk,
        free_bytes=free,
        memory_bytes=max(estimate.memory_bytes for estimate in estimates_by_key.values()),
        available_memory_bytes=available_memory_bytes(),
        seconds=sum(estimate.seconds for estimate in estimates.values()),
        request_log_bytes=_request_log_bytes([estimates[trial.id] for trial in plan.trials if trial.keep_requests]),
    )
    if needs.memory_bytes > needs.available_memory_bytes:
        largest = max(distinct, key=lambda key: estimates_by_key[key].memory_bytes)
        fewer = ""
        if (distinct[largest].cluster.nodes or 1) > 1:
            most = _nodes_that_fit(distinct[largest], set_up, progress, needs.available_memory_bytes)
            fewer = f"at most {most} nodes, " if most > 1 else "one node, "
        raise BadInputError(
            f"this machine has {bytes_text(needs.available_memory_bytes)} of memory available, and the largest trial "
            f"needs about {bytes_text(needs.memory_bytes)}"
            f"{_sum(distinct[largest], stacks[largest], needs.memory_bytes)}; close other programs, or take "
            f"{fewer}{_smaller(distinct[largest])} or a medium on disk",
            *(["nodes", "cluster"] if fewer else []),
            "media",
        )
    return needs


def _request_log_bytes(estimates: Sequence[ResourceEstimate]) -> int | None:
    """For the trials that keep logs: as if in each of its rounds a trial wrote all its bytes once, and read them."""
    if not all(estimate.known and estimate.disk_bytes for estimate in estimates):
        return None
    moved = sum(2 * estimate.rounds * estimate.disk_bytes for estimate in estimates)
    return round(LOG_BYTES * moved / LEAST_REQUEST_BYTES)


def _nodes_that_fit(trial: Trial, set_up: SetUp, progress: Progress, available_bytes: int) -> int:
    """With how many nodes such a trial needs no more memory; 1 where none of several fit."""

    def needs_bytes(nodes: int) -> int:
        smaller = trial.model_copy(update={"cluster": trial.cluster.model_copy(update={"nodes": nodes})})
        with set_up(smaller) as setup:
            return _estimate(smaller, setup, progress).memory_bytes

    return bisect_right(range(2, trial.cluster.nodes or 2), available_bytes, key=needs_bytes) + 1


def _sum(trial: Trial, stack: Stack, memory_bytes: int) -> str:
    """What the memory of a trial on several nodes is made of."""
    nodes = trial.cluster.nodes or 1
    daemons = min(memory_bytes, stack.memory_bytes(nodes))
    if nodes == 1:
        return ""
    rest = memory_bytes - daemons
    return f" (the daemons of {nodes} workers and the master {bytes_text(daemons)}, tasks and data {bytes_text(rest)})"


def _smaller(trial: Trial) -> str:
    """What would make a trial's input smaller."""
    return "a smaller `size`" if "size" in trial.workload.options else "a smaller input"


def _key(trial: Trial) -> Key:
    """Of trials with the same one only the first is looked at."""
    names = trial.dataset.name, trial.placement.name, str(trial.store), trial.engine
    return (trial.workload.model_dump_json(), *names, str(trial.cluster), str(trial.settings))


def _estimate(trial: Trial, setup: TrialSetup, progress: Progress) -> ResourceEstimate:
    """The workload's own estimate and what the cluster needs beside it."""
    workload = setup.workload()
    workload.input.prepare(progress)
    estimate = with_time(trial, setup.kinds, workload.estimate())
    spec = trial.cluster
    if not isinstance(spec, EmbeddedSpec) or not setup.kinds.platform.is_managed:
        return estimate.model_copy(update={"disk_bytes": 0, "memory_bytes": 0})
    nodes = spec.nodes
    store, settings = setup.kinds.store, trial.settings.properties
    size = workload.input.size()
    stored_bytes = _stored_bytes(size.bytes, estimate)
    kept_bytes = estimate.disk_bytes + (store.space_factor(settings, size.line_bytes) - 1) * stored_bytes
    stack = setup.kinds.stack
    costs = stack.costs
    disk = round(store.promise(settings, nodes).copies * kept_bytes) + nodes * costs.disk_mb * MIB
    in_memory = disk if any(medium.space().in_memory for medium in setup.platform.media()) else 0
    bound = (spec.limit_memory_bytes or 1 << 56) * nodes
    properties = {**settings, **trial.workload.hadoop}
    tasks_bytes = stack.tasks_bytes(properties, min(nodes * spec.memory_mb, bound // MIB), estimate.disk_bytes)
    # Tasks are gone when the output is verified, and the cluster is not; what is bounded takes no more than that.
    cluster = stack.memory_bytes(nodes) + round(store.memory_factor(settings, size.line_bytes) * stored_bytes)
    at_work = min(cluster + tasks_bytes, bound)
    verifying = min(cluster, bound) + estimate.memory_bytes
    return estimate.model_copy(update={"disk_bytes": disk, "memory_bytes": max(at_work, verifying) + in_memory})


def _stored_bytes(input_bytes: float, jobs: ResourceEstimate) -> float:
    """What is in the store at the end: of what the jobs write an output as large as the input."""
    return input_bytes + max(0, min(input_bytes, jobs.disk_bytes - input_bytes))


def _check_held(trial: Trial, setup: TrialSetup) -> None:
    """Raises BadInputError where daemons that keep a trial's data in their memory have too little for them."""
    held = next((daemon.held for daemon in setup.kinds.stack.daemons if daemon.held is not None), None)
    if held is None or not setup.kinds.platform.is_managed:
        return
    settings, workload, nodes = trial.settings.properties, setup.workload(), trial.cluster.nodes or 1
    size = workload.input.size()
    stored_bytes = _stored_bytes(size.bytes, workload.estimate())
    needed_bytes = setup.kinds.store.memory_factor(settings, size.line_bytes) * stored_bytes / nodes
    room_bytes = held.most_mb(settings) * MIB
    if needed_bytes > room_bytes:
        raise BadInputError(
            f"{trial.store.kind} keeps all data in memory and has {bytes_text(room_bytes)} for them on each worker "
            f"({held.name}), and input and output need about {bytes_text(needed_bytes)} there; take {_smaller(trial)}, "
            f"more nodes, or a higher {held.name}", held.name, "store",
        )  # fmt: skip


def with_time(trial: Trial, kinds: TrialKinds, jobs: ResourceEstimate) -> ResourceEstimate:
    """A trial's time, from the estimate of its jobs on quick drives: these, slower where it runs so, and its start."""
    spec = trial.cluster
    if not isinstance(spec, EmbeddedSpec) or not kinds.platform.is_managed:
        return jobs.model_copy(update={"most_s": QUICK_DRIVES_FACTOR * jobs.seconds})
    costs, seconds = kinds.stack.costs, kinds.platform.slowness(spec) * jobs.seconds
    starts_s = costs.cluster_s + (spec.nodes - 1) * costs.worker_s
    most_s = _slow_drives(trial, kinds) * seconds + starts_s
    return jobs.model_copy(update={"seconds": seconds + starts_s, "most_s": most_s})


def _slow_drives(trial: Trial, kinds: TrialKinds) -> float:
    """How many times as long as on quick drives the jobs may take: more where drives are slowed down."""
    slowdown = max((kinds.media[medium.kind].slowdown(medium) for medium in trial.media), default=1)
    return QUICK_DRIVES_FACTOR + (slowdown - 1) / 2


def _disk(trial: Trial, estimate: ResourceEstimate, stack: Stack) -> dict[str, int]:
    """Bytes on each medium: its largest share of any role, of all the trial's bytes (no role is known alone).

    What Hadoop or jobs put into local directories is nobody's to foretell, and a small medium may get full. What has a
    size of its own is known by its store (`StoreKind.least_rooms`).
    """
    placement, sized = trial.placement, {role.name for role in stack.roles if role.sized}
    shares = [fractions for role, fractions in placement.roles.items() if placement.divides(role) and role not in sized]
    largest = {name: max((fractions.get(name, 0.0) for fractions in shares), default=0.0) for name in placement.media}
    return {name: int(share * estimate.disk_bytes) for name, share in largest.items()}


def lack_of_room(trial: Trial, setup: TrialSetup) -> str | None:
    """Why a trial can't begin now: something has filled its media since the plan was checked; None where it can."""
    estimate = _estimate(trial, setup, Silent())
    spaces = {medium.spec.name: medium.space() for medium in setup.platform.media()}
    return _lack(trial, estimate, spaces, setup.kinds.stack) or _lack_for_any(trial, setup.kinds, spaces)


def _lack_for_any(trial: Trial, kinds: TrialKinds, spaces: Mapping[str, Space]) -> str | None:
    """Which medium has less free than its store wants before it takes the first byte."""
    if not kinds.platform.is_managed:
        return None
    properties, nodes = {**trial.settings.properties, **trial.workload.hadoop}, trial.cluster.nodes or 1
    for room in kinds.store.least_rooms(properties, nodes):
        for name in {name: None for role in room.roles for name in trial.placement.roles.get(role, {})}:
            if (free := spaces[name].free_bytes) < room.bytes:
                has = f"medium {name!r} has {bytes_text(free)} free"
                return f"{has}, and {trial.store.kind} needs {bytes_text(room.bytes)} there for any data: {room.why}"
    return None


def _lack(trial: Trial, estimate: ResourceEstimate, spaces: Mapping[str, Space], stack: Stack) -> str | None:
    """Which medium has less free than is wanted there, or which media on one disk don't fit there together."""
    disk, nodes = _disk(trial, estimate, stack), trial.cluster.nodes or 1
    for name, needed_bytes in disk.items():  # each node has a drive of that name, with its share
        if needed_bytes // nodes > (free := spaces[name].free_bytes):
            return f"medium {name!r} has {bytes_text(free)} free, and about {bytes_text(needed_bytes)} are needed"
    for shared in {space.shared for space in spaces.values() if space.shared is not None}:
        names = [name for name, space in spaces.items() if space.shared == shared]
        needed_bytes = min(sum(disk[name] for name in names), estimate.disk_bytes)
        free = max(spaces[name].shared_free_bytes or spaces[name].free_bytes for name in names)
        if (len(names) > 1 or nodes > 1) and needed_bytes > free:
            of = "" if nodes == 1 else f" of {nodes} nodes"
            media = f"the media {', '.join(names)}{of} lie on one disk with {bytes_text(free)} free"
            return f"{media}, and about {bytes_text(needed_bytes)} are needed there"
    return None
