"""Proves how the benchmark of engines judges its goals, that its turns are fair, and what its plain applications count."""

import sys
from contextlib import contextmanager

import pytest
from benchmarks import engines
from benchmarks.engines import (
    ALONE,
    CHAIN,
    LIBRARY,
    OPTIONS,
    PLAIN,
    Bench,
    Goal,
    Planned,
    Timing,
    Turn,
    Turns,
    Verdict,
    exit_code,
    goals,
    goals_table,
    judged,
    main,
    plain_program,
    times_table,
    timing_of,
)

from assay.cli.context import find_installation
from assay.model.doubt import Outcome
from assay.model.engine import JobReference, LaunchReport, Program
from assay.model.progress import Silent
from assay.model.registry import WORKLOADS
from assay.model.trial import Plan, WorkloadSpec
from assay_extras.testing.fake_hadoop import FakeEngine, FakeStore
from assay_extras.testing.fakes import FakeWorkload, Script, fake_setup
from tests.builders import a_trial

EDGES = {"components": 214_078, "triangles": 1_342_296}


def all_met():
    """Times that meet all goals."""
    times = {(workload, ALONE): [Timing(1.0, 7)] for workload in ("components", "triangles")}
    times |= {(workload, LIBRARY): [Timing(8.0, 7)] for workload in ("components", "triangles")}
    for engine, seconds in (("mapreduce", 19.0), ("tez", 12.0)):
        times |= {(workload, engine): [Timing(seconds, 7, 1, 10.0)] for workload in ("components", "triangles")}
        times[CHAIN, engine] = [Timing(30.0, 7, 3, 25.0, (0.2, 0.9), (3.0, 4.0))]
    for workload in OPTIONS:
        times |= {(workload, "spark"): [Timing(12.0)], (workload, PLAIN): [Timing(10.0)]}
    return times


def verdicts(times, edges=EDGES, engines=("mapreduce", "tez", "spark"), plain=tuple(OPTIONS)):
    return [judged(goal, times, edges) for goal in goals(engines, plain)]


def outcomes(*given, **named):
    return {(v.goal.workload, v.goal.by, v.goal.what): v.outcome for v in verdicts(*given, **named)}


def test_all_goals_are_judged_and_met():
    met = verdicts(all_met())
    assert {verdict.outcome for verdict in met} == {"pass"}
    assert len(met) == 4 + 4 + len(OPTIONS)
    assert exit_code(met) == 0


@pytest.mark.parametrize(
    ("key", "timing", "goal"),
    [
        (("triangles", "mapreduce"), Timing(20.1, jobs=1), ("triangles", "mapreduce", "seconds")),
        (("components", "tez"), Timing(12.1, jobs=1), ("components", "tez", "seconds")),
        (("components", "mapreduce"), Timing(19.0, jobs=4), ("components", "mapreduce", "jobs")),
        ((CHAIN, "tez"), Timing(30.0, jobs=3, to_submission_s=(0.1, 1.1)), (CHAIN, "tez", "gaps")),
        (("word-count", "spark"), Timing(12.1), ("word-count", "spark", "seconds")),
    ],
)
def test_a_goal_is_missed_alone(key, timing, goal):
    times = {**all_met(), key: [timing]}
    judgement = outcomes(times)
    assert [name for name, outcome in judgement.items() if outcome != "pass"] == [goal]
    assert judgement[goal] == "fail"
    assert exit_code(verdicts(times)) == 1


def test_seconds_are_medians_and_jobs_and_gaps_the_worst():
    times = all_met()
    times["components", "mapreduce"] = [Timing(s, jobs=jobs) for s, jobs in ((10.0, 1), (19.0, 4), (99.0, 1))]
    judgement = outcomes(times)
    assert judgement["components", "mapreduce", "seconds"] == "pass"
    assert judgement["components", "mapreduce", "jobs"] == "fail"


def test_goals_of_a_graph_are_not_judged_on_one_of_another_size():
    small = {**EDGES, "triangles": 214_078}
    judgement = outcomes(all_met(), small)
    other = {name for name, outcome in judgement.items() if outcome == "another graph"}
    assert other == {("triangles", engine, "seconds") for engine in ("mapreduce", "tez", "spark")}
    assert exit_code(verdicts(all_met(), small)) == 2


