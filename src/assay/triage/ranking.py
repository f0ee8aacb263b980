"""The ranked list: recurring jobs with what any drive could save of them at most, a verdict each, and their sum."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import accumulate
from typing import Literal, NamedTuple

from assay.engine.past.applications import application_id
from assay.engine.past.formats import Suggestion, suggestions
from assay.engine.past.histories import Unread
from assay.engine.past.job import MAP, REDUCE, OtherRule, PastJob, distinct, sum_of
from assay.model.base import Frozen
from assay.triage.bounds import Busy, beside, bound_of, concurrency, drive_loads, most_moved
from assay.triage.coverage import Coverage
from assay.triage.drives import Drives
from assay.triage.likely import Likely, added, likely_of
from assay.triage.names import run_name
from assay.triage.reasons import (
    MOSTLY,
    BoundedRun,
    by_job,
    contradictions_of,
    how_words,
    idle_s,
    missing_words,
    refuted_cores,
    stages_of,
    total_of,
    waits_decide,
    why_not,
)
from assay.triage.window import Window, window_of

DECISIVE_SHARE = 0.9
"""The fewest jobs that hold so much of all that could be saved are the ones that decide."""


OTHERS_ON_DRIVES = (
    "nothing but these jobs uses the drives. With HBase or backups on them, bounds by bytes do not hold (--json names "
    "the basis of each bound); --sar FILE or --prometheus URL tells how busy the drives were with all of that"
)


class TriageVerdict(StrEnum):
    """Whether another drive could matter to a job."""

    MAY_MATTER = "may matter: test it"
    NOT_KNOWN = "not known"
    CANNOT_MATTER = "cannot matter"


class DriveUse(Frozen):
    """What the drives of one role do at most for a phase, over all runs that count."""

    phase: str
    """The phase of the tasks."""
    role: str
    """What is read or written: input, intermediate or output."""
    seconds: float
    """The most seconds that a node's drives take for it."""
    how: str
    """How that comes about, of the run with the largest bound."""


class CheaperChange(Frozen):
    """A change that is cheaper than a drive."""

    kind: str
    """What it is about."""
    change: str
    """The change."""
    counter: str
    """The counters that suggest it, of the run with the largest bound."""
    patch: tuple[str, ...]
    """Lines of a patch to review of that run's configuration, with traps; none where somebody has to decide how."""
    runs: int
    """In how many runs they do."""


