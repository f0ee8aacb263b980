"""The answer to a run's question as data: what storage costs, what each placement saves, whether it is worth it."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from math import exp, log
from statistics import fmean, median

import numpy as np
from pydantic import Field

from assay.model.base import Frozen
from assay.model.fact import whole_number
from assay.model.installed import kind_of
from assay.model.trial import ZERO_DELAY, Plan, SiteShape
from assay.model.trial_summary import TrialSummary
from assay.stats.blocked import BlockedShare, blocked_shares, mean_not_computing
from assay.stats.caveats import (
    Caveat,
    DriveTime,
    NotRepeated,
    NotTheDrives,
    TimesApart,
    WrittenLate,
    caveats_of,
    is_beyond,
    most_saved_share,
    not_the_drives,
    too_small,
    verdicts_on_late_writes,
)
from assay.stats.changes import CHANGE, change_order, changes_of, compares_twin, others_and_level, question_of
from assay.stats.comparison import Comparison, compare, holm
from assay.stats.estimate import Estimate, Split, saved_share, split_of
from assay.stats.fault_cost import FAULT
from assay.stats.fit import Contrast, Fit, fits, noise_by_combination
from assay.stats.noise import ALPHA, Noise, repetitions_to_decide
from assay.stats.run_doubts import BUSY, READ, Condition, conditions
from assay.stats.sample import (
    BASES,
    MACHINE,
    PLACEMENT,
    Levels,
    Trials,
    by_levels,
    combinations,
    in_plan_order,
    is_valid,
    samples,
)
from assay.stats.threshold import Threshold, threshold_of

DRAWS, SEED = 20_000, 20_140_814
"""Joint draws for the interval of a share of a difference; the same trials always give the same figures."""
HARDLY_BUSY_SHARE, HARDLY_READ_SHARE = 0.05, 0.3
"""Drives that were busy for less of the base's time, or served less of what its jobs read, say nothing about data that
do not fit into memory."""


class Verdict(StrEnum):
    """A placement against the base, by the reader's threshold."""

    WORTH_IT = "worth it"
    NOT_WORTH_IT = "not worth it"
    NOT_KNOWN_YET = "not known yet"


class Question(StrEnum):
    """What a decision is about."""

    WORTH = "which placement, or level, is worth it"
    COST = "what each fault costs"
    LIKENESS = "how far an emulated drive is from the drive that it was made from"


class PlacementResult(Frozen):
    """One placement of a decision.

    `kind` is what its media are: `hard disk`, `SSD`, `disk`, `memory` or `existing`, empty where it has several kinds;
    `drives` are their models. `elapsed_s` is the jobs' time in seconds. Against the base (`None` for
    the base itself): `saving`, the share of the base's time that it saves, and `verdict`. Against zero storage delay
    (None without a baseline): `storage_s`, `storage_share`. `won_back` is the share of what storage costs on the base
    that this placement saves; None where storage costs the base nothing that is significant. `blocked` is the share of
    the time in which tasks and servers were blocked on storage, an estimate that needs no baseline; None where nobody
    measured it. `not_computing` is the share of the tasks' own time without processor time, by their counters.
    `drives_busy_s` is for how long its drives were busy, those of all nodes added up; None where nobody measured all of
    them. `written_share` is what was on its drives, of all that the jobs wrote, when they ended: the median (None where
    drives count nothing). `most_s` is how much of the base's busy time it can save, in seconds (None where that is no
    evidence): not what stays busy here, unless the times say that it saves more. `noise` is that of the ratio to the
    base, of the base's own storage share for the base (None without a baseline).
    """

    placement: str
    kind: str
    drives: str
    trials: int
    elapsed_s: Estimate
    saving: Estimate | None
    verdict: Verdict | None
    comparison: Comparison | None
    storage_s: Estimate | None
    storage_share: Estimate | None
    won_back: Estimate | None
    split: Split | None
    blocked: BlockedShare | None = None
    not_computing: float | None = None
    drives_busy_s: float | None = None
    written_share: float | None = None
    most_s: float | None = None
    noise: Noise | None = None
    median_s: float | None = Field(default=None, exclude=True)
    """The median of the trials' times, which tables of combinations have."""


