"""Proves that the emulator's log is read byte by byte as emulator/fs/src/trace.rs writes it, also while it grows."""

import struct

import numpy as np
import pytest

from assay.probe.trace import requests as records
from assay.probe.trace.requests import FIELDS, MOST_RECORDS, RECORD_BYTES, EmulatorLog, Spool, parse_header


def log_bytes(*records, told=None, dropped=0, complete_ns=1000, version=1):
    """`records` are (arrived_ns, offset, latency_ns, bytes, kind)."""
    head = struct.pack(
        "<8sIIQQQQQQ",
        b"ASSAYLOG",
        version,
        32,
        10**18,
        500,
        len(records) if told is None else told,
        dropped,
        complete_ns,
        0,
    )
    return head + b"".join(struct.pack("<QQQIB3x", *record) for record in records)


def every(source):
    return np.concatenate([np.zeros(0, dtype=FIELDS), *source.chunks()])


def test_a_record_has_the_emulators_form():
    assert np.dtype(FIELDS).itemsize == RECORD_BYTES


def test_header_and_records(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(log_bytes((1, 4096, 7, 512, 1), (2, 8192, 8, 1024, 0), dropped=3))
    log = EmulatorLog(path)
    assert log.finish(1000)
    assert log.header == (10**18, 500, 2, 3, 1000)
    assert every(log).tolist() == [(1, 4096, 7, 512, 1, bytes(3)), (2, 8192, 8, 1024, 0, bytes(3))]
    path.unlink()
    assert len(every(log)) == 2, "what was written stays readable"
    log.close()


def test_what_the_header_does_not_tell_of_yet_is_left_and_a_short_file_is_cut(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(log_bytes((1, 0, 0, 1, 0), (2, 0, 0, 1, 0), told=1))
    assert len(every(EmulatorLog(path))) == 1
    path.write_bytes(log_bytes((1, 0, 0, 1, 0), told=5)[:-3])
    assert len(every(EmulatorLog(path))) == 0


def test_a_log_that_stays_behind_is_told(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(log_bytes(complete_ns=10))
    times = iter([0.0, 0.5, 2.0])
    assert not EmulatorLog(path).finish(11, clock=lambda: next(times), pause_s=0)


@pytest.mark.parametrize("content", [b"", b"ASSAYLOG", log_bytes(version=2), b"x" * 64])
def test_what_is_no_log_is_refused(content):
    with pytest.raises(ValueError, match="it is"):
        parse_header(content)


def test_a_spool_keeps_all_up_to_its_bound(tmp_path):
    spool = Spool(tmp_path)
    some = np.zeros(100_000, dtype=FIELDS)
    some["offset"] = np.arange(100_000)
    for _ in range(3):
        spool.add(some)
    assert every(spool)["offset"].tolist() == list(range(100_000)) * 3
    spool.add(some[:1])
    assert (len(every(spool)), list(tmp_path.iterdir())) == (300_001, [])
    spool.kept = MOST_RECORDS - 10
    spool.add(some)
    assert (spool.kept, spool.refused) == (MOST_RECORDS, 99_990)
    spool.close()


def test_many_records_are_read_some_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "CHUNK_RECORDS", 2)
    path = tmp_path / "log"
    path.write_bytes(log_bytes(*((number, 0, 0, 1, 0) for number in range(5))))
    spool = Spool(tmp_path)
    log = EmulatorLog(path)
    for chunk in log.chunks():
        spool.add(chunk)
    for source in (log, spool):
        assert [chunk["arrived_ns"].tolist() for chunk in source.chunks()] == [[0, 1], [2, 3], [4]]
        source.close()
