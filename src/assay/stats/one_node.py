"""One node against the others: how long the same jobs' tasks took there, with an interval.

Tasks of one stage of one job do the same to parts of the data that are alike, wherever they run. So the logarithm of a
task's time is that of its job and stage, and that of its node, and chance (a two-way layout, by least squares). Nodes
differ also where nobody changed anything: how much, the others show among themselves. That spread, not the number of
tasks, says how sure the difference of one node is: the interval is that of one more value of a normal sample.

A job that ran only on the node, or never there, says nothing of the difference, so only jobs that ran on both count.
"""

from collections.abc import Iterable, Sequence
from math import exp
from typing import NamedTuple

import numpy as np

from assay.model.base import Frozen
from assay.model.signature import Array
from assay.model.task import TaskAttempt
from assay.stats.noise import LEVEL, ConfidenceInterval

SUCCEEDED = "SUCCEEDED"
LEAST_TASKS = 5
"""A node with fewer tasks of a stage, in jobs that ran on the node and on others, is in no comparison of it."""
LEAST_OTHERS = 2
"""Of so few other nodes a spread can be worked out."""


class NodePart(Frozen):
    """A stage's tasks, or one phase of them, on the node and on the others.

    `ratio` is the time there over that on the others, with its 95 % confidence `interval`, None where fewer than two
    other nodes had tasks. `spread` is the standard deviation of the others' own ratios' logarithms.
    """

    stage: str
    phase: str
    """Empty for whole tasks."""
    jobs: int
    """Jobs with tasks on the node and on others."""
    tasks: int
    other_tasks: int
    others: int
    """Other nodes with at least 5 tasks."""
    ratio: float
    interval: ConfidenceInterval | None
    spread: float | None

    @property
    def significant(self) -> bool:
        """Whether the whole interval is on one side of 1."""
        return self.interval is not None and not self.interval.low <= 1 <= self.interval.high


class NodeComparison(NamedTuple):
    """The parts that can be compared, stage by stage, the names of all nodes, and when the first and last task ended.

    The times are milliseconds since the epoch, 0 without a task; `shared` is whether any job ran on the node and on
    others.
    """

    parts: list[NodePart]
    nodes: list[str]
    first_ms: int
    last_ms: int
    shared: bool


class _Times(NamedTuple):
    """The tasks of one part: numbers of their jobs and nodes, logarithms of times, and which ended after it."""

    job: Array
    node: Array
    log: Array
    after: Array


class _Layout(NamedTuple):
    """What the chosen tasks of the jobs that ran on the node and on others say.

    `effects` are the nodes' parts of the log times less the node's own, `chances` their covariance by the chance of
    tasks, `counts` the nodes' tasks, and `used` which of all tasks these are.
    """

    effects: Array
    chances: Array
    counts: Array
    used: Array


def compare_node(attempts: Iterable[TaskAttempt], node: str, changed_ms: int | None = None) -> NodeComparison:
    """Compare the node's tasks that ended well with those of the same jobs on other nodes.

    With `changed_ms` (since the epoch) it is what changed then: the difference after it less that before it, so that
    what was different before does not count.
    """
    rows: dict[tuple[str, str], list[tuple[str, str, float, bool]]] = {}
    nodes_of_jobs: dict[str, set[str]] = {}
    first_ms = last_ms = 0
    for attempt in attempts:
        if attempt.state != SUCCEEDED or not attempt.started_ms or not attempt.node:
            continue
        nodes_of_jobs.setdefault(attempt.job, set()).add(attempt.node)
        first_ms = min(first_ms or attempt.finished_ms, attempt.finished_ms)
        last_ms = max(last_ms, attempt.finished_ms)
        after = changed_ms is None or attempt.finished_ms >= changed_ms
        ends = attempt.phase_ends()
        begun_ms, phases = attempt.started_ms, []
        for phase, ended_ms in ends if len(ends) > 1 else ():
            phases.append((phase, ended_ms - begun_ms))
            begun_ms = ended_ms
        for phase, took_ms in [("", attempt.finished_ms - attempt.started_ms), *phases]:
            if took_ms > 0:
                rows.setdefault((attempt.stage, phase), []).append((attempt.job, attempt.node, took_ms, after))
    names = sorted(set().union(*nodes_of_jobs.values()))
    places = {name: place for place, name in enumerate(names)}
    parts = []
    for (stage, phase), tasks in rows.items():
        jobs = {job: number for number, job in enumerate(dict.fromkeys(task[0] for task in tasks))}
        times = _Times(
            np.array([jobs[task[0]] for task in tasks]),
            np.array([places[task[1]] for task in tasks]),
            np.log([task[2] for task in tasks]),
            np.array([task[3] for task in tasks]),
        )
        part = _part(stage, phase, times, places.get(node, -1), changed=changed_ms is not None)
        if part is not None:
            parts.append(part)
    shared = any(node in nodes and len(nodes) > 1 for nodes in nodes_of_jobs.values())
    return NodeComparison(parts, names, first_ms, last_ms, shared)


