"""The advice on one screen, in the order of a decision, as a page, and an alternative as a patch to review."""

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence

from rich.console import Console

from assay.advise.advice import Advice, Comparison, Payback
from assay.advise.alternatives import DATA_ON_SSD, DIRECTED_JOBS, LOCAL_ON_SSD
from assay.advise.saving import MONTH_NIGHTS, nights_text
from assay.advise.sizes import WARRANTY_YEARS
from assay.model.naming import bytes_text, first_few
from assay.model.registry import SERVICES
from assay.report.columns import Column, fitting, layout_table
from assay.report.templates import template
from assay.report.words import about_text, duration_text, percent, print_line, print_text, significant_text
from assay.triage.ranking import JobRow
from assay.triage.views import print_following
from assay.triage.window import unknown_words

_COMMAND, _PATH = "$ ", "/PATH"
"""How lines of a change begin that are commands, and what stands for a path in these."""
_JOBS, _ASSUMED, _MOST_ROWS = 3, 4, 12
"""Jobs and assumptions on a screen, and jobs on the page."""
LEGEND = (
    "Hours are jobs' time in a month; night: at most, of the longest night. With a ?, only the interval is known. "
    "Fewer than 9 of 10 savings by SSDs lay in such intervals; other changes are untested. An alternative pays if it "
    "saves more than nodes for its price in an always busy cluster (needs). Savings do not add up. Intervals of "
    "purchases include all time of unknown jobs and waits between polls."
)


def headline(advice: Advice) -> str:
    """What to change first, what it saves, and how sure that is, in two sentences."""
    if advice.first is None and any(row.verdict is Payback.NOT_KNOWN for row in advice.alternatives):
        reasons = ", ".join(advice.no_gain)
        return (
            f"Not known: nothing tells what a change could save of any of these jobs ({reasons}). Measure one of them."
        )
    if advice.first is None:
        most = _saves_most(advice)
        if not most.most_hours:
            return "Nothing pays: nothing but more nodes can save time of these jobs. That is sure by their bounds."
        least = f", and would have to save {_hours(most.least_hours)}" if most.least_hours is not None else ""
        return (
            "Nothing pays: each alternative saves less than its price must, or has no room in a node. The most is "
            f"saved by {most.name}: at most {_hours(most.most_hours)} a month{least}."
        )
    row = advice.alternatives[advice.first]
    price = "no price is given" if row.price is None else f"costs {row.price:,.0f}" if row.price else "costs nothing"
    of_night = f"at most {duration_text(3600 * row.night_most_hours)}"
    if row.night_likely_hours is not None:
        of_night = f"{duration_text(3600 * row.night_likely_hours)} ({of_night})"
    of_night += f" of the longest night{unknown_words(advice.night_unknown)}"
    if row.verdict is Payback.PAYS:
        sure = (
            f"It pays from {_hours(row.least_hours)}, and all of the interval is above."
            if row.price
            else ("All of the interval is above 0.")
        )
        return (
            f"Change first: {row.name} ({price}), which probably saves {_hours(row.likely_hours)} "
            f"({_interval(row)}) of jobs' time a month, and {of_night}. {sure}"
        )
    why = row.unknown or f"its interval reaches from below {_hours(row.least_hours)}, from which it pays, to above"
    if not row.unknown and row.verdict is Payback.NO_PRICE:
        why = "nobody can say what pays without its price and a node's"
    elif not row.unknown and not row.price:
        why = "its interval begins at 0"
    measure = f": measure {row.jobs[0].job}" if row.jobs else ""
    return (
        f"Not known whether anything pays, since {why}{measure}. The first candidate is {row.name} ({price}), which "
        f"saves {_interval(row)} h of jobs' time a month, and {of_night}."
    )


def _saves_most(advice: Advice) -> Comparison:
    """What saves most at most, of all that competes with more nodes."""
    competing = [row for row in advice.alternatives if row.verdict is not Payback.MEASURE]
    return max(competing, key=lambda row: row.most_hours)


