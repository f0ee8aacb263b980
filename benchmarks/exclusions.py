"""What `experiments/exclusions.yaml` should give, worked out before it runs.

For each of its jobs the time on the hard disk, the bound and the verdicts of triage, by what such jobs computed, moved
and waited on two cores of the kind that it is to run on. `benchmarks/triage_truth.py` tells what came out.
`PYTHONPATH=src:extras:. python benchmarks/exclusions.py`.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from assay.cli.context import find_installation
from assay.engine.past.job import PastJob, StageSums, Work
from assay.engine.past.spark import PastApplication
from assay.engine.past.task_times import ReadSpan, sums_of
from assay.engine.spark_tasks import COMPUTE, FETCH
from assay.model.naming import bytes_text
from assay.model.trial import DEFAULT_WORTH
from assay.report.columns import Column, layout_table
from assay.triage.bounds import Busy, bound_of, uses_of
from assay.triage.drives import drives_by_role
from assay.triage.ranking import DriveSite, JobRow, judge

EXPERIMENT = Path(__file__).parents[1] / "experiments" / "exclusions.yaml"
DRIVES, CORES = "1xwd10ezex", 2
TERM_S, NUMBER_S = 5.5e-10, 4e-8
"""Of k-means: for each coordinate of a point and of a centre, and for each number that is read."""
ALTERNATIVE_S = 5.5e-9
"""Of grep: for each byte and each alternative of the pattern."""
WORD_BYTES_S = 5e6
"""Of word counts: bytes that a core reads in a second."""
START_S, COMPILED_S, AT_ONCE = {"mapreduce": 2.5, "spark": 0.5}, 1.0, 1.15
"""A task begins for so long, and its compiler's threads compute for so long beside it; two tasks at once, which share
the cores with all else, compute so many times as long."""
FIRST_S = {"mapreduce": 2.0, "spark": 8.0}
"""From a job's start to that of its first task."""
REDUCE_S, REDUCE_CPU_S = {"mapreduce": 3.5, "spark": 0.3}, {"mapreduce": 2.0, "spark": 0.15}
"""A reducer's time without its bytes, and what it computes of that."""
NUMBER_BYTES, CENTRE_BYTES = 3.26, 17.0
"""A number of a point as text, and of a centre."""
BYTES_S = 40e6
"""What a task moves in a second beside its computing."""
COLUMNS = ("engine", "job", "time", "read", "bound", "waits", "by histories", "with busy drives and threads")


class Load(NamedTuple):
    """What a job computes and moves: processor seconds in all, bytes, its first stage's tasks and how many run at once.

    It does so in so many `rounds`: those after the first read nothing.
    """

    cpu_s: float
    read: float
    shuffled: float
    written: float
    tasks: int = 1
    at_once: int = 1
    rounds: int = 1
    heartbeat_ms: int = 50


class Expectation(NamedTuple):
    """A job of the experiment with what is expected of it on the hard disk."""

    engine: str
    name: str
    load: Load
    seconds: float
    bound_s: float
    waits_s: float
    verdict: str
    busy_verdict: str


def load_of(entry: Mapping[str, Any], variant: str) -> Load:
    """Of an entry under `workloads`."""
    options, properties = entry["options"], {**entry.get("hadoop", {}), **entry.get("spark", {})}
    at_once = 2 if properties.get("mapreduce.job.running.map.limit") == 2 else 1
    if entry["name"] == "k-means":
        points, attributes, centres = options["points"], options["attributes"], options["k"]
        text = points * attributes * NUMBER_BYTES
        sums = centres * (6 + 24 * attributes) * at_once
        rounds = options["iterations"]
        cpu_s = points * attributes * (NUMBER_S + rounds * centres * TERM_S)
        shuffled = points * (8 + 8 * attributes) if variant == "paper" else sums
        written = centres * attributes * CENTRE_BYTES
        return Load(cpu_s, text + written, shuffled, written, at_once, at_once, rounds)
    size = float(options["size"].removesuffix("MB")) * 1e6
    files = options.get("files", 4)
    if entry["name"] == "grep":
        alternatives = options["pattern"].count("|") + 1
        heartbeat_ms = properties.get("yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms", 50)
        cpu_s = size * alternatives * ALTERNATIVE_S
        return Load(cpu_s, size, 1e5, 1e5, files, at_once, heartbeat_ms=heartbeat_ms)
    return Load(size / WORD_BYTES_S, size, 6e6, 1e6, files, at_once)


def job_of(engine: str, name: str, load: Load) -> PastJob:
    """What its history would say."""
    kind: type[PastJob] = PastApplication if engine == "spark" else PastJob
    stages = list(_stages(engine, load))
    end_ms = stages[-1].end_ms + 500
    return kind(
        "1", name, "", "", "SUCCEEDED", 1, 1, end_ms, uberized=False, maps=0, reduces=0, stages=tuple(stages),
        nodes=("node",), container_waits=1, settings={
            "dfs.replication": "1", "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": str(load.heartbeat_ms),
            "spark.yarn.scheduler.heartbeat.interval-ms": "200",
        },
    )  # fmt: skip


