"""Proves that the kernel's binary trace is read exactly, against the kernel's own text of the same events.

The fixtures are of a real loop device with ext4: 32 direct writes of 64 KiB, 16 direct reads of 16 KiB, a buffered write
of 4 MiB and its fsync, with the file system's own requests among them.
"""

import os
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from assay.host.mounts import Mount
from assay.model.probe import CannotMeasureError
from assay.probe.trace import kernel
from assay.probe.trace.kernel import EVENTS, KernelTrace, Matcher, decode, parse_format, positions, tracing

FIXTURES = Path(__file__).parents[2] / "fixtures" / "probe" / "trace"
LINE = re.compile(r"\s(\d+\.\d+): block_rq_(issue|complete): (\d+),(\d+) (\w+) .*?\(\) (\d+) \+ (\d+) ")
LETTERS = {"R": 0, "W": 1, "F": 2, "D": 3}
LOOP0 = 7 << 20
FIRST_DIRECT_BYTE = 17026 * 512


def captured():
    content = (FIXTURES / "pages.bin").read_bytes()
    pages = [content[at : at + 4096] for at in range(0, len(content), 4096)]
    return decode(
        pages, *(parse_format((FIXTURES / f"block_rq_{name}.format").read_text()) for name in ("issue", "complete"))
    )


