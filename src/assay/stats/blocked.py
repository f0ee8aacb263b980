"""How much of the jobs' time tasks were blocked on storage: an estimate of the storage share that needs no baseline.

All from the amounts of the probe `blocked-time`, which defines computing, blocked, waiting and idle. The share is of
the jobs' own time, from the samples within it. Two checks are of the whole step `run`, for which there are amounts:

- The probe takes a thread as running that another program keeps off the processor. So computing is taken from the
  kernel's accounting of the cluster's processor time, and the difference counts as waiting for a processor, up to what
  others really used. What is then left over is doubted. This tests computing and waiting only: the sampled shares add
  up to the clock by construction, and blocked and idle time are taken as they are.
- Blocked time must lie between the two I/O pressures of the cluster's control group, for which the kernel counts every
  wait: `full` (no task could run) and `some` (a task waited).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from statistics import fmean

import numpy as np

from assay.model.base import Frozen
from assay.model.doubt import Doubt, DoubtKind, doubt_kind
from assay.model.installed import counted_by_tasks, engine_kind
from assay.model.record import Amount, Record, Sample, Span
from assay.model.signature import OUTSIDE
from assay.model.task import TaskAttempt
from assay.model.trial import NoisePrior
from assay.model.trial_summary import TrialSummary
from assay.stats.noise import Noise, Residual, moderated
from assay.stats.timeline import clip, merged, running, sampled, spans

PROBE = "blocked-time"
TOLERATED_SHARE = 0.05
"""By how much of the step's time either check may be missed."""


class ClockShares(Frozen):
    """What the cluster did during the step `run`, in seconds of the clock: jobs, their submission and time in between.

    `waiting_s` is for a processor, `idle_s` start-up, heartbeats and the client. `left_over_s` is what is in none.
    """

    step_s: float
    computing_s: float
    blocked_s: float
    waiting_s: float
    idle_s: float

    @property
    def left_over_s(self) -> float:
        """Negative where the four are more than the clock."""
        return self.step_s - self.computing_s - self.blocked_s - self.waiting_s - self.idle_s

    @property
    def left_over_share(self) -> float:
        """The share of wall-clock time that is not explained."""
        return self.left_over_s / self.step_s if self.step_s else 0.0


def clock_shares(record: Record) -> ClockShares | None:
    """Divide the wall-clock time by state; None where the probe did not see the states of the cluster's tasks."""
    amounts = _cluster_amounts(record)
    step_s = next((step.seconds for step in record.steps if step.name == "run"), 0.0)
    if "running_s" not in amounts or not step_s:
        return None
    computing_s, running_s = amounts["computing_s"], amounts["running_s"]
    ran_s = amounts.get("processor_s", running_s)
    others_s = max(0.0, _machine_busy_s(record) - ran_s)
    kept_off_s = min(max(0.0, running_s - ran_s), others_s)
    each_s = computing_s / running_s if running_s else 0.0  # of the clock, for a second of one processor
    return ClockShares(
        step_s=step_s, computing_s=ran_s * each_s, blocked_s=amounts["blocked_s"],
        waiting_s=amounts["waiting_s"] + kept_off_s * each_s, idle_s=amounts["idle_s"],
    )  # fmt: skip


def beyond_pressure_share(record: Record) -> float | None:
    """How far blocked time is above the group's I/O pressure `some`, or (negative) below `full`.

    As a share of the step `run`; 0 in between, None where one of the three is not known.
    """
    shares, amounts = clock_shares(record), _cluster_amounts(record)
    if shares is None or not {"io_some_s", "io_full_s"} <= amounts.keys():
        return None
    nearest_s = min(max(shares.blocked_s, amounts["io_full_s"]), amounts["io_some_s"])
    return (shares.blocked_s - nearest_s) / shares.step_s


def _cluster_amounts(record: Record) -> dict[str, float]:
    """The probe's amounts of the cluster during the step `run`, by series."""
    return {
        amount.series: amount.value for amount in record.amounts
        if (amount.probe, amount.part, amount.subject) == _CLUSTER
    }  # fmt: skip


_CLUSTER = (PROBE, "run", "cluster")
_NOT_BUSY = {"idle_s", "iowait_s"}


def _machine_busy_s(record: Record) -> float:
    """Return the busy time of all processors, with what the host took away."""
    return sum(
        amount.value for amount in record.amounts
        if (amount.probe, amount.part, amount.subject) == ("cpu", "run", "machine") and amount.series not in _NOT_BUSY
    )  # fmt: skip


