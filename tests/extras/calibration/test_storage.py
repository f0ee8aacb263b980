"""Proves that a calibration is reused for the same facts only, and that what can't be used is kept aside and said."""

import json

import pytest

from assay_extras.calibration.calibration import CalibrationFolder
from tests.extras.calibration.builders import a_calibration

FACTS = {"device": "/dev/x", "file_system": "ext4"}


@pytest.fixture
def folder(tmp_path):
    return CalibrationFolder(tmp_path)


def test_what_was_stored_comes_back(folder):
    calibration = a_calibration()
    file = folder.store(calibration)
    assert folder.load("disk", FACTS) == calibration
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_other_facts_have_no_calibration(folder):
    folder.store(a_calibration())
    assert folder.load("disk", {**FACTS, "file_system": "xfs"}) is None
    assert folder.said == []


def test_a_name_with_slashes_is_a_file_name(folder):
    file = folder.store(a_calibration(medium="/mnt/a disk"))
    assert file.name.startswith("mnt-a-disk-")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"schema_version": 1}', "\udcff"])
def test_a_damaged_file_is_set_aside(folder, content):
    file = folder.store(a_calibration())
    file.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert folder.load("disk", FACTS) is None
    (sentence,) = folder.said
    assert "measuring again" in sentence
    (aside,) = file.parent.iterdir()
    assert aside.name.endswith(".damaged")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [({"schema_version": 0}, "is of another version (0, not 2)"), ({"facts": {"device": "/dev/y"}}, "another medium")],
)
def test_an_outdated_file_or_that_of_another_medium_is_not_taken(folder, changes, reason):
    file = folder.store(a_calibration())
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    assert folder.load("disk", FACTS) is None
    assert reason in folder.said[0]
