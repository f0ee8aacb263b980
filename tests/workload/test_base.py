"""Proves that tables of outputs have the lines of any number of reads, and name the wrong line."""

import pytest

from assay.model.errors import AssayError
from assay.workload.base import _LINES, output_rows, output_table, whole

MOST = (1 << 63) - 1


@pytest.mark.parametrize("count", [0, 1, _LINES - 1, _LINES, 3 * _LINES + 1])
def test_a_table_has_each_line_once_by_the_first_column(count):
    lines = [b"%d\t%d\t%r" % (MOST - at, at, at / 7) for at in range(count)]
    columns = {"vertex": whole, "degree": whole, "rank": float}
    table = output_table(lines, "some", **columns)
    assert table.tolist() == sorted(output_rows(lines, "some", **columns))
    assert table.tolist() == [(MOST - at, at, at / 7) for at in reversed(range(count))]


@pytest.mark.parametrize(
    "line", [b"1", b"\t2", b"1\t", b"1\t-2", b"1\t 2", b"1\t1_0", b"1\t2\t3", b"", b"1\t%d" % (MOST + 1)]
)
@pytest.mark.parametrize("before", [0, _LINES // 2, 2 * _LINES])
def test_a_line_of_another_form_is_named_wherever_it_is(line, before):
    lines = [*(b"%d\t5" % at for at in range(before)), line, b"8\t8"]
    with pytest.raises(AssayError) as caught:
        output_table(lines, "some", vertex=whole, value=whole)
    assert str(caught.value).endswith(f"not `vertex<TAB>value` with whole numbers of at most 63 bits: {line!r}")
