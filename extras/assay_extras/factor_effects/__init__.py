"""How much each factor, and each pair of factors, changes the elapsed time: a section of reports of several factors."""

from typing import TYPE_CHECKING

from assay.model.plugins import LAST
from assay.model.registry import SECTIONS

if TYPE_CHECKING:
    from assay.model.section import RunView, SectionView


def _factor_effects(run: "RunView") -> "SectionView | None":
    from assay_extras.factor_effects.view import effects_view

    return effects_view(run.trials, run.plan.prior)


SECTIONS.add("factor_effects", _factor_effects, place=LAST + 1)
