"""Proves that a workload is planned on an engine and a store that it runs on, and that any other pair is refused."""

import pytest

from assay.cli.workloads import experiment_text, workload_json
from assay.model.errors import BadInputError
from assay.model.installed import working_pairs
from assay.model.registry import VARIANTS, WORKLOADS
from tests.plan.test_make import WORDS, plan_of
from tests.toys import plugged_in

HEAD = "experiment: demo\ndatasets: {make: brightkite}\nmedia: {disk: directory}\n"
TOYS = WORDS._replace(
    workloads={"triangles": ("paper",), "line-count": ("plain", "scanned")}, own_input=["line-count"],
    levels={"store": ["hdfs", "key-value"], "engine": ["mapreduce", "scanner"]},
)  # fmt: skip


@pytest.fixture
def toys():
    with plugged_in("store", "engine", "workload"):
        yield


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("engine: scanner\n", "line 5: triangles does not run on the engine scanner with the store hdfs; "),
        ("store: key-value\n", "line 5: triangles does not run on the engine mapreduce with the store key-value; "),
        (
            "engine: [mapreduce, scanner]\n",
            "line 5: triangles does not run on the engine scanner with the store hdfs; ",
        ),
    ],
)
def test_a_pair_that_does_not_work_is_refused_with_those_that_do(toys, tmp_path, lines, message):
    with pytest.raises(BadInputError) as caught:
        plan_of(tmp_path, f"{HEAD}workloads: triangles\n{lines}", TOYS)
    assert str(caught.value).endswith(
        f"{message}it runs on mapreduce or spark or mapreduce-levitated with hdfs or hbase or hbase-to-hdfs or hdfs-to-hbase or cassandra or documents or redis, or "
        "on tez with hdfs; name such a pair, or `exclude` this one"
    )


@pytest.mark.parametrize("store", ["hbase", "hbase-to-hdfs", "hdfs-to-hbase"])
def test_tables_are_for_jobs_of_mapreduce(tmp_path, store):
    words = WORDS._replace(levels={"store": [store], "engine": ["tez"]})
    with pytest.raises(BadInputError, match=f"does not run on the engine tez with the store {store}; it runs on map"):
        plan_of(tmp_path, f"{HEAD}workloads: triangles\nengine: tez\nstore: {store}\n", words)


def test_a_workload_may_run_on_several_pairs_but_not_on_any_other(toys, tmp_path):
    text = "experiment: demo\nworkloads: line-count\nmedia: {disk: directory}\n"
    both = "engine: [mapreduce, scanner]\nstore: [hdfs, key-value]\n"
    with pytest.raises(BadInputError) as caught:
        plan_of(tmp_path, text + both, TOYS)
    assert (
        "it runs on mapreduce or mapreduce-levitated with hdfs or hbase or hbase-to-hdfs or hdfs-to-hbase or cassandra or documents or redis, or on tez with hdfs, "
        "or on scanner with key-value"
    ) in str(caught.value)
    plan = plan_of(tmp_path, f"{text}{both}zip: [engine, store]\n", TOYS)
    assert {(trial.engine, trial.store.kind) for trial in plan.trials} == {
        ("mapreduce", "hdfs"),
        ("scanner", "key-value"),
    }


def test_a_pair_may_be_left_out_by_hand(toys, tmp_path):
    left_out = "engine: [mapreduce, scanner]\nexclude: {engine: scanner}\n"
    plan = plan_of(tmp_path, f"{HEAD}workloads: triangles\n{left_out}", TOYS)
    assert {trial.engine for trial in plan.trials} == {"mapreduce"}


def test_what_nothing_runs_is_refused(toys, tmp_path, monkeypatch):
    dreamt = VARIANTS["line-count/plain"].model_copy(update={"program": "dreams"})
    monkeypatch.setitem(VARIANTS._kinds, "line-count/plain", dreamt)
    monkeypatch.delitem(VARIANTS._kinds, "line-count/scanned")
    with pytest.raises(BadInputError, match="line-count does not run on the engine mapreduce .*; nothing here runs it"):
        plan_of(tmp_path, "experiment: demo\nworkloads: line-count\nmedia: {disk: directory}\n", TOYS)


STORES_OF_LINES = ("hdfs", "hbase", "hbase-to-hdfs", "hdfs-to-hbase", "cassandra", "documents", "redis")


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_of_the_core_runs_on_its_engine_and_store(name):
    assert ("mapreduce", "hdfs") in working_pairs(name)


def test_a_shown_workload_tells_its_pairs_and_its_experiment_names_one_that_works(toys, tmp_path, monkeypatch):
    monkeypatch.delitem(VARIANTS._kinds, "line-count/plain")
    assert workload_json("line-count")["runs_on"] == [{"engine": "scanner", "store": "key-value"}]
    on_lines = [{"engine": "mapreduce", "store": store} for store in STORES_OF_LINES]
    on_lines.append({"engine": "tez", "store": "hdfs"})
    on_lines += [
        {"engine": engine, "store": store} for engine in ("spark", "mapreduce-levitated") for store in STORES_OF_LINES
    ]
    assert workload_json("triangles")["runs_on"] == on_lines
    (trial,) = plan_of(tmp_path, experiment_text("line-count"), TOYS).trials
    assert (trial.engine, trial.store.kind) == ("scanner", "key-value")


def test_a_placement_names_the_roles_of_its_stack(toys, tmp_path):
    """What it does not name follows another role; with one medium alone all roles are on it."""
    head = "experiment: demo\nworkloads: line-count\nmedia: {disk: directory, fast: memory}\n"
    on_toys = f"{head}engine: scanner\nstore: key-value\nplacement: "
    (trial,) = plan_of(tmp_path, f"{on_toys}fast\n", TOYS).trials
    assert trial.placement.roles == {role: {"fast": 1.0} for role in ("input", "log", "output")}
    (trial,) = plan_of(tmp_path, f"{on_toys}{{input: disk, output: fast}}\n", TOYS).trials
    assert trial.placement.of("log") == {"fast": 1.0}
    (trial,) = plan_of(tmp_path, f"{on_toys}{{input: disk, output: disk, log: fast}}\n", TOYS).trials
    assert (trial.placement.name, trial.placement.of("log")) == ("input-disk.log-fast.output-disk", {"fast": 1.0})
    with pytest.raises(BadInputError, match=r"line 6: placement lacks the role 'output' \(the values that"):
        plan_of(tmp_path, f"{on_toys}{{input: disk}}\n", TOYS)


def test_a_role_that_no_service_of_the_stack_has_is_refused_with_those_that_there_are(toys, tmp_path):
    head = f"{HEAD}workloads: triangles\n"
    placed = "placement: {input: disk, intermediate: disk, output: disk, log: disk}\n"
    with pytest.raises(BadInputError) as caught:
        plan_of(tmp_path, head + placed, TOYS)
    assert str(caught.value).endswith(
        "line 5: no service of hdfs with mapreduce has the role 'log'; possible are input, system, intermediate, output"
    )


def test_a_fault_may_name_a_stage_that_jobs_make_themselves(toys, tmp_path):
    text = "experiment: demo\nworkloads: line-count\nmedia: {disk: directory}\nengine: scanner\nstore: key-value\n"
    words = TOYS._replace(levels={**TOYS.levels, "nodes": ["2"], "network": ["none"]})
    (trial,) = plan_of(
        tmp_path, f"{text}cluster: {{nodes: 2}}\nfault: {{kill: scanner, on: 2, at: scan_2 50%}}\n", words
    ).trials
    assert trial.cluster.fault.at.stage == "scan_2"