def _month_words(advice: Advice) -> str:
    """What a month is, and what of jobs' time counts."""
    empty = f", in {advice.empty_nights} of which no job ran" if advice.empty_nights else ""
    failed = f", of which {_hours(advice.uncounted_hours)} are of jobs whose runs all failed or lack data: not known"
    return (
        f"A month is {MONTH_NIGHTS} nights, extrapolated from {nights_text(advice.nights)}{empty}: "
        f"{_hours(advice.month_hours)} of jobs' time{failed if advice.uncounted_hours else ''}. Jobs ran in "
        f"{percent(advice.running_share)} of the histories' time; if the rest is idle, compare by night."
    )


def _hours(hours: float | None) -> str:
    return f"{significant_text(hours)} h"


def _interval(row: Comparison) -> str:
    return f"{significant_text(row.low_hours)} to {significant_text(row.high_hours)}"


def table(rows: Sequence[Comparison]) -> list[Column]:
    """One line for each alternative."""

    def likely(row: Comparison) -> str:
        mark = "?" if row.unknown and row.likely_hours is not None else ""
        return f"{significant_text(row.likely_hours)}{mark} ({_interval(row)})"

    def verdict(row: Comparison) -> str:
        return "beaten" if row.beaten_by else str(row.verdict)

    def per_1000(row: Comparison) -> str:
        mark = "?" if row.unknown and row.hours_per_1000 is not None else ""
        return f"{significant_text(row.hours_per_1000)}{mark}"

    return [
        Column("alternative", [row.name for row in rows], name=True),
        Column("saves (h)", [likely(row) for row in rows]),
        Column("at most", [significant_text(row.most_hours) for row in rows], rank=3),
        Column("night", [significant_text(row.night_most_hours) for row in rows], rank=1),
        Column("price", ["-" if row.price is None else f"{row.price:,.0f}" for row in rows]),
        Column("h/1,000", [per_1000(row) for row in rows], rank=4),
        Column("needs", [significant_text(row.least_hours) for row in rows], rank=2),
        Column("verdict", [verdict(row) for row in rows]),
    ]


def _job_table(row: Comparison) -> list[Column]:
    """What an alternative saves of its first jobs, in hours a month."""
    jobs = row.jobs[:_MOST_ROWS]
    figures: dict[str, list[float | None]] = {
        "time": [of.hours for of in jobs], "probably saved": [of.likely_hours for of in jobs],
        "at least": [of.low_hours for of in jobs], "to": [of.high_hours for of in jobs],
        "at most": [of.most_hours for of in jobs],
    }  # fmt: skip
    return [
        Column("job", [of.job for of in jobs], name=True),
        *(Column(head, [significant_text(of) for of in hours], values=hours) for head, hours in figures.items()),
    ]


def page(advice: Advice) -> str:
    """The advice as a page: the decision, alternatives (beaten ones in grey), jobs, sizes, and the flipping price."""
    row = _saves_most(advice) if advice.first is None else advice.alternatives[advice.first]
    grey = ["note" if of.beaten_by else "" for of in advice.alternatives]
    beaten_by = [f"by {of.beaten_by}" if of.beaten_by else of.unknown for of in advice.alternatives]
    compared = [column._replace(classes=grey) for column in table(advice.alternatives)]
    html: str = template("advise.html.j2", "assay.advise").render(
        name="advise", data="", headline=headline(advice), legend=LEGEND,
        compared=[*compared[:-1], compared[-1]._replace(titles=beaten_by)], row=row, jobs=_job_table(row),
        more=max(0, len(row.jobs) - _MOST_ROWS), no_gain=list(_no_gain_words(advice)),
        sizes=[*_size_words(advice), *_more_words(advice)], flips=list(_flip_words(advice)),
        counted=_month_words(advice), following=advice.next_commands[:2], assumed=advice.assumed,
    )  # fmt: skip
    return html


