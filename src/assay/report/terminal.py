"""A run on a terminal: its table, the answer in words, what limits it. Readable at 80 columns and in a pipe."""

from collections.abc import Iterator, Sequence
from itertools import islice
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from assay.model.doubt import Doubt, Outcome, decisive
from assay.model.record import Status
from assay.model.section import TrialTables
from assay.model.trial_summary import TrialSummary
from assay.report.analysis import RunAnalysis, rows_shown
from assay.report.answer import BLOCKED_HEAD, OUTCOMES, Answer, blocked_lines, interval_text
from assay.report.bias import bias_text
from assay.report.caveats import scopes_of
from assay.report.columns import GAP, Column, combination_columns, layout_table
from assay.report.first_screen import MOST_SINGLE, caveats_of, headline_of
from assay.report.medians import medians_note
from assay.report.nodes import (
    IMBALANCE_HEAD,
    PAIRS_HEAD,
    imbalance_columns,
    imbalance_words,
    nodes_in,
)
from assay.report.predicted import NOTE as PREDICTED_NOTE
from assay.report.predicted import predicted_words
from assay.report.shares import MARKS, columns_of, notes_of
from assay.report.typed import as_typed
from assay.report.words import base_text, percent, print_line, print_text, seconds_text, shown_level, shown_words
from assay.stats.breakdown import Breakdown, Change
from assay.stats.decision import Decision, Verdict
from assay.stats.shares import SharesTable
from assay.stats.summary import Row, varying

MOST_LINES, MOST_ANSWERS, MOST_FAILURES, MOST_DOUBTS = 60, 12, 20, 6
MOST_BROKEN_DOWN, MOST_PARTS = 3, 12
MOST_PAIRS = 12
COLOURS = {"pass": "green", "unknown": "yellow", "fail": "red"}
OUTCOME_COLOURS = {"worth": "bold green", "open": "bold yellow"}
VERDICT_COLOURS = {str(Verdict.WORTH_IT): "green", str(Verdict.NOT_KNOWN_YET): "yellow"}

NOTE = "Seconds. elapsed: the jobs' own times, added up; phases: averages per task, added up over the jobs"


def print_report(
    title: str, summaries: Sequence[TrialSummary], analysis: RunAnalysis, console: Console, *, verbose: bool = False
) -> None:
    """Title, failures, the answers, and the few caveats that could change them; the page has all of it.

    With `verbose`, and where nothing was compared, the table of combinations too; `verbose` has all notes and doubts.
    """
    console.print(title, style="bold", highlight=False)
    if verbose or not analysis.answers:
        _print_table(analysis, console)
    _print_failures(summaries, console)
    print_answers(analysis, console, verbose=verbose)
    verified = sum(summary.outcome is Outcome.PASS for summary in summaries)
    if summaries:
        checked = verified or any(summary.outcome is Outcome.FAIL for summary in summaries)
        whole = "All outputs verified" if verified == len(summaries) else "Outputs verified"
        print_text(
            console, f"{whole} ({verified} of {len(summaries)} trials)." if checked else "No output was checked."
        )
    if verbose:
        print_doubts(analysis.doubts, console)
        return
    caveats, more = caveats_of(analysis.answers, analysis.doubts)
    for words in caveats:
        console.print(_marked(words), highlight=False)
    if more:
        print_text(console, f"{more} more caveat{'s' if more > 1 else ''} on the page, and with --verbose.", "dim")


def _print_table(analysis: RunAnalysis, console: Console) -> None:
    rows = analysis.rows
    shown = rows_shown(rows, MOST_LINES)
    for line in table_lines(shown, console.width):
        print_line(console, line)
    if len(shown) < len(rows):
        print_text(console, f"{shown_words(shown, rows)}; --format csv has them all.", "dim")
    ratio = f"; ratio: elapsed time divided by that on {base_text(rows)}" if any(row.comparison for row in rows) else ""
    print_text(console, f"{NOTE}{ratio}.", "dim")
    if note := medians_note(analysis.decisions):
        print_text(console, note, "dim")
    _print_predicted(shown, varying(rows), console)


def _print_failures(summaries: Sequence[TrialSummary], console: Console) -> None:
    """Trials that failed, and checks that did not pass; what is the same of several is told once."""
    trials: dict[tuple[str, str, str], list[str]] = {}
    for summary in summaries:
        if summary.status is Status.FAILED:
            trials.setdefault(("trial ", f" failed: {summary.error or ''}", COLOURS["fail"]), []).append(summary.id)
        for verdict in summary.failed_checks:
            words = f": {verdict.check}: {verdict.outcome}: {verdict.detail}"
            trials.setdefault(("", words, COLOURS[verdict.outcome]), []).append(summary.id)
    for (kind, words, colour), names in islice(trials.items(), MOST_FAILURES):
        more = f" and {len(names) - 1} more trial{'s' if len(names) > 2 else ''}" if len(names) > 1 else ""
        print_text(console, f"{kind}{names[0]}{more}{words}", colour)
    if rest := sum(map(len, islice(trials.values(), MOST_FAILURES, None))):
        print_text(console, f"and {rest} more trials or checks that failed", "red")


