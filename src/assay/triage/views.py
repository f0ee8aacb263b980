"""The ranked list for people and scripts: one screen on a terminal, a page that sorts, CSV; with names or numbers."""

import shlex
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from rich.console import Console

from assay.engine.past.forms import amounts_words
from assay.model.naming import bytes_text
from assay.model.trial import USUAL_ENGINE
from assay.plan.job_experiment import ROLES
from assay.report.columns import Column, fitted
from assay.report.next_steps import typed
from assay.report.templates import template
from assay.report.values import Value, csv_lines
from assay.report.words import duration_text, percent, print_line, print_text, seconds_text
from assay.triage.names import numbered
from assay.triage.ranking import Batch, JobRow, Triage, TriageVerdict

SHOWN = 12
"""Rows on a terminal, of which the page has all."""
MOST_ROWS, MOST_DETAILED = 2000, 300
"""Rows of the page, and those of them that are explained in full."""
LEGEND = (
    "At most, that is: what faster drives for everything could save, of all runs together. Role: the part of a job's "
    "data for which that is most."
)
_NAME_CHARACTERS = 36
_MOST_NAMED = 5
_MOST_ADVICE = 3
_CLASSES = {TriageVerdict.MAY_MATTER: "open", TriageVerdict.NOT_KNOWN: "", TriageVerdict.CANNOT_MATTER: "sure"}


def anonymous(answer: Triage) -> Triage:
    """The same without names of jobs, users, queues and ids: its jobs are numbered in their order."""
    names = numbered([row.job for row in answer.rows])
    rows = tuple(
        row.model_copy(update={"job": names[row.job], "user": "", "queue": "", "ids": ()}) for row in answer.rows
    )
    deciding = tuple(names[name] for name in answer.summary.deciding)
    return Triage(summary=answer.summary.model_copy(update={"deciding": deciding}), rows=rows)


def headline(summary: Batch) -> str:
    """The answer in a sentence, without a full stop."""
    cannot, unknown = summary.verdicts[TriageVerdict.CANNOT_MATTER], summary.verdicts[TriageVerdict.NOT_KNOWN]
    if not summary.runs > summary.not_counted:
        return f"No job can be judged: the histories of {_count(summary.runs, 'run')} lack what a bound needs"
    if summary.verdicts[TriageVerdict.MAY_MATTER]:
        count = len(summary.deciding)
        decisive = f"{_count(count, 'job')} {'is' if count == 1 else 'are'} worth a test"
    elif cannot:
        decisive = f"{_count(cannot, 'job')} cannot matter"
        cannot = 0
    else:
        return f"The histories do not tell what another drive could save of {_count(unknown, 'job')}"
    verb = "is" if unknown == 1 else "are"
    rest = (f"{cannot:,} cannot matter" if cannot else "", f"{unknown:,} {verb} not known" if unknown else "")
    return ", ".join(filter(None, (decisive, *rest)))


def sums(summary: Batch) -> Iterator[str]:
    """What the batch took and could save, and how its jobs ran, in sentences."""
    if not summary.elapsed_s:
        return
    span = " to ".join(dict.fromkeys(_day(at_ms) for at_ms in (summary.began_ms, summary.ended_ms)))
    yield (
        f"{_count(summary.jobs, 'job')}, {_count(summary.runs, 'run')}, {span}, {duration_text(summary.elapsed_s)} of "
        f"jobs' time. {_savings(summary)}, without waits between heartbeats and polls; the threshold is "
        f"{percent(summary.worth)} of a job's time."
    )
    names = [_short(name) for name in summary.deciding[:_MOST_NAMED]]
    more = len(summary.deciding) - len(names)
    if names:
        yield f"Nine tenths of what may matter: {', '.join(names)}{f' and {more} more' if more else ''}."
    yield (
        f"While any ran, {summary.at_once:.1f} jobs ran at once on average, {summary.most_at_once} at most. "
        f"Drives of a node: {summary.drives}."
    )
    if summary.short:
        verb, share = "is" if summary.short == 1 else "are", percent(summary.short_bound_s / summary.elapsed_s)
        yield (
            f"{_count(summary.short, 'job')} {verb} too short to judge: of {duration_text(summary.short_s)} in all, "
            f"other drives could save, with such waits, up to {duration_text(summary.short_bound_s)} "
            f"({share} of all jobs' time)."
        )
    if summary.not_counted or summary.older or summary.copies:
        count = summary.not_counted
        lacking = (
            f"{_count(count, 'run')} did not end well or {'lacks' if count == 1 else 'lack'} data" if count else ""
        )
        older = f"{summary.older:,} older files were left out" if summary.older else ""
        copies = f"{_count(summary.copies, 'file')} told of runs that others tell of" if summary.copies else ""
        yield f"{'; '.join(filter(None, (lacking, older, copies)))}."


