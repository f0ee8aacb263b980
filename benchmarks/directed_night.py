"""Is a small SSD worth more where jobs are directed to it? `python benchmarks/directed_night.py RUN`.

RUN is a run of experiments/directed-night.yaml. These rules were fixed before it ran, and their reasons are in
docs/explanation/directed-night.md:

- *A batch's time* is that of the step that ran its jobs, also where some failed.
- *A pair* is two ways' batches of one engine and one half of the mirrored order, of which no job failed, and every
  output was found right.
- *Two questions*: directed against the disks alone, and against the SSD as one of three local directories. Each ratio
  is the mean of the pairs' logarithms, with Student's 97.5 % interval, so that both hold together at 95 %. Less or more
  time is said where the interval leaves out 1. With fewer than five pairs nothing is said.
- *Each job's time* is from its submission to its end, where it came to one; ratios to the disks alone are over all
  engines and halves, with 95 % intervals, and decide nothing.
- *Failed jobs* are counted, and their reasons listed.
- *Disks must matter*: where they were busy for less than a fifth of the batches on disks alone, nothing is judged.
"""

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import log
from pathlib import Path
from statistics import fmean, variance
from typing import NamedTuple

from assay.model.doubt import Outcome
from assay.model.layout import INTERMEDIATE
from assay.model.record import JobRecord, Record
from assay.record.folder import RunFolder
from assay.report.analysis import read_run
from assay.report.columns import as_columns, grid
from assay.stats.fit import Contrast
from assay.workload.together import names_at_once

DISKS, AMONG_THREE, ALONE, DIRECTED = "disks", "ssd-among-three", "ssd-alone", "directed"
WAYS = (DISKS, AMONG_THREE, ALONE, DIRECTED)
QUESTIONS = ((DIRECTED, DISKS), (DIRECTED, AMONG_THREE))
SSD = "ssd"
LEVEL = 1 - 0.05 / len(QUESTIONS)
LEAST_PAIRS = 5
LEAST_BUSY = 0.2
"""The share of a batch's time for which a disk must be busy on average, or no way can save much."""
LEAST_ERROR = 1e-9
"""Of a logarithm: times are kept in milliseconds, so that equal ratios have no spread."""
OF_DIRECTED, OVERFLOW = "DIRECTED", "OVERFLOW"
"""How the names of outcomes begin, in the group of counters `AssayDirect`."""

Times = Callable[["Batch"], float | None]


class Batch(NamedTuple):
    """The jobs of one engine in one way; `half` is the half of the mirrored order."""

    engine: str
    way: str
    half: int
    seconds: float
    jobs_s: Mapping[str, float]
    """By job, of those that came to their ends."""
    jobs: int
    failed: int
    reasons: Sequence[str]
    bytes: Mapping[str, float]
    """What was written to local directories, by medium."""
    outcomes: Mapping[str, int]
    """Tasks of MapReduce, and containers of other engines, of the job that is to have the SSD, by what came of it."""
    ssd_bytes: int
    """The size of all nodes' SSDs; 0 without any."""
    busy: float | None
    """The mean share of the batch's time for which a disk was busy, if it was measured."""