def blocked_phases(record: Record) -> Mapping[str, float]:
    """Blocked seconds within the jobs' own times by phase, `outside` of any attempt too; empty if not known."""
    return {
        amount.subject: amount.value for amount in record.amounts
        if (amount.probe, amount.part, amount.series) == (PROBE, "run", "blocked_s") and amount.subject != "cluster"
    }  # fmt: skip


def by_phase(samples: Iterable[Sample], attempts: Sequence[TaskAttempt], jobs: Iterable[Span]) -> Iterator[Amount]:
    """Each interval's blocked time within the jobs, shared out equally among the attempts that ran then, by phases.

    The time before, between and after the jobs is in none, and that of jobs at once counts once, as in elapsed time.
    """
    blocked = [sample for sample in samples if (sample.probe, sample.series) == (PROBE, "blocked_percent")]
    intervals = sampled([sample.time_ms for sample in blocked], [sample.value for sample in blocked])
    parts = [clip(intervals, span) for span in merged(jobs)]
    if not any(len(part.values) for part in parts):
        return
    begin_ms, end_ms, values = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    middle_ms = (begin_ms + end_ms) / 2
    seconds = values / 100 * (end_ms - begin_ms) / 1000
    phase_spans = [span for attempt in attempts for span in spans(attempt)]
    edges_ms, phases, counts = running(phase_spans, [span.phase for span in phase_spans])
    counts = counts[np.searchsorted(edges_ms, middle_ms, side="right")]
    counts = np.append(counts, counts.sum(axis=1, keepdims=True) == 0, axis=1)
    shared = (seconds[:, None] * counts / counts.sum(axis=1, keepdims=True)).sum(axis=0)
    for phase, value in zip([*phases, OUTSIDE], shared, strict=True):
        yield Amount(
            probe=PROBE, subject=phase, series="blocked_s", part="run", value=round(float(value), 3), basis="estimated"
        )


CLOCK_UNEXPLAINED = doubt_kind(
    "clock-unexplained", "run", instrument=PROBE,
    when="computing, blocked, waiting and idle time together differ from the time of the step `run` by more than 5 %",
    why="the tasks' sampled states disagree with the kernel's accounting, so the share of blocked time is uncertain",
    cure="run on an idle machine, where samples are taken on time",
)  # fmt: skip
BLOCKED_BEYOND_PRESSURE = doubt_kind(
    "blocked-beyond-pressure", "run", instrument=PROBE,
    when="blocked time is below the cluster's I/O pressure `full` or above `some`, by more than 5 % of the step `run`",
    why="the kernel's own accounting of I/O waits disagrees: tasks may have waited for locks or for memory instead",
    cure="look at the memory pressure (samples of pressure); give the cluster more memory, or run on an idle machine",
    severity=115,
)  # fmt: skip


