"""A store in memory that keeps what is put, and graphs in memory, for tests of workloads."""

from assay.model.engine import LaunchReport
from assay.model.input import GraphInput
from assay.model.progress import Silent
from assay.model.registry import WORKLOADS
from assay_extras.testing.fake_hadoop import FakeEngine, FakeStore, Script
from tests.builders import a_trial


def name_of(kind):
    """The name that a kind of workload is registered by."""
    return next(name for name, registered in WORKLOADS.items() if registered is kind)


class GivenGraph(GraphInput):
    """A graph that was made by a test, or counts alone."""

    def __init__(self, graph=None, facts=None, staged_bytes=0):
        self._graph, self._facts, self._bytes = graph, facts, staged_bytes

    def graph(self):
        return self._graph

    def facts(self):
        return self._facts

    def size(self):
        return self._facts.size(self._bytes)


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
    return workload.verify(store, LaunchReport(jobs=(), result=result))


def staged(workload, engine, store):
    return workload.stage(store, engine, Silent())
