"""Runs of the studies' experiments, made up so that every figure of them is known."""

from assay.engine.tasks import FILE_SYSTEM_COUNTERS
from assay.model.cluster import MASTER, EmbeddedSpec
from assay.model.dataset import DatasetSpec
from assay.model.record import Amount, JobRecord, Record, Step, StoredOutput, totals
from assay.model.scale import ScaleReport
from assay.model.trial import MediumSpec, Placement, Plan, SettingsSpec, StoreSpec, WorkloadSpec
from assay_extras.studies.comparison import StudyComparison, compare
from assay_extras.studies.published import cells
from assay_extras.studies.values import PHASES, StudyPoint, StudyTable
from tests.builders import NO_PHASES, STAGES, a_record, a_trial, device_reports, pure


def the_published() -> StudyTable:
    """The thesis' own times, as if each of three repetitions had measured them; with the phases' sums."""
    values = {cell.point: cell.value for cell in cells("thesis")}
    for point in [one for one in values if one.metric == "map"]:
        parts = [point.at("metric", phase) for phase in PHASES]
        if all(part in values for part in parts):
            values[point.at("metric", "total")] = sum(values[part] for part in parts)
    return StudyTable({point: dict.fromkeys((1, 2, 3), seconds) for point, seconds in values.items()})


def some_values(*repetitions, **fields) -> dict[StudyPoint, dict[int, float]]:
    return {StudyPoint(**fields): dict(enumerate(repetitions, 1))}


def a_graph_job(name: str, phases, elapsed_s: float | None = None) -> JobRecord:
    own = dict(zip(NO_PHASES, phases, strict=True))
    length_ms = round(1000 * (sum(phases) if elapsed_s is None else elapsed_s))
    return JobRecord(
        name=name, id="job_1_0001", state="SUCCEEDED", submitted_ms=0, started_ms=1000, finished_ms=1000 + length_ms,
        stages=STAGES, phases=own, counters={},
    )  # fmt: skip


def a_graph_trial(number, jobs, *, workload="triangles", medium="hdd", settings="defaults-scaled", repetition=1,
                  dataset=None, options=None, iowait_s=None, emulator_s=0.0, **changes) -> Record:  # fmt: skip
    trial = a_trial(number, medium, repetition, workload).model_copy(
        update={
            "workload": WorkloadSpec(name=workload, options=options or {}),
            "dataset": dataset or DatasetSpec(name="youtube-like-x0.02", make="youtube", scale=0.02),
            "settings": SettingsSpec(name=settings),
        }
    )
    jobs = tuple(a_graph_job(name, phases) for name, phases in jobs.items())
    spent = {} if iowait_s is None else {"user_s": 60.0, "idle_s": 40.0 - iowait_s, "iowait_s": iowait_s}
    amounts = tuple(
        Amount(probe="cpu", subject="machine", series=series, part="run", value=value)
        for series, value in spent.items()
    )
    if emulator_s:
        amounts += (Amount(probe="processes", subject="emulator", series="user_s", part="run", value=emulator_s),)
    return a_record(trial).model_copy(update={"jobs": jobs, "totals": totals(jobs, ()), "amounts": amounts, **changes})


def a_sort_trial(number, elapsed_s, *, share=0.0, block="64m", buffer="100", streams="10", size="1GB", repetition=1,
                 map_s=1.0, reduce_s=2.0) -> Record:  # fmt: skip
    if share in (0.0, 1.0):
        placement = pure("ssd" if share else "hdd")
    else:
        shares = {"ssd": share, "hdd": 1 - share}
        placement = Placement(name="mixed", input=shares, intermediate=shares, output=shares)
    properties = {
        "dfs.blocksize": block, "mapreduce.task.io.sort.mb": buffer, "mapreduce.task.io.sort.factor": streams,
    }  # fmt: skip
    trial = a_trial(number, "hdd", repetition, "sort").model_copy(
        update={
            "workload": WorkloadSpec(name="sort", variant="stock", options={"size": size}),
            "placement": placement,
            "settings": SettingsSpec(name="small", properties=properties),
        }
    )
    jobs = (a_graph_job("sort", (map_s, 0.0, 0.0, reduce_s), elapsed_s),)
    return a_record(trial).model_copy(update={"jobs": jobs, "totals": totals(jobs, ())})


def a_rate_trial(number, variant, file_size, rate, medium="hdd", repetition=1) -> Record:
    trial = a_trial(number, medium, repetition, "testdfsio").model_copy(
        update={
            "workload": WorkloadSpec(name="testdfsio", variant=variant, options={"files": "1", "file_size": file_size}),
        }
    )
    output = StoredOutput(path="/out", bytes=1, summary={"throughput_mib_s": rate})
    return a_record(trial, outputs=(output,))


