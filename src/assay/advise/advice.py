"""The advice: what each alternative saves in a month and in the longest night, which pays, and which is first.

An alternative pays where it saves more than the same money would as nodes. That is a share s of all jobs' time with
s / (1 - s) = price for each node / price of a node: so much more would as many more nodes do.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from assay.advise.alternatives import (
    DATA_ON_SSD,
    DIRECTED_JOBS,
    INPUT,
    MORE_NODES,
    Alternative,
    Directed,
    Purchase,
    alternatives,
    ssds_for_all_data,
)
from assay.advise.few_jobs import candidate_of, few_jobs, peak_of, saved_on_ssd
from assay.advise.mover import Move, move_of
from assay.advise.saving import MONTH_NIGHTS, JobSaving, likely_after
from assay.advise.sizes import FREE_SHARE, Sizes, sizes
from assay.engine.past.job import PastJob
from assay.model.base import Frozen
from assay.model.trial import DEFAULT_WORTH
from assay.triage.bounds import concurrency
from assay.triage.likely import Likely
from assay.triage.names import run_name
from assay.triage.ranking import DriveSite, JobRow, NextCommand, Triage, TriageVerdict, rows_of
from assay.triage.reasons import BoundedRun, by_job
from assay.triage.window import window_of

ADVICE_VERSION = 2
_DAY_MS = 86_400_000
_MOST_SHARE = 0.99
"""What saves more has no price at which it would not pay."""
_SMALL_SHARE = 0.1
"""The size of an SSD for few jobs, where nothing says it: of what SSDs for all jobs need."""
_NO_GAIN = {"time": "they compute", "bytes": "they move little on drives"}


class Payback(StrEnum):
    """Whether an alternative saves more than its price must."""

    PAYS = "pays"
    NOT_KNOWN = "not known"
    DOES_NOT_PAY = "does not pay"
    NO_PRICE = "no price"
    MEASURE = "the measure"
    NO_ROOM = "no room"


class Comparison(Frozen):
    """An alternative. Hours are of jobs' time in a month of nights such as the histories have."""

    name: str
    """What is changed."""
    kinds: tuple[str, ...]
    """What services, or counters that suggest it, call it."""
    price: float | None
    """Of the whole cluster; null where options don't say it."""
    likely_hours: float | None
    """What it probably saves; null where nothing tells, and good for an order alone where `unknown` says why."""
    low_hours: float
    """The lower end of its interval."""
    high_hours: float
    """The upper end."""
    most_hours: float
    """The most that it saves."""
    unknown: str
    """Why what is likely is not known, or no more than an order; empty where it is."""
    night_likely_hours: float | None
    """By how much it probably shortens the longest night; null where that is not known."""
    night_most_hours: float
    """By how much at most."""
    hours_per_1000: float | None
    """What it probably saves in a month for each 1,000 of money; null without a price."""
    least_hours: float | None
    """From so many hours it pays; null without prices."""
    verdict: Payback
    """Whether it does, by its interval."""
    beaten_by: str
    """The cheaper alternative that saves as much or more; empty where there is none."""
    flip_prices: tuple[float, ...]
    """The prices of one of what is bought between which the answer flips: at both ends of the interval."""
    jobs: tuple[JobSaving, ...]
    """Its jobs, those first that save most."""


class DirectedJobs(Frozen):
    """The jobs that would alone use a small SSD in each node."""

    ssd_bytes: float
    """The size of the SSD."""
    peak_bytes: float
    """The most that they had at once in the local directories of a node: a fifth of the SSD stays free."""
    jobs: tuple[str, ...]
    """Those that save most together; empty where none that gains fits."""


class Advice(Frozen):
    """What to change first, and what the other alternatives save."""

    version: int = ADVICE_VERSION
    """Of this form; another one can't be compared with what was seen afterwards."""
    first: int | None
    """The place in `alternatives` of what to change first; null where nothing pays, or nothing is known of any job."""
    alternatives: tuple[Comparison, ...]
    """All that were compared."""
    nodes: int
    """The nodes of the cluster."""
    nights: int
    """Nights from the first of the histories to the last, of which a month has 30."""
    empty_nights: int = 0
    """In how many of these nothing ran."""
    running_share: float = 1.0
    """The share of the time from the first start to the last end in which a job ran."""
    month_hours: float
    """The jobs' time in a month: of their runs that count, or of all runs of a job where none does."""
    uncounted_hours: float
    """Of that, the time of jobs of which no run counts, as all failed or lack data: nothing is known of it."""
    night_unknown: int
    """Of how many runs on the critical chain of the longest night nothing is known, so that they save nothing here."""
    worth: float
    """The share of it that SSDs for local directories must save by their price; without prices triage's threshold."""
    no_gain: Mapping[str, tuple[str, ...]]
    """The jobs that gain little or nothing, or nobody knows what, by reason."""
    sizes: Sizes
    """The size of SSDs for local directories, and how long they last."""
    directed: DirectedJobs
    """The jobs for which a small SSD in each node would be."""
    move: Move | None
    """What it takes to move inputs to SSDs for all data; null where these are no alternative."""
    assumed: tuple[str, ...]
    """What was assumed because nothing said it."""
    next_commands: tuple[NextCommand, ...] = ()
    """What to type next: the first narrows the answer most."""


