"""Proves what the variants for Spark pass to its commands, and that their outputs are judged as strictly as others'."""

import random
import re
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from assay.engine.spark_variants import START_S
from assay.model.dataset import Graph, InputKind
from assay.model.doubt import Outcome, overall
from assay.model.engine import HADOOP_JOBS, JobReference, LaunchReport
from assay.model.errors import AssayError
from assay.model.installed import variants_of, variants_on, working_pairs
from assay.model.progress import Silent
from assay.model.registry import ENGINES, VARIANTS, WORKLOADS
from assay.model.trial import WorkloadSpec
from tests.workload.stored import GivenGraph, an_engine, judge, staged
from tests.workload.test_sort import sequence

MAIN = Path(__file__).parents[2] / "jobs/spark/src/main/java/org/assay/spark/Main.java"
ON_SPARK = [
    (name, variant) for name in WORKLOADS for variant in variants_on(name, ENGINES["spark"]) if name != "command"
]
TEN = {
    "word-count", "word-frequency", "sort", "terasort", "grep", "page-rank", "k-means", "components", "triangles",
    "mutual-friends",
}  # fmt: skip
# Two triangles with a common edge, and a vertex alone.
GRAPH = Graph(edges=np.array([[1, 2], [1, 3], [2, 3], [2, 4], [3, 4]], dtype=np.int64), lone=np.array([9]))


class SparkEngine:
    """Keeps what it is asked to run, and answers that it counted this."""

    def __init__(self, counted):
        self.launches, self._counted = [], counted

    def run(self, launch, progress):
        self.launches.append(launch)
        jobs = (JobReference(name=launch.command, id="application_1_0001"),)
        return LaunchReport(jobs=jobs, result=self._counted, settings={"spark.executor.cores": "2"})


def made(name, variant, hadoop=None, **options):
    kind = WORKLOADS[name]
    graph = (GivenGraph(GRAPH),) if kind.takes is InputKind.GRAPH else ()
    return kind(WorkloadSpec(name=name, variant=variant, options=options, hadoop=hadoop or {}), "/base", *graph)


def launched(name, variant, hadoop=None, counted=None, **options):
    engine = SparkEngine(counted or {})
    report = made(name, variant, hadoop, **options).run(engine, Silent())
    (launch,) = engine.launches
    return launch, report


def test_ten_workloads_have_variants_that_are_commands_of_the_jar():
    assert {name for name, _ in ON_SPARK} == TEN
    commands = set(re.findall(r'new Command\(\s*"([a-z-]+)"', MAIN.read_text(encoding="utf-8")))
    assert {VARIANTS[f"{name}/{variant}"].command for name, variant in ON_SPARK} == commands
    assert commands == {f"{name}-{variant}" for name, variant in ON_SPARK}


@pytest.mark.parametrize("name", sorted(TEN))
def test_a_workload_s_usual_variant_is_hadoop_s_and_its_data_may_lie_in_files_for_spark(name):
    assert next(iter(variants_of(name).values())).program == HADOOP_JOBS
    assert ("spark", "hdfs") in working_pairs(name)


def test_what_iterates_in_one_application_costs_its_iterations_and_one_start():
    few, many = (made("page-rank", "rdd", iterations=count).estimate().seconds for count in ("1", "41"))
    on_hadoop = made("page-rank", "tuned", iterations="41").estimate().seconds
    assert on_hadoop > many > few > START_S
    assert (many - START_S) == pytest.approx((few - START_S) * 42 / 2)


@pytest.mark.parametrize(("name", "variant"), ON_SPARK)
def test_a_command_gets_the_input_the_output_and_its_own_properties(name, variant):
    launch, report = launched(name, variant, {"dfs.replication": "2"})
    assert launch.command == f"{name}-{variant}"
    assert launch.input.startswith("/base/input")
    assert launch.output == "/base/output"
    assert launch.properties == {"dfs.replication": "2"}
    assert report.settings["spark.executor.cores"] == "2"


