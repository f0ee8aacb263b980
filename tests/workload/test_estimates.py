"""Proves that every variant of every workload estimates what it needs, and that a cost is added up as it is declared."""

import pytest

from assay.input.catalogue import LikelyGraph, open_dataset
from assay.model.dataset import Amounts, DatasetSpec, GraphFacts, InputKind
from assay.model.errors import BadInputError
from assay.model.installed import variants_of
from assay.model.registry import WORKLOADS
from assay.model.trial import WorkloadSpec
from assay.model.workload import Cost
from tests.workload.stored import GivenGraph
from tests.workload.test_command import make_jar

FACTS = GraphFacts(nodes=1000, edges=5000, wedges=90_000, wedges_by_id=40_000, degree_squares=200_000)
VARIANTS = [(name, variant) for name in WORKLOADS for variant in variants_of(name)]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_every_variant_has_an_estimate(name, variant, tmp_path, monkeypatch):
    jar = make_jar(tmp_path / "job.jar", manifest="Main", classes=("Main",))
    if variant == "query":
        for folder, file in (("bin", "beeline"), ("lib", "hive-exec-4.1.0.jar")):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / file).touch()
        monkeypatch.setenv("HIVE_HOME", str(tmp_path))
        jar = jar.rename(tmp_path / "job.sql")
    options = {"jar": str(jar), "arguments": "{output}"} if name == "command" else {}
    spec = WorkloadSpec(name=name, variant=variant, options=options)
    estimate = WORKLOADS[name](spec, "/base", GivenGraph(facts=FACTS, staged_bytes=60_000)).estimate()
    assert estimate.seconds > 1
    assert estimate.rounds >= 1
    assert estimate.memory_bytes > 0
    assert estimate.disk_bytes > 0 or name == "command"


def test_what_iterates_moves_its_bytes_in_each_iteration():
    spec = WorkloadSpec(name="page-rank", variant="paper", options={"iterations": "7"})
    assert WORKLOADS["page-rank"](spec, "/base", GivenGraph(facts=FACTS, staged_bytes=60_000)).estimate().rounds >= 7


@pytest.mark.parametrize(("name", "variant"), [one for one in VARIANTS if WORKLOADS[one[0]].takes is InputKind.GRAPH])
def test_a_graph_s_time_is_known_before_it_is_made(name, variant, tmp_path_factory):
    spec = DatasetSpec(name="g", make="brightkite", scale=0.1)
    made = open_dataset(spec, tmp_path_factory.getbasetemp())
    of_made, likely = (
        WORKLOADS[name](WorkloadSpec(name=name, variant=variant), "/", graph).estimate().seconds
        for graph in (made, LikelyGraph(spec))
    )
    assert likely == pytest.approx(of_made, rel=0.15)


def test_nothing_is_known_of_a_file_before_it_is_read():
    with pytest.raises(BadInputError, match="is a file"):
        LikelyGraph(DatasetSpec(name="mine", file="/mine.txt"))


def test_a_cost_is_that_of_its_amounts():
    size = Amounts(bytes=100, edges=10)
    cost = Cost(
        jobs=3, start_s=2, seconds=Amounts(edges=0.5), disk_bytes=Amounts(bytes=2) + 3 * Amounts(edges=1),
        other_disk_bytes=Amounts(edges=1), memory_bytes=Amounts(edges=7), fixed_memory_bytes=1,
    )  # fmt: skip
    estimate = cost.estimate(size)
    assert (estimate.seconds, estimate.disk_bytes, estimate.memory_bytes) == (11, 230, 71)
    repeated = cost.model_copy(update={"iterated": True, "other_disk_bytes": Amounts(bytes=3)})
    assert (repeated.estimate(size).seconds, repeated.estimate(size, jobs=1).seconds) == (21, 7)
    assert repeated.estimate(size).disk_bytes == 300
