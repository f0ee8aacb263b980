"""The answer to a run's question in words: what storage costs, what each placement saves, whether it is worth it.

Terminal, page and Markdown show the same sentences. They say what `stats.decision` holds and nothing else.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from assay.model.fault import NO_FAULT
from assay.model.medium import UNKNOWN_DRIVE
from assay.model.naming import first_few
from assay.model.registry import MEDIA
from assay.model.signature import OUTSIDE
from assay.plan.data_ratio import times_text
from assay.plan.job_experiment import of_several
from assay.report.caveats import (
    bounds_by_busy,
    busy_notes,
    drive_notes,
    late_notes,
    left_out_notes,
    limit_words,
    model_notes,
    open_reason,
    other_cause_notes,
    repetition_notes,
    scope_of,
    slowed_notes,
    unmet_notes,
    was_busy,
    written_notes,
)
from assay.report.words import change_text, clipped, job_name, option_pairs, percent, seconds_text, whole_seconds_text
from assay.stats.blocked import BlockedShare
from assay.stats.caveats import LEAST_DIFFERENCE, NotTheDrives, TimesApart, most_saved_s
from assay.stats.changes import AS_IT_IS, CHANGE, REAL, TWIN
from assay.stats.decision import HARDLY_BUSY_SHARE, Decision, PlacementResult, Question, Verdict
from assay.stats.estimate import Estimate
from assay.stats.fault_cost import FAULT
from assay.stats.sample import PLACEMENT
from assay.stats.summary import borrowed_words

MOST_SURE = 0.995
CLEARLY_LESS = 0.5
"""A bound that is below so much of the interval's end says more than the interval."""


class AnswerLine(NamedTuple):
    """One placement: where the job ran, how long it took, and what that says.

    `label` names it, `where` its drives too. `baseline` is no drive to buy, and a `predicted` one did not run.
    """

    label: str
    where: str
    time: str
    words: str
    baseline: bool = False
    predicted: bool = False


class Answer(NamedTuple):
    """A decision in words.

    `subject` names workload and data set, `headline` is the verdict in a sentence, `verdict` one of the `OUTCOMES` of
    its question. `notes` are sentences on what limits the answer and on what can be said all the same; the first of
    them, as many as `decisive`, could change it. `levels` are the decision's.
    """

    subject: str
    headline: str
    verdict: str
    lines: tuple[AnswerLine, ...]
    notes: tuple[str, ...]
    levels: Mapping[str, str]
    decisive: int = 0

    @property
    def caveats(self) -> tuple[str, ...]:
        """The notes that could change the answer."""
        return self.notes[: self.decisive]

    @property
    def details(self) -> tuple[str, ...]:
        """The notes on what the answer rests on, and on what it holds for."""
        return self.notes[self.decisive :]


def answer_of(decision: Decision, shared: Sequence[Decision] = ()) -> Answer:
    """In words; `shared` are all decisions of the report: what is the same in all of them is not repeated."""
    names = names_of(decision)
    of_worth = _changes_headline if decision.factor == CHANGE else _headline
    headlines = {Question.WORTH: of_worth, Question.COST: _fault_headline, Question.LIKENESS: _twin_headline}
    headline = headlines[decision.question] if len(decision.placements) > 1 else _alone
    said = (_hardly_used if decision.storage_hardly_used else headline)(decision, names)
    on = "On" if decision.factor == PLACEMENT else "With"
    lines = []
    for placement in decision.placements:
        label = _unchanged(decision, placement) or f"{on} {names[placement.placement]}"
        drives = f" ({placement.drives})" if on == "On" and placement.drives and placement.kind else ""
        lines.append(AnswerLine(label, label + drives, time_text(placement), _words(decision, placement)))
    if decision.baseline is not None:
        words = _baseline_words(decision, names)
        label = "With zero storage delay"
        lines.append(AnswerLine(label, label, time_text(decision.baseline), words, baseline=True))
    caveats, details = tuple(_caveats(decision, names)), tuple(_details(decision, names))
    return Answer(
        subject=subject_of(decision, shared),
        headline=said,
        verdict=outcome_of(decision),
        lines=tuple(lines),
        notes=(*caveats, *details),
        levels=decision.levels,
        decisive=len(caveats),
    )


