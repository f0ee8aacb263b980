"""Proves that a trial lives through its steps in order and that whatever was opened is closed, without any Hadoop."""

import re
from collections import namedtuple
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import pytest

from assay.model.dataset import Amounts
from assay.model.doubt import Doubt, Outcome
from assay.model.errors import AssayError, BadInputError
from assay.model.installed import stack_of
from assay.model.limits import CacheUse, LimitUse
from assay.model.medium import Space
from assay.model.progress import Silent
from assay.model.record import Status
from assay.model.registry import ENGINES, STORES
from assay.model.trial import Landed, MediumSpec, Placement, ResourceEstimate, SettingsSpec, Trial
from assay.run.loop import execute
from assay.run.needs import check_needs
from assay.stats.trial_doubts import refuse_elsewhere, unseen
from assay.trial import run_trial
from assay.trial_parts import Remembered, TrialParts
from assay_extras.testing.fakes import FakeInput, FakeMedium, FakePlatform, FakeProbe, FakeWorkload, Script, fake_setup
from tests.builders import a_folder, a_job, a_plan, a_trial
from tests.watching import Watcher

WHOLE_LIFE = [
    "prepare dataset",
    "attach medium",
    "start cluster",
    "attach probe",
    "begin probe",
    "prepare placement",
    "stage",
    "put",
    "make cold",
    "mark staging",
    "run answer",
    "mark run",
    "history",
    "task logs",
    "verify",
    "mark collect",
    "read probe",
    "close probe",
    "delete",
    "stop cluster",
    "detach medium",
]
# What fails in these is a doubt, and the trial goes on.
PROBING = [step for step in WHOLE_LIFE if "probe" in step or step.startswith("mark ")]
CLOSING = ["stop cluster", "detach medium"]


def beats(record):
    """The parts of which the fake probe has told."""
    return [amount.part for amount in record.amounts if amount.probe == "fake"]


def scripted(script):
    @contextmanager
    def parts(trial):
        yield fake_setup(script, trial)

    return parts


def test_the_steps_of_a_life_come_in_order():
    script = Script()
    record, attempts, samples, *_ = run_trial(a_trial(), fake_setup(script, a_trial()), Silent())
    assert script.log == WHOLE_LIFE
    assert record.status is Status.FINISHED
    assert record.outcome is Outcome.PASS
    assert [step.name for step in record.steps] == [
        "prepare dataset", "attach media", "start cluster", "stage", "cold cache", "run", "job history", "verify", "clean up",
        "stop cluster",
    ]  # fmt: skip
    assert len(attempts) == 1
    assert len(samples) >= 4, "one at the beginning and at each mark"
    assert record.totals is not None
    assert record.totals.elapsed_s == 1.0
    assert record.totals.phases["shuffle"] == 0.25


def test_a_warm_trial_is_not_made_cold():
    script = Script()
    run_trial(a_trial().model_copy(update={"cache": "warm"}), fake_setup(script, a_trial()), Silent())
    assert "make cold" not in script.log


@pytest.mark.parametrize("step", [step for step in WHOLE_LIFE if step not in [*PROBING, *CLOSING, "history"]])
def test_a_failure_at_any_step_closes_what_was_opened_and_is_recorded(step):
    script = Script(fail_at=step)
    record = run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).record
    if step == "verify":
        assert [verdict.outcome for verdict in record.verdicts] == [Outcome.FAIL]
    else:
        assert record.error == "scripted failure"
    assert record.outcome is Outcome.FAIL
    for opened, closed in (
        ("attach medium", "detach medium"),
        ("start cluster", "stop cluster"),
        ("attach probe", "close probe"),
    ):
        if opened in script.log and opened != step:
            assert closed in script.log


@pytest.mark.parametrize("error", [AssayError("scripted failure"), ZeroDivisionError("scripted failure")])
@pytest.mark.parametrize("step", PROBING)
def test_a_probe_that_fails_at_any_step_is_a_doubt_and_the_trial_goes_on(step, error):
    script = Script(fail_at=step, fail_with=error)
    record = run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).record
    assert record.status is Status.FINISHED
    assert record.outcome is Outcome.PASS
    (doubt,) = [doubt for doubt in record.doubts if doubt.instrument == "fake"]
    assert doubt.kind == ("probe-missing" if step == "attach probe" else "probe-stopped")
    assert "scripted failure" in doubt.what
    assert "close probe" in script.log
    if step in {"read probe", "close probe", "mark collect"}:
        assert beats(record) == ["staging", "run", "collect"]
    elif step == "mark run":  # the next part's figures would be those of both
        assert beats(record) == ["staging", "run"]
        assert "mark collect" not in script.log
    elif step == "mark staging":
        assert beats(record) == ["staging"]
    else:
        assert beats(record) == []


