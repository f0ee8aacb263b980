"""Doubts that a trial's own findings raise: each looks at what was found and says what it does to the figures."""

import re
from collections.abc import Iterable, Mapping, Sequence
from math import inf

from assay.host.machine import FREE_MEMORY, GOES_BACK, UNUSED_CACHE
from assay.model.doubt import Doubt, doubt_kind
from assay.model.engine import HISTORY_INCOMPLETE, Counted, JobReference
from assay.model.errors import AssayError
from assay.model.fact import Fact
from assay.model.fault import STAGING, FaultReport
from assay.model.installed import counted_by_tasks, engine_kind, kind_of
from assay.model.layout import INTERMEDIATE
from assay.model.limits import LimitUse
from assay.model.naming import bytes_text
from assay.model.record import Amount, DriveReports, JobRecord, StagedInput, totals
from assay.model.trial import TOLERANCE_SHARE, Landed, Trial

FROM_DRIVES_SHARE = 0.6
"""Where less than this of what jobs read comes from their drives, the page cache is what was measured."""

CROWDED_SHARE = 0.05
"""Of the processors' time: what others may take of it while jobs run before their times are doubted."""

PLACEMENT_MISSED = doubt_kind(
    "placement-missed",
    "trial",
    when="a role's bytes landed more than 5 percentage points off the placement",
    why="the figures are those of the landed shares, not of the placement",
    cure="use more blocks or tasks (a smaller dfs.blocksize, more data), and check that no medium is full",
    severity=170,
)


def misplaced(trial: Trial, landings: Sequence[Landed]) -> list[Doubt]:
    """A doubt for each role whose bytes landed elsewhere than the placement says.

    Raises AssayError instead where the trial's placement is strict.
    """
    doubts = []
    for landed in landings:
        if landed.error(trial.placement) <= TOLERANCE_SHARE:
            continue
        intended = _percent(trial.placement.of(landed.role))
        landing = f"of {landed.role} {_percent(landed.shares)} landed where {intended} was wanted ({landed.when})"
        if trial.strict_placement:
            cure = "write more and smaller blocks, or see that no medium is full"
            raise AssayError(f"trial {trial.id}: {landing}; {cure}")
        doubts.append(PLACEMENT_MISSED.doubt(f"{trial.placement.name}: {landing}", trial.placement.name))
    return doubts


LANDING_NOT_SEEN = doubt_kind(
    "landing-not-seen",
    "trial",
    when="less than 90 % of a role's bytes were found, or observing them failed",
    why="the landed shares cover only some of the bytes",
    cure="raise fs.inotify.max_user_watches and max_queued_events, and check that nothing else removes files",
)


def unseen(trial: Trial, landings: Sequence[Landed], *, placed: bool) -> list[Doubt]:
    """A doubt where too little was found of what should lie somewhere. Raises AssayError where placement is strict.

    `placed`: the platform places bytes, so that after the jobs each role's should have been looked for.
    """
    missed = []
    for landed in landings:
        if landed.unseen or landed.trouble is not None:
            gap = f"of {landed.role} {landed.bytes} of {landed.of_bytes} bytes were found ({landed.when})"
            missed.append(f"{gap}: {landed.trouble}" if landed.trouble else gap)
    looked_for = {landed.role for landed in landings if landed.when == "run"}
    places = trial.placement.roles if placed else ()
    missed += [f"nothing saw where {role} landed (run)" for role in places if role not in looked_for]
    if missed and trial.strict_placement:
        raise AssayError(f"trial {trial.id}: {missed[0]}; so where they landed can't be told")
    return [LANDING_NOT_SEEN.doubt(f"{trial.placement.name}: {gap}", trial.placement.name) for gap in missed]


def refuse_elsewhere(trial: Trial, landings: Sequence[Landed]) -> None:
    """Raises AssayError where bytes lie outside of the media's folders: then another disk was measured."""
    for landed in landings:
        if landed.elsewhere:
            raise AssayError(
                f"trial {trial.id}: {landed.bytes} of {landed.of_bytes} bytes of {landed.role} lie in the folders of "
                f"the media ({landed.when}), so that another disk was measured; give the media paths of plain letters, "
                "and let no property or job of yours move these bytes"
            )