def _unchanged(decision: Decision, placement: PlacementResult) -> str:
    """How a line about a base without a fault, or without a change, begins; empty for any other."""
    if _is_no_fault(decision, placement):
        return "Without a fault"
    return "As it is" if (decision.factor, placement.placement) == (CHANGE, AS_IT_IS) else ""


def _is_no_fault(decision: Decision, placement: PlacementResult) -> bool:
    return (decision.factor, placement.placement) == (FAULT, NO_FAULT)


_UNKNOWN = str(Verdict.NOT_KNOWN_YET)
COSTS, NO_COST, WITHIN, BEYOND = "costs time", "no significant cost", "within the goal", "beyond the goal"
OUTCOMES: Mapping[Question, Mapping[str, str]] = {
    Question.WORTH: {str(Verdict.WORTH_IT): "worth", str(Verdict.NOT_WORTH_IT): "not-worth", _UNKNOWN: "open"},
    Question.COST: {COSTS: "costs", NO_COST: "not-worth", _UNKNOWN: "open"},
    Question.LIKENESS: {WITHIN: "worth", BEYOND: "costs", _UNKNOWN: "open"},
}
"""What may come of each question, and its class in style sheets."""


def outcome_of(decision: Decision) -> str:
    """The verdict in a word or two: one of the outcomes of the decision's question."""
    if decision.question is Question.WORTH:
        return str(decision.verdict)
    other = deciding_level(decision)
    if other is None or not decision.repeated:
        return _UNKNOWN
    if decision.question is Question.COST:
        return COSTS if _costs(other) else NO_COST
    more = more_time(other)
    ends = [more.value if end is None else end for end in (more.low, more.high)]
    goal = decision.worth.of(other.placement)
    if all(abs(end) <= goal for end in ends):
        return WITHIN
    return BEYOND if min(ends) > goal or max(ends) < -goal else _UNKNOWN


def deciding_level(decision: Decision) -> PlacementResult | None:
    """Of all beside the base the one that the answer is about: the fastest, of faults the slowest; None without any."""
    pick = max if decision.question is Question.COST else min
    return pick(decision.placements[1:], key=lambda placement: placement.elapsed_s.value, default=None)


def more_time(placement: PlacementResult) -> Estimate:
    """The share of the base's time that it takes more."""
    return (placement.saving or Estimate(value=0.0)).times(-1)


def _costs(placement: PlacementResult) -> bool:
    return placement.comparison is not None and placement.comparison.significant and more_time(placement).value > 0


def subject_of(decision: Decision, shared: Sequence[Decision] = ()) -> str:
    """`triangles on brightkite-like, settings customs`: workload, data set, and what else differs between decisions."""
    levels = decision.levels
    name = job_name(levels)
    alike = {answer.levels.get("options") for answer in shared if job_name(answer.levels) == name}
    always = [name]
    if levels.get("options") and (
        name == levels["workload"] or len(alike) > 1
    ):  # `points 1,000,000, k 10` for `points=1000000 k=10`
        options = (
            f"{name} {f'{int(value):,}' if value.isdigit() else clipped(value)}" for name, value in option_pairs(levels)
        )
        always.append(f"({', '.join(options)})")
    if levels.get("dataset", "none") != "none":
        always.append(f"on {levels['dataset']}")
    rest = [
        f"{name} {level}"
        for name, level in levels.items()
        if name not in {"workload", "options", "dataset"} and len({answer.levels.get(name) for answer in shared}) > 1
    ]
    return ", ".join([" ".join(always), *rest])


def interval_text(estimate: Estimate) -> str:
    """`25 to 40 %`, of shares."""
    if estimate.low is None or estimate.high is None:
        return "not known without repetitions"
    return f"{round(100 * estimate.low):d} to {round(100 * estimate.high):d} %"


