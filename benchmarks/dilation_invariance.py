"""Whether a scale model says the same at any scale: `python benchmarks/dilation_invariance.py RUN`.

RUN is a run of an experiment with several dilations, such as experiments/dilation-invariance.yaml. Prints, for each
combination of all else, each dilation's modelled time with its 95 % interval, and its ratio to the least dilation's,
with the interval that includes the assumed noise and that by the run's repetitions alone.
The goal is a ratio of 1 within 10 %. Trials that are struck out are counted beside it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from assay.model.trial import SHIPPED_PRIOR
from assay.record.folder import RunFolder
from assay.report.columns import Column, grid
from assay.report.words import seconds_text
from assay.stats.comparison import Comparison, compare
from assay.stats.sample import DILATION, Trials, in_order
from assay.stats.summary import Row, summarise

GOAL_SHARE = 0.10


def main() -> None:
    """Print the table, and whether the goal is met."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    records = Trials(RunFolder(parser.parse_args().run).records()[0])
    levels = in_order(record.trial.factors[DILATION] for record in records)
    compared = compare(records.samples, prior=SHIPPED_PRIOR, orders={DILATION: levels})
    ratios = [one for one in compared if one.factor == DILATION]
    sys.stdout.write(table(summarise(records), ratios) + "\n")
    for line in judged(ratios):
        sys.stdout.write(f"{line}\n")


def table(rows: Sequence[Row], ratios: Sequence[Comparison]) -> str:
    """One line for each combination, in Markdown."""
    ordered = sorted(rows, key=lambda row: int(row.group.dilation))
    found = [next((one for one in ratios if _is_of(one, row)), None) for row in ordered]
    return grid([
        Column("work", [f"{row.group.workload}, {row.group.nodes} nodes" for row in ordered], name=True),
        Column("placement", [row.placement for row in ordered], name=True),
        Column("K", [row.group.dilation for row in ordered]),
        Column("trials", [f"{row.finished} of {row.trials}" for row in ordered]),
        Column("struck out", [str(row.struck_out) for row in ordered]),
        Column("T(K) / K (s)", [seconds_text(row.elapsed_s) for row in ordered], intervals=[
            f"{seconds_text(row.elapsed.interval.low)} to {seconds_text(row.elapsed.interval.high)}"
            if row.elapsed and row.elapsed.interval else "" for row in ordered
        ]),
        Column("ratio to the least K", [f"{one.ratio:.3f}" if one else "-" for one in found], intervals=[
            f"{one.interval.low:.3f} to {one.interval.high:.3f}" if one else "" for one in found
        ]),
        Column("by its repetitions alone", [
            f"{one.own_interval.low:.3f} to {one.own_interval.high:.3f}" if one and one.own_interval else "-"
            for one in found
        ]),
    ])  # fmt: skip


def judged(ratios: Sequence[Comparison]) -> Iterator[str]:
    """Whether each ratio is within the goal, and its interval with it."""
    for one in ratios:
        off = abs(one.ratio - 1)
        inside = one.interval.low >= 1 - GOAL_SHARE and one.interval.high <= 1 + GOAL_SHARE
        words = "within" if off <= GOAL_SHARE else "beyond"
        sure = "and so is its whole interval" if inside else "its interval is not wholly within"
        yield f"K = {one.level} against {one.base}: off by {off:.1%}, {words} {GOAL_SHARE:.0%}; {sure}"
    if not ratios:
        yield "no two dilations have trials that count: nothing can be compared"


def _is_of(one: Comparison, row: Row) -> bool:
    others = dict(one.others)
    return one.level == row.group.dilation and all(
        str(getattr(row.group, name, row.placement)) == level for name, level in others.items() if name != "placement"
    ) and others.get("placement", row.placement) == row.placement  # fmt: skip


if __name__ == "__main__":
    main()
