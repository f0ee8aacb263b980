"""Proves that down-sampling hides no extreme and shifts no mean, and that what is not told stays untold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from assay.model.record import Span
from assay.stats.timeline import Pieces, added, binned, clip, running_tasks, sampled
from tests.stats.attempts import an_attempt, at

SPAN = Span(begin_ms=1_000, end_ms=101_000)


def pieces_of(*told):
    begin, end, values = zip(*told, strict=True)
    return Pieces(np.array(begin), np.array(end), np.array(values, float))


@some.composite
def any_pieces(draw):
    """Stretches of all lengths with gaps between some of them, beyond the span's ends too."""
    time_ms, told = draw(some.integers(0, 3_000)), []
    for length, gap, value in draw(
        some.lists(
            some.tuples(some.integers(1, 4_000), some.sampled_from([0, 0, 0, 1, 7_000]), some.floats(0, 1e6)),
            min_size=1,
            max_size=120,
        )
    ):
        told.append((time_ms, time_ms + length, value))
        time_ms += length + gap
    return pieces_of(*told)


@pytest.mark.slow
@given(any_pieces(), some.integers(1, 40))
def test_bins_keep_the_extremes_and_the_mean(pieces, most):
    own, bins = clip(pieces, SPAN), binned(pieces, SPAN, most)
    assert len(bins.mean) <= most
    if not len(own.values):
        assert not len(bins.mean)
        return
    lengths = own.end_ms - own.begin_ms
    assert bins.known_ms.sum() == pytest.approx(lengths.sum())
    assert (bins.mean * bins.known_ms).sum() == pytest.approx((own.values * lengths).sum(), rel=1e-9, abs=1e-6)
    assert bins.least.min() == own.values.min()
    assert bins.greatest.max() == own.values.max()
    assert (bins.least <= bins.mean).all()
    assert (bins.mean <= bins.greatest).all()


@pytest.mark.slow
@given(any_pieces(), some.integers(1, 40))
def test_bins_lie_in_the_span_and_follow_one_another(pieces, most):
    bins = binned(pieces, SPAN, most)
    assert (bins.begin_ms >= SPAN.begin_ms).all()
    assert (bins.end_ms <= SPAN.end_ms).all()
    assert (bins.begin_ms < bins.end_ms).all()
    assert (bins.begin_ms[1:] >= bins.end_ms[:-1]).all()


def test_a_value_on_both_sides_of_an_edge_counts_by_its_time():
    pieces = pieces_of((1_000, 41_000, 10), (41_000, 91_000, 30), (91_000, 101_000, 0))
    bins = binned(pieces, SPAN, 2)
    assert bins.mean.tolist() == [pytest.approx((40 * 10 + 10 * 30) / 50), pytest.approx(40 * 30 / 50)]
    assert (bins.least.tolist(), bins.greatest.tolist(), bins.whole) == ([10, 0], [30, 30], False)


def test_few_samples_are_left_as_they_came():
    bins = binned(sampled([1_500, 2_000, 2_600], [5, 7, 9]), SPAN, 3)
    assert (bins.begin_ms.tolist(), bins.end_ms.tolist()) == ([1_000, 1_500, 2_000], [1_500, 2_000, 2_600])
    assert (bins.mean.tolist(), bins.whole) == ([5, 7, 9], True)


def test_where_nothing_is_told_there_is_no_bin():
    pieces = pieces_of((1_000, 11_000, 1), (11_000, 21_000, 3), (90_000, 95_000, 8), (95_000, 101_000, 8))
    bins = binned(pieces, SPAN, 3)
    assert bins.begin_ms.tolist() == [1_000, 67_667]
    assert bins.known_ms.tolist() == [20_000, 11_000]


def test_samples_whose_time_does_not_go_on_are_left_out_until_it_does():
    pieces = sampled([10_000, 10_500, 4_000, 4_500, 11_000], [1, 2, 3, 4, 5])
    assert pieces.values.tolist() == [1, 2, 5]
    assert pieces.begin_ms.tolist() == [9_500, 10_000, 10_500]


def test_series_are_added_only_where_all_have_a_piece():
    total = added([sampled([500, 1_000, 1_500], [1, 2, 3]), sampled([500, 1_500], [10, 30])])
    assert (total.end_ms.tolist(), total.values.tolist()) == ([500, 1_500], [11, 33])


def test_no_samples_make_no_bins():
    assert not len(binned(sampled([], []), SPAN, 10).mean)


def test_running_tasks_are_counted_by_phase():
    running = running_tasks([an_attempt("m0_0", 0, 4), an_attempt("m1_0", 2, 6), an_attempt("r0_0", 3, 7, 8, 10)])
    assert list(running) == ["map", "shuffle", "merge", "reduce"]
    assert running["map"].begin_ms.tolist() == [at(s) for s in (0, 2, 3, 4, 6, 7, 8)]
    assert running["map"].values.tolist() == [1, 2, 2, 1, 0, 0, 0]
    assert running["shuffle"].values.tolist() == [0, 0, 1, 1, 1, 0, 0]
    assert running["reduce"].values.tolist() == [0, 0, 0, 0, 0, 0, 1]


def test_no_attempts_make_no_tasks():
    assert running_tasks([]) == {}
