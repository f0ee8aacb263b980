"""A store in memory that keeps what is put, for tests of workloads that stage files or read them as bytes."""

from assay.model.engine import LaunchReport
from assay.model.input import Graph
from assay.model.progress import Silent
from assay.testing.fake_hadoop import FakeEngine, FakeStore, Script
from tests.builders import a_trial

NO_GRAPH = Graph(edges=None, lone=None)


class KeepingStore(FakeStore):
    def __init__(self, script=None):
        super().__init__(script or Script())

    def put(self, source, path):
        self.contents[path] = source.read_bytes()

    def lines(self, path):
        for file in self.list_files(path):
            yield from self.contents[file.path].splitlines()


def an_engine(counters=None, program=None):
    """An engine whose jobs have these counters; what its programs leave is in its store."""
    script = Script(counters=counters or {}, **({"program": program} if program else {}))
    store = KeepingStore(script)
    return FakeEngine(script, a_trial(), store), store


def judge(workload, store, result):
    return workload.verify(NO_GRAPH, store, LaunchReport(jobs=(), result=result))


def staged(workload, engine, store):
    return workload.stage(None, store, engine, Silent())
