"""How a saving changes with the speed of the processors, and with what is assumed of the emulated drives: arithmetic.

A time is that with zero storage delay, which is computing, and what storage adds to it. Faster processors divide the
first, slower drives multiply the second. That the two do not depend on each other is assumed: trials whose drives are
slower or faster in all that is assumed of them (`run --sensitivity`), and trials with part of the processor time,
check it.
"""

from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import fmean, median

from assay.model.base import Frozen
from assay.model.doubt import Outcome
from assay.model.drive_profile import ASSUMED, ASSUMED_TIMES
from assay.model.fact import Fact
from assay.model.installed import kind_of
from assay.model.trial_summary import TrialSummary
from assay.stats.decision import Decision, Question, Verdict
from assay.stats.drive_use import late_written_shares
from assay.stats.estimate import Estimate
from assay.stats.sample import PLACEMENT, Trials, is_valid

SPEED_FACT = "bzip2_mb_s"
"""The fact that says how many MB one processor of the machine compresses in a second (`host.machine`)."""
QUOTA_FACT = "cpu_quota"
"""The fact that says of how many of the `cores` a control group lets Assay use the time (`host.machine`)."""


class VariedTrial(Frozen):
    """A trial whose drives were slower, or faster, in all that is assumed of them: seconds measured and calculated."""

    placement: str
    elapsed_s: float
    calculated_s: float


class Sensitivity(Frozen):
    """What `other` saves of the time on `base` depends on these, all of one decision; `levels` are its own.

    Times are seconds here, `zero_s` with zero storage delay. `halves` are half the widths of the 95 % intervals of the
    log ratios of other to base, zero delay to base, and other to zero delay (None where nothing ran twice). `assumed`
    are the placements on whose drives figures are assumed. `cores` is how much processor time the cluster could use,
    `processor` its model, `processor_mb_s` how fast one of them compresses (None where nobody measured it).
    `cpu_speed` is the speed that the reader asks about, times that of the processors here. `late` are
    those of both placements that look faster than they are, as the jobs of some trials ended before their writes.
    """

    levels: Mapping[str, str]
    base: str
    other: str
    worth: float
    base_s: float
    other_s: float
    zero_s: float
    halves: tuple[float, float, float] | None
    assumed: tuple[str, ...] = ()
    cores: float | None = None
    processor: str = ""
    processor_mb_s: float | None = None
    cpu_speed: float | None = None
    late: tuple[str, ...] = ()
    varied: tuple[VariedTrial, ...] = ()
    slowdown: int = 1
    """By what factor all drives were slower than those that they are named after; 1 where it differs between them."""

    def saving(self, speed: float = 1.0) -> Estimate:
        """The share of the base's time that the other saves with processors of so many times the speed.

        Its interval is that of the measured times; it has none where their three ratios contradict each other.
        """
        base_s, other_s = self.time_s(self.base, speed), self.time_s(self.other, speed)
        if self.halves is None:
            return Estimate(value=1 - other_s / base_s)
        # By how much the log ratio changes with each log time. These weights add up to 0, so that its variance follows
        # from those of the differences of two log times alone, and so does the width of its interval.
        of_other, of_base = self._weight(self.other_s, other_s), -self._weight(self.base_s, base_s)
        of_zero = -(of_other + of_base)
        weights = (of_other * of_base, of_zero * of_base, of_other * of_zero)
        variance = -sum(weight * half_width**2 for weight, half_width in zip(weights, self.halves, strict=True))
        if variance < 0:
            return Estimate(value=1 - other_s / base_s)
        ratio, half = log(other_s / base_s), variance**0.5
        return Estimate(value=1 - exp(ratio), low=1 - exp(ratio + half), high=1 - exp(ratio - half))

    def assumed_range(self, speed: float = 1.0) -> tuple[float, float] | None:
        """The least and the greatest saving if the assumed times and rates of each drive are a fifth worse, or better.

        At most: all that storage costs on such a drive is multiplied. None where nothing is assumed.
        """
        if not self.assumed:
            return None
        base_times, other_times = (
            ASSUMED_TIMES.values() if name in self.assumed else (1.0,) for name in (self.base, self.other)
        )
        savings = [
            1 - self.time_s(self.other, speed, other) / self.time_s(self.base, speed, base)
            for base in base_times
            for other in other_times
        ]
        return min(savings), max(savings)

    def verdict(self, speed: float) -> Verdict:
        """Of the other with processors of that speed, by the side of the threshold on which its interval lies.

        Of this comparison alone: it is not corrected for others. It rests on no placement that is `late`.
        """
        saving = self.saving(speed)
        if saving.low is None or saving.high is None or saving.low <= self.worth <= saving.high:
            return Verdict.NOT_KNOWN_YET
        if saving.low > self.worth:
            return Verdict.NOT_KNOWN_YET if self.other in self.late else Verdict.WORTH_IT
        return Verdict.NOT_KNOWN_YET if self.base in self.late else Verdict.NOT_WORTH_IT

    @property
    def at_own_speed(self) -> Estimate:
        """The saving if the drives were not slowed down: beside faster drives processors are slower."""
        return self.saving(1 / self.slowdown)

    @property
    def decided_by_scale(self) -> bool:
        """Whether the verdict is another where the drives are not slowed down."""
        return self.verdict(1 / self.slowdown) is not self.verdict(1.0)

    def _parts_s(self, placement: str) -> tuple[float, float]:
        """Computing and storage of a time as measured; one below that with zero delay, by noise, is computing alone."""
        whole_s = self.base_s if placement == self.base else self.other_s
        computing_s = min(self.zero_s, whole_s)
        return computing_s, whole_s - computing_s

    def time_s(self, placement: str, speed: float = 1.0, storage: float = 1.0) -> float:
        """Predict a time with processors of that speed, and storage that takes so many times as long."""
        computing_s, storage_s = self._parts_s(placement)
        return computing_s / speed + storage * storage_s

    def _weight(self, measured_s: float, changed_s: float) -> float:
        """How much the logarithm of a time at another speed changes with that of the measured one."""
        return measured_s / changed_s if measured_s > self.zero_s else 1.0


