"""Proves which combinations an experiment has: lists of levels, zipped, excluded, swept, and their order."""

from collections import Counter
from itertools import pairwise, product

import pytest

from assay.model.errors import BadInputError
from assay.model.registry import ENGINES, STORES
from assay.plan.grid import only
from tests.plan.test_make import GOOD, WORDS, plan_of
from tests.toys import plugged_in

SORT = """\
experiment: demo
workloads: [triangles, components]
datasets: [{make: brightkite, name: small}, {make: brightkite, name: large}]
media: {hdd: directory, ssd: memory}
memory: [2GiB, 8GiB]
settings: [defaults, customs]
hadoop:
  mapreduce.task.io.sort.factor: [2, 4, 6]
  mapreduce.job.reduces: 2
"""
STREAMS = "mapreduce.task.io.sort.factor"


def levels(plan, *names):
    return [tuple(trial.factors[name] for name in names) for trial in plan.trials]


def test_a_list_of_levels_makes_a_property_a_factor(tmp_path):
    plan = plan_of(tmp_path, SORT)
    assert len(plan.trials) == 2 * 2 * 2 * 2 * 2 * 3
    assert Counter(levels(plan, STREAMS)) == {("2",): 32, ("4",): 32, ("6",): 32}
    assert all(trial.settings.properties[STREAMS] == trial.factors[STREAMS] for trial in plan.trials)
    assert {trial.settings.name for trial in plan.trials} == {"defaults", "customs"}
    assert all("mapreduce.job.reduces" not in trial.factors for trial in plan.trials)


@pytest.mark.parametrize(
    ("line", "levels"),
    [
        ("memory: [2GiB, 3072MiB]", ["2GiB", "3GiB"]), ("cpus: [1, 2.5]", ["1", "2.5"]), ("cache: [cold, warm]", ["cold", "warm"]),
        ("probes: [default, none]", ["default", "none"]), ("replication: [1, 2]", ["1", "2"]), ("settings: [stock, mine]\nprofiles: {mine: {inherits: customs}}", ["mine", "stock"]),
    ],
)  # fmt: skip
def test_any_list_is_a_factor(tmp_path, line, levels):
    name = line.partition(":")[0]
    text = GOOD.replace("settings: [defaults, customs]\n", "") + line + "\n"
    assert Counter(trial.factors[name] for trial in plan_of(tmp_path, text).trials) == dict.fromkeys(levels, 12)
    (left,) = {trial.factors[name] for trial in plan_of(tmp_path, text + f"exclude: {{{name}: {levels[0]}}}\n").trials}
    assert left == levels[1]


def test_a_list_of_one_level_is_no_factor(tmp_path):
    plan = plan_of(tmp_path, GOOD + "hadoop: {mapreduce.job.reduces: [2]}\n")
    assert {trial.settings.properties["mapreduce.job.reduces"] for trial in plan.trials} == {"2"}
    assert not any(trial.levels for trial in plan.trials)


OWN = """\
experiment: demo
workloads:
  - {name: triangles, hadoop: {mapreduce.job.reduces: [1, 2], io.file.buffer.size: 4096}}
  - components
datasets: {make: brightkite}
media: {disk: directory}
"""


def test_a_workloads_own_list_varies_that_workload_alone(tmp_path):
    plan = plan_of(tmp_path, OWN)
    assert sorted(levels(plan, "workload", "mapreduce.job.reduces", "options")) == [
        ("components", "default", ""),
        ("triangles", "1", "io.file.buffer.size=4096"),
        ("triangles", "2", "io.file.buffer.size=4096"),
    ]
    for trial in plan.trials:
        assert trial.workload.hadoop.get("mapreduce.job.reduces", "default") == trial.levels["mapreduce.job.reduces"]
        assert "mapreduce.job.reduces" not in trial.settings.properties


def test_a_workloads_own_value_wins_over_a_list_for_all(tmp_path):
    plan = plan_of(tmp_path, OWN.replace("[1, 2]", "7") + "hadoop: {mapreduce.job.reduces: [3, 4]}\n")
    assert sorted(levels(plan, "workload", "mapreduce.job.reduces")) == [
        ("components", "3"), ("components", "4"), ("triangles", "7"),
    ]  # fmt: skip
    assert {trial.workload.hadoop.get("mapreduce.job.reduces") for trial in plan.trials} == {"7", None}


