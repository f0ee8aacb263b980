"""What the studies' data say in the pages: whole files, and the texts of blocks that docs/make_results.py writes.

All data lie in `docs/results`. From `studies.json`: `studies.svg`, the headlines, the tables of the score, of the
findings and of the statements. From `causes.json`: the tables of the runs that show causes. From `studies-null.json`
(benchmarks/studies_null.py): the table of runs without any effect. From `drive-speed.json`
(benchmarks/agreement_by_drive_speed.py): the tables and the chart by the speed of drives. From
`aloja-score.json` (benchmarks/aloja.py): how well a public table was forecast.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.agreement_by_drive_speed import CHART_FILE, at_speeds, read_speed_runs, speed_svg, speed_tables
from benchmarks.aloja import again_block as aloja_again
from benchmarks.aloja import block as aloja_score
from benchmarks.aloja import chart as aloja_chart
from benchmarks.aloja import headline as aloja_headline
from benchmarks.studies_null import WRITTEN, NullRates

from assay_extras.studies.comparison import Judged
from assay_extras.studies.kept import read_kept
from assay_extras.studies.overview import Compared, StudiesOverview, judged_by_runs, overview
from assay_extras.studies.overview_view import (
    label,
    overview_svg,
    standalone,
    statements_words,
    table,
    wrapped,
)
from assay_extras.studies.published import statements
from assay_extras.studies.score_view import ScoreTable, headline, score_tables, short_headline
from assay_extras.studies.storage import SOME_ATTRIBUTES
from assay_extras.studies.values import Difference, Field, Level, Repeated, StudyTable, difference

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
CAUSES = RESULTS / "causes.json"


@cache
def kept_overview() -> StudiesOverview:
    """What the kept data say. Raises ValueError where they compare nothing."""
    known = overview(read_kept(RESULTS))
    if known is None:
        raise ValueError(f"{RESULTS / 'studies.json'} has no comparisons")
    return known


def documents() -> dict[Path, str]:
    """Each file as it has to be, by its path."""
    known, speeds = kept_overview(), read_speed_runs(RESULTS)
    charts = {} if speeds is None else {RESULTS / CHART_FILE: standalone(speed_svg(at_speeds(speeds)))}
    return {
        RESULTS / "studies.svg": standalone(overview_svg(known)),
        RESULTS / "aloja.svg": standalone(aloja_chart()),
        **charts,
    }


def _tables(shown: Sequence[ScoreTable], *before: str) -> str:
    parts = list(before)
    for one in shown:
        parts += [f"**{one.title}**", table(one.header, one.rows), wrapped(one.about)]
    return "\n\n".join(parts)


def _null_runs() -> str:
    """A row for each noise, of all experiments together; normal and heavy-tailed noise beside each other."""
    every = [NullRates.model_validate(one) for one in json.loads((RESULTS / WRITTEN).read_text(encoding="utf-8"))]
    pairs: dict[tuple[int, float], list[NullRates]] = {}
    for one in every:
        if one.experiment == "all":
            pairs.setdefault((one.comparisons, one.noise), []).append(one)
    rows = [
        (
            str(comparisons), f"{100 * noise:.0f} %",
            *(_either(one.of_comparisons for one in pair), _either(one.of_runs for one in pair),
              _either(one.of_runs_corrected for one in pair)),
        )
        for (comparisons, noise), pair in sorted(pairs.items())
    ]  # fmt: skip
    header = ("comparisons", "noise", "of comparisons", "any in a run", "any with Benjamini-Hochberg")
    return table(header, rows)


def _either(shares: Iterable[float]) -> str:
    return ", ".join(f"{100 * share:.1f} %" for share in shares)


def _drive_speed() -> str:
    runs = read_speed_runs(RESULTS)
    if runs is None:
        return "`experiments/studies/agreement-by-drive-speed.yaml` has not run yet."
    return _tables(speed_tables(at_speeds(runs)), f"![Ratios by the factor of the drives](../results/{CHART_FILE})")


class Place(NamedTuple):
    """A comparison by its table, by words that its place has, and by its ratio's name."""

    table: str
    words: str
    ratio: str


