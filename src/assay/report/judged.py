"""What a run's trials come to, worked out once for all forms of its report."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt
from assay.model.record import Record
from assay.model.trial import Plan
from assay.report.answer import Answer, answer_of
from assay.report.study import StudyView, study_view
from assay.stats.breakdown import Breakdown, breakdowns
from assay.stats.comparison import Comparison, compare
from assay.stats.decision import Decision, decisions
from assay.stats.run_doubts import doubts_of
from assay.stats.sample import PLACEMENT, samples
from assay.stats.summary import Row, summarise


class Judged(NamedTuple):
    """All that is said of a run, as data; `answers` are the decisions in words.

    `rows` are those of the table, `breakdowns` the decisions' jobs and phases, `others` the comparisons of all factors
    beside the decisions', `doubts` the plan's own before the trials'. `study` is what the run says of the study whose
    experiment it is; None for any other experiment.
    """

    rows: Sequence[Row]
    decisions: Sequence[Decision]
    answers: Sequence[Answer]
    breakdowns: Sequence[Breakdown]
    others: Sequence[Comparison]
    doubts: Sequence[Doubt]
    study: StudyView | None


def judge(plan: Plan, records: Sequence[Record]) -> Judged:
    """From all records of a plan that could be read."""
    compared = compare(samples(records), prior=plan.prior, orders={PLACEMENT: plan.placements})
    decided = decisions(plan, records, compared)
    factor = decided[0].factor if decided else PLACEMENT
    return Judged(
        rows=summarise(records, compared, plan.prior, plan.placements),
        decisions=decided,
        answers=[answer_of(one, decided) for one in decided],
        breakdowns=breakdowns(records, decided),
        others=[one for one in compared if one.factor != factor],
        doubts=[*plan.doubts, *doubts_of(records)],
        study=study_view(plan, records),
    )
