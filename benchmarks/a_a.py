"""What an A/A run shows of the noise: `python benchmarks/a_a.py RUN [--noise FILE]`.

`experiments/studies/a-a.yaml` runs the same drive under two names: whatever differs between the two is noise. Printed:

- false positives, as a report of these trials would have them: of all pairs, and of designs of 3, 5 and 8 pairs that
  follow one another. A design is judged as it ran and with the names exchanged in its pairs (in every way, or in 256
  random ways): in an A/A run the names mean nothing, so each exchange is another A/A run with the same noise;
- the noise: the standard deviation of pairs' log ratios with its 95 % interval, what pairing gains, tails, drift,
  autocorrelation, and whether the trials have two states (a mixture of two normal distributions against one, by the
  Bayesian information criterion);
- covariates: the share of the variance of pairs' log ratios that each removes, each pair predicted from all others.
  Negative: it adds variance. What is measured while the jobs run depends on the drive: it points at causes, and no
  comparison may be adjusted for it;
- slow and fast trials: which step, job, phase or task differs, and what goes along with the elapsed time.

`--noise` writes the noise's parameters for `benchmarks/known_effects.py --noise FILE`. A run that is not finished is
evaluated as far as it is. By itself:
`PYTHONPATH=$PWD/src:$PWD:$PWD/extras .assay/venv/bin/python benchmarks/a_a.py runs/a-a-...`.
"""

import argparse
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from math import log
from pathlib import Path
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np

from assay.model.errors import BadInputError
from assay.model.record import Record
from assay.model.signature import Array
from assay.model.trial import SHIPPED_PRIOR, Plan
from assay.record.folder import RunFolder
from assay.stats.breakdown import breakdowns
from assay.stats.comparison import compare
from assay.stats.decision import Verdict, decisions
from assay.stats.noise import ALPHA
from assay.stats.sample import PLACEMENT, Trials, is_valid
from assay.stats.trial_summary import summarise

DESIGNS = (3, 5, 8)
MOST_EXCHANGES, SEED = 256, 1
LEAST_PAIRS = 4
"""Fewer say nothing of a distribution, nor of a covariate."""
STRONG_BIC = 6.0
"""Kass and Raftery, Bayes factors, JASA 90 (1995): a difference above 6 is strong evidence."""
MOST_SHOWN = 6


class Pair(NamedTuple):
    """The two trials of one repetition of a workload, by the placements' order in the plan."""

    base: Record
    level: Record

    @property
    def log_ratio(self) -> float:
        """Of the second placement's time over the first's."""
        return elapsed_log(self.level) - elapsed_log(self.base)

    def exchanged(self) -> "Pair":
        """Each with the other's jobs."""
        base, level = ({"totals": record.totals, "jobs": record.jobs} for record in self)
        return Pair(self.base.model_copy(update=level), self.level.model_copy(update=base))


class Claims(NamedTuple):
    """How many of some designs claim what is false."""

    designs: int = 0
    ratios: int = 0
    verdicts: int = 0
    parts: int = 0

    def plus(self, other: "Claims") -> "Claims":
        """Both together."""
        return Claims(*(count + more for count, more in zip(self, other, strict=True)))


class States(NamedTuple):
    """A slow state: how much longer its trials take (log), their share, and the evidence for it."""

    slow_log: float
    slow_share: float
    evidence: float


