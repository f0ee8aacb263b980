"""Proves that demands are kept beside records, that the last ones of a drive count, and that damage only loses them."""

from assay.record.demands import FILE, keep_demands, measured_run, read_demands
from assay.record.folder import RunFolder
from tests.builders import a_plan
from tests.predict.test_predictor import DRIVE, a_demand


def test_the_last_demands_on_a_drive_count(tmp_path):
    folder = RunFolder(tmp_path)
    assert read_demands(folder) == []
    other = a_demand((3, 2, 1), drive=DRIVE.model_copy(update={"name": "ssd"}))
    keep_demands(folder, [a_demand((3, 2, 1)), a_demand((3, 2, 1), trial="0002-triangles-disk")])
    keep_demands(folder, [other])
    keep_demands(folder, [a_demand((5, 2, 1))])
    assert read_demands(folder) == [other, a_demand((5, 2, 1))]
    assert measured_run(folder, a_plan(), []).demands == [other, a_demand((5, 2, 1))]


def test_a_damaged_line_counts_as_missing(tmp_path):
    folder = RunFolder(tmp_path)
    keep_demands(folder, [a_demand((3, 2, 1))])
    file = tmp_path / FILE
    file.write_text(f"{file.read_text()[:40]}\n{file.read_text()}")
    assert read_demands(folder) == [a_demand((3, 2, 1))]


def test_a_folder_that_can_not_be_written_to_keeps_none(tmp_path):
    keep_demands(RunFolder(tmp_path / "not there"), [a_demand((3, 2, 1))])
    assert read_demands(RunFolder(tmp_path / "not there")) == []