def unexplained(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """Doubt, for each of two checks, the trial that misses it by most, if that is too much."""
    clocks = [(summary.id, share) for summary in summaries if (share := summary.unexplained_share) is not None]
    beyond = [(summary.id, share) for summary in summaries if (share := summary.beyond_pressure_share) is not None]
    return [*_of_worst(CLOCK_UNEXPLAINED, clocks, _CLOCK), *_of_worst(BLOCKED_BEYOND_PRESSURE, beyond, _PRESSURE)]


_CLOCK = {
    True: "{share} of the step 'run' in {trial} is neither computing, blocked, waiting nor idle",
    False: "{share} of the step 'run' in {trial} is counted twice among computing, blocked and waiting",
}
_PRESSURE = {
    True: "blocked time in {trial} is above the cluster's I/O pressure 'some' by {share} of the step 'run'",
    False: "blocked time in {trial} is below the cluster's I/O pressure 'full' by {share} of the step 'run'",
}


def _of_worst(kind: DoubtKind, missed: Sequence[tuple[str, float]], sentences: Mapping[bool, str]) -> list[Doubt]:
    """`missed` are trials, and the shares by which they miss a check; a sentence for a share above 0, one for below."""
    bad = [(trial, share) for trial, share in missed if abs(share) > TOLERATED_SHARE]
    if not bad:
        return []
    trial, worst = max(bad, key=lambda pair: abs(pair[1]))
    sentence = sentences[worst > 0].format(share=f"{100 * abs(worst):.0f} %", trial=trial)
    more = len(bad) - 1
    return [kind.doubt(f"{sentence} (and in {more} more trial{'' if more == 1 else 's'})" if more else sentence)]


def not_computing_share(record: Record) -> float | None:
    """The share of the tasks' own time in which they used no processor, by their counters.

    None where the engine counts no processor time.
    """
    stages = {stage.name: stage.phases for stage in engine_kind(record.trial.engine).stages}
    task_s = sum(
        stage.tasks * job.phases.get(phase, 0.0)
        for job in record.jobs for stage in job.stages
        for phase in stages.get(stage.name) or ((stage.name,) if stage.name in job.phases else job.phases)
    )  # fmt: skip
    counted = [counted_by_tasks(record.trial.engine, job.counters).get("cpu_ms") for job in record.jobs]
    if not task_s or not counted or None in counted:
        return None
    return 1 - sum(ms or 0 for ms in counted) / 1000 / task_s


def mean_not_computing(summaries: Sequence[TrialSummary]) -> float | None:
    """The mean over the trials of the share of their tasks' own time in which these used no processor.

    It bounds what storage may have cost the tasks, where nobody measured more (on an existing cluster): storage,
    network, start-up of the task's process and waits for a processor are all in it. A task that used several
    processors at once hides some of it, so None where they used more than one processor each on average, or where a
    trial does not tell it.
    """
    shares = [summary.not_computing for summary in summaries]
    known = [share for share in shares if share is not None]
    return fmean(known) if known and len(known) == len(shares) and min(known) > 0 else None


class BlockedShare(Frozen):
    """The share of the jobs' time in which tasks were blocked, over the trials of one placement.

    `low` and `high` are its 95 % confidence interval, cut at 0 and 1, `half_width` that of the interval uncut; None
    where nothing ran twice, or whatever did was blocked for the same share. `phases` are mean seconds.
    """

    share: float
    low: float | None
    high: float | None
    seconds: float
    phases: Mapping[str, float]
    measured: bool
    half_width: float | None = None


def blocked_shares(by_placement: Mapping[str, Sequence[TrialSummary]]) -> dict[str, BlockedShare]:
    """Return the blocked share of each measured placement.

    Trials are few, so their variance is moderated by that of the other placements' trials.
    """
    from scipy.special import stdtrit

    known = {
        level: [(summary, seconds / summary.elapsed_s, seconds) for summary in summaries
                if summary.elapsed_s and (seconds := summary.blocked_s) is not None]
        for level, summaries in by_placement.items()
    }  # fmt: skip
    known = {level: measured for level, measured in known.items() if measured}
    means = {level: fmean(share for _, share, _ in measured) for level, measured in known.items()}
    spreads = {
        level: Residual(sum((share - means[level]) ** 2 for _, share, _ in measured), len(measured) - 1, len(measured))
        for level, measured in known.items()
    }
    shares = {}
    for level, measured in known.items():
        noise = _noise(spreads[level], [spread for other, spread in spreads.items() if other != level])
        half_width = float(stdtrit(noise.freedom, 0.975)) * noise.deviation / len(measured) ** 0.5 if noise else None
        phases = [summary.blocked_phases for summary, _, _ in measured]
        names = dict.fromkeys(name for trial_phases in phases for name in trial_phases)
        shares[level] = BlockedShare(
            share=means[level],
            low=None if half_width is None else max(0.0, means[level] - half_width),
            high=None if half_width is None else min(1.0, means[level] + half_width),
            seconds=fmean(seconds for _, _, seconds in measured),
            phases={name: fmean(trial_phases.get(name, 0.0) for trial_phases in phases) for name in names},
            measured=all(summary.unexplained_share is not None for summary, _, _ in measured),
            half_width=half_width,
        )
    return shares


MOST_BORROWED = 3.0
"""Degrees of freedom that the other placements' trials count for at most: as the shipped prior of times."""


def _noise(own: Residual, others: Iterable[Residual]) -> Noise | None:
    """Return how much one placement's shares differ between trials; None where nothing shows it."""
    together = reduce(Residual.plus, others, Residual(0.0, 0, 0))
    if not own.freedom and not together.freedom:
        return None
    if not own.squares + together.squares:
        return None  # equal by rounding, or for want of anything blocked: that is no noise of 0
    deviation = (together.squares / together.freedom) ** 0.5 if together.freedom else 0.0
    prior = NoisePrior(deviation=deviation, freedom=min(together.freedom, MOST_BORROWED), source="other placements")
    return moderated(own.squares, own.freedom, prior)
