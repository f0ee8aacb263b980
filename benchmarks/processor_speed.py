"""Whether the processors are equally fast all the time: `python benchmarks/processor_speed.py [--seconds 300]`.

Equal trials take different amounts of processor time where the processors themselves are faster and slower, as in a
virtual machine whose host gives the other thread of a core to another guest: no counter of this machine shows that,
not even stolen time. Short tests (`assay.probe.spin`: arithmetic, and looks at random places of memory) run once a
second, in turn on the first processor alone and on all at once. Printed for both: processor time for the same work, its
spread, whether it has two states, and for how long a state lasts (autocorrelation). All at once slower than alone by a
third or more: they are threads of one core, or share too little memory bandwidth.
On an otherwise idle machine; by itself:
`PYTHONPATH=$PWD/src:$PWD:$PWD/extras .assay/venv/bin/python benchmarks/processor_speed.py`.
"""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from math import log
from pathlib import Path
from statistics import fmean, median, stdev

from benchmarks.a_a import STRONG_BIC, autocorrelation, say, two_states

from assay.host.processors import bound_to
from assay.node.local import KernelFile
from assay.probe.cpu import STAT, TICKS_PER_S, read_ticks
from assay.probe.spin import ITERATIONS, LOOKS, memory_spins, spins

EVERY_S = 1.0
LAGS_S = (2, 10, 30, 60)
LEAST = 8


def main() -> int:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=300)
    seconds = max(parser.parse_args().seconds, LEAST)
    first = {min(os.sched_getaffinity(0))}
    works = {"arithmetic": lambda: spins(ITERATIONS // 3), "memory": lambda: memory_spins(LOOKS // 3)}
    alone: dict[str, list[float]] = {name: [] for name in works}
    together: dict[str, list[float]] = {name: [] for name in works}
    stat = KernelFile(Path(STAT))
    before = read_ticks(stat)["steal"]
    began_s = time.monotonic()
    for turn in range(seconds):
        time.sleep(max(0.0, began_s + turn * EVERY_S - time.monotonic()))
        for name, work in works.items():
            with bound_to(None if turn % 2 else first):
                (together if turn % 2 else alone)[name].append(fmean(one.busy_s for one in work()))
    steal_s = (read_ticks(stat)["steal"] - before) / TICKS_PER_S
    stat.close()
    for name in works:
        show(f"{name}, one processor alone", alone[name])
        show(f"{name}, all processors at once", together[name])
        ratio = median(together[name]) / median(alone[name])
        say(f"  all at once take {ratio:.2f} times as long as one alone (medians)")
    say(f"stolen by the host in {seconds} s: {steal_s:.2f} s of processor time")
    return 0


def show(name: str, values: Sequence[float]) -> None:
    """Processor seconds of the same work, in their order."""
    logs = [log(value) - fmean(map(log, values)) for value in values]
    states = two_states(logs)
    shares = sorted(values)
    say(f"{name}: {len(values)} tests, median {median(values) * 1000:.1f} ms of processor time")
    say(
        f"  spread {stdev(logs):.1%}; least {shares[0] * 1000:.1f}, 10 % {shares[len(shares) // 10] * 1000:.1f}, "
        f"90 % {shares[-len(shares) // 10] * 1000:.1f}, most {shares[-1] * 1000:.1f} ms"
    )
    strength = "two states" if states.evidence > STRONG_BIC else "no evidence of two states"
    say(f"  {strength}: slow by {states.slow_log:.1%} in {states.slow_share:.0%} (criterion {states.evidence:+.1f})")
    lags = [lag for lag in LAGS_S if lag // 2 < len(logs) // 2]
    along = ", ".join(f"{lag} s {autocorrelation(logs, lag // 2):+.2f}" for lag in lags)
    say(f"  autocorrelation over {along} (chance: up to {2 / len(logs) ** 0.5:.2f})")


if __name__ == "__main__":
    sys.exit(main())
