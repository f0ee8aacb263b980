"""From claims to a verdict: a statement holds as its claims are found at the places that a run shows.

Strict on purpose: what is said of all cases falls with one that clearly speaks against it, and stands only if more than
half of the cases clearly speak for it and none against.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from assay.model.base import Frozen
from assay.study.claim import Claim, Finding
from assay.study.point import Measured
from assay.study.published import Statement

Quantifier = Literal["every", "mostly", "some"]
Verdict = Literal["confirmed", "refuted", "undecided", "not addressed"]


class Part(NamedTuple):
    """Claims of which `every` place must hold, `mostly` more than half of them, or `some`."""

    quantifier: Quantifier
    claims: tuple[Claim, ...]


Check = tuple[Part, ...]
"""All parts must hold."""


def every(*claims: Claim) -> Part:
    """All places."""
    return Part("every", claims)


def mostly(*claims: Claim) -> Part:
    """More than half of the places."""
    return Part("mostly", claims)


def some(*claims: Claim) -> Part:
    """At least one place."""
    return Part("some", claims)


class Judged(Frozen):
    """A statement, what became of it, and the evidence; `reason` says why it is not addressed."""

    statement: Statement
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    reason: str = ""


def judge(
    statements: Sequence[Statement], checks: Mapping[str, Check], never: Mapping[str, str], measured: Measured
) -> tuple[Judged, ...]:
    """Every statement, in order; `never` says of which no run can speak, and why."""
    return tuple(_judged(one, checks.get(one.id, ()), never.get(one.id, ""), measured) for one in statements)


def _judged(statement: Statement, check: Check, reason: str, measured: Measured) -> Judged:
    found = [[finding for claim in part.claims for finding in claim.findings(measured)] for part in check]
    findings = tuple(one for part, own in zip(check, found, strict=True) for one in _evidence(part.quantifier, own))
    if not findings:
        why = reason or "this experiment measures nothing that it speaks of"
        return Judged(statement=statement, verdict="not addressed", reason=why)
    verdicts = {_held(part.quantifier, own) for part, own in zip(check, found, strict=True)}
    verdict: Verdict = "refuted" if "refuted" in verdicts else "confirmed" if verdicts == {"confirmed"} else "undecided"
    return Judged(statement=statement, verdict=verdict, findings=findings)


def _evidence(quantifier: Quantifier, findings: Sequence[Finding]) -> Sequence[Finding]:
    """Where one place is enough, only the places that are."""
    enough = [one for one in findings if one.truth == "yes"]
    return enough if quantifier == "some" and enough else findings


def _held(quantifier: Quantifier, findings: Sequence[Finding]) -> Verdict:
    speaks_for, against = (sum(one.truth == truth for one in findings) for truth in ("yes", "no"))
    if quantifier == "some":
        if speaks_for:
            return "confirmed"
        return "refuted" if against and against == len(findings) else "undecided"
    if quantifier == "every" and against:
        return "refuted"
    if 2 * speaks_for > len(findings):
        return "confirmed"
    return "refuted" if 2 * against > len(findings) else "undecided"
