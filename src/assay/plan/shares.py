"""What each engine gets of the nodes, and whether a plan that compares engines gives all of them as much."""

from collections.abc import Iterable, Mapping
from contextlib import suppress

from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import BadInputError
from assay.model.installed import stack_of
from assay.model.naming import bytes_text
from assay.model.service import Share
from assay.model.trial import Trial

LEAST_OF_MOST = 0.75
"""A doubt is raised where the tasks of an engine have less than this of the memory of another's."""

ENGINES_UNEQUAL = doubt_kind(
    "engines-unequal",
    "run",
    when=(
        "compared engines run different numbers of tasks at once on the same nodes, or the tasks of one have less than "
        "three quarters of the memory of another's"
    ),
    why=(
        "an engine that runs more tasks at once, or has more memory, may be faster for that reason: the settings may "
        "cause the difference"
    ),
    cure="choose sizes of containers and executors that give all as much (docs/reference/experiment.md#engines)",
    severity=145,
)


def share_of(trial: Trial) -> Share | None:
    """What its engine gets of the nodes; None where nobody can say, as on a cluster that is there already.

    Raises BadInputError for properties with which its jobs can't run.
    """
    if not isinstance(trial.cluster, EmbeddedSpec):
        return None
    properties = {**trial.settings.properties, **trial.workload.hadoop}
    return stack_of(trial.store.kind, trial.engine).task_share(trial.cluster, properties)


def engines_unequal(trials: Iterable[Trial]) -> list[Doubt]:
    """A doubt for each way in which trials that differ in their engine alone don't get as much."""
    compared: dict[object, dict[str, Share]] = {}
    for trial in trials:
        with suppress(BadInputError):  # such a plan is refused before anything starts, with the reason
            if (share := share_of(trial)) is not None:
                factors = tuple(item for item in trial.factors.items() if item[0] != "engine")
                compared.setdefault(factors, {})[trial.engine] = share
    findings = dict.fromkeys(_words(shares) for shares in compared.values() if _are_unequal(shares.values()))
    return [ENGINES_UNEQUAL.doubt(finding) for finding in findings]


def _are_unequal(shares: Iterable[Share]) -> bool:
    tasks, sizes_mb = zip(*((share.tasks, share.memory_mb) for share in shares), strict=True)
    return len(set(tasks)) > 1 or min(sizes_mb) < LEAST_OF_MOST * max(sizes_mb)


def _words(shares: Mapping[str, Share]) -> str:
    each = (
        f"{engine} {share.tasks} in {bytes_text(share.memory_mb << 20)}" for engine, share in sorted(shares.items())
    )
    return f"tasks at once: {', '.join(each)}"
