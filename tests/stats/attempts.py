"""Jobs and attempts made up for tests: times in seconds after the job's submission."""

from assay.engine.tasks import MapReduceAttempt
from assay.model.record import JobRecord
from tests.builders import NO_PHASES, STAGES

JOB = "job_1_0001"
EPOCH_MS = 1_795_000_000_000


def at(seconds: float) -> int:
    return EPOCH_MS + round(seconds * 1000)


def a_job(started: float, finished: float, state: str = "SUCCEEDED") -> JobRecord:
    return JobRecord(
        name="sort", id=JOB, state=state, submitted_ms=at(0), started_ms=at(started), finished_ms=at(finished), stages=STAGES,
        phases=NO_PHASES, counters={},
    )  # fmt: skip


def an_attempt(name: str, started: float, *ends: float, state: str = "SUCCEEDED", **changes) -> MapReduceAttempt:
    """`m0_0` is attempt 0 of map 0; a reducer has the ends of its shuffle and merge before its own."""
    kind, number, again = name[0], int(name[1 : name.index("_")]), name.partition("_")[2]
    shuffled, merged = (at(ends[0]), at(ends[1])) if len(ends) == 3 else (0, 0)
    plain = MapReduceAttempt(
        job=JOB, attempt=f"attempt_1_0001_{kind}_{number:06d}_{again}", stage="map" if kind == "m" else "reduce",
        node="localhost", state=state, started_ms=at(started), shuffle_finished_ms=shuffled, merge_finished_ms=merged,
        finished_ms=at(ends[-1]),
    )  # fmt: skip
    return plain.model_copy(update=changes)
