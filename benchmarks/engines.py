"""Holds engines to each other, to plain applications of Spark and to one thread: `python benchmarks/engines.py`.

All on this machine, in one run, and with verified outputs:

- Components and triangles by Assay's jobs on MapReduce and Tez, a trial each on a cluster of one node; by GraphX in one
  process with all cores (`local[*]`); and by NetworKit with one thread, which shows what scaling out costs (McSherry,
  Isard, Murray: Scalability! But at what COST?, HotOS 2015). In turns, and all read the same edges.
- Spark's workloads against a plain application of the same algorithm (`PlainSpark.java`), in turns on one cluster of
  one node: same input, settings, executors and output, each with its own driver and executors. `--plain` chooses them.
- A chain: triangles in three jobs on the graph of components, once, for the gaps between jobs.

Seconds are those of the whole client or process, with its start, reading and writing. Prints their medians over the
rounds, and a table of goals. `--components` and `--triangles` are a file with a graph or the name of a published one,
which is then generated (`assay data list`). Goals on graphs are those of 198,050 edges for components, which
`brightkite` has a few more of, and of SNAP's ego-Twitter (1,342,296 edges as an undirected graph) for triangles, which
you have to give as a file; on a graph of another size they are not judged.

Two rounds take about 15 minutes on two cores, three about 21: 2.2 minutes a round, 1.4 for the chain, and for each
workload of `--plain` 20 s and half a minute a round; with `--plain components triangles` two rounds take about 9. Exit
code 1 where a goal is missed or a trial failed, 2 where neither is so and a goal was not judged.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

from assay.cli.context import find_installation, vocabulary
from assay.cli.run import open_trial
from assay.host.interrupts import interruptible
from assay.host.lease import release_stale
from assay.input.catalogue import open_dataset
from assay.model.dataset import DatasetSpec
from assay.model.doubt import CheckResult, Outcome
from assay.model.engine import Engine, JobReference, LaunchReport, Program, stored
from assay.model.errors import AssayError
from assay.model.installation import Installation
from assay.model.installed import variants_on
from assay.model.progress import Progress, Silent
from assay.model.record import JobRecord
from assay.model.registry import ENGINES
from assay.model.store import Store
from assay.model.trial import USUAL_ENGINE, Plan
from assay.model.workload import Workload
from assay.plan.make import read_experiment
from assay.platform.distribution import find_java
from assay.run.needs import check_needs
from assay.trial import run_trial
from assay.workload.base import BaseWorkload

TEZ, SPARK = "tez", "spark"
MEASURED = (USUAL_ENGINE, TEZ, SPARK)
ALONE, LIBRARY, PLAIN = "one thread", "GraphX", "plain Spark"
CHAIN = "chain"
"""What is called so in tables: triangles in three jobs, by `intersect` on the graph of components."""
VARIANTS = {"components": "tuned", "triangles": "partition", CHAIN: "intersect"}
"""Of Assay's jobs for MapReduce; another engine that does not run these has the first that it runs."""
OPTIONS: Mapping[str, Mapping[str, str]] = {
    "components": {},
    "triangles": {},
    "word-count": {"size": "64MB", "files": "2"},
    "grep": {"size": "64MB", "files": "2", "pattern": "un[a-z]+"},
    "terasort": {"size": "50MB"},
    "page-rank": {"scale": "14", "iterations": "5"},
    "k-means": {"points": "200000", "iterations": "5"},
}
"""The workloads that have a plain counterpart, with their options."""
GRAPHS = ("components", "triangles")
GOAL_EDGES = {"components": 198_050, "triangles": 1_342_296}
NEAR = 0.1
"""A graph is of about a goal's size if its number of edges is off by no more than this share."""

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
_LOCAL = ("-Dspark.master=local[*]", "-Dspark.ui.enabled=false", "-Xmx2g")


class Timing(NamedTuple):
    """Seconds of a process, its answer if it tells one, and of jobs: how many, the seconds in them and between them."""

    seconds: float
    answer: int | None = None
    jobs: int = 0
    in_jobs_s: float = 0.0
    to_submission_s: tuple[float, ...] = ()
    to_start_s: tuple[float, ...] = ()


Times = dict[tuple[str, str], list[Timing]]
"""By workload and by who runs it."""


