"""What the predictors say of a run, checked against its trials."""

from collections.abc import Mapping, Sequence

from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.model.prediction import PredictedTrial, Predictor
from assay.model.record import Status
from assay.model.registry import PREDICTORS
from assay.model.trial_summary import MeasuredRun, TrialSummary


def predictions_of(run: MeasuredRun) -> list[TrialSummary]:
    """All predicted trials of a run, by predictor. Raises BadInputError for what does not fit the run's trials."""
    by_id = {summary.id: summary for summary in run.trials}
    predictions = []
    for name, predictor in PREDICTORS.items():
        known: set[tuple[tuple[str, str], ...]] = set()
        for number, trial in enumerate(_predicted(name, predictor, run), 1):
            summary = _summary(name, number, trial, by_id)
            levels = tuple(sorted(summary.factors.items()))
            if levels in known:
                raise BadInputError(
                    f"the predictor {name!r} predicts the trial like {trial.like} with {trial.levels} twice; "
                    "let it give one time for each combination"
                )
            known.add(levels)
            predictions.append(summary)
    return predictions


def _predicted(name: str, predictor: Predictor, run: MeasuredRun) -> Sequence[PredictedTrial]:
    try:
        return predictor(run)
    except BadInputError:
        raise
    except Exception as error:  # whatever a plug-in does
        why = f"{type(error).__name__}: {error}"
        raise BadInputError(f"the predictor {name!r} failed: {why}; repair it, or remove it") from error


def _summary(name: str, number: int, trial: PredictedTrial, by_id: Mapping[str, TrialSummary]) -> TrialSummary:
    """A predicted trial, on the machine of the trial that it is like."""
    like = by_id.get(trial.like)
    if like is None:
        raise BadInputError(
            f"the predictor {name!r} predicts a trial like {trial.like!r}, and the run has no readable trial of that "
            "name; let it name a trial of the run"
        )
    for factor in trial.levels:
        if factor not in like.factors:
            raise BadInputError(
                f"the predictor {name!r} predicts a level of {factor!r}, which is no factor of {trial.like}; "
                f"{nearest(factor, list(like.factors))}"
            )
    return TrialSummary(
        id=f"{name}-predicted-{number:04d}", trial=like.trial, levels=trial.levels, source="predicted", predictor=name,
        basis=trial.basis, verdict=trial.verdict, reason=trial.reason, surer=trial.surer, status=Status.FINISHED,
        facts=like.facts, media_facts=like.media_facts, control_groups=like.control_groups,
        elapsed_s=trial.elapsed_s, low_s=trial.low_s, high_s=trial.high_s,
    )  # fmt: skip
