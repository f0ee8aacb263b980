"""Proves that a job has room in a NodeManager and below a node's bound, beside the daemons, before anything starts."""

from pathlib import Path

import pytest

from assay.engine.yarn import YARN, check_queues, offered_mb
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.model.layout import Directory, Layout
from assay.model.service import NodeContext
from assay.platform.configuration import files_of

GIB = 1 << 30


def check(spec, properties):
    stack_of().check(spec, properties)


def test_the_nodemanager_never_offers_more_than_the_whole_limit():
    assert offered_mb(EmbeddedSpec()) == 8192
    assert offered_mb(EmbeddedSpec(limit_memory_bytes=3 * GIB)) == 3072
    assert offered_mb(EmbeddedSpec(memory_mb=2048, limit_memory_bytes=3 * GIB)) == 2048


@pytest.mark.parametrize(
    ("gib", "properties", "reason"),
    [
        (3, {}, None),
        (2, {}, r"of 2GiB .* daemons take about 640 MiB, the largest container 1536 MiB, .* at least 3072 MiB, or"),
        (2.9, {}, r"2969.6MiB is .* application master and one task take 3072 MiB .* 3072 MiB, .*`settings: small`"),
        (2.9, {"mapreduce.job.ubertask.enable": "true"}, None),
        (4, {"mapreduce.map.memory.mb": "-1"}, None),
        (4, {"mapreduce.reduce.memory.mb": "3500"}, "largest container 3500 MiB"),
        (2, {"yarn.app.mapreduce.am.resource.mb": "512", "mapreduce.map.memory.mb": "512",
             "mapreduce.reduce.memory.mb": "512", "yarn.scheduler.minimum-allocation-mb": "256"}, None),
    ],
)  # fmt: skip
def test_a_limit_leaves_room_for_a_job(gib, properties, reason):
    spec = EmbeddedSpec(limit_memory_bytes=int(gib * GIB))
    if reason is None:
        check(spec, properties)
        return
    with pytest.raises(BadInputError, match=reason):
        check(spec, properties)


@pytest.mark.parametrize(
    ("spec", "properties"),
    [(EmbeddedSpec(memory_mb=700), {}), (EmbeddedSpec(), {"yarn.nodemanager.resource.memory-mb": "700"})],
)
def test_a_node_manager_that_offers_too_little_is_refused_without_a_limit_too(spec, properties):
    with pytest.raises(
        BadInputError, match=r"^the NodeManager offers 700 MiB, .* the job would never start; give at least 3072 MiB"
    ):
        check(spec, properties)
    small = {"yarn.app.mapreduce.am.resource.mb": "200", "yarn.scheduler.minimum-allocation-mb": "50"}
    check(spec, {**properties, **small, "mapreduce.map.memory.mb": "300", "mapreduce.reduce.memory.mb": "300"})


@pytest.mark.parametrize(
    ("properties", "reason"),
    [
        ({"yarn.scheduler.maximum-allocation-mb": "1000"},
         "yarn.scheduler.minimum-allocation-mb is 1024 MiB, and yarn.scheduler.maximum-allocation-mb allows 1000 MiB"),
        ({"yarn.scheduler.maximum-allocation-mb": "1200"}, "am.resource.mb is 1536 MiB, .* allows 1200 MiB"),
        ({"yarn.scheduler.maximum-allocation-mb": "2048", "mapreduce.map.memory.mb": "3000"},
         "mapreduce.map.memory.mb is 3000 MiB, .* allows 2048 MiB: no such container could start; give at most 2048"),
        ({"mapreduce.map.cpu.vcores": "9"}, "mapreduce.map.cpu.vcores is 9, .* allows 4: no such container"),
        ({"mapreduce.map.memory.mb": "9" * 5000}, None),
    ],
)  # fmt: skip
def test_a_container_larger_than_the_scheduler_allows_is_refused(properties, reason):
    if reason is None:
        check(EmbeddedSpec(), properties)
        return
    with pytest.raises(BadInputError, match=reason):
        check(EmbeddedSpec(), properties)


def test_jobs_at_once_need_a_master_each():
    small = {"yarn.scheduler.minimum-allocation-mb": "96"}
    check(EmbeddedSpec(memory_mb=2 * 1536 + 1056, jobs_at_once=2), small)
    with pytest.raises(BadInputError, match=r"offers 4000 MiB, and 2 application masters and one task take 4128 MiB"):
        check(EmbeddedSpec(memory_mb=4000, jobs_at_once=2), small)


