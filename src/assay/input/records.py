"""TeraSort's records: made as TeraGen makes them, byte for byte and without a job, and counted as TeraValidate does.

Record `i` (from 0) holds the 10 high bytes of a 128-bit number as its key, two bytes of break, `i` as 32 hexadecimal
digits, four bytes of break, the number's 12 low digits four times each, and four bytes of break. The numbers are a
linear congruential sequence that begins at 0 and is advanced before each record.

Source: Random16 and GenSort of org.apache.hadoop.examples.terasort, which follow gensort of sortbenchmark.org.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assay.input.staging import PACKAGE, ahead, example
from assay.model.dataset import Amounts
from assay.model.engine import Engine, LaunchReport
from assay.model.errors import AssayError
from assay.model.input import Input
from assay.model.progress import Progress
from assay.model.store import Store

RECORD_BYTES, KEY_BYTES = 100, 10
BLOCK_RECORDS = 1 << 13

Rows = NDArray[np.uint8]
"""Records: shape (n, 100)."""

_FACTOR, _STEP = 0x2360ED051FC65DA44385DF649FCCF645, 0x4A696D47726179524950202020202001
_MODULUS = 1 << 128
_LIMBS, _LIMB_BITS, _LOW = 4, np.uint64(32), np.uint64(0xFFFFFFFF)
_BREAKS = {10: b"\x00\x11", 44: b"\x88\x99\xaa\xbb", 96: b"\xcc\xdd\xee\xff"}
_NUMBER, _FILLER = slice(12, 44), slice(48, 96)
_HEX = np.frombuffer(b"".join(b"%02X" % byte for byte in range(256)), np.uint16)
_HEX_FOURFOLD = np.frombuffer(
    b"".join(bytes([high] * 4 + [low] * 4) for high, low in (b"%02X" % byte for byte in range(256))), np.uint64
)
_CRC_POLYNOMIAL, _ONES, _WORD = 0xEDB88320, np.uint32(0xFFFFFFFF), np.uint32(16)


def tera_rows(first: int, count: int) -> Iterator[Rows]:
    """Yield `count` records in order, from number `first` on. Each block is overwritten by the next."""
    factors, steps = _leaps()
    rows = np.empty((BLOCK_RECORDS, RECORD_BYTES), np.uint8)
    for at, text in _BREAKS.items():
        rows[:, at : at + len(text)] = np.frombuffer(text, np.uint8)
    # The number of the record before the first: the sequence's `first`-th, by doubling its step.
    factor, step, state = _FACTOR, _STEP, 0
    for bit in reversed(f"{first:b}"):
        if bit == "1":
            state = (state * factor + step) % _MODULUS
        factor, step = factor * factor % _MODULUS, (factor * step + step) % _MODULUS
    for start in range(first, first + count, BLOCK_RECORDS):
        size = min(BLOCK_RECORDS, first + count - start)
        block, numbers = rows[:size], _numbers(state, factors[:, :size], steps[:, :size])
        block[:, :KEY_BYTES] = numbers[:, :KEY_BYTES]
        counts = np.zeros((size, 2), ">u8")
        counts[:, 1] = np.arange(start, start + size)
        block[:, _NUMBER] = _HEX[counts.view(np.uint8)].view(np.uint8)
        block[:, _FILLER] = _HEX_FOURFOLD[numbers[:, KEY_BYTES:]].view(np.uint8)
        yield block
        state = int.from_bytes(numbers[-1].tobytes(), "big")


def checksum(rows: Rows) -> int:
    """Return the sum of the records' CRC-32 (zlib's) in any order; TeraGen counts it, TeraValidate prints it."""
    table = _crc_table()
    total = 0
    for start in range(0, len(rows), BLOCK_RECORDS):
        # Two bytes at a time of many records at once; little-endian words, as the CRC takes low bits first.
        columns = np.ascontiguousarray(rows[start : start + BLOCK_RECORDS].view("<u2").T)
        crc = np.full(columns.shape[1], _ONES)
        for word in columns:
            crc = table.take((crc & 0xFFFF) ^ word) ^ (crc >> _WORD)
        total += int((crc ^ _ONES).sum(dtype=np.uint64))
    return total


@dataclass
class RecordDigest:
    """Counts of a pass over records in order: the records, their checksum, and keys below their predecessor."""

    rows: int = 0
    checksum: int = 0
    falls: int = 0
    _last: Rows = field(default_factory=lambda: np.zeros((0, KEY_BYTES), np.uint8))

    def add(self, rows: Rows) -> None:
        keys = np.concatenate([self._last, rows[:, :KEY_BYTES]])
        high = np.ascontiguousarray(keys[:, :8]).view(">u8").ravel().astype(np.uint64)
        low = np.ascontiguousarray(keys[:, 8:]).view(">u2").ravel()
        falls = (high[1:] < high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] < low[:-1]))
        self.rows += len(rows)
        self.checksum += checksum(rows)
        self.falls += int(falls.sum())
        self._last = keys[-1:]


@cache
def _leaps() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return factors and steps that lead 1, 2, ... numbers on; shape (4, BLOCK_RECORDS): 32 bits each, low first."""
    factor, step = 1, 0
    leaps = []
    for _ in range(BLOCK_RECORDS):
        factor, step = factor * _FACTOR % _MODULUS, (step * _FACTOR + _STEP) % _MODULUS
        leaps.append(factor.to_bytes(16, "little") + step.to_bytes(16, "little"))
    limbs = np.frombuffer(b"".join(leaps), "<u4").reshape(BLOCK_RECORDS, 2 * _LIMBS).T.astype(np.uint64)
    return limbs[:_LIMBS], limbs[_LIMBS:]


