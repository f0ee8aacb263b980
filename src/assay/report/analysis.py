"""A run, read once (RunData) and judged once (RunAnalysis), for all forms of its report."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial, reduce
from math import log
from pathlib import Path
from typing import Any, NamedTuple

from assay.model.doubt import Doubt, Outcome
from assay.model.errors import BadInputError
from assay.model.prediction import Prediction
from assay.model.record import Record
from assay.model.registry import PROBES, SECTIONS
from assay.model.section import RunView, SectionView, TrialTables
from assay.model.trial import Plan
from assay.record.folder import Damaged, RunFolder
from assay.record.predictions import predictions_of
from assay.record.reading import Needed
from assay.report.answer import Answer, answer_of
from assay.report.depends import depends_notes, restated_notes
from assay.report.predicted import predicted_lines
from assay.stats import blocked, instruments, nodes, run_doubts, staging
from assay.stats.breakdown import Breakdown, breakdowns
from assay.stats.changes import CHANGE
from assay.stats.comparison import Comparison, compare
from assay.stats.decision import Decision, decisions
from assay.stats.predicted import PredictedLevel, beside, with_predictions
from assay.stats.run_doubts import doubts_of
from assay.stats.sample import MACHINE, PLACEMENT, Levels, Trials, counts, in_order, samples
from assay.stats.sensitivity import Sensitivity, sensitivity_of
from assay.stats.shares import SharesTable, shares_table
from assay.stats.summary import Group, Row, outliers, summarise, varying
from assay.stats.trial_doubts import PAGE_CACHE_HIDES_MEDIUM
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


def by_combination(records: Sequence[Record]) -> dict[Levels, list[Record]]:
    """Records of each combination on each kind of machine, by `levels_key`."""
    combined: dict[Levels, list[Record]] = {}
    for record, machine in zip(records, Trials.of(records).machines, strict=True):
        combined.setdefault(levels_key({**record.trial.factors, MACHINE: machine}), []).append(record)
    return combined


def fact_values(records: Sequence[Record]) -> dict[str, list[str]]:
    """Collect each fact of records with its different values."""
    values: dict[str, dict[str, None]] = {}
    for record in records:
        for fact, value in record.facts_shown.items():
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
    return ", ".join([*(level for name in names if (level := levels.get(name, ""))), *predicted])


MOST_TRIALS = 12
"""More would make a page that nobody reads to its end, and that a phone opens slowly."""


def trials_in_detail(records: Sequence[Record]) -> list[Record]:
    """Choose trials that count: the first of each combination of factors, then repetitions, up to a bound."""
    firsts: list[Record] = []
    others: list[Record] = []
    combinations: set[tuple[tuple[str, str], ...]] = set()
    for record in records:
        if not counts(record):
            continue
        factors = tuple(sorted(record.trial.factors.items()))
        (others if factors in combinations else firsts).append(record)
        combinations.add(factors)
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
    records: Sequence[Record], close: Collection[str], odd: Collection[str], most: int = MOST_TRIALS_SHOWN
) -> list[str]:
    """The ids of at most so many, in their order: those drawn, failed or far off come before all others."""
    ids = [record.trial.id for record in records]
    if len(ids) <= most:
        return ids
    failed = [record.trial.id for record in records if record.outcome is not Outcome.PASS]
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


WHOLE_UP_TO = 200
"""A whole record takes most of a megabyte of memory; of more trials only outlines are read."""


def needed() -> Needed:
    """What is read of every record, which an outline must keep; what existing clusters' probes counted, too."""
    of_clusters = Needed(frozenset((name, "run", "") for name, kind in PROBES.items() if kind.foreign))
    own = (blocked.NEEDED, run_doubts.NEEDED, instruments.NEEDED, nodes.NEEDED, staging.NEEDED)
    return reduce(Needed.__or__, own, of_clusters)


class RunData(NamedTuple):
    """A run as it was read, once. `records` are all that could be read, `damaged` are the others.

    `shown` are whole records of the trials that are shown with all that they hold, `detailed` are the trials that are
    drawn, with their tables. `folder` is where the run lies, as it was named, and `experiment` its experiment's file,
    where it was kept. `predicted` are trials that did not run.
    """

    plan: Plan
    records: Sequence[Record]
    damaged: Sequence[Damaged]
    shown: Sequence[Record] = ()
    detailed: Sequence[TrialTables] = ()
    folder: Path | None = None
    experiment: Path | None = None
    predicted: Sequence[Prediction] = ()

    @property
    def passed(self) -> bool:
        """Whether every planned trial has a readable record and all its checks pass."""
        whole = len(self.records) == len(self.plan.trials) and not self.damaged
        return whole and all(record.outcome is Outcome.PASS for record in self.records)

    def whole_records(self) -> Iterator[Record]:
        """Read whole records, one at a time: of a large run only outlines are in `records`."""
        if self.folder is None or len(self.records) + len(self.damaged) <= WHOLE_UP_TO:
            return iter(self.records)
        return (record for record in RunFolder(self.folder).each(self.plan) if isinstance(record, Record))


