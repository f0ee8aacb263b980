"""Records of clusters as values by point: what the HPC study and the storage subsystem study measured on several nodes.

A scaled experiment's node stands for a part of the study's: its drives are slowed down by that part, and its links
carry that part of the rate. So a drive's power counts by that part too.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from statistics import mean
from typing import Any

from assay.model.cluster import MASTER
from assay.model.installed import counted_by_tasks, kind_of, series_kind
from assay.model.network import Pair
from assay.model.quantity import Kind
from assay.model.record import JOBS, Amount, JobRecord, Part, Record
from assay.model.trial import Trial
from assay.report.figures import FIGURES
from assay.stats.nodes import nodes_of
from assay_extras.studies.published import StudyExperiment
from assay_extras.studies.storage import ALL_ATTRIBUTES, SOME_ATTRIBUTES
from assay_extras.studies.values import StudyPoint

NETWORKS: Mapping[int, str] = {10**9: "GbE", 16 * 10**9: "IPoIB"}
"""The study's names, by what a link of the study's nodes carries in bits a second."""
VARIANTS = {"word-count": "stock", "terasort": "stock", "page-rank": "paper"}
STAGING: tuple[Part, ...] = ("staging",)
_ITERATION = "iteration "
"""What names of k-means' iterations begin with; with some stores it has other jobs, too."""
COLUMNS, USED_APART = "hbase.assay.columns", "used-apart"
"""The property, and its level with which tables keep the columns that jobs read apart from the others."""


def hpc_values(record: Record) -> Iterator[tuple[StudyPoint, float]]:
    """Throughput of TestDFSIO; of the other workloads the time, the tasks' average in reduce, ED2P and power."""
    trial = record.trial
    name, network = trial.workload.name, _network(trial)
    if network is None or record.totals is None:
        return
    base = StudyPoint(name, medium=trial.placement.name, network=network, nodes=len(trial.cluster.workers) + 1.0)
    if name == "testdfsio":
        rate = record.outputs[0].summary.get("throughput_mib_s") if record.outputs else None
        if rate is not None:
            yield base._replace(workload=f"testdfsio-{trial.workload.variant}", metric="throughput"), float(rate)
    elif VARIANTS.get(name) == trial.workload.variant:
        yield base, record.totals.elapsed_s
        yield base.at("metric", "reduce"), record.totals.phases.get("reduce", 0.0)
        for metric, value in _power(record).items():
            yield base.at("metric", metric), value


def _network(trial: Trial) -> str | None:
    """By the data's network; None where nodes are none of their own, or have links that the study had not."""
    if not trial.cluster.workers:
        return None
    link = trial.cluster.network.links()[-1]
    part = _part(trial)
    return None if link is None or part is None else NETWORKS.get(round(link.rate_bits_per_s * part))


def _part(trial: Trial) -> float | None:
    """How many of a trial's nodes make one of the study's, by its drives; None where they don't agree."""
    slower = {float(kind_of(medium).slowdown(medium)) for medium in trial.media}
    return slower.pop() if len(slower) == 1 else None


def _power(record: Record) -> dict[str, float]:
    """ED2P of all nodes together, and watts on average over the jobs; nothing where a node's energy is not known."""
    joules = _joules(record)
    seconds = sum(span.seconds for part, span in record.spans.items() if part in JOBS)
    workers = [joules[node] / seconds for node in record.trial.cluster.workers if node in joules and seconds]
    if not seconds or len(workers) < len(record.trial.cluster.workers) or MASTER not in joules:
        return {}
    return {
        "ed2p": sum(joules.values()) * seconds**2,
        "mean power": mean(workers), "least power": min(workers), "most power": max(workers),
        "master's power": joules[MASTER] / seconds,
    }  # fmt: skip


def _joules(record: Record) -> dict[str, float]:
    """Of each node over the jobs; nothing of those of which the processor's are not known, and without that plug-in."""
    energy: Mapping[str, Any] = {}
    if (kind := FIGURES.get("energy")) is not None and kind.document is not None:
        energy = kind.document(record) or {}
    if not record.modelled:
        return {node: values["energy_j"] for node, values in energy.get("nodes", {}).items()}
    part, drives = _part(record.trial) or 1.0, {medium.name for medium in record.trial.media}
    joules: dict[str, float] = {}
    at_work = set()
    for component in energy.get("components", ()):
        if component["part"] in JOBS and component["within"] is None:
            node, share = component["node"], part if component["component"] in drives else 1.0
            joules[node] = joules.get(node, 0.0) + component["energy_j"]["value"] / share
            at_work |= {node} if component["component"] == "cpu" else set()
    return {node: value for node, value in joules.items() if node in at_work}


