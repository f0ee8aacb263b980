"""Proves that properties stand under the key of the service that declares them, and are refused under any other."""

import pytest

from assay.cli.schema import schema_text
from assay.model.errors import BadInputError
from assay.model.registry import SERVICES
from assay.model.service import Service
from assay.model.value_bounds import ValueBounds
from assay.plan.job_experiment import JobExperiment
from assay.plan.overrides import override_of
from assay.plan.property_keys import key_of, property_keys
from assay.plan.source import ExperimentSource
from tests.builders import an_installation
from tests.plan.test_make import GOOD, WORDS, plan_of
from tests.toys import plugged_in

TEXT = GOOD + "spark: {spark.rdd.compress: [true, false]}\nhbase: {zookeeper.session.timeout: 6000}\n"


def test_each_service_s_properties_have_its_key():
    assert property_keys() == ["hadoop", "tez", "hbase", "spark", "cassandra", "documents", "redis"]
    assert [key_of(name) for name in ("dfs.blocksize", "mapreduce.job.reduces", "yarn.x", "my.jobs.own")] == [
        "hadoop"
    ] * 4
    assert [key_of(name) for name in ("tez.a", "hbase.a", "zookeeper.a", "spark.a")] == [
        "tez",
        "hbase",
        "hbase",
        "spark",
    ]


def test_those_of_all_keys_are_a_trial_s(tmp_path):
    trials = plan_of(tmp_path, TEXT, WORDS).trials
    assert {trial.settings.properties["zookeeper.session.timeout"] for trial in trials} == {"6000"}
    assert {trial.levels["spark.rdd.compress"] for trial in trials} == {"true", "false"}


def test_a_workload_has_keys_of_its_own(tmp_path):
    text = GOOD.replace("[triangles, components]", "{name: triangles, spark: {spark.rdd.compress: true}}")
    assert text != GOOD
    (properties,) = {tuple(trial.workload.hadoop.items()) for trial in plan_of(tmp_path, text, WORDS).trials}
    assert properties == (("spark.rdd.compress", "true"),)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("hadoop: {spark.rdd.compress: true}", "spark.rdd.compress is no property of hadoop; give it under `spark`"),
        ("hbase: {dfs.blocksize: 8m}", "dfs.blocksize is no property of hbase; give it under `hadoop`"),
        ("spark: {my.jobs.own: 1}", r"my.jobs.own is no .* mean spark.my.jobs.own\? A property of a job's .* `hadoop`"),
        (
            "spark: {executor.memory: 1g}",
            r"executor.memory is no property of spark; did you mean spark.executor.memory\?",
        ),
        ("hadoop: {spark: 3}", "spark is the key of properties, and none itself; write a whole name, such as spark.NA"),
        ("spark: 5", "spark is 5, and must be"),
        ("sparks: {spark.rdd.compress: true}", r"unknown key 'sparks'; did you mean 'spark'\?"),
    ],
)
def test_a_property_under_another_key_is_refused_with_its_own(tmp_path, line, problem):
    with pytest.raises(BadInputError, match=rf"line 10: {problem}"):
        plan_of(tmp_path, f"{GOOD}{line}\n", WORDS)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("spark.spark.executor.memory", "spark.executor.memory"),
        ("spark.executor.memory", "spark.executor.memory"),
        ("hbase.zookeeper.session.timeout", "zookeeper.session.timeout"),
        ("hadoop.my.jobs.own", "my.jobs.own"),
    ],
)
def test_what_is_set_by_a_path_may_have_dots_and_leave_out_the_key_s_own_word(tmp_path, text, name):
    (tmp_path / "demo.yaml").write_text(GOOD)
    source = ExperimentSource(tmp_path / "demo.yaml", [override_of(f"{text}=1g")])
    assert source.experiment.properties[name] == ["1g"]


@pytest.mark.parametrize(
    ("lines", "doubt"),
    [
        (
            "spark: {spark.executor.memory: [1g, 2g]}",
            "spark.executor.memory (line 10) is a property of spark, which no",
        ),
        ("tez: {tez.am.resource.memory.mb: 512}", "tez.am.resource.memory.mb (line 10) is a property of tez, which no"),
        ("hbase: {hbase.x: 1}", "hbase.x (line 10) is a property of hbase, which no trial has"),
        ("spark: {spark.executor.memory: 1g}\nengine: [mapreduce, spark]", ""),
    ],
)
def test_a_property_of_a_service_that_no_trial_has_is_doubted(tmp_path, lines, doubt):
    words = WORDS._replace(levels={"store": ["hdfs"], "engine": ["mapreduce", "spark"]})
    plan = plan_of(tmp_path, f"{GOOD}{lines}\n", words)
    doubts = [each for each in plan.doubts if each.kind == "unknown-property"]
    assert [each.what.startswith(doubt) for each in doubts] == [True] * bool(doubt)


def test_in_a_profile_all_properties_stand_together(tmp_path):
    text = f"{GOOD}profiles: {{mine: {{inherits: [small], spark: {{spark.executor.memory: 1g}}}}}}\n"
    with pytest.raises(BadInputError, match="line 10: in a profile all properties stand under `properties`, and this"):
        plan_of(tmp_path, text, WORDS)


def test_a_written_experiment_divides_them():
    properties = {"dfs.blocksize": "8m", "spark.executor.memory": "1g", "mapreduce.job.reduces": "2"}
    written = JobExperiment("job", "", (), {}, "wd10ezex", ("ssd", "nvme"), "input", "10%", (), properties).text
    assert (
        'hadoop:\n  dfs.blocksize: "8m"\n  mapreduce.job.reduces: "2"\nspark:\n  spark.executor.memory: "1g"\n'
        in written
    )


@pytest.mark.parametrize(
    ("service", "problem"),
    [
        (Service("sparkle", first_words=frozenset({"spark"}), properties_key="sparkle"),
         "the services spark and sparkle both declare the properties spark.*; let one of them do so"),
        (Service("sparkle", first_words=frozenset({"spark"}), properties_key="spark"),
         "the services spark and sparkle both declare the properties spark.*; let one of them do so"),
        *((Service("sparkle", first_words=frozenset({"sparkle"}), properties_key=key),
           f"the service sparkle has the properties_key '{key}', which experiments have for something else; rename it")
          for key in ("cluster", "options", "workloads", "name")),
        (Service("sparkle", first_words=frozenset({"sparkle"}), properties_key="_sparkle"),
         "the service sparkle has the properties_key '_sparkle', which is no word in lower case; rename it"),
        (Service("sparkle", bounds={"spark.executor.cores": ValueBounds(2)}),
         "the services spark and sparkle both bound spark.executor.cores; let one of them do so"),
    ],
)  # fmt: skip
def test_a_property_has_one_owner(tmp_path, service, problem):
    with plugged_in():
        SERVICES.add(service.name, service)
        with pytest.raises(BadInputError) as caught:
            plan_of(tmp_path, f"{GOOD}hadoop: {{dfs.blocksize: 8m}}\n", WORDS)
    assert problem in str(caught.value)


def test_the_schema_has_the_keys(tmp_path):
    text = schema_text(an_installation(tmp_path))
    assert text.count('"description": "As `hadoop`, for properties of spark."') == 2