def test_replication_is_a_factor_and_doubted_on_one_node(tmp_path):
    plan = plan_of(tmp_path, GOOD + "replication: [1, 2]\n")
    assert {(t.factors["replication"], t.settings.properties["dfs.replication"]) for t in plan.trials} == {
        ("1", "1"), ("2", "2"),
    }  # fmt: skip
    assert [doubt.kind for doubt in plan.doubts] == ["replication-unmet"]
    assert not plan_of(tmp_path, GOOD + "replication: 1\n").doubts
    assert plan_of(tmp_path, GOOD + "hadoop: {dfs.replication: 3}\n").doubts


def test_zipped_factors_go_together(tmp_path):
    plan = plan_of(tmp_path, SORT + "zip: [[datasets, memory], [settings, placement]]\n")
    assert set(levels(plan, "dataset", "memory")) == {("small", "2GiB"), ("large", "8GiB")}
    assert set(levels(plan, "settings", "placement")) == {("defaults", "hdd"), ("customs", "ssd")}
    assert len(plan.trials) == 2 * 2 * 2 * 3


def test_a_single_list_and_a_single_map_may_stand_alone(tmp_path):
    text = SORT + "zip: [datasets, memory]\nexclude: {settings: customs}\n"
    found = set(levels(plan_of(tmp_path, text), "dataset", "memory", "settings"))
    assert found == {("small", "2GiB", "defaults"), ("large", "8GiB", "defaults")}


def test_a_workload_can_be_zipped(tmp_path):
    plan = plan_of(tmp_path, SORT + "zip: [[workloads, datasets]]\n")
    assert set(levels(plan, "workload", "dataset")) == {("triangles", "small"), ("components", "large")}


def test_a_workload_without_dataset_runs_once_for_each_level_that_its_dataset_goes_with(tmp_path):
    text = SORT.replace("[triangles, components]", "[triangles, testdfsio]") + "zip: [[datasets, memory]]\n"
    found = Counter(levels(plan_of(tmp_path, text), "workload", "dataset", "memory"))
    assert found == {
        ("triangles", "small", "2GiB"): 12, ("triangles", "large", "8GiB"): 12,
        ("testdfsio", "none", "2GiB"): 12, ("testdfsio", "none", "8GiB"): 12,
    }  # fmt: skip


def test_excluded_combinations_are_left_out(tmp_path):
    text = SORT + "exclude:\n  - {settings: customs, placement: hdd}\n  - {memory: 2048MiB, dataset: [large]}\n"
    found = set(levels(plan_of(tmp_path, text), "settings", "placement", "dataset", "memory"))
    everything = set(product(["defaults", "customs"], ["hdd", "ssd"], ["small", "large"], ["2GiB", "8GiB"]))
    assert found == {
        one for one in everything if one[:2] != ("customs", "hdd") and one[2:] != ("large", "2GiB")
    }  # fmt: skip


SWEEP = SORT + f"design: one-at-a-time\nbase: {{settings: defaults, memory: 8GiB, {STREAMS}: 4, dataset: small}}\n"


def test_one_factor_is_changed_at_a_time(tmp_path):
    plan = plan_of(tmp_path, SWEEP)
    base = ("defaults", "8GiB", "4", "small")
    around = {base, ("customs", *base[1:]), ("defaults", "2GiB", "4", "small"), (*base[:3], "large")}
    around |= {("defaults", "8GiB", streams, "small") for streams in ("2", "6")}
    found = Counter(levels(plan, "settings", "memory", STREAMS, "dataset"))
    assert found == dict.fromkeys(around, 4)
    assert set(levels(plan, "workload", "placement")) == set(product(["triangles", "components"], ["hdd", "ssd"]))


def test_the_workload_may_be_what_is_changed(tmp_path):
    plan = plan_of(tmp_path, SWEEP.replace("base: {", "base: {workload: triangles, placement: hdd, "))
    assert len(plan.trials) == 1 + 1 + 1 + 1 + 1 + 1 + 2
    assert [trial.factors["settings"] for trial in plan.trials if trial.workload.name == "components"] == ["defaults"]