def _numbers(state: int, factors: NDArray[np.uint64], steps: NDArray[np.uint64]) -> Rows:
    """Return the numbers after `state`, high byte first; shape (n, 16). Limbs are multiplied as in long hand."""
    limbs = [np.uint64(state >> 32 * limb & 0xFFFFFFFF) for limb in range(_LIMBS)]
    sums = steps.copy()
    for left in range(_LIMBS):
        for right in range(_LIMBS - left):
            product = factors[left] * limbs[right]
            sums[left + right] += product & _LOW
            if left + right + 1 < _LIMBS:
                sums[left + right + 1] += product >> _LIMB_BITS
    for limb in range(_LIMBS - 1):
        sums[limb + 1] += sums[limb] >> _LIMB_BITS
    return np.ascontiguousarray(sums[::-1].T.astype(">u4")).view(np.uint8)


@cache
def _crc_table() -> NDArray[np.uint32]:
    """Return the table by which two bytes change a CRC-32."""
    crc = np.arange(1 << 16, dtype=np.uint32)
    for _ in range(16):
        crc = (crc >> np.uint32(1)) ^ (crc & np.uint32(1)) * np.uint32(_CRC_POLYNOMIAL)
    return crc


TERASORT = "terasort"
"""The package of TeraGen, TeraSort and TeraValidate among Hadoop's examples."""
_GENERATED = f"{PACKAGE}.{TERASORT}.TeraGen$Counters"
# As TeraGen's two maps leave them.
_FILES = 2


class TeraRecords(Input):
    """TeraGen's records: put from here into a store that takes a stream, else made by TeraGen on the nodes."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.checksum = -1
        """The sum of the records' checksums, once they are staged."""

    def size(self) -> Amounts:
        return Amounts(bytes=self.count * RECORD_BYTES)

    def stage(self, path: str, store: Store, engine: Engine, progress: Progress) -> LaunchReport:
        """Stream the records where the store is on this machine, which is quicker than a job."""
        if store.streams:
            self.checksum = 0
            bounds = [self.count * at // _FILES for at in range(_FILES + 1)]
            for at, (first, end) in enumerate(pairwise(bounds)):
                store.write(f"{path}/part-m-{at:05d}", ahead(self._pieces(first, end - first)))
            return LaunchReport(jobs=(), result={})
        arguments = (str(self.count), path)
        report = engine.run_program(example(f"{TERASORT}.TeraGen", arguments, {}, "generate"), progress)
        counted = engine.history(report.jobs[0]).job.counters.get(_GENERATED, {})
        if "CHECKSUM" not in counted:
            raise AssayError(f"TeraGen counted no checksum (counter group {_GENERATED})")
        self.checksum = counted["CHECKSUM"]
        return report

    def _pieces(self, first: int, count: int) -> Iterator[bytes]:
        for block in tera_rows(first, count):
            self.checksum += checksum(block)
            yield block.tobytes()