SSD_TO_HDD, CUSTOMS, CONTAINERS = "ssd2 / hdd", "customs / defaults", "containers / defaults"
FINDINGS: Sequence[Sequence[Place]] = (
    [Place("Table 6", f"triples, {phase}", SSD_TO_HDD) for phase in ("map", "shuffle", "reduce")],
    [
        *(Place(table_name, "shuffle", SSD_TO_HDD) for table_name in ("Table 6", "Table 7", "Table 8", "Table 9")),
        Place("Table 12", "containers, shuffle", SSD_TO_HDD), Place("Table 13", "customs, shuffle", SSD_TO_HDD),
    ],
    [Place("Table 12", f"{drive}, map", CONTAINERS) for drive in ("hdd", "ssd2")],
    [Place("Table 8", f"{drive}, map", CUSTOMS) for drive in ("hdd", "ssd2")],
    [Place("Table 12", "ssd2, shuffle", CONTAINERS), Place("Table 13", "ssd2, shuffle", CUSTOMS)],
    [],  # the page cache has a table of its own
    [
        *(Place("Table 17", f"defaults, {metric}", SSD_TO_HDD) for metric in ("elapsed", "map", "shuffle", "reduce")),
        Place("Table 17", "hdd, elapsed", CUSTOMS),
    ],
    [Place("Table 13", "hdd, merge", CUSTOMS)],
    [Place("Figure 5b", "elapsed", f"{level} / hard disk") for level in ("25 % SSD", "50 % SSD", "75 % SSD", "SSD")],
)  # fmt: skip
"""The comparisons that each finding of docs/research/studies.md rests on, in its order."""


def _findings() -> str:
    """A row for each comparison that a finding rests on."""
    rows = [
        (str(number), _without_input(compared.place), compared.of,
         _ratio(compared.measured_ratio, compared.low, compared.high), _ratio(compared.published_ratio))
        for number, places in enumerate(FINDINGS, 1)
        for compared in map(compared_at, places)
    ]  # fmt: skip
    return table(("finding", "comparison", "ratio of times", "measured (95 % interval)", "the study"), rows)


def _without_input(place: str) -> str:
    """A comparison's place without the size of its generated input, which is the same in all rows of a job."""
    return ", ".join(part for part in place.split(", ") if not part.startswith("generated at "))


def compared_at(place: Place) -> Compared:
    """The one comparison there. Raises ValueError where the data have none, or several."""
    matching = [
        compared
        for compared in kept_overview().comparisons
        if (compared.table, compared.of) == (place.table, place.ratio)
        and set(place.words.split(", ")) <= set(compared.place.split(", "))
    ]
    if len(matching) != 1:
        raise ValueError(f"{place} names {len(matching)} comparisons")
    return matching[0]


def _ratio(ratio: float | None, low: float | None = None, high: float | None = None) -> str:
    if ratio is None:
        return "-"
    return f"{ratio:.2f}" if low is None or high is None else f"{ratio:.2f} ({low:.2f} to {high:.2f})"


def _seconds(experiment: str, place: str, *levels: str) -> tuple[Repeated, ...]:
    """What a run that shows a cause took at each level, by repetition."""
    values = json.loads(CAUSES.read_text(encoding="utf-8"))[experiment][place]
    return tuple({int(number): seconds for number, seconds in values[level].items()} for level in levels)


def _between(first: Repeated, second: Repeated) -> Difference:
    known = difference(first, second)
    if known is None:
        raise ValueError(f"{CAUSES} has no repetitions to compare")
    return known


def _difference_ratio(known: Difference) -> str:
    return _ratio(known.ratio, known.low, known.high)


NOT_JUDGED = "not judged"
MOST_FINDINGS = 2
"""Places of a statement that its reason tells."""


def _statements() -> str:
    """How many statements came out how, and those of the other studies that were confirmed or refuted."""
    known = kept_overview()
    rows = [
        (one.id, one.claim, one.verdict, one.scale or "-")
        for one in known.statements
        if one.study != "storage" and one.verdict != "undecided"
    ]
    header = ("statement", "what the study says", "verdict", "decided by the scale")
    return f"{wrapped(statements_words(known))}\n\n{table(header, rows)}"


def _storage_statements() -> str:
    """What became of each statement of the storage subsystem study that runs speak of, and why."""
    told = judged_by_runs(run for run in read_kept(RESULTS) if run.experiment.startswith("storage-"))
    judged = [(one.id, one.claim, *_verdict(told.get(one.id, []))) for one in statements("storage")]
    return "\n".join(
        wrapped(f"- **{verdict}** ({name}): {claim} *{reason}*")
        for name, claim, verdict, reason in judged
        if verdict != NOT_JUDGED
    )


def _storage_factors() -> str:
    """What HBase reads, sends and takes where a job reads some columns, and where its results go to files."""
    runs = {run.experiment: run.measured for run in read_kept(RESULTS)}
    columns = runs["storage-statement-c20-scaled"]
    on_some = {"workload": "k-means", "job": SOME_ATTRIBUTES}
    rows = []
    for metric, shown in (("disk read", "read from disk"), ("elapsed", "time")):
        hdfs, hbase = (_values(columns, {**on_some, "metric": metric, "store": store}) for store in ("hdfs", "hbase"))
        change = "k-means on some attributes, one node: columns apart in HBase against whole lines in HDFS"
        rows.append((f"{change}, {shown}", _difference_ratio(_between(hdfs, hbase))))
    for nodes, metric, shown in (
        ("four-nodes", "network", "sent over the network"), ("four-nodes", "disk write", "written to disk"),
        ("one-node", "elapsed", "time"),
    ):  # fmt: skip
        word_frequency = runs[f"storage-figures-6.1-6.4-{nodes}-scaled"]
        places = {"workload": "word-frequency", "job": "count", "metric": metric}
        in_tables, in_files = (
            _values(word_frequency, {**places, "store": store}) for store in ("hbase", "hbase-to-hdfs")
        )
        change = f"word frequency from HBase, {nodes.replace('-', ' ')}: results in HDFS against results in HBase"
        rows.append((f"{change}, {shown}", _difference_ratio(_between(in_tables, in_files))))
    return table(("what is compared", "ratio"), rows)