def print_doubts(doubts: Sequence[Doubt], console: Console) -> None:
    """Doubts that could change an answer, the worst first."""
    alike = decisive(doubts)
    for doubt, count in alike[:MOST_DOUBTS]:
        more = f" (and {count - 1} more of this kind)" if count > 1 else ""
        console.print(_doubt_text(f"{doubt.what}{more}.{bias_text(doubt.kind)}"), highlight=False)
    if rest := len(doubts) - sum(count for _, count in alike[:MOST_DOUBTS]):
        print_text(console, f"{rest} {'more ' if alike else ''}doubt{'s' if rest > 1 else ''} on the page.", "dim")


def _print_predicted(rows: Sequence[Row], names: Sequence[str], console: Console) -> None:
    """What the table has no room for: the intervals of predicted times, and what they rest on."""
    if predicted := predicted_words(rows, names):
        for words in predicted:
            print_text(console, f"{words}.")
        print_text(console, f"{PREDICTED_NOTE}.", "dim")


def print_sections(analysis: RunAnalysis, console: Console) -> None:
    """The sections that have anything for a terminal."""
    for section in analysis.sections.values():
        if text := section.text():
            print_line(console, text)


def print_answers(analysis: RunAnalysis, console: Console, *, verbose: bool) -> None:
    """Each answer with its lines; with `verbose` its notes, and of few answers what storage costs in each part.

    Of several jobs with several levels, which have many answers, one table stands in their place; `verbose` has both.
    """
    answers = analysis.answers
    if analysis.shares is not None and len(answers) > MOST_SINGLE:
        console.print()
        print_text(console, f"{headline_of(analysis.decisions)}.", "bold")
        for text in shares_lines(analysis.shares, console.width):
            print_line(console, text)
        for note in notes_of(analysis.shares):
            print_text(console, note, "dim")
        answers = answers if verbose else []
    for decision, words, _, breakdown, _ in answers[:MOST_ANSWERS]:
        console.print()
        headline = Text(f"{words.subject}: ", style="bold")
        kind = OUTCOMES[decision.question][words.verdict]
        headline.append(words.headline, OUTCOME_COLOURS.get(kind, "bold"))
        console.print(headline, highlight=False)
        for line in answer_lines(words, console.width):
            print_line(console, line)
        if not verbose:
            continue
        # A twin's own section has its jobs and phases.
        if breakdown is not None and len(answers) <= MOST_BROKEN_DOWN and not decision.of_twin:
            for line in breakdown_lines(breakdown, decision, console.width):
                print_line(console, line, "dim")
        for note in words.notes:
            print_text(console, note)
    if len(answers) > MOST_ANSWERS:
        print_text(console, f"and {len(answers) - MOST_ANSWERS} more answers on the page")
    scopes = scopes_of(analysis.decisions)
    if not verbose and len(scopes) == 1:
        print_text(console, scopes[0])
    console.print()


def print_nodes(detailed: Sequence[TrialTables], console: Console) -> None:
    """What the nodes of the first trial with several did, and what passed between them; the page has all trials."""
    known = ((tables.record.trial, nodes_in(tables.record)) for tables in detailed)
    trial, nodes = next(((trial, nodes) for trial, nodes in known if nodes.uses), (None, None))
    if trial is None or nodes is None:
        return
    console.print()
    print_text(console, f"Nodes of {trial.id}, while its jobs ran:", "bold")
    for line in layout_table(nodes.columns(), console.width):
        print_line(console, line)
    if nodes.imbalances:
        print_text(console, f"{IMBALANCE_HEAD}:", "bold")
        for line in layout_table(imbalance_columns([(trial.id, nodes.imbalances)])[1:], console.width):
            print_line(console, line)
        for words in imbalance_words([nodes.imbalances]):
            print_text(console, f"{words}.")
    if nodes.transfers:
        more = len(nodes.transfers) - MOST_PAIRS
        for words in nodes.network_lines():
            print_text(console, f"{words}.")
        print_text(console, f"{PAIRS_HEAD}, MiB:", "bold")
        for line in layout_table(nodes.pair_columns(MOST_PAIRS), console.width):
            print_line(console, line)
        if more > 0:
            print_text(console, f"and {more} more pairs with less, on the page", "dim")


