"""Proves that RAPL joules are differences of the counters, that none is counted twice, and what is said without them."""

import errno
import os
from pathlib import Path

import pytest

from assay.model.layout import Layout
from assay.model.probe import CannotMeasureError, Moment, Quantity, Scene
from assay_extras.rapl.counters import POWERCAP, Rapl
from tests.probe.faking import PlacedNode, amounts_of, measuring

FIXTURES = Path(__file__).parents[1] / "fixtures" / "probe" / "rapl"
SCENE = Scene(layout=Layout.below(Path("/nowhere")))


def at_place(root):
    return PlacedNode({POWERCAP: root})


def tree(root, machine):
    """The powercap tree that the fixture tells."""
    for line in (FIXTURES / f"{machine}.txt").read_text().splitlines():
        if not line.startswith("#"):
            path, _, value = line.rpartition(":")
            (root / path).parent.mkdir(exist_ok=True, parents=True)
            (root / path).write_text(value + "\n")
    return root


def add(root, zone, joules):
    """Let a zone's counter go on, around its range too."""
    file = root / zone / "energy_uj"
    most = int((root / zone / "max_energy_range_uj").read_text())
    file.write_text(f"{(int(file.read_text()) + int(joules * 1e6)) % most}\n")


def at(seconds):
    return Moment(time_ms=int(seconds * 1000), clock_s=seconds)


def begun(root):
    rapl = Rapl(at_place(root), look_s=0)
    rapl.attach(SCENE)
    rapl.sample(at(10))
    return rapl


def test_packages_and_their_memory_add_up_around_the_counters_ends(tmp_path):
    rapl = begun(tree(tmp_path, "server"))
    for zone, joules in {"intel-rapl:0": 30, "intel-rapl:1": 10, "intel-rapl:0:0": 3, "intel-rapl:1:0": 1}.items():
        add(tmp_path, zone, joules)
    assert rapl.sample(at(10.5)) == pytest.approx({("cpu", "power_w"): 80.0, ("memory", "power_w"): 8.0})
    assert rapl.totals() == pytest.approx({Quantity("cpu", "energy_j"): 40.0, Quantity("memory", "energy_j"): 4.0})
    assert rapl.doubts() == ()
    rapl.close()


@pytest.mark.parametrize(("machine", "other_zone"), [("desktop", "intel-rapl:0:0"), ("laptop", "intel-rapl-mmio:0")])
def test_of_the_package_nothing_counts_twice(tmp_path, machine, other_zone):
    """Cores and graphics lie within it, and another interface tells of it again; the laptop's platform stands still."""
    rapl = begun(tree(tmp_path, machine))
    add(tmp_path, "intel-rapl:0", 5)
    add(tmp_path, other_zone, 4)
    rapl.sample(at(11))
    assert rapl.totals() == pytest.approx({Quantity("cpu", "energy_j"): 5.0})


def test_where_the_platform_counts_it_alone_is_told(tmp_path, monkeypatch):
    root = tree(tmp_path, "laptop")
    monkeypatch.setattr("time.sleep", lambda _: add(root, "intel-rapl:1", 0.5))
    rapl = begun(root)
    add(root, "intel-rapl:1", 9)
    add(root, "intel-rapl:0", 5)
    rapl.sample(at(11))
    assert {quantity.subject for quantity in rapl.totals()} == {"platform"}
    assert rapl.totals()[Quantity("platform", "energy_j")] == pytest.approx(9.5)


def test_a_gap_long_enough_for_two_wraps_is_a_doubt(tmp_path):
    rapl = begun(tree(tmp_path, "server"))
    rapl.sample(at(10 + 66))
    assert [doubt.kind for doubt in rapl.doubts()] == ["energy-counter-may-have-wrapped"]


def test_a_counter_that_reached_its_range_goes_on_and_one_that_was_set_to_nothing_begins_anew(tmp_path):
    root = tree(tmp_path, "desktop")
    energy = root / "intel-rapl:0/energy_uj"
    range_uj = int((root / "intel-rapl:0/max_energy_range_uj").read_text())
    energy.write_text(f"{range_uj - 2_000_000}\n")
    rapl = begun(root)
    rapl.sample(at(10))
    for second, microjoules, joules in (
        (11, 3_000_000, 5),
        (12, range_uj // 2, None),
        (13, 4_000_000, 4),
        (14, range_uj // 2, None),
        (15, range_uj // 8, range_uj / 8e6),
    ):
        before = rapl.totals()[Quantity("cpu", "energy_j")]
        energy.write_text(f"{microjoules}\n")
        rapl.sample(at(second))
        if joules is not None:
            assert rapl.totals()[Quantity("cpu", "energy_j")] - before == pytest.approx(joules)


class TestNothingToRead:
    def test_a_machine_without_zones(self, tmp_path):
        with pytest.raises(CannotMeasureError, match="no RAPL zones"):
            Rapl(at_place(tmp_path / "absent")).attach(SCENE)

    def test_counters_that_only_root_may_read(self, tmp_path, monkeypatch):
        def refuse(path, *_):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

        monkeypatch.setattr("os.open", refuse)
        with pytest.raises(CannotMeasureError, match="energy_uj can't be read") as found:
            Rapl(at_place(tree(tmp_path, "server"))).attach(SCENE)
        assert "root" in found.value.cure

    def test_a_zone_that_vanishes_is_one_doubt_and_no_totals(self, tmp_path, monkeypatch):
        tree(tmp_path, "server")
        with measuring(Rapl(at_place(tmp_path), look_s=0), scene=SCENE) as reading:
            reading.mark("staging")
            monkeypatch.setattr("os.pread", lambda *_: (_ for _ in ()).throw(OSError(errno.ENODEV, "No such device")))
            reading.mark("run")
        assert {amount.part for amount in amounts_of(reading)} == {"staging"}
        assert [doubt.kind for doubt in reading.doubts] == ["probe-stopped"]
