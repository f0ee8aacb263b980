"""Proves that a platform of two nodes with another store and another engine runs a whole plan, in memory.

Both are toys that are added from outside (tests/toys). Each node is sampled by probes of its own.
"""

import io
from contextlib import contextmanager

import pytest
from rich.console import Console

import assay
from assay.cli.console import Output
from assay.cli.context import vocabulary
from assay.cli.report import report_run
from assay.model.doubt import Outcome
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.probe import Evaluation
from assay.model.progress import Silent
from assay.model.record import Amount, Sample
from assay.probe.cpu import STAT, TICKS_PER_S, CpuProbe
from assay.record.folder import RunFolder
from assay.report.analysis import read_tables
from assay.report.charts.paths import job_paths
from assay.run import check_needs, execute
from assay.stats.timeline import running_tasks
from assay_extras.testing.fakes import FakeNode, FakeProbe, Script, fake_setup
from tests.builders import make_plan
from tests.toys import plugged_in

EXPERIMENT = """\
experiment: two-nodes
workloads: line-count
media: {hdd: directory, ssd: directory}
store: key-value
engine: scanner
cluster: {nodes: 2}
repetitions: 2
"""


class Display(Silent):
    def trial_begins(self, trial, number, total):
        pass

    def trial_ends(self, record):
        pass


class BusyNode(FakeNode):
    """A node whose processors work for some seconds as soon as anything is started on it."""

    def __init__(self, script, name, seconds):
        super().__init__(script, name)
        self._seconds = seconds
        self.files[STAT] = "cpu 0 0 0 900 0 0 0 0 0 0"

    def start(self, command, environment, log):
        self.files[STAT] = f"cpu {self._seconds * TICKS_PER_S} 0 0 900 0 0 0 0 0 0"
        return super().start(command, environment, log)


class LateProbe(FakeProbe):
    """Knows all of its figures at the end only, and not on which node it is."""

    name = "late"

    def evaluate(self):
        samples = [Sample(probe=self.name, series="seen_count", time_ms=time_ms, value=1.0) for time_ms in (1, 2)]
        amount = Amount(probe=self.name, subject="machine", series="seen_count", part="run", value=2.0)
        return Evaluation(samples=samples, amounts=[amount])


@pytest.fixture
def words(tmp_path):
    known = vocabulary(Installation(root=tmp_path, parts=tmp_path, jobs_jar=tmp_path, cache=tmp_path, state=tmp_path))
    return known._replace(levels={**known.levels, "nodes": ["1", "2"]})


@pytest.fixture
def experiment(tmp_path):
    (tmp_path / "two-nodes.yaml").write_text(EXPERIMENT)
    return tmp_path / "two-nodes.yaml"


@pytest.fixture
def toys():
    with plugged_in("store", "engine", "workload"):
        yield


def test_without_the_toys_their_names_are_refused(experiment, words):
    experiment.write_text(EXPERIMENT.replace("line-count", "terasort"))
    with pytest.raises(BadInputError, match="store has no level 'key-value'"):
        make_plan(experiment, words)


def test_plan_lifecycle_record_and_report(toys, experiment, words, tmp_path):
    plan = make_plan(experiment, words._replace(levels={**words.levels, "store": ["key-value"], "engine": ["scanner"]}))
    assert {(one.store, one.engine, one.cluster.nodes) for one in plan.trials} == {("key-value", "scanner", 2)}
    script = Script()

    @contextmanager
    def set_up(trial):
        setup = fake_setup(script, trial, nodes=2, registered=True)
        setup.platform.nodes = [BusyNode(script, f"node-{seconds}", seconds) for seconds in (1, 2)]
        late = LateProbe(script, trial, sees_writes=False)
        yield setup._replace(probes=lambda context: (CpuProbe(context.node), late, *setup.probes(context)))

    check_needs(plan, set_up, Silent())
    folder = RunFolder(tmp_path / "run")
    folder.create(plan)
    execute(plan, folder, set_up, Display())
    records, damaged = folder.records()
    assert not damaged
    assert [record.error for record in records] == [None] * len(plan.trials) == [None] * 4
    assert {record.outcome for record in records} == {Outcome.PASS}
    assert script.log.count("start answer on node-1") == script.log.count("start answer on node-2") == 4
    for record in records:
        assert record.facts["nodes"] == "2"
        for probe in ("fake", "late"):
            assert {one.node for one in record.amounts if one.probe == probe} == {"node-1", "node-2"}
        assert folder.series(record.trial.id)["late", "seen_count"].values == [1.0, 1.0], "those of the first node"
        busy = {one.node: one.value for one in record.amounts if (one.series, one.part) == ("user_s", "run")}
        assert busy == {"node-1": 1.0, "node-2": 2.0}, "each node's own processors"
        assert [(one.role, one.shares) for one in record.landed if one.when == "staged"] == [
            ("input", {record.trial.placement.name: 1.0})
        ]
        (job,) = record.jobs
        assert (job.name, job.elapsed_s) == ("answer", 1.0)
        seen = folder.path / "trials" / record.trial.id
        assert {"record.json", "tasks.parquet", "samples.parquet"} <= {file.name for file in seen.iterdir()}
    said = io.StringIO()
    assert report_run(folder.path, Output.on(Console(file=said, width=200))) == 0
    page = (folder.path / "report.html").read_text()
    for text in (said.getvalue(), page):
        assert "hdd" in text
        assert "ssd" in text
    assert "key-value" in page
    assert "scanner" in page
    check_stages(folder, records[0], page)


def check_stages(folder, record, page):
    """The engine's own stages and phases, in its order, are in the tables, the timeline and the page; no others are."""
    attempts = folder.attempts(record.trial)
    assert [one.stage for one in attempts] == ["scan", "scan", "merge", "write"]
    assert list(running_tasks(attempts)) == ["scan", "gather", "fold", "write"]
    (path,) = job_paths(read_tables(folder, record))
    known = {"waits and starts": 0.006, "scan": 0.494, "gather": 0.1, "fold": 0.2, "write": 0.2}
    assert {name: pytest.approx(seconds) for name, seconds in path.seconds.items()} == known
    run = assay.load(str(folder.path))
    assert {"scan_s", "gather_s", "fold_s", "write_s"} <= set(run.trials.column_names)
    assert {"scan_tasks", "merge_tasks", "write_tasks"} <= set(run.jobs.column_names)
    assert {"gathered_ms", "scanned_bytes"} <= set(run.tasks().column_names)
    for column in (*run.trials.column_names, *run.jobs.column_names, *run.tasks().column_names):
        assert not column.startswith(("map", "reduce", "shuffle", "hdfs"))
    for head in ("scan (s)", "gather (s)", "fold (s)", "write (s)", "most scanned"):
        assert f">{head}</th>" in page
    for head in ("map (s)", "shuffle (s)", "reduce (s)", "spills", "most fetched"):
        assert f">{head}</th>" not in page