def test_a_failed_trial_keeps_the_logs_once_nothing_writes_them_any_more():
    script = Script(fail_at="run answer")
    assert run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).logs == b"the logs"
    assert script.log.index("read logs") > script.log.index("stop cluster")
    assert run_trial(a_trial(), fake_setup(Script(), a_trial()), Silent()).logs == b""


@pytest.mark.parametrize("is_managed", [True, False])
def test_a_failed_trial_says_what_it_leaves_in_a_store_that_stays(is_managed):
    class Failing(Script):
        def note(self, what):
            super().note(what)
            if what == "delete":
                raise AssayError("the store is read only")

    setup = fake_setup(Failing(fail_at="run answer"), a_trial())
    platform = setup.kinds.platform._replace(is_managed=is_managed)
    setup = setup._replace(kinds=replace(setup.kinds, platform=platform))
    record = run_trial(a_trial(), setup, Silent()).record
    left = "" if is_managed else "; what it has in the store, below /"
    assert record.error.startswith(f"scripted failure{left}")
    assert ("could not be removed: the store is read only" in record.error) is not is_managed


def test_a_failed_trial_keeps_the_parts_that_it_reached():
    record = run_trial(a_trial(), fake_setup(Script(fail_at="run answer"), a_trial()), Silent()).record
    assert record.dataset is not None
    assert (record.facts["assay"], record.facts_of("disk")["kind"], record.facts["hadoop"]) == ("fake", "fake", "fake")
    assert [(landed.role, landed.when) for landed in record.landed] == [("input", "staged")]
    assert beats(record) == ["staging"]
    assert [step.name for step in record.steps][-2:] == ["run", "stop cluster"]
    assert (record.jobs, record.totals, record.outputs, record.verdicts) == ((), None, (), ())


