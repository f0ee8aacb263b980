"""Whether the bounds of `assay triage` hold: `PYTHONPATH=src:extras:. python benchmarks/triage_truth.py RUN...`.

RUN are runs with one workload on several emulated drives, best without storage delay too. Of each job on each drive
the bound is worked out from its history alone (written from the task attempts that a record keeps), and compared with
what the job saved on each drive that is faster in every role: means over the repetitions, with their 95 % interval
where there are several; single trials have none, and count as they are. A bound is wrong where the whole interval is
above it. A verdict "cannot matter" is wrong where the whole interval is above the threshold. Of Spark applications it
also tells how often rules of others are right. What they say is shown right, or wrong, only where the whole interval is
above a threshold of 10 %, or below it. Rules that always say yes, or no, are beside them: being right as often as these
is no merit. `--json FILE` keeps the cases, beside those of other runs that are there.

Triage itself is asked, too, with all repetitions as runs of a recurring job: by their histories alone, and with how
busy the drives were. Of jobs on hard disks a table has what it says beside what simpler rules say. RUN may be an
archive of `docs/results`.
"""

import argparse
import json
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from io import BytesIO
from itertools import pairwise, zip_longest
from math import ceil, inf
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from benchmarks.triage_histories import events_of, jobs_of, settings_of, tez_history_of
from scipy.stats import ttest_ind

from assay.cli.context import find_installation
from assay.engine.past.job import PastJob
from assay.engine.past.made_histories import history
from assay.engine.past.mapreduce import read_job
from assay.engine.past.spark import ApplicationReading, PastApplication
from assay.engine.past.tez import read_tez_history
from assay.engine.spark_log import RDDS, Application
from assay.engine.spark_tasks import SparkAttempt
from assay.engine.tasks import MapReduceAttempt
from assay.engine.tez_tasks import TezAttempt
from assay.media.emulated.profile import find_profile
from assay.model.errors import BadInputError
from assay.model.fact import whole_number
from assay.model.record import JobRecord, Record
from assay.model.task import TaskAttempt
from assay.model.trial import DEFAULT_WORTH, Trial
from assay.plan.job_experiment import ROLES
from assay.record.folder import RunFolder
from assay.report.columns import Column, layout_table
from assay.triage.bounds import Busy, bound_of
from assay.triage.busy import PLAUSIBLE_SHARE
from assay.triage.drives import Drives, drives_of
from assay.triage.ranking import DriveSite, TriageVerdict, judge

THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.5)
VERDICT_COLUMNS = (
    "threshold", "excluded by rule 1", "of them wrong", "excluded by rule 2", "of them wrong", "too short to judge",
)  # fmt: skip

RULE_COLUMNS = (
    "rule", "says yes", "shown right", "shown wrong", "says no", "shown right", "shown wrong", "says neither",
)  # fmt: skip
ARCHIVE = ".tar.xz"
"""How the name of a kept run ends."""
ALWAYS = {"always yes": True, "always no": False}
"""Rules that do not look at the application."""

LARGEST = 10
"""So many jobs an operator might pick by a single counter."""
SAYS = {str(TriageVerdict.MAY_MATTER): True, str(TriageVerdict.CANNOT_MATTER): False}

SAVED = (-10.0, 0.05, 0.1, 0.2, 0.4, 10.0)
"""Ends of the bands of what was saved."""
SAVED_COLUMNS = ("saved", "cases", "lowest bound", "median bound", "highest bound")


