"""Measures what brisk starts save: `python benchmarks/cluster_starts.py [--rounds 3] [--nodes 1] [--json]`.

Each round starts a stock and a brisk cluster in turn (so that what else the machine does falls on both), runs the
smallest real job (`pi 2 10` of Hadoop's examples: two maps, one reduce) twice on each, and stops it.

How long many nodes take until they are healthy, and each daemon's memory and processor time then, without jobs:

    python benchmarks/cluster_starts.py --nodes 13 --network gigabit --dilation auto --kinds brisk --jobs 0 --rounds 1
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.host.lease import release_stale
from assay.model.cluster import EmbeddedSpec
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.network import read_networks
from assay.model.progress import Silent
from assay.model.running_cluster import RunningCluster
from assay.platform.distribution import Distribution, bundled, find_java
from assay.platform.embedded import EmbeddedCluster

_KINDS = ("stock", "brisk")


def main() -> None:
    """Run the rounds, print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--hadoop", type=Path, default=root / ".assay" / "hadoop", help="what hadoop/prepare made")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=1, help="workers")
    parser.add_argument("--network", default="none", help="between nodes, such as gigabit")
    parser.add_argument("--dilation", help="as a scale model: a number, or auto")
    parser.add_argument("--kinds", nargs="+", choices=_KINDS, default=_KINDS)
    parser.add_argument("--jobs", type=int, default=2, help="small jobs on each cluster")
    parser.add_argument("--json", action="store_true", help="print all figures of all rounds as JSON")
    arguments = parser.parse_args()
    distribution = bundled(arguments.hadoop.resolve(), find_java(os.environ))
    dilation = arguments.dilation and ("auto" if arguments.dilation == "auto" else int(arguments.dilation))
    spec = EmbeddedSpec(nodes=arguments.nodes, network=read_networks(arguments.network), dilation=dilation)
    rounds = []
    for number in range(arguments.rounds):
        # The order alternates too: the second of a pair finds warmer caches.
        for kind in arguments.kinds if number % 2 == 0 else reversed(arguments.kinds):
            figures = _round(distribution, spec.model_copy(update={"starts": kind}), arguments.jobs)
            rounds.append({"round": number, "starts": kind, **figures})
            sys.stderr.write(f"{rounds[-1]}\n")
    sys.stdout.write(json.dumps(rounds, indent=1) + "\n" if arguments.json else _table(rounds, arguments.kinds))


def _round(distribution: Distribution, spec: EmbeddedSpec, jobs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="assay-starts-") as scratch:
        home = Path(scratch)
        stack = stack_of()
        layout = Layout.below(home, stack.roles, spec.workers)
        for directory in layout.paths:
            directory.mkdir(parents=True)
        cluster = EmbeddedCluster(distribution, spec, stack, home / "state", os.environ)
        try:
            return _measure(cluster, layout, distribution, jobs)
        finally:
            release_stale(home / "state")


def _measure(cluster: EmbeddedCluster, layout: Layout, distribution: Distribution, count: int) -> dict[str, float]:
    began = time.monotonic()
    with cluster.running(layout, {}, Silent()) as running:
        healthy = time.monotonic()
        daemons = _daemons(running)
        jobs = [_job_s(running, distribution) for _ in range(count)]
        memory = _memory_mb([daemon.pid for node in running.nodes for daemon in node.daemons])
        stopping = time.monotonic()
    stopped = time.monotonic()
    figures = {f"job {number + 1} s": seconds for number, seconds in enumerate(jobs)}
    return {"start s": healthy - began, **daemons, **figures, "stop s": stopped - stopping, **memory}


def _daemons(running: RunningCluster) -> dict[str, float]:
    """Of each kind of daemon, in the mean, what it has taken when the cluster is healthy."""
    pids: dict[str, list[int]] = {}
    for daemon in (daemon for node in running.nodes for daemon in node.daemons):
        pids.setdefault(daemon.role, []).append(daemon.pid)
    figures = {}
    for role, own in pids.items():
        figures |= {f"{role} {name}": size / len(own) for name, size in _memory_mb(own).items()}
        figures[f"{role} cpu s"] = sum(map(_cpu_s, own)) / len(own)
    return figures


def _cpu_s(pid: int) -> float:
    """Processor time of a process (proc(5), stat: utime and stime)."""
    words = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def _job_s(running: RunningCluster, distribution: Distribution) -> float:
    (examples,) = (distribution.extras or Path()).glob("hadoop-mapreduce-examples-*.jar")
    began = time.monotonic()
    subprocess.run([running.hadoop, "jar", examples, "pi", "2", "10"], check=True, capture_output=True)
    return time.monotonic() - began


def _memory_mb(pids: Sequence[int]) -> dict[str, float]:
    """Resident and proportional memory of processes together, in MiB (/proc/PID/smaps_rollup)."""
    sums = {"Rss": 0, "Pss": 0}
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines():
            name, _, rest = line.partition(":")
            if name in sums:
                sums[name] += int(rest.split()[0])
    return {f"{name.lower()} MiB": kilobytes / 1024 for name, kilobytes in sums.items()}


def _table(rounds: list[Mapping[str, float | str]], kinds: Sequence[str]) -> str:
    both = len(kinds) > 1
    lines = ["".join([f"{'median':>24}", *(f" {kind:>8}" for kind in kinds), f" {'brisk/stock':>12}" if both else ""])]
    for figure in [name for name in rounds[0] if name not in ("round", "starts")]:
        medians = [
            statistics.median(float(of_round[figure]) for of_round in rounds if of_round["starts"] == kind)
            for kind in kinds
        ]
        by_kind = dict(zip(kinds, medians, strict=True))
        ratio = f" {by_kind['brisk'] / by_kind['stock']:>12.2f}" if both else ""
        lines.append("".join([f"{figure:>24}", *(f" {median:>8.2f}" for median in medians), ratio]))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
