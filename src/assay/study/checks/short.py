"""Short forms of claims, and the places that many of the thesis' statements are of."""

from typing import Any

from assay.study.across import Effect
from assay.study.claim import Claim, Compare, Conditions, Relation, where

SMALL = ("Brightkite", "Amazon", "DBLP")
LARGE = ("Gowalla", "YouTube")
SSDS = ("ssd1", "ssd2")

TRIPLES = where(workload="mutual-friends", job="triples")
TRIADS = where(workload="triangles", job="triads")
CLOSING = where(workload="triangles", job="closing")
ITERATIONS = where(workload="components", job="all iterations")
JOBS = (TRIPLES, TRIADS, CLOSING, ITERATIONS)
"""Those whose phases the thesis has in tables."""


def of(places: Conditions, **more: Any) -> Conditions:
    """Some places, narrowed down."""
    return {**places, **where(**more)}


def drive(medium: str, relation: Relation, base: str, places: Conditions, **more: Any) -> Claim:
    """One drive beside another."""
    return Compare("medium", medium, relation, base, of(places, **more))


def settings(level: str, relation: Relation, base: str, places: Conditions, **more: Any) -> Claim:
    """One profile beside another."""
    return Compare("settings", level, relation, base, of(places, **more))


def hdd_gains(level: str, base: str, places: Conditions, **more: Any) -> Claim:
    """The hard disk gains more from other settings than the second SSD."""
    return Effect("settings", base, level, "medium", "hdd", "ssd2", of(places, **more))


def hdd_saves(level: str, base: str, places: Conditions, **more: Any) -> Claim:
    """Other settings take more seconds off the hard disk's time than off the second SSD's."""
    return Effect("settings", base, level, "medium", "hdd", "ssd2", of(places, **more), "more saved")
