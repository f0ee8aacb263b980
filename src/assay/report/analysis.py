"""A run, read once (RunData) and judged once (RunAnalysis), for all forms of its report."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from math import log
from pathlib import Path
from typing import Any, NamedTuple

from assay.model.doubt import Doubt, Outcome
from assay.model.errors import BadInputError
from assay.model.record import Record
from assay.model.registry import SECTIONS
from assay.model.section import RunView, SectionView, TrialTables
from assay.model.trial import Plan
from assay.model.trial_summary import MeasuredRun, TrialSummary
from assay.record.demands import measured_run
from assay.record.folder import Damaged, DamagedRecordError, RunFolder
from assay.record.predictions import predictions_of
from assay.report.answer import Answer, answer_of
from assay.report.depends import depends_notes, restated_notes
from assay.report.predicted import predicted_lines
from assay.report.words import shown_level
from assay.stats.breakdown import Breakdown, breakdowns
from assay.stats.changes import CHANGE
from assay.stats.comparison import Comparison, compare
from assay.stats.decision import Decision, decisions
from assay.stats.predicted import PredictedLevel, beside
from assay.stats.run_doubts import doubts_of
from assay.stats.sample import MACHINE, PLACEMENT, Levels, Trials, in_order, is_valid, samples
from assay.stats.sensitivity import Sensitivity, sensitivity_of
from assay.stats.shares import SharesTable, shares_table
from assay.stats.summary import Group, Row, outliers, rows_of, varying
from assay.stats.trial_doubts import PAGE_CACHE_HIDES_MEDIUM
from assay.stats.trial_summary import summaries_of
from assay.stats.two_estimates import estimates_apart

MOST_FILTER_LEVELS = 24
"""More boxes than that are longer than what they would hide."""


class Filter(NamedTuple):
    """One factor that a reader can pick levels of. `number` is its place in the rows' marks."""

    number: int
    name: str
    levels: tuple[str, ...]


def levels_of(row: Row) -> dict[str, str]:
    """A combination's factors by name, the placement with them."""
    group = {name: str(level) for name, level in dict(row.group).items()}
    return {**group, "placement": row.placement}


def levels_key(levels: Mapping[str, str]) -> Levels:
    """A combination, to be looked up by."""
    return tuple(sorted(levels.items()))


def by_combination(summaries: Sequence[TrialSummary]) -> dict[Levels, list[TrialSummary]]:
    """Trials of each combination on each kind of machine, by `levels_key`."""
    return {levels_key(dict(levels)): trials for levels, trials in Trials.of(summaries).by_levels.items()}


def fact_values(summaries: Sequence[TrialSummary]) -> dict[str, list[str]]:
    """Collect each fact of trials with its different values."""
    values: dict[str, dict[str, None]] = {}
    for summary in summaries:
        for fact, value in summary.facts_shown.items():
            values.setdefault(fact, {})[value] = None
    return {fact: list(levels) for fact, levels in values.items()}


def filters_of(rows: Sequence[Row]) -> list[Filter]:
    """Workload, placement and what else tells rows apart, without factors of so many levels that no one would pick."""
    every = [levels_of(row) for row in rows]
    names = ("workload", *varying(rows), "placement")
    several = [(name, in_order(levels.get(name, "") for levels in every)) for name in names]
    filterable = [(name, levels) for name, levels in several if 1 < len(levels) <= MOST_FILTER_LEVELS]
    return [Filter(number, name, tuple(levels)) for number, (name, levels) in enumerate(filterable)]


def marks_of(filters: Sequence[Filter], levels: Mapping[str, str]) -> str:
    """What filters know a part of the page by: `f0-1 f2-0`, a factor's number and its level's."""
    return " ".join(
        f"f{filter_.number}-{filter_.levels.index(levels[filter_.name])}"
        for filter_ in filters
        if filter_.name in levels and levels[filter_.name] in filter_.levels
    )


def label_factors(rows: Sequence[Row]) -> list[str]:
    """The factors in which rows of one workload and data set differ, the placement last: names for labels."""
    several = len({row.placement for row in rows}) > 1
    return [*(name for name in varying(rows) if name != "dataset"), *([PLACEMENT] if several else [])]