def test_jobs_that_ran_are_kept_where_their_output_can_not_be_measured(monkeypatch):
    setup = fake_setup(Script(), a_trial())
    monkeypatch.setattr(setup.platform.store, "size_bytes", lambda _: 1 // 0)
    record = run_trial(a_trial(), setup, Silent()).record
    assert (record.status, record.outputs, record.verdicts) == (Status.FAILED, (), ())
    assert [job.name for job in record.jobs] == ["answer"]
    assert record.totals is not None
    assert {(landed.role, landed.when) for landed in record.landed} >= {("output", "run"), ("intermediate", "run")}


def test_logs_that_can_not_be_read_do_not_take_the_place_of_the_trials_own_error(monkeypatch):
    def logs(*_):
        raise ValueError("no logs")

    setup = fake_setup(Script(fail_at="run answer"), a_trial())
    monkeypatch.setattr(setup.platform, "logs", logs)
    assert run_trial(a_trial(), setup, Silent()).record.error == "scripted failure"


def test_a_probe_that_fails_does_not_take_the_place_of_the_trials_own_error():
    class Failing(Script):
        def note(self, what):
            super().note(what)
            if what == "read probe":
                raise ZeroDivisionError

    record = run_trial(a_trial(), fake_setup(Failing(fail_at="run answer"), a_trial()), Silent()).record
    assert (record.status, record.error) == (Status.FAILED, "scripted failure")
    assert "probe-stopped" in [doubt.kind for doubt in record.doubts]


def test_an_interrupt_closes_probes_and_reads_nothing_more():
    script = Script(fail_at="run answer", fail_with=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        run_trial(a_trial(), fake_setup(script, a_trial()), Silent())
    assert "read probe" not in script.log
    assert "close probe" in script.log


class SeesRequests(FakeProbe):
    """A probe with requests that can't be put down to anything."""

    def evaluate(self):
        return super().evaluate()._replace(requests=["no requests"])


def test_a_signature_that_can_not_be_made_is_a_doubt(monkeypatch):
    monkeypatch.setattr("assay_extras.testing.fakes.FakeProbe", SeesRequests)
    result = run_trial(a_trial(), fake_setup(Script(), a_trial()), Silent())
    assert result.record.outcome is Outcome.PASS
    assert result.signature is None
    (doubt,) = [doubt for doubt in result.record.doubts if doubt.kind == "trace-without-signature"]
    assert "requests could not be attributed to phases: AttributeError" in doubt.what
    assert beats(result.record) == ["staging", "run", "collect"]


def test_what_reading_the_probes_costs_is_told():
    record = run_trial(a_trial(), fake_setup(Script(), a_trial()), Silent()).record
    cost = {one.series: one for one in record.amounts if (one.probe, one.subject) == ("own-cost", "evaluation")}
    assert {(one.series, one.part, one.basis) for one in cost.values()} >= {("busy_s", "collect", "measured")}
    assert 0 <= cost["busy_s"].value < 1


def test_a_job_whose_history_is_lost_is_a_doubt_and_the_trial_has_no_totals():
    script = Script(lost_jobs=("answer",))
    record, attempts, *_ = run_trial(a_trial(), fake_setup(script, a_trial()), Silent())
    assert record.status is Status.FINISHED
    assert record.outcome is Outcome.PASS
    assert script.log == WHOLE_LIFE
    assert (record.jobs, record.totals, list(attempts)) == ((), None, [])
    assert [doubt.kind for doubt in record.doubts] == ["history-incomplete"]
    assert "answer (job_1_0001): the history of job_1_0001 is lost" in record.doubts[0].what


def test_a_sum_without_some_jobs_is_not_told():
    whole = Remembered(jobs=[a_job()], whole=True)
    assert TrialParts(a_trial(), remembered=whole).totals is not None
    assert TrialParts(a_trial(), remembered=whole._replace(whole=False)).totals is None
    assert TrialParts(a_trial()).totals is None


def test_what_a_history_lacks_is_doubted():
    gap = Doubt(kind="history-incomplete", what="it lacks two tasks", why="it was cut", cure="none")
    record = run_trial(a_trial(), fake_setup(Script(gaps=(gap,)), a_trial()), Silent()).record
    assert gap in record.doubts
    assert record.totals is not None


def test_a_crashed_check_is_unknown_and_never_passes():
    script = Script(fail_at="verify", fail_with=ZeroDivisionError("oops"))
    record = run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).record
    assert record.outcome is Outcome.UNKNOWN


def test_a_wrong_answer_fails():
    record = run_trial(a_trial(), fake_setup(Script(answer=2), a_trial()), Silent()).record
    assert record.status is Status.FINISHED
    assert record.outcome is Outcome.FAIL


def test_an_interrupt_stops_everything_and_resume_runs_only_the_rest(tmp_path):
    plan = a_plan(a_trial(1), a_trial(2, medium="memory"), a_trial(3, medium="other"))
    folder = a_folder(tmp_path / "run", plan)
    first = Script()
    second = Script(fail_at="run answer", fail_with=KeyboardInterrupt())
    watcher = Watcher()
    with pytest.raises(KeyboardInterrupt):
        execute(
            plan, folder, lambda trial: scripted(first if trial.id == plan.trials[0].id else second)(trial), watcher
        )
    assert second.log[-2:] == ["stop cluster", "detach medium"]
    assert folder.finished() == {plan.trials[0].id}
    again = Watcher()
    execute(plan, folder, scripted(Script()), again)
    for trials in (again.began, again.ended):
        assert [trial.id for trial in trials] == [plan.trials[1].id, plan.trials[2].id]
    records, damaged = folder.records()
    assert [record.outcome for record in records] == [Outcome.PASS] * 3
    assert not damaged


def test_a_failed_trial_is_recorded_and_the_next_one_runs(tmp_path):
    plan = a_plan(a_trial(1), a_trial(2, medium="memory"))
    folder = a_folder(tmp_path / "run", plan)
    failing = Script(fail_at="run answer", fail_with=AssayError("the DataNode died"))
    watcher = Watcher()
    execute(plan, folder, lambda trial: scripted(failing if trial is plan.trials[0] else Script())(trial), watcher)
    records, _ = folder.records()
    assert [record.error for record in records] == ["the DataNode died", None]
    assert [trial.id for trial in watcher.ended] == [trial.id for trial in plan.trials]


@pytest.mark.parametrize(
    ("errors", "ran"),
    [
        (("task 12 has no class Lz4", "task 7 has no class Lz4"), 2),
        (("task 12 has no class Lz4", "the DataNode died"), 3),
        (("task 12 has no class Lz4", None), 3),
    ],
)
def test_a_run_whose_first_trials_fail_alike_on_different_placements_stops(tmp_path, errors, ran):
    plan = a_plan(a_trial(1), a_trial(2, medium="memory"), a_trial(3, medium="other"))
    folder = a_folder(tmp_path / "run", plan)
    scripts = {
        trial.id: Script(fail_at="run answer", fail_with=AssayError(error))
        for trial, error in zip(plan.trials, errors, strict=False)
        if error
    }
    refused = pytest.raises(AssayError, match="the first 2 trials failed for the same reason.* It is: task 7 has no")
    with refused if ran < 3 else nullcontext():
        execute(plan, folder, lambda trial: scripted(scripts.get(trial.id, Script()))(trial), Watcher())
    assert len(folder.finished()) == ran


def test_a_run_that_varies_more_than_the_placement_goes_on(tmp_path):
    first, second = a_trial(1), a_trial(2, medium="memory")
    other = a_trial(3, medium="memory", workload="terasort")
    plan = a_plan(first, second, other)
    folder = a_folder(tmp_path / "run", plan)
    execute(plan, folder, scripted(Script(fail_at="run answer")), Watcher())
    assert len(folder.finished()) == 3


def test_a_medium_that_is_full_is_named_beside_the_reason(monkeypatch):
    space = namedtuple("Space", "total used free")(1 << 30, (1 << 30) - 4096, 4096)
    monkeypatch.setattr("shutil.disk_usage", lambda _: space)
    record = run_trial(a_trial(), fake_setup(Script(fail_at="stage"), a_trial()), Silent()).record
    assert record.error == "scripted failure; the medium 'disk' has only 4.0 KiB of 1.0 GiB left"


def test_a_failure_at_a_budget_of_the_page_cache_has_its_cause():
    use = LimitUse(interface="version 1", page_cache=CacheUse(budget_bytes=49 << 20))
    parts = TrialParts(a_trial())
    parts.limits = use
    error = parts.result("BlockMissingException: Could not obtain block: blk_1").record.error
    assert "the likely cause is the page cache's budget of 49.0 MiB" in error
    assert parts.result("no class Lz4").record.error == "no class Lz4"
    parts.limits = use.model_copy(update={"interface": "version 2"})
    assert parts.result("Could not obtain block: blk_1").record.error == "Could not obtain block: blk_1"


def test_a_trial_that_fails_when_a_login_has_ended_has_no_record_and_the_run_stops(tmp_path, monkeypatch):
    plan = a_plan(a_trial(1), a_trial(2, medium="memory"), a_trial(3, medium="other"))
    folder = a_folder(tmp_path / "run", plan)
    failing = Script(fail_at="run answer", fail_with=AssayError("no valid credentials"))
    login = iter([None, None, "the ticket has expired"])
    monkeypatch.setattr(FakePlatform, "blocking_problem", lambda _: next(login))
    with pytest.raises(AssayError, match=r"trial 0002-\S+ has no record: the ticket has expired; mend .* --resume"):
        execute(
            plan, folder, lambda trial: scripted(failing if trial is plan.trials[1] else Script())(trial), Watcher()
        )
    assert folder.finished() == {plan.trials[0].id}


def test_a_plan_that_does_not_fit_is_refused_before_anything_starts():
    script = Script()

    @contextmanager
    def small(trial):
        yield fake_setup(script, trial, free_bytes=1 << 20)

    with pytest.raises(BadInputError, match=r"medium 'disk' has 1\.0 MiB free, and about 300\.0 MiB are needed"):
        check_needs(a_plan(), small, Silent())
    assert script.log == ["check cluster", "prepare dataset"]


def test_a_medium_on_which_the_store_would_begin_no_block_is_refused_before_anything_starts():
    small = a_trial().model_copy(update={"settings": SettingsSpec(name="large", properties={"dfs.blocksize": "1g"})})

    @contextmanager
    def parts(trial):
        yield fake_setup(Script(), trial, free_bytes=1536 << 20)

    with pytest.raises(BadInputError, match=r"medium 'disk' has 1\.5 GiB free, and hdfs needs 2\.0 GiB there for any data: "
                       r"DataNodes begin a block .* \(dfs.blocksize, 1\.0 GiB\) .*; take a larger medium, or lower"):  # fmt: skip
        check_needs(a_plan(small), parts, Silent())
    check_needs(a_plan(), parts, Silent())


@pytest.mark.parametrize(("jobs_bytes", "twice"), [(250, 2), (160, 1.6), (100, 1)])
def test_a_store_s_input_and_an_output_as_large_need_the_room_and_the_memory_that_it_takes(
    monkeypatch, jobs_bytes, twice
):
    """Of the jobs' bytes 100 are input, in lines of 20, of which the store makes three times as many."""

    def three_times(properties, line_bytes):
        assert line_bytes == 20
        return 3.0

    monkeypatch.setattr(FakeInput, "size", lambda _: Amounts(bytes=100 << 20, lines=5 << 20))
    estimate = ResourceEstimate(disk_bytes=jobs_bytes << 20, memory_bytes=1, seconds=1)
    monkeypatch.setattr(FakeWorkload, "estimate", lambda _: estimate)
    plain = check_needs(a_plan(), scripted(Script()), Silent())
    kind = STORES["hdfs"]._replace(space_factor=three_times, memory_factor=lambda *_: 4.0)
    monkeypatch.setitem(STORES._kinds, "hdfs", kind)
    needed = check_needs(a_plan(), scripted(Script()), Silent())
    assert (needed.disk_bytes["disk"] - plain.disk_bytes["disk"]) / (200 << 20) == pytest.approx(twice, rel=0.01)
    assert (needed.memory_bytes - plain.memory_bytes) / (400 << 20) == pytest.approx(twice, rel=0.01)


def test_logs_of_requests_have_a_size_for_each_trial_that_keeps_one(monkeypatch):
    """15 bytes for each 96,000 that it writes and reads in each of its rounds."""

    def log_bytes(*keep, **estimate):
        jobs = ResourceEstimate(**{"disk_bytes": 1 << 30, "memory_bytes": 1, "seconds": 1, **estimate})
        monkeypatch.setattr(FakeWorkload, "estimate", lambda _: jobs)
        trials = [a_trial(number).model_copy(update={"keep_requests": kept}) for number, kept in enumerate(keep, 1)]
        return check_needs(a_plan(*trials), scripted(Script()), Silent()).request_log_bytes

    once = log_bytes(True)
    assert 2 * 15 * (1 << 30) / 96_000 < once < 2 * 15 * (3 << 30) / 96_000
    assert log_bytes(True, False, True) == pytest.approx(2 * once, abs=1)
    assert log_bytes(True, rounds=5) == pytest.approx(5 * once, abs=5)
    assert log_bytes(False) == 0
    assert log_bytes(True, known=False) is None


@pytest.mark.parametrize(("varied", "kinds"), [("store", STORES), ("engine", ENGINES)])
def test_trials_on_another_store_or_engine_are_checked_by_themselves(monkeypatch, varied, kinds):
    kind = next(iter(kinds.values()))
    monkeypatch.setitem(kinds._kinds, "other", kind)
    monkeypatch.setitem(kinds._places, "other", 2)
    script = Script()
    other = Trial.model_validate({**a_trial(2).model_dump(), varied: "other"})
    check_needs(a_plan(a_trial(), other), scripted(script), Silent())
    assert script.log.count("check cluster") == 2


def test_a_trial_that_can_not_be_is_refused_before_any_dataset_is_prepared():
    script = Script()

    def unknown_option():
        raise BadInputError("workload triangles has no option 'x'")

    @contextmanager
    def set_up(trial):
        setup = fake_setup(script, trial)
        yield setup._replace(workload=unknown_option) if trial.repetition == 2 else setup

    second = a_trial(2, repetition=2)
    second = second.model_copy(update={"workload": second.workload.model_copy(update={"options": {"x": "1"}})})
    with pytest.raises(BadInputError, match="no option 'x'"):
        check_needs(a_plan(a_trial(), second), set_up, Silent())
    assert "prepare dataset" not in script.log


def on_two_media(**shares):
    whole = Placement(name="both", input=shares, intermediate=shares, output=shares)
    media = tuple(MediumSpec(name=name, kind="directory") for name in shares)
    return a_trial().model_copy(update={"media": media, "placement": whole})


def test_media_on_one_disk_must_fit_there_together():
    @contextmanager
    def parts(trial):
        yield fake_setup(Script(), trial, free_bytes=200 << 20)

    # About 300 MiB in all: each half fits, both together don't.
    with pytest.raises(BadInputError, match=r"the media disk, ssd lie on one disk with 200\.0 MiB free"):
        check_needs(a_plan(on_two_media(disk=0.5, ssd=0.5)), parts, Silent())


def on_nodes(count):
    """On drives of which DataNodes leave nothing free."""
    trial, left_free = a_trial(), "dfs.datanode.round-robin-volume-choosing-policy.additional-available-space"
    settings = SettingsSpec(name="full", properties={left_free: "0"})
    cluster = trial.cluster.model_copy(update={"nodes": count})
    return trial.model_copy(update={"cluster": cluster, "settings": settings})


def test_the_drives_of_all_nodes_must_fit_on_their_disk_together():
    @contextmanager
    def small(trial):
        yield fake_setup(Script(), trial, free_bytes=400 << 20)

    check_needs(a_plan(on_nodes(1)), small, Silent())
    with pytest.raises(
        BadInputError, match=r"the media disk of 4 nodes lie on one disk with 400\.0 MiB free, .* 1\.2 GiB"
    ):
        check_needs(a_plan(on_nodes(4)), small, Silent())


def test_each_of_several_nodes_has_a_drive_and_the_disk_below_holds_all_of_them(monkeypatch):
    """A drive smaller than what all nodes need together is none too small for its own share."""
    monkeypatch.setattr(
        FakeMedium,
        "space",
        lambda _: Space(free_bytes=400 << 20, total_bytes=1 << 40, shared=1, shared_free_bytes=2 << 30),
    )
    needs = check_needs(a_plan(on_nodes(4)), scripted(Script()), Silent())
    assert needs.free_bytes == {"disk": 2 << 30}
    with pytest.raises(BadInputError, match=r"the media disk of 8 nodes lie on one disk with 2\.0 GiB free"):
        check_needs(a_plan(on_nodes(8)), scripted(Script()), Silent())


def test_a_task_takes_no_more_memory_than_its_container(monkeypatch):
    small = SettingsSpec(name="small", properties={
        "mapreduce.map.memory.mb": "256", "mapreduce.reduce.memory.mb": "256", "mapreduce.job.reduces": "40",
        "yarn.app.mapreduce.am.resource.mb": "256", "dfs.blocksize": "16m",
    })  # fmt: skip
    monkeypatch.setattr("assay.run.needs.available_memory_bytes", lambda: 64 << 30)
    trial = on_nodes(13)
    few = trial.model_copy(update={"cluster": trial.cluster.model_copy(update={"memory_mb": 768})})
    needs = check_needs(a_plan(few.model_copy(update={"settings": small})), scripted(Script()), Silent())
    daemons = stack_of().memory_bytes(13)
    # 39 containers of 256 MiB fit, and one is the master's.
    assert needs.memory_bytes == daemons + 38 * (256 << 20)


def test_more_nodes_than_the_memory_holds_are_refused(monkeypatch):
    """What the daemons of all of them take is said, and how many nodes would fit."""
    monkeypatch.setattr("assay.run.needs.available_memory_bytes", lambda: 8 << 30)
    check_needs(a_plan(on_nodes(4)), scripted(Script()), Silent())
    words = r"has 8\.0 GiB of memory available, .* take at most (\d+) nodes, a smaller"
    with pytest.raises(BadInputError, match=words) as refused:
        check_needs(a_plan(on_nodes(40)), scripted(Script()), Silent())
    most = int(re.search(words, str(refused.value))[1])
    assert most >= 4
    check_needs(a_plan(on_nodes(most)), scripted(Script()), Silent())
    with pytest.raises(BadInputError, match=f"take at most {most} nodes"):
        check_needs(a_plan(on_nodes(most + 1)), scripted(Script()), Silent())


def test_fractions_that_directories_can_not_meet_are_refused():
    with pytest.raises(BadInputError, match="the fractions of input can't be met by 20 directories, .* off by 8%"):
        check_needs(a_plan(on_two_media(a=0.01, b=0.01, c=0.98)), scripted(Script()), Silent())


def test_bytes_that_landed_elsewhere_are_doubted_or_fail_a_strict_trial():
    script = Script(landing={"disk": 0.9, "other": 0.1})
    record = run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).record
    assert record.outcome is Outcome.PASS
    assert [doubt.kind for doubt in record.doubts].count("placement-missed") == 3
    assert {(landed.role, landed.when) for landed in record.landed} == {
        ("input", "staged"), ("input", "run"), ("intermediate", "run"), ("output", "run"),
    }  # fmt: skip
    strict = a_trial().model_copy(update={"strict_placement": True})
    record = run_trial(strict, fake_setup(script, strict), Silent()).record
    assert record.outcome is Outcome.FAIL
    assert "of input 90 % on disk, 10 % on other landed where 100 % on disk was wanted (staged)" in (record.error or "")


