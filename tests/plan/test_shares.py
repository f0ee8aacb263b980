"""Proves that a plan whose engines get unequal parts of the nodes is doubted, and one whose get as much is not."""

import pytest

from assay.model.cluster import EmbeddedSpec, ExistingSpec
from assay.model.installed import variants_of
from assay.model.trial import SettingsSpec
from assay.plan.settings import resolve, shipped_profiles
from assay.plan.shares import engines_unequal, share_of
from tests.builders import a_trial
from tests.plan.test_make import GOOD, WORDS, plan_of

GIB = 1 << 30
NODE = EmbeddedSpec(memory_mb=2048, vcores=2)
TWO_TASKS = {"mapreduce.map.memory.mb": "768", "mapreduce.reduce.memory.mb": "768"}


def on(engine, cluster, properties, settings="small"):
    spec = SettingsSpec(name=settings, properties={**resolve(settings, shipped_profiles()).properties, **properties})
    return a_trial().model_copy(update={"engine": engine, "cluster": cluster, "settings": spec})


@pytest.mark.parametrize(
    ("cluster", "properties", "finding"),
    [
        # YARN counts no processors, and an executor has as many cores as there are.
        (NODE, {}, "tasks at once: mapreduce 3 in 1.4 GiB, spark 2 in 1.6 GiB"),
        (NODE, TWO_TASKS, None),
        # On nodes without a master there is room for one more.
        (EmbeddedSpec(nodes=3, memory_mb=2048, vcores=2), {},
         "tasks at once: mapreduce 11 in 5.2 GiB, spark 6 in 4.8 GiB"),
        (EmbeddedSpec(nodes=3, memory_mb=2048, vcores=2), TWO_TASKS, None),
        (EmbeddedSpec(nodes=3, memory_mb=2048, vcores=2), {**TWO_TASKS, "spark.executor.instances": "1"},
         "tasks at once: mapreduce 6 in 4.5 GiB, spark 2 in 1.6 GiB"),
        # As many tasks, and most of the node unused.
        (EmbeddedSpec(memory_mb=4096, vcores=2),
         {"spark.executor.memory": "640m", "mapreduce.map.memory.mb": "1536", "mapreduce.reduce.memory.mb": "1536"},
         "tasks at once: mapreduce 2 in 3.0 GiB, spark 2 in 1.0 GiB"),
        # A bound holds the daemons, too, whose memory no engine has.
        (EmbeddedSpec(memory_mb=4096, vcores=2, limit_memory_bytes=2 * GIB), TWO_TASKS, None),
        (NODE, {**TWO_TASKS, "spark.task.cpus": "2"},
         "tasks at once: mapreduce 2 in 1.5 GiB, spark 1 in 1.6 GiB"),
        # Refused where the plan is checked, with a sentence of its own.
        (NODE, {"spark.executor.memory": "much"}, None),
    ],
)  # fmt: skip
def test_engines_that_get_unequal_parts_of_the_nodes_are_doubted(cluster, properties, finding):
    doubts = engines_unequal([on(engine, cluster, properties) for engine in ("mapreduce", "spark")])
    assert [(doubt.kind, doubt.what) for doubt in doubts] == ([("engines-unequal", finding)] if finding else [])


def test_jobs_at_once_have_a_master_each_and_share_the_rest():
    several = EmbeddedSpec(memory_mb=4096, vcores=4, jobs_at_once=2)
    assert share_of(on("mapreduce", several, {}))[:2] == (6, 6 * 480)
    assert share_of(on("spark", several, {}))[:2] == (4, 2 * 1632)


def test_trials_that_differ_in_more_than_their_engine_are_not_compared():
    trials = [on("mapreduce", NODE, {}), on("spark", NODE, {}, settings="spark-tuned")]
    assert engines_unequal(trials) == []
    assert engines_unequal(trials[:1] * 2) == []


def test_nobody_can_say_what_a_cluster_gives_that_is_there_already(tmp_path):
    existing = ExistingSpec(kind="existing", conf_dir=tmp_path)
    assert share_of(on("mapreduce", existing, {})) is None
    assert engines_unequal([on("mapreduce", existing, {}), on("spark", existing, {})]) == []


def test_it_is_a_doubt_of_the_plan(tmp_path):
    words = WORDS._replace(
        workloads={name: tuple(variants_of(name)) for name in ("triangles", "components")},
        levels={"engine": ["mapreduce", "tez", "spark"]},
    )
    assert plan_of(tmp_path, f"{GOOD}engine: [mapreduce, tez]\n", words).doubts == ()
    text = GOOD.replace("[defaults, customs]", "defaults")
    (doubt,) = plan_of(tmp_path, f"{text}engine: [mapreduce, spark]\n", words).doubts
    assert doubt.what == "tasks at once: mapreduce 6 in 6.0 GiB, spark 8 in 6.0 GiB"


def test_the_number_of_tasks_at_once_is_a_factor(tmp_path):
    """As docs/reference/experiment.md, "Tasks at once", has it."""
    levels = {"864": 1, "1344": 2, "2304": 4}
    text = f"settings: small\nhadoop:\n  yarn.nodemanager.resource.memory-mb: [{', '.join(levels)}]\n"
    plan = plan_of(tmp_path, f"experiment: demo\nworkloads: testdfsio\nmedia: {{hdd: wd10ezex}}\n{text}")
    offered = {trial.levels["yarn.nodemanager.resource.memory-mb"]: share_of(trial).tasks for trial in plan.trials}
    assert offered == levels
