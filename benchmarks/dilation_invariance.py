"""Whether a scale model says the same at any scale: `python benchmarks/dilation_invariance.py RUN`.

RUN is a run of several dilations, such as of experiments/studies/scale-model-against-k1.yaml, whose least
dilation is 1: the cluster itself. Prints, for each combination of all else, each dilation's modelled time with its 95 %
interval; then each one's ratio to the least dilation's, and whether they are shown to be equivalent: by two one-sided
tests (D. Schuirmann, A comparison of the two one-sided tests procedure and the power approach, Journal of
Pharmacokinetics and Biopharmaceutics 15, 1987), each at 5 %, the ratio is below 1.1 and above 1 / 1.1. Both by the
run's own residuals alone, and with the shipped prior, which is an assumption. Excluded trials do not count;
where there are any, the same follows with them: a check can exclude the cluster itself, at a dilation of 1.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from typing import NamedTuple

from assay.model.record import Record
from assay.model.trial import SHIPPED_PRIOR, NoisePrior
from assay.record.folder import RunFolder
from assay.report.columns import Column, grid
from assay.report.words import seconds_text
from assay.stats.fit import Contrast, fits
from assay.stats.noise import ALPHA
from assay.stats.sample import Levels, Trials, TrialSample, in_order
from assay.stats.summary import Row, rows_of
from assay.stats.trial_summary import summarise

DILATION = "dilation"
MARGIN = log(1.10)
"""Of the logarithm of a ratio, to either side."""
NO_PRIOR = SHIPPED_PRIOR.model_copy(update={"freedom": 0.0})
NOISES = {"the run's own trials": NO_PRIOR, f"these and the assumed {SHIPPED_PRIOR.deviation:.0%}": SHIPPED_PRIOR}


class Equivalence(NamedTuple):
    """A dilation against the least, by some noise; `p` is the greater of the two one-sided tests' p-values."""

    others: Levels
    base: str
    level: str
    noise: str
    contrast: Contrast
    p: float

    @property
    def shown(self) -> bool:
        """Whether the ratio is shown to be within the margin."""
        return self.p <= ALPHA


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    records = RunFolder(parser.parse_args().run).records()[0]
    show(Trials(list(map(summarise, records))))
    if any(record.struck_out for record in records):
        sys.stdout.write("\nWith excluded trials:\n\n")
        show(Trials([summarise(unchecked(record)) for record in records]))


def show(trials: Trials) -> None:
    """Times, equivalences, and verdicts of some trials."""
    sys.stdout.write(times(rows_of(trials)) + "\n\n")
    made = [equivalence for name, prior in NOISES.items() for equivalence in equivalences(trials.samples, name, prior)]
    if made:
        sys.stdout.write(table(made) + "\n")
    for line in judged(made):
        sys.stdout.write(f"{line}\n")


def unchecked(record: Record) -> Record:
    """A record that no check excludes."""
    return record.model_copy(update={"scale": record.scale and record.scale.model_copy(update={"checks": ()})})


def equivalences(samples: Sequence[TrialSample], noise: str, prior: NoisePrior) -> Iterator[Equivalence]:
    """Each dilation against the least of those that are equal in all else; none where no noise is known."""
    for others, fit in fits(samples, DILATION, prior).items():
        base, *levels = in_order(fit.levels)
        if fit.noise.freedom <= 0 or not fit.noise.deviation:
            continue
        for level in levels:
            contrast = fit.contrast(level, base)
            yield Equivalence(others, base, level, noise, contrast, two_one_sided_p(contrast))


def two_one_sided_p(contrast: Contrast, margin: float = MARGIN) -> float:
    """How often chance alone gives a ratio so far within the margin, where the true one is at its edge."""
    from scipy.special import stdtr

    inside = margin - abs(contrast.log)
    return 1 - float(stdtr(contrast.freedom, inside / contrast.error))


def times(rows: Sequence[Row]) -> str:
    """One line for each combination, in Markdown."""
    ordered = sorted(rows, key=lambda row: int(row.group.dilation))
    return grid([
        Column("work", [f"{row.group.workload}, {row.group.nodes} nodes" for row in ordered], name=True),
        Column("placement", [row.placement for row in ordered], name=True),
        Column("K", [row.group.dilation for row in ordered]),
        Column("trials", [f"{row.finished} of {row.trials}" for row in ordered]),
        Column("excluded", [str(row.struck_out) for row in ordered]),
        Column("T(K) / K (s)", [seconds_text(row.elapsed_s) for row in ordered], intervals=[
            f"{seconds_text(row.elapsed.interval.low)} to {seconds_text(row.elapsed.interval.high)}"
            if row.elapsed and row.elapsed.interval else "" for row in ordered
        ]),
    ])  # fmt: skip


def table(made: Sequence[Equivalence]) -> str:
    """One line for each comparison and noise, in Markdown."""
    intervals = [(comparison.contrast.interval(), comparison.contrast.interval(1 - 2 * ALPHA)) for comparison in made]
    return grid([
        Column("K", [comparison.level for comparison in made]),
        Column("against", [comparison.base for comparison in made]),
        Column("noise of", [comparison.noise for comparison in made], name=True),
        Column("degrees of freedom", [f"{comparison.contrast.freedom:.0f}" for comparison in made]),
        Column("ratio", [f"{comparison.contrast.ratio:.3f}" for comparison in made]),
        Column("95 % interval", [f"{own.low:.3f} to {own.high:.3f}" for own, _ in intervals]),
        Column("90 % interval", [f"{own.low:.3f} to {own.high:.3f}" for _, own in intervals]),
        Column("p of the two one-sided tests", [f"{comparison.p:.3f}" for comparison in made]),
        Column("within 10 %", ["shown" if comparison.shown else "not shown" for comparison in made]),
    ])  # fmt: skip


def judged(made: Sequence[Equivalence]) -> Iterator[str]:
    """The verdict of the run's own trials, which counts."""
    own = [comparison for comparison in made if comparison.noise == next(iter(NOISES))]
    for comparison in own:
        what = f"K = {comparison.level} against {comparison.base}: off by {abs(comparison.contrast.ratio - 1):.1%}"
        shown = "shown" if comparison.shown else "not shown"
        yield f"{what}; equivalence within 10 % is {shown} (p = {comparison.p:.3f})"
    if not own:
        yield "no two dilations have enough trials that count: equivalence is not shown"
    elif "1" not in {comparison.base for comparison in own}:
        yield "nothing is compared with K = 1"


if __name__ == "__main__":
    main()
