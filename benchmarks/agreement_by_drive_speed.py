"""How far agreement with tables 6 to 8 depends on drives' speed: `python benchmarks/agreement_by_drive_speed.py RUN`.

RUN is a run of `experiments/studies/agreement-by-drive-speed.yaml`. Printed: for each factor by which drives are slowed
down the ratios of SSD and hard disk beside the thesis', how many directions and classes agree, Cohen's kappa, the
median factor by which ratios are off; and the statements whose verdict depends on the factor, which are decided by the
scale. The trials of each factor are judged as if they were a run of the experiment with that factor alone.

`--to FOLDER` writes `drive-speed.json`, what was measured, and `drive-speed.svg`, the chart; then docs/make_results.py
makes the tables of docs/research/studies.md. By itself:
`PYTHONPATH=$PWD/src:$PWD:$PWD/extras .assay/venv/bin/python benchmarks/agreement_by_drive_speed.py runs/agreement-...`.
"""

import argparse
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import Field, ValidationError

from assay.host.files import read_bytes
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.installed import kind_of
from assay.model.record import Record
from assay.model.trial import Plan
from assay.record.folder import RunFolder
from assay.record.reading import first_of
from assay.report.charts.drawing import FAINT, INK, PAPER, SOFT, figure, text
from assay.report.charts.elapsed import PALETTE
from assay.report.columns import as_columns, layout_table
from assay_extras.studies.comparison import Verdict, all_judged
from assay_extras.studies.kept import StudyRun, study_run
from assay_extras.studies.overview import Compared, overview
from assay_extras.studies.overview_view import standalone
from assay_extras.studies.published import StudyExperiment, study_experiment
from assay_extras.studies.score import RatioError, Score, ratio_error
from assay_extras.studies.score_view import ScoreTable

WIDTH = 120
SPEED_FILE, CHART_FILE = "drive-speed.json", "drive-speed.svg"
EXPERIMENT = "thesis-tables-6-8-scaled"
"""The one whose trials run at several speeds."""
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2)
WIDTH_PX, LEFT_PX, RIGHT_PX, TOP_PX, PLOT_PX, LEGEND_PX = 720, 64, 150, 56, 320, 18


class SpeedRun(Frozen):
    """What was measured on drives that many times slower than the real ones."""

    slowdown: int = Field(ge=1)
    run: StudyRun


class SpeedRuns(Frozen):
    """What the file has, by rising factor."""

    runs: tuple[SpeedRun, ...]


class AtSpeed(NamedTuple):
    """One factor: its comparisons with the study, their score and error, and the verdicts on statements."""

    slowdown: int
    comparisons: tuple[Compared, ...]
    score: Score
    error: RatioError
    verdicts: Mapping[str, Verdict]


def main() -> int:
    """Read, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run of experiments/studies/agreement-by-drive-speed.yaml")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help=f"write {SPEED_FILE} and {CHART_FILE} into it")
    wishes = parser.parse_args()
    folder = RunFolder(wishes.run)
    try:
        runs = speed_runs(folder.plan(), folder.records()[0])
    except BadInputError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    found = at_speeds(runs)
    for shown in speed_tables(found):
        columns = as_columns(shown.header, shown.rows)
        print("\n".join(["", shown.title, *layout_table(columns, WIDTH), shown.about]))  # noqa: T201
    if wishes.to is not None:
        (wishes.to / SPEED_FILE).write_text(f"{runs.model_dump_json(indent=1)}\n", encoding="utf-8")
        (wishes.to / CHART_FILE).write_text(standalone(speed_svg(found)), encoding="utf-8")
    return 0


def speed_runs(plan: Plan, records: Sequence[Record]) -> SpeedRuns:
    """A run's trials by the factor of their drives; raises BadInputError where fewer than two factors say anything.

    A medium is called by the study's name for the drive with the factor at the end: `hdd-8`.
    """
    groups: dict[int, list[Record]] = {}
    for record in records:
        factors = {kind_of(medium).slowdown(medium) for medium in record.trial.media}
        if len(factors) == 1:
            (slowdown,) = factors
            groups.setdefault(slowdown, []).append(_by_drive(record, slowdown))
    found = []
    for slowdown, group in sorted(groups.items()):
        run = study_run(plan.model_copy(update={"experiment": EXPERIMENT}), group)
        if run is not None:
            found.append(SpeedRun(slowdown=slowdown, run=run))
    if len(found) < 2:
        raise BadInputError(
            f"{plan.experiment} has no trials of {EXPERIMENT} on drives of two speeds: name a run of "
            "agreement-by-drive-speed"
        )
    return SpeedRuns(runs=tuple(found))


def _by_drive(record: Record, slowdown: int) -> Record:
    """The record with its placement called as the study calls the drive."""
    trial = record.trial
    name = trial.placement.name.removesuffix(f"-{slowdown}")
    placement = trial.placement.model_copy(update={"name": name})
    return record.model_copy(update={"trial": trial.model_copy(update={"placement": placement})})


def read_speed_runs(folder: Path) -> SpeedRuns | None:
    """Of a folder's file; None where there is none. Raises BadInputError."""
    file = folder / SPEED_FILE
    if not file.exists():
        return None
    try:
        return SpeedRuns.model_validate_json(read_bytes(file))
    except ValidationError as error:
        raise BadInputError(f"{file} can't be read: {first_of(error)}") from None


