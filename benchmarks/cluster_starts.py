"""Measures what brisk starts save: `python benchmarks/cluster_starts.py [--rounds 3] [--nodes 1] [--json]`.

Each round starts a stock and a brisk cluster in turn (so that what else the machine does falls on both), runs the
smallest real job (`pi 2 10` of Hadoop's examples: two maps, one reduce) twice on each, and stops it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from assay.host.lease import release_stale
from assay.model.platform import ClusterSpec, Layout, RunningCluster
from assay.model.progress import Silent
from assay.platform.distribution import Distribution, bundled, find_java
from assay.platform.embedded import EmbeddedCluster

_JOBS = 2
_KINDS = ("stock", "brisk")


def main() -> None:
    """Run the rounds, print a table or JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--hadoop", type=Path, default=root / ".assay" / "hadoop", help="what hadoop/prepare made")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nodes", type=int, default=1, help="workers")
    parser.add_argument("--network", default="none", help="between nodes, such as gigabit")
    parser.add_argument("--json", action="store_true", help="print all figures of all rounds as JSON")
    arguments = parser.parse_args()
    distribution = bundled(arguments.hadoop.resolve(), find_java(os.environ))
    spec = ClusterSpec(nodes=arguments.nodes, network=arguments.network)
    rounds = []
    for number in range(arguments.rounds):
        # The order alternates too: the second of a pair finds warmer caches.
        for kind in _KINDS if number % 2 == 0 else reversed(_KINDS):
            rounds.append(
                {"round": number, "starts": kind, **_round(distribution, spec.model_copy(update={"starts": kind}))}
            )
            sys.stderr.write(f"{rounds[-1]}\n")
    sys.stdout.write(json.dumps(rounds, indent=1) + "\n" if arguments.json else _table(rounds))


def _round(distribution: Distribution, spec: ClusterSpec) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="assay-starts-") as scratch:
        home = Path(scratch)
        layout = Layout.below(home, spec.workers)
        for directory in layout.directories:
            directory.mkdir(parents=True)
        cluster = EmbeddedCluster(distribution, spec, home / "state", os.environ)
        try:
            return _measure(cluster, layout, distribution)
        finally:
            release_stale(home / "state")


def _measure(cluster: EmbeddedCluster, layout: Layout, distribution: Distribution) -> dict[str, float]:
    began = time.monotonic()
    with cluster.running(layout, {}, Silent()) as running:
        healthy = time.monotonic()
        jobs = [_job_s(running, distribution) for _ in range(_JOBS)]
        memory = _daemons_mb(running)
        stopping = time.monotonic()
    stopped = time.monotonic()
    figures = {f"job {number + 1} s": seconds for number, seconds in enumerate(jobs)}
    return {"start s": healthy - began, **figures, "stop s": stopped - stopping, **memory}


def _job_s(running: RunningCluster, distribution: Distribution) -> float:
    (examples,) = (distribution.extras or Path()).glob("hadoop-mapreduce-examples-*.jar")
    began = time.monotonic()
    subprocess.run([running.hadoop, "jar", examples, "pi", "2", "10"], check=True, capture_output=True)
    return time.monotonic() - began


def _daemons_mb(running: RunningCluster) -> dict[str, float]:
    """Resident and proportional memory of the five daemons together, in MiB (/proc/PID/smaps_rollup)."""
    sums = {"Rss": 0, "Pss": 0}
    for daemon in (daemon for node in running.nodes for daemon in node.daemons):
        for line in Path(f"/proc/{daemon.pid}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in sums:
                sums[name] += int(rest.split()[0])
    return {f"{name.lower()} MiB": kilobytes / 1024 for name, kilobytes in sums.items()}


def _table(rounds: list[Mapping[str, float | str]]) -> str:
    lines = [f"{'median':>10} {'stock':>8} {'brisk':>8} {'brisk/stock':>12}"]
    for figure in [name for name in rounds[0] if name not in ("round", "starts")]:
        medians = {
            kind: statistics.median(float(one[figure]) for one in rounds if one["starts"] == kind) for kind in _KINDS
        }
        ratio = medians["brisk"] / medians["stock"]
        lines.append(f"{figure:>10} {medians['stock']:>8.2f} {medians['brisk']:>8.2f} {ratio:>12.2f}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
