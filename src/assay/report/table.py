"""The run's table on a terminal."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assay.model.doubt import Doubt
from assay.model.record import Record, Status
from assay.report.text import ratio_text, seconds_text
from assay.stats.summary import Row, doubts_of, summarise, varying

PHASES = ("map", "shuffle", "merge", "reduce")
NOTE = (
    "In seconds. elapsed: the jobs' own times added up; phases: averages per task, added up over the jobs; "
    "ratio: elapsed time over that on the first placement."
)
COLOURS = {"pass": "green", "unknown": "yellow", "fail": "red"}


def print_report(title: str, records: Sequence[Record], console: Console, doubts: Sequence[Doubt] = ()) -> None:
    """Title, table, failures, and doubts: the plan's own before the trials'."""
    console.print(_table(title, summarise(records)))
    console.print(NOTE, style="dim", highlight=False)
    for record in records:
        if record.status is Status.FAILED:
            console.print(f"[red]trial {record.trial.id} failed:[/red] {escape(record.error or '')}", highlight=False)
        for verdict in record.verdicts:
            if verdict.outcome != "pass":
                line = f"{record.trial.id}: {verdict.check}: {verdict.outcome}: {verdict.detail}"
                console.print(line, style=COLOURS[verdict.outcome], highlight=False, markup=False)
    by_kind: dict[str, list[Doubt]] = {}
    for doubt in (*doubts, *doubts_of(records)):
        by_kind.setdefault(doubt.kind, []).append(doubt)
    for alike in by_kind.values():
        print_doubt(alike[0], console, others=len(alike) - 1)


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
        runs = f"{row.finished}/{row.trials}" if row.finished != row.trials else str(row.trials)
        table.add_row(*names, runs, seconds_text(row.elapsed_s), *phases, ratio_text(row), outcome)
    return table
