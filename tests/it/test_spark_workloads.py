"""Proves that the workloads for Spark run on a cluster with verified outputs, from files and from tables of HBase."""

import pytest

from assay.engine.spark_tasks import COUNTERS_GROUP
from assay.model.dataset import InputKind
from assay.model.installed import variants_on
from assay.model.registry import ENGINES, WORKLOADS

pytestmark = [pytest.mark.it, pytest.mark.long]

OPTIONS = {
    "page-rank": "scale: 10, iterations: 3", "k-means": "points: 20000, iterations: 3", "word-frequency": "size: 4MB",
    "word-count": "size: 4MB", "grep": "size: 4MB", "terasort": "size: 10MB", "sort": "size: 10MB",
}  # fmt: skip
CLUSTER = """
engine: spark
settings: small
hadoop: {mapreduce.job.reduces: 2}
"""


def verified(place, text):
    """Run an experiment; all its trials finish, and all their outputs are right."""
    return place.verified(f"{text}{CLUSTER}media: {place.media}\n")


VARIANTS = [
    (name, variant) for name in WORKLOADS for variant in variants_on(name, ENGINES["spark"]) if name != "command"
]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_each_variant_on_files(place, name, variant):
    verified(
        place,
        f"""
experiment: files
workloads: {{name: {name}, variant: {variant}, options: {{{OPTIONS.get(name, "")}}}}}
{"datasets: {make: brightkite, scale: 0.02}" if WORKLOADS[name].takes is InputKind.GRAPH else ""}
cluster: {{memory_mb: 3072, vcores: 2}}
""",
    )


def test_an_application_that_iterates_reads_its_input_once_and_then_memory(place):
    kept = "experiment: kept\nworkloads: {name: k-means, options: {points: 20000, iterations: 3}}"
    (record,) = verified(place, kept)
    (job,) = record.jobs
    assert job.counters["RDDs"] == {"persisted": 1, "persisted_on_disk": 0}
    read = job.counters[COUNTERS_GROUP]
    assert 0 < read["input_bytes"] - read["cached_bytes"] < read["cached_bytes"]


@pytest.mark.parametrize(
    "workload",
    [
        "{name: word-frequency, variant: dataframe, options: {size: 4MB}}",
        "{name: k-means, variant: rdd, options: {points: 20000, iterations: 3, unused: 2, assign: true}}",
    ],
)
def test_tables_of_hbase(place, workload):
    verified(
        place,
        f"""
experiment: tables
workloads: {workload}
store: hbase
cluster: {{memory_mb: 3584, vcores: 2}}
""",
    )
