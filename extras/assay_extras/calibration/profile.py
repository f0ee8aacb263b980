"""A drive profile made from a calibration.

What was measured is turned into the model's figures by the model's own sums (emulator/model: the time of one read is
the controller's turn, its command, the flash's latency and two transfers; an access of a disk is its command, a seek
and half a turn). What can't be measured from outside is taken from a shipped profile of the same kind, and marked as
an assumption. Every figure is kept within the bounds that the emulator has for it.

What has neither the seeks of a disk nor a drive's name is described by its limits alone (`limited`).
"""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from assay.model.drive_profile import DriveProfile
from assay.model.errors import BadInputError
from assay_extras.calibration.calibration import Calibration

BLOCK_BYTES = 4096
# No disk makes as many random reads a second, and hardly a solid-state drive so few.
_LEAST_SSD_IOPS = 1000
# A disk's single read takes at least a short seek and some of a turn, most of its reads take about as long as their
# mean, and where the platter stands makes them differ: none of it holds for requests that a limit holds back.
_LEAST_SEEK_US, _MEDIAN_SHARE, _LEAST_SPREAD = 3000, 0.5, 1.15
# Reads and writes at once that come so near to the sum of both alone don't hinder each other.
_INDEPENDENT = 0.95
_UNNAMED = {"", "unknown"}
# Seeks of no disk are shorter than these, or longer.
_LEAST_TRACK_MS, _LEAST_FULL_MS, _MOST_FULL_MS = 0.1, 0.5, 50.0
# Random writes rise with about this power of the pieces that a disk's cache sorts (between the shipped disks).
_PIECES_POWER = 0.4


class Made(NamedTuple):
    """A figure's value, and what it was made from; an assumption without that."""

    value: float
    source: str = ""


def kind_of(calibration: Calibration, figures: Mapping[str, float]) -> Literal["hdd", "ssd", "limited"]:
    """By its random reads: the kernel's flag says of many virtual disks that they rotate.

    Raises BadInputError when the calibration has no direct points: those alone show the drive.
    """
    if "sequential_read_mb_s" not in figures or "random_read_4k_iops_depth1" not in figures:
        raise BadInputError(
            f"no profile can be made of {calibration.medium}: its file system has no direct I/O, and what goes through "
            "the page cache does not show the drive; calibrate a directory on ext4 or xfs"
        )
    slow = figures["random_read_4k_iops_depth1"] <= _LEAST_SSD_IOPS
    if slow and _seeks_take_time(calibration):
        return "hdd"
    behaviour = calibration.behaviour
    held_back = behaviour is not None and max(behaviour.read.burst_ms, behaviour.write.burst_ms) > 0
    unnamed = behaviour is not None and calibration.facts.get("drive", "") in _UNNAMED
    return "limited" if slow or held_back or unnamed else "ssd"


def _seeks_take_time(calibration: Calibration) -> bool:
    """Whether single random reads take as long, and differ as much, as those of a disk."""
    single = [
        point
        for point in calibration.points
        if (point.direction, point.pattern, point.block_bytes, point.depth) == ("read", "random", BLOCK_BYTES, 1)
        and not point.buffered
    ]
    return any(
        1e6 / point.iops >= _LEAST_SEEK_US
        and point.latency_us_median >= _MEDIAN_SHARE * 1e6 / point.iops
        and point.latency_us_p99 >= _LEAST_SPREAD * point.latency_us_median
        for point in single
        if point.iops
    )


def nearest(calibration: Calibration, figures: Mapping[str, float], templates: Sequence[DriveProfile]) -> DriveProfile:
    """Of these the profile of its kind whose expected figures are the least away, in ratios."""
    kind = kind_of(calibration, figures)

    def distance(template: DriveProfile) -> float:
        expected = template.expected_values
        both = figures.keys() & expected.keys()
        return sum(abs(math.log(figures[name] / expected[name])) for name in both) / max(len(both), 1)

    return min((template for template in templates if template.kind == kind and template.expected), key=distance)


