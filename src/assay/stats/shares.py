"""Several jobs with several levels of other factors, side by side: which decision is whose, and what has none.

Nothing is computed here: what storage costs and what a placement saves are the decisions' own. See
docs/explanation/statistics.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from assay.model.trial import Plan, Trial
from assay.model.trial_summary import TrialSummary
from assay.stats.decision import Decision, PlacementResult, Question
from assay.stats.sample import (
    MACHINE,
    PLACEMENT,
    WORK,
    Levels,
    by_levels,
    in_plan_order,
    is_struck_out,
    is_valid,
    is_wrong,
)
from assay.stats.threshold import Threshold, threshold_of

MOST_LEVELS, MOST_OTHERS, MOST_LINES = 8, 3, 60
"""More levels, placements beside the base, or lines are not read at a glance."""


class Missing(StrEnum):
    """Why a planned placement has no time that counts."""

    FAILED = "failed"
    WRONG = "output wrong"
    EXCLUDED = "excluded"
    NOT_RUN = "not run"


class SharesLine(NamedTuple):
    """One job with one level. `missing` says of each planned placement without a time that counts why it has none.

    `decision` is None where the base is one of these: nothing can be told then.
    """

    decision: Decision | None
    missing: Mapping[str, Missing]

    def result(self, placement: str) -> PlacementResult | None:
        """What the decision says of a placement; None where that has no time."""
        results = self.decision.placements if self.decision else ()
        return next((result for result in results if result.placement == placement), None)


class SharesTable(NamedTuple):
    """Jobs (`rows`, by workload, data set and options) by the levels of the other `factors` that vary (`levels`).

    All decisions compare `others` with the placement `base` by one threshold `worth`. A job lacks a level that was
    not planned for it. Of a run `with_baseline` storage shares are known. `variants` has the jobs whose variant goes
    with the level: the one of each level.
    """

    base: str
    others: tuple[str, ...]
    worth: Threshold
    with_baseline: bool
    factors: tuple[str, ...]
    levels: tuple[Levels, ...]
    rows: Mapping[Levels, Mapping[Levels, SharesLine]]
    variants: Mapping[Levels, Mapping[Levels, str]]

    def lines_with(self, level: Levels) -> list[SharesLine]:
        """Of each job that has the level, in the rows' order."""
        return [lines[level] for lines in self.rows.values() if level in lines]


def shares_table(plan: Plan, summaries: Sequence[TrialSummary], decisions: Sequence[Decision]) -> SharesTable | None:
    """Of a run's decisions; None where they are no such table, or one that nobody reads at a glance.

    It takes at least two jobs, and at least two levels of another factor that a job ran with, all about placements.
    """
    about_placements = all(
        decision.factor == PLACEMENT and decision.question is Question.WORTH for decision in decisions
    )
    if not about_placements or len(decisions) > MOST_LINES:
        return None
    bases = Counter(decision.placements[0].placement for decision in decisions if decision.placements)
    if not bases:
        return None
    base = max(bases, key=bases.__getitem__)
    planned, by_id = _planned(plan), {summary.trial.id: summary for summary in summaries}
    factors = _factors([dict(others) for others in planned], decisions)
    rows: dict[Levels, dict[Levels, SharesLine]] = {}
    for decision in decisions:
        others = tuple(item for item in decision.levels.items() if item[0] != MACHINE)
        known = [result.placement for result in (*decision.placements, decision.baseline) if result]
        trials = [trial for trial in planned.get(others, ()) if trial.placement.name not in known]
        has_base = bool(decision.placements) and decision.placements[0].placement == base
        line = SharesLine(decision if has_base else None, _missing(trials, by_id))
        rows.setdefault(_of(decision.levels, WORK), {}).setdefault(_of(decision.levels, factors), line)
    of_plan = [name for name in factors if name != MACHINE]
    seen = {(_of(decision.levels, WORK), _of(decision.levels, of_plan)) for decision in decisions}
    for others, trials in planned.items():
        work, level = _of(dict(others), WORK), _of(dict(others), of_plan)
        if (work, level) not in seen:
            rows.setdefault(work, {}).setdefault(level, SharesLine(None, _missing(trials, by_id)))
    levels = by_levels(level for lines in rows.values() for level in lines)
    every = [line for lines in rows.values() for line in lines.values()]
    placements = {trial.placement.name for trials in planned.values() for trial in trials if not trial.zero_delay}
    table = SharesTable(
        base=base,
        others=tuple(in_plan_order(placements - {base}, plan.placements)),
        worth=threshold_of(plan),
        with_baseline=any(decision.placements and decision.placements[0].storage_share for decision in decisions),
        factors=factors,
        levels=tuple(levels),
        rows={work: rows[work] for work in by_levels(rows)},
        variants={} if "variant" in factors else _variants(planned, of_plan),
    )
    tells = table.with_baseline or table.others
    readable = len(levels) <= MOST_LEVELS and len(table.others) <= MOST_OTHERS
    readable = readable and len(every) * max(1, len(table.others)) <= MOST_LINES
    return table if tells and readable and len(rows) > 1 and max(map(len, rows.values())) > 1 else None


