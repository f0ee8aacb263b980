"""Proves that a store and an engine from outside run their own daemons on two real nodes, bounded, watched and recorded.

Both are toys (tests/toys), copied as they are into a folder of plug-ins: nothing of Hadoop runs. What they leave is in
records, tables, the terminal and the page under their own names.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

import assay
from assay.host.processes import start_time
from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import Outcome
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.probe import CONTAINERS
from assay.model.progress import Silent
from assay.platform.distribution import find_distribution
from assay.platform.embedded import EmbeddedCluster, lacking_namespaces
from assay.platform.scene import build_scene
from assay.probe.processes import ProcessProbe
from assay.record.folder import RunFolder
from assay.report.analysis import read_tables
from assay.report.charts.paths import job_paths
from assay.stats.nodes import CONTROL, transfers
from assay.stats.timeline import running_tasks
from tests.it.driving import AS_ROOT, a_place, assay_command, wait_for
from tests.toys import plugged_in

pytestmark = [
    pytest.mark.it,
    AS_ROOT,
    pytest.mark.skipif(bool(lacking_namespaces()), reason="there can be no namespaces here"),
]
TOYS = Path(__file__).parents[1] / "toys"
LINES, LINE_BYTES, COPIES = 100_000, 80, 2
STORED_BYTES = COPIES * LINES * LINE_BYTES
MIB = 1 << 20
PLACEMENT = """\
placement:
  - {name: hdd, input: hdd, output: hdd, log: log-drive}
  - {name: ssd, input: ssd, output: ssd, log: log-drive}
"""
EXPERIMENT = f"""\
experiment: two-nodes
workloads: {{name: line-count, options: {{lines: {LINES}}}}}
media: {{hdd: directory, ssd: directory, log-drive: {{profile: samsung-840-evo-120gb, size: 1GiB}}}}
{PLACEMENT}store: key-value
replication: 2
engine: scanner
cluster: {{nodes: 2}}
memory: 512MiB
page_cache: 64MiB
cpus: 1
"""
WORKERS = {"worker-1", "worker-2"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A place whose plug-ins are the toys."""
    with a_place(tmp_path_factory.mktemp("toys")) as place:
        (place.home / "assay_extras").mkdir()
        for toy in ("store", "engine", "workload"):
            shutil.copy(TOYS / f"{toy}.py", place.home / "assay_extras" / f"toy_{toy}.py")
        place.environment["PYTHONPATH"] += f":{place.home}"
        yield place


@pytest.fixture(scope="module")
def said(place):
    """What a run of the toys printed; its records are in `run`."""
    return place.assay("run", place.experiment(EXPERIMENT), "--out", "run")


@pytest.fixture(scope="module")
def records(place, said):
    records = place.records("run")
    assert [record.error for record in records] == [None, None], said
    assert {record.outcome for record in records} == {Outcome.PASS}
    return records


def amounts(record, part="run", **which):
    """The amounts of a part of a trial by node, of one probe, subject and series."""
    return {
        amount.node: amount.value
        for amount in record.amounts
        if amount.part == part and all(getattr(amount, name) == value for name, value in which.items())
    }


def test_its_daemons_and_their_tasks_are_watched_on_each_node(records):
    for record in records:
        assert record.facts["nodes"] == 2
        assert amounts(record, probe="processes", subject="shard", series="user_s").keys() == WORKERS
        assert amounts(record, probe="processes", subject="scanner", series="user_s").keys() == WORKERS
        tasks = amounts(record, probe="processes", subject="containers", series="user_s")
        assert all(seconds > 0 for seconds in tasks.values())
        assert tasks.keys() == WORKERS


def test_they_run_within_the_bounds_of_their_node(records):
    for record in records:
        limits = record.limits
        assert limits.memory_limit_bytes == 512 * MIB
        assert 10 * MIB < limits.memory_peak_bytes <= 512 * MIB
        assert limits.cpus == 1
        assert limits.page_cache.budget_bytes == 64 * MIB


def test_bytes_land_where_the_placement_says(records):
    for record in records:
        (staged,) = [one for one in record.landed if one.when == "staged"]
        assert (staged.role, staged.bytes, staged.of_bytes) == ("input", STORED_BYTES, STORED_BYTES)
        assert staged.shares == {record.trial.placement.name: 1.0}
        (logged,) = [one for one in record.landed if one.role == "log"]
        assert logged.shares == {"log-drive": 1.0}
        assert STORED_BYTES < logged.bytes < STORED_BYTES + 100
        assert record.staged.guaranteed == "2 copies in a log that is synced"


def test_requests_are_put_down_to_the_role_of_their_directory(place, records):
    """The log grows in staging, and is no input all the same."""
    for record in records:
        assert list(record.trial.placement.roles) == ["input", "log", "output"]
        staged = {
            amount.subject: amount.value
            for amount in record.amounts
            if (amount.probe, amount.part, amount.series) == ("block-trace", "staging", "written_bytes")
        }
        assert sum(size for subject, size in staged.items() if subject.endswith("/log")) >= STORED_BYTES
        assert not [subject for subject in staged if "log-drive" in subject and subject.endswith(("/input", "/output"))]
    page = (place.home / "run" / "report.html").read_text()
    assert "log write" in page