def _savings(summary: Batch) -> str:
    def most(bound_s: float) -> str:
        return f"at most {duration_text(bound_s)} ({percent(bound_s / summary.elapsed_s)})"

    may = summary.verdicts[TriageVerdict.MAY_MATTER]
    if not may:
        return f"Other drives could save {most(summary.rest_s)}"
    rest = f", and {most(summary.rest_s)} in those that cannot" if summary.verdicts[TriageVerdict.CANNOT_MATTER] else ""
    return f"Other drives could save {most(summary.bound_s)} in the {_count(may, 'job')} that may matter{rest}"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _day(at_ms: int) -> str:
    return f"{datetime.fromtimestamp(at_ms / 1000).astimezone():%Y-%m-%d}"


def _short(name: str) -> str:
    line = " ".join(name.split())
    return line if len(line) <= _NAME_CHARACTERS else f"{line[: _NAME_CHARACTERS - 3]}..."


def columns(rows: Sequence[JobRow], names: Sequence[str]) -> list[Column]:
    """One line for each job; amounts are sums over its runs."""
    sizes = (
        ("read", [row.read_bytes for row in rows], 5), ("map output", [row.map_output_bytes for row in rows], 9),
        ("spilled", [row.spilled_bytes for row in rows], 6), ("shuffled", [row.shuffled_bytes for row in rows], 7),
        ("written", [row.written_bytes for row in rows], 5),
        ("peak per node", [row.local_peak_bytes for row in rows], 10),
    )  # fmt: skip
    return [
        Column("job", names, name=True),
        Column(
            "verdict", [str(row.verdict).partition(":")[0] for row in rows], name=True,
            classes=[f"verdict {_CLASSES[row.verdict]}" for row in rows], titles=[row.reason for row in rows],
        ),
        Column("role", [_role(row) for row in rows], rank=1, name=True),
        *_other_rules(rows),
        Column(
            "at most", ["-" if row.bound_share is None else percent(row.bound_share) for row in rows],
            values=[row.bound_share for row in rows], titles=[row.how for row in rows],
        ),
        Column(
            "that is", ["-" if row.bound_s is None else duration_text(row.bound_s) for row in rows], rank=2,
            values=[row.bound_s for row in rows], titles=[row.how for row in rows],
        ),
        Column(
            _runs_heading(rows), [duration_text(row.elapsed_s) if row.counted else "-" for row in rows],
            values=[row.elapsed_s if row.counted else None for row in rows],
        ),
        Column("runs", [f"{row.runs:,}" for row in rows], rank=3, values=[row.runs for row in rows]),
        Column("task time", [percent(row.task_share) for row in rows], rank=4, values=[row.task_share for row in rows]),
        *(
            Column(head, [bytes_text(value) for value in values], rank=rank, values=[float(value) for value in values])
            for head, values, rank in sizes
        ),
        Column(
            "spills", ["-" if row.spills_per_record is None else f"{row.spills_per_record:.1f}" for row in rows],
            rank=8, values=[row.spills_per_record for row in rows],
        ),
    ]  # fmt: skip


def _other_rules(rows: Sequence[JobRow]) -> Iterator[Column]:
    """What rules of others say beside the verdict, where any is of one of these jobs."""
    by_row = [{rule.rule: rule for rule in row.other_rules} for row in rows]
    for name in dict.fromkeys(name for rules in by_row for name in rules):
        said = [rules.get(name) for rules in by_row]
        yield Column(
            name, ["-" if rule is None else "yes" if rule.asks else "no" for rule in said], rank=2, name=True,
            titles=["" if rule is None else rule.amount for rule in said],
        )  # fmt: skip


def _runs_heading(rows: Sequence[JobRow]) -> str:
    """What times are sums over: the number of runs where all jobs have the same."""
    counts = {row.counted for row in rows if row.counted}
    if counts == {1}:
        return "elapsed"
    return f"over {counts.pop():,} runs" if len(counts) == 1 else "all runs"


