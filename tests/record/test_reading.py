"""Proves that only whole records of this schema are read, and that runs are read lazily."""

import json
import os

import pytest

from assay.model.errors import BadInputError
from assay.model.record import Amount
from assay.model.result import TrialResult
from assay.model.scale import ScaleReport
from assay.model.trial import Landed
from assay.record.folder import Damaged, RunFolder
from assay.record.reading import Unreadable, whole_record
from assay.record.scale_rules import RULES_VERSION
from assay.stats.duration_history import read_history
from tests.builders import a_folder, a_plan, a_record, a_trial, device_reports

AMOUNT = Amount(probe="energy", subject="cpu", series="energy_j", part="run", value=3.5)


def full_record(trial=None):
    landed = Landed(role="input", when="staged", bytes=5, shares={"disk": 1.0}, of_bytes=5)
    return a_record(
        trial,
        amounts=(AMOUNT,),
        settings={"a": "b"},
        landed=(landed,),
        devices=device_reports({"hdd": {"run": {"x": 1}}}),
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "not a JSON object"),
        ("", "Invalid JSON"),
        (
            '{"schema_version": 1, "facts": {"assay": "0.0.9"}}',
            "schema_version is 1, this Assay reads 5: it can't read older",
        ),
        ('{"schema_version": 1, "facts": {"assay": "0.0.9"}}', r"the Assay that wrote it \(0.0.9\)"),
        ('{"schema_version": 6}', "newer"),
        ("{}", "schema_version is null"),
        ('{"schema_version": true}', "schema_version is true"),
        ('{"schema_version": 4, "facts": {"assay": "0.0.9"}}', r"reads 5: it can't read older .* wrote it \(0\.0\.9\)"),
        ('{"schema_version": 5, "jobs": 5, "totals": 3}', "trial"),
    ],
)
def test_what_is_no_record_is_refused_with_the_reason(text, reason):
    with pytest.raises(Unreadable, match=reason):
        whole_record(text)


def test_a_plan_of_an_older_schema_is_refused_with_the_reason(tmp_path):
    run = a_folder(tmp_path, a_plan())
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "schema_version": 1}))
    with pytest.raises(BadInputError, match="schema_version is 1, this Assay reads 5"):
        run.plan()


def test_records_come_one_after_the_other_and_damage_does_not_stop_them(tmp_path):
    run = RunFolder(tmp_path / "run")
    trials = [a_trial(number) for number in (1, 2, 3)]
    run.create(a_plan(*trials))
    for trial in trials:
        run.write(TrialResult(full_record(trial), [], []))
    run.file(trials[1].id, "record.json").write_text('{"schema_version": 3, "tri')
    found = list(run.each())
    assert [type(one) is Damaged for one in found] == [False, True, False]
    assert run.finished() == {trials[0].id, trials[2].id}
    assert run.record(trials[0].id).amounts == (AMOUNT,)
    with pytest.raises(BadInputError, match="Invalid JSON"):
        run.record(trials[1].id)


def test_a_figure_that_was_changed_by_hand_is_noticed():
    content = json.loads(full_record().model_dump_json())
    content["totals"]["elapsed_s"] *= 0.9
    with pytest.raises(Unreadable, match="its totals are not those of its jobs: it was altered"):
        whole_record(json.dumps(content))


def test_a_record_that_is_not_the_plans_is_left_out_with_the_reason(tmp_path):
    run = RunFolder(tmp_path / "run")
    first, second = a_trial(1), a_trial(2)
    run.create(a_plan(first, second))
    run.write(TrialResult(full_record(first.model_copy(update={"cache": "warm"})), [], []))
    run.write(TrialResult(full_record(second), [], []))
    run.write(TrialResult(full_record(a_trial(3)), [], []))
    records, damaged = run.records()
    assert [one.trial.id for one in records] == [second.id]
    assert [one.reason for one in damaged] == [
        "its trial is not what the run's plan says: one of them was altered", "the run's plan has no such trial",
    ]  # fmt: skip
    assert run.finished() == {second.id}


