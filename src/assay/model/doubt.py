"""Doubts and verdicts: what goes with a number so that nobody trusts it more than it deserves."""

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


class Outcome(StrEnum):
    """Judgement of an output. A check that crashed or could not be made is `unknown`, never `pass`."""

    PASS = "pass"  # noqa: S105 - an outcome, not a password
    UNKNOWN = "unknown"
    FAIL = "fail"


class Verdict(Frozen):
    """What one check found about one output."""

    check: str
    outcome: Outcome
    detail: str


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
