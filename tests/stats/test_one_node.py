"""Proves that one node's tasks are compared with those of the same jobs elsewhere, and that its interval holds."""

from math import exp

import numpy as np
import pytest

from assay.engine.tasks import MapReduceAttempt
from assay.model.task import TaskAttempt
from assay.stats.one_node import compare_node, in_order

NODES = [f"worker-{number}" for number in range(1, 13)]


def task(job, node, took_ms, number=0, stage="map", began_ms=1000, state="SUCCEEDED"):
    return TaskAttempt(
        job=f"job_{job}", attempt=f"attempt_{job}_{stage}_{number}", stage=stage, node=node, state=state,
        started_ms=began_ms, finished_ms=began_ms + round(took_ms),
    )  # fmt: skip


def tasks_of(source, effects, jobs=20, noise=0.3, began_ms=1000):
    """Jobs of very different sizes; each node's tasks take its own times as long."""
    return [
        task(job, node, 20_000 * exp(size) * effect * exp(noise * source.standard_normal()), number, began_ms=began_ms)
        for job, size in enumerate(source.standard_normal(jobs))
        for number, (node, effect) in enumerate(effects.items())
        for _ in range(source.integers(0, 8))
    ]


def nodes_that_differ(source, first=1.0):
    times = {node: exp(0.05 * source.standard_normal()) for node in NODES}
    return {**times, NODES[0]: times[NODES[0]] * first}


def test_sizes_of_jobs_do_not_count():
    effects = {**dict.fromkeys(NODES, 1.0), NODES[0]: 0.8}
    tasks = tasks_of(np.random.default_rng(1), effects, noise=0.0)
    comparison = compare_node(tasks, NODES[0])
    (part,) = comparison.parts
    assert comparison.nodes == sorted(NODES)
    assert part.ratio == pytest.approx(0.8, rel=1e-4)
    assert part.significant
    assert part.interval.high < 0.81
    jobs = {task.job for task in tasks if task.node == NODES[0]}
    assert (part.others, part.jobs) == (11, len(jobs))
    assert part.tasks + part.other_tasks == sum(task.job in jobs for task in tasks)


@pytest.mark.slow
def test_the_interval_holds_and_finds_nothing_where_nothing_is():
    """Of 200 sites whose nodes differ by 5 % anyway: far from 5 % of the intervals would be too narrow by task counts."""
    source = np.random.default_rng(2)
    held = found = 0
    for _ in range(200):
        (part,) = compare_node(tasks_of(source, nodes_that_differ(source), jobs=8), NODES[0]).parts
        held += part.interval.low <= 1 <= part.interval.high
        (part,) = compare_node(tasks_of(source, nodes_that_differ(source, 0.7), jobs=8), NODES[0]).parts
        found += part.significant and part.ratio < 1
    assert held >= 0.91 * 200
    assert found >= 0.95 * 200


@pytest.mark.slow
def test_a_node_with_few_tasks_has_a_wider_interval():
    source = np.random.default_rng(3)
    tasks = tasks_of(source, nodes_that_differ(source), jobs=40)
    own = [one for one in tasks if one.node == NODES[0]]
    (whole,) = compare_node(tasks, NODES[0]).parts
    (part,) = compare_node([one for one in tasks if one.node != NODES[0]] + own[:6], NODES[0]).parts
    assert part.tasks == 6
    assert part.interval.high / part.interval.low > 1.3 * (whole.interval.high / whole.interval.low)


def compared_sites(there, alone, elsewhere):
    """Of 200 sites whose five nodes are alike, those where they can be compared, and how many of these differ.

    On the node ran `there` of each shared job's tasks, and `alone` of a job that ran nowhere else; on the others
    `elsewhere`, node by node, of each shared job, and 60 each of a job that did not run on the node.
    """
    source = np.random.default_rng(5)
    compared = significant = 0
    for _ in range(200):
        ran = [(job, NODES[0], count) for job, count in enumerate(there)] + [("alone", NODES[0], alone)]
        ran += [(job, NODES[1 + at], count) for job, row in enumerate(elsewhere) for at, count in enumerate(row)]
        ran += [("elsewhere", node, 60) for node in NODES[1:5]]
        sizes = {job: exp(source.standard_normal()) for job, _, _ in ran}
        tasks = [
            task(job, node, 20_000 * sizes[job] * exp(0.3 * source.standard_normal()))
            for job, node, count in ran
            for _ in range(count)
        ]
        for part in compare_node(tasks, NODES[0]).parts:
            compared += 1
            significant += part.significant
    return compared, significant


