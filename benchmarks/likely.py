"""How good triage's *likely* is: `PYTHONPATH=src:extras:. python benchmarks/likely.py RUN...`.

RUN are runs on emulated drives and without storage delay, or on the devices of `benchmarks/throttled_devices.py`, by
media of their names, of which `unlimited` stands for a drive without delay. Of each job on drives with delays, what is
likely to be saved is worked out from what a record keeps: its counters, as a history has them, all in one stage; how
long its busiest drive worked; and the memory that its node left to files. Its time less that is compared with its time
without delay, means over the repetitions. A case is covered where the measured time, give or take its own noise, lies
in the interval. Rules and goal for those devices: docs/explanation/triage.md#without-the-emulator.
"""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import exp, inf, log
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from benchmarks.known_busy_times import BUSY_JOBS, BUSY_SHARE, spread, spread_of_errors
from benchmarks.throttled_devices import DEVICES, UNLIMITED
from benchmarks.triage_truth import drives_of_trial

from assay.cli.context import find_installation
from assay.engine.past.job import PastJob, StageSums, Work
from assay.engine.past.spark import PastApplication
from assay.engine.spark_log import RDDS
from assay.media.emulated.profile import find_profile
from assay.model.record import JobRecord, Record
from assay.model.trial import DEFAULT_WORTH, ZERO_DELAY, Trial
from assay.plan.job_experiment import ROLES
from assay.record.folder import RunFolder
from assay.report.columns import as_columns, layout_table
from assay.report.words import percent
from assay.stats.drive_use import BUSY_TIME
from assay.stats.sample import is_valid
from assay.stats.trial_summary import summarise
from assay.triage.bounds import Busy, bound_of
from assay.triage.drives import Drives
from assay.triage.likely import Likely, added, likely_of

DISK = "slow-disk"
"""The device on which jobs must wait for a drive: else nothing is tested."""
GOAL_MEDIAN, GOAL_NINTH = 0.1, 0.25
"""Of the errors of what busy drives foretell, on devices that the emulator has no part in."""
BUSY_DRIVES = "busy drives"
NOISE = 0.08
"""Two standard errors of the times without delay."""
COLUMNS = ("evidence", "cases", "median error", "90th percentile", "greatest", "in the interval")
WORST_COLUMNS = ("job", "drive", "took", "drive busy", "without delay", "foretold", "error")
VERDICT_COLUMNS = ("rule", "says yes", "rightly", "says no", "rightly")
STAGE = "job"


class Case(NamedTuple):
    """A job on some drives: its time there and without delay, in seconds, and what is likely by each evidence."""

    run: str
    job: str
    drives: str
    elapsed_s: float
    without_s: float
    likely: Mapping[str, Likely]
    bound_s: float
    on_disks: bool
    busy_s: float
    """How long its busiest drive worked; 0 where nobody measured it."""


