"""How many jobs of a made site remain to be tested, by what triage knows of it.

Forty recurring jobs, half of them by Spark, on twelve nodes with twelve hard disks each, over seven nights. Nothing is
measured: sizes, shares of computing and times are drawn. A task computes at one rate, and waits for the rest of its
time. Where drives are observed, they worked at their usual rates for all that was read and written but what the page
cache held. `PYTHONPATH=src:extras:. python benchmarks/forty_jobs.py [SEED]`.
"""

import random
import sys
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import accumulate
from math import exp, log
from typing import NamedTuple

from assay.cli.context import find_installation
from assay.engine.past.job import MAP, REDUCE, PastJob, StageSums, Work
from assay.engine.past.spark import PastApplication
from assay.engine.past.task_times import ReadSpan, sums_of
from assay.engine.spark_tasks import COMPUTE, FETCH
from assay.model.trial import DEFAULT_WORTH
from assay.report.columns import Column, layout_table
from assay.triage.bounds import Busy, uses_of
from assay.triage.drives import Drives, drives_by_role
from assay.triage.ranking import DECISIVE_SHARE, DriveSite, JobRow, TriageVerdict, judge

JOBS, NIGHTS, NODES, DISKS, THREADS, SLOTS = 40, 7, 12, 12, 40, 12
"""`SLOTS` tasks run at once on a node."""
DRIVES, CACHE_BYTES = f"{DISKS}xhdd", 32 << 30
READ_BYTES, SHUFFLED, WRITTEN = (2e9, 600e9), (0.02, 1.2), (0.01, 0.6)
"""The least and the most of what a job reads, and of that what it shuffles and writes; drawn by their logarithms."""
COMPUTING, SPREAD, UNLIKE = (0.35, 0.9), 0.1, 0.25
"""The share of its time that a job's tasks compute, how much it differs among them, and how much their work does."""
SPLIT_BYTES, REDUCED_BYTES, MOST_TASKS = 256e6, 1e9, 288
RATE, START_MS = 25e6, 1500
"""Bytes in a second of computing; a task's start."""
BEGAN_MS, NIGHT_MS, GAP_MS = 1_795_200_000_000, 86_400_000, 600_000
COLUMNS = (
    "what triage knows", "may matter", "likely by 10 %", "nine tenths of it", "cannot matter", "not known",
    "of the first ten, most drive work",
)  # fmt: skip
FIRST = 10
"""So many jobs are what a reader looks at."""


class Kind(NamedTuple):
    """What a recurring job is like every night."""

    name: str
    engine: str
    read: float
    shuffled: float
    written: float
    computing: float


def kinds(draw: random.Random) -> list[Kind]:
    """The jobs of the site."""
    made = []
    for number in range(JOBS):
        read = _logarithmic(draw, READ_BYTES)
        shuffled, written = (read * _logarithmic(draw, share) for share in (SHUFFLED, WRITTEN))
        engine = ("mapreduce", "spark")[number % 2]
        name = f"{engine} job {chr(97 + number // 26)}{chr(97 + number % 26)}"
        made.append(Kind(name, engine, read, shuffled, written, draw.uniform(*COMPUTING)))
    return made


def _logarithmic(draw: random.Random, ends: tuple[float, float]) -> float:
    return exp(draw.uniform(*map(log, ends)))


def runs(seed: int) -> Iterator[PastJob]:
    """A run of each job in each night, one begun after the other whether or not that has ended."""
    draw = random.Random(seed)  # noqa: S311 - a made site, no secret
    site = kinds(draw)
    for night in range(NIGHTS):
        for place, kind in enumerate(site):
            begin_ms = BEGAN_MS + night * NIGHT_MS + place * GAP_MS + draw.randint(0, GAP_MS)
            stages = tuple(_stages(draw, kind, begin_ms + 10_000))
            made: type[PastJob] = PastApplication if kind.engine == "spark" else PastJob
            yield made(
                f"{kind.name} {night}", kind.name, "etl", "", "SUCCEEDED", begin_ms, begin_ms, stages[-1].end_ms + 1000,
                uberized=False, maps=0, reduces=0, stages=stages, container_waits=1, settings={},
                nodes=tuple(f"node-{number}" for number in range(NODES)),
            )  # fmt: skip


def tasks_of(kind: Kind, most: int = MOST_TASKS) -> tuple[int, int]:
    """How many tasks its two stages have; the first at most so many."""
    maps = max(1, min(most, round(kind.read / SPLIT_BYTES)))
    return maps, max(1, min(NODES * SLOTS, round(kind.shuffled / REDUCED_BYTES)))


