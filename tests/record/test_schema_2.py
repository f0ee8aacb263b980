"""Proves that records and plans of schema 2 are converted without a loss: four real runs of it are the fixture."""

import json
import tarfile

import pytest

from assay.cli.run import resumed
from assay.model.cluster import EmbeddedSpec, ExistingSpec
from assay.model.doubt import DOUBTS
from assay.record.folder import RunFolder
from assay.record.reading import whole_record
from assay.record.schema_2 import converted
from assay.stats.duration_history import Expected, read_history
from tests.builders import make_plan
from tests.golden.making import RUNS, known_words

OF_OTHER_KINDS = {
    "directory": {"size_bytes": None, "profile": None, "file_system": "ext4", "slowdown": 1},
    "existing": {"path": None, "size_bytes": None, "profile": None, "file_system": "ext4", "slowdown": 1},
}
"""What a medium may lose: fields of other kinds, which all media had with these values, and which said nothing."""

OF_OTHER_CLUSTERS = {
    "embedded": dict.fromkeys(ExistingSpec.model_fields, None),
    "existing": {
        **EmbeddedSpec().model_dump(exclude={"kind"}), "nodes": None,
    },
}  # fmt: skip
"""What a cluster may lose: fields of the other type, which all clusters had with these values."""


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
        read = whole_record(file.read_text())
        assert read.facts_shown == before.pop("facts") | {  # one fact became two
            name: fact for name, fact in read.facts_shown.items() if name.endswith("parameters")
        }
        whole = json.loads(read.model_dump_json())
        drives = {
            drive.label: stored["reports"] for drive, stored in zip(read.devices, whole.pop("devices"), strict=True)
        }
        assert leaves(before.pop("devices", {})).items() <= leaves(drives).items()
        after = leaves(whole)
        lost = {at: leaf for at, leaf in leaves(before).items() if after.get(at, ...) != leaf}
        assert lost.pop(("schema_version",)) == 2
        for number, medium in enumerate(before["trial"]["media"]):
            for field, silent in OF_OTHER_KINDS.get(medium["kind"], {}).items():
                assert lost.pop(("trial", "media", number, field)) == silent
        of_clusters = OF_OTHER_CLUSTERS[before["trial"]["cluster"]["kind"]]
        for *above, field in [place for place in lost if place[:2] == ("trial", "cluster")]:
            assert lost.pop((*above, field)) == of_clusters[field]
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


@pytest.mark.parametrize("name", ["comparison", "failed-trial", "thesis-figures-2-3-scaled"])
def test_a_run_of_schema_2_goes_on_with_the_plan_that_its_experiment_makes_now(runs, name):
    run = RunFolder(runs / name)
    now = make_plan(run.experiment, known_words())
    assert resumed(run.plan(), now, now, run.finished()).trials == now.trials


def medium(**fields):
    stored = {"name": "m", "path": None, "size_bytes": None, "profile": None, "file_system": "ext4", "slowdown": 1}
    new = converted({"schema_version": 2, "trial": {"media": [{**stored, **fields}]}})
    return {name: value for name, value in new["trial"]["media"][0].items() if name not in {"name", "kind"}}


def test_a_medium_keeps_its_kinds_own_fields_and_whatever_says_something():
    assert medium(kind="memory") == {"path": None, "size_bytes": None}
    assert medium(kind="existing") == {}
    assert medium(kind="directory", slowdown=2) == {"path": None, "slowdown": 2}
    assert len(medium(kind="emulated")) == len(medium(kind="unheard-of")) == 5


def test_times_of_schema_2_count_for_the_same_trials_planned_now(runs):
    run = RunFolder(runs / "failed-trial")
    (took,) = [one for one in read_history(runs).durations if one.run == str(run.path)]
    (trial,) = [one for one in make_plan(run.experiment, known_words()).trials if one.id == took.trial.id]
    assert Expected([(took.trial, took.seconds)]).of(trial)[:2] == (took.seconds, 1)


def doubt(kind, what="w"):
    (found,) = converted({"schema_version": 2, "doubts": [{"kind": kind, "what": what, "why": "y", "cure": "c"}]})[
        "doubts"
    ]
    return found


def test_a_doubts_instrument_and_severity_are_taken_from_its_kind_and_nothing_from_its_words():
    found = doubt("disk-uncounted", "the disk of medium 'hdd' was not measured: no device")
    assert (found["instrument"], found.get("subject"), found["severity"]) == ("disk", None, 0)
    assert doubt("wrong-outputs")["severity"] == 210
    found = doubt("probe-own-cost-missing")
    assert (found["kind"], found["instrument"]) == ("probe-missing", "own-cost")
    assert doubt("probe-disk-counter-went-back")["kind"] == "counter-went-back"
    for event in ("missing", "stopped", "unread", "counter-went-back"):
        assert doubt(f"probe-disk-{event}")["kind"] in DOUBTS
