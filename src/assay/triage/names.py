"""Which jobs are runs of one job: names without their dates, numbers and identifiers."""

import re
from collections.abc import Mapping, Sequence

from assay.engine.past.job import PastJob
from assay.model.naming import printable

_DROPPED = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # a UUID
    r"|(?<![^\W_])(?=[0-9a-f]*[0-9])[0-9a-f]{16,}(?![^\W_])"  # a digest
    r"|\d{4,}(?:[-_:./T ]\d+)*"  # 20261125, 2026-11-25, 2026/11/25 03:15
    r"|(?<![^\W_])(?<![Ss]tage-)\d+(?:[-_:./]\d+)*(?![^\W_])",  # 17 in `run 17`; not 2 in `q2`, nor Hive's stages
    re.IGNORECASE,
)
_MARK = "\0"
_SIGNS = r"[\s_\-:./#=,]*"
_AROUND = re.compile(f"{_SIGNS}(?:{_MARK}{_SIGNS})+")
_EDGES = " _-:./#=,"
NAMELESS = "(name not known)"


def recurring(name: str) -> str:
    """A job's name as all of its runs have it."""
    plain = " ".join(printable(name).replace(_MARK, " ").split())
    marked = _DROPPED.sub(_MARK, plain)
    if marked == plain:
        return plain or NAMELESS
    # Of the signs around what was dropped the first one stays, so that words on both sides stay apart.
    rest = _AROUND.sub(lambda match: match[0].replace(_MARK, "")[:1], marked).strip(_EDGES)
    return rest if any(map(str.isalnum, rest)) else plain


def run_name(job: PastJob) -> str:
    """What all runs of a job are called: its name, and its user where shells give the name to everybody's sessions."""
    name = recurring(job.name)
    return f"{name} ({job.owner})" if job.owner else name


def numbered(names: Sequence[str]) -> Mapping[str, str]:
    """Numbers in place of names, for a reader who must not know them: `job 1` is the first."""
    return {name: f"job {number}" for number, name in enumerate(dict.fromkeys(names), 1)}