def sensitivity_of(
    decision: Decision, summaries: Sequence[TrialSummary], cpu_speed: float | None = None
) -> Sensitivity | None:
    """Of the placement with the least time beside the base; `trials` are all of the run.

    None where there is no baseline, or nothing to compare; where the noise exceeds what storage costs; and where drives
    are not emulated, as then they need not keep their speed.
    """
    base, baseline = next(iter(decision.placements), None), decision.baseline
    other = min(decision.placements[1:], key=lambda placement: placement.elapsed_s.value, default=None)
    asks = decision.question is Question.WORTH and decision.factor == PLACEMENT and decision.worth.least > 0
    if not asks or base is None or other is None or baseline is None or decision.baseline_slower:
        return None
    of_decision = _trials_of(decision, summaries)
    drives = [medium for summary in of_decision if not summary.trial.zero_delay for medium in summary.trial.media]
    if other.saving is None or base.storage_share is None or other.storage_share is None:
        return None
    if not drives or not all(kind_of(medium).emulated for medium in drives):
        return None
    counted = [summary for summary in of_decision if is_valid(summary)]
    speeds = [float(speed) for summary in counted if (speed := summary.facts.get(SPEED_FACT))]
    base_s = base.elapsed_s.value
    halves = _half(other.saving), _half(base.storage_share), _half(other.storage_share)
    slowdowns = {kind_of(medium).slowdown(medium) for medium in drives}
    by_placement = {
        name: [summary for summary in counted if summary.trial.placement.name == name]
        for name in (base.placement, other.placement)
    }
    known = None if halves[0] is None or halves[1] is None or halves[2] is None else (halves[0], halves[1], halves[2])
    sensitivity = Sensitivity(
        levels=decision.levels,
        base=base.placement,
        other=other.placement,
        worth=decision.worth.of(other.placement),
        base_s=base_s,
        other_s=base_s * (1 - other.saving.value),
        zero_s=base_s * (1 - base.storage_share.value),
        halves=known,
        assumed=tuple(name for name, trials in by_placement.items() if _assumes(trials)),
        cores=_cores(counted),
        processor=str(counted[0].facts.get("cpu", "")),
        processor_mb_s=median(speeds) if speeds else None,
        cpu_speed=cpu_speed,
        slowdown=slowdowns.pop() if len(slowdowns) == 1 else 1,
        late=tuple(name for name, trials in by_placement.items() if late_written_shares(trials)),
    )
    return sensitivity.model_copy(update={"varied": tuple(_varied(sensitivity, of_decision))})


def _trials_of(decision: Decision, summaries: Sequence[TrialSummary]) -> list[TrialSummary]:
    """Select the trials with the decision's levels of all other factors."""
    return [
        summary
        for levels, trials in Trials.of(summaries).by_levels.items()
        if decision.levels.items() <= dict(levels).items()
        for summary in trials
        if not summary.trial.warm_up
    ]


def _half(share: Estimate) -> float | None:
    """Half the width of the interval of the log ratio that a share is below 1."""
    if share.low is None or share.high is None:
        return None
    return (log(1 - share.low) - log(1 - share.high)) / 2


def _assumes(trials: Sequence[TrialSummary]) -> bool:
    """Whether any figure of the drives of these trials is assumed."""
    return any(summary.facts_of(medium.name).get(ASSUMED) for summary in trials for medium in summary.trial.media)


def _cores(summaries: Sequence[TrialSummary]) -> float | None:
    """How many processors' time the cluster could use at most."""
    every = [summary.trial.cluster.limit_cpus or _machine_cpus(summary.facts) for summary in summaries]
    known = {cpus for cpus in every if cpus}
    return known.pop() if len(known) == 1 else None


def _machine_cpus(facts: Mapping[str, Fact]) -> float | None:
    """Of how many processors Assay could use the time: those that there were for it, or less by a quota."""
    bounds = [facts[name] for name in ("cores", QUOTA_FACT) if name in facts]
    return min((float(bound) for bound in bounds if not isinstance(bound, str)), default=None)


def _varied(sensitivity: Sensitivity, summaries: Sequence[TrialSummary]) -> list[VariedTrial]:
    """The trials that check what is assumed, with what the arithmetic says of them."""
    times: dict[str, list[float]] = {}
    for summary in summaries:
        if summary.trial.varied and summary.elapsed_s is not None and summary.outcome is not Outcome.FAIL:
            times.setdefault(summary.trial.placement.name, []).append(summary.elapsed_s)
    calculated = {
        f"{name}-{way}": sensitivity.time_s(name, storage=factor)
        for name in (sensitivity.base, sensitivity.other)
        for way, factor in ASSUMED_TIMES.items()
    }
    return [
        VariedTrial(placement=name, elapsed_s=fmean(times[name]), calculated_s=seconds)
        for name, seconds in calculated.items()
        if name in times
    ]
