"""What the studies' data say in the pages: whole files, and the texts of blocks that docs/make_results.py writes.

From `studies.json`: `studies.md`, `studies.svg`, the headlines and the tables of the score. From `studies-null.json`
(benchmarks/studies_null.py) the table of runs without any effect. From `drive-speed.json`
(benchmarks/agreement_by_drive_speed.py), once it is there, the tables and the chart by the speed of drives.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from benchmarks.studies_null import WRITTEN, NullRates

from assay_extras.studies.drive_speed import CHART_FILE, at_speeds, read_speed_runs, speed_svg, speed_tables
from assay_extras.studies.kept import read_kept
from assay_extras.studies.overview import Overview, overview
from assay_extras.studies.overview_view import (
    label,
    overview_markdown,
    overview_svg,
    standalone,
    statements_words,
    table,
    wrapped,
)
from assay_extras.studies.score_view import ScoreTable, headline, score_tables, short_headline

ROOT = Path(__file__).parents[1]
EXPLANATION = ROOT / "docs" / "explanation"


@cache
def kept_overview() -> Overview:
    """What the kept data say. Raises ValueError where they compare nothing."""
    known = overview(read_kept(EXPLANATION))
    if known is None:
        raise ValueError(f"{EXPLANATION / 'studies.json'} has no comparisons")
    return known


def documents() -> dict[Path, str]:
    """Each file as it has to be, by its path."""
    known, speeds = kept_overview(), read_speed_runs(EXPLANATION)
    charts = {} if speeds is None else {EXPLANATION / CHART_FILE: standalone(speed_svg(at_speeds(speeds)))}
    return {
        EXPLANATION / "studies.md": overview_markdown(known, read_kept(EXPLANATION)),
        EXPLANATION / "studies.svg": standalone(overview_svg(known)),
        **charts,
    }


def _tables(shown: Sequence[ScoreTable], *before: str) -> str:
    parts = list(before)
    for one in shown:
        parts += [f"**{one.title}**", table(one.header, one.rows), wrapped(one.about)]
    return "\n\n".join(parts)


def _null_runs() -> str:
    """A row for each experiment and noise; normal and heavy-tailed noise beside each other."""
    every = [NullRates.model_validate(one) for one in json.loads((EXPLANATION / WRITTEN).read_text(encoding="utf-8"))]
    pairs: dict[tuple[int, str, float], list[NullRates]] = {}
    for one in every:
        pairs.setdefault((one.comparisons, one.experiment, one.noise), []).append(one)
    rows = [
        (
            "all together" if name == "all" else label(name), str(comparisons), f"{100 * noise:.0f} %",
            *(_either(one.of_comparisons for one in pair), _either(one.of_runs for one in pair),
              _either(one.of_runs_corrected for one in pair)),
        )
        for (comparisons, name, noise), pair in sorted(pairs.items())
    ]  # fmt: skip
    header = ("experiment", "comparisons", "noise", "of comparisons", "any in a run", "any with Benjamini-Hochberg")
    return table(header, rows)


def _either(shares: Iterable[float]) -> str:
    return ", ".join(f"{100 * share:.1f} %" for share in shares)


def _drive_speed() -> str:
    runs = read_speed_runs(EXPLANATION)
    if runs is None:
        return "`experiments/agreement-by-drive-speed.yaml` has not run yet."
    return _tables(speed_tables(at_speeds(runs)), f"![Ratios by the factor of the drives]({CHART_FILE})")


BLOCKS: Mapping[str, Callable[[], str]] = {
    "studies headline": lambda: short_headline(kept_overview()),
    "studies score": lambda: _tables(score_tables(kept_overview()), wrapped(headline(kept_overview()))),
    "studies statements": lambda: wrapped(statements_words(kept_overview())),
    "studies null runs": _null_runs,
    "studies drive speed": _drive_speed,
}
"""What makes each block's text, by its name in the pages."""
