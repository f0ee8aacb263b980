"""What a run's trials come to, worked out once for all forms of its report."""

from collections.abc import Sequence
from typing import NamedTuple

from assay.model.doubt import Doubt
from assay.model.record import Record
from assay.report.answer import Answer, answers
from assay.stats.summary import Row, doubts_of, summarise


class Judged(NamedTuple):
    """Rows of the table; answers to the run's question and beside it; doubts, the plan's own before the trials'."""

    rows: Sequence[Row]
    answers: Sequence[Answer]
    beside: Sequence[Answer]
    doubts: Sequence[Doubt]


def judge(records: Sequence[Record], doubts: Sequence[Doubt] = ()) -> Judged:
    """From all records that could be read, and the plan's doubts."""
    rows = summarise(records)
    main, beside = answers(rows, records)
    return Judged(rows, main, beside, [*doubts, *doubts_of(records)])
