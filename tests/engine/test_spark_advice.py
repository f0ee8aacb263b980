"""Proves that a sample of a Spark application gets partitions in proportion, and its tasks as much memory as there."""

import pytest

from assay.engine.past.spark_advice import executor_on_drive, for_sample
from assay.engine.past.taken_over import SampledJob
from assay.engine.spark_service import executors_of, node_of
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError

GIB = 1 << 30
OFFERED, MOST = "yarn.nodemanager.resource.memory-mb", "yarn.scheduler.maximum-allocation-mb"
MOST_CORES, CORES = "yarn.scheduler.maximum-allocation-vcores", "yarn.nodemanager.resource.cpu-vcores"


def executor(settings, **known):
    """The heap in MiB and the cores of the executor here, all of its properties, and what is said of it."""
    properties, said = executor_on_drive(
        SampledJob(settings, share=0.1, **{"tasks": 48, "drives": 12, "memory_bytes": 64 * GIB, **known})
    )
    return int(properties["spark.executor.memory"][:-1]), int(properties["spark.executor.cores"]), properties, said


def test_partitions_become_fewer_in_proportion_and_splits_stay():
    settings = {"spark.default.parallelism": "400", "dfs.blocksize": "134217728", "spark.io.compression.codec": "zstd"}
    assert for_sample(SampledJob(settings, share=0.01)).properties == {
        "spark.default.parallelism": "4", "spark.sql.shuffle.partitions": "2", "dfs.blocksize": "134217728",
        "spark.io.compression.codec": "zstd",
    }  # fmt: skip
    given = {"spark.sql.shuffle.partitions": "1000"}
    assert for_sample(SampledJob(given, share=0.0001)).properties == {"spark.sql.shuffle.partitions": "1"}
    assert for_sample(SampledJob(given)).properties == {}
    given = {"spark.sql.shuffle.partitions": "auto", "spark.sql.files.maxPartitionBytes": "64MB"}
    assert for_sample(SampledJob(given, share=0.05)).properties == {
        "spark.sql.shuffle.partitions": "10", "spark.sql.files.maxPartitionBytes": "64MB",
    }, "Databricks' `auto` is no number, and Spark's own is taken"  # fmt: skip


def test_an_executor_has_the_tasks_of_a_drive_with_as_much_memory_for_each():
    settings = {"spark.executor.memory": "8g", "spark.executor.cores": "5"}
    heap_mb, cores, properties, said = executor(settings)
    assert cores == 4
    assert (heap_mb - 300) / 4 == pytest.approx((8192 - 300) / 5, abs=0.25)
    assert said.startswith("4 tasks at once share one of today's drives on your nodes; an executor of 6614 MiB runs")
    assert not {MOST_CORES, CORES} & properties.keys()
    assert properties["spark.executor.instances"] == "1"


@pytest.mark.parametrize(("tasks", "memory"), [(12, "1g"), (48, "20g"), (240, "2048"), (240, "4G")])
@pytest.mark.parametrize(
    "said",
    [{}, {"spark.executor.memoryOverhead": "3g"}, {"spark.executor.memoryOverheadFactor": "0.4"},
     {"spark.executor.pyspark.memory": "2g"}],
)  # fmt: skip
def test_a_node_has_room_for_it(tasks, memory, said):
    heap_mb, cores, properties, _ = executor({"spark.executor.memory": memory}, tasks=tasks, said=said)
    properties = {**properties, **said}
    node = node_of(EmbeddedSpec(), properties, [])
    asked = executors_of(properties, node)
    assert (asked.instances, asked.heap_mb, asked.cores) == (1, heap_mb, cores)
    assert asked.memory_mb <= node.offer.most_mb
    assert node.offer.rounded(asked.memory_mb) + 1024 <= node.room_mb
    assert cores <= min(node.offer.most_vcores, node.offer.vcores)
    assert int(properties[OFFERED]) >= 3072, "the input is staged by a job of MapReduce"


def test_fewer_tasks_run_where_memory_is_short():
    heap_mb, cores, _, said = executor(
        {"spark.executor.memory": "8g", "spark.executor.cores": "1"}, memory_bytes=20 * GIB
    )
    assert (cores, heap_mb) == (2, 300 + 2 * (8192 - 300))
    assert "of which this machine has memory for 2; an executor" in said
    assert executor({"spark.executor.memory": "8g"}, memory_bytes=1 * GIB)[:2] == (8192, 1)


def test_outside_of_yarn_an_executor_there_has_all_cores_of_its_node():
    heap_mb, cores, *_ = executor({"spark.executor.memory": "48300m", "spark.master": "spark://master:7077"})
    assert (heap_mb, cores) == (300 + 4 * 1000, 4)
    local = {"spark.master": "local[48]", "spark.driver.memory": "48300m", "spark.executor.cores": "2"}
    assert executor(local)[:2] == (300 + 4 * 1000, 4), "all tasks are in the driver"


def test_a_task_of_several_cores_has_the_memory_of_all_of_them():
    settings = {"spark.executor.memory": "4300m", "spark.executor.cores": "4", "spark.task.cpus": "2"}
    assert executor(settings)[:2] == (300 + 4 * 2000, 4)


def test_what_is_not_known_is_said_and_what_the_user_says_is_left():
    assert executor_on_drive(SampledJob({}, memory_bytes=GIB)).replaced.startswith(
        "how many tasks share a drive on your"
    )
    assert executor_on_drive(SampledJob({}, tasks=4, said={"spark.executor.memory": "2g"})) == ({}, "")
    assert executor_on_drive(SampledJob({}, tasks=4, memory_bytes=8 * GIB)).replaced.endswith(
        "(assumed: Spark's default)"
    )
    assert executor_on_drive(SampledJob({}, tasks=4, said={"spark.task.cpus": "2"})) == ({}, "")
    assert executor({})[3].endswith("default)"), "a log without Spark's properties tells nothing"
    assert not executor({"spark.master": "yarn"})[3].endswith("default)"), "one with them tells that it was Spark's own"
    with pytest.raises(BadInputError, match="memoryOverheadFactor is 'much', and must be a number such as 0.2"):
        executor({}, said={"spark.executor.memoryOverheadFactor": "much"})