def change_interval_text(saving: Estimate) -> str:
    """The interval of `14 % more time`, or of `14 % less time`, as the value's own word reads: `5 to 23 %`.

    Where it has both: `5 % less to 23 % more`.
    """
    word, other = ("less", "more") if saving.value >= 0 else ("more", "less")
    change = saving if saving.value >= 0 else saving.times(-1)
    if change.low is None or change.high is None or round(100 * change.low) >= 0:
        return interval_text(change)
    return f"{-round(100 * change.low):d} % {other} to {round(100 * change.high):d} % {word}"


def names_of(decision: Decision) -> Mapping[str, str]:
    """What each placement is called in a sentence.

    `the hard disk` where only one placement is on one; else the placement's own name, or the factor's level.
    """
    if decision.factor == CHANGE:
        return {
            placement.placement: "the base" if placement.placement == AS_IT_IS else placement.placement
            for placement in decision.placements
        }
    if decision.factor != PLACEMENT:
        return {placement.placement: f"{decision.factor} {placement.placement}" for placement in decision.placements}
    if decision.question is Question.LIKENESS:
        return {REAL: "the real drive", TWIN: "its twin"}
    kinds = [placement.kind for placement in decision.placements]
    names = {}
    for placement in decision.placements:
        names[placement.placement] = placement.placement
        if placement.kind and kinds.count(placement.kind) == 1:
            kind = MEDIA.get(placement.kind)
            phrase = (kind and kind.phrase) or f"the {placement.kind}"
            names[placement.placement] = "this machine's disk" if placement.kind == UNKNOWN_DRIVE else phrase
    return names


def time_text(placement: PlacementResult) -> str:
    """`61 s`."""
    return whole_seconds_text(placement.elapsed_s.value)


def _words(decision: Decision, placement: PlacementResult) -> str:
    if placement.saving is not None and decision.question is not Question.WORTH:
        return (_fault_words if decision.question is Question.COST else _twin_words)(decision, placement)
    if placement.saving is not None:
        return _saving_words(decision, placement, placement.saving)
    if placement.storage_s is None:
        return _without_baseline(decision, placement)
    share, storage_s = placement.storage_share, placement.storage_s.value
    if share is None or (share.low is None and storage_s < 0):
        return "" if share is None else "what storage costs can't be told: it was slower without delay, which is noise"
    if share.low is not None and share.low <= 0:
        most = decision.most_share(share.high, decision.busy_bound_s)
        return f"no significant storage share (at most {percent(most or 0.0)})"
    busy = f"; {was_busy(decision, names_of(decision))}" if bounds_by_busy(decision) else ""
    return f"of which storage: {whole_seconds_text(storage_s)}, {percent(share.value)} ({interval_text(share)}){busy}"


def _saving_words(decision: Decision, placement: PlacementResult, saving: Estimate) -> str:
    names = names_of(decision)
    change = change_text(saving.value)
    if _not_the_drives(decision, placement) is not None:
        return f"{change}, but not because of the drives"
    worth = decision.worth.of(placement.placement)
    threshold = f"threshold {percent(worth)}"
    most = decision.most_share(None, placement.most_s)
    if (reason := open_reason(decision, placement, names)) and placement.verdict is Verdict.NOT_KNOWN_YET:
        return f"{change}: {placement.verdict} ({threshold}): {reason}"
    if decision.is_too_small(placement.most_s, worth) and (saving.high is None or saving.high >= worth):
        # The interval does not say the same as the verdict, which rests on this alone.
        return f"{change}: {placement.verdict} ({threshold}): {limit_words(decision, placement, names)}"
    certainty = _certainty(decision, placement, saving)
    clearer = most is not None and saving.high is not None and most < CLEARLY_LESS * saving.high
    if clearer and placement.verdict is Verdict.NOT_KNOWN_YET:
        certainty = f"{certainty}; {limit_words(decision, placement, names)}"
    return f"{change}: {placement.verdict} ({threshold}; {certainty})"


