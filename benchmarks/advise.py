"""How good advice's savings are: `PYTHONPATH=src:extras:. python benchmarks/advise.py RUN... --json FILE`.

RUN are runs, or archives of `docs/results`, with a placement of all data on one kind of disk and others with all data,
or local directories alone, on an SSD. Of each job on the disk the history is made of the task attempts that the record
keeps, or where it keeps none of the job's counters, all in one stage. From it, the disk and the SSD that is to come,
and the memory that its node left to files, advice says what the SSD saves: as to an operator who has measured nothing.
That is compared with what was saved: the mean time on the disk less that on the SSD, over the repetitions.
`experiments/advise-three-nodes.yaml` has jobs of three nodes.

Rules, fixed before the first case was worked out:

- A case is a job with all levels of its run but the placement, and a placement on an SSD. None is left out but jobs of
  engines of which neither tells anything; where advice says *not known*, it counts as a forecast of nothing saved.
- Goal: of ten jobs or more of three nodes a rank correlation (Spearman) of 0.8 between what is likely and what was
  saved, in seconds, and their sums within 25 %. Fewer jobs are no test: then this is open, and one node tells what it
  can.
- On one node cases of runs to which intervals of *likely* were fitted are apart from the others, which decide.
- All data and local directories alone are apart, too: those are two questions about one job.
- Beside it stand, of the same cases: triage's bound as the forecast; the rule that only jobs with more than 500 GB of
  shuffled and spilled bytes gain; and all jobs alike, each by the share that is likely of all together. The same with
  how long drives were busy shows what measuring them would tell.
- In the interval is a case whose mean saving is.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from math import isnan, nan
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from benchmarks.known_busy_times import busy_s
from benchmarks.likely import limited_drives, past_job
from benchmarks.triage_histories import jobs_of, settings_of
from benchmarks.triage_truth import drives_of_trial, job_names, job_of, unpacked_run
from scipy.stats import spearmanr

from assay.advise.alternatives import INTERMEDIATE, on_ssd
from assay.advise.saving import likely_after
from assay.cli.context import find_installation
from assay.engine.past.job import PastJob
from assay.media.emulated.profile import find_profile
from assay.model.record import JobRecord, Record
from assay.model.task import TaskAttempt
from assay.plan.job_experiment import ROLES
from assay.record.folder import RunFolder
from assay.report.columns import as_columns, grid, layout_table
from assay.stats.drive_use import BUSY_TIME
from assay.triage.bounds import Busy
from assay.triage.drives import Drives
from assay.triage.likely import Likely
from assay.triage.ranking import DriveSite, bounded_runs

FITTED = frozenset({
    "before-you-buy", "engines", "engines-terasort", "quickstart", "quickstart-by-memory-first", "quickstart-half-cpu",
    "spark-memory", "spark-second-disk",
})  # fmt: skip
"""The runs whose cases the intervals of *likely* hold nine tenths of."""
LEAST_JOBS, GOAL_RANK, GOAL_SUM = 10, 0.8, 0.25
OVER_BYTES = 500e9
SLOW_DISK = "slow-disk"
FILE = Path(__file__).with_name("advise.json")
CASE_COLUMNS = ("job", "run", "took", "saved", "likely", "interval", "at most")
COLUMNS = ("forecast", "cases", "rank correlation", "sum of forecasts", "sum saved", "in the interval")


class Forecast(NamedTuple):
    """What advice says of a job, in seconds; of a `guess` they are good for an order alone, None where not known."""

    seconds: float | None
    low_s: float
    high_s: float
    most_s: float
    guess: bool


class Case(NamedTuple):
    """A job on a disk, and what another placement saved of it, in seconds."""

    run: str
    job: str
    placement: str
    nodes: int
    roles: Sequence[str]
    elapsed_s: float
    saved_s: float
    shuffled_bytes: float
    forecast: Forecast
    with_busy: Forecast | None

    @property
    def group(self) -> str:
        """Which table it is in."""
        nodes = f"{self.nodes} nodes" if self.nodes > 1 else "one node"
        roles = "all data" if len(self.roles) == len(ROLES) else "local directories"
        return f"{nodes}, {roles}{', intervals fitted to them' if self.run in FITTED else ''}"


class Measured(NamedTuple):
    """A job of a trial: its time, what a history tells, its drives, and how its node was."""

    elapsed_s: float
    job: PastJob
    drives: Mapping[str, Drives]
    cache_bytes: float | None
    busy: Busy | None
    nodes: int

    def forecast(self, roles: Sequence[str], ssd: Drives, *, with_busy: bool = False) -> Forecast:
        """What advice says of data of some roles on an SSD."""
        busy = self.busy if with_busy else None
        site = DriveSite(self.drives, busy=(lambda _: busy) if busy else None, cache_bytes=self.cache_bytes)
        (run,) = bounded_runs([self.job], site)
        changed = on_ssd(roles, ssd, run, site)
        likely = likely_after(run, site, changed)
        if isinstance(likely, Likely):
            return Forecast(likely.seconds, likely.low_s, likely.high_s, changed.most_s, bool(likely.unlike))
        return Forecast(None, 0.0, changed.most_s, changed.most_s, guess=True)


def measured(record: Record, job: JobRecord, attempts: Sequence[TaskAttempt], profiles: Path) -> Measured | None:
    """A job of a trial; None where neither its attempts nor its counters tell of it."""
    nodes = record.trial.cluster.nodes
    past = job_of(job, attempts, settings_of(record)) if attempts else past_job(job, nodes)
    if past is None or not past.counts:
        return None
    drives = {} if record.trial.zero_delay else drives_of_trial(record.trial, profiles) or limited_drives(record.trial)
    cache_bytes = record.trial.cluster.page_cache_bytes
    return Measured(job.elapsed_s, past, drives, cache_bytes, _busy(record, past), nodes)


def _busy(record: Record, past: PastJob) -> Busy | None:
    """How long drives worked, spread evenly over the tasks of the trial's jobs; None where that is not measured."""
    of_kernel = [total.value for total in record.amounts if (total.probe, total.part, total.series) == BUSY_TIME]
    worked_s = max([*busy_s(record), *of_kernel], default=0.0)
    all_s = sum(job.elapsed_s for job in record.jobs)
    if not worked_s or not all_s:
        return None
    share = worked_s / all_s * past.elapsed_s / past.tasks_s if past.tasks_s else 0.0
    usual_s = {stage.name: share * stage.elapsed_ms / 1000 for stage in past.stages}
    return Busy({}, 0.0, usual_s=usual_s)