class JobRow(Frozen):
    """A job, with all of its runs. Amounts are sums over the runs that count; seconds are elapsed time."""

    job: str
    """Its name without dates and identifiers."""
    user: str
    """Who ran it last."""
    queue: str
    """The queue of its last run."""
    engine: str
    """The engine that ran it."""
    not_sampled: str
    """Why `run-job` cannot run its last run on a sample, a clause; empty where it can."""
    runs: int
    """How often it ran."""
    counted: int
    """The runs that ended well and whose histories lack nothing: all other figures are theirs."""
    elapsed_s: float
    """From each run's start to its end."""
    ran_s: float
    """Of `elapsed_s`, when any of its own jobs ran: a session has others, in which it waits for its user."""
    queued_s: float
    """From each run's submission to its start, which is no part of `elapsed_s`."""
    starts_s: float
    """Of `ran_s`, when none of its tasks ran: starts, waits for containers, and commits."""
    task_share: float
    """Its share of the time of all jobs' tasks."""
    nodes: int
    """On how many nodes it ran at most, of those that its histories name."""
    read_bytes: int
    """Read from the cluster's store."""
    remote_bytes: int
    """Read from and written to object stores, which are on no drive of the nodes."""
    unplaced_bytes: int
    """Read from and written to file systems of which the history does not say whether they are on the nodes' drives."""
    map_output_bytes: int
    """Emitted to be shuffled."""
    spilled_bytes: int
    """Written to local directories."""
    spilled_records: int
    """Records written to local directories."""
    spills_per_record: float | None
    """How often each record that was emitted to be shuffled was written to local directories; null if not counted."""
    shuffled_bytes: int
    """Fetched from where it was written."""
    written_bytes: int
    """Written to the cluster's store, without copies."""
    local_peak_bytes: int
    """The most that one run had in the local directories of one node at once."""
    bound_s: float | None
    """The most that any drive could save; null where that is not known, or contradicted."""
    bound_share: float | None
    """The same as a share of `ran_s`."""
    likely_s: float | None
    """What drives without delay would probably save; null where nothing tells, and good for an order alone where
    `likely_unknown` says why no more is known."""
    likely_share: float | None
    """The same as a share of `ran_s`."""
    likely_low_s: float | None
    """The lower end of its interval, which was fitted to small jobs; 0 where `likely_unknown` has a reason."""
    likely_high_s: float | None
    """The upper end; `bound_s` where `likely_unknown` has a reason."""
    evidence: str
    """What that rests on: busy drives, timers, page cache (counters, and the memory that nodes leave to files) or
    counters, or the bound where that is 0; empty where it is not known."""
    likely_unknown: str
    """Why it is not known, or good for an order alone, since nothing like the job was measured; empty where it is."""
    by_time_s: float | None
    """The bound by time alone."""
    by_bytes_s: float | None
    """The bound by bytes alone."""
    busy_s: float | None
    """How long the busiest node's drives were busy, where that is measured in all runs. It counts half as much
    again, since kernels may miss short requests, and only where that is less than the bytes take."""
    beside_s: float
    """What a node's drives did at most for the jobs beside it; the bound by bytes counts what fits into its time."""
    polls_s: float
    """What its waits for containers and polls may come to, which the bound does not hold: where these decide, nothing
    is known."""
    unexplained_s: float
    """How long its tasks waited although nothing that is counted or measured tells for what."""
    contradictions: tuple[str, ...]
    """What is known that contradicts a bound below the threshold: then nothing is known, instead of *cannot matter*."""
    doubts: tuple[str, ...]
    """What is odd in its histories."""
    basis: str
    """What the bound rests on: busy drives, bytes or time."""
    how: str
    """How the bound comes about."""
    parts: tuple[DriveUse, ...]
    """What the drives do for each phase and role."""
    roles: Mapping[str, float]
    """By role, the most that faster drives for it alone could save. These overlap, and do not add up."""
    verdict: TriageVerdict
    """By the threshold."""
    role: str
    """The role that matters most; empty where none does, or nobody counted it."""
    reason: str
    """Why it can't matter, or what is missing and how to get it."""
    advice: tuple[CheaperChange, ...]
    """Cheaper changes."""
    other_rules: tuple[OtherRule, ...]
    """What rules of others say of it."""
    ids: tuple[str, ...]
    """The ids of its runs, those that count first and the newest of them before others, twenty at most."""


class UnreadFile(Frozen):
    """A file or folder that tells of no job."""

    file: str
    """Where it is."""
    reason: str
    """Why it was not read."""


class NextCommand(Frozen):
    """What to type next."""

    when: Literal["Next", "Then", "Or"]
    """How it stands to the one before it: it is the first, follows on it, or takes its place."""
    command: str
    """The command; words in capitals are to be filled in."""
    words: str
    """Where to type it, and what to fill in."""


class Batch(Frozen):
    """The batch as a whole."""

    jobs: int
    """Jobs by their names."""
    runs: int
    """Runs in all."""
    not_counted: int
    """Runs that did not end well, or whose histories lack something."""
    older: int
    """Files that were left out because their jobs had ended before the time asked for."""
    copies: int
    """Histories of runs that other files tell of, too."""
    sessions: int
    """How many sessions ran several of the runs that count."""
    in_sessions: int
    """How many runs these are."""
    reused: int
    """How many of the runs that count ran tasks in containers that had started for others."""
    began_ms: int
    """The first start, in milliseconds since the epoch; 0 without any."""
    ended_ms: int
    """The last end."""
    elapsed_s: float
    """Of all runs that count, added up."""
    ran_s: float
    """Of that, when their own jobs ran: sessions wait for their users in the rest."""
    bound_s: float
    """The most of it that any drive could save, in the jobs that may matter."""
    rest_s: float
    """The same in the jobs that cannot matter."""
    likely_s: float
    """What drives without delay would probably save in the jobs that may matter and of which that is known: whose
    `likely_unknown` is empty."""
    likely_low_s: float
    """The lower end of its interval, which was fitted to small jobs."""
    likely_high_s: float
    """The upper end."""
    likely_unknown: int
    """Of how many jobs that may matter it is not known, or no more than an order."""
    roles: Mapping[str, float]
    """By role, the most that faster drives for it alone could save of the jobs that may matter. These overlap."""
    deciding: tuple[str, ...]
    """The fewest jobs that hold nine tenths of `bound_s`, in the order of `rows`."""
    verdicts: Mapping[str, int]
    """How many jobs have each verdict."""
    short: int
    """How many of those are not known because of waits for containers and polls."""
    short_s: float
    """The time of all of their runs."""
    short_bound_s: float
    """The most of that time that any drive could save, with all such waits."""
    at_once: float
    """How many jobs ran beside one another on average, while any did."""
    most_at_once: int
    """The most jobs that ran beside one another at any time."""
    covered_s: float
    """How long any job ran."""
    worth: float
    """The threshold: the share of a job's time that a drive must save."""
    drives: str
    """The drives of a node by whose lowest rates bytes became time."""
    assumed: tuple[str, ...]
    """What was assumed because nothing said it."""
    unread: tuple[UnreadFile, ...]
    """What was named, or lay below a folder that was, and tells of no job."""
    next_commands: tuple[NextCommand, ...] = ()
    """What to type next, in this order; nothing where no job is open."""


