"""Proves how long trials are expected to take, from earlier records: like with like."""

import pytest

from assay.model.doubt import Outcome
from assay.model.record import Status
from assay.model.result import TrialResult
from assay.model.trial import SettingsSpec, WorkloadSpec
from assay.stats import duration_history
from assay.stats.duration_history import Expected, read_history
from tests.builders import a_folder, a_plan, a_record, a_trial


def with_settings(trial, **properties):
    return trial.model_copy(update={"settings": SettingsSpec(name="mine", properties=properties)})


def test_trials_with_all_the_same_levels_count_before_others():
    trial, other = a_trial(1), with_settings(a_trial(2), a="1")
    expected = Expected([(trial, 10.0), (trial, 14.0), (other, 100.0)])
    assert expected.of(a_trial(7, repetition=3)) == (12.0, 2, 10.0, 14.0, True)
    assert expected.of(other) == (100.0, 1, 80.0, 120.0, True), "a single one tells little of the range"
    assert expected.of(with_settings(a_trial(3), a="2")) == (14.0, 3, 10.0, 100.0, True)


def test_another_medium_dataset_or_option_is_no_likeness():
    expected = Expected([(a_trial(1), 10.0)])
    assert expected.of(a_trial(1, medium="ssd")) is None
    assert expected.of(a_trial(1, workload="sort")) is None
    larger = WorkloadSpec(name="triangles", options={"size": "32GB"})
    assert expected.of(a_trial(1).model_copy(update={"workload": larger})) is None


def test_times_are_read_from_the_records_of_a_folder_of_runs(tmp_path, monkeypatch):
    for name in ("one", "two"):
        folder = a_folder(tmp_path / name, a_plan())
        folder.write(TrialResult(record=a_record()))
        folder.write(TrialResult(record=a_record(a_trial(2, medium="ssd"))))
    failed = a_record(a_trial(3)).model_copy(update={"status": Status.FAILED})
    folder.write(TrialResult(record=failed))
    (tmp_path / "one" / "trials" / "0001-triangles-disk" / "record.json").write_text("{")
    found = read_history(tmp_path)
    assert sorted((one.trial.id, one.seconds, one.elapsed_s) for one in found.durations) == [
        ("0001-triangles-disk", 12.5, 10.0), ("0002-triangles-ssd", 12.5, 10.0), ("0002-triangles-ssd", 12.5, 10.0),
    ]  # fmt: skip
    assert {one.run for one in found.durations} == {str(tmp_path / "one"), str(tmp_path / "two")}
    assert found.damaged == [tmp_path / "one" / "trials" / "0001-triangles-disk" / "record.json"]
    assert read_history(tmp_path / "nowhere") == ([], [])
    monkeypatch.setattr(duration_history, "MOST_RECORDS", 2)
    assert len(read_history(tmp_path).durations) == 2


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"status": "finished", "totals": 5}', "null", "\udc80"])
def test_what_is_no_record_is_named_and_left_out(tmp_path, content):
    file = tmp_path / "run" / "trials" / "0001-x" / "record.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(content.encode(errors="surrogateescape"))
    assert read_history(tmp_path) == ([], [file])


def test_a_wrong_output_has_no_time_that_counts(tmp_path):
    folder = a_folder(tmp_path / "one", a_plan())
    folder.write(TrialResult(record=a_record(outcome=Outcome.FAIL)))
    (took,) = read_history(tmp_path).durations
    assert (took.seconds, took.elapsed_s) == (12.5, None)