def counted(engine: str, landings: Sequence[Landed], jobs: Sequence[JobRecord]) -> list[Landed]:
    """The landings, with what the tasks counted as written to local directories beside what was seen there.

    Each task may also count what it writes elsewhere.
    """
    written = counted_by_tasks(engine, totals(tuple(jobs), ()).counters).get("local_written_bytes")
    if written is None:
        return list(landings)
    of_bytes = max(0, written - sum(job.tasks for job in jobs) * engine_kind(engine).uncounted_bytes)
    return [
        landed.model_copy(update={"of_bytes": of_bytes}) if landed.role == INTERMEDIATE else landed
        for landed in landings
    ]


def _percent(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{100 * share:.0f} % on {medium}" for medium, share in sorted(shares.items())) or "nothing"


PAGE_CACHE_HIDES_MEDIUM = doubt_kind(
    "page-cache-hides-medium",
    "trial",
    when=(
        "emulated drives: less than 60 % of what the jobs read came from the drives; other media: what the jobs wrote "
        "fits into the memory, or the page cache, that they may use"
    ),
    why="the rest came from the kernel's page cache, or may have, so the medium's own speed hardly shows",
    cure="set a smaller bound on memory or page cache, or use a dataset with more intermediate data than the bound",
    severity=120,
)


def store_read_bytes(counted: Mapping[Counted, int], staged: StagedInput | None) -> int | None:
    """How much the jobs read in the store: at least the input, once, where tasks don't count it; None if unknown."""
    return counted.get("store_read_bytes", None if staged is None else staged.bytes)


def asked_bytes(counted: Mapping[Counted, int], staged: StagedInput | None) -> int | None:
    """What the jobs read in the store, in local directories and in the shuffle, as `store_read_bytes` knows it."""
    store = store_read_bytes(counted, staged)
    return None if store is None else store + counted.get("local_read_bytes", 0) + counted.get("shuffled_bytes", 0)


def cached(
    trial: Trial,
    jobs: Sequence[JobRecord],
    memory_bytes: int,
    devices: Sequence[DriveReports],
    staged: StagedInput | None,
) -> list[Doubt]:
    """A doubt where the page cache stood between the jobs and their media.

    Emulated drives have counted what was really read from them; of other media only the room in memory is known. None
    where nobody knows how much the jobs read.
    """
    if not any(kind_of(medium).cached for medium in trial.media):
        return []
    counted = counted_by_tasks(trial.engine, totals(tuple(jobs), ()).counters)
    if devices and all(kind_of(medium).emulated for medium in trial.media):
        asked = asked_bytes(counted, staged)
        read = sum(reads.bytes for drive in devices if (reads := drive.reports["run"].reads))
        if asked is None or read >= FROM_DRIVES_SHARE * asked:
            return []
        share = f"{100 * read / asked:.0f} %"
        finding = f"only {share} of what the jobs read on {trial.placement.name} came from its drives"
    else:
        cluster = trial.cluster
        nodes = cluster.nodes or 1
        room = {
            "memory": nodes * cluster.limit_memory_bytes if cluster.limit_memory_bytes else memory_bytes,
            "page cache": nodes * (cluster.page_cache_bytes or 1 << 62),
        }
        least = min(room, key=room.__getitem__)
        if counted.get("local_written_bytes", 0) + counted.get("store_written_bytes", 0) > room[least]:
            return []
        finding = f"a trial on {trial.placement.name} wrote less than the {least} it may use"
    return [PAGE_CACHE_HIDES_MEDIUM.doubt(finding, trial.placement.name)]


def unremembered(job: JobReference, error: AssayError) -> Doubt:
    """A doubt for a job whose history can't be had."""
    return HISTORY_INCOMPLETE.doubt(
        f"the job history lacks {job.name} ({job.id}): {error}",
        job.id,
        why="its time, counters and tasks are in no figure; without the times of all jobs a trial has no totals",
        cure="look for the history server's warnings on this job, and run the trial again",
    )


OUT_OF_MEMORY = doubt_kind(
    "out-of-memory",
    "cluster",
    when="the kernel ended processes of the cluster at its memory bound, and the jobs succeeded nevertheless",
    why="tasks ran again, which costs time that has nothing to do with the media",
    cure="give the cluster more memory, or its jobs fewer or smaller containers",
    severity=60,
)


def out_of_memory(use: LimitUse | None) -> list[Doubt]:
    """A doubt where the kernel ended processes of the cluster, and the jobs came through all the same."""
    kills = use.out_of_memory_kills if use else 0
    finding = f"the kernel ended {kills} of the cluster's processes at its memory limit"
    return [OUT_OF_MEMORY.doubt(finding)] if kills else []


PAGE_CACHE_OFF_BUDGET = doubt_kind(
    "page-cache-off-budget",
    "cluster",
    when=(
        "the cluster's page cache was more than 10 % above or below its budget, for more than 2 % of the time in which "
        "it was full"
    ),
    why="the ratio of data to page cache was not what the experiment asks for",
    cure="set a larger page_cache, and more memory if `memory` is set too; run nothing else on the machine",
    severity=30,
)
_OFF_SHARE = 0.02
_LEAST_FULL_S = 2.0  # a cache that was hardly ever full has not limited the jobs

PAGE_CACHE_NOT_HELD = doubt_kind(
    "page-cache-not-held",
    "cluster",
    when="the page cache could no longer be held at its budget: a file of the control group can't be read or written",
    why="from then on only the memory limited the jobs' page cache",
    cure="run the trial again; if it happens again, please report it with this text",
    severity=140,
)

ATTEMPTS_FAILED_AT_BUDGET = doubt_kind(
    "attempts-failed-at-budget",
    "cluster",
    when="task attempts failed while the page cache was held at a budget with version 1 of the control groups",
    why=(
        "in version 1 a system call fails if it gets no memory within the bound, so the budget may be the reason; the "
        "attempts ran again, which costs time that has nothing to do with the media"
    ),
    cure="look for `Cannot allocate memory` in the containers' logs, and give a larger page_cache",
    severity=60,
)


def off_budget(use: LimitUse | None, jobs: Sequence[JobRecord]) -> list[Doubt]:
    """Doubts where the page cache was not held at its budget, or may have been so at the cost of task attempts."""
    cache = use.page_cache if use else None
    if use is None or cache is None:
        return []
    doubts = []
    if cache.trouble is not None:
        loss = f"the page cache could no longer be held at its budget: {cache.trouble}"
        doubts.append(PAGE_CACHE_NOT_HELD.doubt(loss))
    if cache.full_s >= _LEAST_FULL_S and cache.above_s + cache.below_s > _OFF_SHARE * cache.full_s:
        off = [(cache.above_s, "above"), (cache.below_s, "below")]
        parts = " and ".join(
            f"for {seconds:.1f} s more than 10 % {side} its budget" for seconds, side in off if seconds >= 0.05
        )
        share = (cache.above_s + cache.below_s) / cache.full_s
        deviation = f"the page cache was full for {cache.full_s:.1f} s, and {parts} ({share:.0%} of that time)"
        doubts.append(PAGE_CACHE_OFF_BUDGET.doubt(deviation))
    failed = sum(stage.failed_attempts for job in jobs for stage in job.stages)
    if failed and "version 1" in (use.interface or ""):
        attempts = f"{failed} task attempt{'' if failed == 1 else 's'}"
        failures = f"{attempts} failed while the page cache was held at its budget"
        doubts.append(ATTEMPTS_FAILED_AT_BUDGET.doubt(failures))
    return doubts


_NO_MEMORY = re.compile(r"Could not obtain block|Cannot allocate memory", re.IGNORECASE)
"""What clients say where a daemon, or they themselves, found no memory within a bound."""


def budget_cause(error: str, use: LimitUse | None) -> str:
    """Why a trial may have failed at its page cache's budget, with how to mend it; empty where nothing shows that."""
    cache = use.page_cache if use else None
    if use is None or cache is None or "version 1" not in (use.interface or "") or not _NO_MEMORY.search(error):
        return ""
    return (
        f"; the likely cause is the page cache's budget of {bytes_text(cache.budget_bytes)}: in version 1 of the "
        "control groups a system call fails if it gets no memory within the bound; give a larger page_cache, "
        "and as much more input, so that their ratio stays"
    )


MACHINE_SHARED = doubt_kind(
    "machine-shared",
    "machine",
    when=("other programs, or the host's other guests, took more than 5 % of the processors' time while the jobs ran"),
    why=(
        "the jobs had less processor time, so they took longer, and differ between trials for reasons other than "
        "the media"
    ),
    cure="close other programs (or the host's other guests), and run the trial again",
    severity=10,
)


def crowded(placement: str, amounts: Iterable[Amount]) -> list[Doubt]:
    """A doubt where other programs, or the host's other guests, kept processors busy while the jobs ran."""
    run = [amount for amount in amounts if amount.part == "run"]
    all_s = sum(amount.value for amount in run if (amount.probe, amount.subject) == ("cpu", "machine"))
    others = {("processes", "other", "busy_s"), ("cpu", "machine", "steal_s")}
    others_s = sum(amount.value for amount in run if (amount.probe, amount.subject, amount.series) in others)
    if others_s <= CROWDED_SHARE * all_s:
        return []
    finding = f"in a trial on {placement} other processes used {others_s:.0f} s of processor time while the jobs ran"
    return [MACHINE_SHARED.doubt(f"{finding}, {100 * others_s / all_s:.0f} % of all", placement)]


MEMORY_GOES_BACK = doubt_kind(
    "memory-goes-back",
    "machine",
    when=(
        "the machine returns its free memory to its host (free page reporting), and nothing "
        "[holds](../how-to/measure-in-a-virtual-machine.md) it"
    ),
    why=(
        "the host's work to return a page counts as the jobs' processor time, and depends on how long their "
        "memory was free"
    ),
    cure="hold the free memory while you measure: `assay memory hold`",
)


def given_back(facts: Mapping[str, Fact]) -> list[Doubt]:
    """A doubt where memory that lay free has to be had from the host of this virtual machine again."""
    finding = "this virtual machine returns its free memory to its host (free page reporting)"
    return [MEMORY_GOES_BACK.doubt(finding)] if facts.get(FREE_MEMORY) == GOES_BACK else []


PAGE_CACHE_DROPPED = doubt_kind(
    "page-cache-dropped",
    "machine",
    when="the kernel drops page cache that has not been used for a while (DAMON), and the jobs took longer than that",
    why=(
        "what the jobs wrote or read may no longer be in the page cache when they need it again, although memory is "
        "free; they then read it from the drive, and how much of it differs between trials"
    ),
    cure=(
        "switch this off while you measure, if the machine is yours "
        "([how](../how-to/measure-in-a-virtual-machine.md#page-cache-that-is-dropped)), or use less data"
    ),
)


def dropped(facts: Mapping[str, Fact], jobs: Sequence[JobRecord]) -> list[Doubt]:
    """A doubt where the jobs ran for longer than the kernel keeps page cache that nobody uses."""
    after_s = float(facts.get(UNUSED_CACHE, inf))
    took_s = (max(job.finished_ms for job in jobs) - min(job.submitted_ms for job in jobs)) / 1000 if jobs else 0.0
    finding = f"the kernel drops page cache that has not been used for {after_s:g} s, and the jobs took {took_s:.0f} s"
    return [PAGE_CACHE_DROPPED.doubt(finding)] if took_s > after_s else []


def of_media(trial: Trial, facts: Mapping[str, Mapping[str, Fact]]) -> list[Doubt]:
    """The doubts of each medium's kind, by what each says of itself."""
    return [doubt for medium in trial.media for doubt in kind_of(medium).doubts(medium, facts.get(medium.name, {}))]


FAULT_DID_NOT_STRIKE = doubt_kind(
    "fault-did-not-strike",
    "trial",
    when="the jobs ended, or all input was staged, before the phase of the trial's fault, as far as their client heard",
    why="nothing went wrong, so it is no trial of that fault; it is excluded from all results",
    cure=(
        "choose an earlier phase, or more data: Hadoop's client hears of progress once a second, ten times a second "
        "with brisk starts, and tasks tell theirs every 3 seconds"
    ),
    severity=175,
)


def fault_missed(trial: Trial, report: FaultReport | None) -> list[Doubt]:
    """A doubt where a fault was planned and the jobs came to their end without it."""
    fault = trial.cluster.fault
    if fault is None or (report is not None and report.struck_ms is not None):
        return []
    missed = f"the jobs were not seen at {fault.at} before they ended"
    if fault.at is not None and fault.at.stage == STAGING:
        missed = "the store's client was not given so much of the input"
    finding = f"the fault {fault.level} did not strike: {missed}"
    return [FAULT_DID_NOT_STRIKE.doubt(finding, trial.placement.name)]


FEWER_NODES = doubt_kind(
    "fewer-nodes",
    "trial",
    when="several nodes, or a network, were asked for, and this machine or user can have no namespaces",
    why=(
        "all ran on one node, this machine itself: nothing passed a network, each block has one copy, and one node's "
        "drives did the work of all"
    ),
    cure="start Assay as root on a machine that allows namespaces; or ask for one node",
    severity=185,
)


def fewer_nodes(trial: Trial) -> list[Doubt]:
    """A doubt where the trial ran on one node in place of what its experiment says."""
    requested = trial.cluster.instead_of
    finding = f"one node without a network ran in place of {requested}: there can be no namespaces here"
    return [FEWER_NODES.doubt(finding)] if requested else []
