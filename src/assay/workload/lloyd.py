"""Lloyd's iteration with SciPy's distances: what the jobs' k-means is judged against.

The loop is written out here because the libraries' own know neither the jobs' rule for ties nor a convergence that is
looked at after each iteration. Where there is no tie it is held to scipy.cluster.vq.kmeans2 by the tests.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.model.errors import AssayError
from assay.workload.points import Floats, Points

# Squared distances that differ by less than this share are equal, for the jobs too.
TIE = 1e-12
# So many distances at once.
_DISTANCES = 1 << 21


class Course(NamedTuple):
    """What the iterations did: the last centres, their clusters' points, and for each iteration two figures.

    `inertias` are the sums of squared distances before the centres moved; `moves` the largest move of a coordinate,
    as a share of its mean magnitude in the cluster.
    """

    centres: Floats
    counts: NDArray[np.int64]
    inertias: tuple[float, ...]
    moves: tuple[float, ...]


def nearest(points: Floats, centres: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The index of each point's nearest centre, the lowest where several are, and the squared distance (both (n,)).

    Raises AssayError for a point that has no finite squared distance from any centre.
    """
    from scipy.spatial.distance import cdist

    squares = cdist(points, centres, "sqeuclidean")
    least = squares.min(axis=1)
    # All distances would be equal, and the lowest index as good as any.
    if not np.isfinite(least).all():
        raise AssayError("a point is so far from all centres that the square of its distance is beyond a double")
    return (squares <= (least * (1 + TIE))[:, None]).argmax(axis=1), least


def iterate(points: Points, start: Floats, iterations: int) -> Course:
    """So many iterations from these centres; an empty cluster keeps its centre."""
    centres, inertias, moves = start, [], []
    counts = np.zeros(len(start), dtype=np.int64)
    for _ in range(iterations):
        # Extended precision, so that the means hardly depend on the order of the sums.
        sums, sizes = np.zeros(centres.shape, dtype=np.longdouble), np.zeros(centres.shape)
        counts = np.zeros(len(centres), dtype=np.int64)
        inertia = 0.0
        for chunk in points.chunks():
            rows = max(1, _DISTANCES // len(centres))
            for part in (chunk[at : at + rows] for at in range(0, len(chunk), rows)):
                labels, squares = nearest(part, centres)
                inertia += float(squares.sum())
                counts += np.bincount(labels, minlength=len(centres))
                for label in np.unique(labels):
                    members = part[labels == label]
                    sums[label] += members.sum(axis=0, dtype=np.longdouble)
                    sizes[label] += np.abs(members).sum(axis=0)
        filled = counts > 0
        after = centres.copy()
        after[filled] = (sums[filled] / counts[filled, None]).astype(np.float64)
        moves.append(_largest_move(centres[filled], after[filled], sizes[filled] / counts[filled, None]))
        inertias.append(inertia)
        centres = after
    return Course(centres, counts, tuple(inertias), tuple(moves))


def _largest_move(before: Floats, after: Floats, sizes: Floats) -> float:
    moved = np.abs(after - before)
    shares = np.divide(moved, sizes, out=np.where(moved > 0, np.inf, 0.0), where=sizes > 0)
    return float(shares.max(initial=0.0))
