"""A registered forecast of a public table of Hadoop runs, and its score: docs/explanation/how-far-answers-transfer.md.

The table is ALOJA's (github.com/Aloja/aloja-ml, datasets), which is no part of Assay. First, and committed before
anybody reads its times, the forecasts from a finished run of `experiments/aloja.yaml`, and from an older run the ratios
under other conditions; then the score of any file of its form:

    PYTHONPATH=src:extras:. python benchmarks/aloja.py forecast RUN [--old RUN] [--again]
    PYTHONPATH=src:extras:. python benchmarks/aloja.py score FILE

`--again` is for a second run of the experiment. Each file is scored by the forecasts of both.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import ceil, exp, log
from pathlib import Path
from statistics import median
from typing import NamedTuple

from assay.model.base import Frozen, json_text
from assay.record.folder import RunFolder
from assay.report.charts.drawing import BLUE, FAINT, INK, VERMILION, figure, rect, text
from assay.report.columns import as_columns, grid
from assay.report.words import percent
from assay.stats.decision import Decision, decisions
from assay.stats.trial_summary import summaries_of

RESULTS = Path(__file__).parents[1] / "docs" / "results"
FORECASTS, SCORE = RESULTS / "aloja-forecast.json", RESULTS / "aloja-score.json"
FORECASTS_AGAIN, SCORE_AGAIN = RESULTS / "aloja-forecast-again.json", RESULTS / "aloja-score-again.json"
"""Of the experiment's second run."""
_SOURCES = ["ratio by", "cases", "median factor off", "forecast's on these", "90th percentile", "10 % rightly said"]
_COSTS = ["job", "where", "processors for a GB, table", "run", "one disk's for a GB, table", "run"]
BENCHMARKS = {
    "terasort": "terasort", "sort": "sort", "wordcount": "word-count", "kmeans": "k-means", "pagerank": "page-rank",
}  # fmt: skip
"""The table's benchmarks that Assay has, each with its workload. It has no Bayes classifier, and the rest is no job."""
SSD, LOCAL, DISKS = "SSDs for all", "local directories on an SSD", "more disks"
PLACEMENTS = {SSD: "ssd", LOCAL: "intermediate-on-ssd"}
BASE, ZERO = "hdd", "zero-delay"
CORES, MEMORY_GB = 12, 128
"""Of the node of which the experiment has a part."""
NODE_GB = {"terasort": 33, "sort": 32, "wordcount": 32}
"""What such a node reads: HiBench's own configuration, or inferred from its times."""
PART, PART_GB = 6, 0.3
"""The experiment has one of so many parts of a node, which reads so much."""
SPEEDS = (0.5, 1.0, 2.0)
"""How fast processors there may be, times those here: nobody knows how long they compute for a byte."""
SETTINGS = ("Maps", "IO.SFac", "Rep", "IO.FBuf", "Comp", "Blk.size", "Datanodes", "Bench.Type")
LEAST_PAIRS = 3
MOST_FACTOR = 1.25
"""The goal for the forecast's median factor."""
GAIN = 0.1
"""The share of time from which a saving counts as one."""


class Forecast(Frozen):
    """What a change is to do to a benchmark: seconds here on one disk, after the change, and without storage delay.

    `half` is half the width of the 95 % interval of the logarithm of their ratio. `old_ratio` is that under the older
    conditions. Both say which run they rest on.
    """

    benchmark: str
    change: str
    base_s: float
    other_s: float
    zero_s: float
    half: float
    rests_on: str
    old_ratio: float | None = None
    old_rests_on: str = ""

    def ratio(self, disks: int = 1, speed: float = 1.0) -> float:
        """The time after the change over that before, on processors of so many times the speed, or so many of them."""
        before, after = (max(0.0, seconds - self.zero_s) for seconds in (self.base_s, self.other_s))
        after = before / disks if self.change == DISKS else after
        return (self.zero_s / speed + after) / (self.zero_s / speed + before)

    def interval(self, disks: int = 1, speed: float = 1.0) -> tuple[float, float]:
        """From the least to the greatest ratio on processors of half to twice that speed, with their intervals."""
        ratios = [self.ratio(disks, speed * factor) for factor in SPEEDS]
        return min(ratios) * exp(-self.half), max(ratios) * exp(self.half)

    @property
    def without_delay(self) -> float:
        """The time without storage delay over that on the disk."""
        return min(1.0, self.zero_s / self.base_s)


class Observed(NamedTuple):
    """The medians of times in the table before and after a change, and of their ratio, over pairs of equal settings."""

    benchmark: str
    cluster: str
    net: str
    disk: str
    change: str
    disks: int
    speed: float
    before_s: float
    after_s: float
    ratio: float
    pairs: int


