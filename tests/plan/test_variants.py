"""Proves that a workload runs on each engine in a variant that is written for it, and that such engines are compared."""

import pytest

from assay.cli.workloads import workload_json
from assay.model.errors import BadInputError
from assay.model.registry import VARIANTS, WORKLOADS
from assay.model.trial import StoreSpec
from assay.stats.comparison import compare
from assay.stats.sample import samples
from tests.builders import a_record, summaries
from tests.plan.test_make import WORDS, plan_of
from tests.toys import plugged_in

TEXT = "experiment: demo\nmedia: {disk: directory}\nrepetitions: 3\nworkloads: "
BOTH = "engine: [mapreduce, scanner]\nstore: [hdfs, key-value]\nzip: [engine, store]\n"
TOYS = WORDS._replace(
    workloads={"line-count": ("plain", "quick", "scanned", "swept")}, own_input=["line-count"],
    levels={"store": ["hdfs", "key-value"], "engine": ["mapreduce", "tez", "scanner"]},
)  # fmt: skip


@pytest.fixture(autouse=True)
def toys():
    """Counting lines has two variants of Hadoop's jobs, and two that the scanner runs."""
    with plugged_in("store", "engine", "workload"):
        VARIANTS.add("line-count/quick", VARIANTS["line-count/plain"])
        VARIANTS.add("line-count/swept", VARIANTS["line-count/scanned"])
        yield


def test_each_engine_gets_the_first_variant_that_is_written_for_it(tmp_path):
    trials = plan_of(tmp_path, f"{TEXT}line-count\n{BOTH}", TOYS).trials
    assert {(trial.engine, trial.workload.variant) for trial in trials} == {
        ("mapreduce", "plain"),
        ("scanner", "scanned"),
    }
    assert {trial.factors["variant"] for trial in trials} == {"plain/scanned"}


def test_so_do_the_workloads_of_a_mix(tmp_path):
    mix = "\n  - together: [line-count, {name: line-count, options: {lines: 8}}]\n"
    trials = plan_of(tmp_path, f"{TEXT}{mix}{BOTH}", TOYS).trials
    variants = {(trial.engine, tuple(spec.variant for spec in trial.workload.each)) for trial in trials}
    assert variants == {("mapreduce", ("plain", "plain")), ("scanner", ("scanned", "scanned"))}


@pytest.mark.parametrize("lines", ["engine: scanner\nstore: key-value\n", "engine: [mapreduce, tez]\n"])
def test_where_all_engines_run_the_same_variant_it_is_the_level(tmp_path, lines):
    trials = plan_of(tmp_path, f"{TEXT}line-count\n{lines}", TOYS).trials
    assert {trial.factors["variant"] for trial in trials} == {trials[0].workload.variant}
    assert "variants" not in trials[0].workload.model_dump()


def test_engines_whose_variants_nobody_named_have_pairs(tmp_path):
    trials = plan_of(tmp_path, f"{TEXT}line-count\n{BOTH}", TOYS).trials
    seconds = {"mapreduce": 20.0, "scanner": 10.0}
    on_one_store = [trial.model_copy(update={"store": StoreSpec(kind="hdfs")}) for trial in trials]
    records = [a_record(trial, seconds[trial.engine] + trial.repetition / 100) for trial in on_one_store]
    (comparison,) = compare(samples(summaries(records)))
    assert (comparison.factor, comparison.base, comparison.level, comparison.pairs) == (
        "engine", "mapreduce", "scanner", 3,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("variant", "engine", "others"),
    [("plain", "scanner", "scanned or swept"), ("swept", "mapreduce", "plain or quick")],
)
def test_a_named_variant_that_the_engine_does_not_run_is_refused(tmp_path, variant, engine, others):
    with pytest.raises(BadInputError) as caught:
        plan_of(tmp_path, f"{TEXT}{{name: line-count, variant: {variant}}}\n{BOTH}", TOYS)
    assert str(caught.value).endswith(
        f"line 4: the variant {variant} of line-count does not run on the engine {engine}, which runs {others}; name "
        "such a variant or none, or `exclude` this engine for it"
    )


