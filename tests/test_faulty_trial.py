"""Proves that a trial's fault is armed for its jobs alone, and recorded whether the trial passes, fails or goes wrong."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import Outcome
from assay.model.fault import Fault, FaultReport, Kept
from assay.model.installed import possible
from assay.model.medium import medium_of
from assay.model.progress import Silent
from assay.model.record import Status
from assay.model.registry import MEDIA
from assay.model.trial import MediumSpec
from assay.run.schedule import fit_to_machine
from assay.stats.trial_summary import summarise
from assay.trial import run_trial
from assay_extras.testing.fakes import FakePlatform, FakeStore, Script, fake_setup
from tests.builders import a_plan, a_trial

FAULT = Fault(kill="nodemanager", on=2, at="map 50%")
TRIAL = a_trial().model_copy(update={"cluster": EmbeddedSpec(nodes=3, fault=FAULT)})
ENDS_MS = 10**13
"""After any strike of these tests."""


class Injector:
    def __init__(self, script, struck_ms):
        self._script, self._struck_ms = script, struck_ms

    def stage(self, size_bytes):
        self._script.note(f"watch staging of {size_bytes}")

    def arm(self):
        self._script.note("arm")

    def report(self):
        return FaultReport(struck_ms=self._struck_ms, job="answer", processes={self.role: 7})


class CountingStore(FakeStore):
    missing = 0

    def taken(self, path):
        return 9

    def kept(self, path):
        return Kept(taken=9, missing=self.missing)


class Platform(FakePlatform):
    struck_ms = 1
    role = "nodemanager"

    @contextmanager
    def running(self, layout, properties, progress):
        with super().running(layout, properties, progress) as running:
            injector = Injector(self.script, self.struck_ms)
            injector.role = self.role
            yield replace(running, injector=injector)


def record_of(script, struck_ms=1, role="nodemanager", missing=None):
    platform = Platform(script, TRIAL)
    platform.struck_ms, platform.role = struck_ms, role
    if missing is not None:
        platform.store = CountingStore(script)
        platform.store.missing = missing
    return run_trial(TRIAL, fake_setup(script, TRIAL)._replace(platform=platform), Silent()).record


def test_it_is_armed_when_all_is_staged_and_just_before_the_jobs():
    script = Script(elapsed_ms=lambda _: ENDS_MS)
    record = record_of(script)
    assert script.log[script.log.index("run answer") - 1] == "arm"
    assert script.log.index("mark staging") < script.log.index("arm")
    assert record.fault.struck_ms == 1
    assert (record.fault.lost_attempts, record.fault.repeated_tasks) == (0, 0)
    assert not summarise(record).missed_fault


def test_a_wrong_output_under_a_fault_is_a_result():
    record = record_of(Script(answer=2, elapsed_ms=lambda _: ENDS_MS))
    assert (record.status, record.outcome) == (Status.FINISHED, Outcome.FAIL)
    assert record.fault.struck_ms == 1


def test_staging_is_watched_and_leaves_what_struck_it():
    script = Script(fail_at="stage")
    record = record_of(script)
    assert record.status is Status.FAILED
    assert record.fault.struck_ms == 1
    assert [line for line in script.log if line.startswith("watch staging of ")]


@pytest.mark.parametrize(("missing", "outcome"), [(0, Outcome.PASS), (2, Outcome.FAIL)])
def test_lines_that_a_killed_daemon_of_the_store_lost_fail_the_trial(missing, outcome):
    record = record_of(Script(elapsed_ms=lambda _: ENDS_MS), role="datanode", missing=missing)
    assert (record.status, record.outcome) == (Status.FINISHED, outcome)
    assert record.fault.kept == Kept(taken=9, missing=missing)
    assert f"{missing} of 9 lines that were staged are missing" in [verdict.detail for verdict in record.verdicts]


def test_lines_are_counted_where_a_daemon_of_the_store_was_killed_alone():
    record = record_of(Script(elapsed_ms=lambda _: ENDS_MS), missing=2)
    assert (record.outcome, record.fault.kept) == (Outcome.PASS, None)


def test_jobs_that_fail_by_it_leave_what_it_did():
    record = record_of(Script(fail_at="run answer"))
    assert (record.status, record.error) == (Status.FAILED, "scripted failure")
    assert record.fault.processes == {"nodemanager": 7}


@pytest.mark.parametrize("struck_ms", [None, ENDS_MS])
def test_jobs_that_end_before_it_mark_the_trial(struck_ms):
    record = record_of(Script(), struck_ms)
    assert record.status is Status.FINISHED
    assert summarise(record).missed_fault
    assert "fault-did-not-strike" in [doubt.kind for doubt in record.doubts]


def test_a_slow_drive_is_its_workers_alone():
    hdd = MediumSpec(name="hdd", kind="emulated", profile="wd10ezex")
    slow = Fault(slow="drive", on=2, factor=4)
    assert medium_of(hdd, 2, MEDIA, slow).model_extra["slowdown"] == 4
    assert medium_of(hdd, 1, MEDIA, slow) == medium_of(hdd, 1, MEDIA) == hdd.of_worker(1)


def several(**cluster):
    trial = a_trial()
    return trial.model_copy(update={"cluster": EmbeddedSpec(nodes=3, network="gigabit", **cluster)})


@pytest.fixture
def no_namespaces(monkeypatch):
    from assay.platform import embedded

    monkeypatch.setattr(embedded, "lacking_namespaces", lambda: "unshare: Operation not permitted")


def test_without_namespaces_a_plan_runs_on_one_node_and_each_record_says_so(no_namespaces):
    plan, more = fit_to_machine(a_plan(several()), iter([(several(),)]), possible)
    (trial,) = plan.trials
    assert trial.factors["nodes"] == "1"
    assert trial.factors["network"] == "none"
    assert next(more)[0].cluster == trial.cluster
    record = run_trial(trial, fake_setup(Script(), trial), Silent()).record
    (doubt,) = [doubt for doubt in record.doubts if doubt.kind == "fewer-nodes"]
    assert doubt.what.startswith("one node without a network ran in place of 3 nodes with the network gigabit")


@pytest.mark.parametrize(
    "others",
    [
        [a_trial(2)],
        [several(fault=FAULT)],
        [several().model_copy(update={"cluster": EmbeddedSpec(nodes=5, network="gigabit")})],
        [several().model_copy(update={"levels": {"replication": level}}) for level in ("1", "3")],
    ],
)
def test_levels_that_would_become_one_are_not_run_as_if_they_differed(no_namespaces, others):
    plan = a_plan(several(), *others)
    assert fit_to_machine(plan, iter(()), possible)[0] == plan