def _certainty(decision: Decision, placement: PlacementResult, saving: Estimate) -> str:
    """The interval of a saving, where it says the same as the verdict, which is corrected for all of a report's."""
    low, high = saving.low, saving.high
    decided = placement.verdict is not Verdict.NOT_KNOWN_YET or low is None or high is None
    if not decided and not (low or 0.0) <= decision.worth.of(placement.placement) <= (high or 0.0):
        return f"not sure after correction for {decision.corrected} verdicts"
    by_own = _own(saving)
    alone = f", by this run alone {change_interval_text(by_own)}" if by_own else ""
    return f"95 % interval {change_interval_text(saving)}{alone}"


def _own(share: Estimate) -> Estimate | None:
    """With the interval by the run's own repetitions alone, where that is another."""
    return share.alone if share.alone and interval_text(share.alone) != interval_text(share) else None


def _fault_words(decision: Decision, placement: PlacementResult) -> str:
    """What a fault costs against the base, which is no fault where that ran, and whether that is significant."""
    more_s, more = placement.elapsed_s.value - decision.placements[0].elapsed_s.value, more_time(placement)
    cost = f"costs {seconds_text(more_s)} s, {percent(more.value)} more time" if more_s > 0 else "costs no time"
    cost += _than(decision)
    if more.low is None:
        return f"{cost}; how far that is chance is not known without repetitions"
    if placement.comparison is None or not placement.comparison.significant:
        alike = placement.comparison is None or placement.comparison.shown_interval is not None
        return f"{cost} (not significant{f'; 95 % interval {interval_text(more)}' if alike else ''})"
    return f"{cost} (significant; 95 % interval {interval_text(more)})"


def _fault_headline(decision: Decision, names: Mapping[str, str]) -> str:
    worst = max(decision.placements[1:], key=lambda placement: placement.elapsed_s.value)
    if _costs(worst):
        return f"the {names[worst.placement]} costs {percent(more_time(worst).value)} more time{_than(decision)}"
    if len(decision.placements) > 2:
        return f"no fault costs time that is significant{_than(decision)}"
    return f"the {names[worst.placement]} costs no time that is significant{_than(decision)}"


def _than(decision: Decision) -> str:
    """What faults are compared with, where that is a fault itself."""
    base = decision.placements[0]
    return "" if _is_no_fault(decision, base) else f" against {decision.factor} {base.placement}"


def _twin_words(decision: Decision, placement: PlacementResult) -> str:
    """How far the twin is from the drive, and whether that is within the goal."""
    goal, more, outcome = percent(decision.worth.of(placement.placement)), more_time(placement), outcome_of(decision)
    near = f"not known yet whether within {goal}" if outcome == _UNKNOWN else f"{outcome} of {goal}"
    interval = "" if more.low is None else f" (95 % interval {interval_text(more)})"
    return f"{_change_words(placement)}: {near}{interval}"


def _twin_headline(decision: Decision, _: Mapping[str, str]) -> str:
    took = f"the emulated drive takes {_change_words(decision.placements[1])} than the real one"
    goal = percent(decision.worth.of(decision.placements[1].placement))
    said = {WITHIN: f"which is within {goal}", BEYOND: f"which is not within {goal}"}
    return f"{took}, {said.get(outcome_of(decision), f'and whether that is within {goal} is not known yet')}"


def _change_words(placement: PlacementResult) -> str:
    """`4 % more time`, or less."""
    return change_text(placement.saving.value if placement.saving else 0.0)


def _without_baseline(decision: Decision, placement: PlacementResult) -> str:
    if placement.blocked is not None:
        return _blocked_line(decision, placement.blocked)
    if decision.busy_bound_s is None and placement.drives_busy_s is not None:
        return f"its drives were busy for {seconds_text(placement.drives_busy_s)} s, all of them added up"
    if decision.busy_bound_s is None and placement.not_computing is None:
        return "what storage costs was not measured"
    if decision.busy_bound_s is None:
        most = percent(placement.not_computing or 0)
        return (
            f"storage: at most about {most} of the tasks' time; for the rest they used a processor, by their counters"
        )
    return f"drives busy for {seconds_text(decision.busy_bound_s)} s"


