"""Values that many tests start from."""

from dataclasses import replace

from assay.model.cluster import EmbeddedSpec
from assay.model.dataset import DatasetSpec
from assay.model.doubt import CheckResult, Outcome
from assay.model.installation import Installation
from assay.model.record import (
    DeviceReport,
    DriveReports,
    JobRecord,
    Record,
    Series,
    SeriesKey,
    Stage,
    Status,
    Step,
    StoredOutput,
    totals,
)
from assay.model.section import RunView
from assay.model.trial import MediumSpec, Placement, Plan, SettingsSpec, Trial, WorkloadSpec
from assay.model.trial_summary import MeasuredRun
from assay.plan.make import read_experiment
from assay.record.folder import RunFolder
from assay.stats.trial_summary import summarise

STAGES = (Stage(name="map", tasks=2), Stage(name="reduce", tasks=1))
NO_PHASES = dict.fromkeys(("map", "shuffle", "merge", "reduce"), 0.0)


def device_reports(devices):
    """What a record holds of devices, from reports by `MEDIUM` or `NODE/MEDIUM` and by part."""
    return tuple(
        DriveReports(
            medium=name.rpartition("/")[2],
            node=name.rpartition("/")[0] or None,
            reports={part: DeviceReport.model_validate(report) for part, report in reports.items()},
        )
        for name, reports in devices.items()
    )


def pure(medium):
    """All of a trial's bytes on one medium."""
    return Placement.of_roles(medium, {role: {medium: 1.0} for role in ("input", "intermediate", "output")})


def a_trial(number: int = 1, medium: str = "disk", repetition: int = 1, workload: str = "triangles") -> Trial:
    return Trial(
        id=f"{number:04d}-{workload}-{medium}",
        workload=WorkloadSpec(name=workload),
        dataset=DatasetSpec(name="tiny", make="brightkite"),
        media=(MediumSpec(name=medium, kind="directory"),),
        placement=pure(medium),
        settings=SettingsSpec(name="defaults", properties={"mapreduce.job.reduces": "2"}),
        cluster=EmbeddedSpec(),
        cache="cold",
        repetition=repetition,
    )


def a_plan(*trials: Trial) -> Plan:
    return Plan(experiment="test", description="", seed=1, trials=trials or (a_trial(),))


def a_job(name: str = "closing", elapsed_s: float = 10.0) -> JobRecord:
    phases = {"map": elapsed_s / 2, "shuffle": elapsed_s / 4, "merge": 0.0, "reduce": elapsed_s / 8}
    return JobRecord(
        name=name, id="job_1_0001", state="SUCCEEDED", submitted_ms=0, started_ms=1000,
        finished_ms=1000 + int(elapsed_s * 1000), stages=STAGES, phases=phases, counters={"group": {"RECORDS": 5}},
    )  # fmt: skip


def a_record(trial: Trial | None = None, elapsed_s: float = 10.0, outcome: Outcome = Outcome.PASS, **changes) -> Record:
    jobs = (a_job(elapsed_s=elapsed_s),)
    record = Record(
        trial=trial or a_trial(),
        status=Status.FINISHED,
        facts={"cpu": "test", "cores": 2, "memory_bytes": 1, "kernel": "6"},
        media_facts={"disk": {"device": "/dev/x"}},
        steps=(Step(name="run", started_ms=0, seconds=1.25 * elapsed_s),),
        jobs=jobs,
        totals=totals(jobs, ()),
        outputs=(StoredOutput(path="/out", bytes=2048, summary={"triangles": 7}),),
        verdicts=(CheckResult(check="triangles equal", outcome=outcome, detail="7 found"),),
    )
    facts = changes.pop("facts", None)
    record = record.model_copy(update=changes)
    return record if facts is None else with_facts(record.model_copy(update={"facts": {}, "media_facts": {}}), facts)


def with_facts(record, facts):
    """A record with these facts beside its others; those of media are named `medium.MEDIUM.FACT`."""
    others = {name: fact for name, fact in facts.items() if not name.startswith("medium.")}
    media = dict(record.media_facts)
    for name in facts.keys() - others.keys():
        medium, _, fact = name.removeprefix("medium.").rpartition(".")
        media[medium] = {**media.get(medium, {}), fact: facts[name]}
    return record.model_copy(update={"facts": {**record.facts, **others}, "media_facts": media})


def summaries(records):
    """What judgements read of these records."""
    return list(map(summarise, records))


def summaries_by(records_by):
    """The same of records by some key."""
    return {key: summaries(records) for key, records in records_by.items()}


def summarised(plan, records):
    """A plan and the summaries of its trials."""
    return plan, summaries(records)


def a_measured_run(plan, records):
    """A run whose records lie nowhere, as it is judged."""
    by_id = {record.trial.id: record for record in records}
    return MeasuredRun(plan, summaries(records), by_id.__getitem__, lambda _: None)


def a_view(plan, records, detailed=()):
    """The same as sections are given it."""
    run = a_measured_run(plan, records)
    return RunView(plan, run.trials, run.record, detailed)


def a_prediction(record, times, **levels):
    """A trial like a record's but for some levels: `times` are the lower end of its interval, its time, the upper end."""
    low_s, elapsed_s, high_s = times
    return replace(
        summarise(record), id="p", source="predicted", outcome=None, predictor="toy", basis="b", levels=levels,
        elapsed_s=elapsed_s, low_s=low_s, high_s=high_s,
    )  # fmt: skip


def make_plan(path, vocabulary):
    """The plan of an experiment file."""
    return read_experiment(path, vocabulary).plan


def series_of(samples):
    """Samples as series, as a run folder gives them."""
    series = {}
    for one in samples:
        times, values = series.setdefault(SeriesKey(one.probe, one.subject, one.series, one.node or ""), Series([], []))
        times.append(one.time_ms)
        values.append(one.value)
    return series


def a_folder(path, plan):
    """A run's folder that has its plan, and no record yet."""
    folder = RunFolder(path)
    folder.create(plan)
    return folder


def an_installation(root, parts=None, **places):
    """A copy of Assay; places that are not given are its parts, and these its root."""
    parts = parts or root
    return Installation(root=root, parts=parts, **{"jobs_jar": parts, "cache": parts, "state": parts, **places})
