"""A heavy-tailed degree sequence with a given size, sum, and sum of squares.

The number of vertices of degree d is proportional to (d + shift)^-gamma for 1 <= d <= largest: a power law whose head
is bent by `shift` (Mandelbrot's form). `gamma` gives the mean, `shift` the mean square.
"""

import numpy as np
from numpy.typing import NDArray

Degrees = NDArray[np.int64]
Shares = NDArray[np.float64]

_STEPS = 48


def degree_sequence(nodes: int, total: int, squares: int, largest: int) -> Degrees:
    """Degrees in descending order: `nodes` of them, at least 1, their sum exactly `total`.

    The sum of squares comes as near to `squares` as the form and `largest` allow. The parameters are rounded before
    they are used, so that the last digits of a machine's arithmetic don't matter.
    """
    degree = np.arange(1, largest + 1, dtype=np.float64)
    shift = _shift(degree, total / nodes, squares / nodes)
    shares = _shares(_logarithm(degree, round(shift, 5)), round(_gamma(degree, shift, total / nodes), 6))
    at_least = np.floor(np.cumsum(shares[::-1])[::-1] * nodes + 0.5).astype(np.int64)
    at_least[0] = nodes
    sequence = np.searchsorted(-at_least, -np.arange(1, nodes + 1), side="right").astype(np.int64)
    return _with_sum(sequence, total)


def _shares(logarithm: Shares, gamma: float) -> Shares:
    """The share of each degree, from the logarithms of degree + shift."""
    weight = np.exp(gamma * (logarithm[0] - logarithm))
    return np.asarray(weight / weight.sum(), dtype=np.float64)


def _logarithm(degree: Shares, shift: float) -> Shares:
    return np.asarray(np.log(degree + shift), dtype=np.float64)


def _gamma(degree: Shares, shift: float, mean: float) -> float:
    """The exponent that gives the mean, by bisection: the mean falls with it."""
    logarithm = _logarithm(degree, shift)
    low, high = 0.0, 40.0 + 4.0 * shift
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _mean(_shares(logarithm, middle), degree) > mean:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _mean(shares: Shares, values: Shares) -> float:
    """The mean of values; not by BLAS, whose threads and rounding differ from machine to machine."""
    return float((shares * values).sum())


def _shift(degree: Shares, mean: float, mean_square: float) -> float:
    """The shift that gives the mean square, by bisection on its logarithm: with the mean held, squares fall with it."""
    low, high = np.log(0.02), np.log(1e4)
    for _ in range(24):
        middle = (low + high) / 2
        shift = float(np.exp(middle)) - 1.0
        shares = _shares(_logarithm(degree, shift), _gamma(degree, shift, mean))
        if _mean(shares, degree * degree) > mean_square:
            low = middle
        else:
            high = middle
    return float(np.exp((low + high) / 2)) - 1.0


def _with_sum(sequence: Degrees, total: int) -> Degrees:
    """Raises or lowers degrees by one, spread evenly over the vertices that can bear it, until the sum is right."""
    while missing := total - int(sequence.sum()):
        able = np.flatnonzero(sequence > 1)
        if not able.size:
            able = np.arange(sequence.size)
        count = min(abs(missing), able.size)
        chosen = able[np.arange(count, dtype=np.int64) * able.size // count]
        sequence[chosen] += 1 if missing > 0 else -1
    return np.sort(sequence)[::-1].copy()
