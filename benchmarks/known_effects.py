"""Whether statistics judge right, and how quickly: `python benchmarks/known_effects.py [--plans 4000] [--table FILE]`.

Made-up plans in the order of real ones, each judged as a report judges it. The tails of the noise are heavy (Student's
t with 4 degrees of freedom), half of the plans have a slow state in which one trial of five is, and times drift with
each trial. Promised is, within two standard errors of so many plans (else the exit code is 1):

- on average over machines of two shared cores (ratios of pairs have a standard deviation of 4 to 28 %, mostly near
  10 %) at most 5 % of plans without any effect claim one, and at least 95 % of the intervals of ratios cover the truth,
  as do those of savings and storage shares;
- at each noise that A/A runs had by itself (5.8, 8.7 and 16.9 % of pairs' ratios), and where the hard disk has a noise
  of 15 % and all others 4 %, at least 94 % of the intervals cover the truth, and at most 6 % of plans claim an effect;
- where combinations of a workload (engines, settings, bounds of memory) differ in their noise, at least 93 % of the
  intervals of each combination cover the truth; where all are equally noisy, too;
- where the saving is exactly the threshold, there as well, at most 5 % of decisions say *worth it* or *not worth it*;
- a true effect of 5 % is found with the planned repetitions in at least 90 % of plans, at a noise of 5 %;
- where nothing has an effect on jobs and phases, at a noise of 10 to 30 %, at most 5 % of runs call any significant;
- the statistics of 10,000 trials take at most 5 s of processor time and 500 MiB.

Shown, too, and not judged: how often intervals of what a placement wins back cover the truth; what happens on noisier
machines than the A/A runs'; and after a history of this machine. About ten minutes, no Hadoop. With `--table FILE` what
docs/explanation/statistics.md says is written there as JSON.

With `--noise FILE`, which `benchmarks/a_a.py` writes, plans have the noise that real trials had in an A/A run instead:
each workload's standard deviation, tails, slow state, drift and autocorrelation. Only what happens without any effect
is shown then, and not judged: it is one machine's noise. By itself:
`PYTHONPATH=$PWD/src:$PWD:$PWD/extras .assay/venv/bin/python benchmarks/known_effects.py`.
"""

import argparse
import json
import resource
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import exp
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from benchmarks.a_a import STRONG_BIC
from tests.builders import a_job, a_plan, a_record, a_trial
from tests.stats.fake_times import SLOW_SHARE, FakeTimes

from assay.engine.mapreduce import KIND
from assay.model.record import Record
from assay.model.signature import Array
from assay.model.trial import ZERO_DELAY, NoisePrior, Plan
from assay.run.schedule import STOP_ALPHA
from assay.stats.breakdown import breakdowns
from assay.stats.comparison import Comparison, compare
from assay.stats.decision import Decision, Verdict, decisions
from assay.stats.estimate import Estimate
from assay.stats.fit import residuals
from assay.stats.noise import fit_prior, moderated, repetitions_needed
from assay.stats.sample import PLACEMENT, Trials, TrialSample
from assay.stats.summary import outliers
from assay.stats.trial_summary import summarise
from assay_extras.factor_effects.effects import effects

LEAST_FOUND, MOST_CLAIMED = 0.90, 0.05
MOST_CLAIMED_AT_ONE_NOISE = 0.06
"""So many false claims, and intervals without the truth, on any one machine, and where levels' noises differ."""
A_A_NOISES = (0.058, 0.087, 0.169)
"""Of pairs' log ratios: TeraSort, mutual friends, triangles in the A/A run of docs/explanation/statistics.md."""
NOISIER = (0.20, 0.28)
NOISY_DISK, QUIET = 0.15, 0.04
"""Of one trial on the hard disk, and on all else."""
LEAST_COVERED_BY_COMBINATION = 0.93
MOST_SECONDS, MOST_MIB = 5.0, 500.0
EFFECT = 1.05
LEAST_NOISE, USUAL_NOISE, MOST_NOISE, SPREAD = 0.04, 0.10, 0.28, 0.5
"""Of pairs' log ratios: bounds, median, and the standard deviation of its logarithm from plan to plan."""
STATES, DRIFT = 0.3, 0.003
SSD, ZERO = 0.75, 0.6
"""True times of decisions whose intervals are judged; the base takes 1."""
MOST_TAILS = 30
"""With more degrees of freedom Student's t is as good as normal."""
PARTS, PART_S, PART_NOISES = 7, 2.0, (0.1, 0.3)
"""Four phases and three jobs, their seconds, and the least and most standard deviation of their log times."""

