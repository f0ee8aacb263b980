"""A plan's execution: what it needs, its order, its repetitions; each trial is on disk before the next begins.

A round is the next repetition that the plan would have if it asked for more, so the same experiment with more
repetitions goes on from it. Where not all undecided work fits, it is that repetition's trials of one work (a workload
with its options on a dataset): no comparison crosses its border, so what is compared is always of one round, and close
in time.
"""

import re
import signal
import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import count
from types import FrameType
from typing import Protocol

from assay.host.machine import available_memory_bytes
from assay.model.base import Frozen
from assay.model.cluster import ClusterSpec, EmbeddedSpec
from assay.model.errors import AssayError, BadInputError
from assay.model.medium import Space
from assay.model.naming import bytes_text
from assay.model.platform import TrialKinds, TrialSetup
from assay.model.progress import Progress, Silent
from assay.model.record import Record, Status
from assay.model.service import Stack
from assay.model.trial import MOST_DIRECTORIES, TOLERANCE_SHARE, Plan, ResourceEstimate, Trial
from assay.model.trial_summary import TrialSummary
from assay.plan.layout import unmet_share
from assay.record.folder import RunFolder
from assay.record.model_time import in_model_time
from assay.record.summaries import keep_summary
from assay.stats.comparison import compare
from assay.stats.decision import decisions
from assay.stats.duration_history import Expected
from assay.stats.machine_kind import machines_of
from assay.stats.sample import PLACEMENT, WORK, Levels, Trials, counts
from assay.stats.trial_summary import summaries_of, summarise
from assay.trial import run_trial

MIB = 1 << 20
QUICK_DRIVES_FACTOR = 2.5
"""A workload's own estimate is for quick drives: plans took two to three times as long on hard disks."""

SetUp = Callable[[Trial], AbstractContextManager[TrialSetup]]
Key = tuple[str, ...]


Blocks = Iterator[tuple[Trial, ...]]


def fitted(plan: Plan, more: Blocks, possible: Callable[[ClusterSpec], ClusterSpec]) -> tuple[Plan, Blocks]:
    """The plan as this machine can run it, and its further repetitions.

    A trial gets what is `possible` in place of its cluster only where it stays a trial of its own, and no two levels
    that are compared become one; else all stays as it is, and the platform refuses what it can't have.
    """

    def fit(trial: Trial) -> Trial:
        cluster = possible(trial.cluster)
        return trial if cluster == trial.cluster else trial.model_copy(update={"cluster": cluster})

    trials = tuple(map(fit, plan.trials))
    changed = [trial for trial in trials if trial.cluster.instead_of]
    left = [trial for trial in trials if trial.cluster.workers]
    if not changed or left or any(medium.on for trial in changed for medium in trial.media):
        return plan, more
    if len(set(map(_compared, trials))) < len(set(map(_levels_of, plan.trials))):
        return plan, more
    return plan.model_copy(update={"trials": trials}), (tuple(map(fit, block)) for block in more)


def _compared(trial: Trial) -> Levels:
    """The levels that are not the same on one node, whatever they are; of replication all are."""
    return tuple(item for item in _levels_of(trial) if item[0] != "replication")


