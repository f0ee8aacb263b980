"""How much each factor, and each pair of factors, changes the elapsed time: a section of reports of several factors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.model.plugins import LAST
from assay.model.registry import SECTIONS

if TYPE_CHECKING:
    from assay.model.record import Record
    from assay.model.section import SectionView
    from assay.model.trial import Plan


def _factor_effects(plan: "Plan", records: "Sequence[Record]") -> "SectionView | None":
    from assay_extras.factor_effects.view import effects_view

    return effects_view(records, plan.prior)


SECTIONS.add("factor_effects", _factor_effects, place=LAST + 1)
