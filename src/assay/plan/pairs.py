"""Which engine and store a workload and its variant can run on: a plan with another pair is refused."""

from collections.abc import Iterable

from assay.host.yaml_file import Place
from assay.model.installed import variants_on, working_pairs
from assay.model.registry import ENGINES, WORKLOADS
from assay.model.trial import Trial, WorkloadSpec
from assay.plan.experiment import ExperimentFile
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
    """Raises BadInputError, with its line, for the first workload that does not run on its trial's engine and store.

    So it does for a variant that is not written for the engine.
    """
    key = next((name for name in ("engine", "store") if name in source.experiment.model_fields_set), "workloads")
    specs = ((spec, trial.engine, trial.store.kind) for trial in trials for spec in trial.workload.each)
    distinct = {(spec.name, spec.variant, engine, store): spec for spec, engine, store in specs}
    for (workload, variant, engine, store), spec in distinct.items():
        if workload not in WORKLOADS:
            continue
        pairs = working_pairs(workload)
        if (engine, store) not in pairs:
            working = pairs_text(pairs)
            cure = f"it runs on {working}; name such a pair, or `exclude` this one" if pairs else "nothing here runs it"
            raise source.error_at(
                [key], f"{workload} does not run on the engine {engine} with the store {store}; {cure}"
            )
        written = variants_on(workload, ENGINES[engine])
        if variant not in written:
            raise source.error_at(
                _place(source.experiment, spec, engine),
                f"the variant {variant} of {workload} does not run on the engine {engine}, which runs "
                f"{' or '.join(written)}; name such a variant or none, or `exclude` this engine for it",
            )


def _place(experiment: ExperimentFile, spec: WorkloadSpec, engine: str) -> Place:
    """Where an experiment names a variant of a workload."""
    for at, entry in enumerate(experiment.workloads):
        for part, each in enumerate(entry.each):
            if (each.name, each.variant_on(engine)) == (spec.name, spec.variant):
                below = ["together", part] if entry.together else []
                return ["workloads", at, *below, "variant"]
    return ["workloads"]