Table = Any
"""What is written as JSON: shares by what they are of."""

Factors = Mapping[str, Mapping[str, float]]
Deviations = Mapping[str | tuple[str, ...], float]
NO_DEVIATIONS: Deviations = MappingProxyType({})
TWO: Factors = {"workload": {"sort": 1.0}, "placement": {"hdd": 1.0, "ssd": 1.0}}
BASELINE: Factors = {"workload": {"sort": 1.0}, "placement": {"hdd": 1.0, "ssd": 1.0, ZERO_DELAY: 1.0}}
FOUR: Factors = {
    "workload": {"sort": 1.0, "count": 0.3},
    "placement": dict.fromkeys(("hdd", "hybrid", "nvme", "ssd"), 1.0),
}
SETTINGS: Factors = {
    "workload": {"sort": 1.0, "count": 0.3},
    "memory": dict.fromkeys(("1GiB", "2GiB", "4GiB"), 1.0),
    "placement": {"hdd": 1.0, "ssd": 1.0},
}
KNOWN = NoisePrior(deviation=0.05, freedom=20, source="history")


class Scenario(NamedTuple):
    """One kind of plan; `mirrored` runs there and back in each repetition."""

    name: str
    factors: Factors
    repetitions: int
    mirrored: bool = False


QUICKSTART = Scenario("mirrored order with zero delay, once", BASELINE, 1, mirrored=True)
QUICKSTART_TWICE = Scenario("mirrored order with zero delay, twice", BASELINE, 2, mirrored=True)
SCENARIOS = (
    QUICKSTART,
    QUICKSTART_TWICE,
    Scenario("two placements, 2 repetitions", TWO, 2),
    Scenario("two placements and zero delay, 2 repetitions", BASELINE, 2),
    Scenario("two placements, 3 repetitions", TWO, 3),
    Scenario("two placements, 5 repetitions", TWO, 5),
    Scenario("two placements, 10 repetitions", TWO, 10),
    Scenario("two workloads, four placements, 2 repetitions", FOUR, 2),
    Scenario("two workloads, four placements, 5 repetitions", FOUR, 5),
    Scenario("two workloads, three sizes of memory, 3 repetitions", SETTINGS, 3),
)
AT_EACH_NOISE = (
    QUICKSTART,
    QUICKSTART_TWICE,
    *(Scenario(f"two placements and zero delay, {count} repetitions", BASELINE, count) for count in (2, 3, 5, 10)),
)


class Unequal(NamedTuple):
    """Combinations of one workload, each with the noises (of one trial) on the hard disk and on the SSD."""

    name: str
    noises: Mapping[str, tuple[float, float]]
    repetitions: int = 3

    @property
    def scenario(self) -> Scenario:
        """Its plan; `settings` stand for any factor beside the placement."""
        return Scenario(self.name, {**TWO, "settings": dict.fromkeys(self.noises, 1.0)}, self.repetitions)

    @property
    def deviations(self) -> Deviations:
        """By settings and placement."""
        each = self.noises.items()
        return {(name, drive): pair[place] for name, pair in each for place, drive in enumerate(TWO["placement"])}