def _part(stage: str, phase: str, times: _Times, node: int, *, changed: bool) -> NodePart | None:
    """None where the node, or all others, have too few tasks of the same jobs."""
    layouts = [_layout(times, times.after, node), *([_layout(times, ~times.after, node)] if changed else [])]
    others = np.logical_and.reduce([layout.counts >= LEAST_TASKS for layout in layouts])
    if node < 0 or node >= len(others) or not others[node] or others.sum() < 2:
        return None
    others[node] = False
    count = int(others.sum())
    effects, chances = layouts[0].effects, layouts[0].chances
    if changed:
        effects, chances = effects - layouts[1].effects, chances + layouts[1].chances
    apart, chances = effects[others], chances[np.ix_(others, others)]
    difference = -float(apart.mean())
    interval, spread = None, None
    if count >= LEAST_OTHERS:
        from scipy.special import stdtrit

        spread = float(apart.std(ddof=1))
        # The chance of tasks that the spread of the others has in it already, and that of the difference beyond it.
        in_spread = float(np.trace(chances) - chances.sum() / count) / (count - 1)
        own_chance = max(0.0, float(chances.mean()) - in_spread * (1 + 1 / count))
        error = (spread**2 * (1 + 1 / count) + own_chance) ** 0.5
        half = float(stdtrit(count - 1, (1 + LEVEL) / 2)) * error
        interval = ConfidenceInterval(low=exp(difference - half), high=exp(difference + half))
    used = np.logical_or.reduce([layout.used for layout in layouts])
    there = times.node == node
    return NodePart(
        stage=stage, phase=phase, jobs=len(np.unique(times.job[used])), tasks=int((used & there).sum()),
        other_tasks=int((used & others[times.node]).sum()), others=count,
        ratio=exp(difference), interval=interval, spread=spread,
    )  # fmt: skip


def _layout(times: _Times, chosen: Array, node: int) -> _Layout:
    """Least squares of the two-way layout, whose normal equations have the nodes' part once jobs are taken out of them.

    Of two nodes they have how many tasks both have in each job, over the job's tasks. The node's own part is 0: as each
    job has tasks there, all others are known then.
    """
    from scipy.sparse import csr_array

    nodes = int(times.node.max()) + 1
    there = times.node == node
    used = chosen & np.isin(times.job, np.intersect1d(times.job[chosen & there], times.job[chosen & ~there]))
    counts = np.bincount(times.node[used], minlength=nodes)
    layout = _Layout(np.zeros(nodes), np.zeros((nodes, nodes)), counts, used)
    if not used.any():
        return layout
    log = times.log[used]
    _, job = np.unique(times.job[used], return_inverse=True)
    jobs_tasks = np.bincount(job)
    left = log - (np.bincount(job, log) / jobs_tasks)[job]
    known = np.flatnonzero((counts > 0) & (np.arange(nodes) != node))
    tasks = csr_array((np.ones(len(log)), (job, times.node[used])), shape=(len(jobs_tasks), nodes))[:, known]
    both = (tasks.T @ tasks.multiply(1 / jobs_tasks[:, None])).toarray()
    inverse = np.linalg.inv(np.diag(counts[known]) - both)
    layout.effects[known] = inverse @ np.bincount(times.node[used], left, minlength=nodes)[known]
    fitted = layout.effects[times.node[used]]
    residuals = left - fitted + (np.bincount(job, fitted) / jobs_tasks)[job]
    freedom = max(1, len(log) - len(jobs_tasks) - len(known))
    layout.chances[np.ix_(known, known)] = inverse * float(residuals @ residuals) / freedom
    return layout


def in_order(parts: Sequence[NodePart]) -> list[NodePart]:
    """Stages as they came, each one's whole tasks before its phases."""
    stages = list(dict.fromkeys(part.stage for part in parts))
    return sorted(parts, key=lambda part: (stages.index(part.stage), part.phase != ""))