def print_advice(advice: Advice, console: Console, *, verbose: bool = False) -> None:
    """One screen: the answer, alternatives, jobs, sizes, where the answer flips, what was assumed, what to do next.

    Verbose, it says besides for which jobs a small SSD is, what a move takes, where its data lie, and all assumptions.
    """
    print_text(console, headline(advice), "bold")
    print_line(console, "")
    columns = table(advice.alternatives)
    lines = list(layout_table(columns, console.width))
    styles = [None, *("dim" if row.beaten_by else None for row in advice.alternatives)]
    for line, style in zip(lines, styles, strict=True):
        print_line(console, line, style)
    shown_heads = [column.head for column in fitting(columns, console.width)]
    if left_out := [column.head for column in columns if column.head not in shown_heads]:
        print_line(console, f"  in a wider terminal, too: {', '.join(left_out)}")
    print_text(console, LEGEND)
    print_line(console, "")
    for sentence in sentences(advice, verbose=verbose):
        print_text(console, sentence)
    print_text(console, _month_words(advice))
    shown = advice.assumed if verbose else advice.assumed[:_ASSUMED]
    for assumption in shown:
        print_text(console, f"Assumed: {assumption}.")
    if more := len(advice.assumed) - len(shown):
        print_text(console, f"And {more} more assumption{'' if more == 1 else 's'}: --json has all.")
    print_following(advice.next_commands[:2], console)


def sentences(advice: Advice, *, verbose: bool = False) -> Iterator[str]:
    """What is beaten, jobs, sizes, what moving inputs takes where that may pay, and the price that flips the answer."""
    yield from (f"Beaten: {of.name}, by {of.beaten_by}." for of in advice.alternatives if of.beaten_by)
    row = None if advice.first is None else advice.alternatives[advice.first]
    if row is not None and row.jobs:
        shown = [
            f"{of_job.job} {significant_text(of_job.likely_hours)}{'?' if row.unknown else ''} h (at most "
            f"{_hours(of_job.most_hours)})"
            for of_job in row.jobs[:_JOBS]
        ]
        yield f"With {row.name}, these jobs save most: {', '.join(shown)}."
    yield from _no_gain_words(advice)
    yield from _size_words(advice)
    closed = {Payback.DOES_NOT_PAY, Payback.NO_ROOM}
    if verbose:
        yield from _more_words(advice)
    elif any(DATA_ON_SSD in of.kinds and of.verdict not in closed for of in advice.alternatives):
        yield from _move_words(advice)
        yield from _path_words(advice) if _data_gain(advice) else ()
    yield from _flip_words(advice)


def _no_gain_words(advice: Advice) -> Iterator[str]:
    if advice.no_gain:
        reasons = "; ".join(f"{why} ({len(jobs)}: {first_few(jobs)})" for why, jobs in advice.no_gain.items())
        yield f"Jobs with little or no gain, or of which nothing is known: {reasons}."


def _size_words(advice: Advice) -> Iterator[str]:
    """How large SSDs must be, and how long they last."""
    known = advice.sizes
    yield (
        f"SSDs for local directories need {bytes_text(known.needed_bytes)} a node: jobs at once had "
        f"{bytes_text(known.peak_bytes)} there at most, and a fifth stays free. The SSDs compared have "
        f"{bytes_text(known.has_bytes)}{', which is too little' if known.has_bytes < known.needed_bytes else ''}."
    )
    if known.years is not None:
        yield (
            f"At most {bytes_text(known.written_a_day_bytes)} a day are written there: the SSDs' endurance lasts "
            f"{significant_text(known.years)} years or more (--drive-writes {known.writes_a_day:g} a day for "
            f"{WARRANTY_YEARS} years)."
        )
    if not advice.directed.jobs and any(LOCAL_ON_SSD in of.kinds for of in advice.alternatives):
        yield f"No job that gains fits on {_small_ssd(advice)}."


def _more_words(advice: Advice) -> Iterator[str]:
    """For which jobs a small SSD is, what it takes to move inputs, and where they lie."""
    if advice.directed.jobs:
        yield f"For {_small_ssd(advice)}: {first_few(advice.directed.jobs, most=_JOBS)}."
    yield from _move_words(advice)
    yield from _path_words(advice)
    if advice.move and (lacking := [of.job for of in advice.move.jobs if not of.folders]):
        yield f"Histories do not tell where inputs and outputs lie of {first_few(lacking)}."


def _data_gain(advice: Advice) -> bool:
    """Whether SSDs for all data come first, or pay."""
    return any(
        DATA_ON_SSD in row.kinds and (place == advice.first or row.verdict is Payback.PAYS)
        for place, row in enumerate(advice.alternatives)
    )


