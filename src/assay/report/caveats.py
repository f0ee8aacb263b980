"""Caveats of a decision in words, for terminal, page and Markdown alike."""

import re
from collections.abc import Iterator, Mapping, Sequence

from assay.model.naming import first_few
from assay.report.words import about_text, capitalised, percent, seconds_text
from assay.stats.caveats import (
    BUSY_MARGIN,
    AssumedParameters,
    LinksIdle,
    MachineShared,
    NothingCounts,
    NotTheDrives,
    RanElsewhere,
    SlowedDrives,
    TimesApart,
    TimesModelled,
    WrittenLate,
    most_saved_s,
)
from assay.stats.decision import Decision, PlacementResult, Question
from assay.stats.run_doubts import BUSY, READ, WRITTEN

_SUBJECT = "this job and input"
NO_REPETITIONS = "Without repetitions it is not known how much equal trials differ: repeat the experiment."


def left_out_notes(decision: Decision) -> Iterator[str]:
    """Which trials are in no number, and why."""
    for caveat in decision.caveats:
        match caveat:
            case NothingCounts():
                yield (
                    f"No trial on {', '.join(caveat.of)} counts: each failed, has a wrong output, or is excluded "
                    "since a check of its scale model failed."
                )
            case RanElsewhere():
                on = ", ".join(caveat.of)
                yield f"The trials on {on} ran on another machine, system or medium, so they are not compared here."
            case TimesApart():
                yield (
                    f"In {first_few(list(caveat.trials))} the jobs' own times contradict the time of the step that "
                    "ran them (doubt `clocks-apart`). So there is no verdict, however many repetitions follow. Find "
                    "out why, and run the experiment again."
                )


def other_cause_notes(decision: Decision) -> Iterator[str]:
    """Which differences no drive can have made."""
    for caveat in decision.caveats:
        if isinstance(caveat, NotTheDrives):
            yield (
                f"The difference on {', '.join(caveat.of)} cannot come from the drives, which were busy for "
                f"{seconds_text(caveat.busy_s)} s at most: something else slowed trials down. "
                "Repeat the experiment on an idle machine, or with larger data, so that the drives matter more."
            )


def late_notes(decision: Decision) -> Iterator[str]:
    """Which levels have no verdict since jobs ended before what they wrote was on the drives."""
    for caveat in decision.caveats:
        if isinstance(caveat, WrittenLate):
            trials = f"{caveat.trials} trial{'' if caveat.trials == 1 else 's'}"
            yield (
                f"It is open whether {first_few(list(caveat.of))} is worth it, whatever the times say: in {trials} as "
                f"little as {percent(caveat.share)} of what the jobs wrote was on the drives when they ended (doubt "
                "`written-late`). Repetitions don't decide that. Run it with `write_back: node` and a bound of memory, "
                "or with more data."
            )


def written_notes(decision: Decision, names: Mapping[str, str]) -> Iterator[str]:
    """What was on the drives when the jobs ended, of what they wrote."""
    shares = [
        f"{percent(placement.written_share)} on {names[placement.placement]}"
        for placement in decision.placements
        if placement.written_share is not None
    ]
    if shares:
        yield f"Share of the jobs' writes that was on the drives when the jobs ended: {', '.join(shares)}."


def model_notes(decision: Decision) -> Iterator[str]:
    """What times of a scale model say."""
    for caveat in decision.caveats:
        match caveat:
            case TimesModelled():
                yield (
                    "These times are modelled: the cluster ran slower than the one that it stands for, and they are "
                    "divided by that. The page has the checks of the model."
                )
            case LinksIdle():
                yield (
                    "No link had packets waiting before it for a second in all, so a faster network would save little "
                    "time."
                )


def drive_notes(decision: Decision) -> Iterator[str]:
    """What is not known of emulated drives."""
    assumed = [caveat for caveat in decision.caveats if isinstance(caveat, AssumedParameters)]
    if assumed:
        counts = " and ".join(
            f"{drive.assumed} of {drive.parameters} parameters of {drive.profile}" for drive in assumed
        )
        are = "The twin is" if decision.of_twin else "The drives are"
        yield (
            f"{are} emulated. {counts} are assumptions, neither published nor measured; the intervals do not account "
            "for errors in them."
        )


