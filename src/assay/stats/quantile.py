"""Weighted quantiles of more values than one wants to sort: digit by digit, in a few passes over pieces of them."""

from assay.model.signature import Array

DIGIT_BITS = 11
_DIGITS = 1 << DIGIT_BITS
_LEAST = 1 - 1e-12
"""Sums of weights in another order differ in their last digits: of a share that is reached exactly nothing is lost."""


class Quantile:
    """The least of some whole numbers, none below 0, up to which a share of their weight lies.

    All values are shown in pieces, again and again, until it is `found`: each pass finds one digit of 11 bits, the
    highest first. `greatest` is the greatest of them.
    """

    def __init__(self, share: float, greatest: int) -> None:
        import numpy as np

        self._share = share
        self._shift = DIGIT_BITS * max(0, (greatest.bit_length() - 1) // DIGIT_BITS)
        self._prefix = 0
        self._below = 0.0
        self._wanted: float | None = None
        self._weights = np.zeros(_DIGITS)
        self.found = False

    @property
    def value(self) -> int:
        """Once it is found."""
        return self._prefix

    def see(self, values: Array, weight: Array) -> None:
        """Some of the values, with their weights."""
        import numpy as np

        if self.found:
            return
        digits = values >> self._shift
        if self._wanted is not None:
            inside = digits >> DIGIT_BITS == self._prefix
            digits, weight = digits[inside], weight[inside]
        self._weights += np.bincount(digits & (_DIGITS - 1), weights=weight, minlength=_DIGITS)

    def end_pass(self) -> None:
        """All values have been shown."""
        import numpy as np

        if self.found:
            return
        upto = self._below + np.cumsum(self._weights)
        if self._wanted is None:
            self._wanted = self._share * float(upto[-1]) * _LEAST
        some = np.flatnonzero(self._weights)
        digit = int(np.searchsorted(upto, self._wanted))
        digit = min(max(digit, int(some[0])), int(some[-1])) if len(some) else 0
        self._below = float(upto[digit] - self._weights[digit])
        self._prefix = self._prefix << DIGIT_BITS | digit
        self.found = self._shift == 0
        self._shift -= DIGIT_BITS
        self._weights[:] = 0
