"""What makes a run's figures doubtful, as far as only all of its trials together show it."""

from collections.abc import Mapping, Sequence
from itertools import chain

from assay.model.base import Frozen
from assay.model.doubt import Doubt, doubt_kind
from assay.model.installed import kind_of
from assay.model.naming import first_few
from assay.model.trial_summary import TrialSummary
from assay.stats.blocked import unexplained
from assay.stats.drive_use import LATE_SHARE, WRITTEN_SHARE, ended_before_its_writes
from assay.stats.estimate import known_median
from assay.stats.fit import work_of
from assay.stats.machine_kind import Changed, machine_names
from assay.stats.sample import WORK, Levels, Trials, combinations, is_valid, is_wrong, samples
from assay.stats.summary import outliers
from assay.stats.trial_doubts import FROM_DRIVES_SHARE

MOST_TIMES = 1.25
"""A doubt is raised where one of two equal trials took more than this many times the other's processor time."""

LEAST_S = 5.0
"""Processor time below which starting the JVMs settles how much a trial took."""


PROCESSORS_VARIED = doubt_kind(
    "processors-varied",
    "machine",
    when="trials of a combination took more than 1.25 times as much processor time as others, by at least 5 s",
    why=(
        "hosts share their processors between guests, and processors change their clock; that slows the computing"
        " and not the drive, so intervals are wide and small differences are not significant"
    ),
    cure="repeat when the processors are not shared; more repetitions also narrow the intervals",
    severity=20,
)


