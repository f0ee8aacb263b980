"""Proves that a profile made of a calibration says what was measured, and marks the rest as assumptions."""

import pytest
from ruamel.yaml import YAML

from assay.media.emulated.profile import read_profile
from assay.model.drive_profile import DriveProfile
from assay.model.errors import BadInputError
from assay_extras.calibration.calibration import Access, Knee
from assay_extras.calibration.fidelity import named_figures
from assay_extras.calibration.profile import kind_of, make_profile, nearest
from tests.extras.calibration.builders import a_calibration, a_point

MIB = 1 << 20
HDD = DriveProfile(
    file="shipped.yaml",
    name="a-disk",
    kind="hdd",
    figures={
        "capacity_bytes": 1e12, "rotation_rpm": 7200, "seek_track_to_track_ms": 2, "seek_average_ms": 9,
        "seek_full_stroke_ms": 20, "outer_rate_mb_s": 180, "inner_rate_mb_s": 90, "link_mb_s": 550,
        "write_cache_pieces": 30, "stream_visit_bytes": 1 << 20, "read_segment_bytes": 2 << 20, "idle_watts": 6,
    },
    expected={
        "sequential_read_mb_s": 180, "random_read_4k_iops_depth1": 76, "random_write_4k_iops_depth1": 150,
        "streams_4_read_mb_s": 90,
    },
)  # fmt: skip
SSD = DriveProfile(
    file="shipped.yaml",
    name="a-ssd",
    kind="ssd",
    figures={
        "capacity_bytes": 1e11, "link_mb_s": 500, "read_commands_per_s": 9e4, "write_commands_per_s": 5e4,
        "read_command_us": 6, "write_command_us": 1, "channel_mb_s": 400, "read_latency_us": 66,
        "write_rate_mb_s": 135, "slc_cache_bytes": 3e9, "slc_write_rate_mb_s": 410,
    },
    expected={"sequential_read_mb_s": 500, "random_read_4k_iops_depth1": 1e4},
)  # fmt: skip
FASTER = DriveProfile(
    file="shipped.yaml", name="b-ssd", kind="ssd", figures=SSD.values,
    expected={"sequential_read_mb_s": 3000, "random_read_4k_iops_depth1": 2e4},
)  # fmt: skip


def access(direction="read", pattern="random", block_bytes=4096, depth=1, **rest):
    return Access(direction=direction, pattern=pattern, block_bytes=block_bytes, depth=depth, **rest)


def measured(*pairs, **changes):
    """A calibration of accesses at requests a second."""
    points = tuple(a_point(one, iops * one.block_bytes / 1e6) for one, iops in pairs)
    return a_calibration(points=points, device_bytes=500_000_000_000, **changes)


DISK = measured(
    (access(span="device"), 80),
    (access("write", span="device"), 150),
    (access(pattern="sequential", block_bytes=MIB, depth=8, span="device"), 200),
    (access(pattern="sequential", block_bytes=MIB, depth=8, span="device", start_share=0.97), 100),
    (access(pattern="sequential", block_bytes=128 << 10, streams=4, buffered=True), 800),
)
FLASH = measured(
    (access(), 10_000),
    (access(depth=32), 94_000),
    (access("write"), 25_000),
    (access("write", depth=32), 40_000),
    (access(pattern="sequential", block_bytes=MIB, depth=8), 500),
    (access("write", "sequential", MIB, 8), 400),
)


