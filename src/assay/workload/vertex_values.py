"""Outputs that give each vertex a whole number: how they are read, and judged against another computation's."""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from assay.model.doubt import Verdict, verdict
from assay.model.errors import AssayError
from assay.model.store import Store

# What vertices without a value have, where there are such.
NONE = b"-1"
_MOST = (1 << 63) - 1


def read_values(store: Store, output: str, name: str) -> NDArray[np.int64]:
    """The first two fields of each line, vertex and value, by ascending vertex (shape (lines, 2)).

    Raises AssayError for a line that does not begin with two whole numbers of at most 63 bits.
    """
    found = np.fromiter(_numbers(store, output, name), dtype=np.int64).reshape(-1, 2)
    return found[np.argsort(found[:, 0], kind="stable")]


def _numbers(store: Store, output: str, name: str) -> Iterator[int]:
    for line in store.lines(output):
        if not line:
            continue
        fields = line.split(b"\t", 2)[:2]
        if len(fields) != 2 or not (fields[0].isdigit() and (fields[1].isdigit() or fields[1] == NONE)):
            raise AssayError(f"the output of {name} has a line that is not `vertex, value`: {line[:80]!r}")
        numbers = (int(fields[0]), int(fields[1]))
        if max(numbers) > _MOST:
            raise AssayError(f"the output of {name} has a number beyond 63 bits: {line[:80]!r}")
        yield from numbers


def judge_values(
    found: NDArray[np.int64], vertices: NDArray[np.int64], expected: NDArray[np.int64], check: str, seen: str
) -> tuple[Verdict, ...]:
    """Whether each of `vertices`, which ascend, has one line with its expected value; `seen` goes with the detail."""
    same_vertices = np.array_equal(found[:, 0], vertices)
    wrong = int((found[:, 1] != expected).sum()) if same_vertices else -1
    return (
        verdict(
            "every vertex appears exactly once",
            passed=same_vertices,
            detail=f"{len(found)} lines for {len(vertices)} vertices",
        ),
        verdict(
            check,
            passed=wrong == 0,
            detail=f"{seen}; {wrong} vertices differ" if same_vertices else "not comparable",
        ),
    )


def judge_counters(told: Mapping[str, int | float], expected: Mapping[str, int]) -> Verdict:
    """Whether the jobs counted what the other computation has."""
    wrong = [
        f"{name} is {told.get(name)} instead of {value}" for name, value in expected.items() if told.get(name) != value
    ]
    right = ", ".join(f"{name} {value}" for name, value in expected.items())
    return verdict("counters are right", passed=not wrong, detail=", ".join(wrong) or right)
