"""Proves that a stack has all services that its store and engine need, each after those that it needs, or is refused."""

from pathlib import Path

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.engine import EngineKind
from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.model.layout import INPUT, INTERMEDIATE, OUTPUT, Layout, Role
from assay.model.registry import ENGINES, SERVICES
from assay.model.service import Costs, DaemonKind, HeldData, NodeContext, Service, Share, SiteFile, Stack, Timer
from tests.toys import plugged_in


@pytest.fixture
def engine():
    """Adds an engine of this name that needs these services."""
    with plugged_in("store"):
        yield lambda name, *services, **also: ENGINES.add(name, EngineKind(open=None, services=services, **also))


def names(stack):
    return [service.name for service in stack.services]


def test_each_service_comes_after_those_that_it_needs():
    assert names(stack_of()) == ["hadoop", "hdfs", "yarn", "mapreduce"]
    assert names(stack_of("hdfs", None)) == ["hadoop", "hdfs"]
    assert [daemon.role for daemon in stack_of().daemons] == [
        "datanode", "namenode", "resourcemanager", "nodemanager", "historyserver",
    ]  # fmt: skip


def test_a_store_that_is_none_of_hadoops_brings_nothing_of_hadoop(engine):
    engine("thinker")
    assert names(stack_of("key-value", "thinker")) == ["key-value"]
    assert names(stack_of("key-value", "mapreduce")) == ["key-value", "hadoop", "hdfs", "yarn", "mapreduce"]


def test_the_engine_that_stages_has_its_services_too(engine):
    engine("thinker", staged_by="mapreduce")
    assert names(stack_of("hdfs", "thinker")) == ["hadoop", "hdfs", "yarn", "mapreduce"]


def test_a_service_that_is_not_there_is_named_with_what_needs_it(engine):
    engine("thinker", "thoughts")
    with pytest.raises(BadInputError, match=r"^the engine 'thinker' needs the service 'thoughts', and nothing here br"):
        stack_of("hdfs", "thinker")
    SERVICES.add("thoughts", Service("thoughts", needs=("brain",)))
    with pytest.raises(BadInputError, match=r"^the service 'thoughts' needs the service 'brain', and nothing here br"):
        stack_of("hdfs", "thinker")


def test_services_that_need_each_other_are_refused(engine):
    engine("thinker", "hen")
    SERVICES.add("hen", Service("hen", needs=("egg",)))
    SERVICES.add("egg", Service("egg", needs=("hen",)))
    with pytest.raises(BadInputError, match=r"in a circle: hen, egg, hen; none of them can start first"):
        stack_of("hdfs", "thinker")


def test_costs_and_timers_are_those_of_all_services():
    small = Service("small", costs=Costs(cluster_mb=10, worker_mb=1, disk_mb=3, cluster_s=1.5))
    large = Service("large", costs=Costs(cluster_mb=30, worker_mb=2), timers=(Timer("beat", "3", "here"),))
    stack = Stack((small, large))
    assert stack.costs == Costs(cluster_mb=40, worker_mb=3, disk_mb=3, cluster_s=1.5)
    assert stack.memory_bytes(3) == 46 << 20
    assert stack.timers == {"beat": "3"}


def test_jobs_are_checked_beside_the_daemons_of_one_node():
    seen = []
    daemons = (DaemonKind("head"), DaemonKind("hand", on_workers=True))
    stack = Stack((Service("body", daemons=daemons, check=lambda *given: seen.append([one.role for one in given[2]])),))
    stack.check(EmbeddedSpec(), {})
    stack.check(EmbeddedSpec(nodes=2), {})
    assert seen == [["head", "hand"], ["hand"]]


def test_a_daemon_that_keeps_data_in_its_memory_leaves_jobs_as_much_less():
    seen = []
    daemons = (DaemonKind("head", memory_mb=10), DaemonKind("hand", memory_mb=20, held=HeldData("body.mb", 100)))
    body = Service("body", daemons=daemons, check=lambda *given: seen.append([kind.memory_mb for kind in given[2]]))
    Stack((body,)).check(EmbeddedSpec(), {})
    Stack((body,)).check(EmbeddedSpec(), {"body.mb": "300"})
    assert seen == [[10, 120], [10, 320]]


def test_roles_are_those_of_all_services_the_input_first_and_the_output_last():
    assert [role.name for role in stack_of().roles] == ["input", "system", "intermediate", "output"]
    first = Service("first", roles=(Role("output", "results"), Role("log", "its own log"), Role("input", "tables")))
    second = Service("second", roles=(Role("log", "another's"), Role("shuffle", "what is fetched")))
    roles = Stack((first, second)).roles
    assert [(role.name, role.holds) for role in roles] == [
        ("input", "tables"), ("log", "its own log"), ("shuffle", "what is fetched"), ("output", "results"),
    ]  # fmt: skip


def test_what_passes_in_a_role_is_what_any_service_says_of_it(engine):
    SERVICES.add(
        "thoughts", Service("thoughts", needs=("yarn",), roles=(Role("intermediate", "", passing="/thought-"),))
    )
    engine("thinker", "thoughts")
    of_hadoop = {role.name: role for role in stack_of().roles}
    roles = {role.name: role for role in stack_of("hdfs", "thinker").roles}
    assert roles.pop("intermediate") == of_hadoop.pop("intermediate")._replace(
        passing=f"{stack_of().roles[2].passing}|/thought-"
    )
    assert roles == of_hadoop