def a_cluster_trial(number, elapsed_s=10.0, *, workload="terasort", variant="stock", medium="hdd", network="62.5Mbit",
                    nodes=9, slowdown=16, repetition=1, options=None, rate=100.0, reduce_s=1.0, store="hdfs", **more) -> Record:  # fmt: skip
    trial = a_trial(number, medium, repetition, workload).model_copy(
        update={
            "workload": WorkloadSpec(name=workload, variant=variant, options=options or {}),
            "media": (MediumSpec(name=medium, kind="emulated", profile="wd10ezex", slowdown=slowdown),),
            "cluster": EmbeddedSpec(nodes=nodes - 1, network=network, dilation="auto"),
            "store": StoreSpec(kind=store),
        }
    )
    job = "iteration 1" if workload == "k-means" else "job"
    jobs = (a_graph_job(job, (1.0, 0.0, 0.0, reduce_s), elapsed_s),)
    record = a_record(trial, outputs=(StoredOutput(path="/out", bytes=1, summary={"throughput_mib_s": rate}),))
    return on_nodes(record.model_copy(update={"jobs": jobs, "totals": totals(jobs, ())}), **more)


def on_nodes(record, *, busy_s=5.0, busiest=1.0, drives=((500, 500), (500, 500)), drive_j=3.2, most=1.0, sent=0,
             input_bytes=1000) -> Record:  # fmt: skip
    """As on a scale model, by what each node took: busy seconds, of worker 1 so many times as many, and bytes.

    `drives` are what all workers read and wrote in staging and in the run, worker 1 `most` times as much.
    """
    workers, length_s = record.trial.cluster.workers, record.totals.elapsed_s
    steps = [("stage", 0, 10.0), ("run", 10_000, length_s), ("verify", 10_000 + round(1000 * length_s), 1.0)]
    amounts, devices = [], {}
    for part, (read, written) in zip(("staging", "run"), drives, strict=True):
        for node in (MASTER, *workers):
            own = 0.1 if node == MASTER else busy_s * (busiest if node == workers[0] else 1.0)
            amounts.append(("processes", "daemon", "user_s", part, own, node))
        amounts.append(("network", f"{workers[0]} > {workers[1]}", "other_bytes", part, sent, workers[0]))
        for node in workers:
            times = most if node == workers[0] else 1.0
            sides = {
                side: {"bytes": round(times * count / len(workers))}
                for side, count in (("reads", read), ("writes", written))
            }
            report = {"elapsed_seconds": length_s, "joules": {"idle": drive_j / 2, "total": drive_j}, **sides}
            devices.setdefault(f"{node}/{record.trial.placement.name}", {})[part] = report
    fields = ("probe", "subject", "series", "part", "value", "node")
    counters = {FILE_SYSTEM_COUNTERS: {"HDFS_BYTES_READ": input_bytes}}
    jobs = tuple(job.model_copy(update={"counters": counters}) for job in record.jobs)
    return record.model_copy(
        update={
            "jobs": jobs,
            "steps": tuple(Step(name=name, started_ms=at, seconds=seconds) for name, at, seconds in steps),
            "amounts": tuple(Amount(**dict(zip(fields, one, strict=True))) for one in amounts),
            "devices": device_reports(devices),
            "scale": ScaleReport(dilation=4, clock="model"),
        }
    )


def on_one_node(record: Record) -> Record:
    """As on one node at full speed: its drive read and wrote 500 bytes in staging and in the run."""
    reports = {part: {"reads": {"bytes": 500}, "writes": {"bytes": 500}} for part in ("staging", "run")}
    counters = {FILE_SYSTEM_COUNTERS: {"HDFS_BYTES_READ": 1000}}
    return record.model_copy(
        update={
            "jobs": tuple(job.model_copy(update={"counters": counters}) for job in record.jobs),
            "steps": (Step(name="stage", started_ms=0, seconds=10.0), *record.steps),
            "devices": device_reports({record.trial.placement.name: reports}),
        }
    )


def thrice(*records: Record) -> list[Record]:
    """Each in three repetitions that are all the same."""
    return [
        record.model_copy(
            update={"trial": record.trial.model_copy(update={"id": f"{turn}-{record.trial.id}", "repetition": turn})}
        )
        for turn in (1, 2, 3)
        for record in records
    ]


def the_comparison(name: str, *records: Record) -> StudyComparison:
    plan = Plan(experiment=name, description="", seed=1, trials=tuple(record.trial for record in records))
    found = compare(plan, records)
    assert found is not None
    return found


def verdicts(comparison: StudyComparison) -> dict[str, str]:
    return {one.statement.id: one.verdict for one in comparison.statements}
