"""Proves that Spark's executors take what a node has unless they are told otherwise, and are refused where they can't."""

from pathlib import Path

import pytest

from assay.engine.spark_service import PARTITIONS, SPARK, executors_of, node_of
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.service import ContainerStarts, NodeContext
from assay.plan.settings import resolve, shipped_profiles
from assay.platform.existing import daemons_of
from assay.platform.programs import needed_here
from tests.plan.test_make import GOOD, WORDS, plan_of

GIB = 1 << 30
STACK = stack_of("hdfs", "spark")
FINE = {"yarn.scheduler.minimum-allocation-mb": "64"}
INSTANCES, CORES, MEMORY = "spark.executor.instances", "spark.executor.cores", "spark.executor.memory"


def check(spec, properties):
    daemons = [daemon for daemon in STACK.daemons if daemon.on_workers or not spec.workers]
    SPARK.check(spec, properties, daemons)


@pytest.mark.parametrize(
    ("spec", "properties", "words"),
    [
        (EmbeddedSpec(), {}, "2 executors of 3072 MiB and 4 cores each, and a master of 1024 MiB"),
        (EmbeddedSpec(nodes=3), {}, "2 executors of 3072 MiB and 4 cores each, and a master of 1024 MiB"),
        (EmbeddedSpec(vcores=2), {}, "1 executor of 7168 MiB and 2 cores, and a master of 1024 MiB"),
        (EmbeddedSpec(vcores=1, memory_mb=2048), FINE, "1 executor of 1664 MiB and 1 core, and a master of 384 MiB"),
        # Beside the daemons of a bounded node, which takes no more than it is bounded to.
        (EmbeddedSpec(limit_memory_bytes=3 * GIB), FINE, "1 executor of 2048 MiB and 4 cores, and a master of 384 MiB"),
        (EmbeddedSpec(vcores=4, jobs_at_once=2), {}, "1 executor of 3072 MiB and 2 cores, and a master of 1024 MiB"),
        (EmbeddedSpec(), {MEMORY: "1g"}, "2 executors of 2048 MiB and 4 cores each, and a master of 1024 MiB"),
        (EmbeddedSpec(), {INSTANCES: "4"}, "4 executors of 1024 MiB and 2 cores each, and a master of 1024 MiB"),
        (EmbeddedSpec(nodes=2), {INSTANCES: "2", CORES: "3"},
         "1 executor of 7168 MiB and 3 cores, and a master of 1024 MiB"),
        (EmbeddedSpec(), {"yarn.scheduler.maximum-allocation-vcores": "8"},
         "1 executor of 7168 MiB and 8 cores, and a master of 1024 MiB"),
    ],
)  # fmt: skip
def test_executors_take_what_a_node_has(spec, properties, words):
    check(spec, properties)
    assert STACK.task_share(spec, properties).text == words


