"""How much of a run's time tasks were blocked on storage: an estimate of the storage share that needs no baseline.

All from the amounts of the probe `blocked-time`, which defines computing, blocked, waiting and idle, while jobs ran. It
sees a thread as running that another program keeps off the processor. So computing is taken from the kernel's
accounting of the cluster's processor time, and what others used goes to the waiting for a processor, up to what they
really used. Then nothing forces the four to add up to the clock: what is left over shows how far to trust them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean

import numpy as np

from assay.model.base import Frozen
from assay.model.doubt import Doubt, doubt_kind
from assay.model.record import Amount, Record, Sample
from assay.model.signature import OUTSIDE
from assay.model.task import TaskAttempt
from assay.stats.timeline import running, sampled, spans

PROBE = "blocked-time"
MOST_LEFT_OVER = 0.05


class ClockShares(Frozen):
    """What the cluster did while a trial's jobs ran, in seconds of the clock: `run_s` from the first to the last.

    `waiting_s` is for a processor, `idle_s` start-up, heartbeats and the client. `left_over_s` is what is in none.
    """

    run_s: float
    computing_s: float
    blocked_s: float
    waiting_s: float
    idle_s: float

    @property
    def left_over_s(self) -> float:
        """Negative where the four are more than the clock."""
        return self.run_s - self.computing_s - self.blocked_s - self.waiting_s - self.idle_s

    @property
    def left_over_share(self) -> float:
        """Of the clock."""
        return self.left_over_s / self.run_s if self.run_s else 0.0


def clock_shares(record: Record) -> ClockShares | None:
    """None where the probe did not see the states of the cluster's tasks."""
    seen = {one.series: one.value for one in record.amounts if (one.probe, one.part, one.subject) == _CLUSTER}
    run_s = next((step.seconds for step in record.steps if step.name == "run"), 0.0)
    if "running_s" not in seen or not run_s:
        return None
    computing_s, running_s = seen["computing_s"], seen["running_s"]
    ran_s = seen.get("processor_s", running_s)
    others_s = max(0.0, _machine_busy_s(record) - ran_s)
    kept_off_s = min(max(0.0, running_s - ran_s), others_s)
    each_s = computing_s / running_s if running_s else 0.0  # of the clock, for a second of one processor
    return ClockShares(
        run_s=run_s, computing_s=ran_s * each_s, blocked_s=seen["blocked_s"],
        waiting_s=seen["waiting_s"] + kept_off_s * each_s, idle_s=seen["idle_s"],
    )  # fmt: skip


_CLUSTER = (PROBE, "run", "cluster")
_NOT_BUSY = {"idle_s", "iowait_s"}


def _machine_busy_s(record: Record) -> float:
    """Of all processors, with what the host took away."""
    return sum(
        one.value for one in record.amounts
        if (one.probe, one.part, one.subject) == ("cpu", "run", "machine") and one.series not in _NOT_BUSY
    )  # fmt: skip


def blocked_s(record: Record) -> float | None:
    """Seconds of the clock; None where nobody measured them."""
    found = [
        one.value for one in record.amounts
        if (one.probe, one.part, one.subject, one.series) == (*_CLUSTER, "blocked_s")
    ]  # fmt: skip
    return sum(found) if found else None


def blocked_phases(record: Record) -> Mapping[str, float]:
    """Blocked seconds by phase, `outside` of any attempt too; empty where they are not known."""
    return {
        one.subject: one.value for one in record.amounts
        if (one.probe, one.part, one.series) == (PROBE, "run", "blocked_s") and one.subject != "cluster"
    }  # fmt: skip


