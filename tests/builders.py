"""Values that many tests start from."""

from assay.model.doubt import Outcome, Verdict
from assay.model.input import DatasetSpec
from assay.model.platform import ClusterSpec
from assay.model.record import JobRecord, Output, Phases, Record, Status, Step, totals
from assay.model.trial import MediumSpec, Plan, SettingsSpec, Trial, WorkloadSpec, pure


def a_trial(number: int = 1, medium: str = "disk", repetition: int = 1, workload: str = "triangles") -> Trial:
    return Trial(
        id=f"{number:04d}-{workload}-{medium}",
        workload=WorkloadSpec(name=workload),
        dataset=DatasetSpec(name="tiny", make="brightkite"),
        media=(MediumSpec(name=medium, kind="directory"),),
        placement=pure(medium),
        settings=SettingsSpec(name="defaults", properties={"mapreduce.job.reduces": "2"}),
        cluster=ClusterSpec(),
        cache="cold",
        repetition=repetition,
    )


def a_plan(*trials: Trial) -> Plan:
    return Plan(experiment="test", description="", seed=1, trials=trials or (a_trial(),))


def a_job(name: str = "closing", elapsed_s: float = 10.0) -> JobRecord:
    phases = Phases(map_s=elapsed_s / 2, shuffle_s=elapsed_s / 4, merge_s=0.0, reduce_s=elapsed_s / 8)
    return JobRecord(
        name=name, id="job_1_0001", state="SUCCEEDED", submitted_ms=0, started_ms=1000,
        finished_ms=1000 + int(elapsed_s * 1000), maps=2, reduces=1, phases=phases, counters={"group": {"RECORDS": 5}},
    )  # fmt: skip


def a_record(trial: Trial | None = None, elapsed_s: float = 10.0, outcome: Outcome = Outcome.PASS, **changes) -> Record:
    jobs = (a_job(elapsed_s=elapsed_s),)
    record = Record(
        trial=trial or a_trial(),
        status=Status.FINISHED,
        facts={"cpu": "test", "cores": "2", "memory_bytes": "1", "kernel": "6", "medium.disk.device": "/dev/x"},
        steps=(Step(name="run", started_ms=0, seconds=12.5),),
        jobs=jobs,
        totals=totals(jobs, ()),
        outputs=(Output(path="/out", bytes=2048, summary={"triangles": 7}),),
        verdicts=(Verdict(check="triangles equal", outcome=outcome, detail="7 found"),),
    )
    return record.model_copy(update=changes)
