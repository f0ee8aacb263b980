"""Which trials a report looks at closely, and all that it reads of one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from assay.model.energy import Span
from assay.model.errors import BadInputError
from assay.model.record import Record, TaskAttempt
from assay.model.signature import Signature
from assay.model.task import TaskPhases
from assay.record.folder import RunFolder
from assay.record.parquet import Series
from assay.stats.power import part_spans
from assay.stats.sample import counts

MOST_TRIALS = 12
"""More would make a page that nobody reads to its end, and that a phone opens slowly."""


class Closeup(NamedTuple):
    """One trial with its tables; `unreadable` says which of them could not be read, and why."""

    record: Record
    attempts: Sequence[TaskAttempt] = ()
    phases: Sequence[TaskPhases] = ()
    series: Mapping[tuple[str, str], Series] = {}
    signature: Signature | None = None
    samples_bytes: int = 0
    unreadable: tuple[str, ...] = ()

    @property
    def placement(self) -> str:
        """Its placement's name."""
        return self.record.trial.placement.name

    @property
    def run(self) -> Span | None:
        """The run part with the writing out of what the kernel held back; None when the trial had none."""
        spans = part_spans(self.record.steps)
        if "run" not in spans:
            return None
        return Span(begin_ms=spans["run"].begin_ms, end_ms=spans.get("write out", spans["run"]).end_ms)

    def reason(self, *kinds: str) -> str:
        """Why something is missing, in the words of the trial's first doubt of such a kind (or that begins so)."""
        if self.record.trial.probes == "none":
            return "the trial ran without probes"
        doubts = [doubt for kind in (*kinds, "probes-lost") for doubt in self.record.doubts if _is(doubt.kind, kind)]
        told = [doubt.what for doubt in doubts] + list(self.unreadable)
        return told[0] if told else "the record has nothing of it"


def _is(kind: str, begin: str) -> bool:
    return kind == begin or kind.startswith(f"{begin}-")


def chosen(records: Sequence[Record]) -> list[Record]:
    """At most so many trials that count: the first of each combination of factors, then their repetitions."""
    firsts: list[Record] = []
    others: list[Record] = []
    seen: set[tuple[tuple[str, str], ...]] = set()
    for record in records:
        if not counts(record):
            continue
        factors = tuple(sorted(record.trial.factors.items()))
        (others if factors in seen else firsts).append(record)
        seen.add(factors)
    return [*firsts, *others][:MOST_TRIALS]


def look(run: RunFolder, record: Record) -> Closeup:
    """Read a trial's tables; one that is damaged is named and left out."""
    trial = record.trial.id
    found: dict[str, Any] = {}
    unreadable: list[str] = []
    tables: Mapping[str, Callable[[str], Any]] = {
        "attempts": run.attempts, "phases": run.phases, "series": run.series, "signature": run.signature,
        "samples_bytes": run.samples_bytes,
    }  # fmt: skip
    for name, read in tables.items():
        try:
            found[name] = read(trial)
        except BadInputError as error:
            unreadable.append(str(error))
    return Closeup(record, **found, unreadable=tuple(unreadable))
