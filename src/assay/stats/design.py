"""Which effects a plan can tell: a column of numbers for each free level of each factor and pair of factors.

Levels are coded so that those of a factor add up to nothing: an effect is the distance from the average over levels.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import NamedTuple

from assay.model.signature import Array
from assay.stats.sample import Sample, in_order

MOST_COLUMNS = 400
"""Beyond this a fit takes longer than anyone reads of it."""


class Term(NamedTuple):
    """One factor, or two together. `place` are its columns in the design.

    `contrasts` turn its coefficients into an effect for each of its levels (of two factors: for each pair of theirs).
    """

    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    contrasts: Array
    place: slice


class Design(NamedTuple):
    """A row for each trial. `refused` says which effects can't be told, and why."""

    columns: Array
    terms: tuple[Term, ...]
    balanced: bool
    refused: tuple[str, ...]


class _Coded(NamedTuple):
    factors: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    contrasts: Array
    codes: Array


def design_of(found: Sequence[Sample], factors: Sequence[str]) -> Design:
    """Effects are refused in words where others determine a factor, or combinations of two factors are missing."""
    single = [_coded(name, [one.level(name) for one in found]) for name in factors]
    kept, refused = _independent(single, [], found)
    pairs: list[_Coded] = []
    width = sum(one.codes.shape[1] for one in kept)
    for first, second in combinations(kept, 2):
        names = f"{_named(first)} and {_named(second)}"
        wanted, count = len(first.levels) * len(second.levels), first.codes.shape[1] * second.codes.shape[1]
        seen = len({(one.level(first.factors[0]), one.level(second.factors[0])) for one in found})
        if seen < wanted:
            refused.append(
                f"whether {names} change each other's effect can't be told: {wanted - seen} of {wanted} combinations "
                "of their levels are missing"
            )
        elif width + count > MOST_COLUMNS:
            refused.append(f"whether {names} change each other's effect was left out: there are too many levels")
        else:
            pairs.append(_both(first, second))
            width += count
    told, more = _independent(pairs, kept, found)
    balanced = _balanced(found, kept)
    return Design(*_placed([*kept, *told], len(found)), balanced, (*refused, *more))


def _coded(name: str, values: Sequence[str]) -> _Coded:
    import numpy as np

    levels = in_order(values)
    contrasts = np.vstack([np.eye(len(levels) - 1), -np.ones((1, len(levels) - 1))])
    places = {level: place for place, level in enumerate(levels)}
    return _Coded(
        (name,), tuple((level,) for level in levels), contrasts, contrasts[[places[value] for value in values]]
    )


def _both(first: _Coded, second: _Coded) -> _Coded:
    import numpy as np

    return _Coded(
        factors=(*first.factors, *second.factors),
        levels=tuple((*one, *other) for one in first.levels for other in second.levels),
        contrasts=np.kron(first.contrasts, second.contrasts),
        codes=(first.codes[:, :, None] * second.codes[:, None, :]).reshape(len(first.codes), -1),
    )


def _independent(
    wanted: Sequence[_Coded], before: Sequence[_Coded], found: Sequence[Sample]
) -> tuple[list[_Coded], list[str]]:
    """Those whose columns no others make up within repetitions, in turn; and a sentence for each that is left out."""
    import numpy as np

    every = [*before, *wanted]
    starts = np.cumsum([0, *(one.codes.shape[1] for one in every)])
    squares = _within(np.hstack([np.zeros((len(found), 0)), *(one.codes for one in every)]), found)
    kept, refused = [], []
    columns = list(range(starts[len(before)]))
    for place, one in enumerate(wanted, start=len(before)):
        wider = [*columns, *range(starts[place], starts[place + 1])]
        if len(wider) > MOST_COLUMNS:
            refused.append(f"the effect of {_named(one)} was left out: there are too many levels")
        elif np.linalg.matrix_rank(squares[np.ix_(wider, wider)], hermitian=True) < len(wider):
            refused.append(f"the effect of {_named(one)} can't be told: it varies only together with others")
        else:
            kept.append(one)
            columns = wider
    return kept, refused


def _within(columns: Array, found: Sequence[Sample]) -> Array:
    """Sums of products of the columns' distances from their means in each repetition."""
    import numpy as np

    repetitions = np.array([one.repetition for one in found])
    squares = np.zeros((columns.shape[1], columns.shape[1]))
    for repetition in np.unique(repetitions):
        own = columns[repetitions == repetition]
        own = own - own.mean(axis=0)
        squares += own.T @ own
    return squares


def _placed(coded: Sequence[_Coded], rows: int) -> tuple[Array, tuple[Term, ...]]:
    import numpy as np

    terms = []
    width = 0
    for one in coded:
        place = slice(width, width + one.codes.shape[1])
        terms.append(Term(one.factors, one.levels, one.contrasts, place))
        width = place.stop
    return np.hstack([np.zeros((rows, 0)), *(one.codes for one in coded)]), tuple(terms)


def _balanced(found: Sequence[Sample], kept: Sequence[_Coded]) -> bool:
    """Whether each combination of the levels ran equally often."""
    runs = Counter(tuple(one.level(each.factors[0]) for each in kept) for one in found)
    return len(runs) == prod(len(one.levels) for one in kept) and len(set(runs.values())) == 1


def _named(one: _Coded) -> str:
    return " and ".join(one.factors)
