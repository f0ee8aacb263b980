"""What storage costs in each job and phase of a workload, and what each placement saves there.

A phase's time is its average per task, added up over the jobs, as in the record's totals. Parts are noisier than whole
runs, so their noise has a prior of its own, whatever earlier runs say of whole ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Literal

from assay.model.base import Frozen
from assay.model.trial import PART_PRIOR, ZERO_DELAY, Plan
from assay.model.trial_summary import TrialSummary
from assay.stats.changes import question_of
from assay.stats.comparison import LEAST_SECONDS, benjamini_hochberg
from assay.stats.decision import Decision
from assay.stats.estimate import Estimate, saved_share
from assay.stats.fit import Contrast, Fit, by_other_factors, fits
from assay.stats.noise import ALPHA
from assay.stats.sample import Levels, samples

RowKind = Literal["job", "phase"]


class Change(Frozen):
    """A share of a time with its p-value, corrected for all such shares of the report (Benjamini and Hochberg)."""

    share: Estimate
    p_adjusted: float

    @property
    def significant(self) -> bool:
        """Whether it is significant at a false discovery rate of 5 %."""
        return self.p_adjusted <= ALPHA

    @property
    def shown_share(self) -> Estimate:
        """The share, without an interval where that excludes 0 although the share is not significant."""
        low, high = self.share.low, self.share.high
        apart = low is not None and high is not None and not low <= 0 <= high
        return Estimate(value=self.share.value) if apart and not self.significant else self.share


class PartTime(Frozen):
    """One placement's median time in one job or phase, in seconds, and the trials that it comes from.

    `storage_share` is the share above the time with zero storage delay (None without a baseline), `saving` that of the
    base's time which the placement saves (None for the base). Both are None where the part is not tested.
    """

    placement: str
    seconds: float
    trials: int
    storage_share: Change | None
    saving: Change | None


class JobPart(Frozen):
    """One job (by its place and name) or phase of a workload; `times` begin with the base, the baseline's is last.

    Not `tested` are parts of under half a second, those of which no placement has two trials, and those that some
    trial does not have: what is left of the trials would be another comparison than that of the whole run.
    """

    kind: RowKind
    name: str
    tested: bool
    times: tuple[PartTime, ...]


class Breakdown(Frozen):
    """All parts of one decision; `levels` are the decision's."""

    levels: Mapping[str, str]
    parts: tuple[JobPart, ...]

    @property
    def repeated(self) -> bool:
        """Whether any trial ran twice: else nothing can be tested."""
        return any(time.trials > 1 for part in self.parts for time in part.times)


def breakdowns(plan: Plan, summaries: Sequence[TrialSummary], decided: Sequence[Decision]) -> list[Breakdown]:
    """One for each decision, in their order."""
    factor, counted = question_of(plan, samples(summaries))
    trials = {levels: sum(map(len, own.values())) for levels, own in by_other_factors(counted, factor).items()}
    tested = [
        (kind, name, fits(part_samples, factor, PART_PRIOR))
        for kind, name, seconds in _parts(summaries)
        if (
            part_samples := [
                sample._replace(elapsed_s=seconds[sample.trial])
                for sample in counted
                if seconds.get(sample.trial, 0) > 0
            ]
        )
    ]
    tests: dict[tuple[str, Levels, str, str], Contrast] = {}
    for _, name, fitted in tested:
        for decision in decided:
            levels = tuple(decision.levels.items())
            if levels in fitted and _can_be_tested(fitted[levels], trials[levels]):
                base = decision.placements[0].placement if decision.placements else ZERO_DELAY
                # Zero delay is compared with each placement, and each placement with the base.
                real = [level for level in fitted[levels].levels if level != ZERO_DELAY]
                pairs = [(ZERO_DELAY, level) for level in real if ZERO_DELAY in fitted[levels].levels]
                for level, against in (*pairs, *((level, base) for level in real if level != base and base in real)):
                    tests[name, levels, level, against] = fitted[levels].contrast(level, against)
    adjusted = dict(zip(tests, benjamini_hochberg([test.p() for test in tests.values()]), strict=True))
    changes = {key: Change(share=saved_share(contrast), p_adjusted=adjusted[key]) for key, contrast in tests.items()}
    result = []
    for decision in decided:
        levels = tuple(decision.levels.items())
        placements = [
            placement.placement for placement in (*decision.placements, decision.baseline) if placement is not None
        ]
        base = placements[0] if placements else ZERO_DELAY
        parts = tuple(
            JobPart(
                kind=kind,
                name=name,
                tested=_can_be_tested(fitted[levels], trials[levels]),
                times=tuple(
                    PartTime(
                        placement=level,
                        seconds=_median(fitted[levels], level),
                        trials=len(fitted[levels].trials[level]),
                        storage_share=changes.get((name, levels, ZERO_DELAY, level)),
                        saving=changes.get((name, levels, level, base)),
                    )
                    for level in placements
                    if level in fitted[levels].levels
                ),
            )
            for kind, name, fitted in tested
            if levels in fitted
        )
        result.append(Breakdown(levels=decision.levels, parts=parts))
    return result


def _parts(summaries: Sequence[TrialSummary]) -> Iterator[tuple[RowKind, str, Mapping[str, float]]]:
    """Yield each job of workloads with several, and each phase, with its seconds in the trials that have it."""
    jobs: dict[tuple[int, str], dict[str, float]] = {}
    phases: dict[str, dict[str, float]] = {}
    for summary in summaries:
        for index, job in enumerate(summary.jobs if len(summary.jobs) > 1 else ()):
            jobs.setdefault((index, job.name), {})[summary.trial.id] = job.elapsed_s
        for name, seconds in (summary.phases or {}).items():
            phases.setdefault(name, {})[summary.trial.id] = seconds
    for (index, name), times in sorted(jobs.items()):
        yield "job", f"{index + 1} {name}", times
    for name, times in phases.items():
        yield "phase", name, times


def _can_be_tested(fit: Fit, trials: int) -> bool:
    """Whether a part is in all of so many trials, is not too short, and has noise of its own."""
    long = max(_median(fit, level) for level in fit.levels) >= LEAST_SECONDS
    return long and fit.noise.own_freedom > 0 and sum(map(len, fit.trials.values())) == trials


def _median(fit: Fit, level: str) -> float:
    return median(trial.elapsed_s for trial in fit.trials[level])
