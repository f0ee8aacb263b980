"""Sections: what a run's report has beside its answers, from the core or a plug-in."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from assay.model.doubt import ALL_INSTRUMENTS
from assay.model.fact import Value
from assay.model.record import Record, Series, SeriesKey, Span
from assay.model.signature import Signature
from assay.model.task import TaskAttempt, TaskPhases
from assay.model.trial import NO_PROBES, Plan
from assay.model.trial_summary import TrialSummary


class TrialTables(NamedTuple):
    """One trial with its tables; `unreadable` says which of them could not be read, and why."""

    record: Record
    attempts: Sequence[TaskAttempt] = ()
    phases: Sequence[TaskPhases] = ()
    series: Mapping[SeriesKey, Series] = {}
    signature: Signature | None = None
    samples_bytes: int = 0
    unreadable: tuple[str, ...] = ()

    @property
    def placement(self) -> str:
        """The placement's name."""
        return self.record.trial.placement.name

    @property
    def run(self) -> Span | None:
        """The run part with the writing out of what the kernel held back; None when the trial had none."""
        spans = self.record.spans
        if "run" not in spans:
            return None
        return Span(begin_ms=spans["run"].begin_ms, end_ms=spans.get("write out", spans["run"]).end_ms)

    def reason(self, *instruments: str, subjects: Collection[str] = ()) -> str:
        """Why such instruments' metrics are missing, of subjects where some are named: what their first doubt says."""
        if self.record.trial.probes == NO_PROBES:
            return "the trial ran without probes"
        doubts = self.record.doubts
        relevant = [doubt for name in instruments for doubt in doubts if doubt.instrument == name]
        relevant = sorted(
            (doubt for doubt in relevant if not subjects or doubt.subject in {*subjects, ""}),
            key=lambda doubt: not doubt.subject,
        )
        relevant += [doubt for doubt in doubts if doubt.instrument == ALL_INSTRUMENTS]
        reasons = [*(doubt.what for doubt in relevant), *self.unreadable]
        return reasons[0] if reasons else "the record has nothing of it"


class RunView(NamedTuple):
    """What a section is made from: a plan, the summaries of all trials that could be read, and some trials' tables.

    `record` gives a trial's whole record by its id: it reads a file at each call. `detailed` are the trials drawn.
    """

    plan: Plan
    trials: Sequence[TrialSummary]
    record: Callable[[str], Record]
    detailed: Sequence[TrialTables] = ()


class SectionView(Protocol):
    """A section of one run's report; each method's text is put in as it is, and may be empty."""

    def summary_html(self) -> str:
        """A sentence for the page's first screen, with a link to the section.

        It is empty where the section does not bear on the run's question: then it stands in the page's closed block
        *Method and evidence*.
        """

    def html(self) -> str:
        """The section of the page: its heading `<h2 id=...>`, and what is below."""

    def text(self) -> str:
        """The section on a terminal."""

    def markdown(self) -> str:
        """The section in Markdown, from its `##` heading on."""

    def json(self) -> str:
        """A JSON value, which stands under the section's name."""


@runtime_checkable
class RowsView(Protocol):
    """A section that has lines for a CSV, too."""

    def rows(self) -> Iterator[Mapping[str, Value]]:
        """Each line by its columns, with units in their names."""