def _planned(plan: Plan) -> dict[Levels, list[Trial]]:
    """The trials that are to count, by all factors but the placement."""
    planned: dict[Levels, list[Trial]] = {}
    for trial in plan.trials:
        if trial.is_repetition:
            others = tuple(item for item in trial.factors.items() if item[0] != PLACEMENT)
            planned.setdefault(others, []).append(trial)
    return planned


def _factors(planned: Sequence[Mapping[str, str]], decisions: Sequence[Decision]) -> tuple[str, ...]:
    """The factors beside the work in which trials of one job differ; a variant that follows from the others is none."""
    names = dict.fromkeys(name for levels in planned for name in levels if name not in WORK)
    works = {_of(levels, WORK) for levels in planned}
    jobs = [[levels for levels in planned if _of(levels, WORK) == work] for work in works]
    varying = [name for name in names if any(len({levels.get(name) for levels in job}) > 1 for job in jobs)]
    without = [name for name in varying if name != "variant"]
    if all(
        len({_of(levels, without) for levels in job}) == len({_of(levels, varying) for levels in job}) for job in jobs
    ):
        varying = without
    several = len({decision.levels.get(MACHINE) for decision in decisions}) > 1
    return (*varying, *([MACHINE] if several else []))


def _variants(planned: Mapping[Levels, Sequence[Trial]], names: Sequence[str]) -> dict[Levels, dict[Levels, str]]:
    """Of each job that runs in several variants: the one of each level of these factors, in the levels' order."""
    variants: dict[Levels, dict[Levels, str]] = {}
    for others, trials in planned.items():
        of_job = variants.setdefault(_of(dict(others), WORK), {})
        of_job[_of(dict(others), names)] = trials[0].workload.variant
    return {
        work: {level: of_job[level] for level in by_levels(of_job)}
        for work, of_job in variants.items()
        if len(set(of_job.values())) > 1
    }


def _of(levels: Mapping[str, str], names: Iterable[str]) -> Levels:
    return tuple((name, levels.get(name, "")) for name in names)


def _missing(trials: Sequence[Trial], by_id: Mapping[str, TrialSummary]) -> dict[str, Missing]:
    """Why each of these trials' placements, of which none counts, has no time."""
    missing: dict[str, Missing] = {}
    for name in dict.fromkeys(trial.placement.name for trial in trials):
        ran = [by_id[trial.id] for trial in trials if trial.placement.name == name and trial.id in by_id]
        if any(map(is_valid, ran)):  # on another machine, whose decision is another
            continue
        if not ran:
            missing[name] = Missing.NOT_RUN
        elif any(map(is_wrong, ran)):
            missing[name] = Missing.WRONG
        elif any(map(is_struck_out, ran)):
            missing[name] = Missing.EXCLUDED
        else:
            missing[name] = Missing.FAILED
    return missing
