"""Verdicts in words: how a bound comes about, where the time goes instead, and what contradicts it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assay.engine.past.formats import FORMS
from assay.engine.past.job import PastJob, sum_of
from assay.model.naming import bytes_text, first_few
from assay.report.words import percent, seconds_text
from assay.stats.caveats import BUSY_MARGIN
from assay.triage.bounds import MUCH_LONGER, Bound, Busy, StageBound, computed
from assay.triage.likely import Likely
from assay.triage.names import run_name

MOSTLY = 0.5
_CACHED_SHARE = 0.3
"""Of what jobs read, drives that read less did not serve it: the page cache did."""
_ROUNDING = 1.02
"""Processor time is counted in ticks: by so much more than there was it refutes nothing."""
SESSION_SHARE = 0.9
"""What runs jobs for less of its time is told apart from them."""


class BoundedRun(NamedTuple):
    """A run with its bound, what its drives did if that was measured, and what is likely, or why that is not known."""

    job: PastJob
    bound: Bound
    busy: Busy | None
    likely: Likely | str


def by_job(bounded: Iterable[BoundedRun]) -> dict[str, list[BoundedRun]]:
    """The runs of each recurring job, by its name."""
    runs: dict[str, list[BoundedRun]] = {}
    for run in bounded:
        runs.setdefault(run_name(run.job), []).append(run)
    return runs


def stages_of(bounded: Sequence[BoundedRun]) -> list[StageBound]:
    """The stages of all runs."""
    return [stage for run in bounded for stage in run.bound.stages]


def total_of(values: Iterable[float | None]) -> float | None:
    """The sum; None where any is not known."""
    known = list(values)
    return None if None in known else sum(value for value in known if value is not None)


def idle_s(job: PastJob) -> float:
    """How long none of its tasks ran while its own jobs did, in seconds."""
    return max(0.0, job.ran_s - job.tasks_s)


def refuted_cores(jobs: Sequence[PastJob], cores: int | None) -> str:
    """Why nodes can't have so few hardware threads, by what a job computed; empty where nothing refutes it."""
    widest = max(map(computed, jobs), key=lambda of_job: of_job.threads, default=None)
    if cores is None or widest is None or widest.threads <= _ROUNDING * cores:
        return ""
    nodes = f"{widest.nodes} node{'' if widest.nodes == 1 else 's'}"
    had_s = cores * widest.nodes * widest.elapsed_s
    return (
        f"a job computed for {widest.cpu_s:,.0f} s on {nodes} in {seconds_text(widest.elapsed_s)} s, in which {cores} "
        f"hardware threads a node have {had_s:,.0f} s"
    )


class _Doubt(NamedTuple):
    """What may have kept tasks waiting beside what is counted, a clause, and for how many seconds at most."""

    clause: str
    seconds: float


def contradictions_of(bounded: Sequence[BoundedRun], ran_s: float, worth: float) -> tuple[str, ...]:
    """What is known that contradicts a bound below the threshold, each a clause.

    All doubts count together, and with the waits between polls: of all runs, and of each large one.
    """
    doubts = _doubts(bounded)
    lacking_s = worth * ran_s - sum(run.bound.seconds for run in bounded)
    polls_s = sum(run.job.polls_s for run in bounded)
    decide = polls_s >= lacking_s  # alone: then they are the reason, and no doubt
    lacking_s -= 0.0 if decide else polls_s
    if doubts and sum(doubt.seconds for doubt in doubts) >= lacking_s:
        return tuple(_fewest(doubts, lacking_s))
    return tuple(_large_runs(bounded, ran_s, worth, 0.0 if decide else polls_s / max(1, len(bounded))))


def _fewest(doubts: Sequence[_Doubt], lacking_s: float) -> Iterator[str]:
    """The largest that reach the threshold together."""
    for doubt in sorted(doubts, key=lambda doubt: -doubt.seconds):
        yield doubt.clause
        lacking_s -= doubt.seconds
        if lacking_s <= 0:
            return