class Scored(Frozen):
    """A case of the table beside its forecast and what others say; None where they say nothing.

    `before_s` and `after_s` are the table's times, `base_s` and `other_s` those of the run that the forecast rests on.
    """

    benchmark: str
    cluster: str
    net: str
    disk: str
    pairs: int
    observed: float
    before_s: float
    after_s: float
    base_s: float
    other_s: float
    forecast: float
    low: float
    high: float
    without_delay: float
    old: float | None
    other_cluster: float | None

    @property
    def missed_gain(self) -> bool:
        """Whether no gain was to be expected where there was one."""
        return self.low > 1 - GAIN and self.observed < 1 - GAIN


def forecasts(run: RunFolder, old: RunFolder | None) -> list[Forecast]:
    """What a finished run of the experiment says. Raises SystemExit where a benchmark lacks trials, or an interval."""
    olds = {} if old is None else {workload: _ratio(of_workload, "ssd") for workload, of_workload in _decided(old)}
    known = dict(_decided(run))
    made = []
    for benchmark, workload in BENCHMARKS.items():
        if workload not in known or known[workload].baseline is None:
            sys.exit(f"aloja: {run.path} has no finished trials of {workload}, or none without delay")
        decision = known[workload]
        old_ratio = olds.get(workload)
        for change, placement in [*PLACEMENTS.items(), (DISKS, "ssd")]:
            if (forecast := _forecast(benchmark, change, placement, decision, run.path.name)) is None:
                continue
            of_old = {} if change != SSD or old is None or old_ratio is None else {
                "old_ratio": old_ratio, "old_rests_on": old.path.name,
            }  # fmt: skip
            made.append(forecast.model_copy(update=of_old))
    return made


def _decided(folder: RunFolder) -> Iterator[tuple[str, Decision]]:
    """The decision about each workload on MapReduce."""
    plan = folder.plan()
    for decision in decisions(plan, summaries_of(folder, plan)[0]):
        if decision.levels.get("engine", "mapreduce") == "mapreduce":
            yield decision.levels.get("workload", plan.trials[0].workload.name), decision


def _ratio(decision: Decision, placement: str) -> float | None:
    times = {compared.placement: compared.elapsed_s.value for compared in decision.placements}
    return times[placement] / times[BASE] if {placement, BASE} <= times.keys() else None


def _forecast(benchmark: str, change: str, placement: str, decision: Decision, run: str) -> Forecast | None:
    by_name = {compared.placement: compared for compared in decision.placements}
    base, other, baseline = by_name.get(BASE), by_name.get(placement), decision.baseline
    if base is None or other is None or baseline is None:
        return None
    saving = other.saving
    if saving is None or saving.low is None or saving.high is None or saving.high >= 1:
        sys.exit(f"aloja: the saving of {benchmark} on {placement} in {run} has no interval; repeat its trials")
    return Forecast(
        benchmark=benchmark, change=change, base_s=base.elapsed_s.value, other_s=other.elapsed_s.value,
        zero_s=baseline.elapsed_s.value, half=log((1 - saving.low) / (1 - saving.high)) / 2, rests_on=run,
    )  # fmt: skip


def observed(rows: Iterable[Mapping[str, str]]) -> list[Observed]:
    """The ratios of all changes from one disk of which the table has enough pairs of equal settings."""
    times: dict[tuple[str, ...], dict[str, dict[tuple[str, ...], list[float]]]] = {}
    for row in rows:
        memory = float(row["VM.RAM"])
        if row["Benchmark"] in BENCHMARKS and MEMORY_GB / 2 <= memory <= 2 * MEMORY_GB:
            where = (row["Benchmark"], row["Cl.Name"], row["Net"], row["VM.Cores"])
            equal = tuple(row.get(name, "") for name in SETTINGS)
            of_disk = times.setdefault(where, {}).setdefault(row["Disk"], {})
            of_disk.setdefault(equal, []).append(float(row["Exe.Time"]))
    cases = []
    for (benchmark, cluster, net, cores), by_disk in sorted(times.items()):
        before = next((by_disk[name] for name in ("HDD", "HD1") if name in by_disk), {})
        for disk, after in sorted(by_disk.items()):
            change, disks = change_of(disk)
            pairs = [(median(before[equal]), median(after[equal])) for equal in after if equal in before]
            if change and len(pairs) >= LEAST_PAIRS:
                cases.append(
                    Observed(
                        benchmark, cluster, net, disk, change, disks, speed=float(cores) / CORES,
                        before_s=median(before_s for before_s, _ in pairs),
                        after_s=median(after_s for _, after_s in pairs),
                        ratio=median(after_s / before_s for before_s, after_s in pairs), pairs=len(pairs),
                    )
                )  # fmt: skip
    return cases


