"""Doubts and verdicts: what goes with a number so that nobody trusts it more than it deserves."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from assay.model.base import Frozen
from assay.model.plugins import NAMESPACE, Registry

About = Literal["run", "trial", "job", "task", "medium", "machine", "cluster", "instrument", "property", "calibration"]

ALL_INSTRUMENTS = "all"
"""The `instrument` of a doubt that touches every probe."""


class Doubt(Frozen):
    """A structured warning that goes with a number."""

    kind: str
    """A name of the catalogue ([doubts](doubts.md)), such as `cache-not-quite-cold`."""
    subject: str = ""
    """The name of what it is about: a medium, a job, a placement; empty for all of the trial, run or machine."""
    instrument: str = ""
    """The probe, or other source of figures, that could not see everything; empty where there is none."""
    severity: int = 0
    """Above 0 where the doubt could change the answer of a comparison; a greater one is worse."""
    what: str
    """What happened."""
    why: str
    """Why it matters for the figures."""
    cure: str
    """What the user can do."""


class DoubtKind(NamedTuple):
    """A row of the catalogue. `about` is the sort of subject, `when` what raises the doubt; else as in `Doubt`."""

    name: str
    about: About
    when: str
    why: str
    cure: str
    instrument: str = ""
    severity: int = 0

    def doubt(self, what: str, subject: str = "", *, why: str = "", cure: str = "", instrument: str = "") -> Doubt:
        """A doubt of this kind; a reason, a cure or an instrument that is given replaces the kind's."""
        return Doubt(
            kind=self.name,
            subject=subject,
            instrument=instrument or self.instrument,
            severity=self.severity,
            what=what,
            why=why or self.why,
            cure=cure or self.cure,
        )


DOUBTS: Registry[DoubtKind] = Registry(
    "kind of doubt",
    "assay.cli", "assay.engine", "assay.media", "assay.model", "assay.node", "assay.plan", "assay.platform",
    "assay.probe", "assay.record", "assay.report", "assay.stats", "assay.store", "assay.trial", "assay.workload",
    NAMESPACE,
)  # fmt: skip
"""The catalogue: whatever raises doubts adds their kinds with `doubt_kind`, plug-ins too."""


def doubt_kind(
    name: str, about: About, *, when: str, why: str, cure: str, instrument: str = "", severity: int = 0
) -> DoubtKind:
    """A new kind of doubt, added to the catalogue."""
    kind = DoubtKind(name, about, when, why, cure, instrument, severity)
    DOUBTS.add(name, kind)
    return kind


def decisive(doubts: Iterable[Doubt]) -> list[tuple[Doubt, int]]:
    """List the first doubt of each kind that could change an answer, with their number; the worst kind first."""
    by_kind: dict[str, list[Doubt]] = {}
    for doubt in doubts:
        if doubt.severity > 0:
            by_kind.setdefault(doubt.kind, []).append(doubt)
    return sorted(((doubts[0], len(doubts)) for doubts in by_kind.values()), key=lambda entry: -entry[0].severity)


class Outcome(StrEnum):
    """Judgement of an output, the worst last. A check that crashed or could not be made is `unknown`, never `pass`."""

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    UNKNOWN = "unknown"
    FAIL = "fail"


class CheckResult(Frozen):
    """The result of a check of an output."""

    check: str
    """What was checked."""
    outcome: Outcome
    """The result."""
    detail: str
    """What was seen."""
    ended: Annotated[bool, Field(exclude_if=lambda ended: ended)] = True
    """Whether its job came to its end. One of several that did not has no output to check; `detail` says why."""


def verdict(check: str, *, passed: bool, detail: str) -> CheckResult:
    """Pass or fail with what was seen."""
    return CheckResult(check=check, outcome=Outcome.PASS if passed else Outcome.FAIL, detail=detail)


def overall(verdicts: tuple[CheckResult, ...]) -> Outcome:
    """The worst of several verdicts; none at all is `unknown`."""
    return max((verdict.outcome for verdict in verdicts), key=list(Outcome).index, default=Outcome.UNKNOWN)