def _doubts(bounded: Sequence[BoundedRun]) -> list[_Doubt]:
    """Those of some runs that are not nothing."""
    waiting = [run for run in bounded if _unexplained_s(run) >= MUCH_LONGER * run.bound.seconds]
    doubts = [
        _Doubt(_waits_words(waiting), sum(map(_unexplained_s, waiting))),
        *(_Doubt(*uncertain) for run in bounded for uncertain in run.job.uncertain),
    ]
    stages, work = stages_of(bounded), sum_of(run.job.whole for run in bounded)
    unplaced_s = sum(stage.unplaced_s for stage in stages)
    schemes = first_few(list(dict.fromkeys(scheme for run in bounded for scheme in run.job.unplaced)))
    moved = bytes_text(work.unplaced_read + work.unplaced_written)
    doubts.append(_Doubt(
        f"it moves {moved} by {schemes}, and its history does not "
        f"say whether that is on the nodes' drives: if it is, these may take {seconds_text(unplaced_s)} s more",
        unplaced_s,
    ))  # fmt: skip
    foreign_s = sum(stage.foreign_s for stage in stages)
    counted_s = sum(stage.bytes_s for stage in stages if stage.foreign_s)
    doubts.append(_Doubt(
        f"a drive was busy for {seconds_text(foreign_s)} s, of which all that is counted explains at most "
        f"{seconds_text(counted_s)} s: something else uses it, which may keep these tasks waiting", foreign_s,
    ))  # fmt: skip
    return [doubt for doubt in doubts if doubt.seconds > 0]


def _unexplained_s(run: BoundedRun) -> float:
    """How long a run's tasks waited for what nobody knows; not for processors, where these are known."""
    unexplained_s = sum(stage.unexplained_s for stage in run.bound.stages)
    if not run.bound.processors_s:
        return unexplained_s
    return min(unexplained_s, max(0.0, run.job.tasks_s - run.bound.processors_s - run.bound.seconds))


def _waits_words(bounded: Sequence[BoundedRun]) -> str:
    tasks_s, unexplained_s = sum(run.job.tasks_s for run in bounded), sum(map(_unexplained_s, bounded))
    waited_s = sum(stage.saved_ms - stage.unverified_ms for run in bounded for stage in run.job.stages) / 1000
    computes = any(run.job.whole.cpu_ms for run in bounded)
    since = "" if computes else "no processor time is counted, so that "
    return (
        f"{since}its tasks {'wait' if computes else 'may wait'} for {seconds_text(waited_s)} of "
        f"{seconds_text(tasks_s)} s, and what is counted "
        f"explains at most {seconds_text(waited_s - unexplained_s)} s of that; the rest may be I/O that no counter "
        "names, and only a test tells"
    )


def _large_runs(bounded: Sequence[BoundedRun], ran_s: float, worth: float, polls_s: float) -> Iterator[str]:
    """Runs that could save the threshold of their own time and of an average run's, where all together can't."""
    if len(bounded) < 2:
        return
    average_s = ran_s / len(bounded)

    def could_s(run: BoundedRun) -> float:
        return run.bound.seconds + sum(doubt.seconds for doubt in _doubts([run]))

    large = [run for run in bounded if could_s(run) + polls_s >= worth * max(run.job.ran_s, average_s)]
    if large:
        most = max(large, key=could_s)
        share = percent(min(1.0, could_s(most) / most.job.ran_s))
        why = max(_doubts([most]), key=lambda doubt: doubt.seconds, default=_Doubt("", 0.0))
        reason = why.clause if why.seconds > most.bound.seconds else "its name may be that of several jobs"
        yield (
            f"{len(large):,} of its {len(bounded):,} runs could save much of their own time, one of "
            f"{seconds_text(most.job.ran_s)} s up to {share}: {reason}"
        )