def made_of(calibration, template, tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text(make_profile(calibration, named_figures(calibration), template, "mine"))
    return read_profile(file)


def test_a_disks_measured_figures_are_in_its_profile(tmp_path):
    profile = made_of(DISK, HDD, tmp_path)
    assert profile.kind == "hdd"
    assert profile.values["capacity_bytes"] == 500_000_000_000
    assert profile.values["outer_rate_mb_s"] == pytest.approx(209.715)
    assert profile.values["inner_rate_mb_s"] == pytest.approx(104.858, rel=1e-4)
    # 12.5 ms for one read, less half a turn of 4.17 ms and the controller's 0.06 ms.
    assert profile.values["seek_average_ms"] == pytest.approx(8.273, rel=1e-3)
    # As many random writes as the template expects: as many pieces.
    assert profile.values["write_cache_pieces"] == 30
    assert {name for name, figure in profile.figures.items() if figure.basis == "calibration"} >= {
        "capacity_bytes", "outer_rate_mb_s", "inner_rate_mb_s", "seek_average_ms", "write_cache_pieces",
    }  # fmt: skip


def test_what_can_not_be_measured_is_the_nearest_drives_and_says_so(tmp_path):
    profile = made_of(DISK, HDD, tmp_path)
    assert profile.values.keys() >= HDD.values.keys()
    for name in ("rotation_rpm", "idle_watts", "seek_full_stroke_ms"):
        assert profile.figures[name].basis == "assumption"
    assert profile.figures["idle_watts"].source == "as in a-disk"
    assert profile.values["seek_full_stroke_ms"] / profile.values["seek_average_ms"] == pytest.approx(20 / 9, rel=1e-4)


def test_without_the_whole_disk_seeks_are_assumed(tmp_path):
    points = tuple(point.model_copy(update={"span": "file", "start_share": 0.0}) for point in DISK.points[:3])
    profile = made_of(DISK.model_copy(update={"points": points}), HDD, tmp_path)
    assert profile.figures["seek_average_ms"].basis == "assumption"
    assert profile.values["inner_rate_mb_s"] == pytest.approx(209.715 / 2, rel=1e-4)


def test_an_ssds_times_add_up_to_what_was_measured(tmp_path):
    values = made_of(FLASH, SSD, tmp_path).values
    read_us = 1e6 / values["read_commands_per_s"] + values["read_command_us"] + values["read_latency_us"]
    read_us += 4096 / values["link_mb_s"] + 4096 / values["channel_mb_s"]
    assert read_us == pytest.approx(100, rel=1e-3)
    write_us = 1e6 / values["write_commands_per_s"] + values["write_command_us"] + 4096 / values["link_mb_s"]
    assert write_us == pytest.approx(40, rel=1e-3)


def test_a_knee_becomes_a_write_cache_and_none_becomes_none(tmp_path):
    knee = Knee(knee_bytes=2_500_000_000, before_mb_s=400, beyond_mb_s=120)
    with_cache = made_of(FLASH.model_copy(update={"knee": knee}), SSD, tmp_path).values
    assert (with_cache["slc_cache_bytes"], with_cache["slc_write_rate_mb_s"]) == (2_500_000_000, 400)
    assert with_cache["write_rate_mb_s"] == 120
    without = made_of(FLASH, SSD, tmp_path).values
    assert "slc_cache_bytes" not in without
    assert without["write_rate_mb_s"] == pytest.approx(419.43)


def test_the_profile_expects_what_was_measured(tmp_path):
    profile = made_of(FLASH, SSD, tmp_path)
    assert profile.expected["random_read_4k_iops_depth1"].value == 10_000
    assert {figure.basis for figure in profile.expected.values()} == {"calibration"}


def test_the_nearest_of_the_same_kind_lends(tmp_path):
    assert nearest(FLASH, named_figures(FLASH), [HDD, FASTER, SSD]) is SSD
    assert nearest(DISK, named_figures(DISK), [SSD, HDD, FASTER]) is HDD


def test_what_rotates_is_told_by_its_random_reads():
    flash = FLASH.model_copy(update={"facts": {"rotational": "yes"}})
    assert kind_of(flash, named_figures(flash)) == "ssd"
    assert kind_of(DISK, named_figures(DISK)) == "hdd"


def test_the_page_cache_alone_makes_no_profile():
    buffered = a_calibration(points=tuple(point for point in a_calibration().points if point.buffered))
    with pytest.raises(BadInputError, match="has no direct I/O"):
        kind_of(buffered, named_figures(buffered))


def test_names_with_quotes_stay_yaml(tmp_path):
    odd = DISK.model_copy(update={"facts": {"drive": 'a "very" odd: one'}})
    text = make_profile(odd, named_figures(odd), HDD, "mine")
    assert YAML(typ="safe").load(text)["title"] == 'a "very" odd: one, as calibrated'
