"""Proves that a record appears whole or not at all, reads back as it was, and that damage is named and left out."""

import json
import subprocess

import pytest
from pyarrow import parquet

from assay.engine.tasks import MapReduceAttempt
from assay.model.doubt import Doubt
from assay.model.errors import BadInputError
from assay.model.record import Amount, Sample
from assay.model.registry import ENGINES
from assay.model.result import TrialResult
from assay.record.folder import RunFolder, write_rows
from assay.report.analysis import analyse, read_run
from assay.report.page import run_page
from tests.builders import a_folder, a_plan, a_record, a_trial


@pytest.fixture
def folder(tmp_path):
    return a_folder(tmp_path / "run", a_plan(a_trial(1), a_trial(2, medium="memory")))


def test_what_is_written_reads_back(folder):
    record = a_record()
    attempt = MapReduceAttempt(
        job="job_1_0001", attempt="attempt_1_0001_m_000000_0", stage="map", node="n", state="SUCCEEDED",
        started_ms=0, finished_ms=5,
    )  # fmt: skip
    folder.write(TrialResult(record, [attempt], [Sample(probe="cpu", series="user_percent", time_ms=3, value=2.5)]))
    assert folder.records() == ([record], [])
    assert folder.plan() == a_plan(a_trial(1), a_trial(2, medium="memory"))
    place = folder.path / "trials" / record.trial.id
    assert parquet.read_table(place / "tasks.parquet").to_pylist() == [attempt.model_dump()]
    assert parquet.read_table(place / "samples.parquet").to_pylist()[0]["value"] == 2.5


def test_series_of_other_nodes_than_the_first_have_their_names(folder):
    """Those of no node, and of the first one, have none."""
    own = [("machine_count", None, 1), ("seen_count", "a", 2), ("seen_count", "b", 3), ("seen_count", "b", 4)]
    samples = [
        Sample(probe="cpu", series=series, time_ms=at, value=value, node=node)
        for at, (series, node, value) in enumerate(own)
    ]
    folder.write(TrialResult(a_record(), [], samples))
    assert {key[2:]: values for key, (_, values) in folder.series(a_trial().id).items()} == {
        ("machine_count", ""): [1], ("seen_count", ""): [2], ("seen_count", "b"): [3, 4],
    }  # fmt: skip


def test_series_of_nodes_that_were_read_from_afar_all_have_their_names(folder):
    """None of them is this machine."""
    samples = [
        Sample(probe=probe, series=series, time_ms=1, value=2.0, node=node)
        for node in ("a", "b")
        for probe, series in (("cpu", "user_percent"), ("nodes", "clock_offset_ms"))
    ]
    folder.write(TrialResult(a_record(), [], samples))
    assert sorted((key.node, key.series) for key in folder.series(a_trial().id)) == [
        ("a", "clock_offset_ms"), ("a", "user_percent"), ("b", "clock_offset_ms"), ("b", "user_percent"),
    ]  # fmt: skip


def test_no_samples_make_an_empty_table_with_its_columns(folder):
    folder.write(TrialResult(a_record(), [], []))
    table = parquet.read_table(folder.path / "trials" / a_trial().id / "samples.parquet")
    assert table.num_rows == 0
    assert table.column_names == list(Sample.model_fields)


def test_a_half_written_trial_is_not_seen_and_goes_away(folder):
    draft = folder.path / "trials" / ".0001-triangles-disk-abc"
    draft.mkdir()
    (draft / "record.json").write_text("{")
    assert folder.records() == ([], [])
    folder.drop_drafts()
    assert not draft.exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text[:100], "Invalid JSON"),
        (lambda text: text.replace('"status": "finished"', '"status": "fine"'), "status"),
        (lambda text: json.dumps({**json.loads(text), "invented": 1}), "invented"),
        (lambda text: json.dumps({**json.loads(text), "schema_version": 99}), "schema_version"),
        (
            lambda text: text.replace('"id": "0001-triangles-disk"', '"id": "0007-other"'),
            "it says that it is trial 0007-other",
        ),
    ],
)
def test_a_record_cut_short_or_altered_is_named_and_left_out(folder, change, reason):
    folder.write(TrialResult(a_record(), [], []))
    file = folder.path / "trials" / a_trial().id / "record.json"
    file.write_text(change(file.read_text()))
    records, damaged = folder.records()
    assert records == []
    assert damaged[0].folder == file.parent
    assert reason in damaged[0].reason


