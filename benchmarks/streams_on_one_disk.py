"""Does a disk cost a job more, the more tasks share it? `python benchmarks/streams_on_one_disk.py RUN`.

RUN is a run of experiments/streams-on-one-disk.yaml. These rules were fixed before it ran:

- *What the disk costs.* In each repetition, for each number of tasks at once, the job's time on the disk less that on
  the SSD, for each GB of input.
- *When it is judged.* By the repetitions in which all trials count; by three at least.
- *Whether it grows.* Page's test for ordered alternatives (E. B. Page, Journal of the American Statistical Association
  58, 1963): within each repetition the costs are ranked, and growth with tasks at once is asked for. It is shown where
  the exact p-value is at most 5 %. *Not shown* is an answer.
- *How much.* The cost with most tasks at once over that with fewest, by the mean of the logarithms, with Student's 95 %
  interval over the repetitions; none where the disk costs nothing with either in any of them.
- *What it explains.* On the public cluster the disk costs 3.7 to 5.5 times as much as in the forecast's run. Where
  growth is shown and the ratio is at least 3.7, so many tasks may explain all of that; where it is less, a part, which
  the ratio tells.
"""

import argparse
import sys
from collections.abc import Sequence
from math import log
from pathlib import Path
from statistics import fmean, variance
from typing import NamedTuple

from scipy.stats import page_trend_test

from assay.model.naming import size_of
from assay.model.trial_summary import TrialSummary
from assay.plan.shares import share_of
from assay.record.folder import RunFolder
from assay.report.analysis import read_run
from assay.report.columns import as_columns, grid
from assay.stats.fit import Contrast
from assay.stats.sample import is_valid

HDD, SSD = "hdd", "ssd"
LEAST_REPETITIONS = 3
LEVEL = 0.05
ON_CLUSTER = (3.7, 5.5)
"""How many times as much the disk costs on the public cluster."""
LEAST_ERROR = 1e-9
"""Of a logarithm: times are kept in milliseconds, so that equal costs have no spread."""
COLUMNS = (
    "tasks at once", "hard disk (s)", "SSD (s)", "the disk costs, for a GB (s)", "in each repetition",
    "read from the hard disk", "written to it within the job",
)  # fmt: skip


class AtOnce(NamedTuple):
    """So many tasks at once: the trials on the disk and on the SSD, by repetition."""

    tasks: int
    disks: Sequence[TrialSummary]
    ssds: Sequence[TrialSummary]

    @property
    def costs_s(self) -> list[float]:
        """What the disk costs for a GB of input, by repetition."""
        pairs = zip(self.disks, self.ssds, strict=True)
        return [(_elapsed_s(disk) - _elapsed_s(ssd)) / _input_gb(disk) for disk, ssd in pairs]


def levels(summaries: Sequence[TrialSummary]) -> list[AtOnce]:
    """Each number of tasks at once, the least first, with the repetitions in which all trials count."""
    at_once = {summary.id: share.tasks for summary in summaries if (share := share_of(summary.trial))}
    numbers = sorted({*at_once.values()})
    trials = {
        (at_once[summary.id], summary.trial.repetition, summary.trial.placement.name): summary
        for summary in summaries
        if is_valid(summary)
    }
    whole = [
        number
        for number in sorted({number for _, number, _ in trials})
        if all((tasks, number, name) in trials for tasks in numbers for name in (HDD, SSD))
    ]
    return [
        AtOnce(tasks, *([trials[tasks, number, name] for number in whole] for name in (HDD, SSD))) for tasks in numbers
    ]


def growth_p(measured: Sequence[AtOnce]) -> float:
    """How often chance alone gives costs that follow the tasks at once as closely, or closer."""
    by_repetition = list(zip(*(level.costs_s for level in measured), strict=True))
    return float(page_trend_test(by_repetition, method="exact").pvalue)


def growth(measured: Sequence[AtOnce]) -> Contrast | None:
    """What the disk costs with most tasks at once over that with fewest; None where it ever costs nothing."""
    few, many = measured[0].costs_s, measured[-1].costs_s
    if min(*few, *many) <= 0:
        return None
    logs = [log(of_many / of_few) for of_few, of_many in zip(few, many, strict=True)]
    return Contrast(fmean(logs), max((variance(logs) / len(logs)) ** 0.5, LEAST_ERROR), len(logs) - 1)


def answer(measured: Sequence[AtOnce]) -> str:
    """Whether the cost grows, by how much, and what that explains."""
    p, ratio = growth_p(measured), growth(measured)
    by_test = f"(Page's test, {len(measured[0].disks)} repetitions: p {f'= {p:.3f}' if p >= 0.001 else '< 0.001'})"
    ends = f"With {measured[-1].tasks} tasks at once the disk costs"
    size = f"{ends} nothing in a repetition, or with {measured[0].tasks}: there is no ratio."
    if ratio:
        held = ratio.interval()
        within = f"{held.low:.2f} to {held.high:.2f}"
        size = f"{ends} {ratio.ratio:.2f} times as much as with {measured[0].tasks} ({within})."
    if p > LEVEL:
        return f"That a disk costs more with more tasks at once is not shown {by_test}. {size}"
    share = "all" if ratio and ratio.ratio >= ON_CLUSTER[0] else "a part"
    factor = f"the {ON_CLUSTER[0]} to {ON_CLUSTER[1]} times of the public cluster"
    return f"The disk costs more, the more tasks share it {by_test}. {size} That may explain {share} of {factor}."


def report(summaries: Sequence[TrialSummary]) -> str:
    """The answer and the table in Markdown; that nothing is judged where too few repetitions are whole."""
    measured = levels(summaries)
    if not measured or len(measured[0].disks) < LEAST_REPETITIONS:
        return f"Fewer than {LEAST_REPETITIONS} whole repetitions count: nothing is judged."
    return f"{answer(measured)}\n\n{grid(as_columns(COLUMNS, [_row(level) for level in measured]))}"


def _row(level: AtOnce) -> list[str]:
    written = [share for disk in level.disks if (share := disk.written_share) is not None]
    return [
        str(level.tasks),
        *(f"{fmean(map(_elapsed_s, trials)):.1f}" for trials in (level.disks, level.ssds)),
        f"{fmean(level.costs_s):.0f}",
        ", ".join(f"{seconds:.0f}" for seconds in level.costs_s),
        f"{fmean(disk.drives_read_bytes for disk in level.disks) / 1e6:,.0f} MB",
        f"{100 * fmean(written):.0f} %" if written else "not known",
    ]


def _elapsed_s(summary: TrialSummary) -> float:
    """Of a trial that counts, which took time."""
    return summary.elapsed_s or 0.0


def _input_gb(summary: TrialSummary) -> float:
    return (size_of(summary.trial.workload.options["size"]) or 0) / 1e9


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    run = read_run(RunFolder(parser.parse_args().run), details=False)
    sys.stdout.write(f"{report(run.trials)}\n")


if __name__ == "__main__":
    main()
