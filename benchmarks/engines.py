"""Holds engines to each other, to Spark's own GraphX and to one thread: `python benchmarks/engines.py [--rounds 3]`.

Components and triangles, in turns on this machine: by Assay's jobs on each engine that is here (a trial each, on a
cluster of one node, its output verified); by GraphX as its guide shows it, in one process with all cores, where Spark
is here; and by NetworKit with one thread, which shows what scaling out costs (McSherry, Isard, Murray: Scalability! But
at what COST?, HotOS 2015). All read the same edges. Seconds are those of the whole process: of the jobs' client, of
GraphX, of NetworKit, each with its start and with reading. Prints their median over the rounds, the time in jobs and
from one job's end to the next one's submission and start, and how many times one thread's time each takes.

`--components` and `--triangles` are a file with a graph or the name of a published one, which is then generated
(`assay data list`). The goals are those of 198,050 edges for components, which `brightkite` has a few more of, and of
SNAP's ego-Twitter for triangles. Exit code 1 where one is missed. With three engines a round takes about 4 minutes on
two cores.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from assay.cli.context import find_installation
from assay.input.catalogue import open_dataset
from assay.model.dataset import DatasetSpec
from assay.model.errors import AssayError
from assay.model.installation import Installation
from assay.model.installed import variants_on
from assay.model.record import Record, Status
from assay.model.registry import ENGINES, WORKLOADS
from assay.model.trial import USUAL_ENGINE
from assay.platform.distribution import find_java

VARIANTS = {"components": "tuned", "triangles": "partition"}
"""Of Assay's jobs for MapReduce; another engine that does not run these has the first that it runs."""
ALONE, LIBRARY = "one thread", "GraphX"


class Goal(NamedTuple):
    """At most so many seconds, or so many times as long as another."""

    most: float
    of: str | None = None


GOALS = {"mapreduce": Goal(20.0), "tez": Goal(1.5, LIBRARY), "spark": Goal(1.2, LIBRARY)}

_ALONE = """
import sys, networkit, numpy
networkit.setNumberOfThreads(1)
with open(sys.argv[2]) as file:
    edges = numpy.fromstring(file.read(), dtype=numpy.int64, sep=" ").reshape(-1, 2)
vertices, ends = numpy.unique(edges, return_inverse=True)
ends = ends.reshape(-1, 2).astype(numpy.uint64)
graph = networkit.GraphFromCoo((ends[:, 0].copy(), ends[:, 1].copy()), n=len(vertices), directed=False, weighted=False)
if sys.argv[1] == "components":
    print(networkit.components.ConnectedComponents(graph).run().numberOfComponents())
else:
    graph.indexEdges()
    print(int(sum(networkit.sparsification.TriangleEdgeScore(graph).run().scores())) // 3)
"""
# What Spark opens of Java's own modules (org.apache.spark.launcher.JavaModuleOptions), as far as GraphX needs it.
_OPENED = (
    "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.util",
    "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs", "sun.security.action",
    "sun.util.calendar",
)  # fmt: skip


class Timing(NamedTuple):
    """Seconds of a process, its answer, and of jobs: how many, the seconds in them and between them."""

    seconds: float
    answer: int
    jobs: int = 0
    in_jobs_s: float = 0.0
    to_submission_s: tuple[float, ...] = ()
    to_start_s: tuple[float, ...] = ()


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each")
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), help="all that are here, if left out")
    for workload in VARIANTS:
        parser.add_argument(f"--{workload}", default="brightkite", metavar="GRAPH", help="its graph: a file or a name")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    installation = find_installation()
    work = installation.parts / "work"
    work.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=work, prefix="engines-") as folder:
        bench = Bench(installation, Path(folder))
        names = bench.engines(arguments.engines)
        times: dict[tuple[str, str], list[Timing]] = {}
        try:
            for workload in VARIANTS:
                bench.bring(workload, vars(arguments)[workload])
            for _ in range(arguments.rounds):
                for workload in VARIANTS:
                    bench.measure(workload, names, times)
        except AssayError as error:
            sys.exit(str(error))
    return _print(times)


