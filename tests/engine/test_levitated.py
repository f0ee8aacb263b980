"""Proves that a levitated shuffle says where it was none, and refuses what it can't do before anything starts."""

import resource
from types import SimpleNamespace

import pytest

from assay.engine.levitated import KIND, PLUG_IN, SHUFFLED_IN_THE_STOCK_WAY, STREAMS, STREAMS_REOPENED, Levitated
from assay.engine.levitated import LEVITATED as LEVITATED_SERVICE
from assay.engine.mapreduce import MapReduce
from assay.model.cluster import EmbeddedSpec
from assay.model.engine import History, JobReference
from assay.model.errors import BadInputError
from tests.builders import a_job
from tests.plan.test_make import GOOD, WORDS, plan_of

ENGINES = WORDS._replace(levels={"store": ["hdfs"], "engine": ["mapreduce-levitated"]})

JOB = JobReference(name="sort", id="job_1_0001")
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
        plan_of(tmp_path, f"{LEVITATED}{properties}\n", ENGINES)


def test_more_streams_than_a_process_may_have_files_are_refused(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    LEVITATED_SERVICE.check(EmbeddedSpec(), {STREAMS: "1000"}, ())
    with pytest.raises(BadInputError, match=r"may need 6000 open files, and a process may have 4096 here; give fewer"):
        LEVITATED_SERVICE.check(EmbeddedSpec(), {STREAMS: "2000"}, ())


def test_an_existing_cluster_lacks_its_classes(tmp_path):
    with pytest.raises(
        BadInputError, match="mapreduce-levitated runs on clusters that Assay starts, not yet on that of"
    ):
        LEVITATED_SERVICE.discovery.properties({}, SimpleNamespace(conf_dir=tmp_path))


def test_a_directed_job_keeps_its_shuffle():
    assert PLUG_IN not in KIND.directed("SSD")
    assert "mapreduce.job.map.output.collector.class" in KIND.directed("SSD")
