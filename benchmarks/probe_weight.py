"""What the probes cost: `python benchmarks/probe_weight.py [--pairs 10] [--medium PROFILE]`.

TeraSort on an emulated SSD, with all default probes and with none, in pairs that run side by side, their order changing
by chance. Bounds: the jobs' elapsed time differs by at most 2 % (median of the pairs' ratios; its 95 % interval is
printed), all probes together take at most 3 % of one core and 150 MiB, and samples take at most 5 MiB an hour.
Exit code 1 where one does not hold. Needs root; about 70 s per pair, on an otherwise idle machine.
"""

import argparse
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy
from rich.console import Console
from scipy import stats

from assay.commands.run import run_experiment
from assay.model.doubt import Outcome
from assay.model.installation import Installation
from assay.model.record import Record
from assay.record.folder import RunFolder

MOST_SLOWDOWN, MOST_CORE_SHARE, MOST_MIB, MOST_MIB_AN_HOUR = 0.02, 0.03, 150.0, 5.0
MIB = 1 << 20
EXPERIMENT = """
experiment: probe-weight
workloads: {{name: terasort, options: {{size: 200MB}}}}
media: {{medium: {profile}}}
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
    parser.add_argument("--medium", default="samsung-840-evo-120gb", metavar="PROFILE")
    arguments = parser.parse_args()
    root = Path(__file__).resolve().parent.parent
    with TemporaryDirectory(dir=root / ".assay" / "work", prefix="probe-weight-") as scratch:
        home = Path(scratch)
        experiment = home / "experiment.yaml"
        experiment.write_text(EXPERIMENT.format(profile=arguments.medium, pairs=arguments.pairs))
        installation = Installation(
            root=root, parts=root / ".assay", jobs_jar=root / "jobs" / "target" / "assay-jobs.jar",
            cache=home / "cache", state=home / "state",
        )  # fmt: skip
        run_experiment(
            experiment, home / "run", installation, Console(stderr=True, quiet=True), resume=False, dry_run=False
        )
        return _judge(RunFolder(home / "run"), arguments.pairs)


def _judge(folder: RunFolder, pairs: int) -> int:
    records = [record for record in folder.records()[0] if record.outcome is Outcome.PASS]
    ratios = _ratios(records)
    if len(ratios) < pairs:
        sys.stdout.write(f"only {len(ratios)} of {pairs} pairs passed\n")
    if not ratios:
        return 1
    low, high = _interval(ratios)
    probed = [record for record in records if record.trial.probes == "default"]
    cores = max(_amount(record, "busy_s") / _amount(record, "elapsed_s") for record in probed)
    grown = max(_amount(record, "resident_growth_bytes", ("run",)) for record in probed) / MIB
    kept = max(folder.samples_bytes(record.trial.id) * 3600 / _amount(record, "elapsed_s") for record in probed) / MIB
    slower = statistics.median(ratios) - 1
    lines = [
        (f"elapsed, probes over none: {slower:+.2%}, 95 % interval {low - 1:+.2%} to {high - 1:+.2%}, "
         f"{len(ratios)} pairs", slower <= MOST_SLOWDOWN),
        (f"processor time: {cores:.2%} of one core at most", cores <= MOST_CORE_SHARE),
        (f"memory grown in the run: {grown:.1f} MiB at most", grown <= MOST_MIB),
        (f"samples: {kept:.2f} MiB an hour at most", kept <= MOST_MIB_AN_HOUR),
    ]  # fmt: skip
    for text, holds in lines:
        sys.stdout.write(f"{text}: {'pass' if holds else 'fail'}\n")
    return 0 if len(ratios) == pairs and all(holds for _, holds in lines) else 1


def _ratios(records: list[Record]) -> list[float]:
    """Elapsed time with probes over that without, of each repetition."""
    elapsed = {
        (record.trial.repetition, record.trial.probes): record.totals.elapsed_s for record in records if record.totals
    }
    repetitions = sorted({repetition for repetition, _ in elapsed})
    return [
        elapsed[one, "default"] / elapsed[one, "none"]
        for one in repetitions
        if (one, "default") in elapsed and (one, "none") in elapsed
    ]


def _interval(ratios: list[float]) -> tuple[float, float]:
    """Of the median, by bootstrap (bias-corrected and accelerated)."""
    if len(ratios) < 3:
        return min(ratios), max(ratios)
    found = stats.bootstrap((numpy.array(ratios),), numpy.median, rng=numpy.random.default_rng(1))
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def _amount(record: Record, series: str, parts: tuple[str, ...] = ("staging", "run", "write out", "collect")) -> float:
    return sum(
        one.value for one in record.amounts if one.probe == "own-cost" and one.series == series and one.part in parts
    )


if __name__ == "__main__":
    sys.exit(main())