def cases(path: Path, profiles: Path) -> Iterator[Case]:
    """The cases of a run."""
    jobs: dict[tuple[str, ...], dict[str, list[Measured]]] = {}
    for record, job, attempts in jobs_of(RunFolder(path)):
        factors = {name: level for name, level in record.trial.factors.items() if name != "placement"}
        key = (*(str(level) for level in factors.values()), job.name)
        trial = measured(record, job, attempts, profiles)
        if trial is not None:
            jobs.setdefault(key, {}).setdefault(record.trial.placement.name, []).append(trial)
    names = job_names(jobs)
    for key, placements in jobs.items():
        on_disk = next((of for of in placements.values() if is_disk(of[0].drives, profiles)), None)
        for placement, trials in placements.items() if on_disk else ():
            if on_disk and (roles := changed_roles(on_disk[0].drives, trials[0].drives)):
                yield _case(path.name, names[key], placement, roles, on_disk, trials)


def is_disk(drives: Mapping[str, Drives], profiles: Path) -> bool:
    """Whether all data are on one hard disk, or on the slow device."""
    if len(set(drives.values())) != 1:
        return False
    (disk,) = set(drives.values())
    return find_profile(disk.profile, profiles).kind == "hdd" if disk.profile else disk.name == SLOW_DISK


def changed_roles(disk: Mapping[str, Drives], other: Mapping[str, Drives]) -> Sequence[str]:
    """All roles, or local directories alone, where these are on a faster drive; else none."""
    roles = [role for role in ROLES if other and other[role] != disk[role]]
    faster = all(other[role].read_rate > disk[role].read_rate for role in roles)
    return roles if faster and roles in ([*ROLES], [INTERMEDIATE]) else ()


def _case(
    run: str, job: str, placement: str, roles: Sequence[str], on_disk: Sequence[Measured], trials: Sequence[Measured]
) -> Case:
    ssd = trials[0].drives[INTERMEDIATE]
    elapsed_s = fmean(trial.elapsed_s for trial in on_disk)
    with_busy = None
    if all(trial.busy for trial in on_disk):
        with_busy = _mean([trial.forecast(roles, ssd, with_busy=True) for trial in on_disk])
    moved = fmean(trial.job.whole.fetched + trial.job.whole.local_written for trial in on_disk)
    return Case(
        run, job, placement, on_disk[0].nodes, roles, elapsed_s, elapsed_s - fmean(trial.elapsed_s for trial in trials),
        moved, _mean([trial.forecast(roles, ssd) for trial in on_disk]), with_busy,
    )  # fmt: skip


def _mean(forecasts: Sequence[Forecast]) -> Forecast:
    known = [of.seconds for of in forecasts if of.seconds is not None]
    return Forecast(
        fmean(known) if len(known) == len(forecasts) else None, fmean(of.low_s for of in forecasts),
        fmean(of.high_s for of in forecasts), fmean(of.most_s for of in forecasts),
        any(of.guess for of in forecasts),
    )  # fmt: skip


def _likely_s(case: Case) -> float:
    return case.forecast.seconds or 0.0


def _busy_likely_s(case: Case) -> float:
    return (case.with_busy.seconds or 0.0) if case.with_busy else 0.0


def forecasts(some: Sequence[Case]) -> Mapping[str, Callable[[Case], float]]:
    """What each rule foretells of a case, in seconds."""
    alike = sum(map(_likely_s, some)) / sum(case.elapsed_s for case in some)
    rules: dict[str, Callable[[Case], float]] = {
        "advice": _likely_s,
        "at most": lambda case: case.forecast.most_s,
        "over 500 GB": lambda case: alike * case.elapsed_s if case.shuffled_bytes > OVER_BYTES else 0.0,
        "all jobs alike": lambda case: alike * case.elapsed_s,
    }
    return rules | ({"advice, with busy drives": _busy_likely_s} if all(case.with_busy for case in some) else {})


