"""Proves that every shipped experiment loads, and that the studies' are known by their names, in both sizes."""

import math
import re
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from assay.cli.context import vocabulary
from assay.input.points import GeneratedPoints
from assay.model.installed import stack_of
from assay.model.naming import size_of
from assay.model.trial import ZERO_DELAY
from assay.plan.settings import shipped_profiles
from assay_extras.studies.published import study_experiment
from assay_extras.studies.values import LEAST_PAIRS
from tests.builders import an_installation, make_plan

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "experiments"
REFERENCE = (ROOT / "docs" / "research" / "studies.md").read_text()
INSTALLATION = an_installation(ROOT, ROOT / ".assay")
EXPERIMENTS = sorted(FOLDER.rglob("*.yaml"))
MIB = 1 << 20
POINT_BYTES = 46
"""Of a line of ten attributes, on average."""
CONTAINERS = (
    "mapreduce.map.memory.mb", "mapreduce.reduce.memory.mb",
    "yarn.app.mapreduce.am.resource.mb", "yarn.scheduler.minimum-allocation-mb",
)  # fmt: skip
OFFERED = "yarn.nodemanager.resource.memory-mb"
ONE_MAP = {
    "containers-scaled", "customs-scaled", "single-sort-factor-scaled", "single-file-buffer-scaled",
    "single-file-buffer-512k-scaled",
}  # fmt: skip
PUBLISHED = ("thesis-", "hybrid-", "hpc-", "storage-")
STUDIES = [file for file in EXPERIMENTS if file.parent.name == "studies" and file.stem.startswith(PUBLISHED)]
STORES = [file for file in STUDIES if file.stem.endswith(("-one-node-scaled", "-four-nodes-scaled"))]
COLUMNS = FOLDER / "studies" / "storage-statement-c20-scaled.yaml"
CLUSTERS = [file for file in STUDIES if file.stem.startswith(("hpc-", "storage-")) and file not in (*STORES, COLUMNS)]
SCALED = [file for file in STUDIES if file.stem.endswith("-scaled")]
FULL = [file for file in STUDIES if file not in SCALED]


@cache
def the_plan(file):
    return make_plan(file, vocabulary(INSTALLATION))


@pytest.mark.parametrize("file", EXPERIMENTS, ids=lambda file: file.stem)
def test_it_loads(file):
    plan = the_plan(file)
    assert plan.trials
    for trial in plan.trials:
        stack_of().check(trial.cluster, trial.settings.properties)


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_a_studys_experiment_is_known_by_its_name(file):
    text = file.read_text()
    assert f"\nexperiment: {file.stem}\n" in text
    found = study_experiment(file.stem)
    assert found is not None
    assert found.scaled == file.stem.endswith("-scaled") == ("# Scaled:" in text)


def test_every_one_has_a_scaled_form():
    names = {file.stem for file in STUDIES}
    plain = {name for name in names if not name.endswith("-scaled")}
    assert {f"{name}-scaled" for name in plain} <= names
    assert len(plain) == 17 + 4 + 2


@pytest.mark.parametrize("file", [file for file in STUDIES if file.stem.startswith("thesis-t")], ids=lambda f: f.stem)
def test_settings_and_media_have_the_thesis_names(file):
    plan = the_plan(file)
    assert {trial.placement.name for trial in plan.trials} <= {"hdd", "ssd1", "ssd2", ZERO_DELAY}
    names = {trial.settings.name.removesuffix("-scaled") for trial in plan.trials}
    known = {"defaults", "containers", "customs", "single-sort-factor", "single-file-buffer"}
    assert names <= known | {"single-file-buffer-512k"}


@pytest.mark.parametrize("file", FULL, ids=lambda file: file.stem)
def test_a_full_size_one_has_repetitions_enough_for_ranks(file):
    plan = the_plan(file)
    assert max(trial.repetition for trial in plan.trials) == 5


@pytest.mark.parametrize("file", [file for file in FULL if file.stem.startswith("hybrid")], ids=lambda file: file.stem)
def test_the_hybrid_studys_own_size_runs_twelve_tasks_at_once_and_starts_reducers_early(file):
    trial = the_plan(file).trials[0]
    master_mb, task_mb = 2048, 1024  # Hadoop's own, rounded up to the smallest allocation
    assert (trial.cluster.memory_mb - master_mb) // task_mb == 12
    assert trial.settings.properties["mapreduce.map.speculative"] == "false"
    assert "mapreduce.job.reduce.slowstart.completedmaps" not in trial.settings.properties


def test_a_profile_that_several_experiments_use_is_shipped():
    named = [name for file in STUDIES for name in YAML(typ="safe").load(file.read_text()).get("profiles", {})]
    assert len(named) == len(set(named))
    assert not set(named) & set(shipped_profiles())


