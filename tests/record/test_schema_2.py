"""Proves that records and plans of schema 2 are converted without a loss: four real runs of it are the fixture."""

import json
import tarfile

import pytest

from assay.record.folder import RunFolder
from assay.record.reading import whole_record
from assay.record.schema_2 import converted
from tests.golden.making import RUNS


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    place = tmp_path_factory.mktemp("runs")
    for archive in RUNS.values():
        with tarfile.open(archive) as files:
            files.extractall(place, filter="data")
    return place


def leaves(value, place=()):
    """All values that hold no others, by their places."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    if not inner and not (isinstance(value, dict | list) and value):
        return {place: value}
    return {at: leaf for key, one in inner for at, leaf in leaves(one, (*place, key)).items()}


@pytest.mark.parametrize("name", RUNS)
def test_nothing_of_a_record_is_lost(runs, name):
    files = sorted((runs / name).glob("trials/*/record.json"))
    assert files
    for file in files:
        before = json.loads(file.read_text())
        assert before["schema_version"] == 2
        after = leaves(json.loads(whole_record(file.read_text()).model_dump_json()))
        lost = {at: leaf for at, leaf in leaves(before).items() if after.get(at) != leaf}
        assert lost.pop(("schema_version",)) == 2
        for place, leaf in lost.items():
            assert after[moved(place)] == leaf, place


def moved(place):
    """Where a value of schema 2 stands in schema 3: by stage and phase, whose names were parts of names."""
    *above, name = place
    if name in ("map_s", "shuffle_s", "merge_s", "reduce_s"):
        return (*above, name.removesuffix("_s"))
    stage = ("maps", "reduces").index(name.removeprefix("failed_"))
    return (*above, "stages", stage, "failed_attempts" if name.startswith("failed_") else "tasks")


@pytest.mark.parametrize("name", RUNS)
def test_a_run_of_schema_2_is_read_as_a_whole(runs, name):
    run = RunFolder(runs / name)
    records, damaged = run.records()
    assert (len(records), damaged) == (len(run.plan().trials), [])


def doubt(kind, what="w"):
    (found,) = converted({"schema_version": 2, "doubts": [{"kind": kind, "what": what, "why": "y", "cure": "c"}]})[
        "doubts"
    ]
    return found


def test_a_doubts_instrument_severity_and_medium_are_taken_from_what_its_kind_and_words_say():
    found = doubt("disk-uncounted", "the disk of medium 'hdd' was not measured: no device")
    assert (found["instrument"], found["subject"], found["severity"]) == ("disk", "hdd", 0)
    assert doubt("wrong-outputs")["severity"] == 210
    found = doubt("probe-own-cost-missing")
    assert (found["kind"], found["instrument"]) == ("probe-missing", "own-cost")
    assert doubt("probe-disk-counter-went-back")["kind"] == "counter-went-back"