class Triage(Frozen):
    """The answer: the batch, and its jobs, those first that may matter and would probably save most.

    Beside them the batch windows, and how much of what the cluster ran was read, if that is known.
    """

    summary: Batch
    rows: tuple[JobRow, ...]
    window: Window | None = None
    coverage: Coverage | None = None


class DriveSite(NamedTuple):
    """What is known of the nodes: drives, hardware threads, and what the drives did during a job, if measured.

    `cache_bytes` is the memory that each leaves to files.
    """

    drives: Mapping[str, Drives]
    cores: int | None = None
    busy: Callable[[PastJob], Busy] | None = None
    cache_bytes: float | None = None


def judge(jobs: Sequence[PastJob], site: DriveSite, worth: float) -> list[JobRow]:
    """A row for each recurring job: first those that may matter, then what is not known.

    Among these, by what is likely to be saved; where that is not known, last, by what could be.
    """
    return rows_of(jobs, bounded_runs(jobs, site), worth)


def bounded_runs(jobs: Sequence[PastJob], site: DriveSite) -> list[BoundedRun]:
    """The runs that count, each with its bound and what is likely."""
    whole = [job for job in jobs if job.counts]
    loads = beside(whole, [drive_loads(job, site.drives) for job in whole])
    cores = None if refuted_cores(whole, site.cores) else site.cores
    bounded = []
    for job, beside_s in zip(whole, loads, strict=True):
        busy = site.busy(job) if site.busy else None
        bound = bound_of(job, site.drives, beside_s=beside_s, cores=cores, busy=busy)
        likely = likely_of(job, bound, site.drives, busy, site.cache_bytes)
        bounded.append(BoundedRun(job, bound, busy, likely))
    return bounded


def rows_of(jobs: Sequence[PastJob], every: Iterable[BoundedRun], worth: float) -> list[JobRow]:
    """As `judge`, of jobs whose runs that count are known."""
    bounded = by_job(every)
    runs: dict[str, list[PastJob]] = {}
    for job in jobs:
        runs.setdefault(run_name(job), []).append(job)
    total_ms = max(1, sum(job.whole.task_ms for job in jobs if job.counts))
    rows = [_row(name, all_runs, bounded.get(name, []), total_ms, worth) for name, all_runs in runs.items()]
    return sorted(rows, key=_rank)


def _rank(row: JobRow) -> tuple[int, bool, float, float, str]:
    most_s = row.elapsed_s if row.bound_s is None else row.bound_s
    return list(TriageVerdict).index(row.verdict), row.likely_s is None, -(row.likely_s or 0.0), -most_s, row.job