@pytest.mark.parametrize("file", SCALED, ids=lambda file: file.stem)
def test_a_scaled_one_has_enough_repetitions_to_tell_a_direction(file):
    plan = the_plan(file)
    assert max(trial.repetition for trial in plan.trials) >= LEAST_PAIRS
    line = next(
        line
        for line in REFERENCE.splitlines()
        if re.match(rf"\| `{file.stem.removesuffix('-scaled')}(-scaled)?` ", line)
    )
    trials, minutes = map(int, line.split("|")[-2].split(","))
    assert trials == len(plan.trials)
    assert minutes <= 45
    assert f"About {minutes}\n# minutes." in file.read_text() or f"About {minutes} minutes." in file.read_text()


@pytest.mark.parametrize("file", CLUSTERS, ids=lambda file: file.stem)
def test_a_clusters_experiment_has_the_studys_nodes_copies_and_networks(file):
    plan = the_plan(file)
    hpc, is_scaled = file.stem.startswith("hpc-"), file.stem.endswith("-scaled")
    parts = {medium.model_extra.get("slowdown", 1) for trial in plan.trials for medium in trial.media}
    for trial in plan.trials:
        assert len(trial.cluster.workers) + 1 in ({3, 5, 9, 13} if hpc else {11})
        assert trial.settings.properties["dfs.replication"] == "3"
        assert trial.cluster.dilation in ({"auto", 10} if is_scaled else {None})
        (link,) = trial.cluster.network.links()
        assert link.rate_bits_per_s * max(parts) in ({10**9, 16 * 10**9} if hpc else {10**9})
    assert len(parts) == 1
    assert is_scaled or parts == {1}
    if is_scaled:
        # As far as drives can be slowed down, with the dilation that two processors need.
        nodes = max(len(trial.cluster.workers) for trial in plan.trials) + 1
        assert max(parts) * math.ceil(nodes / 1.5) <= 100


@pytest.mark.parametrize("file", STORES, ids=lambda file: file.stem)
def test_a_comparison_of_stores_runs_at_full_speed_with_as_many_maps_in_each(file):
    plan = the_plan(file)
    stores = {trial.store.kind for trial in plan.trials}
    assert stores == ({"hdfs", "hbase", "hbase-to-hdfs"} if "-6.1-" in file.stem else {"hdfs", "hbase"})
    for trial in plan.trials:
        assert trial.cluster.dilation is None
        assert len(trial.cluster.workers) == (4 if "four" in file.stem else 0)
        options, properties = trial.workload.options, trial.settings.properties
        block = size_of(properties["dfs.blocksize"].upper().replace("M", "MiB"))
        file_bytes = POINT_BYTES * int(options.get("points", 0)) or size_of(options["size"]) / int(options["files"])
        maps = math.ceil(file_bytes / block) * int(options.get("files", 1))
        assert maps == int(properties["hbase.assay.regions"])


def test_points_with_unused_attributes_take_as_many_maps_and_their_lines_no_page_cache_holds():
    plan = the_plan(COLUMNS)
    sizes = set()
    for trial in plan.trials:
        options, properties = trial.workload.options, {**trial.settings.properties, **trial.workload.hadoop}
        points = GeneratedPoints(int(options["points"]), 10, 1, int(options.get("unused", 0)))
        size = points.size().bytes
        block = size_of(properties["dfs.blocksize"].upper().replace("M", "MiB"))
        split = min(block, int(properties.get("mapreduce.input.fileinputformat.split.maxsize", block)))
        assert math.ceil(size / split - 0.1) == int(properties["hbase.assay.regions"]) == 4
        assert (size > trial.cluster.page_cache_bytes) == ("unused" in options)
        assert properties["hbase.assay.columns"] == "used-apart"
        sizes.add((trial.store.kind, "unused" in options))
    assert len(sizes) == 4


@pytest.mark.parametrize(
    "file", [file for file in SCALED if file not in (*CLUSTERS, *STORES, COLUMNS)], ids=lambda file: file.stem
)
def test_a_scaled_one_keeps_two_tasks_at_once_and_one_map_with_containers(file):
    for trial in the_plan(file).trials:
        properties = trial.settings.properties
        map_mb, reduce_mb, master_mb, step_mb = (int(properties[name]) for name in CONTAINERS)
        offered_mb = int(properties.get(OFFERED, trial.cluster.limit_memory_bytes // MIB))
        maps, reduces = ((offered_mb - master_mb) // (-(-mb // step_mb) * step_mb) for mb in (map_mb, reduce_mb))
        maps = min(maps, int(properties.get("mapreduce.job.running.map.limit", maps)))
        if trial.workload.name != "testdfsio":
            assert (maps, reduces) == (1 if trial.settings.name in ONE_MAP else 2, 2)
