"""The energy of trials by component, part and phase: measured where a meter was read, else modelled from use.

It reads what probes and emulated drives count, and decides nothing about a run.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.model.registry import SECTIONS, SUMMARY_FIGURES
from assay.report.figures import FIGURES, FiguresKind

if TYPE_CHECKING:
    from assay.model.fact import Value
    from assay.model.record import Record
    from assay.model.section import RunView, SectionView
    from assay.model.trial_summary import TrialSummary
    from assay.report.columns import Column

PLACE = 3
"""After what staging took."""


NAME = "energy"


def _kept(record: "Record") -> "Mapping[str, Value]":
    from assay_extras.energy.values import record_values

    return record_values(record)


def _columns(summary: "TrialSummary") -> "Mapping[str, Value] | None":
    return summary.figures.get(NAME)


def _document(record: "Record") -> Mapping[str, object]:
    from assay_extras.energy.values import record_json

    return record_json(record)


def _table(values: "Sequence[Mapping[str, Value]]") -> "Sequence[Column]":
    from assay_extras.energy.values import energy_columns

    return energy_columns(values)


def _energy(run: "RunView") -> "SectionView | None":
    from assay_extras.energy.view import EnergyView

    return EnergyView(run.detailed) if run.detailed else None


NOTE = (
    "Energy of the jobs, with what was written out after them: medians and their ranges, to two significant digits. A "
    "range is the uncertainty of the inputs, which all lines share: lines may differ although their ranges overlap."
)
SUMMARY_FIGURES.add(NAME, _kept)
FIGURES.add(NAME, FiguresKind(_columns, _document, _table, "Energy of the jobs", NOTE), place=0)
SECTIONS.add(NAME, _energy, place=PLACE)
