"""What a run's trials come to, worked out once for all forms of its report."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt
from assay.model.record import Record
from assay.model.registry import SECTIONS
from assay.model.section import SectionView
from assay.model.trial import Plan
from assay.report.answer import Answer, answer_of
from assay.stats.breakdown import Breakdown, breakdowns
from assay.stats.comparison import Comparison, compare
from assay.stats.decision import Decision, decisions
from assay.stats.run_doubts import doubts_of
from assay.stats.sample import PLACEMENT, samples
from assay.stats.summary import Row, summarise


class Judged(NamedTuple):
    """All that is said of a run, as data; `answers` are the decisions in words.

    `rows` are those of the table, `breakdowns` the decisions' jobs and phases, `others` the comparisons of all factors
    beside the decisions', `doubts` the plan's own before the trials'. `sections` are the plug-ins', by name.
    """

    rows: Sequence[Row]
    decisions: Sequence[Decision]
    answers: Sequence[Answer]
    breakdowns: Sequence[Breakdown]
    others: Sequence[Comparison]
    doubts: Sequence[Doubt]
    sections: Mapping[str, SectionView]


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
        sections={name: view for name, section in SECTIONS.items() if (view := section(plan, records)) is not None},
    )
