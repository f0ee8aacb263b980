"""Proves that jobs are directed where an experiment says so, by their engines' properties, and that mistakes are said."""

import pytest

from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.model.trial import Landed, Placement, ResourceEstimate
from assay.plan.directing import directed
from assay.plan.layout import OTHERS
from assay.run.needs import _disk
from tests.plan.test_make import WORDS, plan_of

HALVES = "{hdd: 0.5, ssd: 0.5}"
EXPERIMENT = """\
experiment: demo
workloads:
  - together: [{{name: triangles, intermediate: {to}}}, components]
datasets: {{make: brightkite}}
media: {{hdd: wd10ezex, ssd: nvme}}
placement:
  - {{name: by-hadoop, input: hdd, intermediate: ssd, output: hdd, local_directories: hadoop}}
  - {{name: directed, input: hdd, intermediate: {media}, output: hdd, local_directories: {how}}}
zero_delay_baseline: false
"""


def text_of(to="ssd", media=HALVES, how="directed", more=""):
    return EXPERIMENT.format(to=to, media=media, how=how) + more


def trials_of(tmp_path, text):
    return {trial.placement.name: trial for trial in plan_of(tmp_path, text, WORDS).trials}


def test_jobs_of_a_directed_placement_name_their_tier_and_those_of_others_do_not(tmp_path):
    trials = trials_of(tmp_path, text_of())
    tiers = [spec.hadoop["assay.direct.tier"] for spec in directed(trials["directed"]).each]
    assert tiers == ["SSD", OTHERS]
    by_hadoop = trials["by-hadoop"]
    assert by_hadoop.placement.local_directories == "hadoop"
    assert directed(by_hadoop) == by_hadoop.workload
    assert by_hadoop.factors["options"] == trials["directed"].factors["options"]
    kept = trials["directed"].model_dump_json()
    assert type(by_hadoop).model_validate_json(kept) == trials["directed"]


def test_records_of_tasks_that_take_turns_are_as_before(tmp_path):
    text = text_of(how="in-turn", to='""')
    assert "local_directories" not in trials_of(tmp_path, text)["directed"].model_dump_json()


@pytest.mark.parametrize(
    ("engine", "properties"),
    [
        ("mapreduce", {
            "mapreduce.job.map.output.collector.class": "org.assay.direct.MapOutput",
            "mapreduce.job.reduce.shuffle.consumer.plugin.class": "org.assay.direct.ReduceShuffle",
            "assay.direct.tier": "SSD", "assay.direct.tiers.file": "${env.HADOOP_CONF_DIR}/local-dirs",
        }),
        ("tez", {"tez.task.launch.env": "ASSAY_DIRECT_TIER=SSD", "tez.runtime.optimize.local.fetch": "false"}),
        ("spark", {"spark.executorEnv.ASSAY_DIRECT_TIER": "SSD"}),
    ],
)  # fmt: skip
def test_each_engine_has_its_properties_beside_the_workloads_own(tmp_path, engine, properties):
    trial = trials_of(tmp_path, text_of())["directed"].model_copy(update={"engine": engine})
    alone = trial.workload.each[0].model_copy(update={"hadoop": {"a.b": "c"}})
    assert directed(trial.model_copy(update={"workload": alone})).hadoop == {"a.b": "c", **properties}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"how": "hadoop"}, "line 3: intermediate has no effect without a placement whose `local_directories` are `dir"),
        ({"media": "ssd"}, "line 8: jobs are directed to one of several media, and `intermediate` has one"),
        ({"to": '""'}, "line 8: no workload says where its intermediate data go; give one `intermediate`, such as `inte"),
        ({"to": "sdd"}, "line 3: intermediate is 'sdd', and directed jobs have local directories on hdd, ssd; did you"),
        ({"how": "Directed"}, "line 8: .*'Directed'.*in-turn.*hadoop.*directed"),
        ({"more": "hadoop: {assay.direct.tier: ssd}\n"}, "line 10: assay.direct.tier is what directs jobs of mapreduce"),
    ],
)  # fmt: skip
def test_what_can_not_be_directed_is_refused(tmp_path, given, words):
    with pytest.raises(BadInputError, match=words):
        plan_of(tmp_path, text_of(**given), WORDS)


def test_a_mix_names_the_media_below_together(tmp_path):
    text = text_of().replace("together:", "intermediate: ssd\n    together:")
    with pytest.raises(BadInputError, match="intermediate and properties belong to the workloads of a mix"):
        plan_of(tmp_path, text, WORDS)


@pytest.mark.parametrize(("how", "ssd_bytes", "error"), [("in-turn", 50, 0.5), ("hadoop", 0, 0), ("directed", 0, 0)])
def test_no_share_of_intermediate_data_is_wanted_where_tasks_do_not_take_turns(tmp_path, how, ssd_bytes, error):
    shares = {"input": {"hdd": 1.0}, "intermediate": {"hdd": 0.5, "ssd": 0.5}, "output": {"hdd": 1.0}}
    placement = Placement.of_roles("x", shares, how)
    trial = trials_of(tmp_path, text_of())["directed"].model_copy(update={"placement": placement})
    estimate = ResourceEstimate(disk_bytes=100, memory_bytes=1, seconds=1)
    assert _disk(trial, estimate, stack_of("hdfs", "mapreduce")) == {"hdd": 100, "ssd": ssd_bytes}
    assert Landed(role="intermediate", when="run", bytes=1 << 30, shares={"hdd": 1.0}).error(placement) == error
    assert Landed(role="input", when="run", bytes=1 << 30, shares={"ssd": 1.0}).error(placement) == 1