def main() -> int:
    """Read, evaluate, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--noise", type=Path, metavar="FILE", help="write the noise's parameters there, as JSON")
    wishes = parser.parse_args()
    folder = RunFolder(wishes.run)
    try:
        plan = folder.plan()
        records, damaged = folder.records(plan)
        pairs = pairs_of(plan, records)
    except BadInputError as error:
        sys.exit(f"a_a: {error}")
    for record in damaged:
        say(f"left out: {record.folder.name}: {record.reason}")
    if not pairs:
        sys.exit(f"a_a: {wishes.run} has no pair yet: no workload finished on both placements of a repetition")
    say(f"{sum(map(len, pairs.values()))} pairs: " + ", ".join(f"{name} {len(own)}" for name, own in pairs.items()))
    for prior in dict.fromkeys((plan.prior, SHIPPED_PRIOR)):
        show_false_positives(plan.model_copy(update={"prior": prior}), pairs)
    noise = show_noise(pairs)
    show_covariates(pairs)
    for name, own in pairs.items():
        show_slow_and_fast(folder, name, in_order([record for pair in own for record in pair]))
    if wishes.noise:
        facts = {name: records[0].facts.get(name, "") for name in ("cpu", "cores", "kernel", "assay")}
        wishes.noise.write_text(
            json.dumps({"source": {"run": plan.experiment, **facts}, "workloads": noise}, indent=1), encoding="utf-8"
        )
    return 0


def say(line: str) -> None:
    """To standard output."""
    print(line)  # noqa: T201


def pairs_of(plan: Plan, records: Sequence[Record]) -> dict[str, list[Pair]]:
    """By workload, in the order of the repetitions. Raises BadInputError where the plan is no A/A test."""
    drives = {
        placement: tuple(medium.model_copy(update={"name": ""}) for medium in trial.media)
        for trial in plan.trials
        for placement in (trial.placement.name,)
    }
    if len(drives) != 2 or len(set(drives.values())) != 1:
        raise BadInputError(
            f"an A/A run has two placements with the same drive, and this one has {', '.join(drives)}; "
            "run experiments/studies/a-a.yaml"
        )
    base, level = plan.placements or tuple(drives)
    found: dict[str, dict[int, dict[str, Record]]] = {}
    for record in records:
        if is_valid(summarise(record)):
            own = found.setdefault(record.trial.workload.name, {})
            own.setdefault(record.trial.repetition, {})[record.trial.placement.name] = record
    pairs = {
        name: [Pair(own[base], own[level]) for _, own in sorted(by_repetition.items()) if len(own) == 2]
        for name, by_repetition in found.items()
    }
    return {name: own for name, own in sorted(pairs.items()) if own}


def elapsed_log(record: Record) -> float:
    """The logarithm of what a report calls elapsed; only of trials that count."""
    assert record.totals is not None  # noqa: S101 - for the type checker
    return log(record.totals.elapsed_s)


def in_order(records: Sequence[Record]) -> list[Record]:
    """As they ran."""
    return sorted(records, key=lambda record: record.steps[0].started_ms)


# False positives


def show_false_positives(plan: Plan, pairs: Mapping[str, Sequence[Pair]]) -> None:
    """Of each design by itself, and of everything as one report; judged with the plan's prior."""
    prior = plan.prior
    say(f"\nfalse positives at {ALPHA:.0%} (any in a report on one workload): ratio, verdict 'worth it', job or phase")
    say(f"(noise assumed of a trial: {prior.deviation:.1%}, {prior.freedom:.0f} degrees of freedom, {prior.source})")
    every = [pair for own in pairs.values() for pair in own]
    say(f"  the whole run as one report: {_words(claims(plan, every))}")
    longest = max(map(len, pairs.values()))
    for size in (*(count for count in DESIGNS if count < longest), longest):
        ran, exchanged = Claims(), Claims()
        for own in pairs.values():
            for start in range(0, len(own) - size + 1, size):
                design = own[start : start + size]
                ran = ran.plus(claims(plan, design))
                for signs in _signs(size):
                    names = [pair.exchanged() if sign else pair for pair, sign in zip(design, signs, strict=True)]
                    exchanged = exchanged.plus(claims(plan, names))
        say(f"  {size} pairs, as they ran: {_words(ran)}")
        say(f"  {size} pairs, names exchanged: {_words(exchanged)}")


def claims(plan: Plan, pairs: Sequence[Pair]) -> Claims:
    """What a report on these pairs alone would claim; the truth is that no placement saves anything."""
    trials = Trials([summarise(record) for pair in pairs for record in pair])
    compared = compare(trials.samples, prior=plan.prior, orders={PLACEMENT: plan.placements})
    decided = decisions(plan, trials, compared)
    changes = [
        time.saving
        for breakdown in breakdowns(plan, trials, decided)
        for part in breakdown.parts
        for time in part.times
        if time.saving
    ]
    return Claims(
        designs=1,
        ratios=int(any(comparison.significant for comparison in compared)),
        verdicts=int(any(decision.verdict is Verdict.WORTH_IT for decision in decided)),
        parts=int(any(change.significant for change in changes)),
    )


def _signs(size: int) -> Iterator[tuple[bool, ...]]:
    """Which pairs to exchange, the first never: to exchange all is the same design once more."""
    if 2 ** (size - 1) <= MOST_EXCHANGES:
        yield from ((False, *more) for more in product((False, True), repeat=size - 1))
    else:
        source = random.Random(SEED)  # noqa: S311 - no secret
        yield from ((False, *(source.random() < 0.5 for _ in range(size - 1))) for _ in range(MOST_EXCHANGES))