class Bench:
    """What is measured, with files in a folder of this run."""

    def __init__(self, installation: Installation, scratch: Path) -> None:
        self._installation, self._scratch = installation, scratch
        self._java = find_java(os.environ)
        self._spark = installation.parts / "spark" / "lib"
        self._hadoop = (installation.parts / "hadoop").resolve() / "lib"
        self._classes: Path | None = None
        self._runs = 0

    def engines(self, asked: Sequence[str] | None) -> list[str]:
        """The engines that are measured: those asked for, else all whose programs are here."""
        if asked:
            return list(asked)
        parts = self._installation.parts
        here = [name for name in ENGINES if name == USUAL_ENGINE or (parts / name / "lib").is_dir()]
        return [name for name in here if all(_variant(workload, name) for workload in VARIANTS)]

    def bring(self, workload: str, graph: str) -> None:
        """Write the edges of a graph into the file that all read. Raises AssayError where there is no such graph."""
        file = Path(graph)
        spec = (
            DatasetSpec(name=workload, file=file.absolute()) if file.is_file() else DatasetSpec(name=graph, make=graph)
        )
        edges = open_dataset(spec, self._installation.cache).graph().edges
        sys.stderr.write(f"{workload}: {graph}, {len(edges):,} edges\n")
        with self._edges(workload).open("w", encoding="ascii") as target:
            target.writelines(f"{one}\t{other}\n" for one, other in edges.tolist())

    def _edges(self, workload: str) -> Path:
        return self._scratch / f"{workload}.txt"

    def measure(self, workload: str, engines: Sequence[str], times: dict[tuple[str, str], list[Timing]]) -> None:
        """Measure each way once, and add it to `times`. Exits where their answers differ."""
        ways = {ALONE: self._alone, **({LIBRARY: self._library} if self._spark.is_dir() else {})}
        measured = {name: way(workload) for name, way in ways.items()}
        measured |= {engine: self._trial(workload, engine) for engine in engines}
        for name, timing in measured.items():
            sys.stderr.write(f"{workload} by {name}: {timing.seconds:.1f} s\n")
            times.setdefault((workload, name), []).append(timing)
        if len({timing.answer for timing in measured.values()}) > 1:
            sys.exit(f"{workload} differ: { ({name: timing.answer for name, timing in measured.items()}) }")

    def _alone(self, workload: str) -> Timing:
        return self._process([sys.executable, "-c", _ALONE, workload, str(self._edges(workload))])

    def _library(self, workload: str) -> Timing:
        classpath = os.pathsep.join(f"{folder}/*" for folder in (self._spark, self._hadoop))
        if self._classes is None:
            self._classes = self._scratch / "classes"
            source = Path(__file__).with_name("GraphxTimes.java")
            compiler = self._java.home / "bin" / "javac"
            subprocess.run([compiler, "-nowarn", "-cp", classpath, "-d", self._classes, source], check=True)
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
        classpath = f"{self._classes}{os.pathsep}{classpath}"
        command = [str(self._java.command), *opened, "-Xmx2g", "-cp", classpath, "GraphxTimes"]
        return self._process([*command, workload, str(self._edges(workload))])

    def _process(self, command: Sequence[str]) -> Timing:
        began = time.monotonic()
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        if done.returncode:
            sys.exit(f"{command[0]} failed:\n{done.stderr[-4000:]}")
        return Timing(time.monotonic() - began, int(done.stdout.split()[-1]))

    def _trial(self, workload: str, engine: str) -> Timing:
        self._runs += 1
        folder = self._scratch / f"run-{self._runs}"
        disk = self._scratch / f"disk-{self._runs}"
        disk.mkdir()
        plan = self._scratch / "experiment.yaml"
        experiment = {
            "experiment": "engines",
            "workloads": [{"name": workload, "variant": _variant(workload, engine)}],
            "datasets": [{"file": str(self._edges(workload))}],
            "media": {"disk": {"kind": "directory", "path": str(disk)}},
            "engine": engine,
            "cache": "warm",
            "probes": "none",
        }
        plan.write_text(json.dumps(experiment), encoding="utf-8")  # which is YAML too
        command = [sys.executable, "-m", "assay", "run", str(plan), "--out", str(folder)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
        files = sorted(folder.glob("trials/*/record.json"))
        if not files:
            sys.exit(f"{workload} by {engine} left no record:\n{(done.stdout + done.stderr)[-4000:]}")
        return _timing(Record.model_validate_json(files[0].read_bytes()), workload)


def _timing(record: Record, workload: str) -> Timing:
    if record.status is not Status.FINISHED:
        sys.exit(f"{record.trial.id} failed: {record.error}")
    jobs = sorted(record.jobs, key=lambda job: job.submitted_ms)
    pairs = list(pairwise(jobs))
    return Timing(
        next(step.seconds for step in record.steps if step.name == "run"),
        int(record.outputs[0].summary[workload]),
        len(jobs),
        sum(job.elapsed_s for job in jobs),
        tuple((after.submitted_ms - before.finished_ms) / 1000 for before, after in pairs),
        tuple((after.started_ms - before.finished_ms) / 1000 for before, after in pairs),
    )


def _variant(workload: str, engine: str) -> str | None:
    """The variant that is measured on an engine; None where it runs none."""
    variants = variants_on(WORKLOADS[workload], ENGINES[engine])
    return VARIANTS[workload] if VARIANTS[workload] in variants else next(iter(variants), None)


def _print(times: dict[tuple[str, str], list[Timing]]) -> int:
    heads = (
        "workload", "by", "s", "jobs", "s in jobs", "to next submission", "to next start", f"of {ALONE}", "at most",
        "verdict",
    )  # fmt: skip
    sys.stdout.write(f"{len(os.sched_getaffinity(0))} cores; medians of {len(next(iter(times.values())))} rounds\n\n")
    sys.stdout.write(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}\n")
    seconds = {key: median(timing.seconds for timing in timings) for key, timings in times.items()}
    missed = 0
    for (workload, name), timings in times.items():
        took, goal = seconds[workload, name], GOALS.get(name)
        bound, verdict = "", ""
        if goal is not None:
            other = 1.0 if goal.of is None else seconds.get((workload, goal.of))
            bound = f"{goal.most:g} s" if goal.of is None else f"{goal.most:g} x {goal.of}"
            fails = other is not None and took > goal.most * other
            verdict = f"{goal.of} is not here" if other is None else "fail" if fails else "pass"
            missed += fails
        cells = (
            workload, name, f"{took:.1f}", *_of_jobs(timings), f"{took / seconds[workload, ALONE]:.1f}", bound, verdict
        )  # fmt: skip
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
    return 1 if missed else 0


def _of_jobs(timings: Sequence[Timing]) -> tuple[str, str, str, str]:
    """The cells of jobs, empty without any; of the gaps the median and the longest."""

    def gaps(of: list[float]) -> str:
        return f"{median(of):.1f}, {max(of):.1f} s" if of else ""

    if not timings[0].jobs:
        return "", "", "", ""
    return (
        str(timings[0].jobs),
        f"{median(timing.in_jobs_s for timing in timings):.1f}",
        gaps([gap for timing in timings for gap in timing.to_submission_s]),
        gaps([gap for timing in timings for gap in timing.to_start_s]),
    )


if __name__ == "__main__":
    sys.exit(main())
