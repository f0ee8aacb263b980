"""Proves that assay.load gives what the records hold, reads nothing before it is asked, and names what is damaged."""

import json
from pathlib import Path
from typing import Annotated

import pytest

import assay
from assay.model.engine import EngineKind
from assay.model.errors import BadInputError
from assay.model.quantity import ClockTimeMs, Kind, KnownClockTimeS
from assay.model.record import Sample, Step
from assay.model.registry import ENGINES
from assay.model.result import TrialResult
from assay.model.scale import ScaleReport
from assay.model.task import TaskAttempt, TaskPhases
from assay.record.folder import RunFolder
from tests.builders import a_folder, a_plan, a_record, a_trial
from tests.stats.attempts import an_attempt

NOTEBOOK = Path(__file__).parents[2] / "docs" / "how-to" / "read-a-run.ipynb"


@pytest.fixture
def folder(tmp_path):
    trials = [a_trial(1), a_trial(2, medium="memory")]
    run = a_folder(tmp_path / "run", a_plan(*trials))
    for place, trial in enumerate(trials):
        samples = [
            Sample(probe="cpu", series="user_percent", time_ms=500 * at, value=10.0 * at + place) for at in range(3)
        ]
        samples.append(Sample(probe="disk", subject="disk", series="read_mb_s", time_ms=3, value=2.5))
        attempts = [an_attempt("m0_0", 0, 5)]
        run.write(TrialResult(a_record(trial, elapsed_s=12.5 - 6 * place), attempts, samples))
    return run


def test_the_tables_have_the_records_values(folder):
    run = assay.load(str(folder.path))
    trials = run.trials.to_pylist()
    assert [(one["trial"], one["placement"], one["elapsed_s"], one["map_s"]) for one in trials] == [
        ("0001-triangles-disk", "disk", 12.5, 6.25), ("0002-triangles-memory", "memory", 6.5, 3.25),
    ]  # fmt: skip
    assert run.jobs["elapsed_s"].to_pylist() == [12.5, 6.5]
    assert run.counters.to_pylist()[0] == {
        "trial": "0001-triangles-disk", "job": "job_1_0001", "name": "closing", "group": "group", "counter": "RECORDS",
        "value": 5,
    }  # fmt: skip
    assert run.verdicts["outcome"].to_pylist() == ["pass", "pass"]
    assert run.steps["seconds"].to_pylist() == [15.625, 8.125]
    assert run.tasks().num_rows == 2
    assert run.samples(["0002-triangles-memory"], probe="cpu")["value"].to_pylist() == [1.0, 11.0, 21.0]
    assert run.samples().num_rows == 8
    assert run.record("0001-triangles-disk").totals.elapsed_s == 12.5


def test_what_there_is_none_of_makes_an_empty_table(folder):
    run = assay.load(folder.path)
    assert (run.doubts.num_rows, run.doubts.column_names) == (0, ["trial"])
    assert run.accesses.num_rows == 0
    assert run.phases().num_rows == 0
    assert "merge_passes" in run.phases().column_names


def test_engines_may_type_a_column_differently_and_all_have_their_columns(tmp_path, monkeypatch):
    class Own(TaskAttempt):
        merge_finished_ms: Annotated[float, Kind.MOMENT] = 0.5
        spilled_records: str = "few"
        waited_ms: ClockTimeMs = 7

    class OwnPhases(TaskPhases):
        waited_s: KnownClockTimeS = None

    kinds = {"own": EngineKind(open=None, attempt=Own, log=OwnPhases), "mapreduce": ENGINES["mapreduce"]}
    monkeypatch.setattr("assay.model.installed.ENGINES", kinds)
    trials = [a_trial(1), a_trial(2, medium="memory").model_copy(update={"engine": "own"})]
    run = a_folder(tmp_path / "run", a_plan(*trials))
    plain = {"job": "j", "attempt": "a", "stage": "s", "node": "n", "state": "S", "started_ms": 1, "finished_ms": 2}
    for trial, attempt in zip(trials, [an_attempt("m0_0", 0, 5), Own(**plain)], strict=True):
        run.write(TrialResult(a_record(trial), [attempt], []))
    tables = assay.load(run.path)
    tasks = tables.tasks().to_pydict()
    assert tasks["merge_finished_ms"] == [0.0, 0.5]
    assert tasks["spilled_records"] == ["0", "few"]
    assert tasks["waited_ms"] == [None, 7]
    assert {"merge_passes", "waited_s"} <= set(tables.phases().column_names)


def test_nothing_is_read_before_it_is_asked_for(folder, monkeypatch):
    monkeypatch.setattr(RunFolder, "each", lambda *_, **__: pytest.fail("a record was read"))
    monkeypatch.setattr("pyarrow.parquet.read_table", lambda *_, **__: pytest.fail("a table was read"))
    assert repr(assay.load(folder.path)).startswith("<Run test: 2 trials")


def test_a_damaged_record_is_named_and_a_damaged_table_is_refused(folder):
    folder.file("0001-triangles-disk", "record.json").write_text("{")
    folder.file("0002-triangles-memory", "samples.parquet").write_bytes(b"PAR1")
    run = assay.load(folder.path)
    assert run.trials.num_rows == 1
    assert [one.folder.name for one in run.left_out] == ["0001-triangles-disk"]
    with pytest.raises(BadInputError, match=r"samples\.parquet can't be read"):
        run.samples()


def test_a_folder_that_is_no_run_is_refused_at_once(tmp_path):
    with pytest.raises(BadInputError, match="is not a run folder"):
        assay.load(tmp_path)


def test_the_notebook_runs(folder, monkeypatch, capsys):
    content = json.loads(NOTEBOOK.read_text())
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in content["cells"]}) == len(content["cells"])
    monkeypatch.setenv("RUN", str(folder.path))
    names = {}
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), cell["id"], "exec"), names)
    told = capsys.readouterr().out
    assert "12.5" in told
    assert "memory" in told
    assert "not known yet whether memory saves 10 % of the time on disk" in told
    assert "memory took 0.52 times as long as disk" in told


def test_all_tables_of_a_scale_model_are_on_its_clock(tmp_path):
    """Tasks, phases and samples can be joined with jobs and steps by time."""
    steps = (Step(name="run", started_ms=1_000_000, seconds=8.0),)
    record = a_record(a_trial(), steps=steps, scale=ScaleReport(dilation=4, clock="wall"))
    folder = a_folder(tmp_path / "scaled", a_plan(record.trial))
    late = {"time_ms": 1_004_000}
    samples = [
        Sample(probe="disk", subject="disk", series="read_mb_s", value=5.0, **late),
        Sample(probe="cpu", series="user_percent", value=50.0, **late),
    ]
    folder.write(TrialResult(record, [], samples))
    run = assay.load(folder.path)
    step_end_ms = run.steps["started_ms"][0].as_py() + 1000 * run.steps["seconds"][0].as_py()
    assert step_end_ms == 1_002_000
    read = run.samples()
    assert read["time_ms"].to_pylist() == [1_001_000] * 2, "before the end of the step in which they were taken"
    assert dict(zip(read["series"].to_pylist(), read["value"].to_pylist(), strict=True)) == {
        "read_mb_s": 20.0, "user_percent": 50.0,
    }  # fmt: skip