def by_phase(samples: Iterable[Sample], attempts: Sequence[TaskAttempt], run_ms: tuple[int, int]) -> Iterator[Amount]:
    """Each interval's blocked time, shared out equally among the attempts that ran then, by their phases."""
    own = [one for one in samples if (one.probe, one.series) == (PROBE, "blocked_percent")]
    pieces = sampled([one.time_ms for one in own], [one.value for one in own])
    middle_ms = (pieces.begin_ms + pieces.end_ms) / 2
    in_run = (run_ms[0] <= middle_ms) & (middle_ms <= run_ms[1])
    seconds = (pieces.values / 100 * (pieces.end_ms - pieces.begin_ms) / 1000)[in_run]
    if not len(seconds):
        return
    every = [span for attempt in attempts for span in spans(attempt)]
    edges_ms, phases, counts = running(every, [span.phase for span in every])
    counts = counts[np.searchsorted(edges_ms, middle_ms[in_run], side="right")]
    counts = np.append(counts, counts.sum(axis=1, keepdims=True) == 0, axis=1)
    shared = (seconds[:, None] * counts / counts.sum(axis=1, keepdims=True)).sum(axis=0)
    for phase, value in zip([*phases, OUTSIDE], shared, strict=True):
        yield Amount(
            probe=PROBE, subject=phase, series="blocked_s", part="run", value=round(float(value), 3), basis="estimated"
        )


CLOCK_UNEXPLAINED = doubt_kind(
    "clock-unexplained", "run", instrument=PROBE,
    when="computing, blocked, waiting and idle time differ from the jobs' time by more than 5 %",
    why="looks at the tasks' states and the kernel's accounting disagree, so the blocked share is not sure either",
    cure="run on an idle machine: looks that come late see too little",
)  # fmt: skip


def unexplained(records: Sequence[Record]) -> list[Doubt]:
    """A doubt for the trial whose clock is explained worst, if that is not well enough."""
    known = [(record.trial.id, shares) for record in records if (shares := clock_shares(record)) is not None]
    bad = [(trial, one) for trial, one in known if abs(one.left_over_share) > MOST_LEFT_OVER]
    if not bad:
        return []
    trial, worst = max(bad, key=lambda pair: abs(pair[1].left_over_share))
    what = f"{abs(worst.left_over_share):.0%} of the jobs' time in {trial} is {_IN[worst.left_over_s > 0]}"
    more = f" (and in {len(bad) - 1} more trials)" if len(bad) > 1 else ""
    return [CLOCK_UNEXPLAINED.doubt(f"{what}{more}".replace("%", " %"))]


_IN = {
    True: "neither computing, blocked, waiting nor idle",
    False: "counted twice among computing, blocked and waiting",
}


class BlockedShare(Frozen):
    """The share of the jobs' time in which tasks were blocked, over the trials of one placement.

    `low` and `high` are its 95 % confidence interval, None where nothing ran twice. `phases` are mean seconds.
    """

    share: float
    low: float | None
    high: float | None
    seconds: float
    phases: Mapping[str, float]
    measured: bool


def blocked_shares(by_placement: Mapping[str, Sequence[Record]]) -> dict[str, BlockedShare]:
    """Of each placement that was measured; their trials' variance is pooled, since few trials say little of it."""
    from scipy.special import stdtrit

    known = {
        level: [(record, seconds / record.totals.elapsed_s, seconds) for record in own
                if record.totals and record.totals.elapsed_s and (seconds := blocked_s(record)) is not None]
        for level, own in by_placement.items()
    }  # fmt: skip
    known = {level: own for level, own in known.items() if own}
    means = {level: fmean(share for _, share, _ in own) for level, own in known.items()}
    freedom = sum(len(own) - 1 for own in known.values())
    squares = sum((share - means[level]) ** 2 for level, own in known.items() for _, share, _ in own)
    found = {}
    for level, own in known.items():
        half = float(stdtrit(freedom, 0.975)) * (squares / freedom / len(own)) ** 0.5 if freedom else None
        phases = [blocked_phases(record) for record, _, _ in own]
        names = dict.fromkeys(name for one in phases for name in one)
        found[level] = BlockedShare(
            share=means[level],
            low=None if half is None else max(0.0, means[level] - half),
            high=None if half is None else min(1.0, means[level] + half),
            seconds=fmean(seconds for _, _, seconds in own),
            phases={name: fmean(one.get(name, 0.0) for one in phases) for name in names},
            measured=all(clock_shares(record) is not None for record, _, _ in own),
        )
    return found