def _row(name: str, runs: Sequence[PastJob], bounded: Sequence[BoundedRun], total_ms: int, worth: float) -> JobRow:
    work = sum_of(run.job.whole for run in bounded)
    ran_s = sum(run.job.ran_s for run in bounded)
    bound_s = sum(run.bound.seconds for run in bounded) if bounded else None
    widest = max(bounded, key=lambda run: run.bound.seconds, default=None)
    share = None if bound_s is None else bound_s / ran_s
    polls_s = sum(run.job.polls_s for run in bounded)
    contradictions = contradictions_of(bounded, ran_s, worth)
    verdict = _verdict(share, polls_s / ran_s if bounded else 0.0, worth, contradictions)
    contradicted = bool(contradictions) and verdict is TriageVerdict.NOT_KNOWN
    newest = sorted(runs, key=lambda job: (bool(job.missing), -job.finished_ms))
    stages = stages_of(bounded)
    unknown, likely = _likely(bounded)
    likely = None if contradicted else likely
    return JobRow(
        job=name, user=newest[0].user, queue=newest[0].queue, engine=newest[0].engine,
        not_sampled=newest[0].not_sampled, runs=len(runs), counted=len(bounded),
        elapsed_s=sum(run.job.elapsed_s for run in bounded), ran_s=ran_s,
        queued_s=sum(run.job.queued_s for run in bounded),
        starts_s=sum(idle_s(run.job) for run in bounded),
        task_share=work.task_ms / total_ms, nodes=max((len(run.job.nodes) for run in bounded), default=0),
        read_bytes=work.store_read, remote_bytes=work.remote_read + work.remote_written,
        unplaced_bytes=work.unplaced_read + work.unplaced_written,
        map_output_bytes=work.map_output, spilled_bytes=work.local_written, spilled_records=work.spilled_records,
        spills_per_record=_spills(bounded), shuffled_bytes=work.fetched, written_bytes=work.store_written,
        local_peak_bytes=max((run.job.local_peak for run in bounded), default=0),
        bound_s=None if contradicted else bound_s, bound_share=None if contradicted else share,
        likely_s=likely and likely.seconds, likely_share=likely and likely.seconds / ran_s,
        likely_low_s=likely and likely.low_s, likely_high_s=likely and likely.high_s,
        evidence=likely.evidence if likely else "", likely_unknown=unknown,
        by_time_s=total_of(stage.time_s for stage in stages) if bounded else None,
        by_bytes_s=total_of(stage.bytes_s for stage in stages) if bounded else None,
        busy_s=total_of(stage.busy_s for stage in stages) if bounded else None,
        beside_s=sum(run.bound.beside_s for run in bounded), polls_s=polls_s,
        unexplained_s=sum(stage.unexplained_s for stage in stages), contradictions=contradictions,
        doubts=tuple(dict.fromkeys(doubt for job in runs for doubt in job.doubts)),
        basis=widest.bound.basis if widest else "", how=how_words(bounded, bound_s or 0.0, ran_s) if widest else "",
        parts=_parts(bounded, widest) if widest else (), roles=_sums(run.bound.role_seconds() for run in bounded),
        verdict=verdict, role=_role(bounded),
        reason=_reason(verdict, runs, bounded, bound_s, ran_s, contradictions),
        advice=_advice(bounded, widest) if widest else (),
        other_rules=_other_rules(bounded, widest) if widest else (), ids=tuple(job.id for job in newest[:20]),
    )  # fmt: skip


def _likely(bounded: Sequence[BoundedRun]) -> tuple[str, Likely | None]:
    """What is likely of all runs; and why that is not known, or good for an order alone."""
    known = [run.likely for run in bounded if not isinstance(run.likely, str)]
    unknown = next((run.likely for run in bounded if isinstance(run.likely, str)), "")
    if unknown or not known:
        return unknown, None
    likely = added(known)
    return likely.unlike, likely


def _verdict(bound: float | None, polls: float, worth: float, contradictions: Sequence[str]) -> TriageVerdict:
    """By the bound and the waits between polls, both as shares of a job's time, and by what contradicts the bound."""
    if bound is not None and bound >= worth:
        return TriageVerdict.MAY_MATTER
    if bound is None or contradictions or worth <= bound + polls:
        return TriageVerdict.NOT_KNOWN
    return TriageVerdict.CANNOT_MATTER


def _role(bounded: Sequence[BoundedRun]) -> str:
    """The role that moves most; empty where most of the bound is of bytes that nobody counted."""
    bounds = [run.bound for run in bounded]
    uncounted_s = sum(
        max(0.0, run.bound.seconds - sum(part.seconds for part in run.bound.parts))
        for run in bounded
        if run.job.uncounted
    )
    return "" if uncounted_s > MOSTLY * sum(bound.seconds for bound in bounds) else most_moved(bounds)


def _sums(each: Iterable[Mapping[str, float]]) -> dict[str, float]:
    totals: dict[str, float] = {}
    for amounts in each:
        for name, value in amounts.items():
            totals[name] = totals.get(name, 0.0) + value
    return totals