def _words(found: Claims) -> str:
    if not found.designs:
        return "too few pairs"
    rates = [f"{count} ({count / found.designs:.1%})" for count in found[1:]]
    return f"{found.designs} designs: {', '.join(rates)}"


# The noise


def show_noise(pairs: Mapping[str, Sequence[Pair]]) -> dict[str, dict[str, float]]:
    """Each workload's and all together; gives the parameters of each workload."""
    say("\nnoise of pairs' log ratios (standard deviation with its 95 % interval), and of single trials")
    found = {name: _noise(name, own) for name, own in pairs.items() if len(own) >= LEAST_PAIRS}
    every = [ratio for own in pairs.values() for ratio in log_ratios(own)]
    if len(every) >= LEAST_PAIRS:
        low, high = deviation_interval(every)
        say(f"  all pairs: {stdev(every):.1%} ({low:.1%} to {high:.1%}), excess kurtosis {kurtosis(every):+.1f}")
    first = [
        elapsed_log(second) - elapsed_log(first)
        for own in pairs.values()
        for pair in own
        for first, second in (in_order(pair),)
    ]
    if len(first) >= LEAST_PAIRS:
        error = stdev(first) / len(first) ** 0.5
        say(f"  the second trial of a pair takes {fmean(first):+.1%} (standard error {error:.1%}) more than the first")
    return found


def _noise(name: str, own: Sequence[Pair]) -> dict[str, float]:
    ratios = log_ratios(own)
    trials = residual_logs(own)
    low, high = deviation_interval(ratios)
    drift = float(np.polyfit(np.arange(len(trials)), trials, 1)[0])
    states = two_states(trials)
    correlations = [autocorrelation(trials, lag) for lag in (1, 2, 3)]
    say(
        f"  {name}: {stdev(ratios):.1%} ({low:.1%} to {high:.1%}); trials {stdev(trials):.1%}; "
        f"pairing leaves {stdev(ratios) ** 2 / (2 * stdev(trials) ** 2):.0%} of the variance of two separate trials"
    )
    strength = "two states" if states.evidence > STRONG_BIC else "no evidence of two states"
    say(
        f"    excess kurtosis of ratios {kurtosis(ratios):+.1f}; drift {drift:+.2%} per trial; "
        "autocorrelation of trials "
        + ", ".join(f"{correlation:+.2f}" for correlation in correlations)
        + f" (chance: up to {2 / len(trials) ** 0.5:.2f}); {strength}: slow by {states.slow_log:.1%} in "
        f"{states.slow_share:.0%} of trials, difference of the criterion {states.evidence:+.1f}"
    )
    return {
        "pairs": len(ratios),
        "pair_deviation": stdev(ratios),
        "trial_deviation": stdev(trials),
        "kurtosis": kurtosis(ratios),
        "drift": drift,
        "autocorrelation": correlations[0],
        "slow_log": states.slow_log,
        "slow_share": states.slow_share,
        "evidence_of_states": states.evidence,
    }


def log_ratios(own: Sequence[Pair]) -> list[float]:
    """In the order of the repetitions."""
    return [pair.log_ratio for pair in own]


def residual_logs(own: Sequence[Pair]) -> list[float]:
    """Of a workload's trials as they ran: log times less their mean."""
    logs = [elapsed_log(record) for record in in_order([record for pair in own for record in pair])]
    return [elapsed - fmean(logs) for elapsed in logs]


def deviation_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of their standard deviation, as if they were normal."""
    from scipy.stats import chi2

    freedom = len(values) - 1
    low, high = (stdev(values) * (freedom / float(chi2.ppf(tail, freedom))) ** 0.5 for tail in (0.975, 0.025))
    return low, high


def kurtosis(values: Sequence[float]) -> float:
    """Above a normal distribution's, which has 0; unbiased for normal values."""
    from scipy.stats import kurtosis as of

    return float(of(values, bias=False))


def autocorrelation(values: Sequence[float], lag: int) -> float:
    """Of values less their mean."""
    numbers = np.array(values)
    return float(numbers[:-lag] @ numbers[lag:] / (numbers @ numbers))


