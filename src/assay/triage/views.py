"""The ranked list for people and scripts: one screen on a terminal, a page that sorts, CSV; with names or numbers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from rich.console import Console

from assay.engine.past.formats import FORMS
from assay.model.fact import Value
from assay.model.naming import bytes_text, first_few
from assay.plan.job_experiment import ROLES
from assay.report.columns import Column, fitting, layout_table
from assay.report.templates import template
from assay.report.values import csv_lines
from assay.report.words import capitalised, duration_text, percent, print_line, print_text, seconds_text
from assay.triage.coverage import coverage_words
from assay.triage.names import numbered
from assay.triage.ranking import Batch, CheaperChange, JobRow, NextCommand, Triage, TriageVerdict, UnreadFile
from assay.triage.reasons import SESSION_SHARE
from assay.triage.timeline import window_picture
from assay.triage.window import anonymous_window, window_words

SHOWN = 12
"""Rows on a terminal, of which the page has all."""
MOST_ROWS, MOST_DETAILED = 2000, 300
"""Rows of the page, and those of them that are explained in full."""
LEGEND = (
    "Likely: what drives without delay probably save, with an interval that was fitted to 36 small jobs. A ? marks "
    "jobs unlike these: only 0 to at most is known of them, and the value before it serves their order. At most, that "
    "is: what faster drives for everything could save, of all runs together. Role: the part of a job's data that keeps "
    "the drives busy longest. Task time: the share of all jobs' time in tasks that is the job's. Jobs with the same "
    "verdict are sorted by the time that is likely to be saved, where that has a value, then by the time at most."
)
WITH_JOBS = "At most is a share of the time with jobs: sessions wait for their users in the rest."
_NAME_CHARACTERS = 36
_MOST_NAMED = 5
_MOST_ADVICE = 3
_MOST_UNREAD = 3
_CLASSES = {TriageVerdict.MAY_MATTER: "open", TriageVerdict.NOT_KNOWN: "", TriageVerdict.CANNOT_MATTER: "sure"}


def anonymous(answer: Triage) -> Triage:
    """The same without names of jobs, users, queues and ids: its jobs are numbered in their order."""
    names = numbered([row.job for row in answer.rows])
    rows = tuple(
        row.model_copy(update={"job": names[row.job], "user": "", "queue": "", "ids": (), "doubts": ()})
        for row in answer.rows
    )
    deciding = tuple(names[name] for name in answer.summary.deciding)
    # What a file begins with may be anything.
    unread = tuple(
        UnreadFile(file=f"file {number}", reason=of_file.reason.partition(": it begins")[0])
        for number, of_file in enumerate(answer.summary.unread, 1)
    )
    summary = answer.summary.model_copy(update={"deciding": deciding, "unread": unread})
    window = anonymous_window(answer.window, names)
    return Triage(summary=summary, rows=rows, window=window, coverage=answer.coverage)


def headline(summary: Batch) -> str:
    """The answer in a sentence, without a full stop."""
    cannot, unknown = summary.verdicts[TriageVerdict.CANNOT_MATTER], summary.verdicts[TriageVerdict.NOT_KNOWN]
    if not summary.runs > summary.not_counted:
        return f"No job can be judged: the histories of {_count(summary.runs, 'run')} lack what a bound needs"
    may = summary.verdicts[TriageVerdict.MAY_MATTER]
    if not may and not cannot:
        return f"The histories do not tell what another drive could save of {_count(unknown, 'job')}"
    first = f"{_count(may, 'job')} may matter" if may else f"{_count(cannot, 'job')} cannot matter"
    if may > (few := len(summary.deciding)):
        first += f" ({few:,} of them {'holds' if few == 1 else 'hold'} nine tenths)"
    verb = "is" if unknown == 1 else "are"
    rest = (f"{cannot:,} cannot" if may and cannot else "", f"{unknown:,} {verb} not known" if unknown else "")
    return ", ".join(filter(None, (first, *rest)))


def sums(answer: Triage) -> Iterator[str]:
    """What the batch took and could save, and how its jobs ran, in sentences."""
    summary = answer.summary
    if not summary.elapsed_s:
        return
    waits = " or ".join(dict.fromkeys(FORMS[row.engine].waits for row in answer.rows))
    span = " to ".join(dict.fromkeys(_day(at_ms) for at_ms in (summary.began_ms, summary.ended_ms)))
    took = f"{duration_text(summary.elapsed_s)} of jobs' time"
    if summary.ran_s < SESSION_SHARE * summary.elapsed_s:
        took += f" ({duration_text(summary.ran_s)} without what sessions waited for their users)"
    yield (
        f"{_count(summary.jobs, 'job')}, {_count(summary.runs, 'run')}, {span}, {took}. {_savings(summary, waits)}The "
        f"threshold is {percent(summary.worth)} of a job's time."
    )
    yield from _probable(answer)
    names = [_short(name) for name in summary.deciding[:_MOST_NAMED]]
    more = len(summary.deciding) - len(names)
    if names:
        yield f"Nine tenths of what may matter: {', '.join(names)}{f' and {more} more' if more else ''}."
    yield from window_words(answer.window, _short)
    yield (
        f"While any ran, {summary.at_once:.1f} jobs ran at once on average, {summary.most_at_once} at most. "
        f"Drives of a node: {summary.drives}."
    )
    yield from _shared(summary)
    cannot = [row for row in answer.rows if row.verdict is TriageVerdict.CANNOT_MATTER]
    if cannot:
        by_time = sum(row.basis != "bytes" for row in cannot)
        yield (
            f"Other programs on the drives change nothing for {by_time:,} of the {len(cannot):,} jobs that cannot "
            "matter."
        )
    if summary.short:
        share = percent(summary.short_bound_s / summary.ran_s)
        yield (
            f"{waits.capitalize()} decide about {_count(summary.short, 'job')}: other drives could save up to "
            f"{duration_text(summary.short_bound_s)} of {duration_text(summary.short_s)} with such waits ({share} of "
            "all jobs' time)."
        )
    if summary.not_counted or summary.older or summary.copies:
        count = summary.not_counted
        lacking = (
            f"{_count(count, 'run')} did not end well or {'lacks' if count == 1 else 'lack'} data" if count else ""
        )
        older = f"{summary.older:,} older files were left out" if summary.older else ""
        copies = f"{_count(summary.copies, 'file')} told of runs that others tell of" if summary.copies else ""
        yield f"{'; '.join(filter(None, (lacking, older, copies)))}."
    if answer.coverage is not None:
        yield f"{capitalised(coverage_words(answer.coverage))}."


def _shared(summary: Batch) -> Iterator[str]:
    """How many runs shared sessions and containers, in a sentence."""
    shared = f"{_count(summary.in_sessions, 'run')} shared {_count(summary.sessions, 'session')}"
    reused = f"{_count(summary.reused, 'run')} ran tasks in reused containers"
    clauses = [clause for clause, count in ((shared, summary.sessions), (reused, summary.reused)) if count]
    if clauses:
        yield f"{'; '.join(clauses)}."


def _probable(answer: Triage) -> Iterator[str]:
    """What drives without delay probably save in the jobs that may matter, and what that rests on, in a sentence."""
    summary = answer.summary
    may = [row for row in answer.rows if row.verdict is TriageVerdict.MAY_MATTER]
    evidence = Counter(row.evidence for row in may if not row.likely_unknown)
    if evidence:
        low, high = duration_text(summary.likely_low_s), duration_text(summary.likely_high_s)
        kinds = evidence.most_common()
        rests = ", ".join(name if len(kinds) == 1 else f"{name} of {count:,}" for name, count in kinds)
        yield (
            f"Drives without delay would probably save {duration_text(summary.likely_s)} ({low} to {high}) in "
            f"{_count(evidence.total(), 'job')} (evidence: {rests})."
        )
    guesses = [row.likely_unknown for row in may if row.likely_unknown and row.likely_s is not None]
    if guesses:
        jobs = _count(len(guesses), "job")
        yield f"For {jobs} that may matter, likely (?) only tells the order: {_most_frequent(guesses)}."
    unknown = [row.likely_unknown for row in may if row.likely_unknown and row.likely_s is None]
    if unknown:
        jobs = _count(len(unknown), "job")
        yield f"What is likely is not known of {jobs} that may matter: {_most_frequent(unknown)}."


def _most_frequent(reasons: Sequence[str]) -> str:
    """The reason that most of them are, with how many that is where there are others."""
    by_reason = Counter(reasons).most_common()
    reason, count = by_reason[0]
    return f"{reason}{f' ({count:,} of them)' if len(by_reason) > 1 else ''}"


def _savings(summary: Batch, waits: str) -> str:
    def most(bound_s: float) -> str:
        return f"at most {duration_text(bound_s)} ({percent(bound_s / summary.ran_s)})"

    may, cannot = summary.verdicts[TriageVerdict.MAY_MATTER], summary.verdicts[TriageVerdict.CANNOT_MATTER]
    of_may = f"{most(summary.bound_s)} in the {_count(may, 'job')} that may matter" if may else ""
    jobs = "those" if may else f"the {_count(cannot, 'job')}"
    of_cannot = f"{most(summary.rest_s)} in {jobs} that cannot" if cannot else ""
    both = ", and ".join(filter(None, (of_may, of_cannot)))
    if not both:
        return ""
    roles = [f"{role} {duration_text(seconds)}" for role, seconds in summary.roles.items()]
    alone = (
        f" Drives for one role alone: {', '.join(roles)} at most; these overlap and do not add up."
        if may and len(roles) > 1
        else ""
    )
    return f"Other drives could save {both}, without {waits}.{alone} "


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
        Column(
            "likely", [_likely(row) for row in rows], values=[row.likely_share for row in rows],
            titles=[row.likely_unknown for row in rows],
        ),
        Column(
            "at most", ["-" if row.bound_share is None else percent(row.bound_share) for row in rows],
            values=[row.bound_share for row in rows], titles=[row.how for row in rows],
        ),
        Column(
            "that is", ["-" if row.bound_s is None else duration_text(row.bound_s) for row in rows], rank=2,
            values=[row.bound_s for row in rows], titles=[row.how for row in rows],
        ),
        Column("role", [_role(row) for row in rows], rank=1, name=True),
        Column("evidence", [row.evidence or "-" for row in rows], rank=2, name=True),
        *_with_jobs(rows),
        Column(
            _runs_heading(rows), [duration_text(row.elapsed_s) if row.counted else "-" for row in rows], rank=2,
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
        *_other_rules(rows),
    ]  # fmt: skip


def _likely(row: JobRow) -> str:
    """`28 % (0 to 70)`; of a job that is unlike all that was measured `28 %? (0 to 70)`."""
    if row.likely_share is None or row.likely_low_s is None or row.likely_high_s is None:
        return "not known" if row.likely_unknown else "-"
    low, high = (round(100 * seconds / row.ran_s) for seconds in (row.likely_low_s, row.likely_high_s))
    return f"{percent(row.likely_share)}{'?' if row.likely_unknown else ''} ({low} to {high})"


def _other_rules(rows: Sequence[JobRow]) -> Iterator[Column]:
    """What rules of others say beside the verdict, where any is of one of these jobs."""
    by_row = [{rule.rule: rule for rule in row.other_rules} for row in rows]
    for name in dict.fromkeys(name for rules in by_row for name in rules):
        said = [rules.get(name) for rules in by_row]
        yield Column(
            name, ["-" if rule is None else "yes" if rule.asks else "no" for rule in said], rank=11, name=True,
            titles=["" if rule is None else rule.amount for rule in said],
        )  # fmt: skip


def _with_jobs(rows: Sequence[JobRow]) -> Iterator[Column]:
    """The time in which the jobs of sessions ran, where there are sessions: that is what is judged."""
    if any(row.ran_s < SESSION_SHARE * row.elapsed_s for row in rows):
        yield Column(
            "with jobs", [duration_text(row.ran_s) if row.counted else "-" for row in rows], rank=1,
            values=[row.ran_s if row.counted else None for row in rows],
        )  # fmt: skip


def _runs_heading(rows: Sequence[JobRow]) -> str:
    """What times are sums over: the number of runs where all jobs have the same."""
    counts = {row.counted for row in rows if row.counted}
    if counts == {1}:
        return "elapsed"
    return f"over {counts.pop():,} runs" if len(counts) == 1 else "all runs"


def _role(row: JobRow) -> str:
    return (row.role or "not known") if row.verdict is TriageVerdict.MAY_MATTER else "-"


def print_triage(answer: Triage, console: Console, following: Sequence[NextCommand], *, verbose: bool) -> None:
    """One screen: the answer, the first jobs, what is cheaper than a drive, what was assumed, and what to do next.

    With `verbose` all jobs, all that is cheaper, and all that is not known.
    """
    most, most_advice, most_open = (len(answer.rows), None, None) if verbose else (SHOWN, _MOST_ADVICE, 1)
    most_unknown = None if verbose else _MOST_UNREAD
    summary, shown = answer.summary, answer.rows[:most]
    print_text(console, f"{headline(summary)}.", "bold")
    for sentence in sums(answer):
        print_text(console, sentence)
    table = columns(shown, [_short(row.job) for row in shown])
    for line in ("", *layout_table(table, console.width)):
        print_line(console, line)
    heads = [column.head for column in fitting(table, console.width)]
    if left_out := [column.head for column in table if column.head not in heads]:
        more = f"{len(left_out)} more column{'' if len(left_out) == 1 else 's'}"
        print_line(console, f"  {more}, all on the page: {first_few(left_out)}")
    if len(shown) < len(answer.rows):
        print_line(console, f"  and {_count(len(answer.rows) - len(shown), 'more job')}, all on the page")
    print_text(console, LEGEND)
    if any(_with_jobs(shown)):
        print_text(console, WITH_JOBS)
    if advised := _advised(answer):
        print_line(console, "\nCheaper than a drive, and worth trying first:")
        for row, advice in advised[:most_advice]:
            print_text(console, f"  {_short(row.job)}: {advice.change} ({advice.counter})")
    unknown = [row for row in answer.rows if row.verdict is TriageVerdict.NOT_KNOWN]
    for row in sorted(unknown, key=lambda row: row.bound_s is not None)[:most_unknown]:
        of_run = f" ({row.ids[0]})" if len(row.ids) == 1 else ""
        print_text(console, f"Not known: {_short(row.job)}{of_run}: {row.reason}.")
    odd = [(row, doubt) for row in answer.rows for doubt in row.doubts]
    for row, doubt in odd[:most_open]:
        more = f" ({len(odd) - 1} more on the page)" if len(odd) > 1 and most_open else ""
        print_text(console, f"Odd: {_short(row.job)}: {doubt}{more}.")
    if summary.unread:
        print_text(console, _not_read(summary.unread, len(summary.unread) if verbose else _MOST_UNREAD))
    for assumption in summary.assumed:
        print_text(console, f"Assumed: {assumption}.")
    print_following(following, console)


def print_following(following: Sequence[NextCommand], console: Console) -> None:
    """What to type next, each with where to type it."""
    for step in following:
        print_line(console, f"{step.when}: {step.command}")
        if step.words:
            print_text(console, f"({step.words})")


def _advised(answer: Triage) -> list[tuple[JobRow, CheaperChange]]:
    """The cheaper changes of all jobs that may matter."""
    return [(row, advice) for row in answer.rows if row.verdict is TriageVerdict.MAY_MATTER for advice in row.advice]


def _not_read(unread: Sequence[UnreadFile], most: int) -> str:
    """How many files were not read, and the first of them with their reasons."""
    named = [f"{Path(of_file.file).name} ({of_file.reason})" for of_file in unread]
    return f"Not read: {_count(len(unread), 'file')}: {first_few(named, most=most)}."


class _Detail(NamedTuple):
    number: int
    row: JobRow
    roles: str


def page(answer: Triage, following: Sequence[NextCommand] = ()) -> str:
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
        sums=list(sums(answer)),
        picture=window_picture(answer.window),
        summary=answer.summary,
        following=following,
        columns=columns(rows, names),
        marked=[("", "")] * len(rows),
        details=details,
        advised=_advised(answer),
        most_advice=_MOST_ADVICE,
        all_rows=len(answer.rows),
        counted_as=[FORMS[engine].amounts for engine in dict.fromkeys(row.engine for row in answer.rows)],
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
