"""Proves that pairs are read as Hadoop's own SequenceFile.Writer left them, and that what can't be read is said.

The fixtures were written by Hadoop 3.4.2: `bytes.seq` has 40 pairs, metadata, and sync marks every 500 bytes.
"""

from pathlib import Path

import pytest

from assay.input.pairs import read_pairs
from assay.model.errors import AssayError

FIXTURES = Path(__file__).parents[1] / "fixtures" / "sequence_file"
BYTES = "org.apache.hadoop.io.BytesWritable"


def pairs(content, size=13, classes=(BYTES, BYTES)):
    return list(read_pairs((content[at : at + size] for at in range(0, len(content), size)), "a.seq", *classes))


def fixture(name):
    return (FIXTURES / name).read_bytes()


def written(content):
    """As BytesWritable has it: a length before the bytes."""
    return len(content).to_bytes(4, "big") + content


@pytest.mark.parametrize("size", [1, 7, 100, 1 << 20])
def test_pairs_come_as_they_were_written_whatever_the_pieces(size):
    expected = [(written(bytes([255 - at]) * (at % 7)), written(bytes([at]) * (3 * at))) for at in range(40)]
    assert pairs(fixture("bytes.seq"), size) == expected


def test_a_file_without_pairs_is_read():
    assert pairs(fixture("empty.seq")) == []


def test_what_cant_be_read_is_said():
    content = fixture("bytes.seq")
    with pytest.raises(AssayError, match="is compressed, which can't be read here"):
        pairs(fixture("compressed.seq"))
    with pytest.raises(AssayError, match="is not a SequenceFile of version 6"):
        pairs(b"PAR1" + content)
    with pytest.raises(AssayError, match="ends within a record"):
        pairs(content[:-1])
    with pytest.raises(AssayError, match="ends within a record"):
        pairs(content[:50])
    with pytest.raises(AssayError, match="not org.apache.hadoop.io.Text and"):
        pairs(content, classes=("org.apache.hadoop.io.Text", BYTES))


def test_damage_is_seen():
    content = fixture("bytes.seq")
    at = content.index(b"\xff\xff\xff\xff", 100) + 10
    with pytest.raises(AssayError, match="a sync mark is not the header's"):
        pairs(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    length = fixture("empty.seq")
    with pytest.raises(AssayError, match="a key of 9 bytes in a record of 8"):
        pairs(length + (8).to_bytes(4, "big") + (9).to_bytes(4, "big") + bytes(8))
    with pytest.raises(AssayError, match="damaged: a record or a name of 2,147,483,647 bytes"):
        pairs(length + (2**31 - 1).to_bytes(4, "big") + (9).to_bytes(4, "big") + bytes(8))
