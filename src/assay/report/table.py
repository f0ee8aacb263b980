"""The run's table on a terminal."""

from collections.abc import Iterator, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assay.model.doubt import Doubt
from assay.model.record import Record, Status
from assay.report.judged import Judged
from assay.report.selection import rows_shown
from assay.report.text import counted_text, ratio_text, seconds_text
from assay.stats.summary import Row, varying

PHASES = ("map", "shuffle", "merge", "reduce")
NOTE = (
    "In seconds. elapsed: the jobs' own times added up; phases: averages per task, added up over the jobs; "
    "ratio: elapsed time over that on the first placement."
)
MOST_LINES, MOST_ANSWERS, MOST_FAILURES = 60, 12, 20
COLOURS = {"pass": "green", "unknown": "yellow", "fail": "red"}


def print_report(title: str, records: Sequence[Record], judged: Judged, console: Console) -> None:
    """Title, table, answers, failures, and doubts: the plan's own before the trials'."""
    rows = judged.rows
    shown = rows_shown(rows, MOST_LINES)
    console.print(_table(title, shown))
    if len(shown) < len(rows):
        left = f"{len(shown)} of {len(rows)} combinations, those that failed or tell most; --format csv has them all."
        console.print(left, style="dim", highlight=False)
    console.print(NOTE, style="dim", highlight=False)
    for one in judged.answers[:MOST_ANSWERS]:
        console.print(f"{one.subject}: {one.headline} ({one.belief}: {one.why}).", highlight=False, markup=False)
    wrong = list(_wrong(records))
    for words, colour in wrong[:MOST_FAILURES]:
        console.print(words, style=colour, highlight=False, markup=False)
    if len(wrong) > MOST_FAILURES:
        console.print(
            f"and {len(wrong) - MOST_FAILURES} more trials or checks that failed", style="red", highlight=False
        )
    by_kind: dict[str, list[Doubt]] = {}
    for doubt in judged.doubts:
        by_kind.setdefault(doubt.kind, []).append(doubt)
    for alike in by_kind.values():
        print_doubt(alike[0], console, others=len(alike) - 1)


def _wrong(records: Sequence[Record]) -> Iterator[tuple[str, str]]:
    """Trials that failed, and checks that did not pass, each with its colour."""
    for record in records:
        if record.status is Status.FAILED:
            yield f"trial {record.trial.id} failed: {record.error or ''}", COLOURS["fail"]
        for verdict in record.verdicts:
            if verdict.outcome != "pass":
                yield (
                    f"{record.trial.id}: {verdict.check}: {verdict.outcome}: {verdict.detail}",
                    COLOURS[verdict.outcome],
                )


def print_doubt(doubt: Doubt, console: Console, others: int = 0) -> None:
    """One doubt in one paragraph, with how many of its kind there are besides; the page has them all."""
    more = f" (and {others} more of this kind, on the page)" if others else ""
    text = escape(f"{doubt.what}{more}; {doubt.why}. Cure: {doubt.cure}.")
    console.print(f"[yellow]Doubt ({doubt.kind}):[/yellow] {text}", highlight=False)


def _table(title: str, rows: Sequence[Row]) -> Table:
    table = Table(
        title=title, title_justify="left", header_style="bold", box=SIMPLE_HEAD, padding=(0, 0), pad_edge=False
    )
    names_shown = varying(rows)
    for name in ("workload", *names_shown, "placement"):
        table.add_column(name, no_wrap=True)
    for name in ("runs", "elapsed", *PHASES, "ratio"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    last = None
    for row in rows:
        if last not in (None, row.group):
            table.add_section()
        last = row.group
        names = [row.group.workload, *(getattr(row.group, name) for name in names_shown), row.placement]
        phases = [seconds_text(getattr(row.phases, f"{phase}_s") if row.phases else None) for phase in PHASES]
        outcome = f"[{COLOURS[row.outcome]}]{row.outcome}[/]"
        table.add_row(*names, counted_text(row), seconds_text(row.elapsed_s), *phases, ratio_text(row), outcome)
    return table