@pytest.fixture
def written(tmp_path):
    run = a_folder(tmp_path / "run", a_plan(a_trial(1), a_trial(2)))
    run.write(TrialResult(a_record(a_trial(1)), [], []))
    run.write(TrialResult(a_record(a_trial(2)), [], []))
    return run


def replace(file, what):
    file.unlink()
    if what == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(what)


@pytest.mark.parametrize("what", ["pipe", "/dev/zero", "record.json"])
@pytest.mark.parametrize("name", ["record.json", "sha256sums"])
def test_a_pipe_or_a_device_in_a_records_place_is_damage_and_nobody_waits_for_it(written, name, what):
    folder = written.path / "trials" / a_trial(1).id
    if name == what:
        what = "circle"
        (folder / what).symlink_to(what)
    if (name, what) != ("sha256sums", "record.json"):
        replace(folder / name, what)
        records, damaged = written.records()
        assert [record.trial.id for record in records] == [a_trial(2).id]
        assert damaged[0].folder == folder
        assert "it is a" in damaged[0].reason or "lead in a circle" in damaged[0].reason
        assert "Errno" not in damaged[0].reason


@pytest.mark.parametrize("name", ["tasks.parquet", "samples.parquet"])
@pytest.mark.parametrize("what", ["pipe", "/dev/zero"])
def test_a_table_that_is_none_is_refused(written, name, what):
    replace(written.path / "trials" / a_trial(1).id / name, what)
    tasks = name == "tasks.parquet"
    read, trial = (written.attempts, a_trial(1)) if tasks else (written.series, a_trial(1).id)
    with pytest.raises(BadInputError, match=rf"{name} can't be read: it is a (pipe|device)"):
        read(trial)
    (written.path / "trials" / a_trial(1).id / "sha256sums").unlink()
    with pytest.raises(BadInputError, match=rf"{name} can't be read: it is a (pipe|device)"):
        read(trial)


def test_a_plan_that_is_a_pipe_is_refused(written):
    replace(written.path / "plan.json", "pipe")
    with pytest.raises(BadInputError, match=r"plan.json can't be read: it is a pipe \(FIFO\)"):
        written.plan()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' + "1" * 5000 + "}", '{"schema_version": 2, "a": 1e999}'])
def test_a_record_of_any_depth_or_size_of_numbers_is_damage(written, text):
    (written.path / "trials" / a_trial(1).id / "record.json").write_text(text)
    assert len(written.records()[1]) == 1
    assert [took.trial.id for took in read_history(written.path.parent).durations] == [a_trial(2).id]


def test_a_run_cannot_begin_below_a_file(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadInputError, match="run can't be made: .*file is a file, and no folder; name another"):
        RunFolder(tmp_path / "file" / "run").check_free()


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "-1e400", "1" + "0" * 400, "-" + "9" * 30])
def test_a_number_that_nothing_measures_is_damage(value):
    text = a_record().model_dump_json().replace('"seconds":12.5', f'"seconds":{value}')
    assert value in text
    with pytest.raises(Unreadable, match=r"Invalid JSON|beyond 64 bits"):
        whole_record(text)


def test_a_text_that_looks_like_such_a_number_is_a_text():
    record = a_record(error="it said, 1e400 and: 99999999999999999999999999")
    assert whole_record(record.model_dump_json()) == record


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        (RULES_VERSION + 1, rf"version {RULES_VERSION + 1} of .*, this Assay knows {RULES_VERSION}: a newer Assay \(9\.1\)"),
        (0, "scale.rules: .* greater than or equal to 1"), (-1, "scale.rules: .* greater than or equal to 1"),
    ],
)  # fmt: skip
def test_a_record_by_rules_that_are_not_known_is_refused(rules, reason):
    content = json.loads(a_record(scale=ScaleReport(dilation=2, rules=1), facts={"assay": "9.1"}).model_dump_json())
    assert whole_record(json.dumps(content)).scale.rules == 1
    content["scale"]["rules"] = rules
    with pytest.raises(Unreadable, match=reason):
        whole_record(json.dumps(content))