def _values(measured: StudyTable, where: Mapping[Field, Level]) -> Repeated:
    """What a run measured at the one place that meets all conditions."""
    (point,) = measured.where(where)
    return measured.of(point)


def _verdict(by_runs: Sequence[tuple[str, Judged]]) -> tuple[str, str]:
    """Of all runs: confirmed or refuted where one is and none is the other; the places that say so."""
    addressed = [(label(name), judged) for name, judged in by_runs if judged.verdict != "not addressed"]
    if not addressed:
        reasons = dict.fromkeys(judged.reason for _, judged in by_runs if "measures nothing" not in judged.reason)
        return NOT_JUDGED, "; ".join(reasons) or "no run has measured it yet"
    clear = [(name, judged) for name, judged in addressed if judged.verdict != "undecided"]
    verdicts = {judged.verdict for _, judged in clear}
    by_run: dict[str, list[str]] = {}
    for name, judged in clear if len(verdicts) == 1 else addressed:
        by_run[name] = [finding.text for finding in judged.findings]
    alike = {tuple(texts) for texts in by_run.values()}
    texts = [f"{name}: {'; '.join(texts[:MOST_FINDINGS])}" for name, texts in by_run.items()]
    if len(alike) == 1:  # all runs together
        texts = ["; ".join(next(iter(alike))[:MOST_FINDINGS])]
    return verdicts.pop() if len(verdicts) == 1 else "undecided", "; ".join(texts)


def _page_cache() -> str:
    """SSD over hard disk within two page caches, how much that differs, and the thesis' ratios."""
    phases, sizes = ("map", "shuffle", "reduce"), ("192 MiB", "32 MiB")
    ratios: dict[str, list[Repeated]] = {size: [] for size in sizes}
    cells: dict[str, list[str]] = {size: [] for size in sizes}
    for phase in phases:
        for size in sizes:
            levels = [f"drive {drive}, page cache {size}" for drive in ("hdd", "ssd2")]
            hdd, ssd = _seconds("shuffle-by-page-cache", f"iteration, {phase}", *levels)
            cells[size].append(_difference_ratio(_between(hdd, ssd)))
            ratios[size].append({number: ssd[number] / hdd[number] for number in hdd.keys() & ssd.keys()})
    changes = [_difference_ratio(_between(*pair)) for pair in zip(*ratios.values(), strict=True)]
    published = [
        _ratio(compared_at(Place("Table 14", f"defaults, {phase}", SSD_TO_HDD)).published_ratio) for phase in phases
    ]
    rows = [
        ("192 MiB, as in tables 14 to 16", *cells["192 MiB"]), ("32 MiB", *cells["32 MiB"]),
        ("32 MiB relative to 192 MiB", *changes), ("the thesis", *published),
    ]  # fmt: skip
    return table(("page cache", *phases), rows)


def _segments() -> str:
    """The closing job's phases with few and with many streams."""
    rows = []
    for phase in ("shuffle", "merge", "reduce"):
        levels = [f"mapreduce.task.io.sort.factor {streams}" for streams in (10, 100)]
        known = _between(*_seconds("merge-by-segments", f"closing, {phase}", *levels))
        rows.append((phase, f"{known.first:.1f}", f"{known.second:.1f}", _difference_ratio(known)))
    return table(("phase", "10 streams (s)", "100 streams (s)", "ratio"), rows)


BLOCKS: Mapping[str, Callable[[], str]] = {
    "studies headline": lambda: short_headline(kept_overview()),
    "studies score": lambda: _tables(score_tables(kept_overview()), wrapped(headline(kept_overview()))),
    "studies statements": _statements,
    "studies findings": _findings,
    "studies storage statements": _storage_statements,
    "studies storage factors": _storage_factors,
    "studies page cache": _page_cache,
    "studies segments": _segments,
    "studies null runs": _null_runs,
    "studies drive speed": _drive_speed,
    "aloja": aloja_score,
    "aloja again": aloja_again,
    "aloja headline": aloja_headline,
}
"""What makes each block's text, by its name in the pages."""