def at_speeds(runs: SpeedRuns) -> list[AtSpeed]:
    """Each factor, judged by itself."""
    found = []
    for run in runs.runs:
        compared, experiment = overview([run.run]), study_experiment(run.run.experiment)
        if compared is None or compared.score is None or experiment is None:
            continue
        error = ratio_error("all", [other for other in compared.comparisons if other.published_direction])
        if error is not None:
            verdicts = _verdicts(experiment, run.run)
            found.append(AtSpeed(run.slowdown, compared.comparisons, compared.score, error, verdicts))
    return found


def _verdicts(experiment: StudyExperiment, run: StudyRun) -> dict[str, Verdict]:
    judged = all_judged(experiment, run.measured)
    return {one.statement.id: one.verdict for one in judged if one.verdict != "not addressed"}


def speed_tables(found: Sequence[AtSpeed]) -> list[ScoreTable]:
    """Ratios and agreement by the factor; and statements whose verdict depends on it."""
    places = list(dict.fromkeys(one.place for at in found for one in at.comparisons if one.published_direction))
    published = {comparison.place: comparison.published_ratio for at in found for comparison in at.comparisons}
    rows = [
        (str(at.slowdown), *(_ratio(at, place) for place in places), *_agreement(at), f"{at.error.factor:.2f}")
        for at in found
    ]
    nulls = {f"{at.error.null_factor:.2f}" for at in found}
    ratios = ScoreTable(
        "Agreement by the factor by which drives are slowed down",
        "Ratios of times, SSD over hard disk, with their 95 % intervals. decided: of the comparisons with a published "
        "direction that are long enough; right: in three classes, ties among them; off by: the median factor between "
        f'measured and published ratio, {" or ".join(sorted(nulls))} for "no difference".',
        ("slower by", *(place.rpartition(", ")[2] for place in places), "decided", "agree", "right", "kappa", "off by"),
        [*rows, ("the thesis", *(_published(published[place]) for place in places), *[""] * 5)],
    )
    return [ratios, *_statement_tables(found)]


def _ratio(at: AtSpeed, place: str) -> str:
    for comparison in at.comparisons:
        if comparison.place == place and comparison.measured_ratio is not None:
            return f"{comparison.measured_ratio:.2f}" + (
                "" if comparison.low is None else f" ({comparison.low:.2f} to {comparison.high:.2f})"
            )
    return "-"