def _spills(bounded: Sequence[BoundedRun]) -> float | None:
    maps = [stage for run in bounded if (stage := run.job.stage(MAP))]
    emitted = sum(stage.whole.output_records for stage in maps)
    with_reducers = any(run.job.stage(REDUCE) for run in bounded)
    spilled = sum(run.job.whole.spilled_records for run in bounded)
    return spilled / emitted if with_reducers and emitted else None


def _other_rules(bounded: Sequence[BoundedRun], widest: BoundedRun) -> tuple[OtherRule, ...]:
    asking = {rule.rule for run in bounded for rule in run.job.other_rules if rule.asks}
    return tuple(rule.model_copy(update={"asks": rule.rule in asking}) for rule in widest.job.other_rules)


def _parts(bounded: Sequence[BoundedRun], widest: BoundedRun) -> tuple[DriveUse, ...]:
    seconds: dict[tuple[str, str], float] = {}
    how: dict[tuple[str, str], list[str]] = {}
    for run in bounded:
        for part in run.bound.parts:
            key = (part.phase, part.role)
            seconds[key] = seconds.get(key, 0.0) + part.seconds
            if run is widest:
                how.setdefault(key, []).append(part.how)
    return tuple(
        DriveUse(phase=phase, role=role, seconds=value, how="; ".join(how.get((phase, role), ())))
        for (phase, role), value in seconds.items()
    )


def _reason(
    verdict: TriageVerdict, runs: Sequence[PastJob], bounded: Sequence[BoundedRun], bound_s: float | None,
    ran_s: float, contradictions: Sequence[str],
) -> str:  # fmt: skip
    if bound_s is None:
        return missing_words(runs)
    if verdict is TriageVerdict.CANNOT_MATTER:
        return why_not(bounded, bound_s, ran_s)
    if verdict is TriageVerdict.MAY_MATTER:
        return ""
    return "; ".join(contradictions) or waits_decide(bounded, bound_s, ran_s)


def _advice(bounded: Sequence[BoundedRun], widest: BoundedRun) -> tuple[CheaperChange, ...]:
    by_kind: dict[str, list[tuple[BoundedRun, Suggestion]]] = {}
    for run in bounded:
        for change in suggestions(run.job):
            by_kind.setdefault(change.kind, []).append((run, change))
    advice = []
    for runs in by_kind.values():
        _, change = next((pair for pair in runs if pair[0] is widest), runs[0])
        advice.append(CheaperChange(**change._asdict(), runs=len(runs)))
    return tuple(advice)


def triage(
    jobs: Sequence[PastJob], site: DriveSite, worth: float, drives: str, older: int, assumed: Iterable[str],
    unread: Sequence[Unread] = (), bounded: Sequence[BoundedRun] | None = None,
) -> Triage:  # fmt: skip
    """The whole answer of some jobs' histories; `drives` are the nodes' in words.

    `bounded` are the runs that count of distinct jobs, where these are known.
    """
    copies = len(jobs)
    jobs = distinct(jobs)
    copies -= len(jobs)
    bounded = bounded_runs(jobs, site) if bounded is None else bounded
    rows = rows_of(jobs, bounded, worth)
    whole = [job for job in jobs if job.counts]
    sessions = _sessions(whole)
    beside_others = concurrency(whole)
    may = [row for row in rows if row.verdict is TriageVerdict.MAY_MATTER]
    known = [row for row in may if not row.likely_unknown]
    short = [row for row in rows if row.verdict is TriageVerdict.NOT_KNOWN and row.bound_s is not None]
    summary = Batch(
        jobs=len(rows), runs=len(jobs), not_counted=len(jobs) - len(whole), older=older, copies=copies,
        sessions=len(sessions), in_sessions=sum(sessions), reused=sum(job.reuses_containers for job in whole),
        began_ms=min((job.started_ms for job in whole), default=0),
        ended_ms=max((job.finished_ms for job in whole), default=0),
        elapsed_s=sum(job.elapsed_s for job in whole), ran_s=sum(job.ran_s for job in whole),
        bound_s=_bound_s(rows, TriageVerdict.MAY_MATTER), rest_s=_bound_s(rows, TriageVerdict.CANNOT_MATTER),
        roles=_sums(row.roles for row in may),
        likely_s=sum(row.likely_s or 0.0 for row in known),
        likely_low_s=sum(row.likely_low_s or 0.0 for row in known),
        likely_high_s=sum(row.likely_high_s or 0.0 for row in known),
        likely_unknown=len(may) - len(known),
        deciding=tuple(deciding(rows)),
        verdicts={str(verdict): sum(row.verdict is verdict for row in rows) for verdict in TriageVerdict},
        short=len(short), short_s=sum(row.ran_s for row in short),
        short_bound_s=sum(min(row.ran_s, (row.bound_s or 0.0) + row.polls_s) for row in short),
        at_once=beside_others.average, most_at_once=beside_others.most, covered_s=beside_others.covered_s,
        worth=worth, drives=drives, assumed=(*assumed, *_assumed(whole, site)),
        unread=tuple(UnreadFile(file=file, reason=reason) for file, reason in unread),
    )  # fmt: skip
    with_bound = {row.job for row in rows if row.bound_s is not None}
    window = window_of(bounded, (job for job in jobs if not job.counts), with_bound)
    return Triage(summary=summary, rows=tuple(rows), window=window)


