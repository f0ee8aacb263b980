"""Which job suits which of two stores, by what it moves for its computing: a section of a run's report."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assay.model.registry import SECTIONS, SUMMARY_FIGURES

if TYPE_CHECKING:
    from assay.model.record import Record
    from assay.model.section import RunView, SectionView


def _moved(record: "Record") -> Mapping[str, Any] | None:
    from assay_extras.suitability.suited import moved_by_processor_second

    moved = moved_by_processor_second(record)
    return None if moved is None else moved._asdict()


def _suitability(run: "RunView") -> "SectionView | None":
    if len({summary.factors.get("store") for summary in run.trials}) < 2:
        return None
    from assay_extras.suitability.view import suitability_view

    return suitability_view(run.plan, run.trials)


SUMMARY_FIGURES.add("suitability", _moved)
SECTIONS.add("suitability", _suitability, place=2)