def test_what_was_used_of_a_limit_is_recorded_and_processes_that_it_ended_are_doubted():
    script = Script(limit_use=LimitUse(memory_limit_bytes=1 << 32, memory_peak_bytes=1 << 31, out_of_memory_kills=2))
    record = run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).record
    assert record.limits == script.limit_use
    assert "out-of-memory" in [doubt.kind for doubt in record.doubts]


def test_what_an_emulated_drive_saw_is_kept_by_step_with_its_doubts():
    script = Script(device=True)
    record = run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).record
    assert record.outcome is Outcome.PASS
    assert list(record.reports_of("disk")[0]) == ["staging", "run", "write out", "collect"]
    assert [step.name for step in record.steps][5:7] == ["run", "write out"]
    assert "late" in [doubt.kind for doubt in record.doubts]
    assert script.log.count("write out") == 2


def test_a_drive_that_dies_is_the_reason_that_the_record_gives():
    script = Script(device=True, fail_at="run answer")
    record = run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).record
    assert record.status is Status.FAILED
    assert record.error == "the drive died"


def found(role, when, share, trouble=None):
    return Landed(
        role=role, when=when, bytes=int(share * (100 << 20)), shares={"disk": 1.0}, of_bytes=100 << 20, trouble=trouble
    )


def test_too_little_seen_is_doubted_or_fails_a_strict_trial():
    for landed in (found("intermediate", "run", 0.8), found("output", "run", 0.2, "the queue ran over")):
        refuse_elsewhere(a_trial(), [landed])
        (doubt,) = unseen(a_trial(), [landed], placed=False)
        assert doubt.kind == "landing-not-seen"
        strict = a_trial().model_copy(update={"strict_placement": True})
        with pytest.raises(AssayError, match=rf"of {landed.role} \d+ of 104857600 bytes were found \(run\)"):
            unseen(strict, [landed], placed=False)


