"""Published studies, repeated: their figures and statements beside what a run of one of their experiments measured.

It only reads records and the figures in `data/`; it decides nothing about a run and changes nothing.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.model.registry import SECTIONS

if TYPE_CHECKING:
    from assay.model.record import Record
    from assay.model.section import SectionView
    from assay.model.trial import Plan


def _study(plan: "Plan", records: "Sequence[Record]") -> "SectionView | None":
    from assay_extras.studies.comparison import compare
    from assay_extras.studies.view import study_view

    compared = compare(plan, records)
    return None if compared is None else study_view(compared)


SECTIONS.add("study", _study)
