"""Is a shuffle that spares the disk slower on a hard disk and faster on an SSD?

`PYTHONPATH=src:extras:. python benchmarks/levitated.py RUN`, where RUN is a run of experiments/levitated.yaml,
whose head says how it is judged. What is printed for that was fixed before it ran:

- *A ratio* is the time of `mapreduce-levitated` over that of `mapreduce`, of one job on one drive with one size of
  blocks, by all repetitions, with the interval that holds for all ratios of the run together at 95 % (Bonferroni).
- *Less* or *more* time is said where the interval leaves out 1, else *no difference is shown*.
- *Trials* whose doubts name the stock way or streams that broke are left out.
- *Bytes* are what the drives read and wrote in a trial, on average.
"""

from collections.abc import Sequence
from statistics import fmean

from benchmarks.of_run import of_trials, print_report

from assay.model.trial import Plan
from assay.model.trial_summary import TrialSummary
from assay.report.columns import as_columns, grid
from assay.stats.fit import fits
from assay.stats.sample import PLACEMENT, Trials, by_levels

STOCK, LEVITATED = "mapreduce", "mapreduce-levitated"
DOUBTED = {"shuffled-in-the-stock-way", "streams-reopened"}
"""The doubts with which a trial is not one of merged streams alone."""
HEADS = ("job", "drive", "block", "ratio of times", "interval", "verdict", "read (MB)", "stock reads (MB)",
         "written (MB)", "stock writes (MB)", "trials")  # fmt: skip


def report(plan: Plan, trials: Sequence[TrialSummary]) -> str:
    """A line for each job, drive and block size, in Markdown."""
    by_id = {trial.id: trial for trial in trials if not DOUBTED & {doubt.kind for doubt in trial.doubts}}
    fitted = {
        levels: fit
        for levels, fit in fits(Trials.of([*by_id.values()]).samples, "engine", plan.prior).items()
        if {STOCK, LEVITATED} <= set(fit.levels)
    }
    rows = []
    for levels in by_levels(fitted):
        fit, known = fitted[levels], dict(levels)
        contrast = fit.contrast(LEVITATED, STOCK)
        held = contrast.interval(1 - 0.05 / len(fitted))
        verdict = "no difference is shown"
        if not held.low <= 1 <= held.high:
            verdict = "less time" if held.high < 1 else "more time"
        moved = {engine: [by_id[sample.trial] for sample in fit.trials[engine]] for engine in (LEVITATED, STOCK)}
        rows.append([
            known["workload"], known[PLACEMENT], known.get("dfs.blocksize", ""), f"{contrast.ratio:.2f}",
            f"{held.low:.2f} to {held.high:.2f}", verdict,
            *(_megabytes(moved[engine], way) for way in ("read", "written") for engine in (LEVITATED, STOCK)),
            " and ".join(str(len(moved[engine])) for engine in (LEVITATED, STOCK)),
        ])  # fmt: skip
    return grid(as_columns(HEADS, rows)) if rows else "No trials of both shuffles can be compared."


def _megabytes(trials: Sequence[TrialSummary], way: str) -> str:
    known = [moved for trial in trials if (moved := getattr(trial, f"drives_{way}_bytes")) is not None]
    return f"{fmean(known) / 1e6:,.0f}" if known else "-"


if __name__ == "__main__":
    print_report(__doc__, of_trials(report))
