"""Proves that a profile made of a calibration says what was measured, and marks the rest as assumptions."""

import random
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from assay.media.emulated.emulator import Emulator
from assay.media.emulated.profile import find_profile, read_profile
from assay.model.drive_profile import DriveProfile, QueueSettings
from assay.model.errors import BadInputError
from assay_extras.calibration.behaviour import burst_of
from assay_extras.calibration.calibration import AccessPattern, Behaviour, Both, Burst, Knee
from assay_extras.calibration.command import write_profile
from assay_extras.calibration.fidelity import named_figures
from assay_extras.calibration.profile import kind_of, make_profile, nearest
from tests.builders import an_installation
from tests.extras.calibration.builders import a_calibration, a_point

MIB = 1 << 20
ROOT = Path(__file__).parents[3]
INSTALLATION = an_installation(ROOT, ROOT / ".assay")
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
    return AccessPattern(direction=direction, pattern=pattern, block_bytes=block_bytes, depth=depth, **rest)


def taking(point, share=1.0):
    """With latencies that explain the rate of single requests, or a share of it: a limit explains the rest."""
    mean_us = share * 1e6 * point.depth * point.streams / max(point.iops, 1e-9)
    return point.model_copy(update={"latency_us_median": mean_us, "latency_us_p99": 1.6 * mean_us})


def measured(*pairs, **changes):
    """A calibration of accesses at requests a second."""
    points = tuple(taking(a_point(one, iops * one.block_bytes / 1e6)) for one, iops in pairs)
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
    flash = FLASH.model_copy(update={"facts": {"rotational": True}})
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


def behaving(**changes):
    fields = {
        "sequential": Both(read_mb_s=90, write_mb_s=90),
        "random": Both(read_mb_s=1.2, write_mb_s=1.2),
        "read": Burst(latency_us=400, burst_ms=100),
        "write": Burst(latency_us=300, burst_ms=90),
        "long_read_us": 1400,
        "flush_us": 50,
        **changes,
    }
    return Behaviour(**fields)


LIMITED = measured(
    (access(), 300),
    (access(depth=32), 300),
    (access("write"), 290),
    (access("write", depth=32), 300),
    (access(pattern="sequential", block_bytes=MIB, depth=8), 86),
    (access("write", "sequential", MIB, 8), 86),
    behaviour=behaving(),
    facts={"drive": "unknown"},
    queue=QueueSettings(rotational=True, scheduler="mq-deadline", read_ahead_kb=2560, max_sectors_kb=1280),
)
CLOUD = find_profile("cloud-volume-3000-iops", INSTALLATION.profiles)


def test_requests_that_a_limit_holds_back_are_no_seeks():
    """300 a second, most of them in 0.4 ms: no arm moves so fast, and the rest of the time is a limit's."""
    quick = LIMITED.model_copy(update={"points": tuple(taking(point, 0.1) for point in LIMITED.points)})
    assert kind_of(quick, named_figures(quick)) == "limited"
    even = tuple(point.model_copy(update={"latency_us_p99": point.latency_us_median}) for point in LIMITED.points)
    same = LIMITED.model_copy(update={"points": even})
    assert kind_of(same, named_figures(same)) == "limited"
    named_drive = FLASH.model_copy(update={"facts": {"drive": "MX100"}, "behaviour": behaving()})
    assert kind_of(named_drive, named_figures(named_drive)) == "limited"
    no_burst = behaving(read=Burst(latency_us=90, burst_ms=0), write=Burst(latency_us=30, burst_ms=0))
    drive = named_drive.model_copy(update={"behaviour": no_burst})
    assert kind_of(drive, named_figures(drive)) == "ssd"