def batches(records: Iterable[Record]) -> list[Batch]:
    """All batches in the order in which they ran; none of a trial whose jobs never began."""
    halves: Counter[tuple[str, str]] = Counter()
    made = []
    for record in sorted(records, key=lambda record: record.trial.number):
        trial = record.trial
        halves[trial.engine, trial.placement.name] += 1
        ran_s = next((step.seconds for step in record.steps if step.name == "run"), None)
        if ran_s is None:
            continue
        parts = trial.workload.together
        names = names_at_once([part.name for part in parts])
        to_ssd = {name for name, part in zip(names, parts, strict=True) if part.intermediate == SSD}
        wrong = [
            verdict
            for verdict in record.verdicts
            if verdict.outcome is not Outcome.PASS and _job(verdict.check) in names
        ]
        outcomes: Counter[str] = Counter()
        for job in record.jobs:
            if _job(job.name) in to_ssd:
                outcomes.update(job.counters.get("AssayDirect", {}))
        landings = {(landed.role, landed.when): landed for landed in record.landed}
        written = landings.get((INTERMEDIATE, "run"))
        sizes = [(medium.model_extra or {}).get("size_bytes") or 0 for medium in trial.media if medium.name == SSD]
        made.append(
            Batch(
                trial.engine, trial.placement.name, halves[trial.engine, trial.placement.name], ran_s,
                _times(record.jobs), trial.workload.jobs_at_once,
                trial.workload.jobs_at_once if record.error else len({_job(verdict.check) for verdict in wrong}),
                [record.error] if record.error else [f"{verdict.check}: {verdict.detail}" for verdict in wrong],
                {medium: share * written.bytes for medium, share in written.shares.items()} if written else {},
                outcomes, sum(sizes) * (trial.cluster.nodes or 1), _busy(record),
            )
        )  # fmt: skip
    return made


def _busy(record: Record) -> float | None:
    reports = [drive.reports["run"] for drive in record.devices if drive.medium != SSD and "run" in drive.reports]
    shares = [
        report.busy_seconds / report.elapsed_seconds
        for report in reports
        if report.busy_seconds is not None and report.elapsed_seconds
    ]
    return fmean(shares) if shares else None


def _job(name: str) -> str:
    """The job of a mix that something is of: what is before the first colon."""
    return name.partition(":")[0]


def _times(jobs: Sequence[JobRecord]) -> dict[str, float]:
    of_job: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        of_job[_job(job.name)].append(job)
    return {
        name: (max(job.finished_ms for job in parts) - min(job.submitted_ms for job in parts)) / 1000
        for name, parts in of_job.items()
    }


def ratio(measured: Sequence[Batch], way: str, base: str, seconds: Times) -> Contrast | None:
    """How many times as long as the base a way takes; None with fewer than LEAST_PAIRS pairs."""
    times = {(batch.engine, batch.half, batch.way): taken for batch in measured if (taken := seconds(batch))}
    logs = [
        log(taken / times[engine, half, base])
        for (engine, half, of_way), taken in times.items()
        if of_way == way and (engine, half, base) in times
    ]
    if len(logs) < LEAST_PAIRS:
        return None
    return Contrast(fmean(logs), max((variance(logs) / len(logs)) ** 0.5, LEAST_ERROR), len(logs) - 1)


def whole_s(batch: Batch) -> float | None:
    """A batch's time; None where a job of it failed."""
    return None if batch.failed else batch.seconds


def answer(measured: Sequence[Batch], way: str, base: str) -> str:
    """Whether a way takes less time than another one."""
    compared = ratio(measured, way, base, whole_s)
    if compared is None:
        return f"*{way}* against *{base}*: fewer than {LEAST_PAIRS} pairs count, so nothing is judged."
    held = compared.interval(LEVEL)
    within = f"{compared.ratio:.2f} times as long, {held.low:.2f} to {held.high:.2f}"
    if held.low <= 1 <= held.high:
        return f"*{way}* against *{base}*: no difference is shown ({within})."
    return f"*{way}* takes {'less' if held.high < 1 else 'more'} time than *{base}* ({within})."


def report(records: Iterable[Record]) -> str:
    """Answers and tables in Markdown."""
    measured = batches(records)
    jobs = sorted({job for batch in measured for job in batch.jobs_s})
    busy = [batch.busy for batch in measured if batch.way == DISKS and batch.busy is not None]
    share = fmean(busy) if busy else 0.0
    answers = "\n".join(f"- {answer(measured, *question)}" for question in QUESTIONS)
    parts = [
        f"On disks alone a disk was busy for {100 * share:.0f} % of a batch.",
        answers if share >= LEAST_BUSY else f"That is less than {100 * LEAST_BUSY:.0f} %, so nothing is judged.",
        _sizes(measured),
        _table(("batch of", *(f"{way} (s)" for way in WAYS)), _batch_rows(measured)),
        _table(("job", *(f"{way} (s)" for way in WAYS), *(f"{way} / {DISKS}" for way in WAYS[1:])), [
            _job_row(measured, job) for job in jobs
        ]),
        _table(
            ("way", "to SSDs (MB)", "to disks (MB)", "directed", "overflowed", "failed jobs"),
            [_way_row(measured, way) for way in WAYS],
        ),
        *_reasons(measured),
    ]  # fmt: skip
    return "\n\n".join(filter(None, parts))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return grid(as_columns(heads, rows)) if rows else ""