def test_a_heap_and_what_is_beside_it_fill_a_container():
    node = node_of(EmbeddedSpec(), {**FINE, "yarn.nodemanager.resource.memory-mb": "10240"}, ())
    executors = executors_of({INSTANCES: "1"}, node)
    assert (executors.heap_mb, executors.overhead_mb) == (8960, 896)
    assert node.offer.rounded(executors.memory_mb) + 384 == 10240
    off_heap = {INSTANCES: "1", "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "2g"}
    executors = executors_of(off_heap, node)
    assert (executors.heap_mb, executors.overhead_mb) == (7098, 2048 + 709)
    assert node.offer.rounded(executors.memory_mb) + 384 == 10240
    # Spark adds the memory off the heap itself.
    assert int(executors.properties(off_heap)["spark.executor.memoryOverhead"].removesuffix("m")) < 1000
    assert executors.properties({"spark.executor.memoryOverhead": "1g"})["spark.executor.memoryOverhead"] == "1g"
    python = executors_of({**off_heap, "spark.executor.pyspark.memory": "1g"}, node)
    assert (python.heap_mb, python.overhead_mb) == (6167, 3072 + 616)


def test_partitions_follow_from_cores_where_nobody_says_how_many():
    executors = executors_of({}, node_of(EmbeddedSpec(nodes=3), {}, ()))
    assert (executors.instances, executors.cores) == (6, 4)
    of_core = dict.fromkeys(PARTITIONS, "3 per core")
    assert executors.properties(of_core)["spark.default.parallelism"] == "72"
    one_given = executors.properties({**of_core, "spark.default.parallelism": "5"})
    assert [one_given[name] for name in PARTITIONS] == ["5", "72"]
    told = executors.properties({**of_core, "spark.hadoop.mapreduce.job.reduces": "2"})
    assert "spark.default.parallelism" not in told
    assert "spark.default.parallelism" not in executors.properties({})


@pytest.mark.parametrize(
    ("spec", "properties", "reason"),
    [
        (EmbeddedSpec(), {MEMORY: "8g"},
         ("an executor takes 9216 MiB (spark.executor.memory 8192m and 819 MiB beside it, in steps of 1024 MiB), and a "
         "node has 8192 MiB for 2 of them and a master of 1024 MiB: some could never start; give spark.executor.memory "
         "2688m at most, or fewer executors (spark.executor.instances)")),
        (EmbeddedSpec(memory_mb=6144, jobs_at_once=2), {INSTANCES: "3", MEMORY: "512m"},
         ("an executor takes 1024 MiB (spark.executor.memory 512m and 384 MiB beside it, in steps of 1024 MiB), and a "
         "node has 6144 MiB for 3 of them and a master of 1024 MiB for each of 2 applications at once: some could never "
         "start; give fewer executors (spark.executor.instances), or nodes more memory")),
        (EmbeddedSpec(limit_memory_bytes=2 * GIB), {**FINE, MEMORY: "1200m"},
         ("an executor takes 1600 MiB (spark.executor.memory 1200m and 384 MiB beside it, in steps of 64 MiB), and a "
         "node has 1408 MiB for 1 of them and a master of 384 MiB beside its daemons: some could never start; give "
         "spark.executor.memory 640m at most, or fewer executors (spark.executor.instances)")),
        (EmbeddedSpec(memory_mb=1024), FINE,
         "256 MiB are left for the heap of an executor, and Spark needs 512 MiB; give each node 1280 MiB or more"),
        (EmbeddedSpec(memory_mb=2048), {**FINE, "spark.executor.pyspark.memory": "2g"},
         "0 MiB are left for the heap of an executor, and Spark needs 512 MiB; give each node 3328 MiB or more"),
        (EmbeddedSpec(), {MEMORY: "300m"},
         "spark.executor.memory is 300m for the heap of an executor, and Spark needs 512 MiB; give 512m or more"),
        (EmbeddedSpec(), {MEMORY: "2048"},
         "spark.executor.memory is '2048', and must be a whole number with a unit, such as 2g or 1536m"),
        (EmbeddedSpec(), {"spark.driver.memory": "lots"},
         "spark.driver.memory is 'lots', and must be a whole number with a unit, such as 2g or 1536m"),
        (EmbeddedSpec(), {CORES: "8"},
         ("spark.executor.cores is 8, and yarn.scheduler.maximum-allocation-vcores allows 4: no executor could start; "
         "give at most 4, or allow more")),
        (EmbeddedSpec(), {"spark.task.cpus": "5"},
         "spark.task.cpus is 5, and an executor has 4 cores: no task could start; give at most 4"),
        (EmbeddedSpec(), {"spark.eventLog.compress": "true", "spark.eventLog.compression.codec": "lzf"},
         "spark.eventLog.compression.codec is lzf, which Assay can't read; give zstd, lz4 or snappy"),
    ],
)  # fmt: skip
def test_what_can_not_be_is_refused_in_one_sentence(spec, properties, reason):
    with pytest.raises(BadInputError) as caught:
        check(spec, properties)
    assert str(caught.value) == reason


def test_a_node_has_all_that_an_application_needs_without_copies():
    layout = Layout.below(Path("/home"), STACK.roles)
    spec = EmbeddedSpec(limit_memory_bytes=4 * GIB, jobs_at_once=2)
    node = NodeContext(spec, layout, "worker-1", "master", programs=Path("/parts"))
    properties = SPARK.properties(node)
    assert properties["spark.yarn.jars"] == "local:/parts/spark/lib/*"
    assert properties["spark.driver.host"] == properties["spark.driver.bindAddress"] == "master"
    assert properties["spark.blockManager.port"] == "0"  # between nodes Assay chooses one for all
    room = node_of(spec, properties, ())
    assert (room.applications, room.room_mb) == (2, 4096)


def test_what_executors_shuffle_and_spill_is_intermediate_data():
    (role,) = (role for role in STACK.roles if role.name == "intermediate")
    (of_mapreduce,) = (role for role in stack_of().roles if role.name == "intermediate")
    assert role.passing.startswith(f"{of_mapreduce.passing}|")
    assert "blockmgr" in role.passing


def test_a_scale_models_jvms_see_its_processors():
    options = SPARK.start_properties(ContainerStarts(processors=2), {})
    assert set(options.values()) == {"-XX:ActiveProcessorCount=2"}


@pytest.mark.parametrize("name", ["spark-defaults", "spark-tuned"])
def test_its_profiles_are_possible_on_a_node_as_hadoop_has_it(name):
    properties = resolve(name, shipped_profiles()).properties
    check(EmbeddedSpec(), properties)
    assert properties["mapreduce.map.speculative"] == "false"
    assert all(SPARK.bounds[partitions].hold(properties.get(partitions, "1")) for partitions in PARTITIONS)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("spark: {spark.executor.cores: 0}", "spark.executor.cores is '0', and must be a whole number from 1 on"),
        ("spark: {spark.local.dir: /tmp}", "spark.local.dir can't be set on an embedded cluster"),
        (
            "spark: {spark.default.parallelism: 2.5 per core}",
            "spark.default.parallelism is '2.5 per core', and must be a whole number from 1 on, which may be for each core",
        ),
    ],
)
def test_properties_that_it_can_not_have_are_refused(tmp_path, line, reason):
    with pytest.raises(BadInputError, match=reason):
        plan_of(tmp_path, f"{GOOD}{line}\n", WORDS)


def test_its_own_properties_are_known(tmp_path):
    words = WORDS._replace(
        properties={"dfs.blocksize": "134217728"}, levels={"store": ["hdfs"], "engine": ["mapreduce", "spark"]}
    )
    text = f"{GOOD}engine: [mapreduce, spark]\nspark: {{spark.reducer.maxSizeInFlight: [24m, 96m]}}\n"
    assert "unknown-property" not in [doubt.kind for doubt in plan_of(tmp_path, text, words).doubts]


def test_a_cluster_that_is_there_already_need_not_have_spark(tmp_path):
    assert daemons_of(STACK, tmp_path) == stack_of().existing
    assert SPARK in needed_here(STACK, is_managed=False)