class Site(NamedTuple):
    """The cluster that advice is for: its drives, its nodes, and what may be bought; `ssd_bytes` is an SSD's size.

    `writes_a_day` is how often an SSD may be written whole each day.
    """

    drives: DriveSite
    nodes: int
    purchase: Purchase
    ssd_bytes: float
    writes_a_day: float


class _Batch(NamedTuple):
    """The runs with bounds that hold, what else ran, the jobs with such bounds, and how seconds become hours a month.

    `hours` are those of all jobs in a month. `open_hours` are what drives, memory and nodes may save besides: all time
    of jobs without a bound, and the waits between polls of jobs that these waits decide about.
    """

    runs: Sequence[BoundedRun]
    others: Sequence[PastJob]
    known: frozenset[str]
    to_hours: float
    hours: float
    open_hours: float


def least_share(price_a_node: float, node_price: float) -> float:
    """The share of all jobs' time that an alternative must save."""
    return price_a_node / (price_a_node + node_price)


def advise(
    jobs: Sequence[PastJob], site: Site, answer: Triage, bounded: Sequence[BoundedRun], assumed: Sequence[str]
) -> Advice:
    """The advice for a site with these jobs, of which triage's answer is known, by a threshold that prices may set.

    Triage's usual threshold decides which bounds hold: prices change what pays, and never what is saved.
    """
    judged = rows_of(jobs, bounded, DEFAULT_WORTH)
    known = frozenset(row.job for row in judged if row.bound_s is not None)
    nights = nights_of(answer)
    runs = [run for run in bounded if run_name(run.job) in known]
    others = [job for job in jobs if not job.counts or run_name(job) not in known]
    to_hours = MONTH_NIGHTS / nights / 3600
    uncounted_s = _uncounted_s(jobs)
    hours = to_hours * (sum(run.job.ran_s for run in bounded) + uncounted_s)
    batch = _Batch(runs, others, known, to_hours, hours, to_hours * (_open_s(judged) + uncounted_s))
    window = window_of(runs, others, known)
    of_ssds = sizes([job for job in jobs if job.stages], nights, site.purchase.ssd, site.ssd_bytes, site.writes_a_day)
    directed = _directed(runs, site, site.purchase.small_ssd_bytes or _SMALL_SHARE * of_ssds.needed_bytes)
    compared = [
        _compared(alternative, site, batch)
        for alternative in alternatives(
            site.drives, site.nodes, site.purchase, Directed(directed.jobs, directed.ssd_bytes)
        )
    ]
    rows = [row.model_copy(update={"beaten_by": beaten_by(row, compared)}) for row in compared]
    all_ssds = next((row for row in rows if DATA_ON_SSD in row.kinds), None)
    return Advice(
        first=first_of(rows) if runs else None, alternatives=tuple(rows), nodes=site.nodes, nights=nights,
        empty_nights=nights - len(window.nights) if window else 0, running_share=_running_share(jobs),
        month_hours=batch.hours, uncounted_hours=to_hours * uncounted_s,
        night_unknown=window.longest_night.unknown if window else 0, worth=answer.summary.worth,
        no_gain=_no_gain(judged), sizes=of_ssds, directed=directed, assumed=(*_assumed(rows, site.purchase), *assumed),
        move=move_of(
            (run.job for run in runs), all_ssds.jobs, site.nodes, site.drives.drives[INPUT],
            ssds_for_all_data(site.drives, site.purchase.ssd),
        ) if all_ssds else None,
    )  # fmt: skip


