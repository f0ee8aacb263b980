"""How often the studies' rule gives a direction where there is none: `python benchmarks/studies_null.py [FILE]`.

Each run in the file (by default docs/results/studies.json) is made up anew, many times, with its own points,
repetitions and comparisons, but so that neither drives nor settings have an effect: each point's time is the median of
all points of its job and metric, times noise. It is judged as `assay studies` judges it: by the same intervals, with
the variance of each job and phase averaged over its pairs, and with the same half second. Noise is the standard
deviation of a pair's log ratio, at the three levels that A/A runs showed, normal or with the heavy tails that those
runs had (Student's t with 4 degrees of freedom).

Printed for each run, and for all together: the share of its comparisons that get a direction, the share of made-up runs
in which any does, and that share with Benjamini-Hochberg over the comparisons. Nothing is judged here: the rule does
not correct for the number of comparisons, and this says what that costs.

`--to FOLDER` writes `studies-null.json`, from which docs/make_results.py makes the table. Five minutes, no Hadoop. By
itself: `PYTHONPATH=$PWD/src:$PWD:$PWD/extras .assay/venv/bin/python benchmarks/studies_null.py`.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import exp, sqrt
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from assay.model.base import Frozen
from assay.stats.comparison import benjamini_hochberg
from assay_extras.studies.comparison import POSSIBLE, tables
from assay_extras.studies.kept import FILE, StudyRun, read_kept
from assay_extras.studies.published import study_experiment
from assay_extras.studies.values import LEAST_PAIRS, LEVEL, UNITS, Difference, StudyPoint, StudyTable, least_change

if TYPE_CHECKING:
    from numpy.random import Generator

KEPT = Path(__file__).parents[1] / "docs" / "results" / FILE
WRITTEN = "studies-null.json"
NOISES = (0.06, 0.09, 0.17)
"""Of pairs' log ratios, as A/A runs showed them."""
TAILS = (0, 4)
"""Degrees of freedom of Student's t; 0 is normal."""
SEED = 1


class NullRates(Frozen):
    """Of one experiment's made-up runs (`all`: of all experiments' together): the shares that show a direction.

    `of_comparisons` is the share of comparisons, `of_runs` that of runs with any, `of_runs_corrected` the same with
    Benjamini-Hochberg over the comparisons.
    """

    experiment: str
    comparisons: int
    noise: float
    tails: int
    runs: int
    of_comparisons: float
    of_runs: float
    of_runs_corrected: float


class Design(NamedTuple):
    """One run without its effects: each point's time and repetitions, and the comparisons that are scored."""

    experiment: str
    times: Mapping[StudyPoint, float]
    repetitions: Mapping[StudyPoint, Sequence[int]]
    comparisons: Sequence[tuple[StudyPoint, StudyPoint]]


def design(run: StudyRun) -> Design:
    """Of a run: neither drives nor settings have an effect, all else is as it was."""
    experiment = study_experiment(run.experiment)
    if experiment is None:
        raise ValueError(f"{run.experiment} is no study's experiment")
    measured = run.measured
    points = [point for point in measured.where({}) if point.metric not in UNITS]
    groups: dict[StudyPoint, list[StudyPoint]] = {}
    for point in points:
        groups.setdefault(point._replace(medium="", settings=""), []).append(point)
    alike = {place: median(median(measured.of(point).values()) for point in group) for place, group in groups.items()}
    scored = {
        (contrast.first, contrast.second): None
        for table in tables(experiment.study, measured)
        for contrast in table.contrasts
        if contrast.agreement in {*POSSIBLE, "published tie"}
        and contrast.measured
        and contrast.measured.pairs >= LEAST_PAIRS
    }
    return Design(
        run.experiment,
        {point: alike[point._replace(medium="", settings="")] for point in points},
        {point: list(measured.of(point)) for point in points},
        [pair for pair in scored if pair[0].metric not in UNITS],
    )


def differences(made: Design, source: "Generator", noise: float, tails: int) -> Iterator[Difference]:
    """The scored comparisons of one made-up run. A pair's log ratio has twice the variance of a trial's log time."""
    deviation = noise / sqrt(2)
    values = {}
    for point, time_s in made.times.items():
        repetitions = made.repetitions[point]
        usual = (
            sqrt(1 - 2 / tails) * source.standard_t(tails, len(repetitions))
            if tails
            else source.standard_normal(len(repetitions))
        )
        values[point] = {at: time_s * exp(deviation * log) for at, log in zip(repetitions, usual, strict=True)}
    measured = StudyTable(values)
    for first, second in made.comparisons:
        found = measured.difference(first, second, least_change(second.metric))
        if found is not None:
            yield found


def null_rates(designs: Sequence[Design], noise: float, tails: int, runs: int) -> list[NullRates]:
    """Of so many made-up runs of each design, and of all together; the same each time."""
    import numpy as np

    source = np.random.default_rng([SEED, round(1000 * noise), tails])
    names = [*(design.experiment for design in designs), "all"]
    counts = {name: [0, 0, 0] for name in names}
    for _ in range(runs):
        found = {made.experiment: list(differences(made, source, noise, tails)) for made in designs}
        found["all"] = [difference for own in found.values() for difference in own]
        for name, own in found.items():
            directions = sum(difference.direction != 0 for difference in own)
            counts[name][0] += directions
            counts[name][1] += directions > 0
            counts[name][2] += _any_corrected(own)
    sizes = {made.experiment: len(made.comparisons) for made in designs}
    sizes["all"] = sum(sizes.values())
    return [
        NullRates(
            experiment=name, comparisons=sizes[name], noise=noise, tails=tails, runs=runs,
            of_comparisons=directions / (runs * sizes[name]), of_runs=with_any / runs,
            of_runs_corrected=corrected / runs,
        )
        for name, (directions, with_any, corrected) in counts.items()
    ]  # fmt: skip


def _any_corrected(found: Sequence[Difference]) -> bool:
    chances = benjamini_hochberg([1.0 if difference.chance is None else difference.chance for difference in found])
    return any(difference.sign and chance < 1 - LEVEL for difference, chance in zip(found, chances, strict=True))


def main() -> None:
    """Simulate, print, and write where it is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kept", type=Path, nargs="?", default=KEPT, help="what runs of the studies measured")
    parser.add_argument("--runs", type=int, default=1000, help="made-up runs of each experiment at each noise")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help=f"write {WRITTEN} into this folder")
    wishes = parser.parse_args()
    designs = [made for run in read_kept(wishes.kept) if (made := design(run)).comparisons]
    found = []
    for tails, noise in product(TAILS, NOISES):
        for rates in null_rates(designs, noise, tails, wishes.runs):
            found.append(rates)
            print(_words(rates), flush=True)  # noqa: T201
    if wishes.to is not None:
        text = json.dumps([rates.model_dump() for rates in found], indent=1)
        (wishes.to / WRITTEN).write_text(f"{text}\n", encoding="utf-8")


def _words(rates: NullRates) -> str:
    tails = "heavy tails" if rates.tails else "normal"
    return (
        f"{rates.experiment}, noise {rates.noise:.0%}, {tails}: a direction in {rates.of_comparisons:.1%} of "
        f"{rates.comparisons} comparisons, any in {rates.of_runs:.0%} of runs; with Benjamini-Hochberg "
        f"{rates.of_runs_corrected:.1%}"
    )


if __name__ == "__main__":
    main()
