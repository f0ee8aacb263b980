"""How small must the part be that a job reads, before a table beats a scan?

`PYTHONPATH=src:extras:. python benchmarks/lookups.py RUN`, where RUN is a run of experiments/lookups.yaml.
Its rules are on docs/how-to/which-store.md:

- *A verdict* at a share of the rows is that of *Which job suits which store* for this share, store and drive.
- *The break-even share* lies between the largest share at which gets win and the smallest at which the scan wins. There
  is none where the scan wins at a smaller share than gets do.
- *The estimate* is where the ratio of times passes 1, on straight lines between neighbouring shares, logarithms of
  both; its interval is where the ends of the ratios' 95 % intervals do. An end is open where they pass 1 at no share.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import exp, log
from typing import NamedTuple

from benchmarks.of_run import of_trials, print_report

from assay.model.trial import Plan
from assay.model.trial_summary import TrialSummary
from assay.report.columns import as_columns, grid
from assay.stats.sample import PLACEMENT
from assay_extras.suitability.suited import Side, Suitability, SuitedWorkload, suitabilities

HEADS = ("store", "drive", "asked rows (%)", "time / scan of files", "95 % interval", "suits", "trials")


class Crossing(NamedTuple):
    """The share of the rows, in percent, at which a ratio of times passes 1; None where it does not."""

    share: float | None
    low: float | None
    high: float | None


def share_of(levels: Mapping[str, str]) -> float:
    """The percentage of the rows that a lookup of these levels asks for. Raises KeyError where they name none."""
    options = dict(option.split("=", 1) for option in levels["options"].split())
    return float(options["share"])


def crossing(shares: Sequence[float], ratios: Sequence[float]) -> float | None:
    """Where ratios pass 1 upwards for the first time, on lines between neighbours by logarithms; None for nowhere."""
    points = [(log(share), log(ratio)) for share, ratio in zip(shares, ratios, strict=True)]
    for (share, ratio), (next_share, next_ratio) in pairwise(points):
        if ratio < 0 <= next_ratio:
            return exp(share - ratio * (next_share - share) / (next_ratio - ratio))
    return None


def estimated(lookups: Sequence[SuitedWorkload]) -> Crossing:
    """The estimate of lookups of ascending shares on one store and one drive."""
    shares = [share_of(lookup.levels) for lookup in lookups]
    ratios, lows, highs = (
        [getattr(lookup.ratio, end) or lookup.ratio.value for lookup in lookups] for end in ("value", "low", "high")
    )
    return Crossing(crossing(shares, ratios), crossing(shares, highs), crossing(shares, lows))


def by_share(suited: Suitability) -> list[SuitedWorkload]:
    """The lookups of one store and drive by ascending share."""
    return sorted(suited.workloads, key=lambda lookup: share_of(lookup.levels))


def answer(suited: Suitability) -> str:
    """Where the break-even share of a store and a drive lies, by verdicts, and its estimate."""
    lookups = by_share(suited)
    wins = {side: [share_of(lookup.levels) for lookup in lookups if lookup.side is side] for side in Side}
    gets, scan = wins[Side.LEVEL], wins[Side.BASE]
    begin = f"*{suited.level}*, {suited.others.get(PLACEMENT, '')}: "
    if gets and scan and max(gets) > min(scan):
        return f"{begin}no answer, since the scan wins at {min(scan):g} % and gets win at {max(gets):g} % of the rows."
    ends = [
        f"gets win at {max(gets):g} % of the rows" if gets else "gets win at no share",
        f"the scan wins at {min(scan):g} %" if scan else "the scan wins at no share",
    ]
    return f"{begin}{' and '.join(ends)}, so {_range_text(gets, scan)}; {_estimate_text(estimated(lookups))}."


def _range_text(gets: Sequence[float], scan: Sequence[float]) -> str:
    if gets and scan:
        return f"the break-even share lies between {max(gets):g} and {min(scan):g} %"
    if gets:
        return f"the break-even share lies above {max(gets):g} %"
    if scan:
        return f"the break-even share lies below {min(scan):g} %"
    return "where the break-even share lies is not known"


def _estimate_text(estimate: Crossing) -> str:
    if estimate.share is None:
        return "the ratios of times pass 1 nowhere"
    ends = [f" {word} {end:.2g} %" for word, end in (("from", estimate.low), ("to", estimate.high)) if end is not None]
    interval = "".join(ends) or ": open at both ends"
    return f"times are equal at {estimate.share:.2g} % by the estimate (95 % interval{interval})"


def report(plan: Plan, trials: Sequence[TrialSummary]) -> str:
    """Answers and the table in Markdown."""
    every = suitabilities(plan, trials)
    answers = "\n".join(f"- {answer(suited)}" for suited in every)
    rows = [row for suited in every for row in _rows(suited)]
    return f"{answers}\n\n{grid(as_columns(HEADS, rows))}" if rows else "No two stores can be compared."


def _rows(suited: Suitability) -> Iterator[list[str]]:
    for lookup in by_share(suited):
        ratio = lookup.ratio
        yield [
            suited.level, suited.others.get(PLACEMENT, ""), f"{share_of(lookup.levels):g}", f"{ratio.value:.2f}",
            "-" if ratio.low is None or ratio.high is None else f"{ratio.low:.2f} to {ratio.high:.2f}",
            suited.suits(lookup), f"{lookup.base_trials} and {lookup.trials}",
        ]  # fmt: skip


if __name__ == "__main__":
    print_report(__doc__, of_trials(report))