def _stages(draw: random.Random, kind: Kind, begin_ms: int) -> Iterator[StageSums]:
    mapreduce = kind.engine == "mapreduce"
    names = (MAP, REDUCE) if mapreduce else ("stage 0", "stage 1")
    maps, reducers = tasks_of(kind)
    shuffled = round(kind.shuffled)
    wrote = Work(store_read=round(kind.read), local_written=shuffled, map_output_on_disk=shuffled)
    first = _stage(draw, kind, (names[0], MAP if mapreduce else COMPUTE), begin_ms, maps, kind.read, wrote)
    yield first
    merged = shuffled if mapreduce else 0
    read = Work(
        fetched=shuffled, fetches=maps * reducers, local_written=merged, local_read=merged,
        store_written=round(kind.written),
    )  # fmt: skip
    both = kind.shuffled + kind.written
    yield _stage(draw, kind, (names[1], "shuffle" if mapreduce else FETCH), first.end_ms, reducers, both, read)


def _stage(
    draw: random.Random, kind: Kind, names: tuple[str, str], begin_ms: int, tasks: int, moved: float, work: Work
) -> StageSums:
    """A stage, and the phase of its tasks: each begins on the slot that is free first, and moves an even part."""
    free_ms = [begin_ms] * min(tasks, NODES * SLOTS)
    spans: list[ReadSpan] = []
    for _ in range(tasks):
        slot = free_ms.index(min(free_ms))
        cpu_ms = 1000 * moved / tasks / RATE * draw.lognormvariate(0, UNLIKE)
        share = min(0.98, max(0.05, draw.gauss(kind.computing, SPREAD)))
        end_ms = free_ms[slot] + START_MS + round(cpu_ms / share)
        spans.append(ReadSpan(free_ms[slot], end_ms, round(cpu_ms)))
        free_ms[slot] = end_ms
    nodes = min(NODES, tasks)
    each = Work(*(amount // nodes for amount in work))._replace(
        tasks=-(-tasks // nodes), cpu_ms=sum(span.computed_ms for span in spans) // nodes
    )
    return sums_of(names[0], spans, {names[1]: sum(span.end_ms - span.begin_ms for span in spans)}, [each] * nodes)


def busy_of(job: PastJob, drives: Mapping[str, Drives]) -> Busy:
    """How long a node's drives worked, all alike: at usual rates, without what the page cache held of reads again."""
    passed = sum(sum(stage.busiest[place] for place in _PASSED) for stage in job.stages)
    missed = 1 - min(1.0, CACHE_BYTES / passed)
    seconds: dict[str, float] = {}
    for stage in job.stages:
        worked_s = 0.0
        for use in uses_of(job, stage):
            share = missed if use.role == "intermediate" and use.direction == "read" else 1.0
            worked_s += share * drives[use.role].usually_s(use.direction, use.moved, use.request) if use.moved else 0.0
        seconds[stage.name] = min(stage.elapsed_ms / 1000, worked_s / DISKS)
    return Busy(seconds, 0.0, seconds, usual_s=seconds, drives=DISKS)


_PASSED = tuple(Work._fields.index(name) for name in ("store_read", "local_written", "store_written"))
"""What went through the page cache."""


def sites(drives: Mapping[str, Drives]) -> dict[str, DriveSite]:
    """What triage may know, each with all before it."""
    return {
        "histories": DriveSite(drives),
        "and hardware threads": DriveSite(drives, THREADS),
        "and memory": DriveSite(drives, THREADS, cache_bytes=CACHE_BYTES),
        "and busy drives": DriveSite(drives, THREADS, lambda job: busy_of(job, drives), CACHE_BYTES),
    }


def rows(seed: int = 1) -> list[list[str]]:
    """By what triage knows: how many jobs may matter, how many of these are likely to, or decide, and how many not.

    The last is how many of the jobs listed first are among as many whose drives worked longest.
    """
    jobs = list(runs(seed))
    drives = drives_by_role(DRIVES, find_installation().profiles)
    worked_s: Counter[str] = Counter()
    for job in jobs:
        worked_s[job.name] += sum(busy_of(job, drives).usual_s.values())
    most = {name for name, _ in worked_s.most_common(FIRST)}
    return [[name, *map(str, _counts(judge(jobs, site, DEFAULT_WORTH), most))] for name, site in sites(drives).items()]


def _counts(judged: Sequence[JobRow], most: Container[str]) -> tuple[int, ...]:
    may = [row for row in judged if row.verdict is TriageVerdict.MAY_MATTER]
    likely_s = sorted((row.likely_s or 0.0 for row in may), reverse=True)
    before_s = [0.0, *accumulate(likely_s)]
    return (
        len(may), sum((row.likely_share or 0.0) >= DEFAULT_WORTH for row in may),
        sum(seconds < DECISIVE_SHARE * before_s[-1] for seconds in before_s[:-1]),
        sum(row.verdict is TriageVerdict.CANNOT_MATTER for row in judged),
        sum(row.verdict is TriageVerdict.NOT_KNOWN for row in judged),
        sum(row.job in most for row in judged[:FIRST]),
    )  # fmt: skip


def main() -> None:
    """Print the table."""
    table = zip(COLUMNS, zip(*rows(*map(int, sys.argv[1:2])), strict=True), strict=True)
    columns = [Column(head, list(cells), name=head == COLUMNS[0]) for head, cells in table]
    sys.stdout.write("\n".join(layout_table(columns, 120)) + "\n")


if __name__ == "__main__":
    main()
