"""Which engine and store a workload can run on: a plan with another pair is refused."""

from collections.abc import Iterable

from assay.model.installed import working_pairs
from assay.model.registry import WORKLOADS
from assay.model.trial import Trial
from assay.plan.source import ExperimentSource


def pairs_text(pairs: Iterable[tuple[str, str]]) -> str:
    """Pairs of an engine and a store in words, those of engines with the same stores together."""
    stores: dict[str, tuple[str, ...]] = {}
    for engine, store in pairs:
        stores[engine] = (*stores.get(engine, ()), store)
    engines: dict[tuple[str, ...], list[str]] = {}
    for engine, of_engine in stores.items():
        engines.setdefault(of_engine, []).append(engine)
    return ", or on ".join(f"{' or '.join(names)} with {' or '.join(kept)}" for kept, names in engines.items())


def check_pairs(source: ExperimentSource, trials: Iterable[Trial]) -> None:
    """Raises BadInputError, with its line, for the first workload that does not run on its trial's engine and store."""
    key = next((name for name in ("engine", "store") if name in source.experiment.model_fields_set), "workloads")
    named = ((spec.name, trial.engine, trial.store.kind) for trial in trials for spec in trial.workload.each)
    for workload, engine, store in dict.fromkeys(named):
        kind = WORKLOADS.get(workload)
        pairs = working_pairs(kind) if kind is not None else [(engine, store)]
        if (engine, store) not in pairs:
            working = pairs_text(pairs)
            cure = f"it runs on {working}; name such a pair, or `exclude` this one" if pairs else "nothing here runs it"
            raise source.error_at(
                [key], f"{workload} does not run on the engine {engine} with the store {store}; {cure}"
            )
