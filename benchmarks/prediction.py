"""How good predictions of times on other drives are: `PYTHONPATH=src:extras:. python benchmarks/prediction.py RUN...`.

RUN are runs with two placements or more on emulated drives. For each two placements of like trials, in both directions,
the time on the second is predicted from the time on the first and from how long the drives were busy on either, and
compared with the time that was measured: means over the repetitions. So the table says how well the network of queues
foretells a job's time once the drives' busy times are known. Where trials kept their requests, a second table says how
well these busy times are foretold by replaying the requests. Nothing is fitted to one case alone: TASKS_AT_ONCE is one
number for all.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil, exp, log
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from assay.cli.context import find_installation
from assay.media.emulated.emulator import Emulator
from assay.media.emulated.profile import find_profile
from assay.model.record import Record
from assay.model.trial import ZERO_DELAY
from assay.predict.drives import DrivePrediction, predict_drive
from assay.record.folder import RunFolder
from assay.report.columns import Column, layout_table
from assay.report.words import percent
from assay.stats.closed_network import TASKS_AT_ONCE, computing_time, network_time
from assay.stats.sample import is_valid
from assay.stats.trial_summary import summarise

COLUMNS = ("predictor", "cases", "median error", "90th percentile", "greatest")


class Measured(NamedTuple):
    """What a job took on one placement: its time, and the busy time of each medium's busiest drive."""

    time_s: float
    busy_s: Sequence[float]


class Replayed(NamedTuple):
    """A job's prediction from one placement on another, and what was measured there."""

    job: str
    before: str
    after: str
    busy_s: float
    measured_busy_s: float
    prediction: DrivePrediction
    measured_s: float


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


def _by_network(tasks: float) -> Predictor:
    def predict(measured: Measured, busy: Sequence[float]) -> float:
        return network_time([computing_time(measured.time_s, measured.busy_s, tasks), *busy], tasks)

    return predict


def _busiest_alone(measured: Measured, busy: Sequence[float]) -> float:
    return _by_network(TASKS_AT_ONCE)(measured._replace(busy_s=[max(measured.busy_s)]), [max(busy)])


PREDICTORS: Mapping[str, Predictor] = {
    "no change": lambda measured, _: measured.time_s,
    "the busiest drive's time exchanged": lambda measured, busy: (
        max(measured.time_s - max(measured.busy_s), 0) + max(busy)
    ),
    "a network of computing and the busiest drive": _busiest_alone,
    "a network of computing and each drive": _by_network(TASKS_AT_ONCE),
    "the same with 1.3 tasks at once": _by_network(1.3),
    "the same with 2.5 tasks at once": _by_network(2.5),
}


def cases(run: str, records: Iterable[Record]) -> list[Case]:
    """All pairs of placements of like trials, in both directions."""
    groups: dict[tuple[tuple[str, str], ...], dict[str, list[Record]]] = {}
    for record in records:
        summary = summarise(record)
        if is_valid(summary) and not record.modelled and _busy(record):
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


def _busy(record: Record) -> list[float]:
    by_medium: dict[str, float] = {}
    for drive in record.devices:
        if "run" in drive.reports:
            seconds = drive.reports["run"].busy_seconds or 0.0
            by_medium[drive.medium] = max(by_medium.get(drive.medium, 0.0), seconds)
    return [by_medium[name] for name in sorted(by_medium)]


def _mean(records: Sequence[Record]) -> Measured:
    busy = zip(*map(_busy, records), strict=True)
    return Measured(fmean(record.totals.elapsed_s for record in records if record.totals), [*map(fmean, busy)])


def rows(all_cases: Sequence[Case]) -> list[tuple[str, ...]]:
    """For each predictor how far it is off."""
    table = []
    for name, predictor in PREDICTORS.items():
        errors = sorted(abs(exp(case.error(predictor)) - 1) for case in all_cases)
        ninth = errors[int(0.9 * (len(errors) - 1))]
        table.append((name, str(len(errors)), percent(median(errors)), percent(ninth), percent(errors[-1])))
    return table