def test_the_last_service_that_has_words_for_it_says_what_a_job_gets(engine):
    SERVICES.add("thoughts", Service("thoughts", needs=("mapreduce",)))
    engine("thinker", "thoughts")
    spec = EmbeddedSpec()
    tasks = "6 tasks of 1024 MiB at once, and a master of 2048 MiB"
    assert (
        stack_of().task_share(spec, {}) == stack_of("hdfs", "thinker").task_share(spec, {}) == Share(6, 6 * 1024, tasks)
    )
    larger = {"mapreduce.map.memory.mb": "3000", "yarn.app.mapreduce.am.resource.mb": "500"}
    assert stack_of().task_share(spec, larger).text == "2 tasks of 3072 MiB at once, and a master of 1024 MiB"
    SERVICES.add(
        "whims", Service("whims", needs=("thoughts",), task_share=lambda *given: Share(1, 1, f"{len(given[2])} whims"))
    )
    engine("dreamer", "whims")
    assert stack_of("hdfs", "dreamer").task_share(spec, {}).text == "5 whims"
    assert stack_of("hdfs", "dreamer").task_share(EmbeddedSpec(nodes=2), {}).text == "2 whims"


def below(stack, service, *roles):
    layout = Layout.below(Path("/d"), stack.roles, ["worker-1"])
    seen = stack.keep_apart(layout).seen_by(service)
    assert seen.directories == seen.nodes["worker-1"].directories
    return [str(directory.path.relative_to("/d/worker-1")) for directory in seen.of(*roles)]


def test_two_stores_never_have_the_same_directories(engine):
    """The store of the trial, and HDFS, which comes with MapReduce."""
    together = stack_of("key-value", "mapreduce")
    assert below(together, "key-value", INPUT, OUTPUT) == ["data/key-value"]
    assert below(together, "hdfs", INPUT, OUTPUT) == below(together, "mapreduce", INPUT) == ["data/hdfs"]
    assert below(together, "key-value", "log") == ["log"]
    assert below(together, "yarn", INTERMEDIATE) == below(together, "mapreduce", INTERMEDIATE) == ["local"]
    engine("thinker")
    assert below(stack_of("key-value", "thinker"), "key-value", INPUT) == ["data"]


def test_services_that_need_a_store_share_its_directories(engine):
    for name in ("hdfs", "hbase", "spark"):
        assert below(stack_of("hbase", "spark"), name, INPUT) == ["data"]
    assert below(stack_of("hbase", "spark"), "spark", INTERMEDIATE) == ["local"]


@pytest.mark.parametrize(
    ("twice", "why"),
    [
        (
            {"daemons": (DaemonKind("head", ports={"x.address": "web"}), DaemonKind("tail", ports={"x.address": "x"}))},
            "the daemons head and tail would both listen at the address x.address; give one of them another property",
        ),
        (
            {"roles": (Role("log", "logs"), Role("index", "indexes", folder="log"))},
            "the roles log and index would both have directories called log; rename one `folder`",
        ),
        ({"daemons": (DaemonKind("namenode"),)}, "the services hdfs and brain both bring the daemon namenode; let one"),
        (
            {"sites": (SiteFile("hdfs-site.xml", ("dfs.",)),)},
            "the services hdfs and brain both bring the configuration file hdfs-site.xml; let one of them do so",
        ),
        (
            {"timers": (Timer("dfs.heartbeat.interval", "3", "here"),)},
            "the services hdfs and brain both bring the timer dfs.heartbeat.interval; let one of them do so",
        ),
    ],
)
def test_two_owners_of_one_thing_are_refused(engine, twice, why):
    SERVICES.add("brain", Service("brain", needs=("hdfs",), **twice))
    engine("thinker", "brain")
    with pytest.raises(BadInputError, match=f"^the store 'hdfs' and the engine 'thinker' can't be had together: {why}"):
        stack_of("hdfs", "thinker")


@pytest.mark.parametrize(
    ("brought", "thing"), [("job_ports", "port a.b of jobs"), ("trial_properties", "property a.b of trials")]
)
def test_two_services_that_bring_one_property_of_jobs_are_refused(engine, brought, thing):
    for name in ("brain", "mind"):
        SERVICES.add(name, Service(name, **{brought: {"a.b": "1"}}))
    engine("thinker", "brain", "mind")
    with pytest.raises(BadInputError, match=f"the services brain and mind both bring the {thing}; let one of them do"):
        stack_of("hdfs", "thinker")


@pytest.mark.parametrize("sets", [{"properties": lambda _node: {"a.b": "2"}}, {"trial_properties": {"a.b": "2"}}])
def test_two_services_that_set_one_property_are_refused(sets):
    stack = Stack((Service("brain", properties=lambda _node: {"a.b": "1"}), Service("mind", **sets)))
    node = NodeContext(EmbeddedSpec(), Layout.below(Path("/d"), (), ["worker-1"]), "host", "host")
    with pytest.raises(BadInputError, match=r"the services brain and mind both set a\.b; let one of them do so"):
        stack.properties(node)


def test_a_service_has_the_name_that_it_is_added_by():
    with pytest.raises(BadInputError, match="the service 'mine' calls itself 'hdfs'; use one name"):
        SERVICES.add("mine", Service("hdfs"))
