"""Proves that records and samples of schema 3 are read without a loss: the subject of a series becomes a column."""

import json
import tarfile

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as some
from pyarrow import parquet

from assay.model.record import SCHEMA_VERSION, SeriesKey, totals
from assay.record.folder import RunFolder, read_table
from assay.record.reading import Unreadable, record_outline, whole_record
from assay.record.schema_3 import with_subjects
from tests.builders import a_job, a_plan, a_record, a_trial
from tests.golden.making import RUNS

names = some.text("abc/ >", max_size=6)
series = some.from_regex("[a-z]{1,3}_s", fullmatch=True)


def joined(row):
    return f"{row['subject']}/{row['series']}" if row["subject"] else row["series"]


@given(some.lists(some.tuples(names, series)))
def test_subjects_and_series_are_told_apart_at_the_last_slash(rows):
    table = pyarrow.table(
        {"series": pyarrow.array([f"{of}/{name}" if of else name for of, name in rows], pyarrow.string())}
    )
    read = with_subjects(table).to_pylist()
    assert [(row["subject"], row["series"]) for row in read] == rows
    assert with_subjects(with_subjects(table)) == with_subjects(table)


@pytest.mark.parametrize("name", RUNS)
def test_no_sample_of_a_real_run_is_lost(name, tmp_path):
    with tarfile.open(RUNS[name]) as files:
        files.extractall(tmp_path, filter="data")
    tables = sorted(tmp_path.glob("**/samples.parquet"))
    for file in tables:
        before, after = parquet.read_table(file), read_table(file)
        assert list(map(joined, after.to_pylist())) == before["series"].to_pylist()
        for column in before.column_names:
            assert column == "series" or after[column].to_pylist() == before[column].to_pylist()


FACTS = {
    "cpu": "4 of 5", "cores": 2, "cpu_quota": 0.5, "nodes": 2, "free_memory": "stays", "dilation": 3,
    "network.data.worker-1.rate_bits_per_s": 10**9, "medium.disk.rotational": True, "medium.disk.device": "/dev/x",
    "medium.disk.read_ahead_kb": "unknown", "medium.disk.worker-2.rotational": False,
    "medium.disk.worker-2.size_bytes": 7,
}  # fmt: skip


def test_a_fact_is_what_it_says_and_a_mediums_are_apart():
    record = a_record(facts=FACTS)
    content = {**json.loads(record.model_dump_json(exclude={"media_facts"})), "schema_version": 3}
    assert set(record.media_facts) == {"disk", "disk.worker-2"}
    assert whole_record(json.dumps({**content, "facts": record.facts_shown})) == record


def test_how_many_parameters_are_assumed_becomes_two_numbers():
    facts = {"medium.disk.assumed_figures": "15 of 19"}
    content = {**json.loads(a_record(facts={}).model_dump_json()), "schema_version": 3, "facts": facts}
    assert whole_record(json.dumps(content)).facts_of("disk") == {"assumed_parameters": 15, "parameters": 19}


def test_a_record_and_its_samples_are_read_as_those_of_this_schema(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.create(a_plan(a_trial()))
    plan = json.loads((folder.path / "plan.json").read_text())
    (folder.path / "plan.json").write_text(json.dumps({**plan, "schema_version": 3}))
    record = a_record()
    content = json.loads(record.model_dump_json(exclude={"media_facts"}))
    text = json.dumps({**content, "facts": record.facts_shown, "schema_version": 3})
    place = folder.path / "trials" / record.trial.id
    place.mkdir()
    (place / "record.json").write_text(text)
    old = {
        "probe": ["cpu", "disk", "disk", "block-trace"], "time_ms": [1, 1, 1, 1], "value": [1.0, 2.0, 3.0, 4.0],
        "series": ["user_percent", "hdd/read_mb_s", "hdd/read_mb_s", "hdd/input/read_mb_s"],
        "node": [None, "worker-1", "worker-2", None],
    }  # fmt: skip
    parquet.write_table(pyarrow.table(old), place / "samples.parquet")
    assert folder.plan() == a_plan(a_trial())
    assert whole_record(text) == record
    assert record.schema_version == SCHEMA_VERSION == 5
    assert {key: values for key, (_, values) in folder.series(record.trial.id).items()} == {
        SeriesKey("cpu", "", "user_percent"): [1.0],
        SeriesKey("disk", "hdd", "read_mb_s"): [2.0],
        SeriesKey("disk", "hdd", "read_mb_s", "worker-2"): [3.0],
        SeriesKey("block-trace", "hdd/input", "read_mb_s"): [4.0],
    }


@pytest.mark.parametrize("read", [whole_record, record_outline])
def test_added_up_times_of_jobs_at_once_become_the_time_of_the_batch_and_altered_ones_are_refused(read):
    """Two jobs that ran at once from 1 to 11 s, submitted at 0 s, had 20 and 22 s in totals of schema 3."""
    jobs = (a_job(), a_job().model_copy(update={"id": "job_1_0002"}))
    record = a_record(jobs=jobs, totals=totals(jobs, jobs), staging_jobs=jobs)
    content = json.loads(record.model_dump_json(exclude={"media_facts"}))
    added_up = {"elapsed_s": 20.0, "submitted_s": 22.0, "staging_submitted_s": 22.0}
    old = {**content, "facts": record.facts_shown, "schema_version": 3, "totals": {**content["totals"], **added_up}}
    batch = read(json.dumps(old)).totals
    assert (batch.elapsed_s, batch.submitted_s, batch.staging_submitted_s) == (10, 11, 11)
    for name, value in added_up.items():
        with pytest.raises(Unreadable, match="its totals are not those of its jobs: it was altered"):
            read(json.dumps({**old, "totals": {**old["totals"], name: 0.9 * value}}))
