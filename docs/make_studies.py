"""Writes what the studies' data say into the pages: figures in README.md and docs/explanation, generated, never typed.

From `studies.json`: `studies.md`, `studies.svg`, the headlines and the tables of the score. From `studies-null.json`
(benchmarks/studies_null.py) the table of runs without any effect. From `drive-speed.json`
(benchmarks/agreement_by_drive_speed.py), once it is there, the tables and the chart by the speed of drives. In a page a
block stands between `<!-- studies: NAME -->` and `<!-- end -->`. From the checkout:
`PYTHONPATH=src:extras:. .assay/venv/bin/python docs/make_studies.py`.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks.studies_null import WRITTEN, NullRates

from assay_extras.studies.drive_speed import CHART_FILE, at_speeds, read_speed_runs, speed_svg, speed_tables
from assay_extras.studies.kept import StudyRun, read_kept
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
PAGES = (ROOT / "README.md", EXPLANATION / "studies-repeated.md")
_BLOCK = re.compile(r"(<!-- studies: ([a-z ]+) -->).*?(<!-- end -->)", re.DOTALL)


def documents() -> dict[Path, str]:
    """Each file as it has to be, by its path."""
    runs = read_kept(EXPLANATION)
    found = overview(runs)
    if found is None:
        raise ValueError(f"{EXPLANATION / 'studies.json'} has no comparisons")
    made = blocks(found)
    files = {page: _filled(page.read_text(encoding="utf-8"), made) for page in PAGES}
    speeds = read_speed_runs(EXPLANATION)
    charts = {} if speeds is None else {EXPLANATION / CHART_FILE: standalone(speed_svg(at_speeds(speeds)))}
    return {**files, **_of_runs(found, runs), **charts}


def _of_runs(found: Overview, runs: Sequence[StudyRun]) -> dict[Path, str]:
    return {
        EXPLANATION / "studies.md": overview_markdown(found, runs),
        EXPLANATION / "studies.svg": standalone(overview_svg(found)),
    }


def blocks(found: Overview) -> Mapping[str, str]:
    """What stands between the marks, by its name."""
    make: Mapping[str, Callable[[], str]] = {
        "headline": lambda: short_headline(found),
        "score": lambda: _tables(score_tables(found), wrapped(headline(found))),
        "statements": lambda: wrapped(statements_words(found)),
        "null runs": _null_runs,
        "drive speed": _drive_speed,
    }
    return {name: block() for name, block in make.items()}


def _filled(page: str, made: Mapping[str, str]) -> str:
    """Blocks of several lines stand apart from their marks, others within a line."""

    def block(mark: re.Match[str]) -> str:
        text = made[mark[2]]
        return f"{mark[1]}\n\n{text}\n\n{mark[3]}" if "\n" in mark[0] else f"{mark[1]}{text}{mark[3]}"

    return _BLOCK.sub(block, page)


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


def main() -> None:
    """Write all files anew; `git diff` then shows what changed."""
    for file, text in documents().items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