def next_step(answer: Triage, places: Sequence[str], *, drives_assumed: bool) -> str:
    """What to do next about the job that could save most, without a full stop; nothing where no job may matter.

    `places` are the options with which the command that tests a job finds the histories.
    """
    if not answer.summary.deciding:
        return ""
    if drives_assumed:
        return "say what drives a node has, such as --drives 12xhdd: it tightens the bounds"
    job = answer.summary.deciding[0]
    engine = next(row.engine for row in answer.rows if row.job == job)
    if engine != USUAL_ENGINE:
        return f"run this again with --write-experiment DIR, and fill in the jar of {shlex.quote(job)} there"
    return f"{typed('run-job')} JAR --input INPUT {shlex.join([*places, '--job', job])}"


def _role(row: JobRow) -> str:
    return row.role if row.verdict is TriageVerdict.MAY_MATTER else "-"


def print_triage(answer: Triage, console: Console, following: str = "", *, verbose: bool = False) -> None:
    """One screen: the answer, the first jobs, what is cheaper than a drive, what was assumed, and what to do next.

    With `verbose` all jobs, all that is cheaper, and all that is not known.
    """
    most, most_advice, most_open = (len(answer.rows), None, None) if verbose else (SHOWN, _MOST_ADVICE, 1)
    summary, shown = answer.summary, answer.rows[:most]
    print_text(console, f"{headline(summary)}.", "bold")
    for sentence in sums(summary):
        print_text(console, sentence)
    for line in ("", *fitted(columns(shown, [_short(row.job) for row in shown]), console.width)):
        print_line(console, line)
    if len(shown) < len(answer.rows):
        print_line(console, f"  and {_count(len(answer.rows) - len(shown), 'more job')}, all on the page")
    print_text(console, LEGEND)
    advised = [(row, advice) for row in answer.rows if row.verdict is TriageVerdict.MAY_MATTER for advice in row.advice]
    if advised:
        print_line(console, "\nCheaper than a drive, and worth trying first:")
        for row, advice in advised[:most_advice]:
            print_text(console, f"  {_short(row.job)}: {advice.change} ({advice.counter})")
    unknown = [row for row in answer.rows if row.verdict is TriageVerdict.NOT_KNOWN]
    for row in sorted(unknown, key=lambda row: row.bound_s is not None)[:most_open]:
        print_text(console, f"Not known: {_short(row.job)}: {row.reason}.")
    for assumption in summary.assumed:
        print_text(console, f"Assumed: {assumption}.")
    if following:
        print_line(console, f"Next: {following}")


class _Detail(NamedTuple):
    number: int
    row: JobRow
    roles: str


def page(answer: Triage, following: str = "") -> str:
    """The page's HTML: the answer, one row for each job, and how each bound comes about."""
    from markupsafe import Markup, escape

    rows = answer.rows[:MOST_ROWS]
    names = [
        Markup('<a href="#job-{}">{}</a>').format(number, row.job) if number <= MOST_DETAILED else escape(row.job)
        for number, row in enumerate(rows, 1)
    ]
    details = [
        _Detail(
            number, row, ", ".join(f"{role} {seconds_text(row.roles[role])} s" for role in ROLES if role in row.roles)
        )
        for number, row in enumerate(rows[:MOST_DETAILED], 1)
    ]
    html: str = template("triage.html.j2", "assay.triage").render(
        name="triage",
        data="",
        headline=headline(answer.summary),
        sums=list(sums(answer.summary)),
        summary=answer.summary,
        following=following,
        columns=columns(rows, names),
        marked=[("", "")] * len(rows),
        details=details,
        all_rows=len(answer.rows),
        counted_as=[amounts_words(engine) for engine in dict.fromkeys(row.engine for row in answer.rows)],
        may_matter=TriageVerdict.MAY_MATTER,
    )
    return html


def csv_rows(answer: Triage) -> Iterator[str]:
    """All rows with all digits; lists are left to JSON."""
    return csv_lines([_values(row) for row in answer.rows])


def _values(row: JobRow) -> dict[str, Value]:
    plain: dict[str, Value] = {
        name: value for name, value in row.model_dump(mode="json").items() if not isinstance(value, list | dict)
    }
    return (
        plain
        | {f"{role}_s": row.roles.get(role) for role in ROLES}
        | {"advice": "; ".join(advice.kind for advice in row.advice)}
    )