def test_zipped_factors_are_changed_together(tmp_path):
    plan = plan_of(
        tmp_path, SORT + "zip: [[datasets, memory]]\ndesign: one-at-a-time\nbase: {dataset: small, settings: customs}\n"
    )
    assert set(levels(plan, "dataset", "memory", "settings")) == {
        ("small", "2GiB", "customs"), ("large", "8GiB", "customs"), ("small", "2GiB", "defaults"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("zip: [[datasets, cache]]", "line 10: zip: factors that go together must have the same number of levels, and dataset has 2, cache has 1"),
        (f"zip: [[datasets, {STREAMS}]]", f"dataset has 2, {STREAMS} has 3"),
        ("zip: [[datasets, memroy]]", "line 10: unknown factor 'memroy'; did you mean 'memory'"),
        ("zip: [[datasets, memory], [settings, memory]]", "zip: memory can't go together with others twice"),
        ("zip: [[datasets]]", "line 10: zip is .'datasets'., and must be a list of 2 or more"), ("zip: datasets", "line 10: zip is"),
        ("exclude: [{setting: customs}]", "line 10: unknown factor 'setting'; did you mean 'settings'"),
        ("exclude: [{settings: custom}]", "line 10: settings has no level 'custom'; did you mean 'customs'"),
        ("exclude: [{workload: [triangles, components]}]", "line 10: exclude leaves no combination"),
        ("exclude: [{memory: 3GiB}]", "memory has no level '3GiB'; did you mean"),
        ("design: one-at-a-time", "line 10: `design: one-at-a-time` needs a base"),
        ("base: {settings: customs}", "line 10: base belongs to `design: one-at-a-time`"),
        ("design: one-at-a-time\nbase: {settings: stock}", "line 11: settings has no level 'stock'; possible are defaults, customs"),
        ("design: one-at-a-time\nbase: {seting: stock}", "line 11: unknown factor 'seting'; did you mean 'settings'"),
        ("design: one-at-a-time\nzip: [[datasets, memory]]\nbase: {dataset: small, memory: 8GiB}", "line 12: base: the levels dataset: small, memory: 8GiB don't occur together"),
        ("design: sweep", "design is 'sweep', and must be 'grid' or 'one-at-a-time'"),
        ("replication: 0", "replication"),
        ("replication: [2, 2]", "line 10: replication has '2' twice"),
        ("repetitions: 5000", "line 2: these are 480000 trials, more than 100000"),
        ("warm_up: -1", "line 10: warm_up is -1"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_design_is_said_with_its_line(tmp_path, line, words):
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, SORT + line + "\n")


def test_a_level_that_comes_twice_is_refused(tmp_path):
    with pytest.raises(BadInputError, match=f"line 8: {STREAMS} has '4' twice"):
        plan_of(tmp_path, SORT.replace("[2, 4, 6]", "[4, 2, 4]"))


def test_a_property_of_several_levels_is_reserved_all_the_same(tmp_path):
    with pytest.raises(BadInputError, match="dfs.datanode.data.dir can't be set"):
        plan_of(tmp_path, GOOD + "hadoop: {dfs.datanode.data.dir: [/a, /b]}\n")


def test_each_repetition_is_a_block_of_all_combinations(tmp_path):
    plan = plan_of(tmp_path, SORT + "repetitions: 3\n")
    size = len(plan.trials) // 3
    for number in range(3):
        block = plan.trials[number * size : (number + 1) * size]
        assert {trial.repetition for trial in block} == {number + 1}
        assert len({tuple(trial.factors.items()) for trial in block}) == size


@pytest.mark.parametrize("seed", range(10))
def test_levels_of_all_factors_are_spread_evenly_over_a_block(tmp_path, seed):
    """In each stretch of a block each level is about as frequent as in the whole: drift hits all levels alike."""
    plan = plan_of(tmp_path, SORT + f"seed: {seed}\n")
    for name in ("workload", "dataset", "settings", "memory", STREAMS):
        found = [trial.factors[name] for trial in plan.trials]
        counts = Counter(found)
        for end in range(0, len(found), 2):
            for level, count in counts.items():
                assert abs(found[:end].count(level) - end * count / len(found)) <= 3, (name, level, end)


def test_each_placement_begins_equally_often(tmp_path):
    plan = plan_of(tmp_path, SORT + "repetitions: 4\n")
    first = Counter()
    for one, other in list(pairwise(plan.trials))[::2]:
        others = {name: text for name, text in one.factors.items() if name != "placement"}
        assert others == {name: text for name, text in other.factors.items() if name != "placement"}
        first[tuple(others.values()), one.placement.name] += 1
    assert set(first.values()) == {2}


def test_warm_ups_come_first_and_are_marked(tmp_path):
    plan = plan_of(tmp_path, GOOD + "warm_up: 2\n")
    assert [trial.warm_up for trial in plan.trials] == [True] * 2 + [False] * 24
    assert [trial.repetition for trial in plan.trials[:3]] == [0, 0, 1]
    assert [trial.id[:4] for trial in plan.trials[:3]] == ["0001", "0002", "0003"]
    assert len({trial.id for trial in plan.trials}) == 26


def test_only_some_levels_keep_their_ids(tmp_path):
    plan = plan_of(tmp_path, SORT)
    some = only(plan, ["placement=ssd", "memory=2048MiB", f"{STREAMS}=2", f"{STREAMS}=4"])
    assert set(levels(some, "placement", "memory", STREAMS)) == {("ssd", "2GiB", "2"), ("ssd", "2GiB", "4")}
    assert all(trial in plan.trials for trial in some.trials)
    assert only(plan, []) == plan


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ssd", "--only ssd: say FACTOR=LEVEL, such as placement="),
        ("placment=ssd", "--only: unknown factor 'placment'; did you mean 'placement'"),
        ("placement=sdd", "--only: placement has no level 'sdd'; did you mean 'ssd'"),
    ],
)
def test_only_what_there_is(tmp_path, text, words):
    with pytest.raises(BadInputError, match=words):
        only(plan_of(tmp_path, SORT), [text])


