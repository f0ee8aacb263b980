"""Proves that copies and mixes of workloads become trials, with room for their jobs, and that mistakes are said."""

import pytest

from assay.model.errors import BadInputError
from tests.plan.test_make import WORDS, plan_of

TWO = """\
experiment: demo
workloads:
{workloads}
datasets: {{make: brightkite}}
media: {{disk: directory, memory: memory}}
"""
COPIES = "  - {name: triangles, concurrent: [1, 3]}\n"
MIX = "  - together: [triangles, {name: components, hadoop: {mapreduce.job.reduces: 2}}]\n    concurrent: 2\n"


def plan_with(tmp_path, *workloads):
    return plan_of(tmp_path, TWO.format(workloads="".join(workloads)), WORDS)


def test_each_number_of_copies_is_a_workload_of_its_own(tmp_path):
    plan = plan_with(tmp_path, COPIES)
    found = {(trial.workload.concurrent, trial.placement.name): trial for trial in plan.trials}
    assert set(found) == {(1, "disk"), (1, "memory"), (3, "disk"), (3, "memory")}
    assert found[3, "disk"].factors["options"] == "concurrent=3"
    assert "concurrent" not in found[1, "disk"].model_dump_json()


def test_all_clusters_of_a_plan_have_room_for_its_most_jobs(tmp_path):
    assert {trial.cluster.jobs_at_once for trial in plan_with(tmp_path, COPIES).trials} == {3}
    assert {trial.cluster.jobs_at_once for trial in plan_with(tmp_path, COPIES, MIX).trials} == {4}
    alone = plan_with(tmp_path, "  - triangles\n").trials
    assert all("jobs_at_once" not in trial.model_dump_json() for trial in alone)


def test_a_mix_has_its_workloads_with_their_own_properties(tmp_path):
    trial = plan_with(tmp_path, MIX).trials[0]
    assert trial.id.partition("-")[2].startswith("mix-")
    assert [spec.name for spec in trial.workload.each] == ["triangles", "components"]
    assert trial.workload.each[1].hadoop == {"mapreduce.job.reduces": "2"}
    assert trial.cluster.jobs_at_once == 4
    assert trial.dataset.name == "brightkite-like"
    assert type(trial).model_validate_json(trial.model_dump_json()) == trial


def test_levels_are_no_two_of_the_same(tmp_path):
    with pytest.raises(BadInputError, match="workloads has 'triangles paper concurrent=3' twice"):
        plan_with(tmp_path, COPIES, "  - {name: triangles, concurrent: 3}\n")


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ("  - {concurrent: 2}\n", "a workload needs a name, or `together`"),
        ("  - {name: triangles, together: [components]}\n", "a workload needs a name, or `together`"),
        (
            "  - {together: [components], options: {a: b}}\n",
            "variant, options, intermediate and properties belong to the workloads of a mix",
        ),
        ("  - {together: [{name: components, concurrent: 2}]}\n", "a mix runs each of its workloads once"),
        ("  - {together: [{together: [components]}]}\n", "a mix runs each of its workloads once"),
        ("  - {together: [componets]}\n", "line 3: unknown workload 'componets'; did you mean 'components'"),
        ("  - {name: triangles, concurrent: 0}\n", "concurrent is 0"),
        ("  - {name: triangles, concurrent: 17}\n", "concurrent is 17"),
        (
            "  - {together: [{name: components, hadoop: {dfs.datanode.data.dir: /x}}]}\n",
            "line 3: dfs.datanode.data.dir is read by the cluster's daemons, not by components's jobs",
        ),
    ],
)
def test_a_mistake_is_said_with_its_line(tmp_path, workload, words):
    with pytest.raises(BadInputError, match=words):
        plan_with(tmp_path, workload)
