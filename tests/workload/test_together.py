"""Proves that workloads at once start together, and have paths, results, judgements and failures of their own."""

from threading import Barrier, Event

import pytest

from assay.model.doubt import CheckResult, Outcome
from assay.model.engine import JobReference, LaunchReport
from assay.model.errors import AssayError
from assay.model.input import Input
from assay.model.progress import Silent
from assay.model.registry import WORKLOADS
from assay.model.trial import ResourceEstimate, WorkloadSpec
from assay.workload.together import Together, open_workload

SORT = WorkloadSpec(name="terasort", variant="stock", options={"size": "10MB"})
COUNT = WorkloadSpec(name="word-count", variant="stock", options={"size": "1MB"})
MIX = WorkloadSpec(name="mix", variant="mix", together=(SORT, COUNT))
PATIENCE_S = 20


class Part:
    """A workload of the test's own: what its run and its check do."""

    def __init__(self, name, run=lambda: None, check=lambda: Outcome.PASS):
        self.spec = WorkloadSpec(name=name)
        self.input = Input()
        self._run, self._check = run, check

    def estimate(self):
        return ResourceEstimate(disk_bytes=10, memory_bytes=5, seconds=3)

    def stage(self, store, engine, progress):
        return LaunchReport(jobs=(JobReference(name="make", id=f"staging-{self.spec.name}"),), result={})

    def run(self, engine, progress):
        self._run()
        return LaunchReport(jobs=(JobReference(name="sort", id=self.spec.name),), result={"records": 7})

    def verify(self, store, report):
        assert [job.id for job in report.jobs] == [self.spec.name], "its own report"
        return (CheckResult(check="sorted", outcome=self._check(), detail=""),)


class EndingEngine:
    def __init__(self):
        self.ended = Event()

    def end(self):
        self.ended.set()


def together(*parts):
    return Together(MIX, "/base", parts)


def test_their_input_is_that_of_all():
    alone = [open_workload(spec, "/base", None).input.size() for spec in (SORT, COUNT)]
    assert alone[0].bytes == 10_000_000
    assert open_workload(MIX, "/base", None).input.size() == alone[0] + alone[1]


def test_all_run_at_the_same_time():
    met = Barrier(2)
    whole = together(Part("a", lambda: met.wait(PATIENCE_S)), Part("b", lambda: met.wait(PATIENCE_S)))
    report = whole.run(EndingEngine(), Silent())
    assert [(job.name, job.id) for job in report.jobs] == [("a: sort", "a"), ("b: sort", "b")]
    assert report.result == {"a: records": 7, "b: records": 7}


def failing(reason):
    """A part's run that fails for this reason."""

    def fail():
        raise AssayError(reason)

    return fail


def test_one_that_fails_leaves_the_others_to_their_ends_and_is_judged_with_its_reason():
    engine, failed = EndingEngine(), Event()

    def fail():
        failed.set()
        raise AssayError("no room")

    whole = together(Part("a", lambda: failed.wait(PATIENCE_S)), Part("b", fail), Part("b"))
    report = whole.run(engine, Silent())
    assert not engine.ended.is_set()
    assert [job.id for job in report.jobs] == ["a", "b"]
    assert report.result == {"a: records": 7, "b 2: records": 7}
    assert [(one.check, one.outcome, one.detail, one.ended) for one in whole.verify(None, report)] == [
        ("a: sorted", Outcome.PASS, "", True), ("b 1: it came to its end", Outcome.FAIL, "no room", False),
        ("b 2: sorted", Outcome.PASS, "", True),
    ]  # fmt: skip


def test_if_all_fail_their_reasons_are_that_of_the_trial_each_once():
    whole = together(*(Part(name, failing(reason)) for name, reason in (("a", "x"), ("b", "y"), ("c", "x"))))
    with pytest.raises(AssayError, match="^x; y$"):
        whole.run(EndingEngine(), Silent())


def test_an_interrupt_ends_all(monkeypatch):
    engine = EndingEngine()

    def interrupted(running):
        raise KeyboardInterrupt

    monkeypatch.setattr("assay.workload.together.wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        together(Part("a", lambda: engine.ended.wait(PATIENCE_S))).run(engine, Silent())
    assert engine.ended.is_set()


def test_each_is_judged_by_itself():
    def broken():
        raise ValueError("no such file")

    whole = together(Part("a"), Part("b", check=lambda: Outcome.FAIL), Part("a", check=broken))
    report = whole.run(EndingEngine(), Silent())
    found = [(one.check, one.outcome) for one in whole.verify(None, report)]
    assert found == [
        ("a 1: sorted", Outcome.PASS), ("b: sorted", Outcome.FAIL), ("a 2: verification", Outcome.UNKNOWN),
    ]  # fmt: skip


def test_needs_add_up():
    assert together(Part("a"), Part("b")).estimate() == ResourceEstimate(disk_bytes=20, memory_bytes=5, seconds=6)
    assert [job.name for job in together(Part("a"), Part("b")).stage(None, None, Silent()).jobs] == [
        "a: make", "b: make",
    ]  # fmt: skip


def test_copies_and_mixes_have_paths_of_their_own_below_those_of_all():
    for spec in (SORT.model_copy(update={"concurrent": 2}), MIX):
        whole = open_workload(spec, "/base", None)
        parts = whole._parts
        assert [part.input_path for part in parts] == ["/base/input/1", "/base/input/2"]
        assert [part.output_path for part in parts] == ["/base/output/1", "/base/output/2"]
        assert (whole.input_path, whole.output_path) == ("/base/input", "/base/output")
    twice = open_workload(MIX.model_copy(update={"concurrent": 2}), "/base", None)
    assert [part.spec.name for part in twice._parts] == ["terasort", "word-count"] * 2


def test_one_alone_is_itself():
    assert isinstance(open_workload(SORT, "/base", None), WORKLOADS["terasort"])


def test_only_those_that_read_the_dataset_get_it():
    dataset = object()
    mix = MIX.model_copy(update={"together": (WorkloadSpec(name="triangles"), SORT)})
    triangles, sort = open_workload(mix, "/base", dataset)._parts
    assert triangles.input is dataset
    assert sort.input is not dataset


def test_what_tells_them_apart_is_in_their_options():
    assert SORT.model_copy(update={"concurrent": 2}).own == "concurrent=2 size=10MB"
    assert SORT.model_copy(update={"intermediate": "ssd"}).own == "intermediate=ssd size=10MB"
    assert MIX.own == "together=terasort(size=10MB)+word-count(size=1MB)"
    assert SORT.model_dump() == {"name": "terasort", "variant": "stock", "options": {"size": "10MB"}, "hadoop": {}}