def _directed(runs: Sequence[BoundedRun], site: Site, ssd_bytes: float) -> DirectedJobs:
    """Which jobs a small SSD would be for, by what it probably saves of each."""
    ssd = site.purchase.ssd._replace(number=1)
    candidates = [
        candidate_of(job, of_job, saved_on_ssd(of_job, site.drives, ssd)) for job, of_job in by_job(runs).items()
    ]
    chosen = few_jobs(candidates, (1 - FREE_SHARE) * ssd_bytes)
    chosen.sort(key=lambda of: of.saved_s, reverse=True)
    return DirectedJobs(ssd_bytes=ssd_bytes, peak_bytes=peak_of(chosen), jobs=tuple(of.job for of in chosen))


def _assumed(rows: Sequence[Comparison], purchase: Purchase) -> Iterator[str]:
    """The price of a small SSD where nothing says it."""
    compared = any(DIRECTED_JOBS in row.kinds for row in rows)
    if compared and purchase.small_ssd_price is None and purchase.ssd_price is not None:
        yield f"a small SSD costs {purchase.ssd_price:,.0f}, too (--small-ssd-price)"


def nights_of(answer: Triage) -> int:
    """Nights from the first of the histories to the last, at least one; those without jobs count, too."""
    if answer.window is not None:
        return answer.window.calendar_nights
    return max(1, round((answer.summary.ended_ms - answer.summary.began_ms) / _DAY_MS))


def _open_s(rows: Sequence[JobRow]) -> float:
    """How long jobs without a bound that holds took, and how long all others waited, which no byte tells of."""
    return sum(row.ran_s if row.bound_s is None else row.polls_s for row in rows)


def _uncounted_s(jobs: Sequence[PastJob]) -> float:
    """How long the runs of jobs took of which none counts."""
    counted = {run_name(job) for job in jobs if job.counts}
    return sum(job.ran_s for job in jobs if run_name(job) not in counted)


def _running_share(jobs: Sequence[PastJob]) -> float:
    timed = [job for job in jobs if job.elapsed_s]
    span_ms = max(job.finished_ms for job in timed) - min(job.started_ms for job in timed)
    return 1000 * concurrency(timed).covered_s / span_ms


def _compared(alternative: Alternative, site: Site, batch: _Batch) -> Comparison:
    saved = [_saved(alternative, run, site.drives) for run in batch.runs]
    window = window_of(saved, batch.others, batch.known)
    night = window.longest_night if window else None
    sums = _sums(saved, batch.to_hours, batch.open_hours if alternative.units else 0.0)
    price, node_price = alternative.price, site.purchase.node_price
    prices: tuple[float, ...] = ()
    if node_price and price and batch.hours and MORE_NODES not in alternative.kinds:
        shares = [min(hours / batch.hours, _MOST_SHARE) for hours in (sums.low_hours, sums.high_hours)]
        prices = tuple(node_price * share / (1 - share) / alternative.units for share in shares)
    least_hours = 0.0 if price == 0 else None
    if price and node_price:
        least_hours = least_share(price / site.nodes, node_price) * batch.hours
    return Comparison(
        name=alternative.name, kinds=alternative.kinds, price=price, likely_hours=sums.likely_hours,
        low_hours=sums.low_hours, high_hours=sums.high_hours, most_hours=sums.most_hours, unknown=sums.unknown,
        night_likely_hours=None if night is None or night.likely_s is None else night.likely_s / 3600,
        night_most_hours=night.bound_s / 3600 if night else 0.0,
        hours_per_1000=1000 * sums.likely_hours / price if price and sums.likely_hours is not None else None,
        least_hours=least_hours, beaten_by="",
        verdict=_verdict(alternative, sums, least_hours) if batch.runs else Payback.NOT_KNOWN, flip_prices=prices,
        jobs=_saved_of_jobs(saved, batch.to_hours),
    )  # fmt: skip


def _saved(alternative: Alternative, run: BoundedRun, site: DriveSite) -> BoundedRun:
    """The run, with what the alternative saves in place of what drives save."""
    changed = alternative.change(run, site)
    return run._replace(
        bound=run.bound._replace(seconds=changed.most_s), likely=likely_after(run, site, changed)
    )  # fmt: skip


class _Sums(NamedTuple):
    """Hours that some runs save."""

    likely_hours: float | None
    low_hours: float
    high_hours: float
    most_hours: float
    unknown: str


