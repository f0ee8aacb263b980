"""The output of k-means: centres with their clusters' sizes, and points with their clusters."""

from collections.abc import Iterable, Iterator
from itertools import islice
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assay.model.doubt import Verdict, verdict
from assay.model.errors import AssayError
from assay.model.store import Store
from assay.workload.lloyd import nearest
from assay.workload.points import Floats

_LINES = 1 << 16
_SEPARATORS = bytes.maketrans(b",\t", b"  ")


def read_centres(store: Store, path: str, shape: tuple[int, ...]) -> tuple[Floats, NDArray[np.int64]]:
    """Lines of `index<TAB>points<TAB>x1,x2,...` as centres (of this shape) and points (shape (k,)).

    Raises AssayError when one is missing, twice, a stranger or not of the form.
    """
    found: dict[int, tuple[int, list[float]]] = {}
    for line in store.lines(path):
        try:
            index, points, coordinates = line.split(b"\t")
            values = [float(one) for one in coordinates.split(b",")]
            number, count = int(index), int(points)
        except ValueError:
            raise AssayError(f"the output of k-means has a line that is not a centre: {line[:100]!r}") from None
        if number in found or not 0 <= number < shape[0] or len(values) != shape[1]:
            raise AssayError(f"the output of k-means has a centre twice, or one that is not known: {line[:100]!r}")
        found[number] = (count, values)
    if len(found) != shape[0]:
        raise AssayError(f"the output of k-means has {len(found)} centres, and should have {shape[0]}")
    ordered = [found[number] for number in range(shape[0])]
    return np.array([values for _, values in ordered]), np.array([count for count, _ in ordered])


def judge_clusters(
    assigned: Iterable[bytes], given: Iterable[bytes], centres: Floats, told: int | float | None
) -> tuple[Verdict, ...]:
    """Lines of `index<TAB>point` hold each of the given points once, each with the nearest of these centres.

    The points are compared as a whole, by their number and the sum of their lines' CRC-32 checksums. Raises AssayError
    for a line of another form.
    """
    wrong = 0
    seen = np.zeros(2, dtype=np.int64)
    for lines in _some(assigned):
        labels, texts, points = zip(*(_assigned(line, centres.shape[1]) for line in lines), strict=True)
        seen += _sums(texts)
        expected, _ = nearest(np.array(points, dtype=np.float64), centres)
        wrong += sum(label != right for label, right in zip(labels, expected.tolist(), strict=True))
    wanted = sum((_sums(lines) for lines in _some(given)), np.zeros(2, dtype=np.int64))
    return (
        verdict(
            "every point is assigned once",
            passed=np.array_equal(seen, wanted) and told == seen[0],
            detail=f"{seen[0]} points with checksum {seen[1]:x}, {wanted[0]} with {wanted[1]:x} given, {told} counted",
        ),
        verdict("every point is with its nearest centre", passed=wrong == 0, detail=f"{wrong} are not"),
    )


def _assigned(line: bytes, attributes: int) -> tuple[int, bytes, list[float]]:
    """The index of a line, its point as it stands, and as numbers. Raises AssayError for a line of another form."""
    label, _, text = line.partition(b"\t")
    try:
        index, point = int(label), [float(field) for field in text.translate(_SEPARATORS).split()]
    except ValueError:
        index, point = -1, []
    if len(point) != attributes:
        raise AssayError(f"the output of k-means has a line that is not a cluster's index and a point: {line[:100]!r}")
    return index, text, point


def _some(lines: Iterable[bytes]) -> Iterator[tuple[bytes, ...]]:
    """Those that are not blank, without a carriage return at the end, many at once."""
    ended = (line.removesuffix(b"\r") for line in lines)
    full = (line for line in ended if line.translate(_SEPARATORS).strip())
    while some := tuple(islice(full, _LINES)):
        yield some


def _sums(lines: Iterable[bytes]) -> NDArray[np.int64]:
    sums = [crc32(line) for line in lines]
    return np.array([len(sums), sum(sums)])
