"""Proves that an engine's file is read with every mistake said, and that its commands can't fail, hang or litter unseen."""

import json
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from assay.cli.context import find_installation, vocabulary
from assay.engine import external
from assay.engine.engine_file import EngineFile
from assay.engine.external import External, register
from assay.model.cluster import EmbeddedSpec
from assay.model.engine import EngineContext, Launch
from assay.model.errors import AssayError, BadInputError
from assay.model.registry import ENGINES, SERVICES, VARIANTS
from assay.model.running_cluster import ClusterNode, DaemonFacts, RunningCluster
from assay_extras.testing.fake_hadoop import FakeStore, Script
from tests.plan.test_make import GOOD, WORDS, plan_of

SHIPPED = sorted((Path(__file__).parents[2] / "engines").glob("*.yaml"))
HEAD = "engine: mine\nabout: of this site\n"
SORT = "commands: {sort-lines: 'sort {input} > {output}'}\n"


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """No test's engine is left in the registries."""
    for registry in (ENGINES, SERVICES, VARIANTS):
        monkeypatch.setattr(registry, "_kinds", dict(registry._read()))
    monkeypatch.setattr(external, "_REGISTERED", {})


def written(folder, text):
    file = folder / "mine.yaml"
    file.write_text(text)
    return file


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_a_shipped_file_makes_an_engine_whose_workloads_can_be_planned(tmp_path, file):
    name = register(file)
    assert register(file) == name  # reading an experiment again is no mistake
    workload = next(variant for variant in VARIANTS if variant.endswith(f"/{name}")).partition("/")[0]
    text = f"experiment: demo\nworkloads: {workload}\nmedia: {{disk: directory}}\nengine: {file}\n"
    plan = plan_of(tmp_path, text, vocabulary(find_installation()))
    assert {(trial.engine, trial.workload.variant) for trial in plan.trials} == {(name, name)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD, "commands"),
        (f"{HEAD}commands: {{}}\n", "line 3: commands is empty"),
        (
            f"{HEAD}commands: {{sort-line: 'sort {{input}} > {{output}}'}}\n",
            "line 3: .*commands can't have 'sort-line': did",
        ),
        (f"{HEAD}commands: {{sort-lines: 'sort {{inputs}} > {{output}}'}}\n", "line 3: .*has {inputs}"),
        (f"{HEAD}commands: {{sort-lines: 'sort {{input}}'}}\n", "line 3: .*lacks {output}, which is where"),
        (f"{HEAD}{SORT}phases: '(phase'\n", "line 4: .*phases is no regular expression"),
        (f"{HEAD}{SORT}phases: 'phase'\n", r"line 4: .*must have a group \(\?P<phase>"),
        (f"{HEAD}{SORT}jobs: spark\n", "line 4: .*jobs"),
        (f"{HEAD}{SORT}limit_s: 0\n", "line 4: .*limit_s is 0, and must be above 0"),
        (f"{HEAD}{SORT}properties: {{a.b: 1}}\n", "the command of sort-lines lacks {properties}, by which"),
        (f"{HEAD}{SORT}comands: 1\n", "line 4: .*comands"),
        (f"engine: mapreduce\nabout: x\n{SORT}", "there is an engine or service mapreduce already"),
        (f"engine: My Engine\nabout: x\n{SORT}", "line 1: .*and must be made of letters"),
    ],
)
def test_a_mistake_in_a_file_is_said_with_its_line(tmp_path, text, message):
    with pytest.raises(BadInputError, match=message):
        register(written(tmp_path, text))


def test_an_experiment_says_where_it_names_a_file_that_is_not_there(tmp_path):
    with pytest.raises(BadInputError, match=r"line \d+: .*missing\.yaml"):
        plan_of(tmp_path, f"{GOOD}engine: missing.yaml\n", WORDS)


def test_a_workload_without_a_command_is_refused(tmp_path):
    file = written(tmp_path, HEAD + SORT)
    with pytest.raises(BadInputError, match="does not run on the engine mine"):
        plan_of(tmp_path, f"{GOOD}engine: {file}\n", WORDS)


class LocalStore(FakeStore):
    """Whose paths are those of this machine."""

    def location(self, path):
        return path


