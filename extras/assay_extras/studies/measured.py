"""A run's records as values by point, so that they can stand beside published ones."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import ByteSize, TypeAdapter

from assay.model.doubt import Outcome
from assay.model.naming import lettered_size
from assay.model.record import JobRecord, Record, Status
from assay.model.trial import Trial
from assay.model.trial_summary import TrialSummary
from assay.stats.sample import Trials
from assay.stats.trial_summary import summarise
from assay_extras.studies.clusters import hpc_values, storage_values
from assay_extras.studies.published import SCALED, StudyExperiment, dataset_names
from assay_extras.studies.values import PHASES, StudyPoint, StudyTable, level_text

GRAPH_WORKLOADS = ("mutual-friends", "triangles", "components")
ITERATION = "iteration "
_MIB = 1 << 20
_DECIMAL_GB = 1e9


class MeasuredTrials(NamedTuple):
    """What was measured, and for each trial that could not be used the reason."""

    measured: StudyTable
    passed_over: dict[str, str]


def read(records: Sequence[Record], experiment: StudyExperiment) -> MeasuredTrials:
    """Every value that the study has a place for. A trial whose output is wrong says nothing of a time.

    Of several kinds of machines only the one with most trials is read: pairs of trials are of one machine.
    """
    values: dict[StudyPoint, dict[int, float]] = {}
    names: dict[str, str] = {}
    passed_over: dict[str, str] = {}
    summaries = Trials(list(map(summarise, records)))
    read_of = _most_used(summaries)
    for record, summary, machine in zip(records, summaries, summaries.machines, strict=True):
        if record.trial.zero_delay:
            continue  # no drive of the study's
        reason = _unusable(summary) or ("" if machine == read_of else f"it ran on another machine: {machine}")
        found = [] if reason else list(_values(record, experiment))
        if not found:
            passed_over[record.trial.id] = reason or "the study has no place for its workload, variant or dataset"
        repetition = record.trial.repetition
        if any(repetition in values.get(point, {}) for point, _ in found):
            passed_over[record.trial.id] = "it differs from an earlier trial in what the study does not vary"
            continue
        for point, value in found:
            values.setdefault(point, {})[repetition] = value
        names |= input_names(record.trial, experiment) if found else {}
    return MeasuredTrials(StudyTable(values, names), passed_over)


def input_names(trial: Trial, experiment: StudyExperiment) -> dict[str, str]:
    """What stands for an input of the study where it is not the study's own: by the study's word for it, the truth."""
    dataset, options = trial.dataset, trial.workload.options
    if dataset.make is not None and (graph := dataset_names().get(dataset.make)) is not None:
        share = "" if dataset.scale == 1 else f"{dataset.scale:g} of "
        return {graph: f"generated at {share}{graph}'s size"}
    if experiment.study == "hybrid" and trial.workload.name == "sort" and "size" in options:
        size = TypeAdapter(ByteSize).validate_python(options["size"])
        word = level_text("size", experiment.data_gb(size))
        real = f"{size / _DECIMAL_GB:.2g} GB"
        return {} if word == real else {word: f"{real} for {word}"}
    return {}


def _most_used(summaries: Trials) -> str:
    """The machine of most trials that say something, of equals the first."""
    ran_on = zip(summaries, summaries.machines, strict=True)
    counted = Counter(machine for summary, machine in ran_on if not _unusable(summary))
    return max(counted, key=counted.__getitem__, default="")


def _unusable(summary: TrialSummary) -> str:
    if summary.trial.warm_up:
        return "it only warmed the machine up"
    if summary.trial.varied:
        return "its drives are not the study's: their assumed figures were varied"
    if summary.status is not Status.FINISHED or summary.elapsed_s is None:
        return "it did not finish"
    if summary.struck_out:
        return "its scale model was not kept to"
    return "its output is wrong" if summary.outcome is Outcome.FAIL else ""


def _values(record: Record, experiment: StudyExperiment) -> Iterator[tuple[StudyPoint, float]]:
    workload = record.trial.workload
    if experiment.study == "hybrid":
        if workload.name == "sort":
            yield from _sort(record, experiment)
    elif experiment.study == "hpc":
        yield from hpc_values(record)
    elif experiment.study == "storage":
        yield from storage_values(record, experiment)
    elif workload.name == "testdfsio":
        yield from _testdfsio(record)
    elif workload.name in GRAPH_WORKLOADS and workload.variant == "paper":
        yield from _graph(record)


def _graph(record: Record) -> Iterator[tuple[StudyPoint, float]]:
    """Each job's phases and times, of components' iterations their sums too; and the processor's of the whole run.

    A run that ends after some iterations stands for all: each moves the whole graph. One iteration alone does not.
    """
    trial = record.trial
    dataset = dataset_names().get(trial.dataset.get or trial.dataset.make or trial.dataset.name)
    if dataset is None:
        return
    base = StudyPoint(trial.workload.name, "", _settings(trial), dataset, trial.placement.name)
    jobs = {job.name: [job] for job in record.jobs}
    if trial.workload.name == "components" and trial.workload.options.get("iterations") != "1":
        jobs["all iterations"] = [job for job in record.jobs if job.name.startswith(ITERATION)]
    for name, own in jobs.items():
        for metric, value in _times(own).items():
            yield base._replace(job=name, metric=metric), value
    for metric, value in _processor(record).items():
        yield base._replace(metric=metric), value


def _times(jobs: Sequence[JobRecord]) -> dict[str, float]:
    phases = {name: sum(job.phases.get(name, 0.0) for job in jobs) for name in PHASES}
    return {**phases, "total": sum(phases.values()), "elapsed": sum(job.elapsed_s for job in jobs)}


def _processor(record: Record) -> dict[str, float]:
    """How much of the processor's time was work, and how much a wait for disks, in percent; while the jobs ran.

    What emulated drives take of it is no work of the jobs, and is more for faster drives.
    """
    drives = sum(
        one.value
        for one in record.amounts
        if (one.probe, one.subject, one.part) == ("processes", "emulator", "run")
        and one.series in ("user_s", "system_s")
    )
    spent = {
        amount.series: amount.value
        for amount in record.amounts
        if (amount.probe, amount.subject, amount.part) == ("cpu", "machine", "run")
    }
    total = sum(spent.values())
    if not total or "iowait_s" not in spent or "idle_s" not in spent:
        return {}
    wait = spent["iowait_s"]
    rest = wait + spent["idle_s"] + spent.get("steal_s", 0.0)
    return {"iowait": 100 * wait / total, "busy": 100 * (total - rest - drives) / total}


def _testdfsio(record: Record) -> Iterator[tuple[StudyPoint, float]]:
    trial = record.trial
    size = trial.workload.options.get("file_size")
    rate = record.outputs[0].summary.get("throughput_mib_s") if record.outputs else None
    if size is not None and rate is not None:
        name = f"testdfsio-{trial.workload.variant}"
        gigabytes = TypeAdapter(ByteSize).validate_python(size) / _DECIMAL_GB
        yield StudyPoint(name, "", _settings(trial), "", trial.placement.name, "throughput", gigabytes), float(rate)


def _sort(record: Record, experiment: StudyExperiment) -> Iterator[tuple[StudyPoint, float]]:
    trial, job = record.trial, record.jobs[0]
    size = trial.workload.options.get("size")
    block, buffer, streams = (
        _property(record, name)
        for name in ("dfs.blocksize", "mapreduce.task.io.sort.mb", "mapreduce.task.io.sort.factor")
    )
    share = _ssd_share(trial)
    if size is None or block is None or buffer is None or streams is None or share is None:
        return
    point = StudyPoint(
        "sort", "sort", medium=share, size=experiment.data_gb(TypeAdapter(ByteSize).validate_python(size)),
        block=experiment.block_mb(block / _MIB), buffer=experiment.block_mb(buffer), streams=streams,
    )  # fmt: skip
    phases = job.phases
    reduce_s = phases["shuffle"] + phases["merge"] + phases["reduce"]
    for metric, value in (("elapsed", job.elapsed_s), ("map task", phases["map"]), ("reduce task", reduce_s)):
        yield point.at("metric", metric), value


def _settings(trial: Trial) -> str:
    """The scaled experiments' profiles have the thesis' names with a mark at the end."""
    return trial.settings.name.removesuffix(SCALED)


def _ssd_share(trial: Trial) -> str | None:
    """In percent, of media whose names begin with `ssd`; None where the roles differ."""
    placement = trial.placement
    roles = placement.roles.values()
    shares = {round(100 * sum(part for name, part in role.items() if name.startswith("ssd"))) for role in roles}
    return str(shares.pop()) if len(shares) == 1 else None


def _property(record: Record, name: str) -> float | None:
    """A property as it was in force, or as it was asked for; sizes in bytes as Hadoop reads them."""
    trial = record.trial
    text = record.settings.get(name) or trial.workload.hadoop.get(name) or trial.settings.properties.get(name, "")
    return lettered_size(text)