class Goal(NamedTuple):
    """At most so many seconds, jobs, or seconds of any gap; or with `of` times as many seconds as that one."""

    workload: str
    by: str
    what: Literal["seconds", "jobs", "gaps"]
    most: float
    of: str | None = None

    @property
    def bound(self) -> str:
        """In words."""
        if self.of is not None:
            return f"{self.most:g} times as long as {self.of}"
        return {"seconds": f"{self.most:g} s", "jobs": f"{self.most:g} jobs", "gaps": f"{self.most:g} s between jobs"}[
            self.what
        ]


class Verdict(NamedTuple):
    """A goal, what was measured, and `pass`, `fail`, or why it was not judged."""

    goal: Goal
    measured: str
    outcome: str


PASS, FAIL = "pass", "fail"


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3, help="runs of each")
    parser.add_argument("--engines", nargs="+", choices=MEASURED, default=MEASURED, help="by default all")
    parser.add_argument(
        "--plain", nargs="+", choices=list(OPTIONS), default=list(OPTIONS), metavar="WORKLOAD",
        help=f"those of Spark's that are held to a plain application: by default all of {', '.join(OPTIONS)}",
    )  # fmt: skip
    for workload in GRAPHS:
        parser.add_argument(f"--{workload}", default="brightkite", metavar="GRAPH", help="its graph: a file or a name")
    arguments = parser.parse_args()
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    installation = find_installation()
    work = installation.parts / "work"
    work.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=work, prefix="engines-") as folder:
        try:
            release_stale(installation.state)
            bench = Bench(installation, Path(folder))
            edges = {workload: bench.bring(workload, vars(arguments)[workload]) for workload in GRAPHS}
            bench.plan(arguments.engines, arguments.plain)
            times = bench.measure(arguments.rounds)
        except AssayError as error:
            sys.exit(str(error))
    verdicts = [judged(goal, times, edges) for goal in goals(arguments.engines, arguments.plain)]
    sys.stdout.write(f"{len(os.sched_getaffinity(0))} cores; medians of {arguments.rounds} rounds\n\n")
    sys.stdout.write(times_table(times) + "\n" + goals_table(verdicts))
    sys.stdout.writelines(f"\n{sentence}\n" for sentence in (*bench.missing, *bench.failures))
    return 1 if bench.failures else exit_code(verdicts)


class Turn(NamedTuple):
    """One run: who ran, the seconds of its client, its jobs, and what Assay's own says of the answer."""

    by: str
    seconds: float
    jobs: Sequence[JobReference]
    answer: int | None