def two_states(values: Sequence[float]) -> States:
    """Two normal distributions of one width against a single one; evidence above 0 is for the two.

    By expectation maximisation from each possible cut of the sorted values; the best one counts.
    """
    numbers = np.sort(np.array(values))
    count = len(numbers)
    floor = 0.01**2  # a state as narrow as two equal values would explain anything
    single = _log_likelihood(numbers, np.zeros(1) + numbers.mean(), np.ones(1), max(floor, float(numbers.var())))
    best, found = -np.inf, States(0.0, 0.0, 0.0)
    for cut in range(2, count - 1):
        means = np.array([numbers[:cut].mean(), numbers[cut:].mean()])
        shares = np.array([cut / count, 1 - cut / count])
        variance = max(floor, float(numbers.var()) / 4)
        for _ in range(50):
            densities = shares * np.exp(-((numbers[:, None] - means) ** 2) / (2 * variance))
            weights = densities / densities.sum(axis=1, keepdims=True)
            shares = weights.mean(axis=0)
            means = (weights * numbers[:, None]).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-9)
            variance = max(floor, float((weights * (numbers[:, None] - means) ** 2).sum() / count))
        likelihood = _log_likelihood(numbers, means, shares, variance)
        if likelihood > best:
            best = likelihood
            evidence = 2 * (likelihood - single) - 2 * log(count)  # two parameters more: a mean and a share
            found = States(float(means[1] - means[0]), float(shares[1]), evidence)
    return found


def _log_likelihood(numbers: Array, means: Array, shares: Array, variance: float) -> float:
    densities = shares * np.exp(-((numbers[:, None] - means) ** 2) / (2 * variance)) / (2 * np.pi * variance) ** 0.5
    return float(np.log(np.maximum(densities.sum(axis=1), 1e-300)).sum())


# Covariates

ORDER = "order in the run"


def show_covariates(pairs: Mapping[str, Sequence[Pair]]) -> None:
    """What each one removes of pairs' variance, and of that of trials within a workload."""
    say("\nvariance that a covariate removes (each left out in turn; negative: it adds): of pairs, of trials")
    every = [pair for own in pairs.values() for pair in own]
    place = {record.trial.id: n for n, record in enumerate(in_order([record for pair in every for record in pair]))}
    values = {
        record.trial.id: {ORDER: float(place[record.trial.id]), **covariates(record)}
        for pair in every
        for record in pair
    }
    for covariate in dict.fromkeys(name for of_trial in values.values() for name in of_trial):
        known = {
            name: [pair for pair in own if all(covariate in values[record.trial.id] for record in pair)]
            for name, own in pairs.items()
        }
        used = [pair for own in known.values() for pair in own]
        if len(used) < LEAST_PAIRS:
            continue
        differences = [values[pair.level.trial.id][covariate] - values[pair.base.trial.id][covariate] for pair in used]
        of_pairs = removed(differences, [pair.log_ratio for pair in used])
        centred = [
            (values[record.trial.id][covariate] - mean, residual)
            for own in known.values()
            if own
            for ran in (in_order([record for pair in own for record in pair]),)
            for mean in (fmean(values[record.trial.id][covariate] for record in ran),)
            for record, residual in zip(ran, residual_logs(own), strict=True)
        ]
        of_trials = removed([value for value, _ in centred], [residual for _, residual in centred])
        say(f"  {covariate}: {of_pairs:+.1%}, {of_trials:+.1%} ({len(used)} pairs)")


def covariates(record: Record) -> dict[str, float]:
    """What was measured while the jobs ran and may explain their time, in seconds."""
    seconds: dict[str, float] = {}
    for amount in record.amounts:
        if amount.part != "run":
            continue
        if (amount.probe, amount.series) == ("cpu", "steal_s"):
            seconds["steal"] = amount.value
        elif (amount.probe, amount.subject, amount.series) == ("own-cost", "probes", "busy_s"):
            seconds["processor time of probes"] = amount.value
        elif amount.probe == "processes" and amount.series in ("user_s", "system_s", "busy_s"):
            name = f"processor time of {amount.subject}"
            seconds[name] = seconds.get(name, 0.0) + amount.value
    return seconds


def removed(covariate: Sequence[float], values: Sequence[float]) -> float:
    """The share of the sum of squares that a line through the origin removes, each value predicted from all others.

    Both are differences, or deviations from a mean. 0 where the covariate never differs.
    """
    x, y = np.array(covariate), np.array(values)
    squares = float(x @ x)
    total = float(y @ y)
    if not squares or not total:
        return 0.0
    left = squares - x**2
    slopes = np.divide(float(x @ y) - x * y, left, out=np.zeros_like(x), where=left > 0)
    return 1 - float(((y - slopes * x) ** 2).sum()) / total


