"""Doubts and verdicts: what goes with a number so that nobody trusts it more than it deserves."""

from collections.abc import Iterable
from enum import StrEnum

from assay.model.base import Frozen


class Doubt(Frozen):
    """A typed warning that goes with a number.

    `kind` is a stable identifier (`cache-not-cold`), `what` says what happened, `why` why it matters for the
    figures, `cure` what the user can do.
    """

    kind: str
    what: str
    why: str
    cure: str


DECISIVE = (
    "wrong-outputs", "no-emulated-drives", "different-machines", "medium-changed", "placement-missed",
    "few-repetitions",
    "same-names-for-other-things", "medium-is-no-disk", "cache-unknown", "page-cache-hides-medium", "emulator-was-late",
    "drive-too-fast-for-this-machine", "emulator-was-slow", "emulated-beside-real", "memory-not-bounded",
    "out-of-memory", "history-incomplete", "cache-not-quite-cold", "parts-apart", "processors-varied", "machine-shared",
)  # fmt: skip
"""The kinds of doubt that could change a comparison's answer, the worst first. Others touch single figures only."""


def decisive(doubts: Iterable[Doubt]) -> list[tuple[Doubt, int]]:
    """Of each decisive kind the first doubt and how many there are; the worst kind first."""
    found: dict[str, list[Doubt]] = {}
    for doubt in doubts:
        found.setdefault(doubt.kind, []).append(doubt)
    return [(found[kind][0], len(found[kind])) for kind in DECISIVE if kind in found]


class Outcome(StrEnum):
    """Judgement of an output. A check that crashed or could not be made is `unknown`, never `pass`."""

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    UNKNOWN = "unknown"
    FAIL = "fail"


class Verdict(Frozen):
    """The result of a check of an output."""

    check: str
    """What was checked."""
    outcome: Outcome
    """The result."""
    detail: str
    """What was seen."""


def verdict(check: str, *, passed: bool, detail: str) -> Verdict:
    """Pass or fail with what was seen."""
    return Verdict(check=check, outcome=Outcome.PASS if passed else Outcome.FAIL, detail=detail)


def overall(verdicts: tuple[Verdict, ...]) -> Outcome:
    """The worst of several verdicts; none at all is `unknown`."""
    outcomes = {verdict.outcome for verdict in verdicts}
    if Outcome.FAIL in outcomes:
        return Outcome.FAIL
    if Outcome.UNKNOWN in outcomes or not outcomes:
        return Outcome.UNKNOWN
    return Outcome.PASS