def label_of(row: Row, names: Sequence[str]) -> str:
    """A combination in a few words, by some of its factors; of a machine its letter; that it was predicted."""
    levels = levels_of(row)
    levels[MACHINE] = f"machine {levels.get(MACHINE, '').partition(' ')[0]}"
    predicted = [f"predicted by {row.predictor}"] if row.predictor else []
    return ", ".join([*(shown_level(name, level) for name in names if (level := levels.get(name, ""))), *predicted])


MOST_TRIALS = 12
"""More would make a page that nobody reads to its end, and that a phone opens slowly."""


def trials_in_detail(summaries: Sequence[TrialSummary]) -> list[TrialSummary]:
    """Choose trials that count: the first of each combination of factors, then repetitions, up to a bound."""
    firsts: list[TrialSummary] = []
    others: list[TrialSummary] = []
    combinations: set[frozenset[tuple[str, str]]] = set()
    for summary in filter(is_valid, summaries):
        factors = frozenset(summary.factors.items())
        (others if factors in combinations else firsts).append(summary)
        combinations.add(factors)
        if len(firsts) == MOST_TRIALS:
            return firsts
    return [*firsts, *others][:MOST_TRIALS]


def read_tables(run: RunFolder, record: Record) -> TrialTables:
    """Read a trial's tables; one that is damaged is named and left out."""
    trial = record.trial
    tables: dict[str, Any] = {}
    unreadable: list[str] = []
    readers: Mapping[str, Callable[[], Any]] = {
        "attempts": partial(run.attempts, trial), "phases": partial(run.phases, trial),
        "series": partial(run.series, trial.id), "signature": partial(run.signature, trial.id),
        "samples_bytes": partial(run.samples_bytes, trial.id),
    }  # fmt: skip
    for name, read in readers.items():
        try:
            tables[name] = read()
        except BadInputError as error:
            unreadable.append(str(error))
    return TrialTables(record, **tables, unreadable=tuple(unreadable))


MOST_ROWS = 150
MOST_BARS = 60
MOST_TRIALS_SHOWN = 40
MOST_OF_A_KIND = 10
"""Combinations in the table and in charts, trials with their jobs, and doubts of one kind: more is not read."""


