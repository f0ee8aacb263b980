"""The batch window of each night: its critical chain, and by how much drives could shorten it.

Histories name no dependencies: which run followed on which is told by times alone. See docs/explanation/triage.md.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from statistics import median
from typing import NamedTuple

from assay.engine.past.job import PastJob
from assay.model.base import Frozen
from assay.model.naming import first_few
from assay.report.words import duration_text
from assay.triage.names import run_name
from assay.triage.reasons import BoundedRun

LATEST_FOLLOWER_MS = 300_000
"""A run that was submitted so long after the end of another does not follow on it: schedulers look every minute."""
_CLOCKS_MS = 5000
"""A run may begin so much before the end on which it follows: clocks of nodes differ."""
_DAY_MS, _HOUR_MS = 86_400_000, 3_600_000
_BUSY_SHARE = 0.5
"""What runs jobs for less of its time waits for its user."""
_NIGHTS_TO_COMPARE, _STEADIER = 3, 2
"""In so many nights, starts that are so many times steadier on the clock than after another run are the clock's."""
_LEAST_AROUND_H = 3
"""Hours on either side that make an hour quiet: pauses within a batch are shorter."""


class TimedRun(NamedTuple):
    """When a run was, in milliseconds since the epoch, and what drives save of it in seconds, where that is known."""

    job: str
    submitted_ms: int
    began_ms: int
    ended_ms: int
    bound_s: float | None = None
    likely_s: float | None = None

    @property
    def elapsed_ms(self) -> int:
        """From its start to its end."""
        return self.ended_ms - self.began_ms


class WindowRun(Frozen):
    """A run of the longest night."""

    job: str
    """The job, as `rows` has it."""
    began_ms: int
    """Its start, in milliseconds since the epoch."""
    ended_ms: int
    """Its end."""
    bound_s: float | None
    """The most that any drive could save of it; null where that is not known."""
    likely_s: float | None
    """What drives without delay would probably save of it; null where that is not known."""
    critical: bool
    """Whether it is on the critical chain."""


class Night(Frozen):
    """The batch window of a night: from the first start to the last end."""

    began_ms: int
    """The first start, in milliseconds since the epoch."""
    ended_ms: int
    """The last end."""
    runs: int
    """Runs that began in that night."""
    chain: tuple[str, ...]
    """The jobs of its critical chain, in their order: each followed on the one before it, and the last ended last."""
    chain_began_ms: int
    """When the first of them began."""
    unknown: int
    """Of how many runs on the chain it is not known what drives could save."""
    bound_s: float
    """The most by which drives could shorten the window, without what is not known."""
    likely_s: float | None
    """By how much drives without delay would probably shorten it; null unless known of all runs with a bound."""
    jobs_bound_s: float
    """The most that drives could save of all runs, added up."""
    jobs_likely_s: float | None
    """What drives without delay would probably save of them; null as `likely_s`."""

    @property
    def length_s(self) -> float:
        """How long the window is."""
        return (self.ended_ms - self.began_ms) / 1000


class Window(Frozen):
    """The batch windows of all nights, and the runs of the longest."""

    nights: tuple[Night, ...]
    """All nights with runs, the earliest first."""
    calendar_nights: int
    """Nights from the first of them to the last, those without runs too."""
    longest: int
    """The place of the longest in `nights`."""
    runs: tuple[WindowRun, ...]
    """The runs of the longest, by their starts."""
    left_out: int
    """Runs of no batch: sessions that mostly waited for their users, and what ran for a day or longer."""

    @property
    def longest_night(self) -> Night:
        """The longest of the nights."""
        return self.nights[self.longest]


class _NightRuns(NamedTuple):
    """The runs that began in a night, by their starts; `zero` is where its clock begins."""

    zero: datetime
    runs: list[TimedRun]


Links = list[int | None]
"""For each run of a night, the place of the run on which it followed, which began before it."""


def window_of(bounded: Sequence[BoundedRun], others: Iterable[PastJob], known: Collection[str]) -> Window | None:
    """The batch windows of runs with bounds, which hold for the `known` jobs, and of others; None without any run."""
    every = [(run.job, _timed_run(run, bound_holds=run_name(run.job) in known)) for run in bounded]
    every += [(job, TimedRun(run_name(job), job.submitted_ms, job.started_ms, job.finished_ms)) for job in others]
    ended = [(job, run) for job, run in every if job.elapsed_s]
    of_batch = [run for job, run in ended if is_of_batch(job)]
    return batch_window(of_batch, len(ended) - len(of_batch))


def is_of_batch(job: PastJob) -> bool:
    """Whether it is part of a night's batch: no session that mostly waited for its user, and shorter than a day."""
    return 0 < job.elapsed_s < _DAY_MS / 1000 and job.ran_s >= _BUSY_SHARE * job.elapsed_s


def _timed_run(run: BoundedRun, *, bound_holds: bool) -> TimedRun:
    job = run.job
    timed = TimedRun(run_name(job), job.submitted_ms, job.started_ms, job.finished_ms)
    likely_s = None if isinstance(run.likely, str) or run.likely.unlike else run.likely.seconds
    return timed._replace(bound_s=run.bound.seconds, likely_s=likely_s) if bound_holds else timed