@pytest.mark.parametrize(("jobs", "share"), [(1, None), (2, "1.0")])
def test_masters_may_take_all_memory_where_jobs_run_at_once(jobs, share):
    node = NodeContext(EmbeddedSpec(jobs_at_once=jobs), Layout(neutral=Path("/n")), "127.0.0.1", "127.0.0.1")
    assert YARN.properties(node).get("yarn.scheduler.capacity.maximum-am-resource-percent") == share


@pytest.mark.parametrize("name", ["mapreduce.job.queuename", "spark.yarn.queue", "tez.queue.name"])
def test_a_queue_that_the_cluster_does_not_have_is_refused_and_one_that_is_defined_is_not(name):
    nightly = {
        "yarn.scheduler.capacity.root.queues": "default,etl",
        "yarn.scheduler.capacity.root.etl.queues": "nightly",
    }
    check_queues({name: "default"})
    check_queues({name: "root.etl.nightly", **nightly})
    with pytest.raises(
        BadInputError, match=f"{name} is 'nightly', and the cluster has no such queue .its queues: default"
    ):
        check_queues({name: "nightly"})


_OF_CAPACITY = "yarn.scheduler.capacity"


@pytest.mark.parametrize("name", ["my.app.input.queue", f"{_OF_CAPACITY}.root.default.default-queue"])
def test_a_property_that_names_no_jobs_queue_may_end_like_one(name):
    check_queues({name: "nightly"})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("yarn.resourcemanager.scheduler.class", "org.apache.hadoop.yarn.server.scheduler.fair.FairScheduler"),
        (f"{_OF_CAPACITY}.root.users.auto-create-child-queue.enabled", "true"),
        (f"{_OF_CAPACITY}.root.auto-queue-creation-v2.enabled", "true"),
        (f"{_OF_CAPACITY}.queue-mappings", "u:%user:etl"),
    ],
)
def test_any_queue_is_taken_where_the_scheduler_makes_or_maps_queues(name, value):
    check_queues({"mapreduce.job.queuename": "nightly", name: value})


def a_node(how, *tiers, bundled=True):
    """A node with a local directory of each tier."""
    directories = tuple(
        Directory(path=Path(f"/d{at}/local"), medium=f"d{at}", roles=("intermediate",), tier=tier)
        for at, tier in enumerate(tiers)
    )
    layout = Layout(neutral=Path("/n"), directories=directories, local_directories=how)
    return NodeContext(EmbeddedSpec(), layout, "127.0.0.1", "127.0.0.1", bundled=bundled)


EXECUTOR = "yarn.nodemanager.container-executor.class"


@pytest.mark.parametrize(
    ("node", "executor", "order"),
    [
        (a_node("in-turn", "", ""), "org.assay.hadoop.OneDirectoryPerTask", "one per task, in turn"),
        (a_node("in-turn", "", "", bundled=False), None, "drawn at random for each file"),
        (a_node("hadoop", "", ""), None, "drawn at random for each file"),
        (a_node("in-turn", ""), None, "one"),
        (a_node("directed", "SSD", "_OTHERS"), "org.assay.direct.TierExecutor", "those of the tier that a job names"),
    ],
)
def test_local_directories_are_chosen_as_the_placement_says(node, executor, order):
    assert YARN.properties(node).get(EXECUTOR) == executor
    assert YARN.settings([a_node("in-turn", ""), node])["local directories"] == order


def test_a_node_whose_jobs_are_directed_has_a_file_of_tags_that_its_own_configuration_finds():
    node = a_node("directed", "SSD", "_OTHERS", "_OTHERS")
    assert YARN.files(node, {}) == {"local-dirs": "[SSD]/d0/local\n[_OTHERS]/d1/local\n[_OTHERS]/d2/local\n"}
    name = "assay.direct.tiers.file"
    assert YARN.properties(node)[name] == "${env.HADOOP_CONF_DIR}/local-dirs"
    assert "yarn-site.xml" in files_of(name, YARN.sites)
    assert YARN.files(a_node("hadoop", "", ""), {}) == {}