class More(Frozen):
    """How many more repetitions of all of the decision's trials would decide it, and how many seconds they take."""

    repetitions: int
    seconds: float


class Decision(Frozen):
    """One workload on one input, everything but one factor equal (`levels`: all other factors).

    The `factor` is the placement, or where that does not vary another factor of the experiment, whose levels stand for
    placements then; of an experiment that changes one factor at a time it is `change`. `placements` begin with the
    base; the `baseline` (zero storage delay) is not among them. `best` is the placement with the least time.
    `busy_bound_s` is how long the base's drives were busy: no drive can save much more (None where nobody measured,
    or where that is no evidence). `corrected` is how many verdicts were corrected together. The jobs ran on so many
    `nodes` (None: not known). `caveats` are what limits all that, in the order in which they are told.
    """

    levels: Mapping[str, str]
    factor: str = PLACEMENT
    worth: Threshold
    placements: tuple[PlacementResult, ...]
    baseline: PlacementResult | None
    best: str
    verdict: Verdict
    busy_bound_s: float | None
    conditions: tuple[Condition, ...]
    more: More | None
    corrected: int = 1
    nodes: int | None = None
    caveats: tuple[Caveat, ...] = ()
    stands_for: SiteShape | None = Field(default=None, exclude=True)
    """What the input and the drives stand for on a node of a site, if that is known."""
    reached_drives: bool = Field(default=False, exclude=True)
    """The page cache held little of what the base's jobs moved."""
    of_twin: bool = Field(default=False, exclude=True)
    """It compares a real drive with the one that is emulated from it."""

    @property
    def question(self) -> Question:
        """What it is about. Verdicts are on worth alone."""
        if self.factor == FAULT:
            return Question.COST
        return Question.LIKENESS if self.of_twin else Question.WORTH

    @property
    def repeated(self) -> bool:
        """Whether anything ran twice, so that there are intervals."""
        return not self.has(NotRepeated)

    def has(self, kind: type[Frozen]) -> bool:
        """Whether there is a caveat of a kind."""
        return any(isinstance(caveat, kind) for caveat in self.caveats)

    @property
    def is_open(self) -> bool:
        """Whether something that it asks has no verdict yet: of each change, of placements whether any is worth it."""
        changes = self.placements[1:] if self.factor == CHANGE else ()
        return Verdict.NOT_KNOWN_YET in {self.verdict, *(change.verdict for change in changes)}

    @property
    def of_other_cause(self) -> tuple[str, ...]:
        """The levels that are not known yet since no drive can have made their difference: repetitions decide none."""
        levels = [level for caveat in self.caveats if isinstance(caveat, NotTheDrives) for level in caveat.of]
        undecided = _undecided(self.placements, ())
        return tuple(level for level in levels if level in undecided)

    @property
    def of_late_writes(self) -> tuple[str, ...]:
        """The levels that are not known yet since jobs ended before their writes: repetitions decide none."""
        return tuple(level for caveat in self.caveats if isinstance(caveat, WrittenLate) for level in caveat.of)

    @property
    def baseline_slower(self) -> bool:
        """Whether zero storage delay took longer than the base: noise exceeds what storage costs; that is no limit."""
        if self.baseline is None or not self.placements:
            return False
        return self.baseline.elapsed_s.value > self.placements[0].elapsed_s.value

    @property
    def open_levels(self) -> list[str]:
        """The levels that have no verdict yet, and may get one by more repetitions."""
        return _undecided(self.placements, (*self.of_other_cause, *self.of_late_writes))

    @property
    def storage_hardly_used(self) -> bool:
        """Whether the base's drives served little of what the jobs read, or were hardly busy with what reached them.

        That nothing is worth it then holds for this job within this memory, and for larger data where the trials have
        the ratio of data to memory of a site. Drives that most of it reached, and that were hardly busy, are used: they
        are fast enough.
        """
        asks = self.question is Question.WORTH and self.factor == PLACEMENT and self.verdict is not Verdict.WORTH_IT
        alone_and_open = len(self.placements) == 1 and self.verdict is Verdict.NOT_KNOWN_YET
        if not asks or not self.placements or alone_and_open:
            return False
        read, busy = self._share(READ), self._share(BUSY)
        if self.busy_bound_s is not None:
            busy = min(1.0 if busy is None else busy, self.busy_bound_s / self.placements[0].elapsed_s.value)
        idle = busy is not None and busy < HARDLY_BUSY_SHARE and not self.reached_drives
        return idle or (read is not None and read < HARDLY_READ_SHARE)

    @property
    def site_ratio(self) -> float | None:
        """How many times what a site's node has left for files it reads of the input, if the trials have that ratio."""
        return None if self.stands_for is None else self.stands_for.ratio

    @property
    def busy_s(self) -> float | None:
        """How long the base's drives were busy, if that is known: no other drives can save much more."""
        if self.busy_bound_s is not None or not self.placements:
            return self.busy_bound_s
        share = self._share(BUSY)
        return None if share is None else share * self.placements[0].elapsed_s.value

    def _share(self, kind: str) -> float | None:
        """The share of the base's condition of a kind; None where nobody knows it."""
        asked = (kind, self.placements[0].placement)
        return next((known.share for known in self.conditions if (known.kind, known.subject) == asked), None)

    def is_too_small(self, busy_s: float | None, worth: float) -> bool:
        """Whether so many seconds of busy drives are too few for a saving of such a share, which is worth it."""
        return bool(self.placements) and too_small(busy_s, self.placements[0].elapsed_s.value, worth)

    def is_beyond_drives(self, placement: PlacementResult) -> bool:
        """Whether a placement, or zero delay against the base, saved more than it can by how long drives were busy."""
        saved, busy_s = placement.saving, placement.most_s
        if placement == self.placements[0]:
            saved, busy_s = placement.storage_share, self.busy_bound_s
        return is_beyond(saved, busy_s, self.placements[0].elapsed_s.value)

    def most_share(self, share: float | None, busy_s: float | None) -> float | None:
        """The smaller of two bounds, as shares of the base's time: one by the trials' times, one by the busy time."""
        by_busy = most_saved_share(busy_s, self.placements[0].elapsed_s.value)
        known = (None if share is None else max(0.0, share), by_busy)
        return min((most for most in known if most is not None), default=None)