def batch_window(runs: Sequence[TimedRun], left_out: int = 0) -> Window | None:
    """The batch windows of runs, each in the night in which it began; None without any."""
    nights = _nights(runs)
    if not nights:
        return None
    all_links = _without_clock_starts(nights, [_links(night.runs) for night in nights])
    summaries = tuple(_summary(night.runs, links) for night, links in zip(nights, all_links, strict=True))
    longest = max(range(len(nights)), key=lambda place: (summaries[place].length_s, place))
    shown = nights[longest].runs
    critical = {*_chain(shown, all_links[longest])}
    return Window(
        nights=summaries, calendar_nights=(nights[-1].zero - nights[0].zero).days + 1, longest=longest,
        left_out=left_out,
        runs=tuple(
            WindowRun(
                job=run.job, began_ms=run.began_ms, ended_ms=run.ended_ms, bound_s=run.bound_s, likely_s=run.likely_s,
                critical=place in critical,
            )
            for place, run in enumerate(shown)
        ),
    )  # fmt: skip


def anonymous_window(window: Window | None, names: Mapping[str, str]) -> Window | None:
    """The same with other names for the jobs."""
    if window is None:
        return None
    nights = tuple(
        night.model_copy(update={"chain": tuple(names[job] for job in night.chain)}) for night in window.nights
    )
    runs = tuple(run.model_copy(update={"job": names[run.job]}) for run in window.runs)
    return window.model_copy(update={"nights": nights, "runs": runs})


def window_words(window: Window | None, short: Callable[[str], str]) -> Iterator[str]:
    """The longest night in a sentence or two, where it has more than one run; `short` cuts long names."""
    if window is None or window.longest_night.runs < 2:
        return
    night = window.longest_night
    chain = first_few([short(job) for job in night.chain])
    of_nights = f" in the longest of {len(window.nights):,} nights" if len(window.nights) > 1 else ""
    yield (
        f"Batch window: {duration_text(night.length_s)}{of_nights} ({span_text(night)}); critical chain since "
        f"{clock_text(night.chain_began_ms)}: {chain}. {_savings(night)}{unknown_words(night.unknown)}."
    )


def unknown_words(unknown: int) -> str:
    """A clause on how many runs on the chain count as saving nothing since nothing is known of them; empty for none."""
    runs = f"{unknown} run{'' if unknown == 1 else 's'}"
    return f", without {runs} on the chain of which nothing is known" if unknown else ""


def _savings(night: Night) -> str:
    most, jobs_most = duration_text(night.bound_s), duration_text(night.jobs_bound_s)
    if night.likely_s is None or night.jobs_likely_s is None:
        return f"Drives could shorten it by at most {most} (all its jobs: {jobs_most})"
    likely, jobs_likely = duration_text(night.likely_s), duration_text(night.jobs_likely_s)
    return (
        f"Drives without delay would probably shorten it by {likely}, at most {most} (all its jobs: "
        f"{jobs_likely}, at most {jobs_most})"
    )


def span_text(night: Night) -> str:
    """From when to when, on this machine's clock."""
    began, ended = local_time(night.began_ms), local_time(night.ended_ms)
    return f"{began:%Y-%m-%d %H:%M} to {ended:{'%H:%M' if began.date() == ended.date() else '%Y-%m-%d %H:%M'}}"


def clock_text(at_ms: float) -> str:
    """The time of the day, on this machine's clock."""
    return f"{local_time(at_ms):%H:%M}"


def local_time(at_ms: float) -> datetime:
    """What clocks on the wall show, in this machine's zone."""
    return datetime.fromtimestamp(at_ms / 1000).astimezone().replace(tzinfo=None)


def _nights(runs: Sequence[TimedRun]) -> list[_NightRuns]:
    """Runs by nights, which begin at the quietest hour; what lasts for a day at most is one."""
    if not runs:
        return []
    in_order = sorted(runs, key=lambda run: (run.began_ms, run.ended_ms))
    first_ms = in_order[0].began_ms
    if max(run.ended_ms for run in runs) - first_ms <= _DAY_MS:
        return [_NightRuns(local_time(first_ms), in_order)]
    hour = _quietest_hour(runs)
    nights: dict[datetime, _NightRuns] = {}
    for run in in_order:
        day = (local_time(run.began_ms) - timedelta(hours=hour)).date()
        zero = datetime.combine(day, time(hour))
        nights.setdefault(zero, _NightRuns(zero, [])).runs.append(run)
    return list(nights.values())