def _published(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"


def _agreement(at: AtSpeed) -> tuple[str, str, str, str]:
    """How many are decided and agree, how many classes are right, and kappa."""
    score, runs = at.score, at.score.forecasts[0]
    decided = f"{score.decided} of {score.directions}"
    return decided, f"{runs.decided_agree}", f"{runs.agree} of {runs.of}", f"{runs.kappa:.2f}"


def _statement_tables(found: Sequence[AtSpeed]) -> list[ScoreTable]:
    names = dict.fromkeys(name for at in found for name in at.verdicts)
    rows = [(name, *(at.verdicts.get(name, "-") for at in found)) for name in names]
    changing = [row for row in rows if len(set(row[1:])) > 1]
    if not changing:
        return []
    return [
        ScoreTable(
            "Statements decided by the scale",
            f"Statements whose verdict depends on the factor; the other {len(rows) - len(changing)} that these trials "
            "speak of have the same one at each.",
            ("statement", *(f"slower by {at.slowdown}" for at in found)),
            changing,
        )
    ]


def speed_svg(found: Sequence[AtSpeed]) -> str:
    """A line for each comparison with a published direction: its ratio by the factor, the published one dashed."""
    lines: dict[str, list[tuple[int, Compared]]] = {}
    for at in found:
        for one in at.comparisons:
            if one.published_direction and one.published_ratio and one.measured_ratio:
                lines.setdefault(one.place, []).append((at.slowdown, one))
    scale = _Axes([at.slowdown for at in found], [one for own in lines.values() for _, one in own])
    parts = [
        text(0, 16, "SSD over hard disk, by the speed of the drives", 'font-weight="600" font-size="14"'),
        text(0, 36, "below 1: the SSD is faster; dashed: the thesis"),
        scale.frame(),
    ]
    for number, (place, own) in enumerate(lines.items()):
        parts.append(_line(scale, own, PALETTE[number % len(PALETTE)], place.rpartition(", ")[2]))
    bottom = TOP_PX + PLOT_PX
    for at in found:
        decided, agree, *_ = _agreement(at)
        for row, words in enumerate((f"{decided} decided", f"{agree} agree", f"off by {at.error.factor:.2f}")):
            parts.append(text(scale.x(at.slowdown), bottom + 38 + LEGEND_PX * row, words, 'text-anchor="middle"'))
    parts.append(text(WIDTH_PX, bottom + 18, "times slower", 'text-anchor="end"'))
    return figure(bottom + 38 + 3 * LEGEND_PX, parts, "ratios by the factor of the drives", "chart", WIDTH_PX)


class _Axes:
    """Both logarithmic; the vertical one ends at ticks."""

    def __init__(self, factors: Sequence[int], shown: Sequence[Compared]) -> None:
        values = [*_values(shown), 1.0]
        self.factors = factors
        self.first = max((tick for tick in TICKS if tick <= min(values)), default=TICKS[0])
        self.last = min((tick for tick in TICKS if tick >= max(values)), default=TICKS[-1])

    def x(self, factor: float) -> float:
        low, high = math.log(self.factors[0]), math.log(self.factors[-1])
        return LEFT_PX + 40 + (math.log(factor) - low) / (high - low) * (WIDTH_PX - LEFT_PX - RIGHT_PX - 80)

    def y(self, ratio: float) -> float:
        held = min(max(ratio, self.first), self.last)
        return TOP_PX + PLOT_PX * (1 - math.log(held / self.first) / math.log(self.last / self.first))

    def frame(self) -> str:
        parts = []
        for tick in (one for one in TICKS if self.first <= one <= self.last):
            y, stroke = self.y(tick), SOFT if tick == 1 else FAINT
            parts.append(f'<path d="M{LEFT_PX},{y:.1f}H{WIDTH_PX - RIGHT_PX}" stroke="{stroke}"/>')
            parts.append(text(LEFT_PX - 8, y + 4, f"{tick:g}", 'text-anchor="end"'))
        y = TOP_PX + PLOT_PX + 18
        return "".join(
            [*parts, *(text(self.x(factor), y, str(factor), 'text-anchor="middle"') for factor in self.factors)]
        )


def _values(shown: Iterable[Compared]) -> list[float]:
    sides = ((one.published_ratio, one.measured_ratio, one.low, one.high) for one in shown)
    return [value for side in sides for value in side if value]


def _line(scale: _Axes, own: Sequence[tuple[int, Compared]], colour: str, name: str) -> str:
    dots = [(scale.x(factor), scale.y(one.measured_ratio or 1.0), one) for factor, one in own]
    published = scale.y(own[0][1].published_ratio or 1.0)
    path = "L".join(f"{x:.1f},{y:.1f}" for x, y, _ in dots)
    right = WIDTH_PX - RIGHT_PX
    parts = [
        f'<path d="M{LEFT_PX},{published:.1f}H{right}" stroke="{colour}" stroke-dasharray="5 4"/>',
        f'<path d="M{path}" stroke="{colour}" fill="none" stroke-width="1.6"/>',
        text(right + 8, published + 4, f"{name}: {own[0][1].published_ratio:.2f}", f'fill="{INK}"'),
    ]
    for x, y, one in dots:
        if one.low is not None and one.high is not None:
            parts.append(f'<path d="M{x:.1f},{scale.y(one.low):.1f}V{scale.y(one.high):.1f}" stroke="{colour}"/>')
        inside = colour if one.measured_direction else PAPER
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{inside}" stroke="{colour}"/>')
    return f"<g><title>{name}</title>{''.join(parts)}</g>"


if __name__ == "__main__":
    sys.exit(main())