def _blocked_line(decision: Decision, blocked: BlockedShare) -> str:
    """What the base's blocked time says of storage's cost; where a drive surely saves more, that it is too low."""
    if blocked.measured and max(blocked.share, blocked.high or 0.0) < HARDLY_BLOCKED_SHARE:
        return f"{BLOCKED} on storage for under {percent(HARDLY_BLOCKED_SHARE)} of the time, an estimate"
    words = f"{BLOCKED} on storage for {'about ' if blocked.measured else ''}{_blocked_words(blocked)}, an estimate"
    if decision.factor != PLACEMENT or blocked.high is None:
        return words
    for other in decision.placements[1:]:
        least = other.saving.low if other.saving and _not_the_drives(decision, other) is None else None
        if least is not None and least > blocked.high:
            saved = percent(other.saving.value) if other.saving else ""
            return f"{words}, too low: {other.placement} saves {saved}, which is more"
    return words


def _blocked_words(blocked: BlockedShare) -> str:
    """`12 s, 34 % (30 to 38 %)`: seconds and their share of the time, with its interval where that is known."""
    words = f"{'' if blocked.measured else 'at least '}{seconds_text(blocked.seconds)} s, {percent(blocked.share)}"
    interval = Estimate(value=blocked.share, low=blocked.low, high=blocked.high)
    return words if blocked.low is None else f"{words} ({interval_text(interval)})"


def blocked_lines(decision: Decision) -> Iterator[str]:
    """A sentence for each placement whose blocked time was measured, with the phases that it was in."""
    for placement in (*decision.placements, decision.baseline):
        if placement is not None and placement.blocked is not None:
            parts = [(name, value) for name, value in placement.blocked.phases.items() if value >= LEAST_BLOCKED_S]
            within = ", ".join(f"{seconds_text(value)} s in {_PHASES.get(name, name)}" for name, value in parts)
            yield f"{placement.placement}: {_blocked_words(placement.blocked)}{f'; {within}' if within else ''}."


BLOCKED = "tasks and servers blocked"
HARDLY_BLOCKED_SHARE = 0.01
BLOCKED_HEAD = "Tasks and servers blocked on storage while a processor was idle (an estimate that needs no baseline)"
LEAST_BLOCKED_S = 0.05
_PHASES = {OUTSIDE: "no task"}


def _baseline_words(decision: Decision, names: Mapping[str, str]) -> str:
    """How much of what storage costs each placement wins back; where it costs nothing, the most that one could save."""
    won = [
        (placement.placement, placement.won_back) for placement in decision.placements if placement.won_back is not None
    ]
    if not won:
        share = decision.placements[0].storage_share if decision.placements else None
        if share is None:
            return "no placement to compare it with"
        if decision.baseline_slower:
            return f"slower than {names[decision.placements[0].placement]}: noise, so this is no limit"
        if share.high is None:
            storage = decision.placements[0].storage_s
            if storage is None or storage.value <= 0:
                return "no cost of storage is visible"
            return f"a drive could save at most about {seconds_text(storage.value)} s, by trials without repetitions"
        base = names[decision.placements[0].placement]
        most = decision.most_share(share.high, decision.busy_bound_s)
        return f"no drive could save more than {percent(most or 0.0)} of the time on {base}"
    shares = []
    for level, share in won:
        words = "all" if share.value >= MOST_SURE else "nothing" if share.value <= 0 else percent(share.value)
        known = share.low is not None and share.high is not None
        # No drive wins back more than all, whatever the noise says.
        capped = share.model_copy(update={"high": min(1.0, share.high or 0.0)})
        interval = f" ({interval_text(capped)})" if known else ""
        shares.append(f"{names[level]} wins back {words} of what storage costs{interval}")
    return "; ".join(shares)


TIMES_APART = "not known: some trials' times contradict each other"
HARDLY_USED = "storage was hardly used in this run: it says nothing about larger data or longer jobs"


