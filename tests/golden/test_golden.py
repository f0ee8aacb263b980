"""Proves that what Assay shows is what it showed when the golden files were written: reports and plans.

A change on purpose: `python -m tests.golden.make`, in a commit of its own.
"""

import difflib
import re
from itertools import islice

import pytest

from tests.golden.making import EXPECTED, kinds

MOST_LINES = 40
SLOW = {"reports/thesis-figures-2-3-scaled", "plans"}
"""The largest report, as others show most of it too, and the plans of all experiments."""
LONG_NUMBER = re.compile(r"-?\d+\.\d{9,}(?:e-?\d+)?")
"""Their last digits depend on the processor: numpy adds in another order where it has wider registers."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] * (kind in SLOW)) for kind in kinds(EXPECTED)]
)
def test_it_shows_what_it_showed(kind, tmp_path):
    made = kinds(tmp_path)[kind]()
    kept = {file.relative_to(EXPECTED).as_posix() for file in (EXPECTED / kind).rglob("*") if file.is_file()}
    assert sorted(made) == sorted(kept)
    differences = [line for name, text in sorted(made.items()) for line in difference(name, text)]
    assert not differences, "\n".join(["it differs; if on purpose: python -m tests.golden.make", *differences])


def difference(name, text):
    """The first lines of what differs, none where nothing does."""
    expected, text = (
        LONG_NUMBER.sub(lambda number: f"{float(number[0]):.9g}", whole)
        for whole in ((EXPECTED / name).read_text(), text)
    )
    if expected == text:
        return []
    lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), name, "now", n=1, lineterm="")
    return list(islice((line[:300] for line in lines), MOST_LINES))