def make_profile(
    calibration: Calibration,
    figures: Mapping[str, float],
    template: DriveProfile,
    name: str,
    bounds: Mapping[str, tuple[float, float]] = {},
) -> str:
    """The profile as YAML text; `figures` are the calibration's named ones, `bounds` the emulator's for each figure."""
    made = {"hdd": _hdd, "ssd": _ssd, "limited": _limited}[template.kind](calibration, figures, template)
    made = {name: figure._replace(value=_within(figure.value, bounds.get(name))) for name, figure in made.items()}
    unmeasured = {
        name: value for name, value in template.values.items() if name not in made and name not in _OF_THE_CACHE
    }
    lines = [
        f"# Made from a calibration of {calibration.medium} ({calibration.taken}, fio {calibration.fio_version}).",
        f"# What could not be measured is that of {template.name}: an assumption. Mend it where you know better.",
        f"name: {name}",
        f"kind: {template.kind}",
        f"title: {json.dumps(_title(calibration))}",
        "figures:",
        *(_line(name, Made(value), f"as in {template.name}") for name, value in unmeasured.items()),
        *(_line(name, figure) for name, figure in made.items()),
        "expected:",
        *(_line(name, Made(value, "as measured")) for name, value in figures.items()),
        *_queue_lines(calibration),
    ]
    return "\n".join(lines) + "\n"


def _within(value: float, bounds: tuple[float, float] | None) -> float:
    return value if bounds is None else min(max(value, bounds[0]), bounds[1])


def _queue_lines(calibration: Calibration) -> list[str]:
    """How the kernel treats the real drive, and so shall treat the emulated one."""
    if calibration.queue is None:
        return []
    settings = calibration.queue.model_dump(mode="json", exclude_none=True)
    return ["queue:", *(f"  {name}: {json.dumps(value)}" for name, value in settings.items())]


# A drive without a knee has no such cache, whatever the template has.
_OF_THE_CACHE = {"slc_cache_bytes", "slc_cache_dynamic_bytes", "slc_write_rate_mb_s", "slc_drain_mb_s"}


def _hdd(calibration: Calibration, figures: Mapping[str, float], template: DriveProfile) -> dict[str, Made]:
    values = template.values
    outer = figures["sequential_read_mb_s"]
    inside = [point.mb_s for point in calibration.points if point.start_share > 0.9 and not point.buffered]
    made = {
        **_capacity(calibration),
        "outer_rate_mb_s": Made(outer, "sequential reads at the beginning"),
        "link_mb_s": Made(max(values.get("link_mb_s", 0.0), outer * 1.05)),
    }
    if inside:
        made["inner_rate_mb_s"] = Made(min(inside[0], outer), "sequential reads near the end")
    else:
        made["inner_rate_mb_s"] = Made(outer * values["inner_rate_mb_s"] / values["outer_rate_mb_s"])
    made |= _seeks(calibration, figures, values)
    if "random_write_4k_iops_depth1" in figures and "random_write_4k_iops_depth1" in template.expected:
        ratio = figures["random_write_4k_iops_depth1"] / template.expected_values["random_write_4k_iops_depth1"]
        pieces = values.get("write_cache_pieces", 64.0) * ratio ** (1 / _PIECES_POWER)
        made["write_cache_pieces"] = Made(float(round(min(max(pieces, 1), 4096))), "random writes a second")
    visit = _visit_bytes(figures, template)
    if visit:
        made["stream_visit_bytes"] = Made(visit, "reads of several streams")
    return made


def _capacity(calibration: Calibration) -> dict[str, Made]:
    """Of the block device; a file system without one leaves the template's."""
    if not calibration.device_bytes:
        return {}
    return {"capacity_bytes": Made(float(calibration.device_bytes), "size of the block device")}