class Needs(Frozen):
    """What a plan needs at its worst moment, and what there is."""

    estimates: Mapping[str, ResourceEstimate]
    disk_bytes: Mapping[str, int]
    free_bytes: Mapping[str, int]
    memory_bytes: int
    available_memory_bytes: int
    seconds: float

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
        """The most."""
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
            if lack := _lack(trial, estimates_by_key[key], spaces):
                cure = f"free some space, name a place on another disk, or take {_smaller(trial)}"
                raise BadInputError(f"{lack}; {cure}", "media")
            if lack := _lack_for_any(trial, setup.kinds, spaces):
                raise BadInputError(f"{lack}; take a larger medium, or lower values of these properties", "media")
        several = (trial.cluster.nodes or 1) > 1
        free |= {name: (several and space.shared_free_bytes) or space.free_bytes for name, space in spaces.items()}
        for name, needed_bytes in _disk(trial, estimates_by_key[key]).items():
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
    # Of what the jobs write an output as large as the input is in the store.
    stored_bytes = size.bytes + max(0, min(size.bytes, estimate.disk_bytes - size.bytes))
    kept_bytes = estimate.disk_bytes + (store.space_factor(settings, size.line_bytes) - 1) * stored_bytes
    stack = setup.kinds.stack
    costs = stack.costs
    disk = round(store.promise(settings, nodes).copies * kept_bytes) + nodes * costs.disk_mb * MIB
    in_memory = disk if any(medium.space().in_memory for medium in setup.platform.media()) else 0
    bound = (spec.limit_memory_bytes or 1 << 56) * nodes
    properties = {**settings, **trial.workload.hadoop}
    tasks_bytes = stack.tasks_bytes(properties, min(nodes * spec.memory_mb, bound // MIB), estimate.disk_bytes)
    # Tasks are gone when the output is verified, and the cluster is not; what is bounded takes no more than that.
    cluster = stack.memory_bytes(nodes) + store.memory_bytes(settings, round(stored_bytes))
    at_work = min(cluster + tasks_bytes, bound)
    verifying = min(cluster, bound) + estimate.memory_bytes
    return estimate.model_copy(update={"disk_bytes": disk, "memory_bytes": max(at_work, verifying) + in_memory})


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


def _disk(trial: Trial, estimate: ResourceEstimate) -> dict[str, int]:
    """Bytes on each medium: its largest share of any role, of all the trial's bytes (no role is known alone)."""
    placement = trial.placement
    shares = placement.roles.values()
    largest = {name: max(fractions.get(name, 0.0) for fractions in shares) for name in placement.media}
    return {name: int(share * estimate.disk_bytes) for name, share in largest.items()}


def lack_of_room(trial: Trial, setup: TrialSetup) -> str | None:
    """Why a trial can't begin now: something has filled its media since the plan was checked; None where it can."""
    estimate = _estimate(trial, setup, Silent())
    spaces = {medium.spec.name: medium.space() for medium in setup.platform.media()}
    return _lack(trial, estimate, spaces) or _lack_for_any(trial, setup.kinds, spaces)


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


def _lack(trial: Trial, estimate: ResourceEstimate, spaces: Mapping[str, Space]) -> str | None:
    """Which medium has less free than is wanted there, or which media on one disk don't fit there together."""
    disk, nodes = _disk(trial, estimate), trial.cluster.nodes or 1
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


class Budget:
    """So many seconds from now on, and what trials can be expected to take of them.

    That is what others like them took in this run; else the estimate, times the factor by which estimates were wrong.
    """

    def __init__(
        self, seconds: float, plan: Plan, estimates: Mapping[str, ResourceEstimate],
        clock: Callable[[], float] = time.monotonic, *, fill: bool = False,
    ) -> None:  # fmt: skip
        """`estimates` of the plan's trials, by their ids, hold for their repetitions too; `clock` tells seconds.

        With `fill` the plan itself takes the time that it takes, and what is left is used though all is decided.
        """
        self.fill = fill
        self._clock = clock
        self._end_s = clock() + seconds
        known = [trial for trial in plan.trials if trial.id in estimates]
        self._estimates_s = {_levels_of(trial): estimates[trial.id].seconds for trial in known}
        self._expected = Expected([])
        self._estimated_s = self._took_s = 0.0

    @property
    def left_s(self) -> float:
        """What is left; below 0 when the time is over."""
        return self._end_s - self._clock()

    def allows(self, trials: Sequence[Trial]) -> bool:
        """Whether all of these can be expected to end in time."""
        return sum(map(self._expected_s, trials)) <= self.left_s

    def took(self, trial: Trial, seconds: float) -> None:
        """A trial has ended."""
        self._expected.add(trial, seconds)
        if (estimate_s := self._estimates_s.get(_levels_of(trial))) is not None:
            self._estimated_s += estimate_s
            self._took_s += seconds

    def _expected_s(self, trial: Trial) -> float:
        if (expectation := self._expected.of(trial)) is not None:
            return expectation.seconds
        factor = self._took_s / self._estimated_s if self._estimated_s else 1.0
        return self._estimates_s.get(_levels_of(trial), 0.0) * factor


STOP_ALPHA = 0.01
"""To look after each round and stop at 5 % would claim something false in far more than 5 % of runs; stopping at 1 % in
about 6 % of runs of up to 20 rounds (benchmarks/known_effects.py)."""

Allows = Callable[[Sequence[Trial]], bool]
Work = tuple[str, ...]
Decided = Callable[[Sequence[TrialSummary]], Collection[Work]]


class RepetitionSchedule:
    """In which rounds a plan is repeated while there is time."""

    def __init__(self, plan: Plan, more: Iterator[tuple[Trial, ...]], decided: Decided | None = None) -> None:
        """`plan` has the combinations to repeat; `more` are repetitions of these and others, without end.

        `decided` says of which work the trials at hand tell enough; by default `decided_work`.
        """
        self._wanted = {_levels_of(trial) for trial in plan.trials if not trial.warm_up}
        self._more = more
        self._decided = decided or (lambda summaries: decided_work(plan, summaries))
        self._repetitions: list[tuple[Trial, ...]] = []

    def next_round(
        self, known_trials: Collection[str], summaries: Sequence[TrialSummary], allows: Allows
    ) -> tuple[Trial, ...]:
        """The next round, of what `allows` says still fits; empty where nothing does, or where all is decided.

        Where no whole repetition of any work fits, it is of the placements that are compared alone, without baseline.
        `known_trials` are the ids of the trials that the run has already: no round has them. `summaries` are of
        all that ran. Combinations that never finish are left out: repeating them tells nothing.
        """
        # What an earlier machine knew is not pooled with what that of the last trial will.
        places = list(zip(summaries, machines_of(summaries), strict=True))
        last = max(places, key=lambda entry: entry[0].began_ms, default=None)
        here = [summary for summary, machine in places if last is not None and machine == last[1]]
        decided = self._decided(here)
        ran = {_levels_of(summary.trial) for summary in here if not summary.trial.warm_up}
        open_levels = self._wanted - (ran - {_levels_of(summary.trial) for summary in here if counts(summary)})

        def open_work(trial: Trial) -> bool:
            return _levels_of(trial) in open_levels and work_of(trial) not in decided

        whole = self._free(known_trials, open_work)
        if not whole or allows(whole):
            return whole
        for part in (tuple, _without_baseline, _once_each):
            for work in dict.fromkeys(map(work_of, whole)):
                repetition = self._free(known_trials, lambda trial: open_work(trial) and work_of(trial) == work)  # noqa: B023
                if (trials := part(repetition)) and allows(trials):
                    return trials
        return ()

    def _free(self, known_trials: Collection[str], is_wanted: Callable[[Trial], bool]) -> tuple[Trial, ...]:
        """The wanted trials of the first repetition of which none has run: what began on another day stays apart."""
        for index in count():
            if index == len(self._repetitions):
                self._repetitions.append(next(self._more))
            repetition = tuple(filter(is_wanted, self._repetitions[index]))
            if not any(trial.id in known_trials for trial in repetition):
                break
        return repetition


def _without_baseline(repetition: Sequence[Trial]) -> tuple[Trial, ...]:
    """What decides between placements: all but zero storage delay; empty where that leaves nothing to compare."""
    real = tuple(trial for trial in repetition if not trial.zero_delay)
    return real if len(set(map(_levels_of, real))) > 1 else ()


def _once_each(repetition: Sequence[Trial]) -> tuple[Trial, ...]:
    """The first trial of each placement that is compared, where the order is there and back."""
    first: dict[Levels, Trial] = {}
    for trial in _without_baseline(repetition):
        first.setdefault(_levels_of(trial), trial)
    return tuple(first.values())


def work_of(trial: Trial) -> Work:
    """What a trial computes: trials of different work are never compared with each other."""
    return tuple(trial.factors[name] for name in WORK)


def decided_by(budget: Budget) -> Decided | None:
    """Nothing is decided where a budget is to be filled: the time alone says how often the plan is repeated."""
    return (lambda _: ()) if budget.fill else None


def decided_work(plan: Plan, summaries: Sequence[TrialSummary]) -> set[Work]:
    """The work of which each decision between placements is made; where none are compared, each comparison significant.

    A decision is made once its verdict is that a placement is worth it, or that none is; of changes each has a verdict.
    It must be surer than a report has to be: this is asked again and again.
    """
    decided_by_work: dict[Work, bool] = {}
    trials = Trials.of(summaries)
    compared = compare(trials.samples, prior=plan.prior, orders={PLACEMENT: plan.placements})
    for decision in decisions(plan, trials, compared, STOP_ALPHA):
        if len(decision.placements) > 1:
            work = tuple(decision.levels[name] for name in WORK)
            decided_by_work[work] = decided_by_work.get(work, True) and not decision.is_open
    for comparison in compared if not decided_by_work else ():
        work = tuple(dict(comparison.others)[name] for name in WORK)
        decided_by_work[work] = (
            decided_by_work.get(work, True) and comparison.significant and (comparison.p_adjusted or 0.0) <= STOP_ALPHA
        )
    return {work for work, decided in decided_by_work.items() if decided}


def _levels_of(trial: Trial) -> Levels:
    return tuple(trial.factors.items())


class Display(Progress, Protocol):
    """Somebody who watches a whole plan."""

    def trial_begins(self, trial: Trial, number: int, total: int) -> None:
        """The next trial starts."""

    def trial_ends(self, record: Record) -> None:
        """Its record is on disk."""


def execute(plan: Plan, folder: RunFolder, set_up: SetUp, display: Display, budget: Budget | None = None) -> bool:
    """Run what isn't finished, as the budget allows; whether all has run. An interrupt leaves finished trials whole.

    Raises AssayError when the first two trials failed for a reason that no placement changes.
    """
    folder.drop_drafts()
    finished = folder.finished()
    first: list[TrialSummary] = []
    for number, trial in enumerate(plan.trials, start=1):
        if trial.id in finished:
            continue
        if budget is not None and not budget.fill and not budget.allows([trial]):
            return False
        display.trial_begins(trial, number, len(plan.trials))
        summary = _run_one(trial, folder, set_up, display, budget)
        if not finished and number <= _FIRST_TRIALS:
            first.append(summary)
            if number < len(plan.trials) and _fail_alike(plan, first):
                raise AssayError(
                    f"the first {number} trials failed for the same reason, on different placements, and all others "
                    f"would too; mend its cause and run the experiment again. It is: {summary.error}"
                )
    return True


_FIRST_TRIALS = 2


def _fail_alike(plan: Plan, first: Sequence[TrialSummary]) -> bool:
    """Whether the first trials failed for a reason that holds for the whole plan, which varies the placement alone."""
    works = {tuple(item for item in trial.factors.items() if item[0] != PLACEMENT) for trial in plan.trials}
    placements = {summary.trial.placement.name for summary in first}
    errors = {re.sub(r"[0-9]+", "", summary.error or "") for summary in first if summary.status is Status.FAILED}
    failed = all(summary.status is Status.FAILED for summary in first)
    return failed and len(first) == len(placements) == _FIRST_TRIALS and len(works) == len(errors) == 1


def repeat(schedule: RepetitionSchedule, folder: RunFolder, set_up: SetUp, display: Display, budget: Budget) -> int:
    """Repeat a finished plan by rounds while there is time; how many trials. The plan grows before each round."""
    repeated = 0
    plan = folder.plan()
    summaries = summaries_of(folder, plan)[0]
    while more := schedule.next_round({trial.id for trial in plan.trials}, summaries, budget.allows):
        first = len(plan.trials) + 1
        plan = plan.model_copy(update={"trials": (*plan.trials, *more)})
        folder.replace_plan(plan)
        for number, trial in enumerate(more, first):
            display.trial_begins(trial, number, len(plan.trials))
            summaries.append(_run_one(trial, folder, set_up, display, budget))
        repeated += len(more)
    return repeated


def _run_one(trial: Trial, folder: RunFolder, set_up: SetUp, display: Display, budget: Budget | None) -> TrialSummary:
    """Its record is on disk then. Raises AssayError where there is no room for it or its record, or no login."""
    left_s = budget.left_s if budget is not None else 0.0
    with interruptible(), set_up(trial) as setup:
        _need_room(trial, setup)
        result = run_trial(trial, setup, display)
        if result.record.status is Status.FAILED:
            # What failed for want of room or of a login is no finding: it runs again on resuming.
            _need_room(trial, setup)
        try:
            written = folder.write(result)
        except OSError as error:
            reason = f"the record of trial {trial.id} could not be written: {error}"
            raise AssayError(f"{reason}; free some space and continue with --resume") from error
    record = in_model_time(written)
    summary = summarise(record)
    keep_summary(folder, summary)
    display.trial_ends(record)
    if budget is not None:
        budget.took(trial, left_s - budget.left_s)
    return summary


def _need_room(trial: Trial, setup: TrialSetup) -> None:
    lack = blocking_problem = None
    with suppress(AssayError):  # a medium or dataset that is gone: the trial says so in its record
        blocking_problem, lack = setup.platform.blocking_problem(), lack_of_room(trial, setup)
    if lack is not None:
        raise AssayError(f"trial {trial.id} has not enough space: {lack}; free some space and continue with --resume")
    if blocking_problem is not None:
        raise AssayError(f"trial {trial.id} has no record: {blocking_problem}; mend that and continue with --resume")


@contextmanager
def interruptible() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP raise KeyboardInterrupt once; while that tears things down they are ignored."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
