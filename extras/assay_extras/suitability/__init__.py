"""Which job suits which of two stores, by what it moves for its computing: a section of a run's report."""

from typing import TYPE_CHECKING

from assay.model.registry import SECTIONS

if TYPE_CHECKING:
    from assay.model.section import RunView, SectionView


def _suitability(run: "RunView") -> "SectionView | None":
    if len({record.trial.factors.get("store") for record in run.records}) < 2:
        return None
    from assay_extras.suitability.view import suitability_view

    return suitability_view(run.plan, run.records)


SECTIONS.add("suitability", _suitability, place=2)
