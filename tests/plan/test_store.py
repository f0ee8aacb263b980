"""Proves that an experiment says more of a store than its name, that a kind checks what is said of it, and what it shows."""

import pytest

from assay.model.errors import BadInputError
from assay.model.registry import STORES
from assay.model.trial import StoreSpec, Trial
from tests.builders import a_trial
from tests.plan.test_make import WORDS, plan_of
from tests.toys import plugged_in

ON_HDFS = WORDS._replace(levels={"store": ["hdfs", "hbase"], "engine": ["mapreduce"]})


@pytest.fixture
def plan(tmp_path):
    conf_dir = tmp_path / "conf"
    conf_dir.mkdir()
    (conf_dir / "core-site.xml").write_text("<configuration/>")

    def planned(store, cluster="cluster: {conf_dir: conf}"):
        text = f"experiment: demo\ndatasets: {{make: brightkite}}\nworkloads: triangles\n{cluster}\nstore: {store}\n"
        return plan_of(tmp_path, text, ON_HDFS)

    return planned


def stores(plan):
    return [trial.factors["store"] for trial in plan.trials]


def test_options_are_kept_with_the_kind_and_shown_behind_it(plan):
    (trial,) = plan("{kind: hbase, quorum: [zk-1:2181, zk-2], znode: /other}").trials
    assert trial.store == StoreSpec(kind="hbase", quorum="zk-1:2181,zk-2", znode="/other")
    assert trial.factors["store"] == "hbase(quorum=zk-1:2181,zk-2, znode=/other)"
    assert Trial.model_validate_json(trial.model_dump_json()) == trial


def test_a_name_alone_is_the_short_form_also_in_records(plan):
    assert stores(plan("{kind: hbase}")) == stores(plan("hbase")) == ["hbase"]
    assert a_trial().model_copy(update={"store": StoreSpec(kind="hbase")}).model_dump()["store"] == "hbase"
    assert Trial.model_validate({**a_trial().model_dump(), "store": "hbase"}).store.kind == "hbase"


def test_several_stores_are_a_factor(plan):
    both = "[hdfs, {kind: hbase, quorum: 'a:1'}, {kind: hbase, quorum: 'b:1'}]"
    assert sorted(stores(plan(both))) == ["hbase(quorum=a:1)", "hbase(quorum=b:1)", "hdfs"]


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("{kind: hbase, quorom: 'a:1'}", r"line 5: .*unknown key 'quorom'; did you mean 'quorum'"),
        (
            "{kind: hdfs, quorum: 'a:1'}",
            "quorum belongs to a store of kind hbase, and this one is hdfs; leave quorum out",
        ),
        ("{kind: hbsae}", "'hdfs', 'hbase'"),
        ("{kind: hbase, quorum: 'a:b'}", "must be HOST:PORT of ZooKeeper servers"),
        ("{kind: hbase, quorum: 'a:70000'}", "must be HOST:PORT of ZooKeeper servers"),
        ("{kind: hbase, znode: hbase}", "must begin with /"),
        ("kudu", "Kudu is not supported; store may be hdfs or hbase"),
        ("hbsae", "store has no level 'hbsae'; did you mean 'hbase'"),
        ("[{kind: hbase}, hbase]", "leave one out"),
    ],
)
def test_what_a_store_can_not_have_is_refused(plan, store, message):
    with pytest.raises(BadInputError, match=f"(?i){message}"):
        plan(store)


def test_a_store_of_the_users_needs_a_cluster_of_theirs(plan):
    with pytest.raises(BadInputError, match="quorum says where a store of yours is, and this cluster is Assay's own"):
        plan("{kind: hbase, quorum: 'a:1'}", "media: {disk: directory}")


TOYS = WORDS._replace(
    workloads={"line-count": ("plain",)}, own_input=["line-count"],
    levels={"store": ["key-value", "plain"], "engine": ["scanner"]},
)  # fmt: skip
COUNTED = "experiment: demo\nworkloads: line-count\nmedia: {disk: directory}\nengine: scanner\ncluster: {nodes: 2}\n"


def test_replication_is_the_stores_own_property(tmp_path):
    with plugged_in("store", "engine", "workload"):
        (trial,) = plan_of(tmp_path, COUNTED + "store: key-value\nreplication: 2\n", TOYS).trials
        assert trial.settings.properties["key-value.copies"] == trial.factors["replication"] == "2"
        assert "dfs.replication" not in trial.settings.properties
        assert STORES["key-value"].promise(trial.settings.properties, 2).words == "2 copies in a log that is synced"


def test_copies_can_not_be_chosen_where_the_store_has_no_property_for_them(tmp_path):
    with plugged_in("store", "engine", "workload"):
        STORES.add("plain", STORES["key-value"]._replace(copies_property=""))
        with pytest.raises(
            BadInputError, match="line 7: the store plain lets nobody choose copies; leave replication out"
        ):
            plan_of(tmp_path, COUNTED + "store: plain\nreplication: 2\n", TOYS)