def _sums(saved: Sequence[BoundedRun], to_hours: float, open_hours: float = 0.0) -> _Sums:
    """Of runs of which nothing is likely, all that is possible is in the interval, and what is open besides."""
    likely = [run.likely for run in saved if isinstance(run.likely, Likely)]
    open_s = sum(run.bound.seconds for run in saved if isinstance(run.likely, str))
    reasons = Counter(
        run.likely if isinstance(run.likely, str) else run.likely.unlike for run in saved if run.bound.seconds
    )
    return _Sums(
        to_hours * sum(of_run.seconds for of_run in likely) if likely else None,
        to_hours * sum(of_run.low_s for of_run in likely),
        to_hours * (sum(of_run.high_s for of_run in likely) + open_s) + open_hours,
        to_hours * sum(run.bound.seconds for run in saved) + open_hours,
        next((reason for reason, _ in reasons.most_common() if reason), ""),
    )


def _saved_of_jobs(saved: Sequence[BoundedRun], to_hours: float) -> tuple[JobSaving, ...]:
    runs = by_job(saved)
    sums = {job: _sums(of_job, to_hours) for job, of_job in runs.items()}
    jobs = [
        JobSaving(
            job=job, runs=3600 * to_hours * len(runs[job]), hours=to_hours * sum(run.job.ran_s for run in runs[job]),
            likely_hours=of_job.likely_hours, low_hours=of_job.low_hours, high_hours=of_job.high_hours,
            most_hours=of_job.most_hours,
        )
        for job, of_job in sums.items() if of_job.most_hours
    ]  # fmt: skip
    return tuple(sorted(jobs, key=lambda of_job: (-(of_job.likely_hours or 0.0), -of_job.most_hours, of_job.job)))


def _verdict(alternative: Alternative, sums: _Sums, least_hours: float | None) -> Payback:
    if not alternative.has_room:
        return Payback.NO_ROOM
    if MORE_NODES in alternative.kinds:
        return Payback.MEASURE
    if not sums.most_hours:
        return Payback.DOES_NOT_PAY
    if least_hours is None:
        return Payback.NO_PRICE
    if sums.low_hours > least_hours:
        return Payback.PAYS
    return Payback.DOES_NOT_PAY if sums.high_hours < least_hours else Payback.NOT_KNOWN


def beaten_by(row: Comparison, others: Sequence[Comparison]) -> str:
    """A cheaper alternative that is sure to save as much, or probably does where both are known; empty without one."""
    if row.price is None or not row.most_hours:
        return ""
    for other in others:
        if other.price is None or other.price >= row.price:
            continue
        if other.verdict in {Payback.NO_ROOM, Payback.DOES_NOT_PAY}:
            continue
        both_known = not (other.unknown or row.unknown)
        likely_hours = other.likely_hours or 0.0
        if other.low_hours >= row.high_hours or (both_known and likely_hours >= (row.likely_hours or 0.0)):
            return other.name
    return ""


def first_of(rows: Sequence[Comparison]) -> int | None:
    """The place of what to change first: what pays, by its hours for each 1,000; else what costs nothing to try.

    What is known comes before guesses. Without prices it is what probably saves most. Prices are those of the rows
    with the same verdict as that. None where nothing pays.
    """
    possible = [
        place for place, row in enumerate(rows)
        if row.verdict in {Payback.PAYS, Payback.NOT_KNOWN, Payback.NO_PRICE} and not row.beaten_by
    ]  # fmt: skip

    def rank(place: int, *, by_price: bool = False) -> tuple[bool, bool, bool, float, float]:
        row = rows[place]
        money = row.price if by_price and row.price else 1.0
        hours = (row.likely_hours or 0.0) / money, row.most_hours / money
        return row.verdict is Payback.PAYS, row.price == 0, not row.unknown, *hours

    first = max(possible, key=rank, default=None)
    alike = [place for place in possible if first is not None and rows[place].verdict is rows[first].verdict]
    if any(rows[place].price is None for place in alike):
        return first
    return max(alike, key=partial(rank, by_price=True), default=None)


def _no_gain(rows: Sequence[JobRow]) -> dict[str, tuple[str, ...]]:
    """The jobs that cannot gain, or are not known, by reason, that of most jobs first."""
    jobs: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict is TriageVerdict.CANNOT_MATTER:
            jobs.setdefault(_NO_GAIN.get(row.basis, "their drives are hardly busy"), []).append(row.job)
        elif row.verdict is TriageVerdict.NOT_KNOWN:
            unsure = "something contradicts their bounds" if row.contradictions else "little but waits between polls"
            jobs.setdefault(unsure if row.counted else "their histories lack data", []).append(row.job)
    return {reason: tuple(jobs[reason]) for reason in sorted(jobs, key=lambda reason: -len(jobs[reason]))}