def read_run(folder: RunFolder, *, details: bool = True) -> RunData:
    """Read a run; with `details` the tables of the trials that are drawn, too. Raises BadInputError when it is no run.

    Of more than WHOLE_UP_TO trials only outlines are read, and whole records of those that are shown.
    """
    plan = folder.plan()
    outlines = len(folder.trials()) > WHOLE_UP_TO
    every, damaged = folder.records(plan, outlines=needed() if outlines else None)
    records: Sequence[Record] = Trials(every)
    whole = {record.trial.id: record for record in records}
    shown = ids_shown(records)
    if outlines:
        for trial in shown:
            try:
                whole[trial] = folder.record(trial)
            except BadInputError as error:
                del whole[trial]
                damaged.append(Damaged(folder.file(trial, ""), str(error)))
        records = [record for record in records if record.trial.id in whole]
    drawn = [record for record in trials_in_detail(records) if record.trial.id in shown] if details else []
    return RunData(
        plan,
        Trials.of(records),
        damaged,
        shown=[whole[trial] for trial in shown if trial in whole],
        detailed=[read_tables(folder, whole[record.trial.id]) for record in drawn],
        folder=folder.path,
        experiment=folder.experiment,
        predicted=predictions_of(plan, records, folder.signature),
    )


def ids_shown(records: Sequence[Record]) -> list[str]:
    """The ids of the trials that are shown with all that they hold."""
    odd = {outlier.trial for outlier in outliers(samples(records))}
    return trials_shown(records, {record.trial.id for record in trials_in_detail(records)}, odd)


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
    plan: Plan,
    records: Sequence[Record],
    cpu_speed: float | None = None,
    predictions: Sequence[Prediction] = (),
    detailed: Sequence[TrialTables] = (),
) -> RunAnalysis:
    """From all records of a plan that could be read, what is predicted beside them, and tables of some trials.

    Answers are restated for processors of `cpu_speed` times the speed of those that the trials ran on.
    """
    records = Trials.of(records)
    compared = compare(records.samples, prior=plan.prior, orders={PLACEMENT: plan.placements})
    decided = decisions(plan, records, compared)
    factor = decided[0].factor if decided else PLACEMENT
    rows = summarise(records, compared, plan.prior, plan.placements)
    run = RunView(plan, records, detailed)
    return RunAnalysis(
        rows=with_predictions(rows, records, predictions),
        answers=_answers(plan, records, decided, cpu_speed, predictions),
        others=[one for one in compared if one.factor not in (plan.base if factor == CHANGE else (factor,))],
        doubts=[*plan.doubts, *_doubts(plan, records), *estimates_apart(decided)],
        sections={name: view for name, section in SECTIONS.items() if (view := section(run)) is not None},
        shares=shares_table(plan, records, decided),
    )


def analyse_run(run: RunData, cpu_speed: float | None = None) -> RunAnalysis:
    """All that is said of a run that was read."""
    return analyse(run.plan, run.records, cpu_speed, run.predicted, run.detailed)


def _answers(
    plan: Plan,
    records: Sequence[Record],
    decided: Sequence[Decision],
    cpu_speed: float | None,
    predictions: Sequence[Prediction],
) -> list[Answered]:
    answers = []
    every = zip(decided, breakdowns(plan, records, decided), beside(plan, decided, records, predictions), strict=True)
    for place, (decision, breakdown, predicted) in enumerate(every):
        sensitivity = sensitivity_of(decision, records, cpu_speed)
        words = _with_notes(answer_of(decision, decided), decision, sensitivity, first=not place)
        words = words._replace(lines=(*words.lines, *predicted_lines(decision, predicted)))
        answers.append(Answered(decision, words, sensitivity, breakdown, predicted))
    return answers


def _doubts(plan: Plan, records: Sequence[Record]) -> list[Doubt]:
    """The records' doubts, but for what a page cache serves that has a site's ratio: it serves as much there."""
    of_site = plan.stands_for is not None and plan.stands_for.ratio is not None
    return [doubt for doubt in doubts_of(records) if not (of_site and doubt.kind == PAGE_CACHE_HIDES_MEDIUM.name)]


def _with_notes(answer: Answer, decision: Decision, depends: Sensitivity | None, *, first: bool) -> Answer:
    """Add last what the answer depends on, unless storage was hardly used: then that is noise."""
    if depends is None or (decision.storage_hardly_used and depends.cpu_speed is None):
        return answer
    restated = tuple(restated_notes(depends))  # what was asked for, so it stands with what could change the answer
    notes = (*answer.caveats, *restated, *answer.details, *depends_notes(depends, first=first))
    return answer._replace(notes=notes, decisive=answer.decisive + len(restated))