def processors_varied(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt where trials of one combination took far more processor time once than at another time; else none.

    It names the two that are farthest apart.
    """
    combined: dict[object, list[tuple[float, str]]] = {}
    for summary, machine in zip(summaries, Trials.of(summaries).machine_facts, strict=True):
        used_s = (summary.cpu_ms or 0) / 1000 if is_valid(summary) else 0
        if used_s >= LEAST_S:
            key = (machine, *sorted(summary.trial.factors.items()))
            combined.setdefault(key, []).append((used_s, summary.trial.id))
    extremes = [(min(processor_s), max(processor_s)) for processor_s in combined.values()]
    if not extremes:
        return []
    (least_s, least), (most_s, most) = max(extremes, key=lambda pair: pair[1][0] / pair[0][0])
    if most_s / least_s <= MOST_TIMES:
        return []
    return [
        PROCESSORS_VARIED.doubt(
            f"the same jobs took {most_s / least_s:.1f} times as much processor time in one trial "
            f"({most}, {most_s:.0f} s) as in another ({least}, {least_s:.0f} s)"
        )
    ]


READ_SHARE, BUSY_SHARE = FROM_DRIVES_SHARE, 0.5
"""The least that must be read from the drives, and the base's drives be busy."""

READ, WRITTEN, BUSY = "read-from-drive", "written-before-the-end", "base-busy"


class Condition(Frozen):
    """Something that must hold for the experiment to ask its question well: a share (0 to 1) and the least it may be.

    `subject` is the placement that it was measured on; `share` is None where it could not be measured.
    """

    kind: str
    subject: str
    share: float | None
    least: float

    @property
    def met(self) -> bool:
        """Whether it was measured and is large enough."""
        return self.share is not None and self.share >= self.least


def conditions(by_placement: Mapping[str, Sequence[TrialSummary]], base: str) -> tuple[Condition, ...]:
    """Return the conditions of each placement but the baseline, by the median.

    There are none where drives are not emulated, or their counters contradict the rest.

    There is none on writes where too few bytes were late to matter.
    """
    every = [summary for summaries in by_placement.values() for summary in summaries]
    if any(summary.still_media for summary in every) or not all(
        kind_of(medium).emulated and medium.name in summary.reporting_media
        for summary in every
        for medium in summary.trial.media
    ):
        return ()
    results = []
    for placement, summaries in by_placement.items():
        read = known_median(summary.read_share for summary in summaries)
        results.append(Condition(kind=READ, subject=placement, share=read, least=READ_SHARE))
        late = known_median(summary.late_share for summary in summaries)
        if late is None or late >= LATE_SHARE:
            share = known_median(summary.written_share for summary in summaries)
            results.append(Condition(kind=WRITTEN, subject=placement, share=share, least=WRITTEN_SHARE))
    busy = known_median(summary.busy_share for summary in by_placement.get(base, ()))
    return (*results, Condition(kind=BUSY, subject=base, share=busy, least=BUSY_SHARE))


COUNTERS_STILL = doubt_kind(
    "counters-still",
    "medium",
    when="a drive counted less than a tenth of the bytes (32 MiB or more) that were staged on it and flushed",
    why=(
        "its counters stand still, or are another device's; so nobody knows what it read and wrote and how long it was "
        "busy, and no bound and no verdict rests on that"
    ),
    cure="see whether /sys/block/DEVICE/queue/iostats is 1, and which device the medium lies on, and run it again",
    severity=170,
)


def stood_still(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt for each medium whose counters contradict the bytes on it, with the first trial in which they do."""
    trials: dict[str, str] = {}
    for summary in summaries:
        for medium in summary.still_media:
            trials.setdefault(medium, summary.trial.id)
    finding = "counted next to nothing while data was staged on it, in {}"
    return [COUNTERS_STILL.doubt(f"{medium} {finding.format(trial)}", medium) for medium, trial in trials.items()]


CLOCKS_APART = doubt_kind(
    "clocks-apart",
    "trial",
    when=(
        "the jobs took, from submission to end by their history, less than half of the step that ran them (by 10 s or "
        "more), or more than all of it"
    ),
    why=(
        "one of both clocks is wrong, jobs are missing, or the program did something else than jobs; it is not known "
        "what of the time is the jobs', so no verdict rests on it"
    ),
    cure="see whether clocks were set meanwhile, what the program does besides its jobs, and run the trials again",
    severity=165,
)


def times_contradict(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt where the jobs of trials took much less time than their step, or more."""
    apart = [summary for summary in summaries if is_valid(summary) and summary.clocks_apart]
    named = [f"{summary.submitted_s:.1f} of {summary.run_step_s:.1f} s in {summary.id}" for summary in apart]
    return (
        [CLOCKS_APART.doubt(f"jobs and the step that ran them contradict each other: {first_few(named)}")]
        if apart
        else []
    )


WRITTEN_LATE = doubt_kind(
    "written-late",
    "trial",
    when="emulated drives: less than 80 % of what the jobs wrote was on the drives when they ended, and the rest was a "
    "tenth or more of all that the jobs wrote and the drives read for them",
    why="the kernel held the rest back until the job was over, or dropped what was deleted before; a node that runs a "
    "job for longer writes it, so its drives do more than these did, and take longer; no `worth it` rests on such a "
    "trial of the placement, and no `not worth it` on one of the base",
    cure="say `write_back: node` with a bound of memory (or a shorter `write_back_age`), or give the job more data",
    severity=115,
)


def written_late(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt for each placement with trials whose jobs ended before their writes, with the least share written."""
    late: dict[str, list[float]] = {}
    for summary in summaries:
        if is_valid(summary) and not summary.trial.zero_delay and ended_before_its_writes(summary):
            late.setdefault(summary.trial.placement.name, []).append(summary.written_share or 0.0)
    return [
        WRITTEN_LATE.doubt(
            f"of what the jobs wrote on {placement} only {100 * min(shares):.0f} % was on the drives when they ended "
            f"({len(shares)} trial{'' if len(shares) == 1 else 's'})",
            placement,
        )
        for placement, shares in late.items()
    ]


MOST_TIMES_APART = 2.0
"""Trials of one repetition begin at most its own length apart in a run that is not interrupted."""


def doubts_of(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """The run's doubts, each once: those of its trials, and those that only the whole run shows."""
    summaries = Trials.of(summaries)
    trial_doubts = dict.fromkeys(doubt for summary in summaries for doubt in summary.doubts)
    of_run = (
        wrong_outputs,
        few_repetitions,
        outlying_trials,
        jobs_stood_still,
        stood_still,
        times_contradict,
        written_late,
        emulated_beside_real,
        parts_apart,
        processors_varied,
        different_machines,
        programs_changed,
        media_changed,
        promises_unequal,
        unexplained,
    )
    return [*trial_doubts, *(doubt for look in of_run for doubt in look(summaries))]


FEW_REPETITIONS = doubt_kind(
    "few-repetitions",
    "run",
    when="no combination of a workload ran twice",
    why="nothing shows how much equal trials differ, so no difference can be significant",
    cure="set repetitions: 2 or more in the experiment",
    severity=160,
)


def few_repetitions(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt where some work ran only once in each combination: then nothing says how much equal trials differ."""
    most: dict[Levels, int] = {}
    for levels, trials in combinations(samples(summaries)).items():
        work = work_of(levels)
        most[work] = max(most.get(work, 0), len(trials))
    once = [work for work, times in most.items() if times < 2]
    named = first_few(list(dict.fromkeys(dict(work)["workload"] for work in once)))
    return [FEW_REPETITIONS.doubt(f"no trial of {named} was repeated")] if once else []


OUTLIERS = doubt_kind(
    "outliers",
    "run",
    when="a trial lies more than 3.5 robust standard deviations from its combination's median",
    why="another program may have used the machine then; these trials count in every figure",
    cure="look at these trials' timelines, and repeat on an idle machine if there are many",
)


def outlying_trials(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """Outliers, the farthest first."""
    outlying = sorted(outliers(samples(summaries)), key=lambda outlier: -abs(outlier.times - 1))
    named = first_few([outlier.words for outlier in outlying], "; ", "; and")
    are = " is an outlier" if len(outlying) == 1 else "s are outliers"
    return [OUTLIERS.doubt(f"{len(outlying)} trial{are}: {named}")] if outlying else []


STILL_S, STILL_SHARE = 30.0, 0.25
"""A job stood still where no task in its history ran for so many seconds, and for this share of its time."""

JOB_STOOD_STILL = doubt_kind(
    "job-stood-still",
    "run",
    when="no task in a job's history ran for at least 30 s, and for at least a quarter of the job's time",
    why=(
        "no containers were free, or the job's application master ended and another began, in whose history the tasks "
        "that ran meanwhile are missing; that time counts in the job's, whatever the drives"
    ),
    cure="look at these trials' timelines, and run them again",
    severity=90,
)


def jobs_stood_still(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt that names the jobs in whose history no task ran for a long time, the longest first; else none."""
    still = sorted(
        (
            (job.elapsed_s - job.active_s, job, summary.trial.id)
            for summary in summaries if is_valid(summary)
            for job in summary.jobs
            if job.active_s is not None and job.elapsed_s - job.active_s >= max(STILL_S, STILL_SHARE * job.elapsed_s)
        ),
        key=lambda waited: -waited[0],
    )  # fmt: skip
    named = first_few([f"{job.name} in {trial} ({idle:.0f} of {job.elapsed_s:.0f} s)" for idle, job, trial in still])
    return [JOB_STOOD_STILL.doubt(f"no task in a job's history ran for a long time: {named}")] if still else []


EMULATED_BESIDE_REAL = doubt_kind(
    "emulated-beside-real",
    "run",
    when="a run has emulated drives and media of this machine",
    why=(
        "the page cache of a real medium is dropped with Java's and Hadoop's jars, that of an emulated drive "
        "without them, so the first tasks on the real medium start more slowly"
    ),
    cure="compare emulated drives with each other, or make a profile of the real drive and emulate it too",
    severity=80,
)


def emulated_beside_real(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt where some media are emulated and some are not."""
    kinds = {kind_of(medium).emulated for summary in summaries for medium in summary.trial.media}
    finding = "the run has emulated drives and media of this machine"
    return [EMULATED_BESIDE_REAL.doubt(finding)] if len(kinds) > 1 else []


WRONG_OUTPUTS = doubt_kind(
    "wrong-outputs",
    "run",
    when="an output was judged wrong",
    why="a job that loses records ends sooner, so these trials are excluded from all times",
    cure="read their verdicts, correct the cause, and run them again",
    severity=210,
)


def wrong_outputs(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt where trials ended with a wrong output; else none."""
    wrong = [summary.trial.id for summary in summaries if is_wrong(summary)]
    trials = f"{len(wrong)} trial{'' if len(wrong) == 1 else 's'}"
    finding = f"{trials} ended with a wrong output: {first_few(wrong)}"
    return [WRONG_OUTPUTS.doubt(finding)] if wrong else []


DIFFERENT_MACHINES = doubt_kind(
    "different-machines",
    "run",
    when=(
        "host, processor, cores, memory, handling of free memory, kernel, Java, Hadoop, the jobs' jar, Assay's "
        "measuring code or the version of control groups differ within a run"
    ),
    why="differences between machines look like differences between media, so such trials are never pooled",
    cure="run the whole plan on one machine, with one Java, Hadoop and Assay",
    severity=190,
)


def different_machines(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt where trials ran on machines of several kinds, which it names; else none."""
    names = machine_names(Trials.of(summaries).machine_facts)
    finding = f"the trials ran on {len(names)} different machines, or with different software"
    return [DIFFERENT_MACHINES.doubt(f"{finding}: {', '.join(names.values())}")] if len(names) > 1 else []


MEDIUM_CHANGED = doubt_kind(
    "medium-changed",
    "medium",
    when=(
        "media of one name differ within a run in kind, drive, device, profile, build of the emulator, file "
        "system, mount options, size, scheduler or read-ahead"
    ),
    why="this is another medium under the same name, so its trials are never pooled with the others",
    cure="run the whole plan on the same media, or give the other medium another name",
    severity=180,
)


def media_changed(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt for each medium that did not stay the same while the run went on."""
    return [MEDIUM_CHANGED.doubt(change.words, change.part.name) for change in _changes(summaries, programs=False)]


PROGRAMS_CHANGED = doubt_kind(
    "programs-changed",
    "run",
    when="the programs that a service brings beside Hadoop's differ within a run in version or digest",
    why="this is other software under the same name, so its trials are never pooled with the others",
    cure="run the whole plan with the same programs; go on with --resume only where they have not been fetched anew",
    severity=185,
)


def programs_changed(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt for each service whose programs did not stay the same while the run went on."""
    return [PROGRAMS_CHANGED.doubt(change.words, change.part.name) for change in _changes(summaries, programs=True)]


PROMISES_UNEQUAL = doubt_kind(
    "promises-unequal",
    "run",
    when=(
        "compared trials staged the same input, and their stores guarantee different things of it since: in copies, or "
        "in whether these were synced to drives. What was guaranteed while staging went on is named where it differs. "
        "Levels of Hadoop properties that the experiment itself varies are not compared here"
    ),
    why="who promises more writes more, or waits longer, so a difference may be the promise's and not the store's",
    cure=(
        "make the promises equal: the same `replication`, and files that are synced alike "
        "([how](experiment.md#what-a-store-promises))"
    ),
    severity=150,
)


def promises_unequal(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt for each work whose trials are promised different things of the staged input."""
    works: dict[object, dict[str, tuple[str, str]]] = {}
    for summary in summaries:
        if summary.staged is not None and is_valid(summary):
            levels = tuple(sorted(summary.trial.levels.items()))
            key = (*(summary.trial.factors[name] for name in WORK), levels)
            promise = summary.staged.guaranteed, summary.trial.id
            works.setdefault(key, {}).setdefault(summary.staged.lasting.words, promise)
    unequal = [promises for promises in works.values() if len(promises) > 1]
    findings = ("; ".join(f"{words}: {trial}" for words, trial in promises.values()) for promises in unequal)
    return [PROMISES_UNEQUAL.doubt(f"staged input is guaranteed differently, {finding}") for finding in findings]


def _changes(summaries: Sequence[TrialSummary], *, programs: bool) -> list[Changed]:
    """Each change of programs, or of media, once; programs belong to no run."""
    changes = dict.fromkeys(chain.from_iterable(Trials.of(summaries).changes))
    return [change for change in changes if (change.part.run is None) is programs]


PARTS_APART = doubt_kind(
    "parts-apart",
    "run",
    when=("compared trials of a repetition began further apart than twice the time of all trials of that repetition"),
    why="these trials did not run close in time: any change in between looks like a difference",
    cure="run all compared levels without a break",
    severity=30,
)


def parts_apart(summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """A doubt where trials of one repetition of one run, of the same work, began so far apart that drift tells on them.

    That is further than twice what all trials of that repetition took.
    """
    whole_s: dict[int, float] = {}
    began: dict[tuple[int, object], list[int]] = {}
    for summary, machine in zip(summaries, Trials.of(summaries).machine_facts, strict=True):
        repetition, factors = summary.trial.repetition, summary.trial.factors
        whole_s[repetition] = whole_s.get(repetition, 0.0) + summary.took_s
        if is_valid(summary):
            key = (machine, *(factors[name] for name in WORK))
            began.setdefault((repetition, key), []).append(summary.began_ms)
    apart_s = [(repetition, (max(starts_ms) - min(starts_ms)) / 1000) for (repetition, _), starts_ms in began.items()]
    far = {repetition: seconds for repetition, seconds in apart_s if seconds > MOST_TIMES_APART * whole_s[repetition]}
    if not far:
        return []
    repetitions = f"{len(far)} repetition{'' if len(far) == 1 else 's'}"
    return [PARTS_APART.doubt(f"trials of {repetitions} ran with breaks, up to {_long(max(far.values()))} apart")]


def _long(seconds: float) -> str:
    """A length of time for people, in its largest unit."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds:.0f} seconds"
