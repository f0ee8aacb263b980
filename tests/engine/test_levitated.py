"""Proves that a levitated shuffle says where it was none, and refuses what it can't do before anything starts."""

import resource

import pytest

from assay.engine.levitated import KIND, PLUG_IN, SHUFFLED_IN_THE_STOCK_WAY, STREAMS_REOPENED, Levitated
from assay.engine.levitated import LEVITATED as LEVITATED_SERVICE
from assay.engine.mapreduce import MapReduce
from assay.model.cluster import EmbeddedSpec
from assay.model.engine import History, JobReference
from assay.model.errors import BadInputError
from assay.model.network import Networks
from assay.platform.existing import daemons_of
from tests.builders import a_job
from tests.plan.test_make import GOOD, WORDS, plan_of
from tests.platform.test_existing import stack_of

JOB = JobReference(name="sort", id="job_1_0001")
LEVELS = WORDS._replace(levels={"store": ("hdfs",), "engine": ("mapreduce", "mapreduce-levitated")})
LEVITATED = f"{GOOD}engine: mapreduce-levitated\nhadoop: "


@pytest.mark.parametrize(
    ("counted", "kinds", "detail"),
    [
        ({"STREAMS": 20, "REOPENED": 0}, [], ""),
        (
            {"STOCK_TOO_MANY_MAPS": 2},
            [SHUFFLED_IN_THE_STOCK_WAY],
            "2 reducers of sort (job_1_0001) fetched in the stock way: there are more map outputs than assay.levitated",
        ),
        (
            {"STOCK_SMALL_HEAP": 1},
            [SHUFFLED_IN_THE_STOCK_WAY],
            "1 reducers of sort (job_1_0001) fetched in the stock way: the buffers of so many streams would take",
        ),
        ({"STREAMS": 20, "REOPENED": 3}, [STREAMS_REOPENED], "3 streams of sort (job_1_0001) broke"),
    ],
)
def test_what_reducers_counted_is_doubted(monkeypatch, counted, kinds, detail):
    job = a_job().model_copy(update={"counters": {"AssayLevitated": counted}})
    monkeypatch.setattr(MapReduce, "history", lambda *_: History(job=job, attempts=(), doubts=()))
    history = Levitated.__new__(Levitated).history(JOB)
    assert [doubt.kind for doubt in history.doubts] == [kind.name for kind in kinds]
    for doubt in history.doubts:
        assert doubt.what.startswith(detail)


@pytest.mark.parametrize(
    ("properties", "message"),
    [
        ("{assay.levitated.streams: 0}", "assay.levitated.streams"),
        (f"{{{PLUG_IN}: org.example.Other}}", f"{PLUG_IN} can't be set"),
    ],
)
def test_a_property_that_would_undo_it_is_refused(tmp_path, properties, message):
    with pytest.raises(BadInputError, match=message):
        plan_of(tmp_path, f"{LEVITATED}{properties}\n", LEVELS)


def check(streams, **spec):
    properties = {"assay.levitated.streams": str(streams), "mapreduce.job.reduces": "2"}
    LEVITATED_SERVICE.check(EmbeddedSpec(**spec), properties, ())


def test_more_streams_than_a_process_may_have_files_are_refused(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    check(600)
    with pytest.raises(BadInputError, match=r"may need 6000 open files for 1000 streams of 2 reducers, and a process"):
        check(1000)


def test_streams_whose_sockets_hold_more_than_the_page_cache_are_refused():
    networked = {"network": Networks.model_validate("gigabit"), "page_cache_bytes": 64 << 20}
    check(128, **networked)
    check(256, nodes=2, **networked)
    with pytest.raises(
        BadInputError, match=r"64\.5 MiB of a node's page cache, which is 64\.0 MiB; .* a larger page_cache$"
    ):
        check(129, **networked)
    check(128)
    with pytest.raises(BadInputError, match=r"or a network \(cluster: .*\), with which sockets are smaller$"):
        check(128, page_cache_bytes=64 << 20)


def test_an_existing_cluster_lacks_its_classes(tmp_path):
    with pytest.raises(BadInputError, match="levitated runs on clusters that Assay starts, not yet on an"):
        daemons_of(stack_of("hdfs", "mapreduce-levitated"), tmp_path)


def test_a_directed_job_keeps_its_shuffle():
    assert PLUG_IN not in KIND.directed("SSD")
    assert "mapreduce.job.map.output.collector.class" in KIND.directed("SSD")
