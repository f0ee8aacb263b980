"""Random numbers that are the same on every machine and with every version of numpy.

numpy promises the raw 64-bit output of a bit generator for ever, but not what `Generator` makes of it (NEP 19). So only
`PCG64.random_raw` is used here, and integers and choices are derived from it with exact arithmetic.
"""

import numpy as np
from numpy.typing import NDArray

Raw = NDArray[np.uint64]


class Source:
    """A seeded stream of random numbers; `part` names independent streams of one seed."""

    def __init__(self, seed: int, part: int) -> None:
        self._bits = np.random.PCG64(np.random.SeedSequence([seed, part]))

    def raw(self, size: int) -> Raw:
        """Uniform 64-bit numbers."""
        return np.asarray(self._bits.random_raw(size), dtype=np.uint64)

    def fractions(self, size: int) -> NDArray[np.float64]:
        """Uniform in [0, 1), multiples of 2^-53."""
        return (self.raw(size) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def below(self, limits: NDArray[np.int64] | int, size: int) -> NDArray[np.int64]:
        """Uniform whole numbers from 0 to each limit - 1 (limits below 2^40, so that rounding never reaches them)."""
        return (self.fractions(size) * limits).astype(np.int64)

    def chance(self, probability: float, size: int) -> NDArray[np.bool_]:
        """True with the given probability."""
        if probability >= 1.0:
            return np.ones(size, dtype=np.bool_)
        return np.asarray(self.raw(size) < np.uint64(int(probability * 2.0**64)))