def _seeks(calibration: Calibration, figures: Mapping[str, float], values: Mapping[str, float]) -> dict[str, Made]:
    """Average seek from random reads over the whole disk; the other two in the template's proportions."""
    if not any(point.pattern == "random" and point.span == "device" for point in calibration.points):
        return {}
    half_turn_ms = 30_000 / values["rotation_rpm"]
    command_ms = values.get("command_us", 60.0) / 1000
    average = 1000 / figures["random_read_4k_iops_depth1"] - half_turn_ms - command_ms
    # No seek may become shorter than the emulator allows, which keeps their proportions.
    least = max(_LEAST_TRACK_MS / values["seek_track_to_track_ms"], _LEAST_FULL_MS / values["seek_full_stroke_ms"])
    most = _MOST_FULL_MS / values["seek_full_stroke_ms"]
    scale = _within(average / values["seek_average_ms"], (least, most))
    average = scale * values["seek_average_ms"]
    return {
        "seek_average_ms": Made(average, "random reads over the whole disk, less half a turn"),
        "seek_track_to_track_ms": Made(values["seek_track_to_track_ms"] * scale),
        "seek_full_stroke_ms": Made(values["seek_full_stroke_ms"] * scale),
    }


def _visit_bytes(figures: Mapping[str, float], template: DriveProfile) -> float | None:
    """How long the heads stay with one stream: from the rate of four, with the template's time of a change."""
    values, name = template.values, "streams_4_read_mb_s"
    if name not in figures or name not in template.expected or "stream_visit_bytes" not in values:
        return None
    change_us = values["stream_visit_bytes"] * (1 / template.expected_values[name] - 1 / values["outer_rate_mb_s"])
    lost = 1 / figures[name] - 1 / figures["sequential_read_mb_s"]
    most = values.get("read_segment_bytes", 2.0 * (1 << 20))
    if lost <= 0 or change_us <= 0:
        return most
    return float(round(min(max(change_us / lost, BLOCK_BYTES), most)))


def _ssd(calibration: Calibration, figures: Mapping[str, float], template: DriveProfile) -> dict[str, Made]:
    values = template.values
    points = calibration.points
    link = max(point.mb_s for point in points if point.direction == "read" and not point.buffered)
    made = {
        **_capacity(calibration),
        "link_mb_s": Made(link, "the fastest reads"),
    }
    if calibration.behaviour is not None:
        duplex = _within(calibration.behaviour.sequential.mb_s / link, (1.0, 2.0))
        made["link_duplex"] = Made(duplex, "sequential reads and writes at once, over the fastest reads")
    carried_us = BLOCK_BYTES / link
    for direction in ("read", "write"):
        # The controller's turn may bound small requests at any depth; at 32 it is nearest to it.
        deep = figures.get(f"random_{direction}_4k_iops_depth32")
        shallow = figures.get(f"random_{direction}_4k_iops_depth1")
        if deep is None or shallow is None:
            continue
        deep = max(deep, shallow)
        made[f"{direction}_commands_per_s"] = Made(deep, f"random {direction}s at depth 32")
        rest_us = 1e6 / shallow - 1e6 / deep - carried_us
        if direction == "write":
            made["write_command_us"] = Made(max(rest_us, 0.0), "random writes at depth 1")
        else:
            rest_us -= BLOCK_BYTES / values.get("channel_mb_s", 400.0)
            command_us = min(values["read_command_us"], max(rest_us - 1, 0.0))
            made["read_command_us"] = Made(command_us)
            made["read_latency_us"] = Made(max(rest_us - command_us, 1.0), "random reads at depth 1")
    return made | _write_rates(calibration, figures, values)


