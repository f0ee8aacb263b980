"""Proves that no record is written that can't be read: what is no number is left out with a doubt, the trial stands."""

import json
import math

import pytest

from assay.model.base import json_text
from assay.model.record import Amount, Sample, Status, Step, StoredOutput, totals
from assay.model.result import TrialResult
from assay.model.signature import Signature, TracedMedium
from assay.record.folder import read_table
from assay.record.writing import readable_text
from tests.builders import a_folder, a_job, a_plan, a_record, device_reports

STRAYS = [math.nan, math.inf, -math.inf, 2**63, -(10**30)]


def an_amount(value, series="busy_s"):
    return Amount(probe="disk", subject="sda", series=series, part="run", value=value)


@pytest.fixture
def folder(tmp_path):
    return a_folder(tmp_path / "run", a_plan())


@pytest.mark.parametrize("stray", STRAYS)
def test_a_figure_that_is_no_number_is_missing_and_the_trial_stands(folder, stray):
    jobs = (a_job().model_copy(update={"phases": {"map": float(stray), "shuffle": 2.0}, "active_s": stray}),)
    (drive,) = device_reports({"disk": {"run": {"elapsed_seconds": 1.0, "joules": {"read": 1.0}}}})
    report = drive.reports["run"].model_copy(update={"busy_seconds": stray, "joules": {"read": stray, "write": 1.0}})
    record = a_record(
        jobs=jobs,
        totals=totals(jobs, ()),
        amounts=(an_amount(stray), an_amount(7.0, "read_bytes")),
        outputs=(
            StoredOutput(path="/out", bytes=1, summary={"triangles": 7}).model_copy(
                update={"summary": {"a": stray, "b": 7}}
            ),
        ),
        steps=(Step(name="run", started_ms=0, seconds=12.5), Step(name="stage", started_ms=0, seconds=stray)),
        devices=(drive.model_copy(update={"reports": {"run": report}}),),
    )
    samples = [
        Sample(probe="cpu", series="user_percent", time_ms=time, value=value) for time, value in ((1, 2.5), (2, stray))
    ]
    written = folder.write(TrialResult(record, samples=samples))
    (read,), damaged = folder.records()
    assert not damaged
    assert read == written
    assert read.status is Status.FINISHED
    assert read.amounts == (an_amount(7.0, "read_bytes"),)
    assert read.outputs[0].summary == {"b": 7}
    assert [step.name for step in read.steps] == ["run"]
    assert (read.jobs[0].phases, read.totals.phases, read.jobs[0].active_s) == (
        {"shuffle": 2.0},
        {"shuffle": 2.0},
        None,
    )
    (reports,) = read.reports_of("disk")
    assert (reports["run"].busy_seconds, reports["run"].joules) == (None, {"write": 1.0})
    assert read_table(folder.file(record.trial.id, "samples.parquet")).column("value").to_pylist() == [2.5]
    (doubt,) = read.doubts
    assert doubt.kind == "figures-left-out"
    assert "cpu user_percent.value, " in doubt.what
    assert doubt.what.endswith(" more")


def test_each_figure_is_named(folder):
    record = a_record(amounts=(an_amount(math.nan),))
    assert (
        folder.write(TrialResult(record)).doubts[0].what == "no number, and so left out: amounts disk sda busy_s.value"
    )


def test_a_signature_with_a_figure_that_is_no_number_can_be_read(folder):
    medium = TracedMedium.model_construct(
        **{name: math.nan if field.annotation is float else "" for name, field in TracedMedium.model_fields.items()}
    )
    signature = Signature.model_construct(schema_version=1, accesses=(), phases=(), media=(medium,))
    written = folder.write(TrialResult(a_record(), signature=signature))
    assert [doubt.kind for doubt in written.doubts] == ["figures-left-out"]
    assert folder.signature(written.trial.id).media == ()


def test_a_record_that_cannot_be_read_whatever_is_left_out_is_that_of_a_failed_trial(folder):
    record = a_record(facts={"cpu": "a\udce4"}).model_copy(update={"schema_version": 9})
    folder.write(TrialResult(record))
    (read,), damaged = folder.records()
    assert (read.status, read.trial, read.facts, damaged) == (Status.FAILED, record.trial, {"cpu": "a\\udce4"}, [])
    assert read.error.startswith("its record could not be read: schema_version is 9")


def test_a_file_s_name_that_is_not_utf_8_becomes_an_escape(folder):
    record = a_record(facts={"medium.disk.place": "/mnt/\udce4"}, error="/mnt/\udce4: no")
    read = folder.write(TrialResult(record))
    assert (read.media_facts, read.error, read.doubts) == ({"disk": {"place": "/mnt/\\udce4"}}, "/mnt/\\udce4: no", ())


def test_a_record_of_numbers_is_written_as_it_is():
    record = a_record()
    assert readable_text(record)[0] is record


def test_json_has_no_nan():
    assert json.loads(json_text({"a": [math.nan, 1.5, math.inf], "ä": "λ"})) == {"a": [None, 1.5, None], "ä": "λ"}
    assert json_text({"ä": 1}).isascii()