def _stages(engine: str, load: Load) -> Iterator[StageSums]:
    mapreduce = engine == "mapreduce"
    names = ("map", "reduce", "shuffle") if mapreduce else (COMPUTE, COMPUTE, FETCH)
    at_ms = 1 + 1000 * FIRST_S[engine]
    slower = AT_ONCE if load.at_once > 1 else 1.0
    for number in range(load.rounds):
        read = load.read if number == 0 else 0.0
        cpu_ms = 1000 * load.cpu_s / load.rounds / load.tasks
        length_ms = slower * cpu_ms + 1000 * (START_S[engine] + read / load.tasks / BYTES_S)
        cpu_ms += 1000 * COMPILED_S if mapreduce else 0
        work = Work(
            tasks=load.tasks, cpu_ms=round(cpu_ms * load.tasks), store_read=round(read),
            local_written=round(load.shuffled), map_output_on_disk=round(load.shuffled),
        )  # fmt: skip
        yield _stage(names[0], at_ms, [(length_ms, cpu_ms)] * load.tasks, load.at_once, work, names[0])
        at_ms += length_ms * -(-load.tasks // load.at_once)
        reduce_ms, reduce_cpu_ms = 1000 * (REDUCE_S[engine] + load.shuffled / BYTES_S), 1000 * REDUCE_CPU_S[engine]
        reduced = Work(
            tasks=1, cpu_ms=round(reduce_cpu_ms), fetched=round(load.shuffled), fetches=load.tasks,
            store_written=round(load.written),
        )  # fmt: skip
        yield _stage(names[1], at_ms, [(reduce_ms, reduce_cpu_ms)], 1, reduced, names[2])
        at_ms += reduce_ms


def _stage(
    name: str, at_ms: float, tasks: Sequence[tuple[float, float]], at_once: int, work: Work, phase: str
) -> StageSums:
    spans = []
    for number, (length_ms, cpu_ms) in enumerate(tasks):
        begin_ms = at_ms + number // at_once * length_ms
        spans.append(ReadSpan(round(begin_ms), round(begin_ms + length_ms), round(cpu_ms)))
    return sums_of(name, spans, {phase: round(sum(length_ms for length_ms, _ in tasks))}, [work])


def expectations() -> Iterator[Expectation]:
    """Of each job of the experiment."""
    experiment = YAML(typ="safe").load(EXPERIMENT)
    left_out = [
        (variant, choice["engine"]) for choice in experiment["exclude"]
        for variant in ([choice["variant"]] if isinstance(choice["variant"], str) else choice["variant"])
    ]  # fmt: skip
    for entry in experiment["workloads"]:
        for engine in experiment["engine"]:
            variant = entry["variant"] if isinstance(entry["variant"], str) else entry["variant"][engine]
            if (variant, engine) not in left_out:
                yield _expectation(engine, entry, variant)


def _expectation(engine: str, entry: Mapping[str, Any], variant: str) -> Expectation:
    load = load_of(entry, variant)
    job = job_of(engine, entry["name"], load)
    drives = drives_by_role(DRIVES, find_installation().profiles)
    worked_s = sum(
        (of := drives[use.role]).usually_s(use.direction, use.moved, use.request) + use.accesses * of.read_access_s
        for stage in job.stages for use in uses_of(job, stage)
    )  # fmt: skip
    stages = {stage.name: worked_s for stage in job.stages}
    sites = DriveSite(drives), DriveSite(drives, CORES, lambda _: Busy(stages, 0.0))
    verdicts = [_judged(job, site).verdict for site in sites]
    options = " ".join(map(_option_text, entry["options"], entry["options"].values()))
    name = f"{entry['name']} {variant} ({options}{', two at once' if load.at_once > 1 else ''})"
    return Expectation(
        engine, name, load, job.elapsed_s, bound_of(job, drives).seconds, job.polls_s, *map(str, verdicts)
    )


def _option_text(name: str, value: object) -> str:
    return f"{str(value).count('|') + 1} patterns" if name == "pattern" else f"{name}={value}"


def _judged(job: PastJob, site: DriveSite) -> JobRow:
    (row,) = judge([job], site, DEFAULT_WORTH)
    return row


def rows(expected: Sequence[Expectation]) -> list[list[str]]:
    """What is expected, a job in a row."""
    return [
        [
            of_job.engine, of_job.name, f"{of_job.seconds:.0f} s", bytes_text(of_job.load.read),
            f"{of_job.bound_s:.1f} s ({100 * of_job.bound_s / of_job.seconds:.0f} %)", f"{of_job.waits_s:.1f} s",
            of_job.verdict, of_job.busy_verdict,
        ]
        for of_job in expected
    ]  # fmt: skip


def main() -> None:
    """Print the table."""
    table = zip(COLUMNS, zip(*rows(list(expectations())), strict=True), strict=True)
    columns = [Column(head, list(cells), name=head in {"engine", "job"}) for head, cells in table]
    sys.stdout.write("\n".join(layout_table(columns, 200)) + "\n")


if __name__ == "__main__":
    main()
