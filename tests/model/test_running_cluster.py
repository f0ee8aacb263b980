"""Proves that a running cluster gives the client of each service, made once, and refuses what is none."""

from pathlib import Path

import pytest

from assay.model.errors import AssayError
from assay.model.running_cluster import RunningCluster
from assay.model.store import Files, Store
from assay.store.hadoop_fs import HadoopFs
from assay.store.hdfs import HDFS, HDFS_SERVICE, WebHdfs

CLIENTS = {HDFS_SERVICE.name: HDFS_SERVICE.client}


def a_cluster(clients, **more):
    addresses = {"namenode": "http://127.0.0.1:9"}
    return RunningCluster(Path("/hadoop"), Path("/conf"), "3", addresses, clients=clients, **more)


def test_the_client_of_a_service_is_made_once_by_the_service():
    cluster = a_cluster({"brain": lambda cluster: [cluster.version]})
    assert cluster.client("brain", list) == ["3"]
    assert cluster.client("brain", list) is cluster.client("brain", list)


def test_a_client_may_use_that_of_a_service_below():
    clients = {"brain": lambda _: ["thinks"], "body": lambda cluster: (*cluster.client("brain", list), "moves")}
    assert a_cluster(clients).client("body", tuple) == ("thinks", "moves")


def test_what_has_no_client_and_a_client_of_another_kind_are_named():
    cluster = a_cluster({"brain": lambda _: []})
    with pytest.raises(AssayError, match=r"^the service body has no client here; services that have one: brain$"):
        cluster.client("body", list)
    with pytest.raises(AssayError, match=r"^the client of brain is a list, which is no Files$"):
        cluster.client("brain", Files)


def test_hdfs_is_its_services_client_and_of_another_cluster_the_users_own():
    own = a_cluster(CLIENTS)
    assert isinstance(HDFS.open(own), WebHdfs)
    assert HDFS.open(own) is own.client("hdfs", Store)
    foreign = a_cluster(CLIENTS, outlives=True, environment={"KRB5CCNAME": "mine"})
    store = HDFS.open(foreign)
    assert isinstance(store, HadoopFs)
    assert store._environment == {"KRB5CCNAME": "mine"}
