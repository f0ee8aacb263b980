"""What the probes cost: `python benchmarks/probe_weight.py [--pairs 10] [--size 500MB] [--media MEDIUM ...]`.

TeraSort on an emulated SSD and in a directory of this machine's disk (whose requests the kernel's trace tells), with
all default probes and with none, in pairs that run side by side, their order changing by chance. Bounds, for each
medium: the jobs' elapsed time differs by at most 2 % either way (median of the pairs' ratios), and is known to within
2 % (half the median's 95 % interval); all probes together take at most 3 % of one core, reading them at the end and
their children included, and 150 MiB: so much more than in trials without probes has Assay in memory at most. Samples
take at most 5 MiB an hour. Exit code 1 where one does not hold; where the interval is too wide, more pairs help. Needs
root; about 110 s per pair and medium, on an otherwise idle machine.
"""

import argparse
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy
from rich.console import Console
from scipy import stats

from assay.cli.console import Output
from assay.cli.context import find_installation
from assay.cli.run import run_experiment
from assay.model.doubt import Outcome
from assay.model.installation import Installation
from assay.model.record import Record
from assay.record.folder import RunFolder

MOST_DIFFERENCE, MOST_CORE_SHARE, MOST_MIB, MOST_MIB_AN_HOUR = 0.02, 0.03, 150.0, 5.0
MIB = 1 << 20
DIRECTORY = "directory"
EXPERIMENT = """
experiment: probe-weight
workloads: {{name: terasort, options: {{size: {size}}}}}
media: {{medium: {medium}}}
probes: [default, none]
memory: 1600MiB
settings: small
hadoop: {{mapreduce.job.reduces: 2}}
repetitions: {pairs}
"""


def main() -> int:
    """Measure, print, judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--size", default="500MB", help="of the records that are sorted: longer jobs vary less")
    parser.add_argument(
        "--media", nargs="+", default=["samsung-840-evo-120gb", DIRECTORY], metavar="MEDIUM",
        help=f"profiles of emulated drives, or {DIRECTORY!r}",
    )  # fmt: skip
    arguments = parser.parse_args()
    installation = find_installation()
    held = [_measure(installation, medium, arguments.pairs, arguments.size) for medium in arguments.media]
    return 0 if all(held) else 1


def _measure(installation: Installation, medium: str, pairs: int, size: str) -> bool:
    """Run the pairs on one medium; whether all bounds hold."""
    with TemporaryDirectory(dir=installation.parts / "work", prefix="probe-weight-") as scratch:
        home = Path(scratch)
        (home / "disk").mkdir()
        spec = f"{{path: {home / 'disk'}}}" if medium == DIRECTORY else medium
        experiment = home / "experiment.yaml"
        experiment.write_text(EXPERIMENT.format(medium=spec, pairs=pairs, size=size), encoding="utf-8")
        installation = installation.model_copy(update={"cache": home / "cache", "state": home / "state"})
        with Resident().watched() as resident:
            run_experiment(experiment, home / "run", installation, Output.on(Console(stderr=True, quiet=True)))
        sys.stdout.write(f"{medium}\n")
        return _judge(RunFolder(home / "run"), pairs, resident)


class Resident:
    """This process' resident memory over time."""

    def __init__(self) -> None:
        self._seen: list[tuple[int, int]] = []
        self._stop = threading.Event()

    @contextmanager
    def watched(self) -> Iterator["Resident"]:
        """Look twenty times a second."""
        thread = threading.Thread(target=self._watch, name="benchmark-resident", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            thread.join()

    def _watch(self) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        with Path("/proc/self/statm").open(encoding="utf-8") as file:
            while not self._stop.wait(0.05):
                file.seek(0)
                self._seen.append((int(time.time() * 1000), int(file.read().split()[1]) * page))

    def most_bytes(self, begin_ms: float, end_ms: float) -> int:
        """The greatest within some time."""
        return max(size for time_ms, size in self._seen if begin_ms <= time_ms < end_ms)


def _judge(folder: RunFolder, pairs: int, resident: Resident) -> bool:
    records = [record for record in folder.records()[0] if record.outcome is Outcome.PASS]
    ratios = _ratios(records)
    if len(ratios) < pairs:
        sys.stdout.write(f"only {len(ratios)} of {pairs} pairs passed\n")
    if not ratios:
        return False
    low, high = _interval(ratios)
    probed = [record for record in records if record.trial.probes == "default"]
    cores = max(_amount(record, "busy_s") / _amount(record, "elapsed_s") for record in probed)
    grown = _grown(records, resident) / MIB
    kept = max(folder.samples_bytes(record.trial.id) * 3600 / _amount(record, "elapsed_s") for record in probed) / MIB
    slower, unsure = statistics.median(ratios) - 1, (high - low) / 2
    lines = [
        (f"elapsed, probes over none: {slower:+.2%}, {len(ratios)} pairs", abs(slower) <= MOST_DIFFERENCE),
        (f"its 95 % interval: {low - 1:+.2%} to {high - 1:+.2%}, half of it {unsure:.2%}", unsure <= MOST_DIFFERENCE),
        (f"processor time: {cores:.2%} of one core at most", cores <= MOST_CORE_SHARE),
        (f"memory: {grown:.1f} MiB more than without probes at most", grown <= MOST_MIB),
        (f"samples: {kept:.2f} MiB an hour at most", kept <= MOST_MIB_AN_HOUR),
    ]
    sys.stdout.write(f"  pairs: {', '.join(f'{ratio - 1:+.1%}' for ratio in ratios)}\n")
    for text, holds in lines:
        sys.stdout.write(f"  {text}: {'pass' if holds else 'fail'}\n")
    return len(ratios) == pairs and all(holds for _, holds in lines)


def _grown(records: Sequence[Record], resident: Resident) -> int:
    """The greatest peak of a trial with probes over the least of one without; a record's writing is its trial's."""
    begun = sorted((record.steps[0].started_ms, record.trial.probes) for record in records)
    ends = [*(started_ms for started_ms, _ in begun[1:]), float("inf")]
    peaks: dict[str, list[int]] = {"default": [], "none": []}
    for (started_ms, probes), end_ms in zip(begun, ends, strict=True):
        peaks[probes].append(resident.most_bytes(started_ms, end_ms))
    return max(peaks["default"]) - min(peaks["none"])


def _ratios(records: list[Record]) -> list[float]:
    """Elapsed time with probes over that without, of each repetition."""
    elapsed = {
        (record.trial.repetition, record.trial.probes): record.totals.elapsed_s for record in records if record.totals
    }
    repetitions = sorted({repetition for repetition, _ in elapsed})
    return [
        elapsed[repetition, "default"] / elapsed[repetition, "none"]
        for repetition in repetitions
        if (repetition, "default") in elapsed and (repetition, "none") in elapsed
    ]


def _interval(ratios: list[float]) -> tuple[float, float]:
    """Of the median, by bootstrap (bias-corrected and accelerated)."""
    if len(ratios) < 3 or min(ratios) == max(ratios):
        return min(ratios), max(ratios)
    found = stats.bootstrap((numpy.array(ratios),), numpy.median, rng=numpy.random.default_rng(1))
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _amount(record: Record, series: str) -> float:
    """Of the whole trial."""
    return sum(amount.value for amount in record.amounts if (amount.probe, amount.series) == ("own-cost", series))


if __name__ == "__main__":
    sys.exit(main())