IN_ENGINES_TERASORT = {"mapreduce": (0.014, 0.03), "spark": (0.034, 0.073), "tez": (0.26, 0.085)}
ENGINES = Unequal("three engines, as in `engines-terasort`", IN_ENGINES_TERASORT)
FOUR_BOUNDS = {**dict.fromkeys("abc", (0.03, 0.03)), "d": (0.12, 0.12)}
UNEQUAL = (
    Unequal("three alike", dict.fromkeys("abc", (0.08, 0.08))),
    Unequal("three alike and noisy", dict.fromkeys("abc", (0.12, 0.12))),
    ENGINES,
    Unequal("three engines, one as in `engines`", {"a": (0.66, 0.15), "b": (0.05, 0.05), "c": (0.05, 0.05)}),
    Unequal("three, one twice as noisy", {"a": (0.08, 0.08), "b": (0.08, 0.08), "c": (0.16, 0.16)}),
    Unequal("three, one three times as noisy", {"a": (0.05, 0.05), "b": (0.05, 0.05), "c": (0.15, 0.15)}),
    Unequal("two, one twice as noisy", {"a": (0.05, 0.05), "b": (0.1, 0.1)}),
    Unequal("four bounds of memory, one four times as noisy, 2 repetitions", FOUR_BOUNDS, repetitions=2),
)


class Rates(NamedTuple):
    """Of so many plans: the share with any claim, and the share of intervals with the truth."""

    plans: int
    claimed: float
    covered: float

    def keep(self, most: float) -> bool:
        """Whether claims, and intervals without the truth, are at most this share, beyond two standard errors."""
        most += 2 * error_of(most, self.plans)
        return self.claimed <= most and 1 - self.covered <= most