# Slow and fast trials


def show_slow_and_fast(folder: RunFolder, name: str, records: Sequence[Record]) -> None:
    """The slowest third against the fastest third: where the seconds are, and what goes along with them."""
    if len(records) < 2 * LEAST_PAIRS:
        return
    by_time = sorted(records, key=elapsed_log)
    third = len(by_time) // 3
    fast, slow = by_time[:third], by_time[-third:]
    means = [fmean(record.totals.elapsed_s for record in group if record.totals) for group in (fast, slow)]
    say(f"\n{name}: the slowest third takes {means[1]:.1f} s, the fastest {means[0]:.1f} s; slower by")
    times = {record.trial.id: seconds_of(folder, record) for record in records}
    common = set.intersection(*map(set, times.values()))
    lost = {
        part: fmean(times[record.trial.id][part] for record in slow)
        - fmean(times[record.trial.id][part] for record in fast)
        for part in common
    }
    for kind in dict.fromkeys(kind for kind, _ in sorted(common)):
        own = sorted(
            ((part, seconds) for part, seconds in lost.items() if part[0] == kind),
            key=lambda lost_part: -abs(lost_part[1]),
        )
        say(f"  {kind}: " + ", ".join(f"{part[1]} {seconds:+.1f} s" for part, seconds in own[:MOST_SHOWN]))
    along = correlations(records)
    say(
        "  goes along (rank correlation): "
        + ", ".join(f"{label} {correlation:+.2f}" for label, correlation in along[: 2 * MOST_SHOWN])
    )


def seconds_of(folder: RunFolder, record: Record) -> dict[tuple[str, str], float]:
    """All stretches of a trial that are timed, by kind and name."""
    found = {("steps", step.name): step.seconds for step in record.steps}
    found |= {
        ("phases per task", name): seconds for name, seconds in (record.totals.phases if record.totals else {}).items()
    }
    attempts, finer = folder.attempts(record.trial), folder.phases(record.trial)
    for place, job in enumerate(record.jobs, 1):
        label = f"{place} {job.name}"
        found["jobs", label] = job.elapsed_s
        found["jobs' edges", f"{label} waits for its master"] = job.submitted_s - job.elapsed_s
        if job.active_s is not None:
            found["jobs' edges", f"{label} without any task"] = job.elapsed_s - job.active_s
        for stage in job.stages:
            own = [attempt for attempt in attempts if attempt.job == job.id and attempt.stage == stage.name]
            if own:
                tasks = f"{label} {stage.name}"
                starts = [attempt.started_ms for attempt in own]
                found["tasks", f"{tasks} first start"] = (min(starts) - job.started_ms) / 1000
                found["tasks", f"{tasks} last start after the first"] = (max(starts) - min(starts)) / 1000
                found["tasks", f"{tasks} longest"] = (
                    max(attempt.finished_ms - attempt.started_ms for attempt in own) / 1000
                )
                found["processor time of tasks", tasks] = sum(attempt.cpu_ms for attempt in own) / 1000
    for earlier, later in pairwise(record.jobs):
        found["jobs' edges", f"between {earlier.name} and {later.name}"] = (
            later.submitted_ms - earlier.finished_ms
        ) / 1000
    for task in finer:
        for name, value in task.model_dump().items():
            if name.endswith("_s") and value is not None:
                key = ("finer phases, all tasks", f"{task.stage} {name.removesuffix('_s')}")
                found[key] = found.get(key, 0.0) + value
    return found


def correlations(records: Sequence[Record]) -> list[tuple[str, float]]:
    """Of the elapsed time with everything that probes counted while the jobs ran, the strongest first (Spearman)."""
    from scipy.stats import spearmanr

    logs = [elapsed_log(record) for record in records]
    values = [_counted(record) for record in records]
    found = []
    for label in sorted(set.intersection(*map(set, values))):
        own = [value[label] for value in values]
        if len(set(own)) > 2:
            found.append((label, float(spearmanr(own, logs).statistic)))
    return sorted(found, key=lambda correlation: -abs(correlation[1]))


def _counted(record: Record) -> dict[str, float]:
    media = {medium.name: "drive" for medium in record.trial.media}
    found = {
        f"{amount.probe} {media.get(amount.subject, amount.subject)} {amount.series}": amount.value
        for amount in record.amounts
        if amount.part == "run"
    }
    return found | {"trial started (order in run)": float(record.steps[0].started_ms)}


if __name__ == "__main__":
    sys.exit(main())
