"""Holds stores to their own clients: `python benchmarks/stores.py [STORE] [--size 200MB]`, by default of HBase.

On one cluster of one node, in turns, with lines that are points of 60 attributes. Prints the ratio of the times, in the
geometric mean of the turns, with its 95 % interval. Exit code 1 where a ratio is above its goal. Needs some 4 GB of
memory and four times the size on the disk of the checkout.

`hbase`: a scan through the jobs' input format against a scan by HBase's client, in one process; a read of a snapshot
against that scan; and a bulk load (`hadoop fs -put` with HFiles) against ImportTsv with `importtsv.bulk.output` and the
load of its HFiles, from the start of the first command to the end of the last. The two loads do not do the same work:
ImportTsv's time has the start of its job in it, and a shuffle that sorts the rows by their keys, while Assay's load is
one client's stream of keys that already rise. A snapshot is taken before its reads are timed. `--loads 0` fills the
table once, and compares reads alone: ImportTsv takes most of the time, two minutes for three loads of 100 MB on two
cores.

`cassandra`: a scan through the jobs' input format against parallel queries of ranges of tokens by Cassandra's driver,
and a lookup of 10,000 lines through the format against gets by the driver. Both have as many threads as there are
cores, and connect within their times. A thread has 500 gets on their way; the format waits for all of them before it
sends the next ones.

`documents`: the same against MongoDB's driver, which reads whole collections, and gets one document at a time for each
thread, as the format does.

`redis`: the same against Jedis, which gets 500 keys with each command, as the format does; all keys are known.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median, stdev
from typing import IO

import numpy as np
from scipy.stats import t

from assay.cli.context import find_installation
from assay.host.lease import release_stale
from assay.input.points import GeneratedPoints
from assay.model.cluster import EmbeddedSpec
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.naming import size_of
from assay.model.progress import Silent
from assay.model.running_cluster import RunningCluster, with_classpath
from assay.plan.settings import resolve, shipped_profiles
from assay.platform.distribution import bundled, find_java
from assay.platform.embedded import EmbeddedCluster
from assay.platform.programs import job_jars

ATTRIBUTES, REGIONS = 60, 4
LOOKED_UP = 10_000
_CLIENT_OPTIONS = "HADOOP_CLIENT_OPTS"
GOALS = {
    ("scan", "client scan"): 1.3,
    ("snapshot", "scan"): 1.0,
    ("bulk load", "ImportTsv and load"): 1.3,
    ("scan", "driver scan"): 1.3,
    ("lookup", "driver lookup"): 1.5,
}
"""How many times as long each may take as the other, at most."""


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", nargs="?", choices=("hbase", "cassandra", "documents", "redis"), default="hbase")
    parser.add_argument("--size", type=size_of, default="200MB", help="bytes of lines, such as 1GB")
    parser.add_argument("--rounds", type=int, default=5, help="reads of each kind")
    parser.add_argument("--loads", type=int, default=3, help="loads of HBase of each kind; 0 compares no loads")
    arguments = parser.parse_args()
    if arguments.size is None or arguments.rounds < 2 or arguments.loads not in {0, *range(2, 100)}:
        parser.error("--size must be a size such as 1GB, --rounds 2 or more, and --loads 0 or 2 to 99")
    million = GeneratedPoints(1_000_000, ATTRIBUTES, 1)
    points = GeneratedPoints(math.ceil(arguments.size * million.count / int(million.size().bytes)), ATTRIBUTES, 1)
    if points.count < LOOKED_UP:
        parser.error(f"--size gives {points.count} lines, and {LOOKED_UP} are looked up; give a larger one")
    with _cluster(arguments.store) as (running, scratch):
        tool = Tool(arguments.store, running, scratch, points)
        loads = tool.loads(arguments.loads if arguments.store == "hbase" else 0)
        times = {**loads, **tool.reads(arguments.rounds)}
    return _judge(times, points)


@contextmanager
def _cluster(store: str) -> Iterator[tuple[RunningCluster, Path]]:
    """A store on one node, with settings for little memory."""
    installation = find_installation()
    if not (installation.parts / store / "lib").is_dir():
        sys.exit(f"{store} is not here; fetch it: programs/{store}/prepare {installation.parts / store}")
    work = installation.parts / "work"
    work.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=work, prefix="stores-") as folder:
        scratch, stack = Path(folder), stack_of(store)
        layout = Layout.below(scratch / "cluster", stack.roles, ())
        for directory in layout.paths:
            directory.mkdir(parents=True)
        distribution = bundled((installation.parts / "hadoop").resolve(), find_java(os.environ))
        cluster = EmbeddedCluster(
            distribution,
            EmbeddedSpec(memory_mb=2048),
            stack,
            scratch / "state",
            os.environ,
            programs=installation.parts,
        )
        properties = resolve("small", shipped_profiles()).properties
        try:
            with cluster.running(layout, properties, Silent()) as running:
                yield replace(running, job_jars=job_jars(stack, installation.parts)), scratch
        finally:
            release_stale(scratch / "state")


class Tool:
    """Runs the commands on a cluster."""

    def __init__(self, store: str, running: RunningCluster, scratch: Path, points: GeneratedPoints) -> None:
        self._running, self._points = running, points
        self._program, self._table = f"{store.capitalize()}Times", f"{store}:/bench/lines"
        sources = [Path(__file__).with_name(f"{name}.java") for name in ("StoreTimes", self._program)]
        jars = [*map(str, running.job_jars), str(scratch / "classes")]
        environment = with_classpath({**os.environ, **running.environment}, jars)
        # Commands compile for a quick start; what reads for seconds is to be compiled as a server's code is.
        options = f"{environment.get(_CLIENT_OPTIONS, '')} -XX:TieredStopAtLevel=4"
        self._environment = {**environment, _CLIENT_OPTIONS: options}
        classpath = os.pathsep.join([self._hadoop("classpath").strip(), *jars])
        compiler = find_java(os.environ).home / "bin" / "javac"
        subprocess.run([compiler, "-nowarn", "-cp", classpath, "-d", scratch / "classes", *sources], check=True)
        self._lines, self._keyed, self._asked = (scratch / f"{name}.txt" for name in ("lines", "keyed", "asked"))
        with self._lines.open("wb") as file:
            file.writelines(points.text_pieces())

    def _hadoop(self, *arguments: str | Path, fed: IO[bytes] | None = None) -> str:
        """The standard output of a command of Hadoop's, which reads `fed`. Exits with its errors when it fails."""
        done = subprocess.run(
            [self._running.hadoop, *arguments],
            env=self._environment,
            stdin=fed,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if done.returncode:
            sys.exit(f"hadoop {' '.join(map(str, arguments))} failed:\n{done.stderr[-4000:]}")
        return done.stdout

    def loads(self, count: int) -> dict[str, list[float]]:
        """Seconds of loads; the last of Assay's tables stays, as `/bench/lines`, which is filled without them too."""
        if not count:
            self._load(0)
            return {}
        self._put_keyed_lines()
        ways: dict[str, Callable[[int], None]] = {"bulk load": self._load, "ImportTsv and load": self._import}
        times: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(count):
            self._hadoop(self._program, "make", f"imported{number}", str(REGIONS))
            if number:
                self._hadoop("fs", "-rm", "-r", "-skipTrash", self._table)
            for name in list(ways)[:: 1 if number % 2 else -1]:
                began = time.monotonic()
                ways[name](number)
                times[name].append(time.monotonic() - began)
                sys.stderr.write(f"{name}: {times[name][-1]:.1f} s\n")
        return times

    def _put_keyed_lines(self) -> None:
        """The lines with keys before them that spread over the regions, in HDFS."""
        with self._lines.open("rb") as lines, self._keyed.open("wb") as keyed:
            each = -(-self._points.count // 256)
            for number, line in enumerate(lines):
                keyed.write(b"%02x%012x\t%b" % (number // each, number, line))
        self._hadoop("fs", "-put", self._keyed, "/keyed.txt")
        self._keyed.unlink()

    def _load(self, _number: int) -> None:
        properties = (f"-Dhbase.assay.regions={REGIONS}", "-Dhbase.assay.load=bulk")
        with self._lines.open("rb") as lines:
            self._hadoop("fs", *properties, "-put", "-d", "-", f"{self._table}/lines.txt", fed=lines)

    def _import(self, number: int) -> None:
        files = f"/imported{number}"
        self._hadoop(
            "org.apache.hadoop.hbase.mapreduce.ImportTsv", f"-Dimporttsv.bulk.output={files}",
            "-Dimporttsv.columns=HBASE_ROW_KEY,d:l", f"imported{number}", "/keyed.txt",
        )  # fmt: skip
        self._hadoop("org.apache.hadoop.hbase.tool.BulkLoadHFilesTool", files, f"imported{number}")

    def reads(self, count: int) -> dict[str, list[float]]:
        """Seconds of reads, in turn. Exits where one has not read each line once."""
        whole = self._points.count, self._lines.stat().st_size - self._points.count
        looked_up = LOOKED_UP, self._ask()
        threads = str(len(os.sched_getaffinity(0)))
        times: dict[str, list[float]] = {}
        printed = self._hadoop(self._program, "reads", self._table, str(count), threads, self._asked)
        for line in printed.splitlines():
            name, rows, size, seconds = line.split("\t")
            expected = looked_up if name.endswith("lookup") else whole
            if (int(rows), int(size)) != expected:
                sys.exit(f"{name} read {rows} lines and {size} bytes of {expected[0]} and {expected[1]}")
            times.setdefault(name, []).append(float(seconds))
        return times

    def _ask(self) -> int:
        """Write the numbers of the lines to look up; the bytes of these lines without their ends."""
        numbers = np.sort(np.random.default_rng(1).choice(self._points.count, LOOKED_UP, replace=False)).tolist()
        self._asked.write_text("".join(f"{number}\n" for number in numbers), encoding="ascii")
        asked = set(numbers)
        with self._lines.open("rb") as lines:
            return sum(len(line) - 1 for number, line in enumerate(lines) if number in asked)


def _judge(times: dict[str, list[float]], points: GeneratedPoints) -> int:
    size_mb = int(points.size().bytes) / 1e6
    cores = len(os.sched_getaffinity(0))
    heads = ("what", "against", "s", "s", "ratio", "95 % interval", "at most", "verdict")
    sys.stdout.write(f"{points.count:,} lines, {size_mb:.0f} MB; {cores} cores; median seconds\n\n")
    sys.stdout.write(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}\n")
    failed = 0
    for (ours, theirs), goal in GOALS.items():
        if not {ours, theirs} <= times.keys():
            continue
        ratio, low, high = _ratio(times[ours], times[theirs])
        failed += ratio > goal
        cells = (
            ours, theirs, f"{median(times[ours]):.2f}", f"{median(times[theirs]):.2f}", f"{ratio:.2f}",
            f"{low:.2f} to {high:.2f}", f"{goal:.1f}", "fail" if ratio > goal else "pass",
        )  # fmt: skip
        sys.stdout.write(f"| {' | '.join(cells)} |\n")
    return 1 if failed else 0


def _ratio(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean of the turns' ratios, with its 95 % interval by Student's t."""
    logs = [math.log(our_turn / their_turn) for our_turn, their_turn in zip(ours, theirs, strict=True)]
    reach = float(t.ppf(0.975, len(logs) - 1)) * stdev(logs) / math.sqrt(len(logs))
    return math.exp(fmean(logs)), math.exp(fmean(logs) - reach), math.exp(fmean(logs) + reach)


if __name__ == "__main__":
    sys.exit(main())