def _sessions(jobs: Iterable[PastJob]) -> list[int]:
    """How many jobs each application ran, of those that ran several."""
    ids: dict[str, set[str]] = {}
    for job in jobs:
        ids.setdefault(application_id(job), set()).add(job.id)
    return [len(of_session) for of_session in ids.values() if len(of_session) > 1]


def _bound_s(rows: Sequence[JobRow], verdict: TriageVerdict) -> float:
    return sum(row.bound_s or 0.0 for row in rows if row.verdict is verdict)


def deciding(rows: Sequence[JobRow]) -> list[str]:
    """The fewest jobs that hold nine tenths of what could be saved, in the order of the rows."""
    candidates = [row for row in rows if row.verdict is TriageVerdict.MAY_MATTER and row.bound_s]
    candidates.sort(key=lambda row: -(row.bound_s or 0.0))
    total = sum(row.bound_s or 0.0 for row in candidates)
    before = [0.0, *accumulate(row.bound_s or 0.0 for row in candidates)]
    chosen = {
        row.job
        for row, saved_before_s in zip(candidates, before, strict=False)
        if saved_before_s < DECISIVE_SHARE * total
    }
    return [row.job for row in rows if row.job in chosen]


def _assumed(jobs: Sequence[PastJob], site: DriveSite) -> Iterator[str]:
    if site.busy is None:
        yield OTHERS_ON_DRIVES
    refuted = [busy.refuted for job in jobs if site.busy and (busy := site.busy(job)).refuted]
    if refuted:
        yield (
            f"busy times do not count for {len(refuted)} of {len(jobs)} runs, since they are wrong or of other drives: "
            f"{refuted[0]}"
        )
    if reason := refuted_cores(jobs, site.cores):
        yield f"how many hardware threads a node has is not known, since {reason}"
    sampled = sum(job.nodes_are_sampled for job in jobs)
    if sampled and (site.cores or site.busy):
        yield (
            f"neither hardware threads nor busy times bound {sampled} of {len(jobs)} runs, since a history server "
            "names the nodes of a few of their tasks alone: its files name all"
        )
    without = sum(not job.settings for job in jobs)
    if without:
        yield (
            f"{without} of {len(jobs)} histories have no configuration beside them that can be read: Hadoop's own "
            "values are taken for them (three copies of outputs, a sort buffer of 100 MiB)"
        )
    uber = sum(job.uberized for job in jobs)
    if uber:
        yield f"runs inside application masters (uber jobs, {uber} of {len(jobs)}): only the bytes bound them"
    for reason, count in Counter(job.uncounted for job in jobs if job.uncounted).items():
        yield f"{count} of {len(jobs)} runs are bounded by their time alone, since {reason}"
    for remark, count in Counter(job.remark for job in jobs if job.remark).items():
        yield f"{count} of {len(jobs)} runs {remark}"
    of_pods = sum(not job.hosts_are_nodes for job in jobs)
    if of_pods:
        yield f"{of_pods} of {len(jobs)} histories name pods, not nodes: all their bytes are taken to lie on one node"
    nowhere = sum(not job.nodes and job.hosts_are_nodes for job in jobs)
    if nowhere:
        yield f"{nowhere} of {len(jobs)} histories name no nodes: all bytes of their jobs are taken to lie on one"