class Case(NamedTuple):
    """A job on a drive, against the same job on a faster one: shares of its time."""

    run: str
    job: str
    drive: str
    other: str
    elapsed_s: float
    bound: float
    saved: float
    saved_low: float
    by_time: float
    by_bytes: float
    polls: float
    """What waits between heartbeats and polls may come to."""
    rules: Mapping[str, bool] = {}
    """What rules of others say, by their names: whether faster drives are asked for."""
    saved_high: float = inf
    """Infinite in cases that were kept before it was worked out."""
    verdict: str = ""
    """What `assay triage` says at the usual threshold by the histories of all repetitions, with all that contradicts a
    bound; empty in cases that were kept before it was asked."""
    busy_verdict: str = ""
    """The same if it also knows how busy the drives were, and how many hardware threads the node has."""
    shuffled_bytes: float = 0.0
    """Bytes that the job's reducers, or its tasks, fetched."""
    on_disk: bool | None = None
    """Whether any role's drive is a hard disk; None in cases that were kept before it was noted."""

    @property
    def holds(self) -> bool:
        """It is not shown that the drive saved more than the bound."""
        return self.saved_low <= self.bound

    @property
    def could_fail(self) -> bool:
        """It is shown that the drive saved anything. Where it is not, a bound of 0 would hold, too."""
        return self.saved_low > 0

    @property
    def holds_with_polls(self) -> bool:
        """It is not shown that the drive saved more than the bound and the waits between polls together."""
        return self.saved_low <= self.bound + self.polls

    def is_worth(self, threshold: float) -> bool | None:
        """Whether faster drives are shown to save as much, or less; None where the interval has the threshold in it."""
        return True if self.saved_low >= threshold else False if self.saved_high < threshold else None


class Measured(NamedTuple):
    """One job of one trial: its time, and its bound if its drives are known."""

    elapsed_s: float
    drives: Mapping[str, Drives]
    bound_s: float | None
    time_s: float
    bytes_s: float
    polls_s: float
    rules: Mapping[str, bool]
    past: "PastRun | None" = None


class PastRun(NamedTuple):
    """A run of a job as triage would know it: by its history, what its drives did, and a node's hardware threads."""

    job: PastJob
    busy: Busy
    cores: int | None


def application_of(job: JobRecord, attempts: Iterable[SparkAttempt], settings: Mapping[str, str]) -> PastApplication:
    """What triage would read in the event log of a job that a record keeps, with its settings."""
    seen, reading = Application(), ApplicationReading("")
    seen.id, seen.name, seen.submitted_ms, seen.master_ms = job.id, job.name, job.submitted_ms, job.started_ms
    seen.finished_ms = job.finished_ms
    seen.settings = {name.removeprefix("spark.hadoop."): value for name, value in settings.items()}
    seen.persisted.with_drives = set(range(job.counters.get(RDDS, {}).get("persisted_on_disk", 0)))
    seen.executors_added_ms = {"": job.started_ms}
    for attempt in attempts:
        reading.add(attempt)
    return reading.application(seen)


def job_of(record: JobRecord, attempts: Sequence[TaskAttempt], settings: Mapping[str, str]) -> PastJob | None:
    """What triage reads of a job's history file, or of an application's event log; None of other engines' jobs."""
    of_spark = [attempt for attempt in attempts if isinstance(attempt, SparkAttempt)]
    if of_spark:
        return application_of(record, of_spark, settings)
    of_tez = [attempt for attempt in attempts if isinstance(attempt, TezAttempt)]
    if of_tez:
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            log.write_bytes(tez_history_of(record, of_tez, settings))
            return read_tez_history(log)[0]
    if not all(isinstance(attempt, MapReduceAttempt) for attempt in attempts):
        return None
    return read_job(BytesIO(history(events_of(record, attempts))), settings)


def drives_of_trial(trial: Trial, profiles: Path) -> dict[str, Drives]:
    """The drives that each role has, at their lowest rates; none where one is not emulated, or has no delays."""
    media = {medium.name: medium for medium in trial.media}
    placement = trial.placement.model_dump()
    by_role = {}
    for role in ROLES:
        (name, *others) = placement[role]
        medium = media[name].model_dump()
        if others or medium.get("profile") in {None, "null"}:
            return {}
        drives = drives_of(find_profile(medium["profile"], profiles), 1, medium["profile"])
        slower = medium.get("slowdown") or 1
        by_role[role] = drives._replace(
            read_rate=drives.read_rate / slower, write_rate=drives.write_rate / slower,
            read_access_s=drives.read_access_s * slower, write_access_s=drives.write_access_s * slower,
        )  # fmt: skip
    return by_role


