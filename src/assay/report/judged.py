"""What a run's trials come to, worked out once for all forms of its report."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt
from assay.model.record import Record
from assay.model.trial import Plan
from assay.report.again import Further, further
from assay.report.answer import Answer, answers
from assay.report.study import StudyView, study_view
from assay.stats.comparison import compare
from assay.stats.run_doubts import doubts_of
from assay.stats.sample import samples
from assay.stats.summary import Row, summarise


class Judged(NamedTuple):
    """Rows of the table; answers to the run's question and beside it; doubts, the plan's own before the trials'.

    `study` is what the run says of the study whose experiment it is; None for any other experiment. `further` is what
    would tell more of the question.
    """

    rows: Sequence[Row]
    answers: Sequence[Answer]
    beside: Sequence[Answer]
    doubts: Sequence[Doubt]
    study: StudyView | None
    further: Further | None


def judge(plan: Plan, records: Sequence[Record]) -> Judged:
    """From all records of a plan that could be read; what stands in rows and answers are the same comparisons."""
    compared = compare(samples(records), prior=plan.prior)
    rows = summarise(records, compared, plan.prior)
    main, beside = answers(rows, compared)
    doubts = [*plan.doubts, *doubts_of(records)]
    return Judged(rows, main, beside, doubts, study_view(plan, records), further(records, compared))