def _quietest_hour(runs: Iterable[TimedRun]) -> int:
    """The hour of the day around which runs take least time; of several the one that is farthest from all of them."""
    busy_ms = [0] * 24
    for run in runs:
        at_ms = run.began_ms
        while at_ms < run.ended_ms:
            until_ms = min(run.ended_ms, (at_ms // _HOUR_MS + 1) * _HOUR_MS)
            busy_ms[local_time(at_ms).hour] += until_ms - at_ms
            at_ms = until_ms
    around = [
        [sum(busy_ms[(hour + away) % 24] for away in range(-radius, radius)) for radius in range(_LEAST_AROUND_H, 13)]
        for hour in range(24)
    ]
    return min(range(24), key=around.__getitem__)


def _links(runs: Sequence[TimedRun]) -> Links:
    """Each run follows on the one that ended last before it began, the longest of several, if that was shortly before.

    That is shortly before it was submitted, or while it waited in its queue.
    """
    order = sorted(range(len(runs)), key=lambda place: (runs[place].ended_ms, -runs[place].began_ms))
    ends = [runs[place].ended_ms for place in order]
    links: Links = []
    for run in runs:
        submitted_ms = min(run.submitted_ms or run.began_ms, run.began_ms)
        first = bisect_left(ends, submitted_ms - LATEST_FOLLOWER_MS)
        last = bisect_right(ends, run.began_ms + _CLOCKS_MS) - 1
        earlier = (order[at] for at in range(last, first - 1, -1) if runs[order[at]].began_ms < run.began_ms)
        links.append(next(earlier, None))
    return links


def _without_clock_starts(nights: Sequence[_NightRuns], all_links: Sequence[Links]) -> list[Links]:
    """The same links but for runs that begin at the same time each night, whenever the run before them ends.

    Jobs that run several times a night are compared by their first runs, their second runs, and so on.
    """
    keys = [_numbered([run.job for run in night.runs]) for night in nights]
    at: dict[tuple[str, int], dict[int, TimedRun]] = {}
    for number, (night, of_night) in enumerate(zip(nights, keys, strict=True)):
        for key, run in zip(of_night, night.runs, strict=True):
            at.setdefault(key, {})[number] = run
    by_clock: dict[tuple[tuple[str, int], tuple[str, int]], bool] = {}

    def starts_by_clock(key: tuple[str, int], before: tuple[str, int]) -> bool:
        if (key, before) not in by_clock:
            both = [
                (nights[number].zero, run, at[before][number])
                for number, run in at[key].items()
                if number in at[before]
            ]
            starts_s = [(local_time(run.began_ms) - zero).total_seconds() for zero, run, _ in both]
            gaps_s = [(run.began_ms - earlier.ended_ms) / 1000 for _, run, earlier in both]
            comparable = len(both) >= _NIGHTS_TO_COMPARE
            by_clock[key, before] = comparable and _STEADIER * _spread(starts_s) < _spread(gaps_s)
        return by_clock[key, before]

    return [
        [None if link is None or starts_by_clock(of_night[place], of_night[link]) else link
         for place, link in enumerate(links)]
        for of_night, links in zip(keys, all_links, strict=True)
    ]  # fmt: skip


def _numbered(jobs: Iterable[str]) -> list[tuple[str, int]]:
    """Each with how often it came before."""
    counts: Counter[str] = Counter()
    numbered = []
    for job in jobs:
        numbered.append((job, counts[job]))
        counts[job] += 1
    return numbered


def _spread(values: Sequence[float]) -> float:
    """The median distance from the median: one night of another kind changes little."""
    middle = median(values)
    return median(abs(value - middle) for value in values)


def _chain(runs: Sequence[TimedRun], links: Links) -> list[int]:
    """The places of the runs that led to the last end, in their order; of several that ended last, the longest's."""
    place: int | None = max(range(len(runs)), key=lambda at: (runs[at].ended_ms, -runs[at].began_ms))
    chain = []
    while place is not None:
        chain.append(place)
        place = links[place]
    return chain[::-1]


def _summary(runs: Sequence[TimedRun], links: Links) -> Night:
    chain = _chain(runs, links)
    bounds_s = [run.bound_s or 0.0 for run in runs]
    known = all(run.likely_s is not None for run in runs if run.bound_s)
    likely_s = [run.likely_s or 0.0 for run in runs]
    ended_ms = max(run.ended_ms for run in runs)
    return Night(
        began_ms=min(run.began_ms for run in runs), ended_ms=ended_ms, runs=len(runs),
        chain=tuple(runs[place].job for place in chain), chain_began_ms=runs[chain[0]].began_ms,
        unknown=sum(runs[place].bound_s is None for place in chain),
        bound_s=(ended_ms - _end_ms(runs, links, bounds_s)) / 1000,
        likely_s=(ended_ms - _end_ms(runs, links, likely_s)) / 1000 if known else None,
        jobs_bound_s=sum(bounds_s), jobs_likely_s=sum(likely_s) if known else None,
    )  # fmt: skip


def _end_ms(runs: Sequence[TimedRun], links: Links, saved_s: Sequence[float]) -> float:
    """When the last run would end if each were so much shorter, and began as long after the run on which it follows."""
    ends: list[float] = []
    for run, link, saved in zip(runs, links, saved_s, strict=True):
        began_ms = run.began_ms if link is None else ends[link] + run.began_ms - runs[link].ended_ms
        ends.append(began_ms + max(0.0, run.elapsed_ms - 1000 * saved))
    return max(ends)