def test_what_is_not_here_is_said_and_is_no_success():
    there = ("mapreduce", ALONE)
    times = {key: timings for key, timings in all_met().items() if key[1] in there}
    judgement = outcomes(times)
    assert judgement["components", "tez", "seconds"] == "tez was not measured"
    assert judgement["k-means", "spark", "seconds"] == "spark was not measured"
    assert exit_code(verdicts(times)) == 2
    times = {key: timings for key, timings in all_met().items() if key[1] in {*there, "tez"}}
    assert outcomes(times)["components", "tez", "seconds"] == "GraphX was not measured"


def test_only_what_was_asked_for_is_judged():
    assert {goal.by for goal in goals(["tez"], tuple(OPTIONS))} == {"tez"}
    assert [goal.workload for goal in goals(["spark"], ["grep"])] == ["grep"]


def test_a_chain_without_gaps_proves_nothing():
    times = {**all_met(), (CHAIN, "tez"): [Timing(30.0, jobs=1)]}
    assert outcomes(times)[CHAIN, "tez", "gaps"] == "no gaps"
    assert exit_code(verdicts(times)) == 2


def test_a_failure_weighs_more_than_what_was_not_judged():
    goal = Goal("grep", "spark", "seconds", 1.2, PLAIN)
    assert exit_code([Verdict(goal, "", "fail"), Verdict(goal, "", "another graph")]) == 1


def test_tables_have_all_that_was_measured():
    table = times_table(all_met()).splitlines()
    assert len(table) == 2 + len(all_met())
    assert f"| {CHAIN} | tez | 30.0 | 3 | 25.0 | 0.6, 0.9 s | 3.5, 4.0 s |  |" in table
    assert "| grep | spark | 1.2 times as long as plain Spark | 1.20 times | pass |" in goals_table(verdicts(all_met()))


def test_a_turn_has_the_gaps_between_its_own_jobs(a_job):
    records = {job.id: job for job in (a_job("b", 5_500, 6_000, 9_000), a_job("a", 1_000, 2_000, 5_000))}
    turn = Turn("tez", 9.0, [JobReference(name=name, id=name) for name in "ab"], 7)
    assert timing_of(turn, records) == Timing(9.0, 7, 2, 6.0, (0.5,), (1.0,))


@pytest.fixture
def a_job():
    class Job:
        def __init__(self, name, submitted_ms, started_ms, finished_ms):
            self.id, self.submitted_ms, self.started_ms, self.finished_ms = name, submitted_ms, started_ms, finished_ms
            self.elapsed_s = (finished_ms - started_ms) / 1000

    return Job


@pytest.fixture
def turns():
    def run(plain_answer):
        script, trial = Script(), a_trial()
        store = FakeStore(script)

        class Engine(FakeEngine):
            ran = []

            def run(self, launch, progress):
                assert not list(store.lines("/fake/output"))
                self.ran.append(launch.command)
                return super().run(launch, progress)

            def run_program(self, program, progress):
                assert not list(store.lines("/fake/output"))
                self.ran.append(program.name)
                store.files["/fake/output"] = [plain_answer]
                return LaunchReport(jobs=(JobReference(name="plain", id="plain_1"),), result={})

        engine = Engine(script, trial, store)
        made = Turns(FakeWorkload(script, trial.workload), "spark", Program(name="plain", jar="/plain.jar"), 2)
        made.stage(store, engine, Silent())
        report = made.run(engine, Silent())
        return made, engine.ran, report, made.verify(store, report)

    return run


def test_turns_alternate_and_each_writes_an_output_of_its_own_that_is_verified(turns):
    made, ran, report, checks = turns(b"1")
    assert ran == ["answer", "plain", "plain", "answer"]
    assert [turn.by for turn in made.turns] == ["spark", PLAIN, PLAIN, "spark"]
    assert [check.outcome for check in checks] == [Outcome.PASS] * 4
    assert len(report.jobs) == 4


