"""Proves that records are TeraGen's to the byte, and that the tally of a pass over records counts what is there."""

from functools import reduce
from itertools import pairwise
from pathlib import Path
from random import Random
from zlib import crc32

import numpy as np
import pytest

from assay.input.records import BLOCK_RECORDS, RECORD_BYTES, RecordDigest, checksum, tera_rows

FIXTURE = Path(__file__).parents[1] / "fixtures" / "terasort" / "gensort-3.records"
FACTOR, STEP = 0x2360ED051FC65DA44385DF649FCCF645, 0x4A696D47726179524950202020202001


def made(first, count):
    return b"".join(block.tobytes() for block in tera_rows(first, count))


def plainly(count):
    """GenSort in plain arithmetic, one record at a time."""
    number = 0
    for row in range(count):
        number = (number * FACTOR + STEP) % 2**128
        digits = f"{number:032X}"[20:]
        key, filler = number.to_bytes(16, "big")[:10], "".join(4 * digit for digit in digits).encode()
        yield key + b"\x00\x11" + f"{row:032X}".encode() + b"\x88\x99\xaa\xbb" + filler + b"\xcc\xdd\xee\xff"


def as_rows(records):
    return np.frombuffer(b"".join(records), np.uint8).reshape(-1, RECORD_BYTES)


def test_the_first_records_are_those_that_hadoops_gensort_wrote():
    assert made(0, 3) == FIXTURE.read_bytes()


def test_records_are_the_same_wherever_a_part_of_them_begins():
    count = 2 * BLOCK_RECORDS + 77
    whole = b"".join(plainly(count))
    assert made(0, count) == whole
    for first in (1, BLOCK_RECORDS - 1, BLOCK_RECORDS, count - 3):
        assert made(first, count - first) == whole[first * RECORD_BYTES :]
    assert made(5, 0) == b""


def test_the_checksum_is_the_sum_of_crc_32_of_any_bytes():
    source = Random(1)
    records = [source.randbytes(RECORD_BYTES) for _ in range(BLOCK_RECORDS + 3)]
    assert checksum(as_rows(records)) == sum(map(crc32, records))
    assert checksum(as_rows([])) == 0


@pytest.mark.parametrize("pieces", [1, 2, 7])
def test_a_pass_in_pieces_counts_as_one_over_all(pieces):
    source = Random(2)
    # Keys that share their first bytes, and some that are equal.
    records = [bytes(7) + bytes(source.choices(range(3), k=3)) + source.randbytes(90) for _ in range(500)]
    tally = RecordDigest()
    for part in np.array_split(as_rows(records), pieces):
        tally.add(part)
    assert (tally.rows, tally.checksum) == (500, sum(map(crc32, records)))
    assert tally.falls == sum(before[:10] > after[:10] for before, after in pairwise(records))
    assert 0 < tally.falls < 499


def test_each_byte_of_a_key_decides_the_order_and_none_after_it():
    low, high = bytes(RECORD_BYTES), b"\xff" * RECORD_BYTES
    for at in range(12):
        pair = [low[:at] + b"\x80" + high[at + 1 :], low[:at] + b"\x7f" + high[at + 1 :]]
        tally = reduce(lambda tally, record: (tally.add(as_rows([record])), tally)[1], pair, RecordDigest())
        assert tally.falls == (1 if at < 10 else 0), at