def error_of(share: float, count: int) -> float:
    """The standard error of a share of so many."""
    return (share * (1 - share) / count) ** 0.5


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plans", type=int, default=4000, help="made-up plans for each line")
    parser.add_argument("--noise", type=Path, metavar="FILE", help="noise as measured in an A/A run (see a_a.py)")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write what the docs say there, as JSON")
    wishes = parser.parse_args()
    plans = wishes.plans
    if wishes.noise:
        return _show_measured(wishes.noise, plans)
    held = [_speed()]
    tables: dict[str, Table] = {"plans": plans}
    say("without any effect, on average over machines:")
    tables["machines"], kept = _table({case.name: rates(case, noises(plans, 1)) for case in SCENARIOS}, MOST_CLAIMED)
    held.append(kept)
    say("after a history of six workloads on the same machine (shown, not judged):")
    tables["history"], _ = _table({scenario.name: _with_history(scenario, plans // 4) for scenario in SCENARIOS[:4]})
    tables["extended"] = _extended(plans // 8)
    for noise in A_A_NOISES:
        say(f"on machines of one noise, of {noise:.1%} in pairs' ratios:")
        found = {scenario.name: rates(scenario, [noise] * plans, seed=3_000_000) for scenario in AT_EACH_NOISE}
        tables[f"{noise:.1%}"], kept = _table(found, MOST_CLAIMED_AT_ONE_NOISE)
        held.append(kept)
    say("on noisier ones (shown, not judged):")
    for noise in NOISIER:
        tables[f"{noise:.1%}"], _ = _table({case.name: rates(case, [noise] * plans) for case in AT_EACH_NOISE})
    say(f"where one trial's noise is {NOISY_DISK:.0%} on the hard disk and {QUIET:.0%} elsewhere:")
    pair = QUIET * 2**0.5
    found = {scenario.name: rates(scenario, [pair] * plans, noises={"hdd": NOISY_DISK}) for scenario in AT_EACH_NOISE}
    tables["unequal"], kept = _table(found, MOST_CLAIMED_AT_ONE_NOISE)
    held.append(kept)
    tables["combinations"] = _combinations(plans)
    held += [combination_is_covered(row, plans) for row in tables["combinations"]]
    say("decisions where the saving is exactly the threshold:")
    chosen = (*SCENARIOS[:6], SCENARIOS[7])
    tables["threshold"] = {scenario.name: _at_the_threshold(scenario, plans // 2) for scenario in chosen}
    tables["threshold"][ENGINES.name] = _at_the_threshold(ENGINES.scenario, plans // 2, ENGINES.deviations)
    most = MOST_CLAIMED + 2 * error_of(MOST_CLAIMED, plans // 2)
    held += [own["either"] <= most for own in tables["threshold"].values()]
    say(f"decisions with a storage share of {1 - ZERO:.0%} and a saving of {1 - SSD:.0%}, on average over machines:")
    tables["shares"] = {case.name: _covered(case, plans // 2) for case in (QUICKSTART, QUICKSTART_TWICE, SCENARIOS[3])}
    held += [1 - own[name] <= most for own in tables["shares"].values() for name in ("saving", "storage share")]
    say("jobs and phases without any effect:")
    tables["parts"] = {scenario.name: _parts_judged(scenario, plans // 2) for scenario in SCENARIOS[:4]}
    held += [own["mixed"] <= most for own in tables["parts"].values()]
    say(f"a true effect of {EFFECT - 1:.0%} at a noise of 5% of each trial:")
    tables["found"] = {"two placements": _found(TWO, 1, plans), "four placements": _found(FOUR, 6, plans // 8)}
    held += [own["found"] >= LEAST_FOUND for own in tables["found"].values()]
    say("\n".join(markdown(tables)))
    if wishes.table:
        wishes.table.write_text(json.dumps(tables, indent=1) + "\n", encoding="utf-8")
    say("all promises are kept" if all(held) else "A PROMISE IS BROKEN")
    return 0 if all(held) else 1


def say(line: str) -> None:
    """To standard output, as soon as it is known."""
    print(line, flush=True)  # noqa: T201


def markdown(tables: Table) -> Iterator[str]:
    """The lines of docs/explanation/statistics.md that show these tables."""
    yield from _grid(
        [f"{tables['plans']:,} plans without any effect each", "claim an effect", "intervals with the true value"],
        [[name, _share(shares["claimed"]), _share(shares["covered"])] for name, shares in tables["machines"].items()],
    )
    yield ""
    noises = [f"{noise:.1%}" for noise in A_A_NOISES] + [f"{noise:.1%}" for noise in NOISIER]
    names = [f"pairs' ratios {float(noise[:-1]):g} %" for noise in noises]
    yield from _grid(
        ["intervals with the true value (plans that claim an effect)", *names, "hard disk 15 %, others 4 %"],
        [[name, *(_both(tables[column][name]) for column in (*noises, "unequal"))] for name in tables["unequal"]],
    )
    yield ""
    yield from _grid(
        ["combinations of one workload", "noise on hard disk, SSD", "with the true value, at least", "claim, at most"],
        [_case_cells(case, [*rows]) for case, rows in groupby(tables["combinations"], lambda row: row["case"])],
    )
    yield ""
    yield from _grid(
        ["decisions", "either verdict, where the saving is the threshold", "intervals of savings", "of storage shares"],
        [
            [name, _share(shares["either"]), *_known(tables["shares"].get(name))]
            for name, shares in tables["threshold"].items()
        ],
    )
    yield ""
    two, four = (tables["found"][name] for name in ("two placements", "four placements"))
    called = max(share for shares in tables["parts"].values() for share in shares.values())
    claimed = max(shares["claimed"] for shares in tables["history"].values())
    covered = min(shares["covered"] for shares in tables["history"].values())
    yield (
        f"A true effect of 5 % at a noise of 5 % is detected in {_share(two['found'])} of plans with "
        f"{two['repetitions']} repetitions of two placements, and in {_share(four['found'])} with "
        f"{four['repetitions']} repetitions of two workloads on four placements. Runs without any effect that are "
        f"repeated as `--for` does, 2 to 20 times, claim one in {_share(tables['extended'])}. Where no job or phase "
        f"has an effect, at noises of 10 to 30 %, at most {_share(called)} of runs of each design call any "
        f"significant. After a history of six workloads on the same machine at most {_share(claimed)} of plans "
        f"without any effect claim one, and at least {_share(covered)} of intervals contain the true value."
    )


def _case_cells(case: str, rows: Sequence[Table]) -> list[str]:
    """A case's noises, and of its combinations the lowest share of intervals with the truth, the highest of claims."""
    noises = dict.fromkeys(f"{100 * row['hdd']:g}, {100 * row['ssd']:g} %" for row in rows)
    least, most = min(row["covered"] for row in rows), max(row["claimed"] for row in rows)
    return [case, "; ".join(noises), _share(least), _share(most)]


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"| {' | '.join('---' for _ in head)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _share(share: float) -> str:
    return f"{100 * share:.1f} %"


def _both(shares: Mapping[str, float]) -> str:
    return f"{_share(shares['covered'])} ({_share(shares['claimed'])})"


def _known(shares: Mapping[str, float] | None) -> list[str]:
    return [_share(shares[name]) if shares else "" for name in ("saving", "storage share")]


def _table(found: Mapping[str, Rates], most: float | None = None) -> tuple[Table, bool]:
    """What the docs say of each scenario, and whether all keep the promise where there is one; it is shown."""
    kept = True
    for name, of_scenario in found.items():
        mark = ""
        if most is not None and not of_scenario.keep(most):
            kept, mark = False, "  BROKEN"
        say(f"  {name}: claimed {of_scenario.claimed:.1%}, covered {of_scenario.covered:.1%}{mark}")
    return {
        name: {"claimed": round(of_scenario.claimed, 4), "covered": round(of_scenario.covered, 4)}
        for name, of_scenario in found.items()
    }, kept


def _show_measured(file: Path, plans: int) -> int:
    """False claims with the noise of an A/A run, its workloads in turn."""
    content = json.loads(file.read_text(encoding="utf-8"))
    say(f"without any effect, noise as measured (shown, not judged): {content['source']}")
    models = [measured_noise(workload) for workload in content["workloads"].values()]
    for name, model in zip(content["workloads"], models, strict=True):
        known = ", ".join(f"{key} {value:.3g}" for key, value in model.items())
        say(f"  {name} ({content['workloads'][name]['pairs']} pairs): {known}")
    for scenario in SCENARIOS:
        judged = []
        for seed in range(plans):
            shape = {"factors": scenario.factors, "mirrored": scenario.mirrored, "disturbed": 0.0}
            fake = FakeTimes.model_validate(shape | models[seed % len(models)])
            judged.append(compare(fake.samples(scenario.repetitions, seed)))
        _table({scenario.name: _rates(judged)})
    return 0


def measured_noise(workload: Mapping[str, float]) -> Mapping[str, float]:
    """A `FakeTimes` with the noise of an A/A run's workload.

    Heavy tails are those of Student's t, whose excess kurtosis is 6 / (freedom - 4), and half of it in a ratio of two.
    Where there is a slow state, that is what makes the tails.
    """
    slow = workload["evidence_of_states"] > STRONG_BIC
    tails = 0 if slow or workload["kurtosis"] <= 0 else round(4 + 3 / workload["kurtosis"])
    share = workload["slow_share"]
    variance = share * (1 - share) * workload["slow_log"] ** 2 if slow else 0.0
    alike = 0.0 if slow else min(max(workload["autocorrelation"], 0.0), 0.9)
    return {
        "noise": workload["pair_deviation"] / (2 * (1 - alike)) ** 0.5,  # what both of a pair share is not in its ratio
        "tails": tails if tails <= MOST_TAILS else 0,
        "states": min(1.0, 2 * variance / workload["pair_deviation"] ** 2),
        "slow_share": share if slow else SLOW_SHARE,
        "drift": workload["drift"],
        "autocorrelation": alike,
    }


def noises(plans: int, seed: int) -> list[float]:
    """Of pairs' log ratios, one for each plan."""
    drawn = USUAL_NOISE * np.exp(SPREAD * np.random.default_rng(seed).standard_normal(plans))
    return [float(noise) for noise in np.clip(drawn, LEAST_NOISE, MOST_NOISE)]


def made(
    scenario: Scenario, pair_noises: Sequence[float], first_seed: int = 0, level_noises: Deviations = NO_DEVIATIONS
) -> Iterator[list[TrialSample]]:
    """A plan's trials for each of some noises; every other one has two states. Some levels have noises of their own."""
    for seed, noise in enumerate(pair_noises, first_seed):
        fake = FakeTimes(
            factors=scenario.factors, mirrored=scenario.mirrored, noise=noise / 2**0.5, noises=level_noises, tails=4,
            states=STATES * (seed % 2), drift=DRIFT, disturbed=0.0,
        )  # fmt: skip
        yield fake.samples(scenario.repetitions, seed)


def rates(scenario: Scenario, pair_noises: Sequence[float], seed: int = 0, noises: Deviations = NO_DEVIATIONS) -> Rates:
    """Of plans in which the truth is that nothing has an effect; some levels may have `noises` of their own."""
    return _rates([compare(samples) for samples in made(scenario, pair_noises, seed, noises)])


def _rates(judged: Sequence[Sequence[Comparison]]) -> Rates:
    claims = [any(comparison.significant for comparison in own) for own in judged]
    covered = [1.0 in comparison.interval for own in judged for comparison in own]
    return Rates(len(claims), sum(claims) / len(claims), sum(covered) / len(covered))


def _combinations(plans: int) -> list[Table]:
    """A row for each combination of each case."""
    say("where combinations of one workload differ in their noise:")
    return [row for case in UNEQUAL for row in _by_combination(case, plans)]


def _by_combination(case: Unequal, plans: int) -> list[Table]:
    """Of plans without any effect: for each combination how many intervals hold the truth, and how many claim one."""
    compared: dict[str, list[Comparison]] = {name: [] for name in case.noises}
    for own in made(case.scenario, [0.0] * plans, 4_000_000, case.deviations):
        for comparison in compare(own, [PLACEMENT]):
            compared[dict(comparison.others)["settings"]].append(comparison)
    rows = []
    for name, (hdd, ssd) in case.noises.items():
        _, claimed, covered = _rates([[comparison] for comparison in compared[name]])
        row = {"case": case.name, "combination": name, "hdd": hdd, "ssd": ssd}
        rows.append(row | {"covered": round(covered, 4), "claimed": round(claimed, 4)})
        mark = "" if combination_is_covered(rows[-1], plans) else "  BROKEN"
        say(f"  {case.name}: {name}: claimed {claimed:.1%}, covered {covered:.1%}{mark}")
    return rows


def combination_is_covered(row: Table, plans: int) -> bool:
    """Whether so many of its intervals hold the truth as is promised, but for two standard errors."""
    least = LEAST_COVERED_BY_COMBINATION
    return bool(row["covered"] >= least - 2 * error_of(least, plans))


def _with_history(scenario: Scenario, plans: int) -> Rates:
    """Each plan's machine has run six workloads of like noise before, three repetitions of two placements each."""
    source = np.random.default_rng(2)
    before = Scenario("", TWO, 3)
    judged = []
    for seed, noise in enumerate(noises(plans, 3)):
        like = [float(pair_noise) for pair_noise in noise * np.exp(0.2 * source.standard_normal(7))]
        earlier = made(before, like[:6], 1_000_000 + 6 * seed)
        prior = fit_prior([residual for own in earlier for residual in residuals(own, PLACEMENT).values()])
        judged += [compare(own, prior=prior) for own in made(scenario, like[6:], seed)]
    return _rates(judged)


def _extended(plans: int) -> float:
    """What `--for` risks: it looks after each repetition, and stops once something is significant at 1 %."""
    longest = Scenario("", TWO, 20)
    claimed = 0
    for own in made(longest, noises(plans, 4), 2_000_000):
        for count in range(2, 21):
            (comparison,) = compare([sample for sample in own if sample.repetition <= count])
            if comparison.significant and (count == 20 or (comparison.p_adjusted or 0.0) <= STOP_ALPHA):
                claimed += 1
                break
    say(f"  repeated 2 to 20 times, as --for does (shown, not judged): claimed {claimed / plans:.1%}")
    return claimed / plans


def _found(factors: Factors, comparisons: int, plans: int) -> Table:
    """How often the last placement's effect is found with as many repetitions as a history of such noise plans."""
    repetitions = repetitions_needed(moderated(0.0, 0, KNOWN), comparisons=comparisons) or 0
    with_effect = {**factors, "placement": {**factors["placement"], "ssd": 1 / EFFECT}}
    scenario = Scenario("", with_effect, repetitions)
    judged = [compare(own, prior=KNOWN) for own in made(scenario, [0.05 * 2**0.5] * plans)]
    effects = [effect for own in judged for effect in own if (effect.base, effect.level) == ("hdd", "ssd")]
    found = [effect.significant for effect in effects]
    covered = [1 / EFFECT in effect.interval for effect in effects]
    share, intervals = sum(found) / len(found), sum(covered) / len(covered)
    say(
        f"  {len(factors['workload'])} x {len(factors['placement'])}, {repetitions} repetitions: found {share:.1%}, "
        f"covered {intervals:.1%}"
    )
    return {"repetitions": repetitions, "found": round(share, 4), "covered": round(intervals, 4)}


def run_of(found: Sequence[TrialSample]) -> tuple[Plan, list[Record]]:
    """The plan and records of some trials, with the first placement as base."""
    records = []
    for number, sample in enumerate(found, 1):
        levels = dict(sample.factors)
        trial = a_trial(number, levels[PLACEMENT], sample.repetition, workload=levels["workload"])
        settings = trial.settings.model_copy(update={"name": levels.get("settings", trial.settings.name)})
        more = {"zero_delay": levels[PLACEMENT] == ZERO_DELAY, "settings": settings}
        record = a_record(trial.model_copy(update=more))
        records.append(_with_totals(record, elapsed_s=sample.elapsed_s))
    return a_plan(*(record.trial for record in records)).model_copy(update={"placements": ("hdd",)}), records


def decided(
    scenario: Scenario,
    times: Mapping[str, float],
    pair_noises: Sequence[float],
    level_noises: Deviations = NO_DEVIATIONS,
) -> Iterator[list[Decision]]:
    """Each plan's decisions as a report makes them; `times` are placements' true times, the first one's is 1."""
    with_effect = {**scenario.factors, "placement": {**scenario.factors["placement"], **times}}
    for own in made(scenario._replace(factors=with_effect), pair_noises, level_noises=level_noises):
        plan, records = run_of(own)
        trials = Trials(list(map(summarise, records)))
        yield decisions(plan, trials, compare(trials.samples, orders={PLACEMENT: plan.placements}))


def _at_the_threshold(scenario: Scenario, plans: int, level_noises: Deviations = NO_DEVIATIONS) -> Table:
    """How often a verdict is claimed of any decision: neither is right nor wrong, so either is chance."""
    threshold = 1 - a_plan().worth
    times = {name: threshold for name in scenario.factors["placement"] if name not in ("hdd", ZERO_DELAY)}
    claims: dict[Verdict, int] = dict.fromkeys(Verdict, 0)
    claimed = 0
    for own in decided(scenario, times, noises(plans, 5), level_noises):
        verdicts = {placement.verdict for decision in own for placement in decision.placements[1:]}
        for verdict in verdicts - {None}:
            claims[Verdict(verdict)] += 1
        claimed += bool(verdicts - {None, Verdict.NOT_KNOWN_YET})
    shares = {"worth it": claims[Verdict.WORTH_IT], "not worth it": claims[Verdict.NOT_WORTH_IT], "either": claimed}
    say(f"  {scenario.name}: " + ", ".join(f"{name} {count / plans:.1%}" for name, count in shares.items()))
    return {name: round(count / plans, 4) for name, count in shares.items()}


def _covered(scenario: Scenario, plans: int) -> Table:
    """How often the intervals of a decision's figures hold the truth."""
    covered: dict[str, list[bool]] = {"saving": [], "storage share": [], "won back": []}
    for (decision,) in decided(scenario, {"ssd": SSD, ZERO_DELAY: ZERO}, noises(plans, 6)):
        hdd, ssd = decision.placements
        covered["saving"].append(_holds(ssd.saving, 1 - SSD))
        covered["storage share"] += [_holds(hdd.storage_share, 1 - ZERO), _holds(ssd.storage_share, 1 - ZERO / SSD)]
        if ssd.won_back:
            covered["won back"].append(_holds(ssd.won_back, (1 - SSD) / (1 - ZERO)))
    shares = {name: sum(own) / len(own) for name, own in covered.items()}
    shown = len(covered["won back"]) / plans
    words = ", ".join(f"{name} {share:.1%}" for name, share in shares.items())
    say(f"  {scenario.name}: covered: {words} (shown in {shown:.0%})")
    return {name: round(share, 4) for name, share in shares.items()} | {"shown": round(shown, 4)}


def _holds(estimate: Estimate | None, truth: float) -> bool:
    if estimate is None or estimate.low is None or estimate.high is None:
        return False
    return estimate.low <= truth <= estimate.high


def _parts_judged(scenario: Scenario, plans: int) -> Table:
    """How often any job or phase seems to have an effect, at part noises drawn from the range, and at its ends."""
    source = np.random.default_rng(7)
    drawn = source.uniform(*PART_NOISES, (plans, PARTS))
    mixed = _claimed_parts(scenario, drawn)
    least, most = (_claimed_parts(scenario, np.full((plans // 4, PARTS), noise)) for noise in PART_NOISES)
    say(
        f"  {scenario.name}: claimed {mixed:.1%}, with {PART_NOISES[0]:.0%} in all parts {least:.1%}, with "
        f"{PART_NOISES[1]:.0%} {most:.1%}"
    )
    return {"mixed": round(mixed, 4), "least": round(least, 4), "most": round(most, 4)}


def _claimed_parts(scenario: Scenario, part_noises: Array) -> float:
    """Of runs with so much noise in each part, (runs, parts): the first ones are phases, the others jobs."""
    claims = 0
    for seed, own in enumerate(part_noises):
        source = np.random.default_rng(seed)
        fake = FakeTimes(factors=scenario.factors, mirrored=scenario.mirrored, noise=0.05, disturbed=0.0)
        plan, records = run_of(fake.samples(scenario.repetitions, seed))
        seconds = PART_S * np.exp(own * source.standard_t(4, (len(records), PARTS)) / 2**0.5)
        whole = (_with_parts(record, list(map(float, times))) for record, times in zip(records, seconds, strict=True))
        parted = list(map(summarise, whole))
        changes = [
            change
            for breakdown in breakdowns(plan, parted, decisions(plan, parted))
            for part in breakdown.parts
            for time_of in part.times
            for change in (time_of.storage_share, time_of.saving)
        ]
        claims += any(change.significant for change in changes if change)
    return claims / len(part_noises)


def _with_parts(record: Record, seconds: Sequence[float]) -> Record:
    phases = dict(zip(KIND.phases, seconds, strict=False))
    jobs = tuple(a_job("step", own) for own in seconds[len(KIND.phases) :])
    return _with_totals(record.model_copy(update={"jobs": jobs}), phases=phases)


def _with_totals(record: Record, **values: object) -> Record:
    totals = record.totals and record.totals.model_copy(update=values)
    return record.model_copy(update={"totals": totals})


def _speed() -> bool:
    """500 combinations of four factors, 20 repetitions each, judged for each factor."""
    fake = FakeTimes(
        factors={
            "workload": {name: 2.0**place for place, name in enumerate("abcde")},
            "settings": {name: 1.0 + place / 10 for place, name in enumerate("abcde")},
            "memory": {name: 1.0 + place / 20 for place, name in enumerate("abcde")},
            "placement": {name: exp(-place / 10) for place, name in enumerate(FOUR["placement"])},
        }
    )
    found = fake.samples(20, 1)
    began = time.process_time()
    told = len(compare(found))
    effects(found)
    effects(found, within=("workload",))
    outliers(found)
    seconds = time.process_time() - began
    mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say(f"{len(found)} trials, {told} comparisons: {seconds:.1f} s, {mib:.0f} MiB")
    return seconds <= MOST_SECONDS and mib <= MOST_MIB


if __name__ == "__main__":
    sys.exit(main())
