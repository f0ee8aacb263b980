"""Which engine and store a workload can run on: a plan with another pair is refused."""

from collections.abc import Iterable

from assay.model.installed import working_pairs
from assay.model.registry import WORKLOADS
from assay.model.trial import Trial
from assay.plan.source import ExperimentSource


def check_pairs(source: ExperimentSource, trials: Iterable[Trial]) -> None:
    """Raises BadInputError, with its line, for the first workload that does not run on its trial's engine and store."""
    key = next((name for name in ("engine", "store") if name in source.experiment.model_fields_set), "workloads")
    named = ((spec.name, trial.engine, trial.store) for trial in trials for spec in trial.workload.each)
    for workload, engine, store in dict.fromkeys(named):
        kind = WORKLOADS.get(workload)
        pairs = working_pairs(kind) if kind is not None else [(engine, store)]
        if (engine, store) not in pairs:
            working = " or ".join(f"{engine} with {store}" for engine, store in pairs)
            cure = f"it runs on {working}; name such a pair, or `exclude` this one" if pairs else "nothing here runs it"
            raise source.error_at(
                [key], f"{workload} does not run on the engine {engine} with the store {store}; {cure}"
            )
