"""What each store took for each workload of the kept run `stores`: a text that docs/make_results.py writes."""

from collections.abc import Sequence
from statistics import median

from docs.kept_runs import analysed

from assay.model.doubt import Outcome
from assay.model.installed import why_not_held
from assay.model.naming import bytes_text
from assay.model.registry import WORKLOADS
from assay.model.trial_summary import TrialSummary
from assay.report.columns import RATIO, as_columns, grid
from assay.report.words import labels_of, seconds_text
from assay.stats.staging import medians

_METRICS = (
    "staging (s)", "run (s)", "read in the run", "written in the run", "written / input in staging",
    "kept / input after staging",
)  # fmt: skip


def stores() -> str:
    """Outputs, times and bytes on drives of each workload on each store; what can't be, with the reason."""
    trials = analysed("stores")[1]
    kinds = dict.fromkeys(trial.trial.store.kind for trial in trials)
    by_work: dict[tuple[tuple[str, str], ...], dict[str, list[TrialSummary]]] = {}
    for trial in trials:
        work = tuple((name, trial.factors[name]) for name in ("workload", "variant", "options"))
        by_work.setdefault(work, {}).setdefault(trial.trial.store.kind, []).append(trial)
    rows = [
        [label, store, *_cells(of_store)]
        for label, by_store in zip(labels_of([*map(dict, by_work)]), by_work.values(), strict=True)
        for store, of_store in by_store.items()
    ]
    rows += [
        [name, store, f"not possible: {reason}", *["-"] * len(_METRICS)]
        for name in WORKLOADS
        for store in kinds
        if (reason := why_not_held(name, store))
    ]
    return grid(as_columns(("workload", "store", "verified", *_METRICS), sorted(rows)))


def _cells(trials: Sequence[TrialSummary]) -> list[str]:
    """How many outputs were right, and medians of these trials: times, and bytes on drives."""
    right = [trial for trial in trials if trial.outcome is Outcome.PASS]
    staging = medians([trial.staging for trial in right if trial.staging])

    def middle(name: str) -> float | None:
        known = [value for trial in right if (value := getattr(trial, name)) is not None]
        return median(known) if known else None

    metrics = [
        (staging["staging_s"], seconds_text), (middle("elapsed_s"), seconds_text),
        (middle("drives_read_bytes"), bytes_text), (middle("drives_written_bytes"), bytes_text),
        (staging["write_amplification"], RATIO), (staging["space_amplification"], RATIO),
    ]  # fmt: skip
    return [f"{len(right)} of {len(trials)}", *("-" if value is None else text(value) for value, text in metrics)]
