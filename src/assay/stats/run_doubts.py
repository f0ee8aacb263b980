"""What makes a run's figures doubtful, as far as only all of its trials together show it."""

from collections.abc import Sequence

from assay.model.doubt import Doubt
from assay.model.record import Record
from assay.stats.fit import work_of
from assay.stats.machine_kind import machine_names, machine_of, media_changes
from assay.stats.outlier import outliers
from assay.stats.processors import processors_varied
from assay.stats.sample import WORK, Levels, Sample, combinations, counts, is_wrong, samples
from assay.stats.wording import first_few

MOST_TIMES_APART = 2.0
"""Trials of one repetition begin at most its own length apart in a run that is not interrupted."""


def doubts_of(records: Sequence[Record]) -> list[Doubt]:
    """The run's doubts, each once: those of its trials, and those that only the whole run shows."""
    found = {doubt.model_dump_json(): doubt for record in records for doubt in record.doubts}
    of_run = (wrong_outputs, _few, _odd, _media, parts_apart, processors_varied, different_machines, media_changed)
    return [*found.values(), *(doubt for look in of_run for doubt in look(records))]


def _few(records: Sequence[Record]) -> list[Doubt]:
    """A doubt where some work ran only once in each combination: then nothing says how much equal trials differ."""
    works: dict[Levels, list[Sample]] = {}
    for one in samples(records):
        works.setdefault(work_of(one.factors), []).append(one)
    once = [own for own in works.values() if max(map(len, combinations(own).values())) < 2]
    if not once:
        return []
    named = first_few(list(dict.fromkeys(own[0].level("workload") for own in once)), ", ", " and")
    return [
        Doubt(
            kind="few-repetitions",
            what=f"no trial of {named} was repeated",
            why="so nothing says how much equal trials differ, and no difference can be significant",
            cure="set repetitions: 2 or more in the experiment",
        )
    ]


def _odd(records: Sequence[Record]) -> list[Doubt]:
    """Outliers, the farthest first."""
    odd = sorted(outliers(samples(records)), key=lambda one: -abs(one.times - 1))
    if not odd:
        return []
    named = first_few([one.words for one in odd])
    return [
        Doubt(
            kind="outliers",
            what=f"{len(odd)} trial{' lies' if len(odd) == 1 else 's lie'} far off: {named}",
            why="something else may have used the machine then; they count in every figure, and medians bear a few",
            cure="look at these trials' timelines, and repeat on an idle machine if there are many",
        )
    ]


def _media(records: Sequence[Record]) -> list[Doubt]:
    kinds = {medium.kind == "emulated" for record in records for medium in record.trial.media}
    if len(kinds) < 2:
        return []
    return [
        Doubt(
            kind="emulated-beside-real",
            what="emulated drives stand beside media of this machine",
            why="a real medium is made cold by dropping all of the page cache, Java and Hadoop's jars included, an "
            "emulated one by dropping its own pages alone: the first tasks on the real one start more slowly",
            cure="compare emulated drives with one another, or make a profile of the real one and emulate that too",
        )
    ]


def wrong_outputs(records: Sequence[Record]) -> list[Doubt]:
    """A doubt where trials ended with a wrong output; else none."""
    wrong = [record.trial.id for record in records if is_wrong(record)]
    if not wrong:
        return []
    named = first_few(wrong, ", ", " and")
    return [
        Doubt(
            kind="wrong-outputs",
            what=f"{len(wrong)} trial{'' if len(wrong) == 1 else 's'} ended with a wrong output: {named}",
            why="a job that loses records is done sooner, so these count in no figure of time",
            cure="read their verdicts, mend what is wrong and run them again",
        )
    ]


def different_machines(records: Sequence[Record]) -> list[Doubt]:
    """A doubt where trials ran on machines of several kinds, which it names; else none."""
    names = machine_names(records)
    if len(names) < 2:
        return []
    return [
        Doubt(
            kind="different-machines",
            what=f"the trials ran on {len(names)} different machines, or with different software: "
            f"{', '.join(names.values())}",
            why="differences between those look like differences between media; such trials are told apart",
            cure="run the whole plan on one machine, with one Java, Hadoop and Assay",
        )
    ]


def media_changed(records: Sequence[Record]) -> list[Doubt]:
    """A doubt for each medium that did not stay the same while the run went on."""
    return [
        Doubt(
            kind="medium-changed",
            what=one.words,
            why="that is another medium under the same name; its trials are told apart and never pooled",
            cure="run the whole plan on the same media, or name another one in the experiment",
        )
        for one in dict.fromkeys(filter(None, media_changes(records)))
    ]


def began_ms(record: Record) -> int:
    """When a trial began, in milliseconds since the epoch; 0 where it does not say."""
    return min((step.started_ms for step in record.steps), default=0)


def parts_apart(records: Sequence[Record]) -> list[Doubt]:
    """A doubt where trials of one repetition of one run, of the same work, began so far apart that drift tells on them.

    That is further than twice what all trials of that repetition took.
    """
    took_s: dict[int, float] = {}
    began: dict[tuple[int, object], list[int]] = {}
    for record in records:
        repetition, factors = record.trial.repetition, record.trial.factors
        took_s[repetition] = took_s.get(repetition, 0.0) + sum(step.seconds for step in record.steps)
        if counts(record):
            key = (machine_of(record), *(factors[name] for name in WORK))
            began.setdefault((repetition, key), []).append(began_ms(record))
    apart_s = [(repetition, (max(own) - min(own)) / 1000) for (repetition, _), own in began.items()]
    far = {repetition: seconds for repetition, seconds in apart_s if seconds > MOST_TIMES_APART * took_s[repetition]}
    if not far:
        return []
    repetitions = f"{len(far)} repetition{'' if len(far) == 1 else 's'}"
    return [
        Doubt(
            kind="parts-apart",
            what=f"trials of {repetitions} ran in parts, up to {_long(max(far.values()))} apart",
            why="what is compared there did not run close in time: what changed in between looks like a difference",
            cure="let all levels that are compared run in one go",
        )
    ]


def _long(seconds: float) -> str:
    """A length of time for people, in its largest unit."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            count = round(seconds / length)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{seconds:.0f} seconds"