def test_a_variant_is_named_for_each_engine(tmp_path):
    entry = "[{name: line-count, variant: {mapreduce: quick, scanner: swept}}]"
    trials = plan_of(tmp_path, f"{TEXT}{entry}\n{BOTH}", TOYS).trials
    assert {(trial.engine, trial.workload.variant) for trial in trials} == {
        ("mapreduce", "quick"),
        ("scanner", "swept"),
    }
    assert {trial.factors["variant"] for trial in trials} == {"quick/swept"}


def test_an_engine_without_a_named_variant_gets_its_first(tmp_path):
    entry = "[{name: line-count, variant: {mapreduce: quick}}]"
    trials = plan_of(tmp_path, f"{TEXT}{entry}\n{BOTH}", TOYS).trials
    assert {trial.factors["variant"] for trial in trials} == {"quick/scanned"}


@pytest.mark.parametrize(
    ("variants", "problem"),
    [
        ("{tez: plain}", r"line 4: unknown engine of this experiment 'tez'; "),
        ("{mapreduce: quik}", r"line 4: unknown line-count variant 'quik'; did you mean 'quick'\?"),
        ("{scanner: plain}", r"line 4: the variant plain of line-count does not run on the engine scanner, "),
    ],
)
def test_variants_of_engines_are_checked(tmp_path, variants, problem):
    with pytest.raises(BadInputError, match=problem):
        plan_of(tmp_path, f"{TEXT}[{{name: line-count, variant: {variants}}}]\n{BOTH}", TOYS)


def test_unless_it_is_left_out_there(tmp_path):
    trials = plan_of(
        tmp_path, f"{TEXT}[{{name: line-count, variant: quick}}]\n{BOTH}exclude: {{engine: scanner}}\n", TOYS
    ).trials
    assert {(trial.engine, trial.workload.variant) for trial in trials} == {("mapreduce", "quick")}


def test_the_catalogue_says_which_engines_run_a_variant():
    engines = {variant["name"]: variant["engines"] for variant in workload_json("line-count")["variants"]}
    assert engines["swept"] == ["scanner"]
    assert engines["plain"][:2] == ["mapreduce", "tez"]


def test_an_engine_brings_variants_of_workloads_of_the_core(tmp_path):
    words = TOYS._replace(workloads={"degree-distribution": ("plain", "scanned")}, own_input=[])
    text = "experiment: demo\nmedia: {disk: directory}\ndatasets: {make: brightkite}\nworkloads: degree-distribution\n"
    (trial,) = plan_of(tmp_path, f"{text}engine: scanner\nstore: key-value\n", words).trials
    assert trial.workload.variant == "scanned"
    shown = {variant["name"]: variant["engines"] for variant in workload_json("degree-distribution")["variants"]}
    assert shown["scanned"] == ["scanner"]


def test_two_engines_can_t_bring_one_variant():
    problem = "variant with the name 'line-count/scanned', from tests.toys.engine and tests.plan.test_variants; rename"
    with pytest.raises(BadInputError, match=problem):
        VARIANTS.add("line-count/scanned", VARIANTS["line-count/swept"].model_copy(update={"about": "another one"}))


@pytest.mark.parametrize("name", ["quick", "/quick", "line-count/"])
def test_a_variant_is_called_after_its_workload(name):
    with pytest.raises(BadInputError, match=f"the variant '{name}' must be called WORKLOAD/VARIANT"):
        VARIANTS.add(name, VARIANTS["line-count/plain"])


def test_a_variant_of_no_workload_is_refused_with_the_module_that_brings_it():
    VARIANTS.add("grpe/fast", VARIANTS["line-count/plain"])
    problem = f"{__name__} brings the variant 'grpe/fast' of no workload; did you mean 'grep'"
    with pytest.raises(BadInputError, match=problem):
        workload_json("grep")


def test_each_variant_that_an_engine_brings_is_of_a_workload():
    assert {name.partition("/")[0] for name in VARIANTS} <= WORKLOADS.keys()
