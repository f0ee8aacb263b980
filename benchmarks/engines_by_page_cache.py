"""Which engine needs the SSD, and with how much page cache: `python benchmarks/engines_by_page_cache.py RUN`.

RUN is a run of experiments/engines-by-page-cache.yaml, or of one like it. These rules were fixed before it ran:

- *What an engine needs.* Each repetition gives, for each engine within each page cache, the logarithm of the ratio of
  its time on the SSD to that on the hard disk: a pair. The less the ratio, the more the SSD saves. A pair counts where
  both trials do.
- *When it is judged.* After the first three repetitions in which all trials ended, at a level of 0.5 %, and after five
  at 3.5 %. Both looks together claim something false in at most 5 % of simulated runs whose engines need it alike, also
  where one engine's noise is ten times another's (Welch's test is a little too bold there, so the levels add up to less
  than 5 %). A run that ended in between is judged by its first three. Engines with fewer than three pairs within a page
  cache are not compared there.
- *Comparisons.* Within each page cache each two engines, by Welch's test of their pairs (B. Welch, Biometrika 34,
  1947), with the run's own noise alone. The p-values of all page caches are corrected together (Holm). Two engines have
  a *shown order* within a page cache where the corrected p-value is at most the level.
- *Not judged* are two engines of which one ended before its writes were on the hard disk in most of its trials there:
  that hides what the hard disk costs.
- *The answer* is one sentence for each two engines: the order that is shown within all page caches, or within which,
  or that it depends on the page cache (opposite orders are shown), or that no order is shown.

Intervals of savings hold 95 % each and are not corrected.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import log
from pathlib import Path
from statistics import fmean, variance
from typing import NamedTuple

from assay.model.trial import Plan
from assay.model.trial_summary import TrialSummary
from assay.record.folder import RunFolder
from assay.report.analysis import read_run
from assay.report.answer import interval_text
from assay.report.columns import Column, grid
from assay.stats.comparison import holm
from assay.stats.drive_use import ended_before_its_writes
from assay.stats.estimate import saved_share
from assay.stats.fit import Contrast
from assay.stats.sample import is_valid

HDD, SSD = "hdd", "ssd"
LEVEL_BY_REPETITIONS: Mapping[int, float] = {3: 0.005, 5: 0.035}
"""After how many repetitions the run is judged, and at which level."""
LEAST_PAIRS = 3
LEAST_ERROR = 1e-9
"""Of a logarithm: times are kept in milliseconds, so that equal pairs have no spread."""
COLUMNS = (
    "page cache", "engine", "hard disk (s)", "SSD (s)", "SSD saves", "95 % interval", "read from the hard disk",
    "written to it within the job",
)  # fmt: skip
ORDER_COLUMNS = ("page cache", "engines", "ratio of what the SSD leaves of their times", "95 % interval", "p", "order")


class Cell(NamedTuple):
    """An engine within a page cache: the trials that count, in pairs of hard disk and SSD of one repetition."""

    engine: str
    page_cache_bytes: int
    pairs: Sequence[tuple[TrialSummary, TrialSummary]]

    @property
    def logs(self) -> list[float]:
        """Of the ratio of the SSD's time to the hard disk's, by pair."""
        return [log(_elapsed_s(ssd) / _elapsed_s(hdd)) for hdd, ssd in self.pairs]

    @property
    def is_late(self) -> bool:
        """Whether its jobs ended before their writes were on the hard disk in most trials."""
        return 2 * sum(ended_before_its_writes(hdd) for hdd, _ in self.pairs) > len(self.pairs)


class Order(NamedTuple):
    """Two engines within a page cache: `contrast` is of what the SSD leaves of their times, `p` is corrected.

    `more` is the engine of which the SSD saves more, empty where no order is shown.
    """

    page_cache_bytes: int
    engines: tuple[str, str]
    contrast: Contrast
    p: float
    more: str


def repetitions_judged(plan: Plan, summaries: Sequence[TrialSummary]) -> int:
    """How many first repetitions a run is judged by: 0 where too few of them have ended."""
    ended = {summary.id for summary in summaries}
    missing = {trial.repetition for trial in plan.trials if not trial.warm_up and trial.id not in ended}
    whole = min(missing, default=1 + max(trial.repetition for trial in plan.trials)) - 1
    return max((number for number in LEVEL_BY_REPETITIONS if number <= whole), default=0)


def cells(summaries: Sequence[TrialSummary], repetitions: int) -> list[Cell]:
    """Each engine within each page cache with its pairs of the first repetitions, by page cache and engine."""
    trials = {
        (summary.trial.cluster.page_cache_bytes or 0, summary.trial.engine, summary.trial.repetition, name): summary
        for summary in summaries
        if is_valid(summary) and (name := summary.trial.placement.name) in {HDD, SSD}
    }
    return [
        Cell(engine, page_cache_bytes, [
            (hdd, ssd)
            for number in range(1, repetitions + 1)
            if (hdd := trials.get((page_cache_bytes, engine, number, HDD)))
            and (ssd := trials.get((page_cache_bytes, engine, number, SSD)))
        ])
        for page_cache_bytes, engine in sorted({key[:2] for key in trials})
    ]  # fmt: skip


def welch(logs: Sequence[float], other_logs: Sequence[float]) -> Contrast:
    """The difference of two means, with the degrees of freedom of Welch and Satterthwaite."""
    parts = [(variance(values) / len(values), len(values) - 1) for values in (logs, other_logs)]
    whole = max(sum(part for part, _ in parts), LEAST_ERROR**2)
    spread = sum(part**2 / freedom for part, freedom in parts)
    freedom = whole**2 / spread if spread else sum(freedom for _, freedom in parts)
    return Contrast(fmean(logs) - fmean(other_logs), whole**0.5, freedom)


def orders(measured: Sequence[Cell], level: float) -> list[Order]:
    """Each two engines within each page cache, corrected together; without those that are not judged."""
    judged = [cell for cell in measured if len(cell.pairs) >= LEAST_PAIRS and not cell.is_late]
    both = [pair for pair in combinations(judged, 2) if pair[0].page_cache_bytes == pair[1].page_cache_bytes]
    contrasts = [welch(first.logs, second.logs) for first, second in both]
    ps = holm([contrast.p() for contrast in contrasts])
    return [
        Order(
            first.page_cache_bytes,
            (first.engine, second.engine),
            contrast,
            p,
            "" if p > level else (first if contrast.log < 0 else second).engine,
        )
        for (first, second), contrast, p in zip(both, contrasts, ps, strict=True)
    ]


def answers(measured: Sequence[Cell], found: Sequence[Order]) -> list[str]:
    """A sentence for each two engines."""
    caches = sorted({cell.page_cache_bytes for cell in measured})
    return [_answer(engines, caches, found) for engines in combinations(sorted({cell.engine for cell in measured}), 2)]


def _answer(engines: tuple[str, str], caches: Sequence[int], found: Sequence[Order]) -> str:
    judged = [order for order in found if order.engines == engines]
    unjudged = [cache for cache in caches if cache not in {order.page_cache_bytes for order in judged}]
    shown = {engine: [order.page_cache_bytes for order in judged if order.more == engine] for engine in engines}
    phrases = [
        f"the SSD saves {engine} more than {other} within {_caches(shown[engine], caches)}"
        for engine, other in (engines, engines[::-1])
        if shown[engine]
    ]
    if not phrases:
        phrases = [f"no order of {engines[0]} and {engines[1]} is shown"]
    elif len(phrases) > 1:
        phrases.insert(0, "which of them needs it more depends on the page cache")
    rest = f"; not judged within {_caches(unjudged, caches)}" if unjudged else ""
    return f"**{engines[0]} and {engines[1]}**: {', '.join(phrases)}{rest}."


def _caches(some: Sequence[int], caches: Sequence[int]) -> str:
    if len(some) == len(caches) > 1:
        return "all page caches"
    return f"{', '.join(str(cache >> 20) for cache in some)} MiB"


def savings_table(measured: Sequence[Cell]) -> list[list[str]]:
    """What the SSD saves each engine within each page cache, by `COLUMNS`; cells with fewer than two pairs say so."""
    return [[f"{cell.page_cache_bytes >> 20} MiB", cell.engine, *_savings(cell)] for cell in measured]


def _savings(cell: Cell) -> list[str]:
    if len(cell.pairs) < 2:
        return ["fewer than two pairs", *[""] * (len(COLUMNS) - 3)]
    disks, logs = [hdd for hdd, _ in cell.pairs], cell.logs
    error = max((variance(logs) / len(logs)) ** 0.5, LEAST_ERROR)
    saving = saved_share(Contrast(fmean(logs), error, len(logs) - 1))
    written = [share for disk in disks if (share := disk.written_share) is not None]
    return [
        f"{fmean(_elapsed_s(disk) for disk in disks):.1f}",
        f"{fmean(_elapsed_s(ssd) for _, ssd in cell.pairs):.1f}",
        f"{100 * saving.value:.0f} %",
        interval_text(saving),
        f"{fmean(disk.drives_read_bytes for disk in disks) / 1e6:,.0f} MB",
        f"{100 * fmean(written):.0f} %{' (late)' if cell.is_late else ''}" if written else "not known",
    ]


def orders_table(found: Sequence[Order]) -> list[list[str]]:
    """Each two engines within each page cache, by `ORDER_COLUMNS`."""
    return [
        [
            f"{order.page_cache_bytes >> 20} MiB",
            " : ".join(order.engines),
            f"{order.contrast.ratio:.2f}",
            f"{order.contrast.interval().low:.2f} to {order.contrast.interval().high:.2f}",
            f"{order.p:.3f}" if order.p >= 0.001 else "< 0.001",
            f"SSD saves {order.more} more" if order.more else "not shown",
        ]
        for order in found
    ]


def report(plan: Plan, summaries: Sequence[TrialSummary]) -> str:
    """Both tables and the answers, in Markdown; that nothing is judged where too few repetitions have ended."""
    repetitions = repetitions_judged(plan, summaries)
    if not repetitions:
        return f"Fewer than {min(LEVEL_BY_REPETITIONS)} whole repetitions have ended: no order is judged."
    measured = cells(summaries, repetitions)
    level = LEVEL_BY_REPETITIONS[repetitions]
    found = orders(measured, level)
    judged = f"Judged by {repetitions} repetitions, at a level of {100 * level:.1f} % for all comparisons together."
    said = "\n".join(f"- {sentence}" for sentence in answers(measured, found))
    tables = [_table(COLUMNS, savings_table(measured)), _table(ORDER_COLUMNS, orders_table(found))]
    return "\n\n".join([judged, said, *tables])


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    columns = [Column(head, [row[place] for row in rows], name=place < 2) for place, head in enumerate(heads)]
    return grid(columns)


def is_of_the_kind(plan: Plan) -> bool:
    """Whether a run is of one workload on `hdd` and `ssd`, within page caches that are bounded."""
    trials = [trial for trial in plan.trials if not trial.warm_up]
    return (
        len({(trial.workload.name, *sorted(trial.workload.options.items())) for trial in trials}) == 1
        and {HDD, SSD} <= {trial.placement.name for trial in trials}
        and all(trial.cluster.page_cache_bytes for trial in trials)
    )


def _elapsed_s(summary: TrialSummary) -> float:
    """Of a trial that counts, which took time."""
    return summary.elapsed_s or 0.0


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    folder = parser.parse_args().run
    run = read_run(RunFolder(folder), details=False)
    if not is_of_the_kind(run.plan):
        parser.error(
            f"{folder}: name a run of experiments/engines-by-page-cache.yaml, or another of a single workload on `hdd` "
            "and `ssd`, with each page cache bounded"
        )
    sys.stdout.write(f"{report(run.plan, run.trials)}\n")


if __name__ == "__main__":
    main()