def test_a_choice_that_nothing_meets_is_refused(tmp_path):
    plan = plan_of(tmp_path, SORT + "exclude: [{settings: customs, placement: hdd}]\n")
    with pytest.raises(BadInputError, match="no trial has all of --only settings=customs --only placement=hdd"):
        only(plan, ["settings=customs", "placement=hdd"])


def test_store_engine_nodes_and_network_are_factors(tmp_path):
    words = WORDS._replace(
        levels={
            "store": ["hdfs", "toy"],
            "engine": ["mapreduce", "toy"],
            "nodes": ["1", "3"],
            "network": ["none", "gigabit"],
        }
    )
    seams = "store: [hdfs, toy]\nengine: [mapreduce, toy]\ncluster: {nodes: [1, 3], network: [none, gigabit]}\n"
    with plugged_in():
        STORES.add("toy", STORES["hdfs"])
        ENGINES.add("toy", ENGINES["mapreduce"])
        plan = plan_of(tmp_path, GOOD + seams, words)
    seen = Counter(levels(plan, "store", "engine", "nodes", "network"))
    assert set(seen) == set(product(["hdfs", "toy"], ["mapreduce", "toy"], ["1", "3"], ["none", "gigabit"]))
    assert set(seen.values()) == {24}
    for trial in plan.trials:
        cluster = trial.cluster
        own = (str(trial.store), trial.engine, str(cluster.nodes), str(cluster.network))
        assert own == tuple(trial.factors[name] for name in ("store", "engine", "nodes", "network"))
    assert {trial.factors["nodes"] for trial in plan_of(tmp_path, GOOD).trials} == {"1"}


def test_nodes_can_be_zipped_swept_and_chosen(tmp_path):
    words = WORDS._replace(levels={"nodes": ["1", "3"], "network": ["none", "gigabit"]})
    seams = "cluster: {nodes: [1, 3], network: [none, gigabit]}\n"
    zipped = plan_of(tmp_path, GOOD + seams + "zip: [nodes, network]\n", words)
    assert set(levels(zipped, "nodes", "network")) == {("1", "none"), ("3", "gigabit")}
    swept = plan_of(tmp_path, GOOD + seams + "design: one-at-a-time\nbase: {nodes: 1, network: none}\n", words)
    assert set(levels(swept, "nodes", "network")) == {("1", "none"), ("3", "none"), ("1", "gigabit")}
    assert {trial.cluster.nodes for trial in only(swept, ["nodes=3"]).trials} == {3}