def storage_values(record: Record, experiment: StudyExperiment) -> Iterator[tuple[StudyPoint, float]]:
    """Bytes of drives and between nodes, in multiples of the input's, and times; of k-means per iteration.

    Bytes of an iteration include its part of those that other jobs move, such as the job that brings the centres into a
    table; its time does not include theirs. Times are left out where nodes shared processors that each should have had
    of its own.
    """
    trial = record.trial
    workload = trial.workload
    iterations = [job for job in record.jobs if job.name.startswith(_ITERATION)]
    read = _input_bytes(record, iterations or record.jobs)
    if record.totals is None or not read or workload.variant != "paper":
        return
    times = {"count": record.totals.elapsed_s}
    if workload.name == "word-frequency":
        staging = StudyPoint("word-frequency", "staging", store=trial.store.kind)
        yield from _bytes(record, staging, STAGING, read)
        base = staging.at("job", "count")
        staging_s = [step.seconds for step in record.steps if step.name == "stage"]
        times |= {"staging": staging_s[0], "staging and count": staging_s[0] + times["count"]} if staging_s else {}
    elif workload.name == "k-means" and iterations and (job := _iteration(trial)):
        count = experiment.points(int(workload.options.get("points", "1000000")))
        base = StudyPoint(
            "k-means", job, f"k = {workload.options.get('k', '10')}", f"{count} points", store=trial.store.kind
        )
        times = {job: mean(each.elapsed_s for each in iterations)}
    else:
        return
    yield from _bytes(record, base, JOBS, read)
    if not _shares_processors(record):
        for job, seconds in times.items():
            yield base._replace(job=job), seconds


def _iteration(trial: Trial) -> str:
    """What an iteration is called, by the attributes that take part; empty for one that the study says nothing of."""
    all_used = trial.workload.options.get("unused", "0") == "0"
    if trial.settings.properties.get(COLUMNS) == USED_APART:
        return ALL_ATTRIBUTES if all_used else SOME_ATTRIBUTES
    return "iteration" if all_used else ""


def _input_bytes(record: Record, jobs: Sequence[JobRecord]) -> float:
    """What these jobs read of the input by its own bytes, without what a store adds; 0 where nobody knows."""
    if record.staged is not None and record.staged.bytes:
        return float(record.staged.bytes * len(jobs))
    return sum(counted_by_tasks(record.trial.engine, job.counters).get("store_read_bytes", 0) for job in jobs)


def _shares_processors(record: Record) -> bool:
    """Whether several nodes ran on fewer processors than they stand for, and no scale model slowed them down."""
    cluster = record.trial.cluster
    if not cluster.workers or record.modelled:
        return False
    asked = None if cluster.limit_cpus is None else cluster.limit_cpus * (len(cluster.workers) + 1)
    return asked is None or asked > record.machine.cores


def _bytes(
    record: Record, base: StudyPoint, parts: tuple[Part, ...], input_bytes: float
) -> Iterator[tuple[StudyPoint, float]]:
    """Of all nodes; of several also their mean and most, and what passed between them."""
    several = record.trial.cluster.workers or tuple(node for node in nodes_of(record) if node != MASTER)
    found = {"input": input_bytes}
    kinds = {"disk read": ("reads",), "disk write": ("writes",), "disk": ("reads", "writes")}
    for metric, sides in kinds.items():
        of_nodes = [_drives(record, node, parts, sides) for node in several or (None,)]
        known = [one for one in of_nodes if one is not None]
        if len(known) == len(of_nodes):
            found |= {f"mean {metric}": mean(known)} if several else {}
            found |= {metric: sum(known)} if metric != "disk" else {}
            found |= {f"most {metric}": max(known)} if several and metric != "disk" else {}
    pairs = [one for one in record.amounts if one.part in parts and _is_between(one, {MASTER, *several})]
    found |= {"network": sum(pair.value for pair in pairs)} if pairs else {}
    for metric, value in found.items():
        yield base.at("metric", metric), value / input_bytes


def _drives(record: Record, node: str | None, parts: Collection[Part], sides: Collection[str]) -> float | None:
    """Bytes by the reports of a node's drives, else by its machine's counters; None where there are neither."""
    reports = [report for drive in record.devices if drive.node == node for report in drive.reports.items()]
    requests = [getattr(report, side) for part, report in reports if part in parts for side in sides]
    found = [float(request.bytes) for request in requests if request is not None]
    if not reports:
        of_disks = [
            amount
            for amount in record.amounts
            if (amount.probe, amount.node) == ("disk", node) and amount.part in parts
        ]
        found = [disk.value for disk in of_disks if disk.series in {_COUNTED[side] for side in sides}]
    return sum(found) if found else None


_COUNTED = {"reads": "read_bytes", "writes": "written_bytes"}


def _is_between(amount: Amount, nodes: set[str]) -> bool:
    is_bytes = amount.probe == "network" and series_kind(amount.probe, amount.series) is Kind.BYTES
    pair = Pair.of(amount.subject) if is_bytes else None
    return pair is not None and amount.series != "all_bytes" and {pair.sender, pair.receiver} <= nodes