def change_of(disk: str) -> tuple[str, int]:
    """Which change from one disk a disk of the table is, and its number of disks; an empty text where none is forecast.

    ALOJA's names: HDn are n disks, HSn n disks with local directories on an SSD, RRn and RLn remote volumes.
    """
    if disk == "SSD":
        return SSD, 1
    if disk == "HS1":
        return LOCAL, 1
    several = re.fullmatch(r"HD([2-9])", disk)
    return (DISKS, int(several[1])) if several else ("", 1)


def scored(cases: Sequence[Observed], by_change: Mapping[tuple[str, str], Forecast]) -> list[Scored]:
    """Each case of which there is a forecast."""
    return [
        Scored(
            benchmark=case.benchmark, cluster=case.cluster, net=case.net, disk=case.disk, pairs=case.pairs,
            observed=case.ratio, before_s=case.before_s, after_s=case.after_s, base_s=forecast.base_s,
            other_s=forecast.other_s, forecast=forecast.ratio(case.disks, case.speed), low=low, high=high,
            without_delay=forecast.without_delay, old=forecast.old_ratio, other_cluster=_elsewhere(case, cases),
        )
        for case in cases
        if (forecast := by_change.get((case.benchmark, case.change))) is not None
        for low, high in [forecast.interval(case.disks, case.speed)]
    ]  # fmt: skip


def _elsewhere(case: Observed, cases: Sequence[Observed]) -> float | None:
    """The median ratio of the benchmark and disk on all other clusters of the table."""
    same = [
        other.ratio
        for other in cases
        if (other.benchmark, other.disk) == (case.benchmark, case.disk) and other.cluster != case.cluster
    ]
    return median(same) if same else None


SOURCES: Mapping[str, Callable[[Scored], float | None]] = {
    "forecast": lambda case: case.forecast,
    "no difference": lambda _: 1.0,
    "the job on other clusters of the file": lambda case: case.other_cluster,
    "the time without delay": lambda case: case.without_delay,
    "the ratio under the old conditions": lambda case: case.old,
}


def source_rows(cases: Sequence[Scored]) -> list[list[str]]:
    """For each source by what factor it is off, and how often it says rightly whether a tenth of the time is saved.

    Between them stands the median factor of the forecast on the cases of which the source says something.
    """
    table = []
    for name, source in SOURCES.items():
        known = _known(source, cases)
        if not known:
            table.append([name, "0", "-", "-", "-", "-"])
            continue
        factors = sorted(_factor(ratio, case) for case, ratio in known)
        ninth = factors[ceil(0.9 * len(factors)) - 1]
        right = sum((ratio < 1 - GAIN) == (case.observed < 1 - GAIN) for case, ratio in known)
        numbers = [f"{factor:.2f}" for factor in (*_medians(known), ninth)]
        table.append([name, str(len(known)), *numbers, f"{right} of {len(known)}"])
    return table


def goal_met(cases: Sequence[Scored]) -> bool:
    """Whether the forecast's median factor is within the goal, and less than each baseline's on that one's cases."""
    (of_all, _), *others = (_medians(known) for source in SOURCES.values() if (known := _known(source, cases)))
    return of_all <= MOST_FACTOR and all(of_forecast < of_other for of_other, of_forecast in others)


def _known(source: Callable[[Scored], float | None], cases: Sequence[Scored]) -> list[tuple[Scored, float]]:
    """The cases of which a source says something, and what."""
    return [(case, ratio) for case in cases if (ratio := source(case)) is not None]


def _medians(known: Sequence[tuple[Scored, float]]) -> tuple[float, float]:
    """The median factor by which a source is off, and the forecast's on the same cases."""
    of_source = median(_factor(ratio, case) for case, ratio in known)
    return of_source, median(_factor(case.forecast, case) for case, _ in known)


def _factor(ratio: float, case: Scored) -> float:
    """By what factor a ratio is off, whichever way."""
    return exp(abs(log(ratio / case.observed)))


def ordered(cases: Sequence[Scored]) -> tuple[int, int]:
    """How many pairs of jobs with the same change are in the order of the table, of those that differ by a tenth."""
    right = of = 0
    for case, other in combinations(cases, 2):
        same = (case.cluster, case.net, case.disk) == (other.cluster, other.net, other.disk)
        if same and abs(log(case.observed / other.observed)) >= log(1 / (1 - GAIN)):
            of += 1
            right += (case.forecast < other.forecast) == (case.observed < other.observed)
    return right, of