def _limited(calibration: Calibration, figures: Mapping[str, float], _: DriveProfile) -> dict[str, Made]:
    made = _capacity(calibration)
    knee, behaviour = calibration.knee, calibration.behaviour
    read_mb_s = figures["sequential_read_mb_s"]
    write_mb_s = knee.beyond_mb_s if knee else figures.get("sequential_write_mb_s", read_mb_s)
    rates, latencies = {"read": read_mb_s, "write": write_mb_s}, {}
    iops = {}
    for way in ("read", "write"):
        single = figures.get(f"random_{way}_4k_iops_depth1", figures["random_read_4k_iops_depth1"])
        iops[way] = max(figures.get(f"random_{way}_4k_iops_depth32", 0.0), single)
        burst = getattr(behaviour, way) if behaviour else None
        held_back = burst is not None and burst.burst_ms > 0
        quick = [burst.latency_us, *_medians_us(calibration, way)] if burst and held_back else [1e6 / single]
        latencies[way] = min(quick)
        made |= {
            f"{way}_mb_s": Made(rates[way], f"sequential {way}s"),
            f"{way}_iops": Made(iops[way], f"random {way}s at depth 32"),
            f"{way}_latency_us": Made(latencies[way], f"single random {way}s that no limit held back"),
            f"{way}_burst_ms": Made(
                burst.burst_ms if burst else 0.0, f"{way}s after a second's idleness" if burst else ""
            ),
        }
    both_mb_s, both_iops = sum(rates.values()), sum(iops.values())
    if behaviour is not None:
        at_once = behaviour.random.mb_s * 1e6 / BLOCK_BYTES
        source = "reads and writes at once"
        made["total_mb_s"] = Made(_together(behaviour.sequential.mb_s, both_mb_s), f"sequential {source}")
        made["total_iops"] = Made(_together(at_once, both_iops), f"random {source}")
        made["flush_ms"] = Made(behaviour.flush_us / 1000, "fdatasync after a direct write")
        rest_us = behaviour.long_read_us - latencies["read"]
        link = max((1 << 20) / rest_us if rest_us > 0 else math.inf, both_mb_s)
        made["link_mb_s"] = Made(min(link, 128_000.0), "1 MiB after idleness")
    else:
        made |= {"total_mb_s": Made(both_mb_s), "total_iops": Made(both_iops)}
    if knee:
        made["fast_write_bytes"] = Made(float(knee.knee_bytes), "the knee of sequential writes")
        made["fast_write_mb_s"] = Made(max(knee.before_mb_s, write_mb_s), "sequential writes up to the knee")
        made["recover_mb_s"] = Made(write_mb_s)
    return made


def _medians_us(calibration: Calibration, direction: str) -> list[float]:
    """Of single random requests to the test file: with a burst most of them are quick, and the others wait for long."""
    kind = (direction, "random", BLOCK_BYTES, 1, "file")
    return [
        point.latency_us_median
        for point in calibration.points
        if (point.direction, point.pattern, point.block_bytes, point.depth, point.span) == kind and not point.buffered
    ]


def _together(at_once: float, both: float) -> float:
    """The limit of both directions: as measured, unless they hardly hinder each other."""
    return both if at_once >= _INDEPENDENT * both else at_once


def _write_rates(
    calibration: Calibration, figures: Mapping[str, float], values: Mapping[str, float]
) -> dict[str, Made]:
    knee = calibration.knee
    if knee is None:
        rate = figures.get("sequential_write_mb_s", values["write_rate_mb_s"])
        return {"write_rate_mb_s": Made(rate, "sequential writes; no knee was measured")}
    return {
        "write_rate_mb_s": Made(knee.beyond_mb_s, "sequential writes past the knee"),
        "slc_cache_bytes": Made(float(knee.knee_bytes), "the knee of sequential writes"),
        "slc_write_rate_mb_s": Made(max(knee.before_mb_s, knee.beyond_mb_s), "sequential writes up to the knee"),
        "slc_drain_mb_s": Made(knee.beyond_mb_s),
    }


def _title(calibration: Calibration) -> str:
    drive = calibration.facts.get("drive", "unknown")
    return f"{drive if drive != 'unknown' else calibration.medium}, as calibrated"


def _line(name: str, made: Made, assumption: str = "in the proportions of the nearest shipped drive") -> str:
    value = f"{made.value:.0f}" if made.value >= 1e6 else f"{made.value:.6g}"
    basis = "calibration" if made.source else "assumption"
    return f"  {name}: {{value: {value}, basis: {basis}, source: {json.dumps(made.source or assumption)}}}"
