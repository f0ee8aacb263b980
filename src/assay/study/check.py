"""From claims to a verdict: a statement holds as its claims are found at the places that a run shows.

Strict on purpose: what is said of all cases falls with those that clearly speak against it, and stands only if more
than half clearly speak for it and none against. What is said of some case, and what falls, needs more of them than
chance alone would give: of many places one or two point somewhere by luck. What is said of some case is never refuted:
it may be one that the run does not have.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import comb
from typing import Literal, NamedTuple

from assay.model.base import Frozen
from assay.study.claim import Claim, Finding
from assay.study.difference import LEVEL, Truth
from assay.study.point import Measured
from assay.study.published import Statement

Quantifier = Literal["every", "mostly", "some"]
Verdict = Literal["confirmed", "refuted", "undecided", "not addressed"]

TRUTHS: tuple[Truth, ...] = ("yes", "no", "unclear")


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
    """A statement, what became of it, and the evidence; `reason` says why it is not addressed.

    `places` counts, by truth, all places that were looked at; where one place is enough, `findings` are only those
    that are.
    """

    statement: Statement
    verdict: Verdict
    findings: tuple[Finding, ...] = ()
    places: Mapping[Truth, int] = {}
    reason: str = ""


def judge(
    statements: Sequence[Statement], checks: Mapping[str, Check], never: Mapping[str, str], measured: Measured
) -> tuple[Judged, ...]:
    """Every statement, in order; `never` says of which no run can speak, and why."""
    return tuple(_judged(one, checks.get(one.id, ()), never.get(one.id, ""), measured) for one in statements)


def _judged(statement: Statement, check: Check, reason: str, measured: Measured) -> Judged:
    check = () if reason else check
    found = [[finding for claim in part.claims for finding in claim.findings(measured)] for part in check]
    findings = tuple(one for part, own in zip(check, found, strict=True) for one in _evidence(part.quantifier, own))
    if not findings:
        why = reason or "this experiment measures nothing that it speaks of"
        return Judged(statement=statement, verdict="not addressed", reason=why)
    verdicts = {_held(part.quantifier, own) for part, own in zip(check, found, strict=True)}
    verdict: Verdict = "refuted" if "refuted" in verdicts else "confirmed" if verdicts == {"confirmed"} else "undecided"
    every_place = [one for own in found for one in own]
    places = {truth: _count(every_place, truth) for truth in TRUTHS}
    return Judged(statement=statement, verdict=verdict, findings=findings, places=places)


def _evidence(quantifier: Quantifier, findings: Sequence[Finding]) -> Sequence[Finding]:
    """Where one place is enough, only the places that are."""
    enough = [one for one in findings if one.truth == "yes"]
    return enough if quantifier == "some" and enough else findings


def _held(quantifier: Quantifier, findings: Sequence[Finding]) -> Verdict:
    speaks_for, against = (_count(findings, truth) for truth in ("yes", "no"))
    enough = beyond_chance(len(findings))
    if quantifier == "some":
        return "confirmed" if speaks_for >= enough else "undecided"
    if quantifier == "every" and against:
        return "refuted" if against >= enough else "undecided"
    if 2 * speaks_for > len(findings):
        return "confirmed"
    return "refuted" if 2 * against > len(findings) else "undecided"


def _count(findings: Sequence[Finding], truth: Truth) -> int:
    return sum(one.truth == truth for one in findings)


@cache
def beyond_chance(places: int) -> int:
    """The least number of places that chance seldom makes point one way, where in truth none does.

    Each place does so in half of the cases that its interval misses; that so many do together is to be as rare as an
    interval's miss.
    """
    by_luck = (1 - LEVEL) / 2
    fewer = 0.0
    for count in range(places + 1):
        if 1 - fewer <= 1 - LEVEL:
            return count
        fewer += comb(places, count) * by_luck**count * (1 - by_luck) ** (places - count)
    return places + 1