@pytest.mark.parametrize(("name", "variant", "given", "passed"), [
    ("word-count", "rdd", {"size": "1MB"}, ()),
    ("word-frequency", "dataframe", {"seed": "2"}, ()),
    ("grep", "dataframe", {"pattern": "a(b+)", "group": "1"}, ("--pattern=a(b+)", "--group=1")),
    ("page-rank", "rdd", {"iterations": "7"}, ("--damping=0.85", "--tolerance=1e-07", "--iterations=7")),
    ("components", "graphx", {}, ("--max-iterations=1000",)),
    ("triangles", "rdd", {}, ()),
])  # fmt: skip
def test_options_that_the_command_reads_are_passed_on(name, variant, given, passed):
    assert launched(name, variant, **given)[0].options == passed


def test_the_text_s_settings_are_reported_with_spark_s():
    _, report = launched("word-count", "rdd", size="1MB", files="2")
    assert report.settings["mapreduce.randomtextwriter.bytespermap"] == "500000"


def test_the_number_of_sorted_files_is_spark_s_number_of_partitions():
    assert launched("sort", "rdd", reducers="3")[0].properties == {"mapreduce.job.reduces": "3"}


def sorted_outcome(parts, **wrong):
    source = random.Random(4)
    pairs = [(source.randbytes(source.randrange(4)), b"v") for _ in range(60)]
    _, store = an_engine()
    store.contents = {"/base/input/part-m-00000": sequence(pairs)}
    ordered = sorted(pairs)
    store.contents |= {f"/base/output/part-r-{at:05d}": sequence(part) for at, part in enumerate(parts(ordered))}
    result = {"pairs_made": 60, "pairs_written": 60, "reducers": 2, **wrong}
    return overall(judge(made("sort", "rdd"), store, result))


def test_sorted_pairs_have_a_total_order():
    assert sorted_outcome(lambda pairs: (pairs[:30], pairs[30:])) is Outcome.PASS
    assert sorted_outcome(lambda pairs: (pairs[30:], pairs[:30])) is Outcome.FAIL
    assert sorted_outcome(lambda pairs: (pairs[:30], pairs[31:])) is Outcome.FAIL
    assert sorted_outcome(lambda pairs: (pairs[:30], pairs[30:]), pairs_written=59) is Outcome.FAIL
    assert sorted_outcome(lambda pairs: (pairs[:30], pairs[30:]), reducers=3) is Outcome.FAIL


def test_sorted_records_are_counted():
    source = random.Random(1)
    records = [source.randbytes(100) for _ in range(50)]
    _, store = an_engine()
    for counted, outcome in ((50, Outcome.PASS), (49, Outcome.FAIL)):
        workload = made("terasort", "rdd", size="5kB")
        workload.input.checksum = sum(map(crc32, records))
        engine = SparkEngine({"rows_written": counted})
        report = workload.run(engine, Silent())
        assert engine.launches[0].input == "/base/input/rows"
        assert report.settings["mapreduce.terasort.output.replication"] == "1"
        store.contents = {"/base/output/part-r-00000": b"".join(sorted(records))}
        assert overall(workload.verify(store, report)) is outcome


def graph_outcome(name, variant, lines, result):
    _, store = an_engine()
    store.contents = {"/base/output/part-r-00000": lines}
    return overall(judge(made(name, variant), store, result))


def test_triangles_are_one_number_and_graphx_counts_no_triads():
    result = {"triangles": 2, "vertices": 5, "edges": 5}
    assert graph_outcome("triangles", "graphx", b"2\n", result) is Outcome.PASS
    assert graph_outcome("triangles", "graphx", b"2\n", {**result, "edges": 6}) is Outcome.FAIL
    assert graph_outcome("triangles", "rdd", b"2\n", result) is Outcome.FAIL
    assert graph_outcome("triangles", "rdd", b"2\n", {**result, "wedges": 2}) is Outcome.PASS
    with pytest.raises(AssayError, match="should be one number"):
        graph_outcome("triangles", "rdd", b"1\n1\n", {**result, "wedges": 2})


def test_k_means_names_its_centres():
    workload = made("k-means", "rdd", points="20", k="2", attributes="3", unused="1", assign="true")
    engine, store = an_engine()
    staged(workload, engine, store)
    spark = SparkEngine({})
    workload.run(spark, Silent())
    assert spark.launches[0].input == "/base/input/points"
    assert spark.launches[0].options == (
        "--centres={store}/base/input/centres/centres.txt", "--numbered", "--iterations=100", "--attributes=3",
        "--assign",
    )  # fmt: skip