def worst(all_cases: Sequence[Case], most: int) -> list[list[str]]:
    """The cases that the network with each drive foretells worst."""
    errors = [(case.error(_by_network(TASKS_AT_ONCE)), case) for case in all_cases]
    errors.sort(key=lambda pair: -abs(pair[0]))
    return [[case.run, case.job, case.before, case.after, f"{exp(error) - 1:+.0%}"] for error, case in errors[:most]]


def interval_95(errors: Sequence[float]) -> float:
    """The half width that holds 95 % of some errors, so that it holds a further one as often (split conformal)."""
    rising = sorted(map(abs, errors))
    return rising[min(len(rising), ceil(0.95 * (len(rising) + 1))) - 1]


def covered(all_cases: Sequence[Case]) -> int:
    """How many cases lie within the interval that all other runs' cases give."""
    predictor = _by_network(TASKS_AT_ONCE)
    errors = [(case.run, case.error(predictor)) for case in all_cases]
    return sum(abs(error) <= interval_95([other for name, other in errors if name != run]) for run, error in errors)


def replayed(folder: RunFolder) -> list[Replayed]:
    """What `assay predict` says of each placement from each other one, beside what was measured.

    Of placements on one emulated drive, in a run that kept its requests.
    """
    installation = find_installation()
    emulator = Emulator(installation)
    profiles = {
        trial.placement.name: find_profile(str((trial.media[0].model_extra or {})["profile"]), installation.profiles)
        for trial in folder.plan().trials
        if trial.keep_requests and len(trial.media) == 1 and not trial.zero_delay
    }
    predictions = {
        (before, after): predict_drive(folder, profile, None, emulator.replay, before)
        for before in profiles
        for after, profile in profiles.items()
    }
    return [
        Replayed(
            job=f"{prediction.factors['workload']} on {prediction.factors['engine']}",
            before=before,
            after=after,
            busy_s=fmean(max(trial.busy_there_s) for trial in prediction.trials),
            measured_busy_s=fmean(max(trial.busy_s) for trial in there.trials),
            prediction=prediction,
            measured_s=there.elapsed_s,
        )
        for (before, after), groups in predictions.items()
        for prediction in groups
        for there in predictions[after, after]
        if before != after and there.factors == prediction.factors
    ]


REPLAY_COLUMNS = (
    "job", "from", "to", "busy, replayed", "measured", "error", "time, predicted", "measured", "error", "in interval",
)  # fmt: skip


def replay_rows(cases: Sequence[Replayed]) -> list[tuple[str, ...]]:
    """A row for each case; times in seconds."""
    return [
        (
            case.job, case.before, case.after, f"{case.busy_s:.1f}", f"{case.measured_busy_s:.1f}",
            f"{case.busy_s / case.measured_busy_s - 1:+.0%}", f"{case.prediction.predicted_s:.1f}",
            f"{case.measured_s:.1f}", f"{case.prediction.predicted_s / case.measured_s - 1:+.0%}",
            "yes" if case.prediction.low_s <= case.measured_s <= case.prediction.high_s else "no",
        )
        for case in cases
    ]  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    folders = [RunFolder(folder) for folder in parser.parse_args().runs]
    all_cases = [case for folder in folders for case in cases(folder.path.name, folder.records()[0])]
    _print(COLUMNS, rows(all_cases))
    _print(("run", "job", "from", "to", "error"), worst(all_cases, 10))
    width = interval_95([case.error(_by_network(TASKS_AT_ONCE)) for case in all_cases])
    print(f"\n95 % of all cases lie within a factor of {exp(width):.2f} (a natural logarithm of {width:.3f})")  # noqa: T201
    if len({case.run for case in all_cases}) > 1:
        within = f"{covered(all_cases)} of {len(all_cases)}"
        print(f"{within} lie within the interval that the other runs' cases give")  # noqa: T201
    if replays := [case for folder in folders for case in replayed(folder)]:
        _print(REPLAY_COLUMNS, replay_rows(replays))


def _print(names: Sequence[str], table: Sequence[Sequence[str]]) -> None:
    columns = [Column(name, [row[place] for row in table], name=place == 0) for place, name in enumerate(names)]
    print("\n".join(layout_table(columns, 140)))  # noqa: T201


if __name__ == "__main__":
    main()