def rank_correlation(foretold: Sequence[float], saved: Sequence[float]) -> float:
    """Spearman's; not a number where either is the same for all."""
    if len(set(foretold)) < 2 or len(set(saved)) < 2:
        return nan
    return float(spearmanr(foretold, saved).statistic)


def rows(some: Sequence[Case]) -> list[list[str]]:
    """How well each rule foretells some cases."""
    saved = [case.saved_s for case in some]
    table = []
    for name, rule in forecasts(some).items():
        foretold = [rule(case) for case in some]
        rank = rank_correlation(foretold, saved)
        inside = ""
        if name.startswith("advice"):
            of_rule = [case.forecast if name == "advice" else case.with_busy for case in some]
            inside = f"{sum(map(_holds, of_rule, saved))} of {len(some)}"
        sums = (f"{sum(foretold):.0f} s", f"{sum(saved):.0f} s")
        table.append([name, str(len(some)), "-" if isnan(rank) else f"{rank:.2f}", *sums, inside])
    return table


def _holds(forecast: Forecast | None, saved_s: float) -> bool:
    return forecast is not None and forecast.low_s <= saved_s <= forecast.high_s


def goal_text(group: str, some: Sequence[Case]) -> str:
    """Whether the goal is met by some cases, and how many of them were not known, or guesses."""
    foretold, saved = list(map(_likely_s, some)), [case.saved_s for case in some]
    rank, jobs = rank_correlation(foretold, saved), len({(case.run, case.job) for case in some})
    off = sum(foretold) / sum(saved) - 1 if sum(saved) else nan
    met = rank >= GOAL_RANK and abs(off) <= GOAL_SUM
    unknown = sum(case.forecast.seconds is None for case in some)
    guesses = sum(case.forecast.guess for case in some) - unknown
    said = f"rank correlation {rank:.2f} (goal: {GOAL_RANK}), sum {off:+.0%} (goal: within {GOAL_SUM:.0%})"
    test = f"the goal is {'met' if met else 'not met'}"
    if some[0].nodes == 1:
        test = f"the goal, which is for three nodes, would {'be met' if met else 'not be met'}"
    if jobs < LEAST_JOBS:
        test = "too few jobs for a test"
    return (
        f"{group[:1].upper()}{group[1:]}, {len(some)} cases of {jobs} jobs: {said}: {test}. "
        f"Good for an order alone (?): {guesses}; not known: {unknown}."
    )


def case_rows(some: Iterable[Case]) -> list[list[str]]:
    """Each case."""
    table = []
    for case in some:
        of = case.forecast
        likely = "not known" if of.seconds is None else f"{of.seconds:.1f} s{'?' if of.guess else ''}"
        table.append([
            f"{case.job}, {case.placement}", case.run, f"{case.elapsed_s:.1f} s", f"{case.saved_s:.1f} s", likely,
            f"{of.low_s:.1f} to {of.high_s:.1f} s", f"{of.most_s:.1f} s",
        ])  # fmt: skip
    return table


def groups(all_cases: Sequence[Case]) -> Mapping[str, list[Case]]:
    """Cases by what they are a test of."""
    by_group: dict[str, list[Case]] = {}
    for case in sorted(all_cases, key=lambda case: (-case.nodes, case.run in FITTED, len(case.roles))):
        by_group.setdefault(case.group, []).append(case)
    return by_group


def markdown(all_cases: Sequence[Case]) -> str:
    """For each group whether the goal is met, and how well each rule foretells it."""
    parts = [
        f"{goal_text(group, some)}\n\n{grid(as_columns(COLUMNS, rows(some)))}"
        for group, some in groups(all_cases).items()
    ]
    return "\n\n".join(parts)


def read_cases(file: Path) -> list[Case]:
    """The cases that `--json` kept."""
    kept: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return [
        Case(**{
            **case, "forecast": Forecast(*case["forecast"]),
            "with_busy": Forecast(*case["with_busy"]) if case["with_busy"] else None,
        })
        for case in kept
    ]  # fmt: skip


def main() -> None:
    """Print all cases, and how well each rule foretells them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the cases there")
    wishes = parser.parse_args()
    profiles = find_installation().profiles
    with ExitStack() as stack:
        all_cases = [case for run in wishes.runs for case in cases(unpacked_run(run, stack), profiles)]
    if wishes.json:
        wishes.json.write_text(json.dumps([case._asdict() for case in all_cases], indent=1) + "\n", encoding="utf-8")
    for group, some in groups(all_cases).items():
        for heads, table in ((CASE_COLUMNS, case_rows(some)), (COLUMNS, rows(some))):
            sys.stdout.write("\n".join([*layout_table(as_columns(heads, table), 160), "", ""]))
        sys.stdout.write(f"{goal_text(group, some)}\n\n")


if __name__ == "__main__":
    main()