def slowed_notes(decision: Decision) -> Iterator[str]:
    """That emulated drives are slower than those that they are named after."""
    for caveat in decision.caveats:
        if isinstance(caveat, SlowedDrives):
            times = f"{'' if caveat.alike else 'up to '}{caveat.times_slower} times"
            yield (
                f"The drives are {times} slower than those they are named after, to match work "
                "that is slower here. Beside this machine's processors the real ones may differ far less."
            )


def repetition_notes(decision: Decision, names: Mapping[str, str]) -> Iterator[str]:
    """How many more repetitions would decide what is open; `names` has what each placement is called in a sentence."""
    if decision.has(TimesApart):
        return
    is_open = decision.is_open if decision.question is Question.WORTH else not decision.repeated
    if is_open and len(decision.placements) > 1 and _repetitions_help(decision):
        more = decision.more
        if not decision.repeated:
            yield NO_REPETITIONS
        elif more is None:
            yield (
                f"More than 200 repetitions would be needed to decide {question_text(decision, names)}: the saving is "
                "near the threshold, or times vary too much."
            )
        else:
            times = (
                f"{more.repetitions} more repetition{'' if more.repetitions == 1 else 's'} ({about_text(more.seconds)})"
            )
            corrected = f", corrected for {decision.corrected} verdicts" if decision.corrected > 1 else ""
            question = question_text(decision, names)
            yield f"About {times} would decide {question}{corrected}, if the times vary as they did so far."


def _repetitions_help(decision: Decision) -> bool:
    """Whether anything is open that is not so for another reason."""
    return bool(decision.open_levels) or not (decision.of_other_cause or decision.of_late_writes)


def bounds_by_busy(decision: Decision) -> bool:
    """Whether the base's drives were busy for less than what storage may cost by the trials' times, if those tell."""
    storage_s, busy_s = decision.placements[0].storage_s if decision.placements else None, decision.busy_bound_s
    most_s = None if storage_s is None else storage_s.value if storage_s.high is None else storage_s.high
    return busy_s is not None and (most_s is None or most_saved_s(busy_s) < most_s)


def busy_notes(decision: Decision, names: Mapping[str, str]) -> Iterator[str]:
    """For how long the base's drives were busy, and the most that others can save by that."""
    if any(map(decision.is_beyond_drives, decision.placements)) or decision.question is not Question.WORTH:
        return
    if bounds_by_busy(decision) and decision.placements:
        base, was = decision.placements[0].placement, was_busy(decision, names)
        subject = was if names[base] == base else capitalised(was)
        most_s = most_saved_s(decision.busy_bound_s or 0.0)
        yield (
            f"{subject} according to its counters; {BUSY_MARGIN:g} times that, {seconds_text(most_s)} s, is the most "
            "that another drive can save."
        )


def limit_words(decision: Decision, placement: PlacementResult, names: Mapping[str, str]) -> str:
    """Why a placement can save no more, by how long drives were busy."""
    most = percent(decision.most_share(None, placement.most_s) or 0.0)
    still_s = (decision.busy_bound_s or 0.0) - (placement.most_s or 0.0)
    if still_s <= 0:
        return f"{was_busy(decision, names)}; {BUSY_MARGIN:g} times that is {most}, the most that another can save"
    still = f"and here still for {seconds_text(still_s)} s"
    return (
        f"{was_busy(decision, names)}, {still}; {BUSY_MARGIN:g} times the rest is {most}, the most that this can save"
    )


def was_busy(decision: Decision, names: Mapping[str, str]) -> str:
    """`the hard disk was busy for 0.5 of 29.0 s`: for how long the base's drives were, of the time on it."""
    base = decision.placements[0]
    busy_s, elapsed_s = seconds_text(decision.busy_s or 0.0), seconds_text(base.elapsed_s.value)
    return f"{names[base.placement]} was busy for {busy_s} of {elapsed_s} s"