@pytest.mark.parametrize(
    ("role", "when", "share"), [("input", "staged", 0.5), ("output", "run", 0.8), ("intermediate", "run", 0)]
)
def test_bytes_outside_of_the_media_fail_a_trial(role, when, share):
    with pytest.raises(AssayError, match=f"bytes of {role} lie in the folders of the media \\({when}\\), so"):
        refuse_elsewhere(a_trial(), [found(role, when, share)])


def test_a_trial_whose_bytes_lie_elsewhere_fails_before_its_jobs():
    script = Script(found_bytes=5)
    record = run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).record
    assert record.outcome is Outcome.FAIL
    assert "5 of 104857600 bytes of input lie in the folders of the media (staged)" in (record.error or "")
    assert "run answer" not in script.log


def test_a_role_that_nothing_watched_is_doubted_or_fails_a_strict_trial():
    script = Script(fail_at="attach probe")
    record = run_trial(a_trial(), fake_setup(script, a_trial()), Silent()).record
    (doubt,) = [doubt for doubt in record.doubts if doubt.kind == "landing-not-seen"]
    assert doubt.what == "disk: nothing saw where intermediate landed (run)"
    strict = a_trial().model_copy(update={"strict_placement": True})
    record = run_trial(strict, fake_setup(Script(fail_at="attach probe"), strict), Silent()).record
    assert record.outcome is Outcome.FAIL
    assert "nothing saw where intermediate landed (run)" in (record.error or "")


def test_what_probes_saw_is_kept_by_part_also_when_the_trial_fails_half_way():
    record = run_trial(a_trial(), fake_setup(Script(device=True), a_trial()), Silent()).record
    assert beats(record) == ["staging", "run", "write out", "collect"]
    script = Script(fail_at="run answer")
    record, _, samples, *_ = run_trial(a_trial(), fake_setup(script, a_trial()), Silent())
    assert record.status is Status.FAILED
    assert beats(record) == ["staging"]
    assert len(samples) >= 2
