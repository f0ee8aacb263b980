"""Proves that a scale model's record keeps this machine's clock on disk, and has the model's time once it is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from assay.engine.tez_tasks import TezAttempt
from assay.model.quantity import Kind
from assay.model.record import Amount, Sample, SeriesKey, Step, StoredOutput, Totals
from assay.model.result import TrialResult
from assay.model.scale import ScaleReport
from assay.model.signature import Access, PhaseUse, Signature
from assay.model.trial import WorkloadSpec
from assay.record.folder import RunFolder
from assay.record.model_time import ModelClock, in_model_time
from tests.builders import a_folder, a_plan, a_record, a_trial, device_reports

WALL_MS = 1_000_000


def dilated(dilation=4):
    return a_record(
        scale=ScaleReport(dilation=dilation),
        steps=(Step(name="start", started_ms=WALL_MS, seconds=4.0), Step(name="run", started_ms=WALL_MS + 4000, seconds=40.0)),
        devices=device_reports({"disk": {"run": {
            "elapsed_seconds": 40.0, "busy_seconds": 8.0, "late_seconds": 0.4, "joules": {"total": 80.0}, "seed": 7,
        }}}),
        amounts=(
            Amount(probe="disk", subject="disk", series="busy_s", part="run", value=8.0),
            Amount(probe="cpu", subject="machine", series="user_s", part="run", value=8.0),
        ),
    )  # fmt: skip


def test_every_length_is_so_many_times_shorter_and_processor_time_stays():
    wall = dilated()
    model = in_model_time(wall)
    assert isinstance(model.totals, Totals)
    assert model.totals.elapsed_s == pytest.approx(wall.totals.elapsed_s / 4)
    assert model.totals.phases["map"] == pytest.approx(wall.totals.phases["map"] / 4)
    assert model.jobs[0].elapsed_s == pytest.approx(2.5)
    assert [step.started_ms for step in model.steps] == [WALL_MS, WALL_MS + 1000]
    assert [step.seconds for step in model.steps] == [1.0, 10.0]
    report = model.reports_of("disk")[0]["run"]
    assert (report.elapsed_seconds, report.busy_seconds, report.joules["total"]) == (10.0, 2.0, 20.0)
    assert (report.model_extra["late_seconds"], report.model_extra["seed"]) == (0.1, 7)
    assert [amount.value for amount in model.amounts] == [2.0, 8.0]
    assert model.scale.clock == "model"


def test_what_a_workload_says_of_itself_by_the_clock_is_the_models_too():
    summary = {"throughput_mib_s": 2.0, "exec_s": 12.0, "moved_bytes": 7, "triangles": 3}
    record = dilated()
    trial = record.trial.model_copy(update={"workload": WorkloadSpec(name="testdfsio")})
    record = record.model_copy(
        update={"trial": trial, "outputs": (StoredOutput(path="/out", bytes=1, summary=summary),)}
    )
    (output,) = in_model_time(record).outputs
    assert output.summary == {"throughput_mib_s": 8.0, "exec_s": 3.0, "moved_bytes": 7, "triangles": 3}


def test_it_is_done_once():
    model = in_model_time(dilated())
    assert in_model_time(model) is model
    plain = a_record()
    assert in_model_time(plain) is plain


def test_the_folder_keeps_the_clock_and_gives_the_models_time(tmp_path):
    folder = a_folder(tmp_path / "run", a_plan())
    wall = dilated()
    access = Access(
        job="j",
        phase="map",
        medium="disk",
        role="input",
        direction="read",
        bytes=1,
        requests=1,
        latency_ms_mean=8.0,
        active_s=4.0,
    )
    use = PhaseUse(job="j", phase="map", attempts=1, attempt_s=8.0, elapsed_s=4.0, cpu_s=1.0)
    samples = [
        Sample(probe="disk", subject="disk", series="read_mb_s", time_ms=WALL_MS + 4000, value=5.0),
        Sample(probe="cpu", series="user_percent", time_ms=WALL_MS + 4000, value=50.0),
    ]
    folder.write(TrialResult(wall, [], samples, [], Signature(accesses=(access,), phases=(use,), media=()), b""))
    kept = (tmp_path / "run" / "trials" / a_trial().id / "record.json").read_text()
    assert '"clock":"wall"' in kept.replace(" ", "").replace("\n", "")
    assert '"elapsed_s": 10.0' in kept
    for reader in (folder, RunFolder(tmp_path / "run")):
        series = reader.series(a_trial().id)
        assert series[SeriesKey("disk", "disk", "read_mb_s")] == ([WALL_MS + 1000], [20.0])
        assert series[SeriesKey("cpu", "", "user_percent")] == ([WALL_MS + 1000], [50.0])
        found = reader.signature(a_trial().id)
        assert (found.accesses[0].latency_ms_mean, found.accesses[0].active_s) == (2.0, 1.0)
        assert (found.phases[0].attempt_s, found.phases[0].cpu_s) == (2.0, 1.0)
    assert folder.record(a_trial().id).totals.elapsed_s == pytest.approx(2.5)


def test_an_unknown_moment_stays_unknown():
    assert ModelClock(WALL_MS, 4).moment_ms(0) == 0


@given(some.sampled_from(Kind), some.integers(1, 50), some.floats(1, 1e9))
def test_a_number_is_converted_by_what_it_is_of_and_not_by_its_name(kind, dilation, value):
    changed = ModelClock(WALL_MS, dilation).value(kind, value)
    expected = {Kind.CLOCK_TIME: value / dilation, Kind.RATE: value * dilation}
    if kind is Kind.MOMENT:
        assert changed == WALL_MS + round((int(value) - WALL_MS) / dilation)
    else:
        assert changed == expected.get(kind, value)


@pytest.mark.parametrize(
    ("probe", "series", "times"),
    [
        ("processes", "busy_s", 1), ("own-cost", "elapsed_s", 1), ("disk", "queue_s", 1 / 4), ("pressure", "io_some_s", 1 / 4),
        ("blocked-time", "blocked_s", 1 / 4), ("blocked-time", "processor_s", 1), ("nobody", "busy_s", 1),
    ],
)  # fmt: skip
def test_seconds_of_amounts_are_the_models_where_they_are_of_its_clock(probe, series, times):
    amount = Amount(probe=probe, subject="x", series=series, part="run", value=8.0)
    assert in_model_time(dilated().model_copy(update={"amounts": (amount,)})).amounts[0].value == 8.0 * times


def test_rows_are_converted_column_by_column():
    clock = ModelClock(WALL_MS, 4)
    plain = {"job": "j", "attempt": "a", "stage": "s", "node": "n", "state": "S", "started_ms": WALL_MS + 400}
    attempt = clock.row(TezAttempt(**plain, finished_ms=WALL_MS + 800, merged_ms=100, gc_ms=40, shuffled_bytes=8))
    assert (attempt.started_ms, attempt.finished_ms) == (WALL_MS + 100, WALL_MS + 200)
    assert (attempt.merged_ms, attempt.gc_ms, attempt.shuffled_bytes) == (25, 40, 8)