def _hardly_used(decision: Decision, names: Mapping[str, str]) -> str:
    """What follows of drives that did little: at the ratio of a site's nodes it holds for the whole input."""
    if decision.site_ratio is None:
        return HARDLY_USED
    base, busy_s = decision.placements[0], decision.busy_s
    if busy_s is None or busy_s >= HARDLY_BUSY_SHARE * base.elapsed_s.value:
        return _headline(decision, names)
    return f"{was_busy(decision, names)}, so no drive can save more than about {seconds_text(most_saved_s(busy_s))} s"


def _headline(decision: Decision, names: Mapping[str, str]) -> str:
    """The verdict in a sentence without its end."""
    if decision.has(TimesApart):
        return TIMES_APART
    base = names[decision.placements[0].placement]
    worth = [placement for placement in decision.placements if placement.verdict is Verdict.WORTH_IT]
    if worth:
        best = min(worth, key=lambda placement: placement.elapsed_s.value)
        less = f"{percent(best.saving.value)} less time" if best.saving else ""
        return f"{names[best.placement]} is worth it: {less} than {base}"
    excluded = [placement for placement in decision.placements[1:] if placement.verdict is Verdict.NOT_WORTH_IT]
    undecided = [placement for placement in decision.placements[1:] if placement not in excluded]
    best = min(undecided or excluded, key=lambda placement: placement.elapsed_s.value)
    if decision.verdict is Verdict.NOT_WORTH_IT:
        if decision.is_too_small(decision.busy_bound_s, decision.worth.least):
            return _alone(decision, names)
        return _not_worth_words(decision, decision.placements[1:], names)
    apart = _not_the_drives(decision, best)
    if apart is not None:
        return f"this difference cannot come from the drives (busy for {seconds_text(apart.busy_s)} s); repeat"
    least = percent(decision.worth.of(best.placement))
    unknown = f"not known yet whether {names[best.placement]} saves {least} of the time on {base}"
    if best.placement in decision.of_late_writes:
        unknown = f"not known yet whether {names[best.placement]} is worth it: {open_reason(decision, best, names)}"
    return f"{_not_worth_words(decision, excluded, names)}; {unknown}" if excluded else unknown


def _not_worth_words(decision: Decision, excluded: Sequence[PlacementResult], names: Mapping[str, str]) -> str:
    """`the SSD is not worth it: at most 4 % less time than the hard disk`; of several the most that one saves."""
    base, several = names[decision.placements[0].placement], len(excluded) > 1
    subject = f"{first_few([names[result.placement] for result in excluded])} {'are' if several else 'is'} not worth it"
    if several and len(excluded) == len(decision.placements) - 1:
        subject = "no other choice is worth it"
    known = [
        (result.saving, decision.most_share(result.saving.high, result.most_s) or 0.0)
        for result in excluded
        if result.saving
    ]
    most, saved = max(share for _, share in known), max(saving.value for saving, _ in known)
    if most <= 0 and saved < 0:
        return f"{subject}: {percent(-saved)} more time than {base}"
    return f"{subject}: at most {percent(most)} less time than {base}"


def _changes_headline(decision: Decision, _: Mapping[str, str]) -> str:
    """The changes by their verdicts, those that save most first."""
    changes = sorted(decision.placements[1:], key=lambda placement: placement.elapsed_s.value)
    pieces = []
    for verdict in Verdict:
        of_verdict = [change for change in changes if change.verdict is verdict]
        if of_verdict:
            shown = (
                f"{placement.placement} ({percent(placement.saving.value)} less time)"
                if verdict is Verdict.WORTH_IT and placement.saving
                else placement.placement
                for placement in of_verdict
            )
            pieces.append(f"{verdict}: {', '.join(shown)}")
    return "; ".join(pieces)


def _not_the_drives(decision: Decision, placement: PlacementResult) -> NotTheDrives | None:
    """The caveat that says so of this placement."""
    caveats = (caveat for caveat in decision.caveats if isinstance(caveat, NotTheDrives))
    return next((caveat for caveat in caveats if placement.placement in caveat.of), None)