def decisions(
    plan: Plan,
    summaries: Sequence[TrialSummary],
    compared: Sequence[Comparison] = (),
    alpha: float = ALPHA,
    worth: Threshold | None = None,
) -> list[Decision]:
    """One for each combination of all factors but the question's, and kind of machine, in the order of their levels.

    `compared` are all comparisons that were made of the same trials. Verdicts are corrected for all of the report's
    together (Holm): each asks whether a placement saves more, or less, than its threshold (by default the plan's), with
    a p-value of at most `alpha`.
    """
    by_id = {summary.trial.id: summary for summary in summaries}
    factor, counted = question_of(plan, samples(summaries))
    if factor == CHANGE:  # against all as it is, where `compared` are the levels of each factor
        compared = compare(counted, [CHANGE], plan.prior, {CHANGE: change_order(plan)})
    fit_by_levels = fits(counted, factor, plan.prior)
    known = {
        (comparison.others, comparison.base, comparison.level): comparison
        for comparison in compared
        if comparison.factor == factor
    }
    noises = noise_by_combination(combinations(counted), factor, plan.prior)
    least = worth or threshold_of(plan)
    drafts = [
        _DecisionInputs(plan, factor, others, fit_by_levels[others], by_id, known, noises, least)
        for others in by_levels(fit_by_levels)
    ]
    verdicts = _verdicts(drafts, alpha)
    together = sum(len(draft.others_than_base) for draft in drafts)
    ran: dict[Levels, dict[str, bool]] = {}
    for levels, trials in Trials.of(summaries).by_levels.items():
        planned = [summary for summary in trials if summary.trial.is_repetition]
        if planned:
            factors = tuple(item for item in levels if item[0] != MACHINE)
            others, level = others_and_level(factors, factor, plan.base)
            valid_by_level = ran.setdefault(others, {})
            valid_by_level[level] = valid_by_level.get(level, False) or any(map(is_valid, planned))
    return [draft.decision(verdicts, ran, together) for draft in drafts]


