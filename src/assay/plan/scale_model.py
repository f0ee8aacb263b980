"""What a plan has to know of scale models: where there can be one, and that all that is compared is equally slow."""

from collections.abc import Iterator
from itertools import chain
from operator import attrgetter

from assay.model.cluster import AUTO, EmbeddedSpec
from assay.model.network import NO_NETWORK
from assay.model.trial import Trial
from assay.plan.source import ExperimentSource


def check_scale_model(source: ExperimentSource) -> None:
    """Raises BadInputError where there is a dilation, and no nodes of their own or a medium that can't be slower."""
    experiment = source.experiment
    if not experiment.dilation:
        return
    networks = experiment.cluster.get("network", [NO_NETWORK])
    if NO_NETWORK in networks and min(experiment.cluster.get("nodes"), default=1) == 1:
        raise source.error_at(
            ["dilation"],
            "dilation needs nodes of their own, and one node without a network is this machine itself; say cluster: "
            "{nodes: 3}, or give the node a network",
        )
    real = next((name for name, medium in experiment.media.items() if not medium.kind.dilated), None)
    if real is not None:
        raise source.error_at(
            ["dilation"],
            f"dilation needs drives that can be slower, and the medium {real!r} is a "
            f"{experiment.media[real].kind.name}; take an emulated drive, or memory",
        )


def equally_slow(repetitions: Iterator[tuple[Trial, ...]]) -> Iterator[tuple[Trial, ...]]:
    """The trials with the largest cluster of those whose dilation is chosen where they run; the first block has all."""
    first = next(repetitions)
    clusters = [trial.cluster for trial in first if isinstance(trial.cluster, EmbeddedSpec)]
    chosen_there = [cluster.modelled_nodes for cluster in clusters if cluster.dilation == AUTO]
    largest = max(chosen_there, key=attrgetter("cores"), default=None)

    def fit(trial: Trial) -> Trial:
        cluster = trial.cluster
        if largest is None or not isinstance(cluster, EmbeddedSpec) or cluster.dilation != AUTO:
            return trial
        if cluster.modelled_nodes.cores == largest.cores:
            return trial
        return trial.model_copy(update={"cluster": cluster.model_copy(update={"auto_for": largest})})

    return (tuple(map(fit, block)) for block in chain([first], repetitions))
