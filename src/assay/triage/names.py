"""Which jobs are runs of one job: names without what changes from run to run.

That is dates and hours that follow on them, years from 2000 to 2049, times of day, and identifiers: UUIDs, digests,
numbers of six digits or more.
A number after `run`, `attempt`, `try` or `retry` counts runs, too. All other numbers stay: `etl_1001` to `etl_1040` are
forty jobs that do different work, as are sums over 7 days and over 30, and no name tells whether such a number counts
jobs or runs.
A verdict on several jobs that are taken for one holds for none of them; runs of one job that are taken for several jobs
only make the list longer.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from assay.engine.past.job import PastJob
from assay.model.naming import printable

_DATE = (
    r"(?<!\d)(?:\d{4}[-_./]\d{1,2}[-_./]\d{1,2}(?:/\d{1,2})*"  # 2026-11-25, 2026/11/25/03
    r"|\d{1,2}[-_./]\d{1,2}[-_./]\d{4}|\d{8}"  # 25.11.2026, 20261125
    r"|(?:19|20)\d\d[-_./](?:0?[1-9]|1[0-2])"  # 2026-11
    r"|(?<![^\W_])\d\d(?P<sign>[-./])\d\d(?P=sign)\d\d)(?!\d)"  # 26-11-25
    r"(?:[T_ -]?\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?Z?"  # and a time of that day: 03:15
    r"|[T_-](?:[01]\d|2[0-3])(?:[0-5]\d){0,2}Z?(?![^\W_]))?"  # _03, T0315
)
_CHANGING = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # a UUID
    r"|(?<![^\W_])(?=[0-9a-f]*[0-9])[0-9a-f]{16,}(?![^\W_])"  # a digest
    r"|\d{9,}(?:_\d{4,})+(?:_[mr]_\d{6}(?:_\d+)?)?"  # 1795226383840_0042, of an application, a job or an attempt
    rf"|{_DATE}"
    r"|(?<![^\W_])\d{1,2}:\d\d(?::\d\d)?(?![^\W_])"  # 03:15
    r"|(?P<counted>(?<![^\W_])(?:run|attempt|try|retry)[-_:=#./ ]{0,2})\d{1,5}(?![^\W_])"  # run 17
    r"|\d{6,}|(?<![^\W_])20[0-4]\d(?![^\W_])",  # and a year
    re.IGNORECASE,
)
_MARK = "\0"
_SIGNS = r"[\s_\-:./#=,]*"
_AROUND = re.compile(f"{_SIGNS}(?:{_MARK}{_SIGNS})+")
_EDGES = " _-:./#=,"
NAMELESS = "(name not known)"


@lru_cache(maxsize=1 << 14)
def recurring(name: str) -> str:
    """A job's name as all of its runs have it."""
    plain = " ".join(printable(name).replace(_MARK, " ").split())
    marked = _CHANGING.sub(lambda match: (match["counted"] or "") + _MARK, plain)
    if marked == plain:
        return plain or NAMELESS
    # Of the signs around what was dropped the first one stays, so that words on both sides stay apart.
    rest = _AROUND.sub(lambda match: match[0].replace(_MARK, "")[:1], marked).strip(_EDGES)
    return rest if any(map(str.isalnum, rest)) else plain


def changes(part: str) -> bool:
    """Whether a part of a name or path has what changes from run to run."""
    return _CHANGING.search(part) is not None


def run_name(job: PastJob) -> str:
    """What all runs of a job are called: its name, and its user where many users' jobs have that name.

    All jobs of a query are called by the query.
    """
    name = recurring(job.query or job.name)
    return f"{name} ({job.owner})" if job.owner else name


def numbered(names: Sequence[str]) -> Mapping[str, str]:
    """Numbers in place of names, for a reader who must not know them: `job 1` is the first."""
    return {name: f"job {number}" for number, name in enumerate(dict.fromkeys(names), 1)}