def engine(folder, command, **more):
    file = EngineFile(engine="mine", about="", commands={"sort-lines": command}, **more)
    launcher = DaemonFacts(role="launcher", pid=1, log=folder / "launcher.log")

    def launch(node, command, environment):
        assert node == "worker"
        log = folder / "launched.log"
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log.open("wb"), stderr=subprocess.STDOUT, env=environment,
            start_new_session=True,
        )  # fmt: skip
        process.log = log
        return process

    cluster = RunningCluster(
        Path("/hadoop"), folder, "3", {"historyserver": "http://127.0.0.1:9"}, environment={"PATH": "/usr/bin:/bin"},
        properties={"mapreduce.cluster.local.dir": f"{folder}/local,/elsewhere"}, launch=launch,
        nodes=(ClusterNode(SimpleNamespace(name="master")), ClusterNode(SimpleNamespace(name="worker"), (launcher,))),
    )  # fmt: skip
    store = LocalStore(Script())
    store.contents = {"/output/part": b"b\n"}
    scratch = folder / "scratch"
    scratch.mkdir()
    return External(file, EngineContext(cluster, EmbeddedSpec(), store, Path("/jobs.jar"), scratch, lambda: None))


class Quiet:
    def detail(self, text):
        """Say nothing."""


def run(made, output="/output", options=()):
    return made.run(Launch(command="sort-lines", input="/in put", output=output, options=options), Quiet())


def test_a_command_gets_its_places_quoted_and_tells_its_version_and_phases(tmp_path):
    text = (
        "echo phase one; echo {input} {options} > {work}/said; cat {work}/said; sleep 0.2; echo phase two; : {output}"
    )
    made = engine(tmp_path, text, phases="phase (?P<phase>one|two)", version="echo 1.5; echo more")
    report = run(made, options=("--k=5", "--a=b c"))
    assert report.settings == {"engine.version": "1.5"}
    assert not report.counts
    (job,) = report.jobs
    record = made.history(job).job
    assert list(record.phases) == ["one", "two"]
    assert record.phases["one"] >= 0.15
    assert record.finished_ms > record.started_ms
    assert (tmp_path / "local" / "launch-1-files" / "said").read_text() == "/in put --k=5 --a=b c\n"


@pytest.mark.parametrize(
    ("command", "output", "message"),
    [
        ("echo no such table >&2; exit 3; {output}", "/output", "sort-lines by mine failed with code 3: no such table"),
        ("false | true; : {output}", "/output", "failed with code 1"),
        (": {output}", "/nowhere", "ended with code 0 and wrote nothing to /nowhere"),
        ("read -r answer; : {output}", "/output", "failed with code 1"),
        (
            "setsid sleep 60 & : {output}",
            "/output",
            r"left 1 processes, which were ended: .+ \(\d+\); let the command",
        ),
    ],
)
def test_a_command_that_fails_asks_or_litters_fails_the_trial(tmp_path, command, output, message):
    with pytest.raises(AssayError, match=message):
        run(engine(tmp_path, command), output)


def test_what_a_command_says_that_it_counted_is_its_result(tmp_path):
    report = run(engine(tmp_path, """echo 'assay-result {"lines_read": 3, "change": 1e-3}'; : {output}"""))
    assert (report.result, report.counts) == ({"lines_read": 3, "change": 0.001}, True)


@pytest.mark.parametrize("told", ["{", "[1]", '{"a": "b"}'])
def test_a_result_that_is_none_fails(tmp_path, told):
    with pytest.raises(AssayError, match="told its result in a line that is no map of numbers"):
        run(engine(tmp_path, f"echo 'assay-result {told}'; : {{output}}"))


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path):
    begun = time.monotonic()
    with pytest.raises(AssayError, match=r"it took longer than limit_s, 1 s"):
        run(engine(tmp_path, "sleep 60 & sleep 60; : {output}", limit_s=1))
    assert time.monotonic() - begun < 20


def test_a_version_that_can_t_be_asked_for_is_said(tmp_path):
    with pytest.raises(AssayError, match="the version of mine can't be asked for"):
        engine(tmp_path, ": {output}", version="exit 2")


def test_a_file_that_nobody_tried_is_doubted(tmp_path):
    made = engine(tmp_path, ": {output}", not_run_here=True)
    (doubt,) = made.history(run(made).jobs[0]).doubts
    assert doubt.kind == "engine-file-untried"
    assert json.loads(doubt.model_dump_json())["what"]