def test_what_passes_between_nodes_goes_by_their_ports_and_has_their_services_name(place, records):
    for record in records:
        assert any("values" in amount.series for amount in record.amounts if amount.probe == "network")
        with plugged_in("store", "engine"):
            purposes = {purpose for transfer in transfers(record) for purpose in transfer.bytes}
        assert purposes - {CONTROL} == {"values put", "values got"}
    assert "values put" in (place.home / "run" / "report.html").read_text()


def test_a_workload_of_the_core_runs_on_it_in_the_variant_that_it_brings(place):
    text = EXPERIMENT.replace(f"{{name: line-count, options: {{lines: {LINES}}}}}", "degree-distribution")
    text += "datasets: {make: brightkite, scale: 0.05}\nprobes: none\n"
    said = place.assay("run", place.experiment(text), "--out", "degrees")
    records = place.records("degrees")
    assert {record.outcome for record in records} == {Outcome.PASS}, said
    assert {record.trial.workload.variant for record in records} == {"scanned"}
    page = (place.home / "degrees" / "report.html").read_text()
    for shown in ("scanner", "scan_2", "gather", "fold"):
        assert shown in page


def test_a_run_leaves_nothing(place, records):
    assert place.left_over() == []


def seen(phases, order=("scan", "gather", "fold", "write", "scan_2")):
    """Those that took a millisecond at least, in the engine's order; then that of the stage that the job made itself."""
    assert {"scan", "scan_2", "write"} <= {*phases}
    return [phase for phase in order if phase in phases]


def test_stages_and_phases_are_the_engines_own(place, records, said):
    """In its order they are in the tables, the timeline and the page; no others are."""
    folder, record = RunFolder(place.home / "run"), records[0]
    with plugged_in("store", "engine", "workload"):
        attempts = folder.attempts(record.trial)
        assert [attempt.stage for attempt in attempts] == ["scan", "scan_2", "merge", "write"]
        drawn = list(running_tasks(attempts))
        assert drawn == seen(drawn, ("scan", "scan_2", "gather", "fold", "write"))
        (path,) = job_paths(read_tables(folder, record))
        assert list(path.seconds) == ["waits and starts", *seen(path.seconds)]
        run = assay.load(str(folder.path))
        tables = (run.trials, run.jobs, run.tasks())
        assert {"scan_s", "scan_2_s", "gather_s", "fold_s", "write_s"} <= set(run.trials.column_names)
        assert {"scan_tasks", "scan_2_tasks", "merge_tasks", "write_tasks"} <= set(run.jobs.column_names)
        assert {"gathered_ms", "scanned_bytes"} <= set(run.tasks().column_names)
    for column in (column for table in tables for column in table.column_names):
        assert not column.startswith(("map", "reduce", "shuffle", "hdfs"))
    page = (folder.path / "report.html").read_text()
    for text in (said, page):
        assert "hdd" in text
        assert "ssd" in text
    reports = [page, *(place.assay("report", "run", "--format", form) for form in ("csv", "json"))]
    for report in reports:
        assert "key-value" in report
        assert "scanner" in report
    for head in ("scan (s)", "scan_2 (s)", "gather (s)", "fold (s)", "write (s)", "most scanned"):
        assert f">{head}</th>" in page
    for head in ("map (s)", "shuffle (s)", "reduce (s)", "spills", "most fetched"):
        assert f">{head}</th>" not in page


def test_an_engine_whose_service_needs_one_that_is_not_there_is_refused_before_anything_starts(place):
    store = place.home / "assay_extras" / "toy_store.py"
    whole = store.read_text()
    store.write_text(whole.replace("SERVICES.add(SERVICE.name, SERVICE)\n", ""))
    try:
        plain = place.experiment(EXPERIMENT.replace(PLACEMENT, ""))
        done = place.command(*assay_command("run", plain, "--out", "lacking"), code=2)
    finally:
        store.write_text(whole)
    assert "the store 'key-value' needs the service 'key-value', and nothing here brings it" in done.stderr
    assert not (place.home / "lacking").exists()


def test_what_an_engine_launches_is_bounded_watched_and_ended_with_the_cluster(place, tmp_path):
    spec = EmbeddedSpec(nodes=2, limit_memory_bytes=512 * MIB, limit_cpus=1, page_cache_bytes=64 * MIB)
    distribution = find_distribution(place.installation, os.environ)
    with plugged_in("store", "engine"):
        stack = stack_of("key-value", "scanner")
        cluster = EmbeddedCluster(distribution, spec, stack, place.installation.state, os.environ)
        layout = Layout.below(tmp_path, stack.roles, spec.workers)
        for directory in layout.paths:
            directory.mkdir(parents=True)
        with cluster.running(layout, {}, Silent()) as running:
            program = ["/bin/sh", "-c", "cat /proc/self/cgroup; hostname; echo $GREETING; exec sleep 60"]
            task = running.launch("worker-2", program, {"GREETING": "hello"})
            wait_for(lambda: "hello" in task.log.read_text())
            *groups, host, _ = task.log.read_text().splitlines()
            bounded = [line for line in groups if re.search(r":(.*\bmemory\b.*|):/.*assay-.*-worker-2$", line)]
            assert (len(bounded), host) == (1, "worker-2")
            (worker,) = (node.node for node in running.nodes if node.node.name == "worker-2")
            probe = ProcessProbe(worker, cores=1)
            probe.attach(build_scene(running, layout, (), stack.daemons).on(worker))
            assert probe._processes.members[task.pid].group == CONTAINERS
            probe.close()
        assert start_time(task.pid) is None
    assert place.left_over() == []