def rows_shown(rows: Sequence[Row], most: int = MOST_ROWS) -> list[Row]:
    """Choose whole groups of rows, up to a bound, in their order.

    Of each workload in turn the group that tells most: with a failure, then with the largest significant difference,
    then with the largest at all. A group that is larger than all the room is cut.
    """
    if len(rows) <= most:
        return list(rows)
    groups: dict[Group, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    telling = {}
    for group, group_rows in groups.items():
        distances = [(abs(log(row.ratio)), row) for row in group_rows if row.ratio]
        significant = [far for far, row in distances if row.comparison and row.comparison.significant]
        failed = any(row.outcome is Outcome.FAIL for row in group_rows)
        telling[group] = (failed, max(significant, default=0.0), max((far for far, _ in distances), default=0.0))
    by_work: dict[tuple[str, str], list[Group]] = {}
    for group in sorted(groups, key=lambda group: telling[group], reverse=True):
        by_work.setdefault((group.workload, group.dataset), []).append(group)
    shown: set[Group] = set()
    room = most
    for rank in range(max(map(len, by_work.values()))):
        for ranked in by_work.values():
            if rank < len(ranked) and len(groups[ranked[rank]]) <= room:
                shown.add(ranked[rank])
                room -= len(groups[ranked[rank]])
    return [row for row in rows if row.group in shown] or list(rows[:most])


def trials_shown(
    summaries: Sequence[TrialSummary], close: Collection[str], odd: Collection[str], most: int = MOST_TRIALS_SHOWN
) -> list[str]:
    """The ids of at most so many, in their order: those drawn, failed or far off come before all others."""
    ids = [summary.id for summary in summaries]
    if len(ids) <= most:
        return ids
    failed = [summary.id for summary in summaries if summary.outcome is not Outcome.PASS]
    preferred = [
        *[trial_id for trial_id in ids if trial_id in close],
        *failed,
        *[trial_id for trial_id in ids if trial_id in odd],
        *ids,
    ]
    shown = set(list(dict.fromkeys(preferred))[:most])
    return [trial_id for trial_id in ids if trial_id in shown]


def by_kind(doubts: Sequence[Doubt]) -> list[tuple[Doubt, list[Doubt], int]]:
    """Doubts of each kind and instrument: the first, some others, and how many more there are besides."""
    kinds: dict[tuple[str, str], list[Doubt]] = {}
    for doubt in doubts:
        kinds.setdefault((doubt.kind, doubt.instrument), []).append(doubt)
    return [
        (alike[0], alike[1 : MOST_OF_A_KIND + 1], max(0, len(alike) - 1 - MOST_OF_A_KIND)) for alike in kinds.values()
    ]


class RunData(NamedTuple):
    """A run as it was read, once. Its trials are all whose records could be read, `damaged` are the others.

    `shown` are whole records of the trials that are shown with all that they hold, `detailed` are the trials that are
    drawn, with their tables. `folder` is where the run lies, as it was named, and `experiment` its experiment's file,
    where it was kept. `predicted` are trials that did not run.
    """

    measured: MeasuredRun
    damaged: list[Damaged]
    shown: Sequence[Record] = ()
    detailed: Sequence[TrialTables] = ()
    folder: Path | None = None
    experiment: Path | None = None
    predicted: Sequence[TrialSummary] = ()

    @property
    def plan(self) -> Plan:
        """What was planned."""
        return self.measured.plan

    @property
    def trials(self) -> Sequence[TrialSummary]:
        """What judgements need of all trials whose records could be read."""
        return self.measured.trials

    @property
    def passed(self) -> bool:
        """Whether every planned trial has a readable record and all its checks pass."""
        whole = len(self.trials) == len(self.plan.trials) and not self.damaged
        return whole and all(summary.outcome is Outcome.PASS for summary in self.trials)

    def whole_records(self) -> Iterator[Record]:
        """Read all records, one at a time; what can't be read by now is left out, and in `damaged` from then on."""
        for summary in self.trials:
            try:
                yield self.measured.record(summary.id)
            except DamagedRecordError as error:
                self.damaged.append(error.damaged)


def read_run(folder: RunFolder, *, details: bool = True) -> RunData:
    """Read a run; with `details` the tables of the trials that are drawn, too. Raises BadInputError when it is no run.

    Whole records are read of those trials alone that are shown with all that they hold.
    """
    plan = folder.plan()
    summaries, damaged = summaries_of(folder, plan)
    trials = Trials(summaries)
    shown = ids_shown(trials)
    whole: dict[str, Record] = {}
    for trial in shown:
        try:
            whole[trial] = folder.record(trial)
        except DamagedRecordError as error:
            damaged.append(error.damaged)
    if len(whole) < len(shown):
        trials = Trials([summary for summary in trials if summary.id in whole or summary.id not in shown])
    drawn = [summary.id for summary in trials_in_detail(trials) if summary.id in whole] if details else []
    measured = measured_run(folder, plan, trials)
    return RunData(
        measured,
        damaged,
        shown=list(whole.values()),
        detailed=[read_tables(folder, whole[trial]) for trial in drawn],
        folder=folder.path,
        experiment=folder.experiment,
        predicted=predictions_of(measured),
    )


def ids_shown(summaries: Sequence[TrialSummary]) -> list[str]:
    """The ids of the trials that are shown with all that they hold."""
    odd = {outlier.trial for outlier in outliers(samples(summaries))}
    return trials_shown(summaries, {summary.id for summary in trials_in_detail(summaries)}, odd)


class Answered(NamedTuple):
    """One question of a run with all that is said of it.

    `words` are the `decision` in words. `sensitivity` is what it depends on (None where that can't be reckoned),
    `breakdown` its jobs and phases (None where they were not asked for), and `predicted` what is foretold beside it.
    """

    decision: Decision
    words: Answer
    sensitivity: Sensitivity | None = None
    breakdown: Breakdown | None = None
    predicted: Sequence[PredictedLevel] = ()


class RunAnalysis(NamedTuple):
    """All that is said of a run, as data: its `answers`, and the registered `sections` that have something to say.

    `rows` are those of the table of combinations, predicted ones too, `others` the comparisons of all factors beside
    the answers', `doubts` the plan's own before the trials'. `shares` is the table of the answers of several jobs with
    several levels, None of other runs.
    """

    rows: Sequence[Row]
    answers: Sequence[Answered]
    others: Sequence[Comparison]
    doubts: Sequence[Doubt]
    sections: Mapping[str, SectionView]
    shares: SharesTable | None = None

    @property
    def decisions(self) -> list[Decision]:
        """The answers' decisions."""
        return [answer.decision for answer in self.answers]


def analyse(
    run: MeasuredRun,
    cpu_speed: float | None = None,
    predicted: Sequence[TrialSummary] = (),
    detailed: Sequence[TrialTables] = (),
) -> RunAnalysis:
    """From all trials of a run that could be read, what is predicted beside them, and tables of some trials.

    Answers are restated for processors of `cpu_speed` times the speed of those that the trials ran on.
    """
    plan, trials = run.plan, Trials.of(run.trials)
    compared = compare(trials.samples, prior=plan.prior, orders={PLACEMENT: plan.placements})
    decided = decisions(plan, trials, compared)
    factor = decided[0].factor if decided else PLACEMENT
    view = RunView(plan, trials, run.record, detailed)
    return RunAnalysis(
        rows=rows_of(trials, compared, plan.prior, plan.placements, predicted),
        answers=_answers(plan, trials, decided, cpu_speed, predicted),
        others=[one for one in compared if one.factor not in (plan.base if factor == CHANGE else (factor,))],
        doubts=[*plan.doubts, *_doubts(plan, trials), *estimates_apart(decided)],
        sections={name: told for name, section in SECTIONS.items() if (told := section(view)) is not None},
        shares=shares_table(plan, trials, decided),
    )


def analyse_run(run: RunData, cpu_speed: float | None = None) -> RunAnalysis:
    """All that is said of a run that was read."""
    return analyse(run.measured, cpu_speed, run.predicted, run.detailed)


def _answers(
    plan: Plan,
    trials: Trials,
    decided: Sequence[Decision],
    cpu_speed: float | None,
    predicted: Sequence[TrialSummary],
) -> list[Answered]:
    answers = []
    every = zip(decided, breakdowns(plan, trials, decided), beside(plan, decided, trials, predicted), strict=True)
    for place, (decision, breakdown, levels) in enumerate(every):
        sensitivity = sensitivity_of(decision, trials, cpu_speed)
        words = _with_notes(answer_of(decision, decided), decision, sensitivity, first=not place)
        words = words._replace(lines=(*words.lines, *predicted_lines(decision, levels)))
        answers.append(Answered(decision, words, sensitivity, breakdown, levels))
    return answers


def _doubts(plan: Plan, summaries: Sequence[TrialSummary]) -> list[Doubt]:
    """The trials' doubts, but for what a page cache serves that has a site's ratio: it serves as much there."""
    of_site = plan.stands_for is not None and plan.stands_for.ratio is not None
    return [doubt for doubt in doubts_of(summaries) if not (of_site and doubt.kind == PAGE_CACHE_HIDES_MEDIUM.name)]


def _with_notes(answer: Answer, decision: Decision, depends: Sensitivity | None, *, first: bool) -> Answer:
    """Add last what the answer depends on, unless storage was hardly used: then that is noise."""
    if depends is None or (decision.storage_hardly_used and depends.cpu_speed is None):
        return answer
    restated = tuple(restated_notes(depends))  # what was asked for, so it stands with what could change the answer
    notes = (*answer.caveats, *restated, *answer.details, *depends_notes(depends, first=first))
    return answer._replace(notes=notes, decisive=answer.decisive + len(restated))
