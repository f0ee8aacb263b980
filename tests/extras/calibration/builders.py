"""A meter that needs no fio, and a calibration made with it."""

from pathlib import Path

from assay.model.drive_profile import Figure
from assay_extras.calibration.calibration import AccessPattern, AccessPoint, Both, Calibration
from assay_extras.calibration.fio import Limit, Stretch
from assay_extras.calibration.measure import buffered_accesses, direct_accesses

FIXTURES = Path(__file__).parents[2] / "fixtures" / "fio"


class FakeMeter:
    """Writes down what it was asked for; every access takes a moment and moves 100 MB/s per stream."""

    version = "0-fake"

    def __init__(self, log=""):
        self.asked: list[tuple[AccessPattern, Stretch, Limit]] = []
        self.log = log

    def measure(self, access, stretch, limit):
        self.asked.append((access, stretch, limit))
        return a_point(access, mb_s=100.0 * access.streams)

    def measure_both(self, access, stretch, limit):
        return Both(read_mb_s=60.0, write_mb_s=60.0)

    def write_through(self, stretch, total_bytes, seconds, log):
        log.with_name(f"{log.name}_bw.log").write_text(self.log or "1000, 100000, 1, 0, 0\n")
        if stretch.path.is_file() and stretch.path.stat().st_size == 0:
            with stretch.path.open("r+b") as file:
                file.truncate(stretch.span_bytes)
        return total_bytes


def a_point(access, mb_s=100.0):
    return AccessPoint(
        **access.model_dump(),
        mb_s=mb_s,
        iops=mb_s * 1e6 / access.block_bytes,
        latency_us_median=90,
        latency_us_p99=1234,
        seconds=1.5,
    )


def a_calibration(**changes):
    accesses = [*direct_accesses("brief"), *buffered_accesses("brief")]
    fields = {
        "medium": "disk",
        "facts": {"device": "/dev/x", "file_system": "ext4"},
        "fio_version": "3.33",
        "taken": "2026-01-02 03:04:05 UTC",
        "file_bytes": 4 << 30,
        "points": tuple(a_point(access, 100.0 * access.streams) for access in accesses),
        **changes,
    }
    return Calibration(**fields)


def expecting(**values):
    return {name: Figure(value=value, basis="review", source="a magazine") for name, value in values.items()}