def measured(record: Record, job: JobRecord, past: PastJob, profiles: Path) -> Measured:
    """A job of a trial, of which `past` is what triage reads."""
    drives = {} if record.trial.zero_delay else drives_of_trial(record.trial, profiles)
    bound = bound_of(past, drives) if drives else None
    return Measured(
        job.elapsed_s, drives, bound and bound.seconds,
        sum(stage.time_s or 0.0 for stage in bound.stages) if bound else 0.0,
        sum(stage.bytes_s for stage in bound.stages) if bound else 0.0, past.polls_s,
        {rule.rule: rule.asks for rule in past.other_rules}, PastRun(past, busy_of(record, past), threads_of(record)),
    )  # fmt: skip


def threads_of(record: Record) -> int | None:
    """The hardware threads that each node of a trial had; None where the record does not say so."""
    threads, limit = whole_number(record.facts.get("cores")), getattr(record.trial.cluster, "limit_cpus", None)
    return threads if threads is None or limit is None else min(threads, ceil(limit))


def busy_of(record: Record, past: PastJob) -> Busy:
    """How long the drives worked while a trial's jobs ran, all of which counts for each stage of each of its jobs.

    That is more than triage would take from a site's measurements, which tell when it was. Only they used the drives.
    """
    drives = [drive.reports["run"] for drive in record.devices if "run" in drive.reports]
    busiest_s = max((drive.busy_seconds or 0.0 for drive in drives), default=0.0)
    read = sum(drive.reads.bytes for drive in drives if drive.reads)
    on_drives = read + sum(drive.writes.bytes for drive in drives if drive.writes)
    work = past.whole
    counted = work.store_read + work.local_read + work.fetched + work.store_written + work.local_written
    stages = dict.fromkeys((stage.name for stage in past.stages), busiest_s)
    confirmed = counted >= PLAUSIBLE_SHARE * on_drives > 0 and on_drives >= PLAUSIBLE_SHARE * counted
    return Busy(stages, read, confirmed=confirmed) if drives else Busy({}, 0.0, confirmed=False)


def verdict_of(trials: Sequence[Measured], *, with_busy: bool) -> str:
    """What `assay triage` says at the usual threshold of a job that ran in these trials; empty where they have none.

    `with_busy` is whether it knows how busy the drives were, and the nodes' hardware threads.
    """
    runs = [trial.past for trial in trials if trial.past]
    jobs = [run.job._replace(id=f"{run.job.id}-{number}") for number, run in enumerate(runs)]
    if not jobs:
        return ""
    busy = {job.id: run.busy for job, run in zip(jobs, runs, strict=True)}
    site = (
        DriveSite(trials[0].drives, runs[0].cores, lambda job: busy[job.id]) if with_busy
        else DriveSite(trials[0].drives)
    )  # fmt: skip
    (row,) = judge(jobs, site, DEFAULT_WORTH)
    return str(row.verdict)


def is_faster(drives: Mapping[str, Drives], other: Mapping[str, Drives]) -> bool:
    """Whether the other drives are as fast in every role and faster in one; those without delays have no rates."""
    if not other:
        return True
    rates = [(drives[role].read_rate, other[role].read_rate) for role in ROLES]
    return all(theirs >= rate for rate, theirs in rates) and any(theirs > rate for rate, theirs in rates)


def saving_interval(trials: Sequence[Measured], faster: Sequence[Measured]) -> tuple[float, float]:
    """The 95 % interval of what was saved (Welch), as shares; twice the share itself of single trials."""
    elapsed_s, others_s = ([trial.elapsed_s for trial in both] for both in (trials, faster))
    low_s = high_s = fmean(elapsed_s) - fmean(others_s)
    if len(elapsed_s) > 1 and len(others_s) > 1:
        low_s, high_s = ttest_ind(elapsed_s, others_s, equal_var=False).confidence_interval(0.95)
    return float(low_s / fmean(elapsed_s)), float(high_s / fmean(elapsed_s))