def test_a_folder_that_is_not_empty_is_refused(tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(BadInputError, match=r"is not empty; name another folder with --out"):
        RunFolder(tmp_path).create(a_plan())
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_a_folder_without_a_plan_is_no_run(tmp_path):
    with pytest.raises(BadInputError, match=r"is not a run folder: it has no plan\.json"):
        RunFolder(tmp_path).plan()


def test_samples_of_several_writes_come_back_in_order_and_small(folder, monkeypatch):
    monkeypatch.setattr("assay.record.folder.ROWS_AT_ONCE", 1000)
    samples = [
        Sample(probe="cpu", series=series, time_ms=at * 500 + at % 3, value=(at * 37 % 1000) / 10)
        for series in ("user_percent", "system_percent")
        for at in range(2500)
    ]
    folder.write(TrialResult(a_record(), [], samples))
    file = folder.path / "trials" / a_trial().id / "samples.parquet"
    assert parquet.read_table(file).to_pylist() == [sample.model_dump() for sample in samples]
    assert file.stat().st_size < 6 * len(samples)


def test_a_probes_totals_are_in_the_record(folder):
    amounts = tuple(
        Amount(probe="cpu", subject="machine", series="user_s", part=part, value=1.5, basis="estimated")
        for part in ("staging", "run")
    )
    folder.write(TrialResult(a_record(amounts=amounts), [], []))
    assert folder.records()[0][0].amounts == amounts


def test_a_record_with_figures_of_a_probe_that_no_longer_exists_opens_and_makes_a_page(folder):
    spin = Amount(probe="spin", subject="processors", series="memory_busy_s", part="staging", value=0.12)
    doubt = Doubt(kind="probe-missing", what="too few threads", why="w", cure="c", instrument="spin")
    folder.write(TrialResult(a_record(amounts=(spin,), doubts=(doubt,)), [], []))
    run = read_run(folder)
    assert not run.damaged
    assert [(record.amounts, record.doubts) for record in run.whole_records()] == [((spin,), (doubt,))]
    assert "too few threads" in run_page(run, analyse(run.measured))


def altered(name, change):
    def alter(place):
        file = place / name
        file.write_bytes(change(file.read_bytes()))

    return alter


@pytest.mark.parametrize(
    ("alter", "reason"),
    [
        (
            altered("record.json", lambda text: text.replace(b"7 found", b"9 found")),
            "record.json is not what sha256sums",
        ),
        (
            altered("record.json", lambda text: text.replace(b'"cpu": "test"', b'"cpu": "best"')),
            "record.json is not what",
        ),
        (altered("sha256sums", lambda text: text.replace(b"record.json", b"other.json")), "does not name record.json"),
        (altered("sha256sums", lambda text: b"\xff"), "sha256sums was altered"),
    ],
)
def test_what_was_altered_without_contradicting_itself_is_named_and_left_out(folder, alter, reason):
    folder.write(TrialResult(a_record(), [], []))
    alter(folder.path / "trials" / a_trial().id)
    records, (damaged,) = folder.records()
    assert records == []
    assert reason in damaged.reason
    assert folder.finished() == set()


@pytest.mark.parametrize("name", ENGINES)
def test_task_attempts_of_each_engine_read_back(name, folder):
    attempt = ENGINES[name].attempt(
        job="job_1_0001", attempt="attempt_1_0001_m_000000_0", stage="1", node="n", state="SUCCEEDED", started_ms=0,
        finished_ms=5, reason="none",
    )  # fmt: skip
    trial = a_trial().model_copy(update={"engine": name})
    folder.write(TrialResult(a_record(trial), [attempt], []))
    assert folder.attempts(trial) == [attempt]


def test_a_table_that_was_altered_or_lost_is_refused_with_the_reason(folder):
    attempt = MapReduceAttempt(
        job="job_1_0001", attempt="attempt_1_0001_m_000000_0", stage="map", node="n", state="SUCCEEDED",
        started_ms=0, finished_ms=5,
    )  # fmt: skip
    folder.write(TrialResult(a_record(), [attempt], []))
    trial = a_trial().id
    write_rows(folder.file(trial, "tasks.parquet"), type(attempt), [attempt.model_copy(update={"input_records": 9})])
    with pytest.raises(BadInputError, match=r"tasks.parquet is not what sha256sums says"):
        folder.attempts(a_trial())
    folder.file(trial, "samples.parquet").unlink()
    with pytest.raises(BadInputError, match=r"samples.parquet is not there, and sha256sums names it"):
        folder.series(trial)
    assert folder.signature(trial) is None


def test_checksums_are_those_that_sha256sum_checks(folder):
    folder.write(TrialResult(a_record(), [], []))
    place = folder.path / "trials" / a_trial().id
    done = subprocess.run(["sha256sum", "-c", "--strict", "sha256sums"], cwd=place, check=True, capture_output=True)
    assert {line.split(b":")[0].decode() for line in done.stdout.splitlines()} == {
        one.name for one in place.iterdir()
    } - {"sha256sums"}


def test_a_folder_without_checksums_is_read_as_before(folder):
    folder.write(TrialResult(a_record(), [], []))
    folder.file(a_trial().id, "sha256sums").unlink()
    assert folder.records() == ([a_record()], [])
    assert folder.attempts(a_trial()) == []


def test_the_experiments_file_is_kept_whole(folder):
    assert folder.experiment is None
    folder.keep_experiment("experiment: test\n")
    assert folder.experiment.read_text() == "experiment: test\n"


def test_records_of_an_older_schema_name_the_assay_that_reads_them(folder):
    folder.write(TrialResult(a_record(facts={"assay": "0.0.7+abc"})))
    plan = folder.path / "plan.json"
    plan.write_text(plan.read_text().replace('"schema_version": 5', '"schema_version": 2'))
    with pytest.raises(BadInputError, match=r"schema_version is 2, .* another folder \(they are of Assay 0.0.7\+abc\)"):
        folder.plan()