@pytest.mark.slow
def test_tasks_of_jobs_that_ran_on_one_node_alone_say_nothing():
    """One task of a shared job can't be compared, however many others ran there."""
    assert compared_sites([1], 60, [[60] * 4]) == (0, 0)
    alone = [task(job, node, 5000) for job, node in enumerate(NODES) for _ in range(60)]
    comparison = compare_node(alone, NODES[0])
    assert (comparison.parts, comparison.shared) == ([], False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "elsewhere"),
    [
        ([5], [[60] * 4]),
        ([1] * 5, [[20] * 4] * 5),
        ([1] * 20, [[int(at == job % 4) for at in range(4)] for job in range(20)]),
        ([12] * 10, [[2 * int(at == job % 4) for at in range(4)] for job in range(10)]),
        ([5], [[60, 60, 0, 0]]),
    ],
    ids=["five tasks", "a task in each job", "one other task in each job", "few tasks elsewhere", "two others"],
)
def test_few_tasks_of_shared_jobs_have_a_chance_of_their_own(there, elsewhere):
    compared, significant = compared_sites(there, 60, elsewhere)
    assert compared == 200
    assert significant <= 0.08 * 200


def test_what_differed_before_the_change_does_not_count():
    source = np.random.default_rng(4)
    before = {**dict.fromkeys(NODES, 1.0), NODES[0]: 1.5}
    after = {**before, NODES[0]: 1.5 * 0.8}
    changed_ms = 10_000_000
    tasks = tasks_of(source, before, noise=0.02)
    tasks += [
        one.model_copy(update={"job": f"later {one.job}"})
        for one in tasks_of(source, after, noise=0.02, began_ms=changed_ms)
    ]
    (part,) = compare_node(tasks, NODES[0], changed_ms).parts
    assert part.ratio == pytest.approx(0.8, abs=0.02)
    assert part.significant
    (whole,) = compare_node(tasks, NODES[0]).parts
    assert whole.ratio > 1.2
    assert compare_node(tasks, NODES[0], 1).parts == [], "nothing ran before"


def test_phases_stand_below_their_stage():
    attempts = [
        MapReduceAttempt(
            job="job_1", attempt=f"a{number}", stage="reduce", node=NODES[number % 3], state="SUCCEEDED",
            started_ms=1000, shuffle_finished_ms=1000 + (4000 if number % 3 else 2000), merge_finished_ms=6000,
            finished_ms=9000 if number % 3 else 8000,
        )
        for number in range(30)
    ]  # fmt: skip
    parts = in_order(compare_node(attempts, NODES[0]).parts)
    assert [(part.stage, part.phase) for part in parts] == [
        ("reduce", ""), ("reduce", "shuffle"), ("reduce", "merge"), ("reduce", "reduce"),
    ]  # fmt: skip
    assert [part.ratio for part in parts[:2]] == pytest.approx([7 / 8, 1 / 2])


def test_one_other_node_has_no_spread_and_few_tasks_no_comparison():
    two = [task(1, node, 5000 if node == NODES[0] else 6000) for node in NODES[:2] for _ in range(5)]
    (part,) = compare_node(two, NODES[0]).parts
    assert part.interval is None
    assert part.ratio == pytest.approx(5 / 6)
    assert not part.significant
    assert compare_node(two[1:], NODES[0]).parts == []
    failed = [one.model_copy(update={"state": "FAILED"}) for one in two]
    assert compare_node(failed, NODES[0])[:2] == ([], [])
    assert compare_node([], NODES[0]) == ([], [], 0, 0, False)