def _verdicts(drafts: Sequence["_DecisionInputs"], alpha: float) -> Mapping[tuple[Levels, str], Verdict]:
    """Of each placement but the base, by the side of its threshold on which its whole interval lies."""
    asked = [(draft, level) for draft in drafts for level in draft.others_than_base]
    contrasts = [draft.fit.contrast(level, draft.base) for draft, level in asked]
    thresholds = [log(1 - draft.worth.of(level)) for draft, level in asked]
    corrected = holm([contrast.p(threshold) for contrast, threshold in zip(contrasts, thresholds, strict=True)])
    verdicts = {}
    for (draft, level), contrast, threshold, p in zip(asked, contrasts, thresholds, corrected, strict=True):
        verdict = Verdict.NOT_KNOWN_YET
        if p <= alpha and draft.fit.noise_of(level, draft.base).own_freedom:
            verdict = Verdict.WORTH_IT if contrast.log < threshold else Verdict.NOT_WORTH_IT
        comparison = draft.known.get((draft.levels, draft.base, level))
        if verdict is Verdict.WORTH_IT and comparison is not None and not comparison.significant:
            verdict = Verdict.NOT_KNOWN_YET
        verdicts[draft.levels, level] = verdict
    return verdicts


def _undecided(placements: Sequence[PlacementResult], beyond: Collection[str]) -> list[str]:
    """The placements beside the base that have no verdict yet, and may get one by more repetitions."""
    return [
        result.placement
        for result in placements[1:]
        if result.verdict is Verdict.NOT_KNOWN_YET and result.placement not in beyond
    ]


