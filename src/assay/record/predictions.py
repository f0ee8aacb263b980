"""What the predictors that are plugged in say of a run, checked against its trials."""

from collections.abc import Callable, Sequence

from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.model.prediction import MeasuredRun, PredictedTrial, Prediction, Predictor
from assay.model.record import Record
from assay.model.registry import PREDICTORS
from assay.model.signature import Signature
from assay.model.trial import Plan


def predictions_of(
    plan: Plan, records: Sequence[Record], signature: Callable[[str], Signature | None]
) -> list[Prediction]:
    """All predicted trials of a run, by predictor. Raises BadInputError for what does not fit the run's trials."""
    run = MeasuredRun(plan, records, signature)
    by_id = {record.trial.id: record for record in records}
    predictions = []
    for name, predictor in PREDICTORS.items():
        known: set[tuple[tuple[str, str], ...]] = set()
        for number, trial in enumerate(_predicted(name, predictor, run), 1):
            factors = _factors(name, trial, by_id)
            levels = tuple(sorted(factors.items()))
            if levels in known:
                raise BadInputError(
                    f"the predictor {name!r} predicts the trial like {trial.like} with {trial.levels} twice; "
                    "let it give one time for each combination"
                )
            known.add(levels)
            predictions.append(Prediction(f"{name}-predicted-{number:04d}", name, trial, factors))
    return predictions


def _predicted(name: str, predictor: Predictor, run: MeasuredRun) -> Sequence[PredictedTrial]:
    try:
        return predictor(run)
    except BadInputError:
        raise
    except Exception as error:  # whatever a plug-in does
        why = f"{type(error).__name__}: {error}"
        raise BadInputError(f"the predictor {name!r} failed: {why}; repair it, or remove it") from error


def _factors(name: str, trial: PredictedTrial, by_id: dict[str, Record]) -> dict[str, str]:
    """The levels of all factors of a predicted trial."""
    if trial.like not in by_id:
        raise BadInputError(
            f"the predictor {name!r} predicts a trial like {trial.like!r}, and the run has no readable trial of that "
            "name; let it name a trial of the run"
        )
    factors = by_id[trial.like].trial.factors
    for factor in trial.levels:
        if factor not in factors:
            raise BadInputError(
                f"the predictor {name!r} predicts a level of {factor!r}, which is no factor of {trial.like}; "
                f"{nearest(factor, list(factors))}"
            )
    return {**factors, **trial.levels}