class Turns(BaseWorkload):
    """A workload that runs several times on one cluster, in turns with another program that does the same, if any.

    The order of the two is reversed in every second round; Assay's own is the first on the fresh cluster, where a start
    takes somewhat longer. All outputs are verified as the workload's own.
    """

    def __init__(self, workload: Workload, by: str, program: Program | None, rounds: int) -> None:
        self.spec, self.base, self.input, self.part = workload.spec, workload.base, workload.input, ""
        self._workload, self._rounds = workload, rounds
        self._ways: list[tuple[str, Program | None]] = [(by, None)]
        if program is not None:
            self._ways.append((PLAIN, program))
        self._verdicts: list[CheckResult] = []
        self.turns: list[Turn] = []

    @property
    def read_path(self) -> str | None:
        """None: what all turns read together is not judged."""
        return None

    def stage(self, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """As the workload does."""
        self._store = store
        return self._workload.stage(store, engine, progress)

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Run all turns; the report is the workload's last, with the jobs of all."""
        of_workload = LaunchReport(jobs=(), result={})
        for number in range(self._rounds):
            for by, program in self._ways[:: -1 if number % 2 else 1]:
                self._store.delete(self.output_path)
                began = time.monotonic()
                if program is None:
                    report = of_workload = self._workload.run(engine, progress)
                else:
                    report = engine.run_program(program, progress)
                seconds = time.monotonic() - began
                answer = report.result.get(self.spec.name)
                self.turns.append(Turn(by, seconds, report.jobs, None if answer is None else int(answer)))
                self._verdicts += self._workload.verify(self._store, of_workload)
        return of_workload.model_copy(update={"jobs": tuple(job for turn in self.turns for job in turn.jobs)})

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:  # noqa: ARG002 - done by then
        """What all turns' outputs were judged to be."""
        return tuple(self._verdicts)


class Planned(NamedTuple):
    """A trial to be measured: its workload as tables call it, its engine, and its plan of one trial."""

    workload: str
    engine: str
    plan: Plan


class Bench:
    """What is measured, with files in a folder of this run; `missing` and `failures` say what could not be."""

    def __init__(self, installation: Installation, scratch: Path) -> None:
        self._installation, self._scratch = installation, scratch
        self._java = find_java(os.environ)
        self._spark = installation.parts / SPARK / "lib"
        self._hadoop = (installation.parts / "hadoop").resolve() / "lib"
        self._jar = scratch / "plain-spark.jar"
        self._planned: list[Planned] = []
        self.missing: list[str] = []
        self.failures: list[str] = []

    def bring(self, workload: str, graph: str) -> int:
        """Write the edges of a graph into the file that all read, and tell how many there are.

        Raises AssayError where there is no such graph.
        """
        file = Path(graph)
        spec = (
            DatasetSpec(name=workload, file=file.absolute()) if file.is_file() else DatasetSpec(name=graph, make=graph)
        )
        edges = open_dataset(spec, self._installation.cache).graph().edges
        sys.stderr.write(f"{workload}: {graph}, {len(edges):,} edges\n")
        with self._edges(workload).open("w", encoding="ascii") as target:
            target.writelines(f"{one}\t{other}\n" for one, other in edges.tolist())
        return len(edges)

    def _edges(self, workload: str) -> Path:
        return self._scratch / f"{'components' if workload == CHAIN else workload}.txt"

    def plan(self, engines: Sequence[str], plain: Sequence[str]) -> None:
        """Plan and check all trials on the engines that are here. Raises BadInputError before anything starts."""
        if self._spark.is_dir():
            self.make_jar()
        for engine in engines:
            if not self._is_here(engine):
                target = self._installation.parts / engine
                self.missing.append(f"{engine} is not here; fetch it: programs/{engine}/prepare {target}")
                continue
            for workload in plain if engine == SPARK else (*GRAPHS, CHAIN):
                plan = self._plan(workload, engine)
                check_needs(plan, partial(open_trial, installation=self._installation), Silent())
                self._planned.append(Planned(workload, engine, plan))

    def _is_here(self, engine: str) -> bool:
        return engine == USUAL_ENGINE or (self._installation.parts / engine / "lib").is_dir()

    def _plan(self, workload: str, engine: str) -> Plan:
        name = "triangles" if workload == CHAIN else workload
        disk = Path(tempfile.mkdtemp(dir=self._scratch, prefix="disk-"))
        experiment = {
            "experiment": "engines",
            "workloads": [{"name": name, "variant": _variant(workload, name, engine), "options": {**OPTIONS[name]}}],
            **({"datasets": [{"file": str(self._edges(workload))}]} if name in GRAPHS else {}),
            "media": {"disk": {"kind": "directory", "path": str(disk)}},
            "engine": engine,
            "cache": "warm",
            "probes": "none",
        }
        file = self._scratch / "experiment.yaml"
        file.write_text(json.dumps(experiment), encoding="utf-8")  # which is YAML too
        return read_experiment(file, vocabulary(self._installation)).plan

    def make_jar(self) -> None:
        """Compile the plain applications into a jar."""
        classes = self._scratch / "classes"
        source = Path(__file__).with_name("PlainSpark.java")
        compiler = self._java.home / "bin" / "javac"
        subprocess.run([compiler, "-nowarn", "-cp", self._classpath, "-d", classes, source], check=True)
        with zipfile.ZipFile(self._jar, "w") as jar:
            for file in sorted(classes.rglob("*.class")):
                jar.write(file, file.relative_to(classes))

    @property
    def _classpath(self) -> str:
        return os.pathsep.join(f"{folder}/*" for folder in (self._spark, self._hadoop))

    def measure(self, rounds: int) -> Times:
        """Measure all that is planned; a trial that fails, or tells another answer, is one of `failures`."""
        times: Times = {}
        for number in range(rounds):
            for workload in GRAPHS:
                self._note(times, workload, ALONE, [self.alone(workload)])
                if self._jar.exists():
                    self._note(times, workload, LIBRARY, [self.library(workload, number)])
            for planned in self._planned:
                if planned.engine != SPARK and (planned.workload != CHAIN or number == 0):
                    self._trial(planned, 1, times)
        for planned in self._planned:
            if planned.engine == SPARK:
                self._trial(planned, rounds, times)
        return times

    def _note(self, times: Times, workload: str, by: str, timings: Sequence[Timing]) -> None:
        times.setdefault((workload, by), []).extend(timings)
        sys.stderr.write(f"{workload} by {by}: {', '.join(f'{timing.seconds:.1f}' for timing in timings)} s\n")
        answers = {
            (other, timing.answer)
            for (name, other), known in times.items()
            for timing in known
            if name == workload and timing.answer is not None
        }
        if len({answer for _, answer in answers}) > 1:
            self._fail(f"{workload} differ: {sorted(answers)}")

    def _fail(self, sentence: str) -> None:
        sys.stderr.write(f"{sentence}\n")
        self.failures.append(sentence)

    def alone(self, workload: str) -> Timing:
        """By one thread of NetworKit."""
        seconds, said = _timed([sys.executable, "-c", _ALONE, workload, str(self._edges(workload))])
        return Timing(seconds, int(said.split()[-1]))

    def library(self, workload: str, number: int) -> Timing:
        """By GraphX in one process, in the round of this number."""
        output = self._scratch / f"{workload}-{number}"
        seconds, _ = _timed([*self.local_command(), workload, str(self._edges(workload)), str(output)])
        return Timing(seconds, _answer(workload, output))

    def local_command(self) -> list[str]:
        """What runs a plain application in one process, with all cores."""
        opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
        classpath = f"{self._jar}{os.pathsep}{self._classpath}"
        return [str(self._java.command), *opened, *_LOCAL, "-cp", classpath, "PlainSpark"]

    def _trial(self, planned: Planned, rounds: int, times: Times) -> None:
        """Run a trial with so many runs in it, and note the time of each."""
        (trial,) = planned.plan.trials
        with interruptible(), open_trial(trial, self._installation) as setup:
            workload = setup.workload()
            program = plain_program(workload, self._jar) if planned.engine == SPARK else None
            turns = Turns(workload, planned.engine, program, rounds)
            record = run_trial(trial, setup._replace(workload=lambda: turns), Silent()).record
        wrong = [verdict for verdict in record.verdicts if verdict.outcome is not Outcome.PASS]
        if record.error is not None or wrong or not record.verdicts:
            reason = record.error or "; ".join(f"{verdict.check}: {verdict.detail}" for verdict in wrong)
            self._fail(f"{planned.workload} by {planned.engine} failed: {reason or 'nothing was verified'}")
            return
        jobs = {job.id: job for job in record.jobs}
        for by in dict.fromkeys(turn.by for turn in turns.turns):
            self._note(times, planned.workload, by, [timing_of(turn, jobs) for turn in turns.turns if turn.by == by])


def plain_program(workload: Workload, jar: Path) -> Program:
    """The plain application that does what a workload of `OPTIONS` does, with its input and output."""
    name, staged, options = workload.spec.name, workload.input_path, workload.spec.options
    source = {"terasort": f"{staged}/rows", "k-means": f"{staged}/points"}.get(name, staged)
    more = {
        "grep": [options.get("pattern", "")],
        "page-rank": [options.get("iterations", "")],
        "k-means": [stored(f"{staged}/centres"), options.get("iterations", "")],
    }
    arguments = (name, stored(source), stored(workload.output_path), *more.get(name, []))
    return Program(name=f"plain {name}", jar=str(jar), main_class="PlainSpark", arguments=arguments, last_lines=8)


def timing_of(turn: Turn, records: Mapping[str, JobRecord]) -> Timing:
    """A turn's timing, with what history tells of its jobs."""
    jobs = sorted((records[job.id] for job in turn.jobs), key=lambda job: job.submitted_ms)
    pairs = list(pairwise(jobs))
    return Timing(
        turn.seconds,
        turn.answer,
        len(jobs),
        sum(job.elapsed_s for job in jobs),
        tuple((after.submitted_ms - before.finished_ms) / 1000 for before, after in pairs),
        tuple((after.started_ms - before.finished_ms) / 1000 for before, after in pairs),
    )


def _timed(command: Sequence[str]) -> tuple[float, str]:
    """The seconds of a process, and what it prints. Exits with its errors when it fails."""
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{done.stderr[-4000:]}")
    return time.monotonic() - began, done.stdout


def _answer(workload: str, output: Path) -> int:
    """How many components or triangles an output in files tells."""
    lines = [
        line.split("\t") for file in output.glob("part-*") for line in file.read_text(encoding="utf-8").splitlines()
    ]
    if workload == "components":
        return sum(vertex == component for vertex, component in lines)
    return int(lines[0][0])


def _variant(workload: str, name: str, engine: str) -> str:
    """The variant of the workload `name` that is measured on an engine."""
    variants = list(variants_on(name, ENGINES[engine]))
    wanted = VARIANTS.get(workload, "")
    return wanted if wanted in variants else variants[0]


def goals(engines: Sequence[str], plain: Sequence[str]) -> list[Goal]:
    """The goals of these engines; Spark's are those of the workloads that are held to a plain application."""
    every = []
    if USUAL_ENGINE in engines:
        every += [Goal(workload, USUAL_ENGINE, "seconds", 20) for workload in GRAPHS]
    if TEZ in engines:
        # GraphX's time is that of its process: its start is in it.
        every += [Goal(workload, TEZ, "seconds", 1.5, LIBRARY) for workload in GRAPHS]
    for engine in engines:
        if engine != SPARK:
            every += [Goal("components", engine, "jobs", 3), Goal(CHAIN, engine, "gaps", 1)]
    if SPARK in engines:
        every += [Goal(workload, SPARK, "seconds", 1.2, PLAIN) for workload in plain]
    return every


def judged(goal: Goal, times: Mapping[tuple[str, str], Sequence[Timing]], edges: Mapping[str, int]) -> Verdict:
    """Judge a goal; that of a graph only where it has about as many edges as the goal's."""
    timings = times.get((goal.workload, goal.by))
    others = times.get((goal.workload, goal.of)) if goal.of is not None else ()
    if timings is None or others is None:
        return Verdict(goal, "", f"{goal.by if timings is None else goal.of} was not measured")
    if goal.what == "jobs":
        figure = max(timing.jobs for timing in timings)
        measured = f"{figure}"
    elif goal.what == "gaps":
        gaps = [gap for timing in timings for gap in timing.to_submission_s]
        if not gaps:
            return Verdict(goal, "", "no gaps")
        figure = max(gaps)
        measured = f"{figure:.1f} s"
    else:
        seconds = median(timing.seconds for timing in timings)
        figure = seconds / median(timing.seconds for timing in others) if others else seconds
        measured = f"{figure:.2f} times" if others else f"{figure:.1f} s"
    goal_edges = GOAL_EDGES.get(goal.workload)
    if goal_edges is not None and abs(edges[goal.workload] / goal_edges - 1) > NEAR:
        return Verdict(goal, measured, "another graph")
    return Verdict(goal, measured, FAIL if figure > goal.most else PASS)


def exit_code(verdicts: Sequence[Verdict]) -> int:
    """1 where a goal is missed, else 2 where one was not judged, else 0."""
    outcomes = {verdict.outcome for verdict in verdicts}
    return 1 if FAIL in outcomes else 2 if outcomes - {PASS} else 0


def times_table(times: Mapping[tuple[str, str], Sequence[Timing]]) -> str:
    """The medians, in a table of Markdown."""
    heads = ("workload", "by", "s", "jobs", "s in jobs", "to next submission", "to next start", f"of {ALONE}")
    seconds = {key: median(timing.seconds for timing in timings) for key, timings in times.items()}
    rows = []
    for (workload, by), timings in sorted(times.items(), key=lambda item: _place(item[0][0])):
        alone = seconds.get((workload, ALONE))
        took = seconds[workload, by]
        rows.append((workload, by, f"{took:.1f}", *_of_jobs(timings), "" if alone is None else f"{took / alone:.1f}"))
    return _table(heads, rows)


def _place(workload: str) -> int:
    """Rows of a workload stand together, although they were measured at several times."""
    return [*OPTIONS, CHAIN].index(workload)


def goals_table(verdicts: Sequence[Verdict]) -> str:
    """The verdicts, in a table of Markdown."""
    rows = [
        (verdict.goal.workload, verdict.goal.by, verdict.goal.bound, verdict.measured, verdict.outcome)
        for verdict in verdicts
    ]
    return _table(("workload", "by", "at most", "measured", "verdict"), rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, ["---"] * len(heads), *rows))


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
