"""One node against the others: how long the same jobs' tasks took there, with an interval.

Tasks of one stage of one job do the same to parts of the data that are alike, wherever they run. So the logarithm of a
task's time is that of its job and stage, and that of its node, and chance (a two-way layout, by least squares). Nodes
differ also where nobody changed anything: how much, the others show among themselves. That spread, not the number of
tasks, says how sure the difference of one node is: the interval is that of one more value of a normal sample.
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
"""A node with fewer tasks of a stage is in no comparison of it."""
LEAST_OTHERS = 2
"""Of so few other nodes a spread can be worked out."""
_MOST_ROUNDS, _EXACT = 200, 1e-9


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


class _Times(NamedTuple):
    """The tasks of one part: numbers of their jobs and nodes, logarithms of times, and which ended after it."""

    job: Array
    node: Array
    log: Array
    after: Array


def compare_node(
    attempts: Iterable[TaskAttempt], node: str, changed_ms: int | None = None
) -> tuple[list[NodePart], list[str]]:
    """The parts that can be compared, stage by stage, and all nodes, by name.

    With `changed_ms` (since the epoch) it is what changed then: the difference after it less that before it, so that
    what was different before does not count.
    """
    rows: dict[tuple[str, str], list[tuple[str, str, float, bool]]] = {}
    nodes: set[str] = set()
    for attempt in attempts:
        if attempt.state != SUCCEEDED or not attempt.started_ms or not attempt.node:
            continue
        nodes.add(attempt.node)
        after = changed_ms is None or attempt.finished_ms >= changed_ms
        ends = attempt.phase_ends()
        begun_ms, phases = attempt.started_ms, []
        for phase, ended_ms in ends if len(ends) > 1 else ():
            phases.append((phase, ended_ms - begun_ms))
            begun_ms = ended_ms
        for phase, took_ms in [("", attempt.finished_ms - attempt.started_ms), *phases]:
            if took_ms > 0:
                rows.setdefault((attempt.stage, phase), []).append((attempt.job, attempt.node, took_ms, after))
    names = sorted(nodes)
    places = {name: place for place, name in enumerate(names)}
    parts = []
    for (stage, phase), own in rows.items():
        jobs = {job: number for number, job in enumerate(dict.fromkeys(row[0] for row in own))}
        times = _Times(
            np.array([jobs[row[0]] for row in own]),
            np.array([places[row[1]] for row in own]),
            np.log([row[2] for row in own]),
            np.array([row[3] for row in own]),
        )
        part = _part(stage, phase, times, places.get(node, -1), changed=changed_ms is not None)
        if part is not None:
            parts.append(part)
    return parts, names


def _part(stage: str, phase: str, times: _Times, node: int, *, changed: bool) -> NodePart | None:
    """None where the node, or all others, have too few tasks."""
    effects, variances, counts = _effects(times, times.after)
    if changed:
        before, more, counts_before = _effects(times, ~times.after)
        effects, variances = effects - before, variances + more
        counts = np.minimum(counts, counts_before)
    used = counts >= LEAST_TASKS
    if node < 0 or node >= len(used) or not used[node] or used.sum() < 2:
        return None
    others = used.copy()
    others[node] = False
    apart = effects[others]
    difference = float(effects[node] - apart.mean())
    interval, spread = None, None
    if len(apart) >= LEAST_OTHERS:
        from scipy.special import stdtrit

        spread = float(apart.std(ddof=1))
        # The node's own chance, where it has fewer tasks than the others, in whose spread theirs is.
        own_chance = max(0.0, float(variances[node] - variances[others].mean()))
        error = (spread**2 * (1 + 1 / len(apart)) + own_chance) ** 0.5
        half = float(stdtrit(len(apart) - 1, (1 + LEVEL) / 2)) * error
        interval = ConfidenceInterval(low=exp(difference - half), high=exp(difference + half))
    there = times.node == node
    shared = np.intersect1d(times.job[there], times.job[~there])
    return NodePart(
        stage=stage, phase=phase, jobs=len(shared), tasks=int(there.sum()),
        other_tasks=int(np.isin(times.node, np.flatnonzero(others)).sum()), others=int(others.sum()),
        ratio=exp(difference), interval=interval, spread=spread,
    )  # fmt: skip


def _effects(times: _Times, chosen: Array) -> tuple[Array, Array, Array]:
    """Each node's part of the log times of the chosen tasks, the variance of its mean, and how many tasks it has."""
    nodes = int(times.node.max()) + 1
    node, job, log = times.node[chosen], times.job[chosen], times.log[chosen]
    counts = np.bincount(node, minlength=nodes)
    effects: Array = np.zeros(nodes)
    if not len(log):
        return effects, effects, counts
    _, job = np.unique(job, return_inverse=True)
    of_jobs, by_node = np.bincount(job), np.maximum(counts, 1)
    left = log
    # Least squares in turns: jobs' means of what the nodes leave, and nodes' means of what the jobs leave.
    for _ in range(_MOST_ROUNDS):
        means = np.bincount(job, log - effects[node]) / of_jobs
        left = log - means[job]
        found = np.bincount(node, left, minlength=nodes) / by_node
        moved = float(np.abs(found - effects).max())
        effects = found
        if moved < _EXACT:
            break
    residuals = left - effects[node]
    freedom = max(1, len(log) - len(of_jobs) - int((counts > 0).sum()) + 1)
    variance = float(residuals @ residuals) / freedom
    return effects, variance / by_node, counts


def in_order(parts: Sequence[NodePart]) -> list[NodePart]:
    """Stages as they came, each one's whole tasks before its phases."""
    stages = list(dict.fromkeys(part.stage for part in parts))
    return sorted(parts, key=lambda part: (stages.index(part.stage), part.phase != ""))