def open_reason(decision: Decision, placement: PlacementResult, names: Mapping[str, str]) -> str:
    """Why a placement has no verdict although its time may look clear; empty where only repetitions are missing."""
    if decision.has(TimesApart):
        return "some trials' times contradict each other"
    if placement.placement in decision.of_late_writes:
        return "much of what the jobs wrote was not on the drives when they ended"
    if decision.is_beyond_drives(placement):
        return (
            f"{was_busy(decision, names)}, too little for such a saving, so chance or another cause is in it, or the "
            "counters miss much"
        )
    return ""


def question_text(decision: Decision, names: Mapping[str, str]) -> str:
    """What is open: `whether the SSD saves 10 % of the time on the hard disk`."""
    levels = [names[level] for level in decision.open_levels]
    base, verb = names[decision.placements[0].placement], "saves" if len(levels) == 1 else "save"
    shares = " and ".join(dict.fromkeys(percent(decision.worth.of(level)) for level in decision.open_levels))
    return f"whether {' and '.join(levels)} {verb} {shares} of the time on {base}"


def unmet_notes(decision: Decision, names: Mapping[str, str]) -> Iterator[str]:
    """A sentence for each kind of condition that is not met, with what still holds."""
    says = {
        READ: "{share} of what the jobs read came from {subject} (at least {least} is needed). The page cache served "
        "the rest; with less memory or more data the drives may matter more",
        WRITTEN: "{share} of what was written to {subject} was on it when the jobs ended (at least {least} is "
        "needed). The rest was written afterwards, and that time is not counted above",
        BUSY: "{subject} was busy for {share} of the jobs' time (at least {least} is needed). "
        + _other_programs(decision),
    }
    for kind, words in says.items():
        missed = [condition for condition in decision.conditions if condition.kind == kind and not condition.met]
        if missed:
            worst = min(missed, key=lambda condition: condition.share or 0.0)
            share = "an unknown share" if worst.share is None else f"only {_below(worst.share, worst.least)}"
            subject = names.get(worst.subject, worst.subject)
            said = words.format(share=share, subject=subject, least=percent(worst.least))
            yield f"Do not generalise from this run: {said}."


def _below(share: float, least: float) -> str:
    """A share that is too small, rounded so that it does not read like the least that is needed."""
    text = percent(share)
    return f"just under {text}" if text == percent(least) else text


def _other_programs(decision: Decision) -> str:
    """What an idle drive comes from, as far as is known."""
    trials = next((caveat.trials for caveat in decision.caveats if isinstance(caveat, MachineShared)), 0)
    slowed = f"Other programs slowed {trials} trial{'' if trials == 1 else 's'} down (doubt `machine-shared`)"
    return slowed if trials else "This job uses its storage little"


def scopes_of(decisions: Sequence[Decision]) -> list[str]:
    """What answers hold for: a sentence for each different scope."""
    works = {tuple(decision.levels.get(name) for name in ("workload", "options", "dataset")) for decision in decisions}
    subject = _SUBJECT if len(works) == 1 else "these jobs and inputs"
    return sorted({scope_of(decision, subject) for decision in decisions})


def scope_of(decision: Decision, subject: str = _SUBJECT) -> str:
    """What an answer holds for, in a sentence."""
    same = decision.nodes and decision.factor != "nodes"
    nodes = "" if not same else " on one node" if decision.nodes == 1 else f" on {decision.nodes} nodes"
    memory, cache = (
        re.sub(r"(?<=\d)(?=[KMGT]i?B$)", " ", decision.levels.get(name, "all")) for name in ("memory", "page_cache")
    )
    of_it = "page cache included" if cache == "all" else f"of which {cache} page cache"
    alone = "" if cache == "all" else f" with {cache} of page cache"
    within = alone if memory == "all" else f" within {memory} of memory, {of_it}"
    return f"This holds for {subject}{nodes}{within}."