def _path_words(advice: Advice) -> Iterator[str]:
    """Where the data lie that SSDs for all data are for, and what moves them there."""
    jobs = advice.move.jobs if advice.move else ()
    if named := [of for of in jobs if of.folders]:
        places = [f"{of.job} {first_few(of.folders)}" for of in named]
        commands = [line for line in _change_lines(DATA_ON_SSD, named[0].folders[:1]) if line.startswith(_COMMAND)]
        yield (
            f"SSDs for all data: inputs and outputs lie in {first_few(places, between='; ', last='; and')}. For each "
            f"path, as for the first: `{'`, `'.join(line.removeprefix(_COMMAND) for line in commands)}`."
        )


def _change_lines(kind: str, folders: Sequence[str]) -> Iterator[str]:
    """What services change for an alternative; commands on a path for each of these folders, where any is known."""
    for line in (line for service in SERVICES.values() for line in service.changes.get(kind, ())):
        if folders and _PATH in line and line.startswith(_COMMAND):
            yield from (line.replace(_PATH, shlex.quote(folder)) for folder in folders)
        else:
            yield line


def _flip_words(advice: Advice) -> Iterator[str]:
    """Below which price of one SSD, one disk or a node's memory each alternative can pay, and below which it pays."""
    flips = []
    for row in advice.alternatives:
        low, high = row.flip_prices or (0.0, 0.0)
        if high and row.verdict is not Payback.NO_ROOM:
            pays = f"; pays below {significant_text(low)}" if low else ""
            flips.append(f"{significant_text(high)} ({row.name}{pays})")
    if flips:
        yield f"Alternatives can pay below these unit prices: {', '.join(flips)}."


def _small_ssd(advice: Advice) -> str:
    return f"an SSD of {bytes_text(advice.directed.ssd_bytes)} a node (--small-ssd)"


def _move_words(advice: Advice) -> Iterator[str]:
    """What it takes to move data to SSDs, and when that is earned back."""
    move = advice.move
    if not move or not move.seconds:
        return
    guess = "?" if any(DATA_ON_SSD in row.kinds and row.unknown for row in advice.alternatives) else ""
    first = move.jobs[0]
    earned = [
        "nobody knows when" if count is None else f"after {significant_text(count)}{guess} {unit}"
        for count, unit in ((move.nights, "nights"), (first.runs, "runs"))
    ]
    yield (
        f"SSDs for all data: moving the jobs' inputs with all copies, {bytes_text(move.node_bytes)} a node at "
        f"{move.rate / 1e6:.0f} MB/s, takes {about_text(move.seconds)}, time earned back {earned[0]}; that of "
        f"{first.job} {about_text(first.seconds)}, {earned[1]}."
    )


def change_text(advice: Advice, jobs: Sequence[JobRow], row: Comparison | None) -> Iterator[str]:
    """The properties and commands of an alternative, their traps and what undoes them, as a patch to review.

    Jobs with the same properties share them. Nothing is changed.
    """
    if row is None:
        yield f"# {headline(advice)}"
        return
    yield f"# {row.name}: review this and put it into your own configuration; nothing was changed"
    yield f"# verdict: {row.verdict}"
    if DIRECTED_JOBS in row.kinds:
        yield f"# for these jobs alone: {', '.join(advice.directed.jobs)}"
    of_jobs = advice.move.jobs if advice.move and DATA_ON_SSD in row.kinds else ()
    yield from (f"# {of.job}: {', '.join(of.folders)}" for of in of_jobs if of.folders)
    if lacking := [of.job for of in of_jobs if not of.folders]:
        yield f"# histories do not tell where inputs and outputs lie of {first_few(lacking)}"
    folders = list(dict.fromkeys(folder for of in of_jobs for folder in of.folders))
    for kind in row.kinds:
        yield from _change_lines(kind, folders)
        reasons: dict[Sequence[str], list[str]] = defaultdict(list)
        for job in jobs:
            for change in (change for change in job.advice if change.kind == kind):
                reasons[tuple(change.patch) or (f"# {change.change}",)].append(f"# {job.job}: {change.counter}")
        for lines, jobs_reasons in reasons.items():
            yield from (*jobs_reasons, *lines)
