"""Proves that a kind of probe is one file: a toy from outside the package is attached, recorded, tabled and drawn."""

import importlib
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import assay
from assay.model.doubt import DOUBTS
from assay.model.registry import PROBES
from assay.probe.sampler import probes_of
from assay.record.folder import RunFolder
from assay.report.analysis import analyse, read_run
from assay.report.page import run_page
from assay.run.loop import execute
from assay_extras.testing.fakes import fake_setup
from tests.builders import a_plan, a_trial
from tests.toys.lifecycle import Quiet, Slow

pytestmark = pytest.mark.slow


class Slower(Slow):
    run_s = 1.2


@contextmanager
def set_up(trial):
    """All is fake but for the probes, which are those of the default level."""
    yield fake_setup(Slower(), trial)._replace(probes=lambda context: probes_of("default", context))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run with the toy in a plug-in's place; it is gone again afterwards."""
    home = tmp_path_factory.mktemp("outside")
    (home / "assay_extras").mkdir()
    shutil.copy(Path(__file__).with_name("probe.py"), home / "assay_extras" / "toy_temperature.py")
    sys.path.insert(0, str(home))
    importlib.import_module("assay_extras.toy_temperature")
    plan, folder = a_plan(a_trial(1), a_trial(2, medium="memory")), RunFolder(home / "run")
    folder.create(plan)
    execute(plan, folder, set_up, Quiet())
    yield folder
    sys.path.remove(str(home))
    del sys.modules["assay_extras.toy_temperature"]
    PROBES._kinds.pop("temperature")
    DOUBTS._kinds.pop("draught")


def test_its_totals_samples_and_doubts_are_in_the_record(folder):
    records, _ = folder.records()
    for record in records:
        assert record.error is None
        looks = {one.part: one.value for one in record.amounts if one.probe == "temperature"}
        assert looks.keys() == {"staging", "run", "collect"}
        assert looks["run"] >= Slower.run_s / 0.5 - 1
        assert [one.instrument for one in record.doubts if one.kind == "draught"] == ["temperature"]


def test_its_series_are_in_the_tables(folder):
    run = assay.load(folder.path)
    samples, amounts = run.samples(), run.amounts
    assert "room_celsius" in set(samples["series"].to_pylist())
    assert "looks_count" in set(amounts["series"].to_pylist())


def test_its_chart_and_its_doubt_are_on_the_page(folder):
    run = read_run(folder)
    page = run_page(run, analyse(run.measured))
    assert page.count("temperature of the room, °C") == 2, "in each trial's figure"
    assert 'data-of="temperature" data-series="room" data-unit="°C"' in page
    assert "the window was open" in page
