"""How well the network of queues foretells times on drives whose busy times are known, by the kept runs.

For each two placements of like trials, in both directions, the time on the second is predicted from the time on the
first and from how long the drives were busy on either, and compared with the time that was measured: means over the
repetitions. Nothing is fitted to one case alone: TASKS_AT_ONCE is one number for all. `benchmarks/prediction.py` prints
it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil, exp, inf, log
from statistics import fmean, median
from typing import NamedTuple

from assay.model.record import Record
from assay.model.trial import ZERO_DELAY
from assay.report.words import percent
from assay.stats.closed_network import TASKS_AT_ONCE, computing_time, network_time
from assay.stats.sample import is_valid
from assay.stats.trial_summary import summarise

BUSY_SHARE, BUSY_JOBS = 1 / 3, 4
"""On the first placement the drive of so many jobs must be busy for this share of the time: else nothing is tested."""
COLUMNS = ("predictor", "cases", "median error", "90th percentile", "greatest")


class Measured(NamedTuple):
    """What a job took on one placement: its time, and the busy time of each medium's busiest drive."""

    time_s: float
    busy_s: Sequence[float]


class Case(NamedTuple):
    """A job of a run on two placements."""

    run: str
    job: str
    before: str
    after: str
    from_drives: Measured
    on_drives: Measured

    def error(self, predict: "Predictor") -> float:
        """The predicted time over the measured one, as a natural logarithm."""
        return log(predict(self.from_drives, self.on_drives.busy_s) / self.on_drives.time_s)


Predictor = Callable[[Measured, Sequence[float]], float]


def by_network(tasks: float) -> Predictor:
    """The network of computing and each drive, with so many tasks at once."""

    def predict(measured: Measured, busy: Sequence[float]) -> float:
        return network_time([computing_time(measured.time_s, measured.busy_s, tasks), *busy], tasks)

    return predict


def _busiest_alone(measured: Measured, busy: Sequence[float]) -> float:
    return by_network(TASKS_AT_ONCE)(measured._replace(busy_s=[max(measured.busy_s)]), [max(busy)])


PREDICTORS: Mapping[str, Predictor] = {
    "no change": lambda measured, _: measured.time_s,
    "the busiest drive's time exchanged": lambda measured, busy: (
        max(measured.time_s - max(measured.busy_s), 0) + max(busy)
    ),
    "a network of computing and the busiest drive": _busiest_alone,
    "a network of computing and each drive": by_network(TASKS_AT_ONCE),
    "the same with 1.3 tasks at once": by_network(1.3),
    "the same with 2.5 tasks at once": by_network(2.5),
}


def cases(run: str, records: Iterable[Record]) -> list[Case]:
    """All pairs of placements of like trials, in both directions."""
    groups: dict[tuple[tuple[str, str], ...], dict[str, list[Record]]] = {}
    for record in records:
        summary = summarise(record)
        if is_valid(summary) and not record.modelled and busy_s(record):
            factors = tuple((name, level) for name, level in summary.factors.items() if name != "placement")
            groups.setdefault(factors, {}).setdefault(record.trial.placement.name, []).append(record)
    return [
        Case(run, f"{dict(factors)['workload']} on {dict(factors)['engine']}", before, after, measured[before], on)
        for factors, placements in groups.items()
        for measured in [{name: _mean(of_placement) for name, of_placement in placements.items()}]
        for before in measured
        for after, on in measured.items()
        if before != after and ZERO_DELAY not in (before, after)
    ]


def busy_s(record: Record) -> list[float]:
    """How long each medium's busiest drive was busy while the jobs ran."""
    by_medium: dict[str, float] = {}
    for drive in record.devices:
        if "run" in drive.reports:
            seconds = drive.reports["run"].busy_seconds or 0.0
            by_medium[drive.medium] = max(by_medium.get(drive.medium, 0.0), seconds)
    return [by_medium[name] for name in sorted(by_medium)]


def _mean(records: Sequence[Record]) -> Measured:
    busy = zip(*map(busy_s, records), strict=True)
    return Measured(fmean(record.totals.elapsed_s for record in records if record.totals), [*map(fmean, busy)])


def rows(all_cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """For each predictor how far it is off."""
    table = []
    for name, predictor in PREDICTORS.items():
        table.append((name, *spread_of_errors([case.error(predictor) for case in all_cases])))
    return table


def spread(errors: Sequence[float]) -> tuple[float, float, float]:
    """The median of some errors, their 90th percentile (nearest rank), and the greatest, as shares."""
    shares = sorted(abs(exp(error) - 1) for error in errors)
    return median(shares), shares[ceil(0.9 * len(shares)) - 1], shares[-1]


def error_text(share: float) -> str:
    """`6 %`."""
    return "no bound" if share == inf else percent(share)


def spread_of_errors(errors: Sequence[float]) -> tuple[str, ...]:
    """How many errors there are, and their `spread`."""
    return str(len(errors)), *(map(error_text, spread(errors)) if errors else "---")


def worst(all_cases: Sequence[Case], most: int) -> list[list[str]]:
    """The cases that the network with each drive foretells worst."""
    errors = [(case.error(by_network(TASKS_AT_ONCE)), case) for case in all_cases]
    errors.sort(key=lambda pair: -abs(pair[0]))
    return [[case.run, case.job, case.before, case.after, f"{exp(error) - 1:+.0%}"] for error, case in errors[:most]]


def interval_95(errors: Sequence[float]) -> float:
    """The half width that holds 95 % of some errors, so that it holds a further one as often (split conformal).

    Raises ValueError without an error.
    """
    if not errors:
        raise ValueError("no interval follows from no errors; give runs whose jobs ran on two placements")
    rising = sorted(map(abs, errors))
    return rising[min(len(rising), ceil(0.95 * (len(rising) + 1))) - 1]


def covered(all_cases: Sequence[Case]) -> int:
    """How many cases lie within the interval that all other runs' cases give; none where there is no other run."""
    predictor = by_network(TASKS_AT_ONCE)
    errors = [(case.run, case.error(predictor)) for case in all_cases]
    others = {run: [error for name, error in errors if name != run] for run, _ in errors}
    return sum(bool(others[run]) and abs(error) <= interval_95(others[run]) for run, error in errors)