def test_a_wrong_output_of_the_plain_application_is_seen(turns):
    *_, checks = turns(b"2")
    assert [check.outcome for check in checks] == [Outcome.PASS, Outcome.FAIL, Outcome.FAIL, Outcome.PASS]


@pytest.fixture
def trial_on(monkeypatch, tmp_path):
    """The times and failures that a trial on a fake cluster leaves; the plain application writes nothing."""

    def run(engine, answer=1):
        script = Script(answer=answer)

        @contextmanager
        def opened(trial, installation):
            assert installation is None
            yield fake_setup(script, trial)._replace(workload=lambda: FakeWorkload(script, trial.workload))

        monkeypatch.setattr(engines, "open_trial", opened)
        monkeypatch.setattr(
            Bench, "__init__", lambda bench: vars(bench).update(_installation=None, _jar=tmp_path, failures=[])
        )
        plan, times = Plan(experiment="engines", description="", seed=1, trials=(a_trial(),)), {}
        bench = Bench()
        bench._trial(Planned("triangles", engine, plan), 2, times)
        return times, bench.failures

    return run


def test_a_trial_gives_a_time_for_each_of_its_rounds_with_its_jobs(trial_on):
    times, failures = trial_on("mapreduce")
    assert not failures
    ((key, timings),) = times.items()
    assert key == ("triangles", "mapreduce")
    assert [timing.jobs for timing in timings] == [1, 1]


@pytest.mark.parametrize(("engine", "answer"), [("mapreduce", 2), ("spark", 1)])
def test_a_trial_with_a_wrong_output_has_no_time_and_is_told(trial_on, engine, answer):
    times, (sentence,) = trial_on(engine, answer)
    assert not times
    assert sentence.startswith(f"triangles by {engine} failed: the answer is 1: ")


@pytest.mark.slow
def test_the_whole_plan_is_made_before_anything_is_measured(monkeypatch, tmp_path, capsys):
    graph = tmp_path / "graph.txt"
    graph.write_text("1 2\n2 3\n1 3\n")
    planned = []

    def measure(bench, rounds):
        assert rounds == 3
        planned.extend((entry.workload, entry.engine) for entry in bench._planned)
        return all_met()

    monkeypatch.setattr(Bench, "measure", measure)
    monkeypatch.setattr(sys, "argv", ["engines.py", *(f"--{name}={graph}" for name in ("components", "triangles"))])
    assert main() == 2
    assert {(name, "mapreduce") for name in ("components", "triangles", CHAIN)} <= set(planned)
    if (find_installation().parts / "spark" / "lib").is_dir():
        assert {(name, "spark") for name in OPTIONS} <= set(planned)
    assert capsys.readouterr().out.count("another graph") == 8


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in ("components", "triangles")])
def test_the_plain_application_gets_the_input_and_options_of_the_workload(name, tmp_path):
    variant = "rdd"
    workload = WORKLOADS[name](WorkloadSpec(name=name, variant=variant, options=OPTIONS[name]), "/base")
    program = plain_program(workload, tmp_path / "plain.jar")
    first, source, output, *more = program.arguments
    assert (first, output) == (name, "{store}/base/output")
    assert source == "{store}/base/input" + {"terasort": "/rows", "k-means": "/points"}.get(name, "")
    expected = {"grep": ["un[a-z]+"], "page-rank": ["5"], "k-means": ["{store}/base/input/centres", "5"]}
    assert more == expected.get(name, [])


@pytest.mark.slow
@pytest.mark.skipif(not (find_installation().parts / "spark" / "lib").is_dir(), reason="Spark is not here")
def test_graphx_in_one_process_counts_what_one_thread_counts(tmp_path):
    bench = Bench(find_installation(), tmp_path)
    bench.make_jar()
    graph = tmp_path / "graph.txt"
    graph.write_text("1 2\n2 3\n1 3\n3 4\n7 8\n")
    for workload, count in (("components", 2), ("triangles", 1)):
        assert bench.bring(workload, str(graph)) == 5
        assert bench.library(workload, 0).answer == bench.alone(workload).answer == count