def how_words(bounded: Sequence[BoundedRun], bound_s: float, ran_s: float) -> str:
    """The bound in a sentence."""
    stages = stages_of(bounded)
    time_s, bytes_s = total_of(stage.time_s for stage in stages), sum(stage.bytes_s for stage in stages)
    beside_s = sum(run.bound.beside_s for run in bounded)
    runs = f" over {len(bounded)} runs" if len(bounded) > 1 else ""
    elapsed_s = sum(run.job.elapsed_s for run in bounded)
    session = f" in which its jobs ran, of {seconds_text(elapsed_s)} s" if ran_s < SESSION_SHARE * elapsed_s else ""
    whole = f"{seconds_text(ran_s)} s{session}{runs}"
    by_time = (
        f"tasks did not compute in {seconds_text(time_s)} of {whole}"
        if time_s is not None and any(run.job.whole.cpu_ms for run in bounded)
        else f"processor time in {whole} is not known"
    )
    busy_s = total_of(stage.busy_s for stage in stages)
    uncounted = next((run.job.uncounted for run in bounded if run.job.uncounted), "")
    movers = "the job and those beside it" if beside_s >= 0.05 else "the job"
    if uncounted:
        by_drives = f"how long the drives worked is not known, since {uncounted}"
    else:
        by_drives = f"what {movers} moved takes the drives at most {seconds_text(bytes_s)} s"
    if busy_s is not None:
        by_drives += (
            f", and the drives of the busiest node were busy for {seconds_text(busy_s)} s, counted "
            f"{BUSY_MARGIN:g} times since kernels may miss short requests"
        )
    limited = " (no more, since the job's computing alone keeps the processors busy)" if _by_processors(bounded) else ""
    smaller = f"stage by stage the smallest is {seconds_text(bound_s)} s{limited}"
    return f"{by_time}, and {by_drives}: {smaller}"


def _by_processors(bounded: Sequence[BoundedRun]) -> bool:
    return any(
        run.bound.seconds < sum(stage.seconds + stage.cut_s for stage in run.bound.stages) - 1e-9 for run in bounded
    )


def waits_decide(bounded: Sequence[BoundedRun], bound_s: float, ran_s: float) -> str:
    """Why waits that no byte tells of decide, and what would tell."""
    runs, polls_s = len(bounded), sum(run.job.polls_s for run in bounded)
    each = " a run" if runs > 1 else ""
    return (
        f"its {FORMS[bounded[0].job.engine].waits} decide: they may take {seconds_text(polls_s / runs)} of "
        f"{seconds_text(ran_s / runs)} s{each}, which another drive may spare or not, and storage "
        f"{seconds_text(bound_s / runs)} s; only a test with repetitions tells"
    )


def why_not(bounded: Sequence[BoundedRun], bound_s: float, ran_s: float) -> str:
    """What the time went to instead, the largest first that explains it."""
    work = sum_of(run.job.whole for run in bounded)
    moved = work.store_read + work.store_written + work.local_read + work.local_written + work.fetched
    starts_s = sum(idle_s(run.job) for run in bounded)
    drives_read = sum(run.busy.read_bytes for run in bounded if run.busy)
    requested = work.store_read + work.local_read + work.fetched
    remote = work.remote_read + work.remote_written
    if starts_s > MOSTLY * ran_s:
        return f"{FORMS[bounded[0].job.engine].idle} take {percent(starts_s / ran_s)} of its time"
    if all(run.busy and run.busy.seconds for run in bounded) and requested and drives_read < _CACHED_SHARE * requested:
        return f"the page cache served its reads: drives read {bytes_text(drives_read)} of {bytes_text(requested)}"
    if _by_processors(bounded):
        return "computing: it keeps all processors busy"
    stages = stages_of(bounded)
    bytes_s, time_s = sum(stage.bytes_s for stage in stages), total_of(stage.time_s for stage in stages)
    if time_s is not None and bytes_s > time_s:
        return f"computing: its tasks wait for anything at all in at most {percent(bound_s / ran_s)} of its time"
    if remote > moved:
        rest = f"; the rest takes the drives at most {seconds_text(bound_s)} s" if moved else ""
        return f"{bytes_text(remote)} of its data are in object stores, on no drive of the nodes{rest}"
    takes = f"it moves {bytes_text(moved)}, which takes the drives at most {seconds_text(bound_s)} s"
    return takes if moved else "its counters name no byte on drives, and its tasks compute for most of their time"


def missing_words(runs: Sequence[PastJob]) -> str:
    """What the histories of a job lack, of which no run counts."""
    reasons = list(dict.fromkeys(word for job in runs for word in (job.missing or ("the times of its start and end",))))
    return f"missing: {first_few(reasons, between='; ', last='; and', most=2)}"