def test_a_limited_device_has_its_limits_bursts_and_queue(tmp_path):
    profile = made_of(
        LIMITED.model_copy(update={"points": tuple(taking(one, 0.15) for one in LIMITED.points)}), CLOUD, tmp_path
    )
    assert profile.kind == "limited"
    values = profile.values
    assert (values["read_iops"], values["read_latency_us"], values["read_burst_ms"]) == (300, 400, 100)
    # Both directions at once are as fast as each alone: there is no limit of both together.
    assert values["total_mb_s"] == pytest.approx(2 * values["read_mb_s"], rel=1e-3)
    assert values["link_mb_s"] == pytest.approx(1048.6, rel=1e-3)
    assert profile.queue == LIMITED.queue
    shared = LIMITED.model_copy(update={"behaviour": behaving(sequential=Both(read_mb_s=50, write_mb_s=45))})
    assert made_of(shared, CLOUD, tmp_path).values["total_mb_s"] == 95
    knee = Knee(knee_bytes=2_000_000_000, before_mb_s=400, beyond_mb_s=60)
    slowing = made_of(LIMITED.model_copy(update={"knee": knee}), CLOUD, tmp_path).values
    assert (slowing["fast_write_bytes"], slowing["fast_write_mb_s"], slowing["write_mb_s"]) == (2e9, 400, 60)


def test_a_link_that_carries_both_directions_says_how_far(tmp_path):
    both = behaving(sequential=Both(read_mb_s=400, write_mb_s=386.432))
    profile = made_of(FLASH.model_copy(update={"behaviour": both}), SSD, tmp_path)
    assert profile.values["link_duplex"] == pytest.approx(1.5, rel=1e-3)


def test_a_burst_is_how_far_requests_get_ahead_of_the_rate():
    """30 at once and then 300 a second, each in 0.4 ms, are 100 ms of the limit; without a limit there is no burst."""
    starts = [0.0004 * number if number < 34 else (number - 30) / 300 for number in range(200)]
    burst = burst_of(starts, [start + 0.0004 for start in starts], 300)
    assert burst.burst_ms == pytest.approx(100, abs=3)
    assert burst.latency_us == pytest.approx(400, rel=0.01)
    even = [number / 300 for number in range(200)]
    assert burst_of(even, [start + 1 / 300 for start in even], 300).burst_ms == 0


@pytest.mark.slow
def test_whatever_was_measured_makes_a_profile_that_loads(tmp_path, monkeypatch):
    """Rates and latencies over five orders of magnitude, and each combination of what may be missing."""
    if Emulator(INSTALLATION).missing():
        pytest.skip("the emulator is not built")
    monkeypatch.setattr("assay_extras.calibration.command.find_profile", cache(find_profile))  # the shipped ones, once
    chance = random.Random(7)
    kinds = set()

    def any_of(low, high):
        return low * (high / low) ** chance.random()

    for number in range(120):
        pairs = [
            (access(way, pattern, size, depth, span=chance.choice(["file", "device"])), any_of(2, 2e5) * 4096 / size)
            for way in ("read", "write")
            for pattern, size, depth in (("random", 4096, 1), ("random", 4096, 32), ("sequential", MIB, 8))
            if way == "read" or chance.random() < 0.8
        ]
        calibration = measured(*pairs)
        points = tuple(taking(point, chance.choice([0.05, 1.0])) for point in calibration.points)
        both = Both(read_mb_s=any_of(0.01, 9e3), write_mb_s=any_of(0.01, 9e3))
        bursts = {
            way: Burst(latency_us=any_of(1, 1e6), burst_ms=chance.choice([0, any_of(1, 1e4)]))
            for way in ("read", "write")
        }
        behaviour = behaving(
            sequential=both, random=both, long_read_us=any_of(10, 1e6), flush_us=any_of(1, 1e6), **bursts
        )
        knee = Knee(knee_bytes=10**9, before_mb_s=any_of(1, 5e3), beyond_mb_s=any_of(1, 5e3))
        changes = {
            "points": points,
            "behaviour": chance.choice([None, behaviour]),
            "knee": chance.choice([None, knee]),
            "facts": {"drive": chance.choice(["unknown", "a drive"])},
        }
        file = tmp_path / f"{number}.yaml"
        write_profile(calibration.model_copy(update=changes), file, "made", INSTALLATION)
        kinds.add(read_profile(file).kind)
    assert kinds == {"hdd", "ssd", "limited"}