def _alone(decision: Decision, names: Mapping[str, str]) -> str:
    """Of one placement only a bound can be told."""
    if not decision.placements:
        return "only the zero-delay baseline ran"
    base = decision.placements[0]
    if decision.question is not Question.WORTH:
        return f"only {names[base.placement]} ran: there is nothing to compare it with"
    if decision.verdict is Verdict.NOT_WORTH_IT:
        return f"no faster drive is worth it: storage is less than {percent(decision.worth.least)} of the time"
    if reason := open_reason(decision, base, names):
        return f"not known yet what a faster drive saves: {reason}"
    high = base.storage_share.high if base.storage_share else None
    most = decision.most_share(high, decision.busy_bound_s)
    if most is not None:
        on = f" on {names[base.placement]}" if high is None else ""
        return f"a faster drive could save at most {percent(most)} of the time{on}"
    return f"only {names[base.placement]} ran: there is nothing to compare it with"


def _caveats(decision: Decision, names: Mapping[str, str]) -> Iterator[str]:
    """What could change the answer, and what would decide it."""
    yield from left_out_notes(decision)
    yield from other_cause_notes(decision)
    yield from late_notes(decision)
    yield from _beyond_the_limit_notes(decision, names)
    if decision.stands_for is not None and (several := of_several(decision.stands_for)):
        yield " ".join(several)
    if decision.site_ratio is None:
        yield from islice(unmet_notes(decision, names), 1)
    yield from repetition_notes(decision, names)
    yield from model_notes(decision)
    yield from slowed_notes(decision)


def _beyond_the_limit_notes(decision: Decision, names: Mapping[str, str]) -> Iterator[str]:
    """Which drives were clearly faster than zero storage delay, the limit of what a drive can do."""
    if decision.baseline is None or not decision.placements or decision.baseline_slower:
        return
    margin_s = LEAST_DIFFERENCE * decision.placements[0].elapsed_s.value
    for placement in decision.placements[1:]:
        if decision.baseline.elapsed_s.value - placement.elapsed_s.value > margin_s:
            yield (
                f"With zero storage delay the job took {time_text(decision.baseline)}, longer than on "
                f"{names[placement.placement]} ({time_text(placement)}). No drive can be faster than without delay, so "
                "this is noise: what storage costs is uncertain. Repeat the experiment."
            )


def _details(decision: Decision, names: Mapping[str, str]) -> Iterator[str]:
    """What the answer rests on, and what it holds for."""
    if decision.site_ratio is None:
        yield from islice(unmet_notes(decision, names), 1, None)
    yield from busy_notes(decision, names)
    yield from written_notes(decision, names)
    yield from _noise_notes(decision, names)
    yield scope_of(decision)
    if decision.site_ratio is not None:
        times = times_text(decision.site_ratio)
        yield (
            f"As on your nodes, the input is {times} times as large as the memory that is left for files, so that the "
            "same share of its bytes meets the drives."
        )
    yield from drive_notes(decision)


def _noise_notes(decision: Decision, names: Mapping[str, str]) -> Iterator[str]:
    """How much of the intervals is borrowed, and what they are by the run's own repetitions where that differs."""
    with_noise = [placement for placement in (*decision.placements[1:], *decision.placements[:1]) if placement.noise]
    shown = [(placement, share) for placement in with_noise if (share := placement.saving or placement.storage_share)]
    noises = [placement.noise for placement, share in shown if placement.noise and share.low is not None]
    if not noises:
        return
    alone = []
    for placement, by_own in ((placement, by_own) for placement, share in shown if (by_own := _own(share))):
        if placement.saving is None:
            alone.append(f"storage takes {interval_text(by_own)} of the time on {names[placement.placement]}")
        elif decision.question is Question.WORTH and (by_own.high or 0.0) > 0:
            alone.append(f"{names[placement.placement]} saves {interval_text(by_own)}")
        else:
            alone.append(f"{names[placement.placement]} takes {interval_text(by_own.times(-1))} more")
    by_alone = f" By this run's own repetitions alone, {'; '.join(alone)}." if alone else ""
    yield f"{borrowed_words(noises)}{by_alone}"