def cost_rows(cases: Iterable[Scored]) -> list[list[str]]:
    """What a GB costs in processor capacity on SSDs, and one disk beside that, in the table and in the run.

    Of the jobs whose input is known; the run's disk at the speed that its profile has.
    """
    table = []
    for case in cases:
        if case.disk == "SSD" and case.benchmark in NODE_GB:
            gb = NODE_GB[case.benchmark]
            seconds = [
                CORES * case.after_s / gb, CORES / PART * case.other_s / PART_GB, (case.before_s - case.after_s) / gb,
                (case.base_s - case.other_s) / PART / PART_GB,
            ]  # fmt: skip
            table.append([case.benchmark, f"{case.cluster}, {case.net}", *(f"{value:.0f} s" for value in seconds)])
    return table


def chart(score: Path = SCORE) -> str:
    """Each case's ratio as a dot, and its forecast as a tick in its interval, as SVG."""
    cases = sorted(_kept(score), key=lambda case: (case.observed, case.benchmark))
    left, width, row, top = 190.0, 760.0, 24.0, 78.0
    bottom = top + row * len(cases)
    greatest = 0.5 * ceil(2 * max(1.0, *(max(case.high, case.observed) for case in cases)))

    def x(ratio: float) -> float:
        return left + ratio / greatest * (width - left - 20)

    parts = [
        text(0, 16, "Time after the change over the time on one disk", 'font-weight="600" font-size="14"'),
        text(0, 38, "dot: on the cluster; bar and tick: forecast with its interval; dashed: a tenth saved"),
    ]
    for tick in range(int(4 * greatest) + 1):
        parts.append(f'<path d="M{x(tick / 4)},{top - 12}V{bottom}" stroke="{FAINT}"/>')
        parts.append(text(x(tick / 4), bottom + 18, f"{tick / 4:g}", 'text-anchor="middle"'))
    parts.append(f'<path d="M{x(1 - GAIN)},{top - 12}V{bottom}" stroke="{INK}" stroke-dasharray="4 3"/>')
    for number, case in enumerate(cases):
        y = top + row * number
        parts += [
            text(0, y + 4, f"{case.benchmark}, {case.net}, {case.disk}"),
            rect(x(case.low), y - 4, x(case.high) - x(case.low), 8, BLUE, 0.35),
            rect(x(case.forecast) - 1.5, y - 8, 3, 16, BLUE),
            f'<circle cx="{x(case.observed)}" cy="{y}" r="5" fill="{VERMILION}"/>',
        ]
    return figure(bottom + 26, parts, "ratios of times, and their forecasts", "chart", width)


def headline(score: Path = SCORE, again: Path = SCORE_AGAIN) -> str:
    """The score in a sentence, and that of the second run in another."""
    cases, later = _kept(score), _kept(again)
    (_, _, factor, *_), (_, _, no_difference, *_) = source_rows(cases)[:2]
    return (
        f"A forecast of that table was off by a factor of {factor} in the median ({no_difference} if one guesses no "
        f"difference), and its intervals hold {_within(cases)}. The same experiment once more, when the ratios "
        f"were known: a factor of {source_rows(later)[0][2]}, and {_within(later)}."
    )


def _within(cases: Sequence[Scored]) -> str:
    covered = sum(case.low <= case.observed <= case.high for case in cases)
    return f"{covered} of {len(cases)} ratios ({percent(covered / len(cases))})"


def _kept(score: Path) -> list[Scored]:
    return [Scored.model_validate(case) for case in json.loads(score.read_text(encoding="utf-8"))["cases"]]


def block(score: Path = SCORE) -> str:
    """What the page says of the score that is kept, as Markdown."""
    if not score.exists():
        return "No result yet: the forecast was not scored."
    cases = _kept(score)
    rows = [
        [
            case.benchmark, f"{case.cluster}, {case.net}", case.disk, str(case.pairs), f"{case.observed:.2f}",
            f"{case.forecast:.2f}", f"{case.low:.2f} to {case.high:.2f}",
            "yes" if case.low <= case.observed <= case.high else "no",
        ]
        for case in sorted(cases, key=lambda case: -abs(log(case.forecast / case.observed)))
    ]  # fmt: skip
    right, of = ordered(cases)
    missed = sum(case.missed_gain for case in cases)
    nearer = [row[0] for row in source_rows(cases)[1:] if row[2] != "-" and row[2] < row[3]]
    goal = "is met" if goal_met(cases) else "is not met"
    beside = f", and nearer in the median than the forecast: {'; '.join(nearer)}" if nearer else ""
    summary = (
        f"The goal for the median factor {goal}{beside}. The intervals hold {_within(cases)}. Of {of} pairs of jobs "
        f"that differ by a tenth, {right} are in the right order. In {missed} cases no gain was to be expected where "
        "more than 10 % was saved."
    )
    columns = ["job", "where", "disk", "pairs", "ratio", "forecast", "interval", "within"]
    return "\n\n".join([
        grid(as_columns(_SOURCES, source_rows(cases))), summary, grid(as_columns(columns, rows)),
        grid(as_columns(_COSTS, cost_rows(cases))),
    ])  # fmt: skip


