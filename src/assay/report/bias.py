"""The direction in which each kind of doubt moves the savings of a report."""

from collections.abc import Mapping

from assay.report.words import capitalised

_SLOWER_DRIVE = "what this drive saves comes out too small, and what another saves against it too large"
_LESS_DRIVE = "drives cost less time than in a cold run, so the saving comes out too small as a rule"

BIASES: Mapping[str, str] = {
    "page-cache-not-held": "a larger page cache makes the saving too small",
    "page-cache-hides-medium": "with larger data drives would cost more, so the saving comes out too small as a rule",
    "cache-unknown": _LESS_DRIVE,
    "cache-not-quite-cold": _LESS_DRIVE,
    "page-cache-off-budget": "above its budget it makes the saving too small, below it too large",
    "emulator-was-late": _SLOWER_DRIVE,
    "emulator-was-slow": _SLOWER_DRIVE,
    "drive-beyond-the-path": _SLOWER_DRIVE,
    "drive-too-fast-for-this-machine": _SLOWER_DRIVE,
    "link-too-slow": "what a faster network saves comes out too small",
    "emulated-beside-real": "the real medium comes out too slow",
    "write-back-age-missing": "the hard disk comes out too fast, so the saving too small",
    "dirty-limit-missing": "the hard disk comes out too fast, so the saving too small",
    "blocked-beyond-pressure": "the blocked time may be too large or too small; the saving does not rest on it",
    "storage-estimates-disagree": "either share may be the wrong one; the saving does not rest on the blocked time",
    "processors-varied": "the saving may be too large or too small, and its interval is wide",
    "machine-shared": "computing took longer and the drives did not, so the saving comes out too small as a rule",
}
"""Words for kinds of doubts about times. The others move them either way, or not at all."""


def bias_text(kind: str) -> str:
    """A sentence for behind a doubt of a kind: ` The saving comes out too small.`; empty where nothing is known."""
    bias = BIASES.get(kind, "")
    return f" {capitalised(bias)}." if bias else ""
