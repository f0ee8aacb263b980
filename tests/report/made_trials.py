"""Trials with all that probes leave, made up so that every figure of them is known."""

from assay.engine.tasks import MapReduceAttempt, MapReducePhases
from assay.model.doubt import Doubt
from assay.model.record import Amount, JobRecord, Record, Series, SeriesKey, Stage, Status, Step, totals
from assay.model.section import TrialTables
from assay.model.signature import Access, PhaseUse, Signature, TracedMedium
from assay.model.trial import MediumSpec
from tests.builders import NO_PHASES, a_trial, device_reports

EPOCH_MS = 1_795_000_000_000
JOB = "job_1_0002"
RAPL_MISSING = Doubt(
    kind="probe-missing", instrument="rapl", what="the probe rapl measured nothing: there are no RAPL zones", why="w",
    cure="c",
)  # fmt: skip


def ms(seconds):
    return EPOCH_MS + round(seconds * 1000)


def an_attempt(kind, number, began_s, ended_s, shuffled_s=0.0, merged_s=0.0):
    return MapReduceAttempt(
        job=JOB, attempt=f"attempt_1_0002_{kind[0]}_{number:06d}_0", stage=kind, node="n", state="SUCCEEDED",
        started_ms=ms(began_s), shuffle_finished_ms=ms(shuffled_s) if shuffled_s else 0,
        merge_finished_ms=ms(merged_s) if merged_s else 0, finished_ms=ms(ended_s),
        shuffled_bytes=1000 * (number + 1), cpu_ms=500,
    )  # fmt: skip


def the_attempts(length_s, waves):
    """Waves of two maps in the first half, then two reducers."""
    wave_s = length_s / 2 / waves
    maps = [
        an_attempt("map", 2 * wave + side, 1 + wave * wave_s, 1 + (wave + 0.9) * wave_s)
        for wave in range(waves)
        for side in (0, 1)
    ]
    reduces = [
        an_attempt("reduce", side, length_s * 0.4, length_s * (0.9 + 0.05 * side), length_s * 0.6, length_s * 0.65)
        for side in (0, 1)
    ]
    return [*maps, *reduces]


def the_series(length_s, medium):
    times = [ms(number / 2) for number in range(1, round(length_s * 2) + 1)]
    count = len(times)
    return {
        SeriesKey("cpu", "", "user_percent"): Series(times, [50.0 + number % 7 for number in range(count)]),
        SeriesKey("cpu", "", "system_percent"): Series(times, [10.0] * count),
        SeriesKey("cpu", "", "iowait_percent"): Series(times, [25.0 * (number % 60 > 40) for number in range(count)]),
        SeriesKey("cpu", "", "steal_percent"): Series(times, [0.0] * count),
        SeriesKey("disk", medium, "read_mb_s"): Series(times, [60.0 * (number % 3) for number in range(count)]),
        SeriesKey("disk", medium, "write_mb_s"): Series(
            times, [0.0 if number != count // 3 else 150.0 for number in range(count)]
        ),
        SeriesKey("disk", medium, "busy_percent"): Series(times, [min(100.0, number % 130) for number in range(count)]),
    }


def an_access(phase, role, direction, bytes_, sequential=1.0, job=JOB, **changes):
    plain = Access(
        job=job, phase=phase, medium="hdd", role=role, direction=direction, bytes=bytes_, requests=bytes_ / 131072,
        sequential_share=sequential, typical_request_bytes=131072, streams=2.5, latency_ms_mean=3.25, active_s=4.0,
    )  # fmt: skip
    return plain.model_copy(update=changes)


def a_report(length_s):
    """What an emulated drive tells of the run."""
    requests = {"bytes": 600 << 20, "requests": 4800, "sequential_share": 0.9}
    return {
        "elapsed_seconds": length_s, "busy_seconds": length_s / 2, "joules": {"idle": 100.0, "total": 163.0},
        "reads": requests, "writes": requests, "late": {"requests": 0, "share": 0.0},
    }  # fmt: skip


SIGNATURE = Signature(
    accesses=(
        an_access("map", "input", "read", 400 << 20, 0.75),
        an_access("map", "intermediate", "write", 300 << 20, typical_request_bytes=1 << 20),
        an_access("shuffle", "intermediate", "read", 200 << 20, 0.5),
        an_access("reduce", "output", "write", 100 << 20),
        an_access("map", "input", "write", 500 << 20, job="job_1_0001"),
        an_access("outside", "other", "read", 4096, 0.0, job=""),
    ),
    phases=(PhaseUse(job=JOB, phase="map", attempts=10, attempt_s=40, elapsed_s=20, cpu_s=7.3, bytes=700 << 20),),
    media=(
        TracedMedium(medium="hdd", source="emulator log", basis="measured", requests=9, bytes=9, other_share=0.0123),
    ),
)


def a_record(number=1, medium="hdd", length_s=40.0, repetition=1, **changes):
    jobs = (
        JobRecord(
            name="sort", id=JOB, state="SUCCEEDED", submitted_ms=ms(0.5), started_ms=ms(1), finished_ms=ms(length_s - 1),
            stages=(Stage(name="map", tasks=10), Stage(name="reduce", tasks=2)), phases=NO_PHASES, counters={},
        ),
    )  # fmt: skip
    staging = (jobs[0].model_copy(update={"name": "generate", "id": "job_1_0001"}),)
    trial = a_trial(number, medium, repetition, workload="terasort")
    record = Record(
        trial=trial.model_copy(update={"media": (MediumSpec(name=medium, kind="emulated", profile="p"),)}),
        status=Status.FINISHED,
        facts={"cores": 2, "memory_bytes": 1 << 30, "host": "vm"},
        steps=(
            Step(name="stage", started_ms=ms(-10), seconds=9),
            Step(name="run", started_ms=ms(0), seconds=length_s),
            Step(name="verify", started_ms=ms(length_s), seconds=1),
        ),
        jobs=jobs,
        staging_jobs=staging,
        totals=totals(jobs, staging),
        amounts=(
            Amount(probe="cpu", subject="machine", series="user_s", part="run", value=length_s * 1.06),
            Amount(probe="cpu", subject="machine", series="system_s", part="run", value=length_s * 0.2),
            Amount(probe="own-cost", subject="trial", series="elapsed_s", part="staging", value=10),
            Amount(probe="own-cost", subject="trial", series="elapsed_s", part="run", value=length_s),
            Amount(probe="own-cost", subject="probes", series="busy_s", part="run", value=length_s * 0.0123),
            Amount(probe="own-cost", subject="probes", series="resident_growth_bytes", part="run", value=77.5 * 2**20),
        ),
        devices=device_reports({medium: {"run": a_report(length_s)}}),
        doubts=(RAPL_MISSING,),
    )  # fmt: skip
    return record.model_copy(update=changes)


def the_tables(number=1, medium="hdd", length_s=40.0, waves=5, repetition=1, **changes):
    attempts = the_attempts(length_s, waves)
    phases = [
        MapReducePhases(job=JOB, attempt=one.attempt, stage=one.stage, start_s=0.2, spills=3, merge_passes=1)
        for one in attempts
    ]
    accesses = tuple(one.model_copy(update={"medium": medium}) for one in SIGNATURE.accesses)
    seen = TrialTables(
        record=a_record(number, medium, length_s, repetition),
        attempts=attempts,
        phases=phases,
        series=the_series(length_s, medium),
        signature=SIGNATURE.model_copy(update={"accesses": accesses}),
        samples_bytes=round(40_000 * (length_s + 10) / 3600),
    )
    return seen._replace(**changes)