def again_block(score: Path = SCORE, again: Path = SCORE_AGAIN) -> str:
    """What the page says of both runs' forecasts side by side, as Markdown."""
    if not again.exists():
        return "No result yet: the experiment was not run again."
    by_change = {(case.benchmark, case.cluster, case.net, case.disk): case for case in _kept(again)}
    pairs = [
        (first, by_change[key]) for first in sorted(_kept(score), key=lambda case: case.observed)
        if (key := (first.benchmark, first.cluster, first.net, first.disk)) in by_change
    ]  # fmt: skip
    rows = [
        [
            first.benchmark, f"{first.cluster}, {first.net}", first.disk, f"{first.observed:.2f}",
            *(f"{case.forecast:.2f} ({case.low:.2f} to {case.high:.2f})" for case in (first, second)),
        ]
        for first, second in pairs
    ]  # fmt: skip
    (_, _, factor, *_), (_, _, factor_again, *_) = (source_rows(_kept(file))[0] for file in (score, again))
    columns = ["job", "where", "disk", "ratio", "first forecast", "second forecast"]
    summary = (
        f"The second forecast is off by a factor of {factor_again} in the median, the first by {factor}. Its intervals "
        f"hold {_within(_kept(again))}; those of the first, {_within(_kept(score))}."
    )
    return "\n\n".join([
        grid(as_columns(columns, rows)), summary, grid(as_columns(_SOURCES, source_rows(_kept(again)))),
        grid(as_columns(_COSTS, cost_rows(_kept(again)))),
    ])  # fmt: skip


def _committed(file: Path) -> str:
    """The commit of a file's newest version. Raises SystemExit where that is in none."""
    changed, last = (
        subprocess.run(
            ["git", "-C", str(file.parent), *words, "--", file.name], capture_output=True, encoding="utf-8", check=False
        ).stdout.strip()
        for words in (["status", "--porcelain"], ["log", "-1", "--format=%h"])
    )
    if changed or not last:
        sys.exit(f"aloja: {file} is not committed; a forecast counts only if it was before the table was read")
    return last


def main() -> None:
    """Write the forecasts, or the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    forecasting = commands.add_parser("forecast", help="write the forecasts of a finished run")
    forecasting.add_argument("run", type=Path, metavar="RUN")
    forecasting.add_argument("--old", type=Path, metavar="RUN", help="an older run with like workloads")
    forecasting.add_argument("--again", action="store_true", help="of a second run; the first run's forecasts stay")
    scoring = commands.add_parser("score", help="score the forecasts on a table")
    scoring.add_argument("file", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    if arguments.command == "forecast":
        old = None if arguments.old is None else RunFolder(arguments.old)
        made = [forecast.model_dump() for forecast in forecasts(RunFolder(arguments.run), old)]
        file = FORECASTS_AGAIN if arguments.again else FORECASTS
        file.write_text(json_text({"forecasts": made}, indent=1) + "\n", encoding="utf-8")
        return
    for forecast, score in ((FORECASTS, SCORE), (FORECASTS_AGAIN, SCORE_AGAIN)):
        if forecast.exists():
            write_score(arguments.file, forecast, score)
            print(f"# {forecast.stem}\n\n{block(score)}\n")  # noqa: T201


def write_score(table: Path, forecast: Path, score: Path) -> None:
    """Score one run's forecasts on a table. Raises SystemExit where these are not committed, or no case is in it."""
    kept = json.loads(forecast.read_text(encoding="utf-8"))["forecasts"]
    by_change = {(made["benchmark"], made["change"]): Forecast.model_validate(made) for made in kept}
    commit = _committed(forecast)
    with table.open(encoding="utf-8", newline="") as file:
        cases = scored(observed(csv.DictReader(file)), by_change)
    if not cases:
        sys.exit(f"aloja: {table} has no change of which there is a forecast, with {LEAST_PAIRS} pairs or more")
    result = {"forecast": commit, "cases": [case.model_dump() for case in cases]}
    score.write_text(json_text(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