def job_names(keys: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """For each job its workload and its own name, and in brackets the levels in which it differs from its namesakes."""
    alike: dict[tuple[str, str], list[tuple[str, ...]]] = {}
    for key in keys:
        alike.setdefault((key[0], key[-1]), []).append(key)
    names = {}
    for (workload, job), group in alike.items():
        differing = [place for place, levels in enumerate(zip_longest(*group)) if len(set(levels)) > 1]
        for key in group:
            levels_text = ", ".join(_short(key[place]) for place in differing if place < len(key) - 1)
            names[key] = f"{workload} {job} ({levels_text})" if levels_text else f"{workload} {job}"
    return names


def _short(level: str) -> str:
    """A level in which words are no longer than a table can show."""
    return " ".join(word[:24].rstrip("|") for word in level.split())


def measured_jobs(path: Path, profiles: Path) -> dict[tuple[str, ...], dict[str, list[Measured]]]:
    """By all that trials differ in but their drives, and the job: by placement, the trials.

    Without the jobs of engines whose histories triage does not read. Raises BadInputError for a job without tasks.
    """
    jobs: dict[tuple[str, ...], dict[str, list[Measured]]] = {}
    for record, job, attempts in jobs_of(RunFolder(path)):
        if not attempts:
            raise BadInputError(
                f"{path}: trial {record.trial.id} has no task attempts of {job.name}, so no bound can be worked out; "
                "name a run folder whose trials have their tasks.parquet, as docs/make_results.py keep packs it"
            )
        past = job_of(job, attempts, settings_of(record))
        if past is None:
            continue
        factors = {name: level for name, level in record.trial.factors.items() if name != "placement"}
        key = (*(str(level) for level in factors.values()), job.name)
        by_drive = jobs.setdefault(key, {})
        by_drive.setdefault(record.trial.placement.name, []).append(measured(record, job, past, profiles))
    return jobs


def cases_of(path: Path, profiles: Path) -> Iterator[Case]:
    """Each job on each drive against all drives that are faster."""
    jobs = measured_jobs(path, profiles)
    names = job_names(jobs)
    for key, by_drive in jobs.items():
        for drive, trials in by_drive.items():
            if trials[0].bound_s is None:
                continue
            said = [verdict_of(trials, with_busy=with_busy) for with_busy in (False, True)]
            shuffled = fmean(trial.past.job.whole.fetched if trial.past else 0 for trial in trials)
            on_disk = any(find_profile(of.profile, profiles).kind == "hdd" for of in trials[0].drives.values())
            elapsed_s = fmean(trial.elapsed_s for trial in trials)
            bound, by_time, by_bytes, polls = (
                fmean(amounts) / elapsed_s
                for amounts in zip(
                    *((trial.bound_s or 0.0, trial.time_s, trial.bytes_s, trial.polls_s) for trial in trials),
                    strict=True,
                )
            )
            for other, faster in by_drive.items():
                if other != drive and is_faster(trials[0].drives, faster[0].drives):
                    saved = 1 - fmean(trial.elapsed_s for trial in faster) / elapsed_s
                    low, high = saving_interval(trials, faster)
                    rules = {rule: any(trial.rules[rule] for trial in trials) for rule in trials[0].rules}
                    amounts = (elapsed_s, bound, saved, low, by_time, by_bytes, polls, rules, high)
                    yield Case(path.name, names[key], drive, other, *amounts, *said, shuffled, on_disk)


def excluded(cases: Sequence[Case], worth: float, *, polls: bool = True) -> list[Case]:
    """The cases that can't matter by the rules; without `polls` by those that did not know of waits between polls."""
    return [case for case in cases if case.bound + (case.polls if polls else 0.0) < worth]


def wrong(cases: Sequence[Case], worth: float) -> int:
    """How many of them are shown to have saved more than the threshold."""
    return sum(case.saved_low >= worth for case in cases)


def outcome(cases: Sequence[Case]) -> str:
    """How many cases could fail, how many of these hold, and how loose the bound is, in sentences."""
    shown = [case for case in cases if case.could_fail]
    holding, with_polls = sum(case.holds for case in shown), sum(case.holds_with_polls for case in shown)
    above = sum(case.saved > case.bound for case in cases)
    ratios = [case.bound / case.saved for case in cases if case.saved >= DEFAULT_WORTH]
    loose = f"is {median(ratios):.1f} times as much (median)" if ratios else "tells nothing: there is no such case"
    return (
        f"A saving is shown in {len(shown)} of {len(cases)} cases. The bound holds in {holding} of the {len(shown)}, "
        f"and in {with_polls} with the waits between polls, as the verdicts count it. The other "
        f"{len(cases) - len(shown)} cases could not fail. In {above} cases the mean is above the bound alone. Where at "
        f"least {DEFAULT_WORTH:.0%} was saved, the bound {loose}."
    )


def verdict_rows(cases: Sequence[Case]) -> list[list[str]]:
    """For each threshold: the cases that can't matter and the wrong ones of them by either rule, and the too short."""
    rows = []
    for worth in THRESHOLDS:
        without, judged = excluded(cases, worth, polls=False), excluded(cases, worth)
        counts = (len(without), wrong(without, worth), len(judged), wrong(judged, worth), len(without) - len(judged))
        rows.append([f"{worth:.0%}", *map(str, counts)])
    return rows


def rule_rows(cases: Sequence[Case], worth: float = DEFAULT_WORTH) -> list[list[str]]:
    """How often each rule says that faster drives are worth it, or not, and how often that is shown right, or wrong.

    Rules are those that always say the same, triage and those of others. Of the cases of which any rule of others says
    something; none without one.
    """
    said: dict[str, list[tuple[bool | None, bool | None]]] = {}
    for case in cases:
        verdict = True if case.bound >= worth else False if case.bound + case.polls < worth else None
        rules = {**ALWAYS, "triage": verdict, **case.rules} if case.rules else {}
        for name, says in rules.items():
            said.setdefault(name, []).append((says, case.is_worth(worth)))
    return [_tally(name, verdicts) for name, verdicts in said.items()]


def _tally(name: str, verdicts: Sequence[tuple[bool | None, bool | None]]) -> list[str]:
    """A row of what a rule says, each with what is shown: how often, and how often rightly, and wrongly."""
    counts = Counter(verdicts)
    tallies = [
        count for says in (True, False)
        for count in (sum(word is says for word, _ in verdicts), counts[says, says], counts[says, not says])
    ]  # fmt: skip
    return [name, *map(str, tallies), str(sum(word is None for word, _ in verdicts))]


def judged_on_disks(cases: Sequence[Case]) -> list[Case]:
    """Of each job on a hard disk of which triage itself was asked, the case against the drive that saved most."""
    by_job: dict[tuple[str, str, str], Case] = {}
    for case in cases:
        if case.verdict and case.on_disk:
            key = (case.run, case.job, case.drive)
            by_job[key] = max(case, by_job.get(key, case), key=lambda of: of.saved)
    return list(by_job.values())


def disk_rows(cases: Sequence[Case], worth: float = DEFAULT_WORTH) -> list[list[str]]:
    """How often triage and simpler rules say yes or no of jobs on hard disks, and how often that is shown right or not.

    `cases` are one of each job. Triage says yes where a job may matter, and no where it cannot.
    """
    largest = sorted(cases, key=lambda case: -case.shuffled_bytes)[:LARGEST]
    says: dict[str, Callable[[Case], bool | None]] = {
        **{name: partial(_always, always) for name, always in ALWAYS.items()},
        f"the {LARGEST} largest by shuffled bytes": lambda case: case in largest,
        "triage, by histories": lambda case: SAYS.get(case.verdict),
        "triage, with busy drives and threads": lambda case: SAYS.get(case.busy_verdict),
    }
    return [_tally(name, [(rule(case), case.is_worth(worth)) for case in cases]) for name, rule in says.items()]


def _always(says: bool, _: Case) -> bool:  # noqa: FBT001 - a rule's word
    return says


def exclusions_outcome(cases: Sequence[Case], worth: float = DEFAULT_WORTH) -> str:
    """How many jobs on hard disks triage excluded, how many of them wrongly, and how much those saved, in sentences."""
    parts = []
    for which, verdict_by in (("by histories alone", "verdict"), ("with busy drives and threads", "busy_verdict")):
        without = [case for case in cases if getattr(case, verdict_by) == TriageVerdict.CANNOT_MATTER]
        if not without:
            parts.append(f"Triage excluded none of {len(cases)} jobs on hard disks {which}.")
            continue
        right = sum(case.is_worth(worth) is False for case in without)
        failed, above = wrong(without, worth), sum(case.saved >= worth for case in without)
        parts.append(
            f"Triage excluded {len(without)} of {len(cases)} jobs on hard disks {which}: {failed} wrongly, "
            f"{right} shown rightly, {len(without) - right - failed} open. The mean saving of "
            f"{above or 'none'} of them reached {worth:.0%}; the largest was {max(case.saved for case in without):.1%}."
        )
    return " ".join(parts)


def looseness_rows(cases: Sequence[Case]) -> list[list[str]]:
    """By what was saved: how many cases, and the median and the extremes of their bounds."""
    rows = []
    for low, high in pairwise(SAVED):
        bounds = sorted(case.bound for case in cases if low <= case.saved < high)
        name = f"under {high:.0%}" if low < 0 else f"{low:.0%} and more" if high > 1 else f"{low:.0%} to {high:.0%}"
        shares = [f"{value:.0%}" for value in (bounds[0], median(bounds), bounds[-1])] if bounds else ["-"] * 3
        rows.append([name, str(len(bounds)), *shares])
    return rows


def main() -> int:
    """Print all cases, how many hold, and which verdicts would have been wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--json", type=Path, metavar="FILE", help="put the cases there, in place of the same runs'")
    wishes = parser.parse_args()
    profiles = find_installation().profiles
    try:
        with ExitStack() as unpacked:
            runs = [unpacked_run(run, unpacked) for run in wishes.runs]
            cases = [case for run in runs for case in cases_of(run, profiles)]
    except BadInputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if not cases:
        sys.stdout.write("no job was faster on one drive than on another\n")
        return 2
    shown = {
        "run": [case.run for case in cases], "job": [case.job for case in cases],
        "drive": [case.drive for case in cases], "faster one": [case.other for case in cases],
    }  # fmt: skip
    percents = {
        "saved": [case.saved for case in cases], "bound": [case.bound for case in cases],
        "by time": [case.by_time for case in cases], "by bytes": [case.by_bytes for case in cases],
        "polls": [case.polls for case in cases],
    }  # fmt: skip
    columns = [
        *(Column(head, cells, name=True) for head, cells in shown.items()),
        Column("elapsed s", [f"{case.elapsed_s:.1f}" for case in cases]),
        *(Column(head, [f"{value:.0%}" for value in values]) for head, values in percents.items()),
        Column("holds", ["yes" if case.holds else "NO" for case in cases]),
    ]
    sys.stdout.write("\n".join(layout_table(columns, 200)) + "\n")
    sys.stdout.write(f"\n{outcome(cases)}\n")
    tables = [(VERDICT_COLUMNS, verdict_rows(cases)), (SAVED_COLUMNS, looseness_rows(cases))]
    if of_rules := rule_rows(cases):
        tables.append((RULE_COLUMNS, of_rules))
    if on_disks := judged_on_disks(cases):
        sys.stdout.write(f"\n{exclusions_outcome(on_disks)}\n")
        tables.append((RULE_COLUMNS, disk_rows(on_disks)))
    for heads, rows in tables:
        table = [Column(head, list(cells)) for head, cells in zip(heads, zip(*rows, strict=True), strict=True)]
        sys.stdout.write("\n".join(["", *layout_table(table, 200)]) + "\n")
    if wishes.json:
        write_cases(wishes.json, cases)
    return 1 if any(wrong(excluded(cases, worth), worth) for worth in THRESHOLDS) else 0


def unpacked_run(run: Path, stack: ExitStack) -> Path:
    """A run's folder: of an archive of `docs/results` a new one, called as it is, that goes when the stack ends."""
    if not run.name.endswith(ARCHIVE):
        return run
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / run.name.removesuffix(ARCHIVE)
    with tarfile.open(run) as archive:
        archive.extractall(folder, filter="data")
    return folder


def write_cases(file: Path, cases: Sequence[Case]) -> None:
    """Put cases into a file beside those of other runs that it has."""
    runs = {case.run for case in cases}
    kept = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    others = [case for case in kept if case["run"] not in runs]
    file.write_text(json.dumps([*others, *(case._asdict() for case in cases)], indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