def _sizes(measured: Sequence[Batch]) -> str:
    """The SSDs' size as a share of what a night writes to local directories without them."""
    size = max((batch.ssd_bytes for batch in measured), default=0)
    nights = Counter(batch.half for batch in measured if batch.way == DISKS)
    written = sum(sum(batch.bytes.values()) for batch in measured if batch.way == DISKS)
    if not size or not written:
        return ""
    share = size / (written / len(nights))
    of_night = f"{100 * share:.0f} % of what a night writes to local directories"
    return f"All SSDs together have {size / 1e6:.0f} MB, {of_night}."


def _batch_rows(measured: Sequence[Batch]) -> list[list[str]]:
    return [
        [
            engine,
            *(
                ", ".join(
                    f"{batch.seconds:.0f}{f' ({batch.failed} failed)' if batch.failed else ''}"
                    for batch in measured
                    if (batch.engine, batch.way) == (engine, way)
                )
                for way in WAYS
            ),
        ]
        for engine in dict.fromkeys(batch.engine for batch in measured)
    ]


def _job_row(measured: Sequence[Batch], job: str) -> list[str]:
    def taken(batch: Batch) -> float | None:
        return batch.jobs_s.get(job)

    means = [[time_s for batch in measured if batch.way == way and (time_s := taken(batch))] for way in WAYS]
    ratios = [ratio(measured, way, DISKS, taken) for way in WAYS[1:]]
    return [
        job,
        *(f"{fmean(times):.0f}" if times else "-" for times in means),
        *(_ratio_text(compared) for compared in ratios),
    ]


def _ratio_text(compared: Contrast | None) -> str:
    if compared is None:
        return "-"
    held = compared.interval()
    return f"{compared.ratio:.2f} ({held.low:.2f} to {held.high:.2f})"


def _way_row(measured: Sequence[Batch], way: str) -> list[str]:
    """What was written is of a night: of the means of each engine's batches."""
    of_way = [batch for batch in measured if batch.way == way]
    nights = max(1, len({batch.half for batch in of_way}))
    on_ssds = sum(batch.bytes.get(SSD, 0.0) for batch in of_way)
    in_all = sum(sum(batch.bytes.values()) for batch in of_way)
    outcomes = sum((Counter(batch.outcomes) for batch in of_way), Counter())
    return [
        way,
        f"{on_ssds / nights / 1e6:,.0f}",
        f"{(in_all - on_ssds) / nights / 1e6:,.0f}",
        *(
            str(sum(count for outcome, count in outcomes.items() if outcome.startswith(begin)))
            for begin in (OF_DIRECTED, OVERFLOW)
        ),
        f"{sum(batch.failed for batch in of_way)} of {sum(batch.jobs for batch in of_way)}",
    ]


def _reasons(measured: Sequence[Batch]) -> list[str]:
    """Why jobs failed, each reason's beginning once."""
    reasons = Counter(f"{batch.way}, {batch.engine}: {reason[:200]}" for batch in measured for reason in batch.reasons)
    if not reasons:
        return []
    listed = "\n".join(f"- {reason}{f' ({count} times)' if count > 1 else ''}" for reason, count in reasons.items())
    return [f"Why jobs failed:\n\n{listed}"]


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    run = read_run(RunFolder(parser.parse_args().run), details=False)
    sys.stdout.write(f"{report(run.whole_records())}\n")


if __name__ == "__main__":
    main()