def answer_lines(answer: Answer, width: int) -> Iterator[str]:
    """Its lines in three columns; the words go below where the terminal is too narrow for them."""
    where = max((len(line.where) for line in answer.lines), default=0)
    time = max((len(line.time) for line in answer.lines), default=0)
    for line in answer.lines:
        begin = f"{GAP}{line.where:{where}}{GAP}{line.time:>{time}}"
        if len(begin) + len(GAP) + len(line.words) <= width:
            yield f"{begin}{GAP}{line.words}"
        else:
            yield begin
            yield from _wrapped(line.words, width, 2 * GAP)


def breakdown_lines(breakdown: Breakdown, decision: Decision, width: int) -> Iterator[str]:
    """Jobs and phases: the base's time with the share that storage costs, the best placement's with what it saves."""
    base = decision.placements[0].placement if decision.placements else ""
    best = decision.best if decision.best != base else next((p.placement for p in decision.placements[1:]), "")
    known = [part for part in breakdown.parts if part.tested][:MOST_PARTS]
    columns = [Column("part", [part.name if part.kind == "job" else f"{part.name} phase" for part in known], name=True)]
    changes: list[Change | None] = []
    for name, head, change in ((base, "storage share", "storage_share"), (best, "time saved", "saving")):
        times = [next((time_ for time_ in part.times if time_.placement == name), None) for part in known]
        shares = [getattr(time_, change, None) for time_ in times]
        columns.append(Column(name, [f"{seconds_text(change.seconds)} s" if change else "" for change in times]))
        columns.append(Column(head, list(map(_change, shares))))
        changes += shares
    if known:
        yield from layout_table([column for column in columns if any(column.cells)], width)
        if any(change and not change.significant for change in changes):
            yield f"{GAP}In square brackets: not significant."
    short = [part.name for part in breakdown.parts if not part.tested]
    if short:
        why = "no repetitions" if not decision.repeated else "under half a second, or not in all trials"
        yield from _wrapped(f"Not tested ({why}): {', '.join(short)}.", width, GAP)
    for place, line in enumerate(blocked_lines(decision)):
        if not place:
            yield from _wrapped(f"{BLOCKED_HEAD}:", width, GAP)
        yield from _wrapped(line, width, 2 * GAP)


def _change(change: Change | None) -> str:
    """A share with its interval; in brackets where it is not significant."""
    if change is None:
        return ""
    share = change.shown_share
    words = percent(share.value) if share.low is None else f"{percent(share.value)} ({interval_text(share)})"
    return words if change.significant else f"[{words}]"


def shares_lines(table: SharesTable, width: int) -> Iterator[Text]:
    """The columns' heads; then all jobs together and each job, with a line for each level."""
    columns, groups = columns_of(table, grouped=True)
    head, *lines = layout_table(columns, width)
    yield Text(head, style="dim")
    last = ""
    for group, line, verdict in zip(groups, lines, columns[-1].cells, strict=True):
        if group != last:
            yield Text(group, style="bold")
            last = group
        text = Text(line)
        if table.others and verdict:
            text.stylize(VERDICT_COLOURS.get(verdict.rstrip(MARKS), ""), len(line) - len(verdict))
        yield text


def table_lines(rows: Sequence[Row], width: int) -> Iterator[Text]:
    """Groups of placements under what they have in common. No cell is cut: columns are left out, names go above."""
    names = varying(rows)
    head, *lines = layout_table(combination_columns(rows), width)
    last = None
    for row, line in zip(rows, lines, strict=True):
        if row.group != last:
            varied = [(name, str(level)) for name in names if (level := getattr(row.group, name, ""))]
            levels = [f"{name} {shown_level(name, level)}" for name, level in varied]
            if last is not None:
                yield Text()
            for words in _wrapped(", ".join([row.group.workload, *levels]), width, ""):
                yield Text(words, style="bold")
            yield Text(head, style="dim")
            last = row.group
        text = Text(line)
        if row.outcome is not None:
            text.stylize(COLOURS[row.outcome], len(line) - len(row.outcome))
        yield text


def _wrapped(words: str, width: int, indent: str) -> Iterator[str]:
    yield from wrap(words, max(20, width), initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def print_doubt(doubt: Doubt, console: Console) -> None:
    """What happened, why it matters, and what to do."""
    console.print(_doubt_text(f"{doubt.what}; {doubt.why}. Cure: {doubt.cure}."), highlight=False)


def _marked(words: str) -> Text:
    """A caveat; that it is a doubt stands out."""
    return _doubt_text(words.removeprefix("Doubt: ")) if words.startswith("Doubt: ") else Text(as_typed(words))


def _doubt_text(words: str) -> Text:
    text = Text("Doubt: ", style="yellow")
    text.append(as_typed(words), "default")
    return text
