"""Proves that the log of requests reads back as it was, and that damage is one sentence."""

import numpy as np
import pytest

from assay.model.errors import BadInputError
from assay.model.signature import Requests
from assay.record.request_log import read_requests, write_requests


def a_log(medium, arrived, role, roles, latency_type="u4"):
    count = len(arrived)
    return Requests(
        medium=medium, source="emulator log", arrived_ns=np.array(arrived), offset=np.arange(count) * 512,
        bytes=np.full(count, 512, "u4"), latency_ns=np.full(count, 7, latency_type), kind=np.zeros(count, "u1"),
        role=np.array(role, "u1"), roles=roles, dropped=3,
    )  # fmt: skip


def test_logs_read_back_in_the_order_of_arrivals(tmp_path):
    file = tmp_path / "requests.parquet"
    write_requests(
        file,
        [
            a_log("hdd", [30, 10, 20], [0, 1, 0], ("input", "other")),
            a_log("ssd", [5], [1], ("log", "other"), "i8"),
            a_log("idle", [], [], ("other",)),
        ],
    )
    logs = read_requests(file)
    assert list(logs) == ["hdd", "ssd", "idle"]
    hdd = logs["hdd"]
    assert hdd.arrived_ns.tolist() == [10, 20, 30]
    assert hdd.offset.tolist() == [512, 1024, 0]
    assert [hdd.roles[role] for role in hdd.role] == ["other", "input", "input"]
    assert (hdd.dropped, hdd.source, len(logs["idle"].arrived_ns)) == (3, "emulator log", 0)
    assert read_requests(tmp_path / "none.parquet") == {}


def test_a_damaged_log_is_one_sentence(tmp_path):
    file = tmp_path / "requests.parquet"
    file.write_bytes(b"PAR1 and no more")
    with pytest.raises(BadInputError, match="requests.parquet can't be read"):
        read_requests(file)