def past_job(record: JobRecord, nodes: int) -> PastJob | None:
    """What a history says of a job, its tasks in one stage; None of other engines, and where bytes are not counted."""
    spark = record.counters.get("TaskMetrics")
    if spark and not record.counters.get(RDDS, {}).get("persisted_on_disk"):
        task_ms = 1000 * record.tasks * sum(record.phases.values())
        work = Work(
            tasks=record.tasks, task_ms=round(task_ms), cpu_ms=spark["cpu_ms"],
            store_read=spark.get("store_read_bytes", spark["input_bytes"]), store_written=spark["output_bytes"],
            local_read=spark["local_read_bytes"], local_written=spark["local_written_bytes"],
            fetched=spark["shuffled_bytes"], fetches=spark["shuffle_read_local_blocks"],
            map_output_on_disk=spark["shuffle_write_bytes"],
        )  # fmt: skip
        kind: type[PastJob] = PastApplication
    elif of_job := record.counters.get("org.apache.hadoop.mapreduce.JobCounter"):
        task = record.counters["org.apache.hadoop.mapreduce.TaskCounter"]
        files = record.counters.get("org.apache.hadoop.mapreduce.FileSystemCounter", {})
        task_ms = of_job.get("MILLIS_MAPS", 0) + of_job.get("MILLIS_REDUCES", 0)
        fetched = task.get("REDUCE_SHUFFLE_BYTES", 0)
        work = Work(
            tasks=record.tasks, task_ms=task_ms, cpu_ms=task["CPU_MILLISECONDS"],
            store_read=files.get("HDFS_BYTES_READ", 0), store_written=files.get("HDFS_BYTES_WRITTEN", 0),
            local_read=files.get("FILE_BYTES_READ", 0), local_written=files.get("FILE_BYTES_WRITTEN", 0),
            fetched=fetched, fetches=task.get("SHUFFLED_MAPS", 0), map_output_on_disk=fetched,
        )  # fmt: skip
        kind = PastJob
    else:
        return None
    elapsed_ms = round(1000 * (record.active_s or record.elapsed_s))
    waiting = max(0.0, 1 - work.cpu_ms / max(1.0, task_ms))
    busiest = Work(*(amount // nodes for amount in work))
    stage = StageSums(
        STAGE, record.started_ms, record.finished_ms, elapsed_ms, round(waiting * elapsed_ms), 0,
        {STAGE: round(task_ms)}, record.tasks, work, busiest,
    )  # fmt: skip
    return kind(
        record.id, record.name, "", "", record.state, record.submitted_ms, record.started_ms, record.finished_ms,
        uberized=False, maps=0, reduces=0, stages=(stage,), nodes=tuple(f"node-{number}" for number in range(nodes)),
        settings={"dfs.replication": "1"},
    )  # fmt: skip


def cases(run: str, records: Sequence[Record], profiles: Path) -> Iterator[Case]:
    """All jobs on drives with delays that ran without them, too."""
    groups: dict[tuple[tuple[str, str], ...], dict[str, list[Record]]] = {}
    for record in records:
        summary = summarise(record)
        if is_valid(summary) and not record.modelled:
            factors = tuple((name, level) for name, level in summary.factors.items() if name != "placement")
            groups.setdefault(factors, {}).setdefault(record.trial.placement.name, []).append(record)
    for placements in groups.values():
        records_without = [*placements.pop(ZERO_DELAY, ()), *placements.pop(UNLIMITED, ())]
        without = [_elapsed_s(record) for record in records_without]
        for drives, of_drives in placements.items():
            if without:
                yield from _case(run, drives, of_drives, fmean(without), profiles)


def _case(run: str, placement: str, records: Sequence[Record], without_s: float, profiles: Path) -> Iterator[Case]:
    drives = drives_of_trial(records[0].trial, profiles) or limited_drives(records[0].trial)
    trials = [trial for record in records if drives and (trial := _of_trial(record, drives))]
    if len(trials) < len(records):
        return
    job = f"{records[0].trial.workload.name} on {records[0].trial.engine}"
    kinds = [kind for kind in trials[0].likely if all(kind in trial.likely for trial in trials)]
    yield Case(
        run, job, placement, fmean(map(_elapsed_s, records)), without_s,
        {kind: _mean([trial.likely[kind] for trial in trials]) for kind in kinds},
        fmean(trial.bound_s for trial in trials),
        any(of.profile and find_profile(of.profile, profiles).kind == "hdd" for of in drives.values()),
        fmean(max(_busy_s(record), default=0.0) for record in records),
    )  # fmt: skip


def limited_drives(trial: Trial) -> dict[str, Drives]:
    """The devices that each role has, by their limits; none where a medium is no slow device of `DEVICES`."""
    by_role = {}
    for role in ROLES:
        (name, *others) = trial.placement.model_dump()[role]
        limits = DEVICES.get(name)
        if others or limits is None or not limits.iops:
            return {}
        rate, access_s = limits.mb_s * 1e6, 1 / limits.iops
        by_role[role] = Drives(1, name, "", rate, rate, access_s, access_s)
    return by_role


class _Trial(NamedTuple):
    likely: Mapping[str, Likely]
    bound_s: float


def _of_trial(record: Record, drives: Mapping[str, Drives]) -> _Trial | None:
    """What is likely of all jobs of a trial; None where one of them is no past job."""
    nodes = len({device.node for device in record.devices}) or 1
    jobs = [past for job in record.jobs if (past := past_job(job, nodes))]
    if len(jobs) < len(record.jobs):
        return None
    cache = record.trial.cluster.page_cache_bytes
    all_s, drives_busy_s = sum(job.elapsed_s for job in jobs), _busy_s(record)
    bounds = [bound_of(job, drives) for job in jobs]
    likely: dict[str, list[Likely | str]] = {}
    for job, bound in zip(jobs, bounds, strict=True):
        if drives_busy_s:
            busy_s = {STAGE: job.elapsed_s / all_s * max(drives_busy_s)}
            busy = Busy({}, 0.0, usual_s=busy_s, drives=len({of.name for of in drives.values()}))
            likely.setdefault(BUSY_DRIVES, []).append(likely_of(job, bound, drives, busy))
        likely.setdefault("counters", []).append(likely_of(job, bound, drives))
        if cache:
            likely.setdefault("page cache", []).append(likely_of(job, bound, drives, cache_bytes=cache))
    known = {
        kind: [part for part in parts if isinstance(part, Likely) and not part.unlike] for kind, parts in likely.items()
    }
    return _Trial(
        {kind: added(parts) for kind, parts in known.items() if len(parts) == len(jobs)},
        sum(bound.seconds for bound in bounds),
    )  # fmt: skip


def _mean(parts: Sequence[Likely]) -> Likely:
    total = added(parts)
    return Likely(*(seconds / len(parts) for seconds in total[:3]), total.evidence)


def _elapsed_s(record: Record) -> float:
    return record.totals.elapsed_s if record.totals else 0.0


def _busy_s(record: Record) -> list[float]:
    """How long each drive worked while the jobs ran: as the emulator says, or by the kernel's counters."""
    if not record.devices:
        return [total.value for total in record.amounts if (total.probe, total.part, total.series) == BUSY_TIME]
    return [drive.reports["run"].busy_seconds or 0.0 for drive in record.devices if "run" in drive.reports]


def error(case: Case, saved_s: float) -> float:
    """The time without delay that was foretold over the measured one, as a natural logarithm."""
    return log(max(0.01, case.elapsed_s - saved_s) / case.without_s)


def is_covered(case: Case, likely: Likely) -> bool:
    """Whether the measured time lies in the interval, give or take its noise."""
    return case.elapsed_s - likely.high_s <= case.without_s * (
        1 + NOISE
    ) and case.elapsed_s - likely.low_s >= case.without_s * (1 - NOISE)


def rows(all_cases: Sequence[Case]) -> list[list[str]]:
    """For each evidence how far it is off, and beside it for no change and for the bound."""
    table = [_row("no change", all_cases, [0.0 for _ in all_cases], "")]
    table.append(_row("at most", all_cases, [case.bound_s for case in all_cases], ""))
    for kind in dict.fromkeys(kind for case in all_cases for kind in case.likely):
        of_kind = [case for case in all_cases if kind in case.likely]
        inside = sum(is_covered(case, case.likely[kind]) for case in of_kind)
        table.append(
            _row(kind, of_kind, [case.likely[kind].seconds for case in of_kind], f"{inside} of {len(of_kind)}")
        )
    return table


def _row(name: str, of_kind: Sequence[Case], saved_s: Sequence[float], inside: str) -> list[str]:
    errors = [error(case, saved) for case, saved in zip(of_kind, saved_s, strict=True)]
    return [name, *spread_of_errors(errors), inside]


def goal_text(all_cases: Sequence[Case]) -> str:
    """Whether the run is a test, and whether what busy drives foretell met the goal.

    A case of which they foretell nothing counts as one whose error has no bound.
    """
    shares = {case.job: case.busy_s / case.elapsed_s for case in all_cases if case.drives == DISK}
    enough = sum(share >= BUSY_SHARE for share in shares.values())
    each = ", ".join(f"{percent(share)} of {job}" for job, share in shares.items())
    foretold = [case.likely.get(BUSY_DRIVES) for case in all_cases]
    errors = [error(case, of.seconds) if of else inf for case, of in zip(all_cases, foretold, strict=True)]
    middle, ninth, _ = spread(errors)
    is_test = enough >= BUSY_JOBS
    met = "met" if middle <= GOAL_MEDIAN and ninth <= GOAL_NINTH else "not met"
    return (
        f"On {DISK} the drive was busy for a third of the time or more in {enough} of {len(shares)} jobs, so that it "
        f"is {'a' if is_test else 'no'} test: {each}. Of what busy drives foretell in {len(errors)} cases "
        f"the median error is {_tenths(middle)} (goal: {percent(GOAL_MEDIAN)}), the 90th percentile "
        f"{_tenths(ninth)} ({percent(GOAL_NINTH)}): the goal is {met}"
        f"{'' if is_test else ' by numbers that decide nothing'}."
    )


def _tenths(share: float) -> str:
    """`10.2 %`, since a goal may be missed by less than one percent."""
    return "no bound" if share == inf else f"{100 * share:.1f} %"


def worst_rows(all_cases: Sequence[Case], most: int = 10) -> list[list[str]]:
    """The cases of which busy drives foretell the time without delay worst."""
    known = [(error(case, case.likely[BUSY_DRIVES].seconds), case) for case in all_cases if BUSY_DRIVES in case.likely]
    return [
        [
            case.job, case.drives, f"{case.elapsed_s:.1f} s", f"{case.busy_s:.1f} s", f"{case.without_s:.1f} s",
            f"{case.elapsed_s - case.likely[BUSY_DRIVES].seconds:.1f} s", f"{exp(off) - 1:+.0%}",
        ]
        for off, case in sorted(known, key=lambda pair: -abs(pair[0]))[:most]
    ]  # fmt: skip


def verdict_rows(all_cases: Sequence[Case], worth: float = DEFAULT_WORTH) -> list[list[str]]:
    """How often each rule says that a threshold is saved, or is not, and how often that is so by the measured means."""
    evidence = dict.fromkeys(kind for case in all_cases for kind in case.likely)
    rules: dict[str, Callable[[Case], bool | None]] = {
        "always yes": lambda _: True,
        "at most": lambda case: case.bound_s >= worth * case.elapsed_s,
        **{f"likely, by {kind}": partial(_says, kind, worth) for kind in evidence},
        **{f"all of its interval, by {kind}": partial(_says, kind, worth, whole=True) for kind in evidence},
    }
    table = []
    for name, rule in rules.items():
        said = Counter((says, case.elapsed_s - case.without_s >= worth * case.elapsed_s)
                       for case in all_cases if (says := rule(case)) is not None)  # fmt: skip
        cells = (said[True, True] + said[True, False], said[True, True], said[False, True] + said[False, False])
        table.append([name, *map(str, (*cells, said[False, False]))])
    return table


def _says(kind: str, worth: float, case: Case, *, whole: bool = False) -> bool | None:
    """None where the case has no such evidence, or the threshold lies in the interval of which all is asked."""
    if kind not in case.likely:
        return None
    likely, least_s = case.likely[kind], worth * case.elapsed_s
    if whole and likely.low_s < least_s <= likely.high_s:
        return None
    return likely.seconds >= least_s


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    profiles = find_installation().profiles
    all_cases = [
        case for run in parser.parse_args().runs for case in cases(run.name, RunFolder(run).records()[0], profiles)
    ]
    on_disks = [case for case in all_cases if case.on_disks]
    tables = [
        (COLUMNS, rows(all_cases)),
        *((VERDICT_COLUMNS, verdict_rows(some)) for some in (all_cases, on_disks)),
        (WORST_COLUMNS, worst_rows(all_cases)),
    ]
    for heads, table in tables:
        print("\n".join(layout_table(as_columns(heads, table), 120)))  # noqa: T201
    if any(case.drives in DEVICES for case in all_cases):
        print(goal_text(all_cases))  # noqa: T201


if __name__ == "__main__":
    main()