def test_every_event_is_as_the_kernel_prints_it():
    lines = LINE.findall((FIXTURES / "trace.txt").read_text())
    expected = sorted(
        (round(float(time) * 1e6), int(kind == "complete"), int(major) << 20 | int(minor), LETTERS[letters[0]],
         0 if letters[0] == "F" else int(sector), int(sectors))
        for time, kind, major, minor, letters, sector, sectors in lines
    )  # fmt: skip
    assert len(expected) == 125
    told = captured()
    columns = (told["time_ns"] // 1000, *(told[name] for name in ("ended", "device", "kind", "sector", "sectors")))
    found = sorted(zip(*(column.tolist() for column in columns), strict=True))
    # The kernel rounds to microseconds; the order of two events of the same one is of no meaning.
    assert [one[1:] for one in sorted(found, key=lambda one: one[1:])] == [
        one[1:] for one in sorted(expected, key=lambda one: one[1:])
    ]
    assert all(abs(one[0] - other[0]) <= 1 for one, other in zip(found, expected, strict=True))


def test_known_requests_are_found_with_their_latencies():
    (records,) = Matcher().add(captured(), 1 << 62).values()
    direct = records[(records["offset"] >= FIRST_DIRECT_BYTE) & (records["offset"] < FIRST_DIRECT_BYTE + (2 << 20))]
    writes, reads = direct[direct["kind"] == 1], direct[direct["kind"] == 0]
    assert writes["bytes"].tolist() == [65536] * 32
    assert writes["offset"].tolist() == [FIRST_DIRECT_BYTE + 65536 * number for number in range(32)]
    assert reads["bytes"].tolist() == [16384] * 16
    assert (records["kind"] == 2).sum() == 2
    assert writes["latency_ns"][0] == pytest.approx((23875.560151 - 23875.554269) * 1e9, abs=2000)
    assert records["bytes"][records["kind"] == 1].sum() == (2 << 20) + (4 << 20) + 1024 + 9216 + 1024


def test_portions_give_the_same_requests_as_the_whole():
    events = captured()
    whole = Matcher().add(events, 1 << 62)[LOOP0]
    matcher, parts = Matcher(), []
    for begin in range(0, 125, 7):
        portion = events[begin : begin + 7]
        parts += matcher.add(portion, int(portion["time_ns"][-1]) - 5000).values()
    parts += matcher.add(events[:0], 1 << 62).values()
    together = np.concatenate(parts)
    assert sorted(together.tolist()) == sorted(whole.tolist())


def test_a_completion_that_was_read_before_its_issue_waits_for_it():
    def events(*rows):
        return np.array(list(rows), EVENTS)

    matcher = Matcher()
    assert matcher.add(events((1_900, 1, LOOP0, 8, 8, 1)), 1_500) == {}
    (records,) = matcher.add(events((1_400, 0, LOOP0, 8, 8, 1), (1_450, 0, LOOP0, 8, 8, 1)), 9_000).values()
    assert records.tolist() == [(1_450, 4096, 450, 4096, 1, bytes(3))], "once, from its last issue"


def page(*events, stamp=1000, commit=None):
    content = b"".join(events)
    return struct.pack("<QQ", stamp, len(content) if commit is None else commit) + content


def event(delta, words):
    return struct.pack("<I", len(words) | delta << 5) + struct.pack(f"<{len(words)}I", *words)


def test_event_headers_of_every_kind():
    long = struct.pack("<II", 5 << 5, 4 + 8) + bytes(8)
    padding = struct.pack("<II", 29 | 3 << 5, 4 + 4) + bytes(4)
    extend, stamp = struct.pack("<II", 30 | 7 << 5, 2), struct.pack("<II", 31 | 9 << 5, 1)
    end = struct.pack("<I", 29)
    content = page(event(1, [7]), long, padding, extend, event(2, [8, 8]), stamp, event(1, [9]), end, event(1, [1]))
    places, stamps = positions(content)
    assert stamps == [1001, 1006, 1006 + 3 + (2 << 27) + 7 + 2, (1 << 27) + 9 + 1]
    assert places == [20, 32, 64, 84]
    assert positions(page(event(1, [7]), event(1, [8]), commit=8 | 1 << 31))[1] == [1001], "a mark of lost events"
    assert positions(page()) == ([], [])


def test_a_form_that_is_not_understood_is_refused():
    text = (FIXTURES / "block_rq_issue.format").read_text()
    for wrong in (
        text.replace("ID: ", "No: "),
        text.replace("sector_t sector;\toffset:16", "sector_t sector;\toffset:18"),
        "",
    ):
        with pytest.raises(ValueError, match="another form"):
            parse_format(wrong)


@pytest.fixture
def root(tmp_path):
    """A tracefs of plain files; instances are made as the kernel makes them, whole."""
    for name in ("issue", "complete"):
        folder = tmp_path / "events" / "block" / f"block_rq_{name}"
        folder.mkdir(parents=True)
        (folder / "format").write_text((FIXTURES / f"block_rq_{name}.format").read_text())
    (tmp_path / "instances").mkdir()
    return tmp_path


def test_where_there_is_no_tracefs_the_reason_is_told(root, tmp_path):
    with pytest.raises(CannotMeasureError, match="can't be used"), tracing([1], tmp_path / "nowhere"):
        pass
    with pytest.raises(CannotMeasureError, match="tracing_on|trace_clock|No such file"), tracing([1], root):
        pass


def test_what_others_made_stays_when_the_name_is_taken(root, monkeypatch):
    monkeypatch.setattr(kernel, "own_name", lambda: "assay_1_2_3_4")
    enable = root / "instances" / "assay_1_2_3_4" / "events" / "block" / "block_rq_issue" / "enable"
    enable.parent.mkdir(parents=True)
    enable.write_text("1")
    with pytest.raises(CannotMeasureError, match="File exists"), tracing([1], root):
        pass
    assert enable.read_text() == "1"


def test_buffers_that_were_open_are_closed_when_the_next_one_can_not_be(root, monkeypatch):
    """The kernel would keep the instance for as long as one of its buffers is open."""
    monkeypatch.setattr(kernel, "own_name", lambda: "assay_1_2_3_4")
    monkeypatch.setattr(kernel, "KernelTrace", with_one_buffer)
    monkeypatch.setattr(kernel, "_set_up", lambda instance, devices: None)
    before = os.listdir("/proc/self/fd")
    with pytest.raises(CannotMeasureError, match="cpu1"), tracing([1], root):
        pass
    assert len(os.listdir("/proc/self/fd")) == len(before)


def with_one_buffer(instance, issue, complete):
    """The first processor's; the second has none."""
    for name in ("cpu0", "cpu1"):
        (instance / "per_cpu" / name).mkdir(parents=True)
    (instance / "per_cpu" / "cpu0" / "trace_pipe_raw").touch()
    return KernelTrace(instance, issue, complete)


@pytest.mark.parametrize(
    ("source", "unmounted"), [("assay_1_2_3_0", True), ("tracefs", False), ("assay_1_4_3_0", False)]
)
def test_a_tracefs_that_outlived_its_process_is_unmounted(root, monkeypatch, source, unmounted):
    asked = []
    monkeypatch.setattr(kernel, "mounts", lambda: [Mount("0:12", str(root), "tracefs", source, "rw")])
    monkeypatch.setattr(kernel, "is_left_over", lambda name: name == "assay_1_2_3_0")
    monkeypatch.setattr(kernel, "_run", lambda *command: asked.append(command))
    assert kernel.remove_left_overs(root) == []
    assert asked == ([("umount", str(root))] if unmounted else [])


def test_an_instance_on_the_real_kernel_goes_with_its_scope():
    if os.geteuid() != 0:
        pytest.skip("tracing needs root")
    try:
        with tracing([LOOP0]) as trace:
            assert trace.instance.is_dir()
            assert (trace.instance / "events/block/block_rq_issue/filter").read_text().strip() == f"dev == {LOOP0}"
            assert (trace.lost(), isinstance(trace.take(), list)) == (0, True)
            instance = trace.instance
    except CannotMeasureError as error:
        pytest.skip(str(error))
    assert not instance.exists()
    assert kernel.TRACING in instance.parents
