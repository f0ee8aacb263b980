"""The variants of workloads that Spark runs: commands of the jar of its workloads, and the user's own applications."""

from typing import Any

from assay.engine.pyspark import ENDING, pyspark_variables
from assay.model.registry import VARIANTS
from assay.model.workload import Variant

SPARK_JOBS = "spark-jobs"
"""Programs that are applications of Spark: commands of the jar of its workloads, and others."""
START_S = 20.0
"""What an application takes to start with its executors, roughly."""
_RDD, _FRAMES = "on Spark's resilient distributed datasets", "on Spark's data frames"


_NOT_ARGUMENTS = {
    "--master": "applications run on the trial's YARN",
    "--deploy-mode": "the driver runs in the client",
    "--driver-memory": "set spark.driver.memory",
    "--executor-memory": "set spark.executor.memory",
    "--executor-cores": "set spark.executor.cores",
    "--num-executors": "set spark.executor.instances",
    "--total-executor-cores": "set spark.executor.instances and spark.executor.cores",
}
"""Options of `spark-submit` that applications hardly have themselves."""


def _command(name: str, about: str, **traits: Any) -> tuple[str, Variant]:
    """A variant `WORKLOAD/VARIANT`, whose command is called after both."""
    command = name.replace("/", "-")
    return name, Variant(
        about=about, jobs=(command,), command=command, program=SPARK_JOBS, start_s=START_S, **traits
    )  # fmt: skip


_SUBMITTED = Variant(
    about="the jar or Python file is an application of Spark, as `spark-submit` runs it",
    jobs=("JAR 1", "..."),
    program=SPARK_JOBS,
    like="own",
    start_s=START_S,
    scripts={ENDING: pyspark_variables},
    submitted=True,
    not_arguments=_NOT_ARGUMENTS,
)
_ALL = (
    _command("triangles/graphx", "Spark's GraphX: sets of neighbours are intersected", like="intersect",
             counters={"vertices": "nodes", "edges": "edges"}),
    _command("triangles/rdd", f"{_RDD}: lists are sent as in `intersect`", like="intersect"),
    _command("mutual-friends/rdd", f"{_RDD}: lists are sent and intersected as in `intersect`", like="intersect"),
    _command("components/graphx", "Spark's GraphX: the smallest ids travel along edges", like="paper"),
    _command("components/rdd", f"{_RDD}: large-star and small-star alternate until nothing changes", like="tuned"),
    _command("page-rank/rdd", f"{_RDD}: lists of targets are kept, and joined with the ranks", like="tuned"),
    _command("k-means/rdd", f"{_RDD}: points are read once and kept, tasks combine them into sums"),
    _command("word-frequency/rdd", _RDD),
    _command("word-frequency/dataframe", _FRAMES),
    _command("terasort/rdd", f"{_RDD}; input is read twice, as `sortByKey` first samples all of it for the ranges of "
             "its partitions", like="stock", counters={"rows_written": "records"}),
    _command("sort/rdd", f"{_RDD}, into a total order as with `total-order`; input is read twice, as `sortByKey` first "
             "samples all of it for the ranges of its partitions", like="total-order", ordered=True,
             counters={"pairs_made": "pairs", "pairs_written": "pairs"}),
    _command("word-count/rdd", _RDD, like="stock"),
    _command("word-count/dataframe", _FRAMES, like="stock"),
    _command("grep/rdd", f"{_RDD}; counts are read twice from the shuffle, as `sortByKey` first samples all of them "
             "for the ranges of its partitions"),
    _command("grep/dataframe", _FRAMES),
    ("command/submitted", _SUBMITTED),
)  # fmt: skip
for _place, (_name, _variant) in enumerate(_ALL, 100):
    VARIANTS.add(_name, _variant, _place)
