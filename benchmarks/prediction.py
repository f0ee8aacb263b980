"""How good predictions of times on other drives are: `PYTHONPATH=src:extras:. python benchmarks/prediction.py RUN...`.

RUN are runs with two placements or more on emulated drives. For each two placements of like trials, in both directions,
the time on the second is predicted from the time on the first and from how long the drives were busy on either, and
compared with the time that was measured: means over the repetitions. So the table says how well the network of queues
foretells a job's time once the drives' busy times are known. Where trials kept their requests, a second table says how
well `assay predict` foretells these busy times and the jobs' times from one placement's trials, stage by stage, and
how well one formula for the whole job would. Nothing is fitted to one case alone: TASKS_AT_ONCE is one
number for all.
"""

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import ceil, exp, log
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from assay.cli.context import find_installation
from assay.cli.predict import checked_profile, drive_named
from assay.media.emulated.emulator import Emulator
from assay.model.demand import DriveDemand, OtherDrive, StageDemand
from assay.model.record import Record
from assay.model.trial import ZERO_DELAY
from assay.predict.drives import demands_on
from assay.predict.predictor import DrivePrediction, on_drive, predictions
from assay.record.demands import measured_run
from assay.record.folder import RunFolder
from assay.report.columns import Column, layout_table
from assay.report.words import percent
from assay.stats.closed_network import TASKS_AT_ONCE, computing_time, network_time
from assay.stats.sample import is_valid
from assay.stats.trial_summary import summaries_of, summarise

COLUMNS = ("predictor", "cases", "median error", "90th percentile", "greatest")


class Measured(NamedTuple):
    """What a job took on one placement: its time, and the busy time of each medium's busiest drive."""

    time_s: float
    busy_s: Sequence[float]


class Replayed(NamedTuple):
    """A job's prediction from one placement on another, and what was measured there.

    `one_formula_s` is the time that the network gives for the job as a whole, not stage by stage.
    """

    job: str
    before: str
    after: str
    busy_s: float
    measured_busy_s: float
    prediction: DrivePrediction
    one_formula_s: float
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


ROLES_ON_SSD, FROM, ROLES_TO = "local-directories-on-ssd", "hdd", "ssd"
"""The placement with one role on another drive in `experiments/prediction.yaml`, and which drives it has."""


def replayed(folder: RunFolder) -> list[Replayed]:
    """What `assay predict` says of each placement from each other one, beside what was measured.

    Of placements on one emulated drive, and of the one with local directories on another, in a run that kept its
    requests.
    """
    plan = folder.plan()
    summaries = [summary for summary in summaries_of(folder, plan)[0] if is_valid(summary)]
    media = {
        trial.placement.name: trial.media[0].model_extra or {}
        for trial in plan.trials
        if trial.keep_requests and len(trial.media) == 1 and not trial.zero_delay
    }
    pairs = [(before, drive_named(after, media=media)) for before in media for after in media if before != after]
    if ROLES_ON_SSD in plan.placements:
        drive = drive_named(ROLES_TO, ("intermediate",), media)
        pairs.append((FROM, drive.model_copy(update={"name": ROLES_ON_SSD})))
    cases = []
    for before, drive in pairs:
        run = measured_run(folder, plan, summaries)._replace(demands=_demands(folder, drive, before))
        there = measured_run(folder, plan, summaries)._replace(demands=_demands(folder, drive, drive.name))
        own = {demand.trial: demand for demand in there.demands}
        for prediction in predictions(run):
            measured = [
                summary
                for summary in summaries
                if summary.trial.placement.name == drive.name
                and {**summary.factors, "placement": ""} == {**prediction.factors, "placement": ""}
            ]
            cases.append(
                Replayed(
                    job=f"{prediction.factors['workload']} on {prediction.factors['engine']}",
                    before=before,
                    after=drive.name,
                    busy_s=fmean(trial.busy_there_s for trial in prediction.trials),
                    measured_busy_s=fmean(on_drive(own[summary.id]).busy_s for summary in measured),
                    prediction=prediction,
                    one_formula_s=fmean(
                        on_drive(_whole(demand)).predicted_s
                        for demand in run.demands
                        if demand.trial in {trial.trial for trial in prediction.trials}
                    ),
                    measured_s=fmean(summary.elapsed_s or 0.0 for summary in measured),
                )
            )
    return cases


def _demands(folder: RunFolder, drive: OtherDrive, placement: str) -> list[DriveDemand]:
    installation = find_installation()
    return demands_on(folder, drive, checked_profile(drive, installation), Emulator(installation).replay, placement)


def _whole(demand: DriveDemand) -> DriveDemand:
    """A demand as one formula for the whole job takes it: all stages are one."""
    busy, there = ([stage.busy_s for stage in demand.stages], [stage.busy_there_s for stage in demand.stages])
    whole = StageDemand(
        stage="all", elapsed_s=sum(stage.elapsed_s for stage in demand.stages),
        busy_s=tuple(map(sum, zip(*busy, strict=True))), busy_there_s=tuple(map(sum, zip(*there, strict=True))),
    )  # fmt: skip
    return demand.model_copy(update={"stages": (whole,)})


REPLAY_COLUMNS = (
    "job", "from", "to", "busy, replayed", "measured", "error", "time, predicted", "measured", "error",
    "error of one formula", "in interval",
)  # fmt: skip


def replay_rows(cases: Sequence[Replayed]) -> list[tuple[str, ...]]:
    """A row for each case; times in seconds."""
    return [
        (
            case.job, case.before, case.after, f"{case.busy_s:.1f}", f"{case.measured_busy_s:.1f}",
            f"{case.busy_s / case.measured_busy_s - 1:+.0%}", f"{case.prediction.predicted_s:.1f}",
            f"{case.measured_s:.1f}", f"{case.prediction.predicted_s / case.measured_s - 1:+.0%}",
            f"{case.one_formula_s / case.measured_s - 1:+.0%}",
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