class _DecisionInputs:
    """What is known of one combination's placements before the verdicts, which take all combinations."""

    def __init__(
        self,
        plan: Plan,
        factor: str,
        levels: Levels,
        fit: Fit,
        by_id: Mapping[str, TrialSummary],
        known: Mapping[tuple[Levels, str, str], Comparison],
        noises: Mapping[Levels, Noise],
        worth: Threshold,
    ) -> None:
        self.factor, self.levels, self.fit, self.known = factor, levels, fit, known
        self.worth, self._noises = worth, noises
        self._stands_for = plan.stands_for
        self._of_twin = factor == PLACEMENT and compares_twin(plan)
        self._trials = {level: [by_id[sample.trial] for sample in own] for level, own in fit.trials.items()}
        self._blocked = blocked_shares(self._trials)
        order = change_order(plan) if factor == CHANGE else BASES.get(factor, plan.placements)
        self._changed_from = plan.base if factor == CHANGE else {}
        self.placements = [name for name in in_plan_order(fit.levels, order) if name != ZERO_DELAY]
        self._baseline = ZERO_DELAY if ZERO_DELAY in fit.levels else None
        self.base = self.placements[0] if self.placements else ZERO_DELAY
        self.others_than_base = self.placements[1:]

    def decision(
        self, verdicts: Mapping[tuple[Levels, str], Verdict], ran: Mapping[Levels, Mapping[str, bool]], together: int
    ) -> Decision:
        """Build the decision once all verdicts are known, of which so many were corrected `together`.

        `ran` has, by the other factors, each level of any trial, and whether any of its trials counts.
        """
        others = tuple(item for item in self.levels if item[0] != MACHINE)
        placements = tuple(self._result(level, verdicts.get((self.levels, level))) for level in self.placements)
        bound = self._busy_bound(placements)
        placements = (*placements[:1], *(self._bounded(placement, placements, bound) for placement in placements[1:]))
        apart = self._not_the_drives(placements)
        odd = tuple(summary.trial.id for own in self._trials.values() for summary in own if summary.clocks_apart)
        worth_it, unknown = Verdict.WORTH_IT, {"verdict": Verdict.NOT_KNOWN_YET}
        compared = placements[1:]
        unsure = [
            other for other in compared if odd or (apart and other.placement in apart.of and other.verdict is worth_it)
        ]
        sure = [
            other for other in compared if other.verdict in {worth_it, Verdict.NOT_WORTH_IT} and other not in unsure
        ]
        rests_on = {other.placement: other.placement if other.verdict is worth_it else self.base for other in sure}
        if len(placements) == 1 and not odd and self._overall(placements, bound) is Verdict.NOT_WORTH_IT:
            rests_on = {self.base: self.base}
        late = verdicts_on_late_writes(self._trials, rests_on)
        of_late = late.of if late else ()
        unsure += [other for other in compared if other.placement in of_late]
        placements = tuple(result.model_copy(update=unknown) if result in unsure else result for result in placements)
        verdict = Verdict.NOT_KNOWN_YET if odd or self.base in of_late else self._overall(placements, bound)
        asks_on = verdict is Verdict.NOT_KNOWN_YET or self.factor == CHANGE  # each change is a question of its own
        beyond = (*(apart.of if apart else ()), *of_late)
        best = min(placements, key=lambda placement: placement.elapsed_s.value, default=None)
        of_drives = self.factor in {PLACEMENT, CHANGE} and bool(placements)
        placed = [level for level in self._trials if level != ZERO_DELAY and self._differs_in_placement(level)]
        real = {level: self._trials[level] for level in placed}
        return Decision(
            levels=dict(self.levels),
            factor=self.factor,
            worth=self.worth,
            placements=placements,
            baseline=self._result(ZERO_DELAY, None) if self._baseline else None,
            best=best.placement if best else ZERO_DELAY,
            verdict=verdict,
            busy_bound_s=bound,
            conditions=conditions(real, self.base) if of_drives else (),
            more=self._more(placements, together, beyond) if asks_on and not odd else None,
            corrected=together,
            nodes=whole_number(self._trials[self.base][0].facts.get("nodes")) or None,  # none where Assay started none
            caveats=(
                *([TimesApart(trials=odd)] if odd else []),
                *(caveat for caveat in (apart, late) if caveat is not None),
                *caveats_of(
                    self._trials,
                    ran[others],
                    network=dict(self.levels).get("network", ""),
                    repeated=bool(self.fit.noise.own_freedom),
                ),
            ),
            stands_for=self._stands_for,
            reached_drives=all(summary.reached_drives for summary in self._trials[self.base]),
            of_twin=self._of_twin,
        )

    def _busy_bound(self, placements: Sequence[PlacementResult]) -> float | None:
        """For how long the base's drives were busy at most; None where that bounds nothing, or is known to be wrong."""
        base = self._trials[self.base]
        busy = [seconds for summary in base if (seconds := summary.busy_s) is not None]
        in_memory = all(kind_of(medium).in_memory for medium in base[0].trial.media)
        if not placements or not busy or self.factor != PLACEMENT or in_memory:
            return None
        bound = min(max(busy), max(trial.elapsed_s for trial in self.fit.trials[self.base]))
        shares = [placements[0].storage_share, *(placement.saving for placement in placements[1:])]
        saved = [share.low * placements[0].elapsed_s.value for share in shares if share and share.low is not None]
        if (blocked := placements[0].blocked) is not None:
            # A device may hold requests back before it counts them, as the kernel's own limits do.
            least = blocked.share if blocked.low is None else blocked.low
            saved.append(least * placements[0].elapsed_s.value)
        return None if max(saved, default=0.0) > bound else bound

    def _bounded(
        self, placement: PlacementResult, placements: Sequence[PlacementResult], bound: float | None
    ) -> PlacementResult:
        """A placement with the most that it can save: not what the base's drives still do here, as they count it.

        Only emulated drives count apart: two media of this machine may be one device. They may be busy here at times at
        which they were not on the base, so what they still do bounds nothing where the times say that more was saved.
        """
        base, own = self._trials[self.base], self._trials[placement.placement]
        most_s, base_s = bound, placements[0].elapsed_s.value
        media = [medium for summary in (base[0], own[0]) for medium in summary.trial.media]
        stays = {medium.name for medium in base[0].trial.media} & {medium.name for medium in own[0].trial.media}
        if bound is not None and stays and all(kind_of(medium).emulated for medium in media):
            known = [busy for summary in own if (busy := summary.busy_by_medium) is not None]
            still_s = min((sum(busy[name] for name in stays) for busy in known), default=0.0)
            moved_s = max(0.0, bound - still_s)
            saved = placement.saving.value if placement.saving else 0.0
            most_s = moved_s if saved * base_s <= moved_s else bound
        verdict = placement.verdict
        if too_small(most_s, base_s, self.worth.of(placement.placement)):
            if not is_beyond(placement.saving, most_s, base_s):
                verdict = Verdict.NOT_WORTH_IT
            elif verdict is Verdict.WORTH_IT:
                verdict = Verdict.NOT_KNOWN_YET
        return placement.model_copy(update={"most_s": most_s, "verdict": verdict})

    def _not_the_drives(self, placements: Sequence[PlacementResult]) -> NotTheDrives | None:
        """The placements whose times differ from the base's by more than emulated drives were busy, if there are any.

        Only emulated drives count all of their time: a kernel may hold requests back before it counts them.
        """
        media = [medium for own in self._trials.values() for medium in own[0].trial.media]
        if self.factor != PLACEMENT or not all(kind_of(medium).emulated for medium in media):
            return None
        blocked = [
            placement.blocked.share * placement.elapsed_s.value if placement.blocked else 0.0
            for placement in placements
        ]
        times = zip(placements, blocked, strict=True)
        return not_the_drives(
            [DriveTime(result.placement, result.elapsed_s.value, result.drives_busy_s, s) for result, s in times]
        )

    def _overall(self, placements: Sequence[PlacementResult], bound: float | None) -> Verdict:
        """Worth it where any placement is; not worth it where none is, or where one ran alone and no drive could be."""
        own = [placement.verdict for placement in placements[1:]]
        if Verdict.WORTH_IT in own:
            return Verdict.WORTH_IT
        if own:
            none = all(verdict is Verdict.NOT_WORTH_IT for verdict in own)
            return Verdict.NOT_WORTH_IT if none else Verdict.NOT_KNOWN_YET
        if not placements:
            return Verdict.NOT_KNOWN_YET
        share, base_s = placements[0].storage_share, placements[0].elapsed_s.value
        little = share is not None and share.high is not None and share.high < self.worth.least
        idle = too_small(bound, base_s, self.worth.least) and not is_beyond(share, bound, base_s)
        return Verdict.NOT_WORTH_IT if little or idle else Verdict.NOT_KNOWN_YET

    def _result(self, level: str, verdict: Verdict | None) -> PlacementResult:
        own = self._trials[level]
        elapsed = self._elapsed(level)
        beside_baseline = self._baseline and level != ZERO_DELAY and self._differs_in_placement(level)
        share = self._saving(ZERO_DELAY, level) if beside_baseline else None
        storage = share.times(elapsed.value) if share is not None else None
        media = own[0].trial.media
        kinds = {"" if medium.on else kind_of(medium).drive(medium, own[0].facts_of(medium.name)) for medium in media}
        models: dict[str, None] = {}  # each once
        for medium in media:
            named = [str(own[0].facts_of(medium.name).get(fact, "")) for fact in ("model", "drive")]
            models |= dict.fromkeys([name for name in named if name not in {"", "unknown"}][:1])
        against_base = level not in {self.base, ZERO_DELAY}
        written = [trial.written_share for trial in own if trial.written_share is not None]
        return PlacementResult(
            placement=level,
            kind=kinds.pop() if len(kinds) == 1 else "",
            drives=", ".join(models),
            trials=len(own),
            elapsed_s=elapsed,
            saving=self._saving(level, self.base) if against_base else None,
            verdict=verdict,
            comparison=self.known.get((self.levels, self.base, level)),
            storage_s=storage,
            storage_share=share,
            won_back=self._won_back(level) if against_base and beside_baseline else None,
            split=split_of(own, storage),
            blocked=self._blocked.get(level),
            not_computing=mean_not_computing(own),
            noise=self._noise(level),
            median_s=median(trial.elapsed_s for trial in self.fit.trials[level]),
            written_share=median(written) if written else None,
            drives_busy_s=max((seconds for summary in own if (seconds := summary.busy_s)), default=None),
        )

    def _differs_in_placement(self, level: str) -> bool:
        """Whether a level differs from the zero-delay baseline in nothing but the placement."""
        return changes_of(self._trials[level][0].trial.factors, self._changed_from).keys() <= {PLACEMENT}

    def _elapsed(self, level: str) -> Estimate:
        """The geometric mean, which belongs to ratios as the arithmetic mean does to differences.

        Unlike a ratio it has all the drift between repetitions in it, and so has its interval.
        """
        own = [log(trial.elapsed_s) for trial in self.fit.trials[level]]
        noise = self._noises[self.fit.trials[level][0].factors]
        if not noise.own_freedom:
            return Estimate(value=exp(fmean(own)))
        mean = Contrast(fmean(own), noise.deviation / len(own) ** 0.5, noise.freedom)
        interval = mean.interval()
        return Estimate(value=exp(mean.log), low=interval.low, high=interval.high)

    def _saving(self, level: str, base: str) -> Estimate:
        """The share of the base's time that a level saves."""
        contrast = self.fit.contrast(level, base)
        if not self.fit.noise.own_freedom:
            return Estimate(value=1 - contrast.ratio)
        return saved_share(contrast, self.fit.own_contrast(level, base))

    def _noise(self, level: str) -> Noise | None:
        against = self.base if level != self.base else self._baseline
        return self.fit.noise_of(level, against) if against not in (None, level) else None

    def _won_back(self, level: str) -> Estimate | None:
        """The share of what storage costs the base; None where that cost is not significant."""
        cost = self.fit.contrast(ZERO_DELAY, self.base)
        if cost.interval().high >= 1 or not self.fit.noise.own_freedom:
            return None
        # With few degrees of freedom some draws are beyond all numbers: as far as these go is far enough.
        base, own = np.exp(np.clip(self.fit.draws((self.base, level), ZERO_DELAY, DRAWS, SEED), -300, 300)).T
        costs = base > 1
        low, high = np.quantile((base - own)[costs] / (base - 1)[costs], [0.025, 0.975])
        value = self._saving(level, self.base).value / (1 - cost.ratio)
        return Estimate(value=value, low=float(low), high=float(high))

    def _more(self, placements: Sequence[PlacementResult], together: int, beyond: Collection[str]) -> More | None:
        """What would decide all that is open among so many verdicts, if the ratios stay as they are.

        What is `beyond` stays open however often it is seen.
        """
        have = len({sample.repetition for own in self.fit.trials.values() for sample in own})
        undecided = _undecided(placements, beyond)
        contrasts = {level: self.fit.contrast(level, self.base) for level in undecided}
        needed = [
            repetitions_to_decide(
                of_level.log, of_level.error, self.fit.noise_of(level, self.base), have, self.worth.of(level),
                ALPHA / together,
            )
            for level, of_level in contrasts.items()
        ]  # fmt: skip
        if not needed or None in needed:
            return None
        more = max(1, max(filter(None, needed)) - have)
        spent = sum(summary.took_s for own in self._trials.values() for summary in own)
        return More(repetitions=more, seconds=more * spent / have)
