"""Proves that fio is asked for exactly one access, that its JSON is read as it means it, and that its failures are told."""

import pytest

from assay.model.errors import AssayError, BadInputError
from assay_extras.calibration.calibration import AccessPattern
from assay_extras.calibration.fio import Fio, Limit, Stretch, arguments, find_fio, parse_point
from tests.extras.calibration.builders import FIXTURES

MIB = 1 << 20
SEQUENTIAL_WRITE = AccessPattern(direction="write", pattern="sequential", block_bytes=MIB, depth=8)
RANDOM_READ = AccessPattern(direction="read", pattern="random", block_bytes=4096, depth=32)
STREAMS = AccessPattern(direction="read", pattern="sequential", block_bytes=128 << 10, streams=4, buffered=True)
FSYNC_EACH = AccessPattern(direction="write", pattern="sequential", block_bytes=4096, buffered=True, fsync="each")


def captured(name):
    return (FIXTURES / f"{name}.json").read_text()


def asked(access, tmp_path, **limit):
    options = arguments(access, Stretch(path=tmp_path / "t", span_bytes=512 * MIB), Limit(seconds=1.5, **limit))
    return dict(option.removeprefix("--").partition("=")[::2] for option in options)


def test_a_captured_sequential_write_is_read():
    point = parse_point(captured("sequential-write-depth-8"), SEQUENTIAL_WRITE)
    assert point.access == SEQUENTIAL_WRITE
    assert point.mb_s == pytest.approx(point.iops * MIB / 1e6)
    assert 0 < point.latency_us_median <= point.latency_us_p99
    assert point.seconds < 2


def test_little_s_law_holds_for_a_captured_random_read():
    point = parse_point(captured("random-read-depth-32"), RANDOM_READ)
    assert point.iops * point.latency_us_median / 1e6 == pytest.approx(32, rel=0.25)


def test_captured_streams_are_one_point():
    assert parse_point(captured("streams-4"), STREAMS).mb_s > 0


def test_with_an_fsync_after_each_block_latency_is_the_fsyncs():
    point = parse_point(captured("fsync-each"), FSYNC_EACH)
    # A write to the page cache takes a few microseconds; here the fsync is meant.
    assert point.latency_us_median > 20
    assert point.iops == pytest.approx(1e6 / point.latency_us_median, rel=0.3)


def test_a_capture_of_a_full_disk_is_a_failure():
    with pytest.raises(AssayError, match="No space left on device"):
        parse_point(captured("no-space"), SEQUENTIAL_WRITE)


@pytest.mark.parametrize("output", ["", "fio: killed", '{"fio version": "fio-3.33"}', '{"jobs": []}', "{"])
def test_what_is_not_fios_json_is_said(output):
    with pytest.raises(AssayError, match="not the JSON expected"):
        parse_point(output, RANDOM_READ)


def test_text_before_the_json_does_no_harm():
    text = "fio: this platform does not support something\n" + captured("random-read-depth-32")
    assert parse_point(text, RANDOM_READ).depth == 32


def test_direct_random_reads_run_for_a_time(tmp_path):
    options = asked(RANDOM_READ, tmp_path, ramp_s=0.25)
    assert options["rw"] == "randread"
    assert (options["direct"], options["iodepth"], options["bs"]) == ("1", "32", "4096")
    assert (options["runtime"], options["ramp_time"]) == ("1500ms", "250ms")
    assert {"time_based", "norandommap"} <= options.keys()


def test_streams_have_parts_of_their_own_and_read_them_once(tmp_path):
    options = asked(STREAMS, tmp_path)
    assert (options["numjobs"], options["size"], options["offset_increment"]) == ("4", str(128 * MIB), str(128 * MIB))
    # A second pass would come from the page cache.
    assert "time_based" not in options
    # The kernel's own read-ahead is what Hadoop has too.
    assert options["fadvise_hint"] == "0"


def test_bytes_limit_all_streams_together(tmp_path):
    access = AccessPattern(
        direction="write", pattern="sequential", block_bytes=MIB, streams=4, buffered=True, fsync="end"
    )
    options = asked(access, tmp_path, total_bytes=64 * MIB)
    assert (options["io_size"], options["end_fsync"]) == (str(16 * MIB), "1")
    assert "fsync" not in options


def test_a_zone_begins_where_it_should(tmp_path):
    access = SEQUENTIAL_WRITE.model_copy(update={"start_share": 0.75})
    options = asked(access, tmp_path)
    assert (options["offset"], options["size"]) == (str(384 * MIB), str(128 * MIB))


def test_nothing_is_written_to_a_disk_in_use(tmp_path):
    stretch = Stretch(path=tmp_path / "disk", span_bytes=512 * MIB, read_only=True)
    assert "--readonly" in arguments(RANDOM_READ, stretch, Limit(seconds=1))


def test_without_fio_one_sentence_says_how_to_get_it(tmp_path):
    with pytest.raises(BadInputError, match=r"fio is not installed; install it .*apt-get install fio"):
        find_fio({"PATH": str(tmp_path)})


def a_program(tmp_path, text):
    program = tmp_path / "fio"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    return program


def test_the_version_is_told(tmp_path):
    a_program(tmp_path, "echo fio-3.33")
    assert find_fio({"PATH": str(tmp_path)}).version == "3.33"


@pytest.mark.parametrize("told", ["echo hello", "true", "echo fio-2.21"])
def test_an_old_fio_or_another_program_of_that_name_is_refused(tmp_path, told):
    a_program(tmp_path, told)
    with pytest.raises(BadInputError, match="install fio 3 or newer"):
        find_fio({"PATH": str(tmp_path)})


def test_fios_own_words_are_told_when_it_fails(tmp_path):
    program = a_program(tmp_path, f"cat '{FIXTURES}/no-space.txt' >&2; cat '{FIXTURES}/no-space.json'; exit 1")
    fio = Fio(program=program, version="3.33")
    with pytest.raises(AssayError, match="fio failed: fio: io_u error on file t: No space left on device"):
        fio.measure(SEQUENTIAL_WRITE, Stretch(path=tmp_path / "t", span_bytes=64 * MIB), Limit(seconds=1))
