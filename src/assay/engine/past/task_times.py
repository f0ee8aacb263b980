"""How long tasks ran, and how much of that they may have waited, whatever engine they are of."""

from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from assay.engine.past.job import StageSums, Uncertain, Work

LONGEST_MS = 10 * 365 * 86_400_000
"""Ten years: what would have begun before them did not, as where a start is in seconds in place of milliseconds."""
_THREADED, _COMPILING_MS, COLLECTORS = 1.2, 30_000, 8
"""Threads of a JVM's own, for compiling and garbage collection, need so much of processors beside the task's thread: by
so many times its own time, or for so long, or for so many times the collections."""
SILENT, IMPOSSIBLE = "that did not end well counted no byte", "have counters that can't be right"


def is_possible(begin_ms: int, end_ms: int) -> bool:
    """Whether something may have begun and ended then."""
    return 0 < begin_ms <= end_ms < begin_ms + LONGEST_MS


class ReadSpan(NamedTuple):
    """When an attempt ran, and how much of that it computed: more than all of it where several of its threads did.

    It is `needless` where the job may do without it on other drives: an attempt that did not end well, such as a
    speculative one that was killed, and any more of a task that had ended well.
    """

    begin_ms: int
    end_ms: int
    computed_ms: int
    needless: bool = False

    @property
    def is_threaded(self) -> bool:
        """Whether several of its threads computed, so that nobody knows how long each of them waited."""
        return self.computed_ms > self.end_ms - self.begin_ms


def computed_of(length_ms: int, cpu_ms: int, gc_ms: int) -> int:
    """How long a task computed, by its processor time: more than its own time only if several of its threads did."""
    computed_ms = max(cpu_ms, gc_ms)
    beside_ms = (_THREADED - 1) * length_ms + max(_COMPILING_MS, COLLECTORS * gc_ms)
    return computed_ms if cpu_ms > length_ms + beside_ms else min(length_ms, computed_ms)


class Saved(NamedTuple):
    """For how long any task of a stage ran, how many at most, and the most that the stage could become shorter.

    `unverified_ms` is the part of that which no processor time refutes or confirms.
    """

    elapsed_ms: int
    peak: int
    most_ms: int
    unverified_ms: int


def saved_of(spans: list[ReadSpan], slots: int = 0) -> Saved:
    """Of the attempts of a stage (docs/explanation/triage.md); `slots` are the most of its job that ran at once.

    Attempts that are needless count as if they had not computed: what they computed keeps no stage from ending earlier.
    """
    least = _saved_of([_capped(span) for span in spans], slots)
    if not any(span.needless or span.is_threaded for span in spans):
        return least
    most = _saved_of(
        [span._replace(computed_ms=0) if span.needless or span.is_threaded else span for span in spans], slots
    )
    return most._replace(unverified_ms=max(0, most.most_ms - least.most_ms))


def _capped(span: ReadSpan) -> ReadSpan:
    return span._replace(computed_ms=span.end_ms - span.begin_ms) if span.is_threaded else span


def _saved_of(spans: list[ReadSpan], slots: int) -> Saved:
    times = overlap(spans)
    least_ms = computing_alone_ms((span.computed_ms for span in spans), max(slots, times.peak))
    return Saved(times.elapsed_ms, times.peak, max(0, min(times.waiting_ms, times.elapsed_ms - least_ms)), 0)


def computing_alone_ms(computed_ms: Iterable[int], slots: int) -> int:
    """The least time in which tasks that only compute end on so many slots, in whichever order and on whichever slots.

    Of the tasks that compute longest, those for each slot and one more, two have to share a slot; of twice as many and
    one more three do, and so on: no slot that has them ends before the shortest of them have run one after the other.
    """
    until_ms = [0, *accumulate(sorted(computed_ms, reverse=True))]
    slots, tasks = max(1, slots), len(until_ms) - 1
    shared_ms = (until_ms[rounds * slots + 1] - until_ms[rounds * (slots - 1)] for rounds in range(-(-tasks // slots)))
    return max(until_ms[-1] // slots, max(shared_ms, default=0))


def sums_of(
    name: str, spans: list[ReadSpan], phases_ms: Mapping[str, int], nodes: Iterable[Work], early_ms: int = 0,
    slots: int = 0,
) -> StageSums:  # fmt: skip
    """A stage's sums: of the times of its tasks, and of what those on each of its nodes did.

    `slots` are the most tasks of its job that ran at once, in any stage.
    """
    saved = saved_of(spans, slots)
    whole, busiest = Work(), Work()
    for work in nodes:
        whole, busiest = whole.plus(work), busiest.most(work)
    begun_ms = min((span.begin_ms for span in spans), default=0)
    ended_ms = max((span.end_ms for span in spans), default=0)
    return StageSums(
        name, begun_ms, ended_ms, saved.elapsed_ms, saved.most_ms, early_ms, phases_ms, saved.peak, whole, busiest,
        saved.unverified_ms,
    )  # fmt: skip


def called_together(names: list[str]) -> str:
    """The name of stages that count as one, since they ran at once."""
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} at once with it"


class Overlap(NamedTuple):
    """Of a set of spans: how long any ran, how many at most at once, and the longest that a chain of them may wait."""

    elapsed_ms: int
    peak: int
    waiting_ms: int


def overlap(spans: list[ReadSpan]) -> Overlap:
    """At each time the task counts that waits for the largest share of its own time."""
    elapsed_ms, peak, waiting = 0, 0, 0.0
    running: list[tuple[float, int]] = []
    ends: list[int] = []
    at_ms = 0
    for span in [*sorted(spans), None]:
        until_ms = span.begin_ms if span else max(ends, default=at_ms)
        while running and at_ms < until_ms:
            while running and running[0][1] <= at_ms:
                heappop(running)
            if not running:
                break
            share, end_ms = running[0]
            next_ms = min(end_ms, until_ms)
            elapsed_ms += next_ms - at_ms
            waiting += -share * (next_ms - at_ms)
            at_ms = next_ms
        at_ms = max(at_ms, until_ms)
        if span is None:
            break
        while ends and ends[0] <= span.begin_ms:
            heappop(ends)
        heappush(ends, span.end_ms)
        peak = max(peak, len(ends))
        share = 1 - span.computed_ms / max(1, span.end_ms - span.begin_ms)
        heappush(running, (-share, span.end_ms))
    return Overlap(elapsed_ms, peak, round(waiting))


def unknown_bytes(spans: list[ReadSpan], which: str) -> Uncertain:
    """What attempts may have moved that counted none of it, or can't have counted right; `which` they are."""
    waited_s = saved_of(spans).most_ms / 1000
    attempts = f"{len(spans):,} of its attempts {which} and did not compute in up to {waited_s:,.0f} s of its time"
    return Uncertain(f"{attempts}: what they moved is not known", waited_s)


def impossible_words(count: int) -> str:
    """That so many attempts have counters that can't be right, and how they count."""
    attempts = "1 attempt has" if count == 1 else f"{count:,} attempts have"
    return f"{attempts} counters that can't be right, bytes below 0 or waits beyond the run: these count for nothing"


def skewed_words(count: int) -> str:
    """That so many attempts end before they start, and how they count."""
    if count == 1:
        return (
            "1 attempt starts after its end, or has no start: it counts with its bytes, and as waiting since the job "
            "began"
        )
    return (
        f"{count:,} attempts start after their ends, or have no start: they count with their bytes, and as waiting "
        "since the job began"
    )
