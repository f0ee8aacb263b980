"""Proves when a ceiling is known, what lies beyond it, and that only a drive that was late is doubted for it."""

from pathlib import Path

import pytest

from assay.host import machine
from assay.host.lease import leases
from assay.media.emulated.ceiling import FILE, Ceiling, known_ceiling, measure_ceiling
from assay.media.emulated.medium import doubts_of
from assay.model.drive_profile import DriveProfile
from tests.builders import an_installation
from tests.media.faking import FakeSystem

RATES = {
    "random_read_4k_iops_depth1": 16_700.0,
    "random_read_4k_iops_depth32": 37_000.0,
    "sequential_read_mb_s": 2100.0,
}
EXPECTED = {"random_read_4k_iops_depth1": 9000, "random_read_4k_iops_depth32": 90_000, "streams_2_read_mb_s": 9_999}
SSD = DriveProfile.model_validate(
    {"name": "fast", "kind": "ssd", "figures": {}, "expected": EXPECTED, "file": Path("x")}
)
CEILING = Ceiling(boot="b", kernel="k", emulator_digest="d", cores=2, rates=RATES)


class Emulator(FakeSystem):
    """Whose path carries that, as often as it is measured."""

    measured = 0

    def rates(self, device):
        self.log.append(f"rates {device}")
        self.measured += 1
        return RATES


@pytest.fixture
def installation(tmp_path):
    (tmp_path / "parts" / "work").mkdir(parents=True)
    (tmp_path / "emulator").symlink_to(Path(__file__).parents[2] / "emulator")
    return an_installation(tmp_path, tmp_path / "parts", cache=tmp_path / "cache", state=tmp_path / "state")


def test_it_is_measured_on_a_drive_that_has_not_begun_and_kept(installation, monkeypatch):
    system = Emulator()
    assert known_ceiling(installation, system) is None
    found = measure_ceiling(installation, system, system)
    assert "rates /dev/loop7" in system.log
    assert "ask begin" not in system.log
    assert system.log[-1] == "unmount drive"
    assert leases(installation.state) == []
    assert known_ceiling(installation, system) == found
    assert found.rates == RATES


@pytest.mark.parametrize("field", ["boot", "kernel", "emulator_digest", "cores"])
def test_another_boot_kernel_emulator_or_number_of_processors_needs_another(installation, field):
    system = Emulator()
    found = measure_ceiling(installation, system, system)
    other = found.model_copy(update={field: 99 if field == "cores" else "other"})
    (installation.state / FILE).write_text(other.model_dump_json())
    assert known_ceiling(installation, system) is None
    (installation.state / FILE).write_text("{")
    assert known_ceiling(installation, system) is None


def test_a_quota_of_processor_time_needs_another(installation, monkeypatch):
    system = Emulator()
    measure_ceiling(installation, system, system)
    monkeypatch.setattr(machine, "processor_quota", lambda: 0.5)
    assert known_ceiling(installation, system) is None
    under = measure_ceiling(installation, system, system)
    assert (under.cores, known_ceiling(installation, system)) == (0.5, under)


def test_what_lies_beyond():
    assert list(CEILING.beyond(SSD)) == [
        "the drive should answer 90,000 random reads per second at depth 32, and this machine's path carries only 37,000"
    ]
    near = CEILING.model_copy(update={"rates": {"random_read_4k_iops_depth32": 92_000.0}})
    (words,) = near.beyond(SSD)
    assert words.endswith("this machine's path carries 92,000; from 95 % of that on the path slows the drive down")
    assert list(CEILING.beyond(SSD.model_copy(update={"slowdown": 3}))) == [], "a slower drive is within reach"
    assert CEILING.fact.startswith("random_read_4k_iops_depth1 16700, random_read_4k_iops_depth32 37000")


@pytest.mark.parametrize(("late_s", "kinds"), [(0.7, []), (0.9, ["emulator-was-late", "drive-beyond-the-path"])])
def test_only_a_drive_that_was_late_is_doubted(late_s, kinds):
    late = {"requests": 7, "share": 0.01, "worst_us": 300.0, "seconds": 0.0}
    report = {
        "late": late, "late_seconds": late_s, "elapsed_seconds": 40.0, "memory_locked": True,
        "overshoot": {"median_us": 0.0, "p99_us": 0.0}, "mean_response_us": 100.0,
    }  # fmt: skip
    found = doubts_of("ssd", SSD, {}, [report], ceiling=CEILING)
    assert [doubt.kind for doubt in found] == kinds
    assert all("ssd: the drive should answer 90,000 " in doubt.what for doubt in found[1:])
