"""Predicted trials beside measured ones: as rows of a run's table, and beside its decisions.

They are compared with what was measured, and nothing measured is compared with them: no verdict, ratio, noise or
interval of measured trials comes from here.
"""

from collections.abc import Sequence
from math import exp, hypot, log

from assay.model.base import Frozen
from assay.model.prediction import PredictedTrial, Prediction
from assay.model.record import Record
from assay.model.trial import ZERO_DELAY, Plan
from assay.stats.changes import others_and_level
from assay.stats.decision import Decision
from assay.stats.estimate import Estimate
from assay.stats.noise import ConfidenceInterval, Median
from assay.stats.sample import MACHINE, PLACEMENT, Levels, Trials
from assay.stats.summary import Group, PredictedRatio, Row, group_of


class PredictedLevel(Frozen):
    """What a `predictor` says of one `level` of a decision's factor, and on what `basis`.

    `elapsed_s` is the jobs' time in seconds, `saving` the share of the base's measured time that it saves: with both
    their errors, and without an interval where the base's time has none.
    """

    predictor: str
    level: str
    basis: str
    elapsed_s: Estimate
    saving: Estimate | None


def with_predictions(rows: Sequence[Row], records: Sequence[Record], predictions: Sequence[Prediction]) -> list[Row]:
    """The rows of measured trials, each group followed by those that are predicted for it; other groups come last."""
    groups: dict[Group, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    bases = {group: _base(measured) for group, measured in groups.items()}
    for prediction, levels in _on_machines(records, predictions):
        group = group_of(levels)
        row = _row(group, dict(levels)[PLACEMENT], prediction, bases.get(group))
        groups.setdefault(group, []).append(row)
    return [row for of_group in groups.values() for row in of_group]


def beside(
    plan: Plan, decisions: Sequence[Decision], records: Sequence[Record], predictions: Sequence[Prediction]
) -> list[tuple[PredictedLevel, ...]]:
    """For each decision what is predicted of its factor, with all other factors as they are there."""
    placed = _on_machines(records, predictions)
    predicted = []
    for decision in decisions:
        levels = [
            (prediction, *others_and_level(factors, decision.factor, plan.base)) for prediction, factors in placed
        ]
        predicted.append(
            tuple(
                _level(prediction, level, decision)
                for prediction, others, level in levels
                if dict(others) == decision.levels
            )
        )
    return predicted


def _on_machines(records: Sequence[Record], predictions: Sequence[Prediction]) -> list[tuple[Prediction, Levels]]:
    """Each with all its levels, the kind of machine of the trial that it is like too."""
    trials = Trials.of(records)
    machines = {record.trial.id: machine for record, machine in zip(trials, trials.machines, strict=True)}
    return [
        (prediction, (*prediction.factors.items(), (MACHINE, machines[prediction.trial.like])))
        for prediction in predictions
    ]


def _base(rows: Sequence[Row]) -> Row | None:
    """The first placement that has a time, as of all ratios."""
    return next((row for row in rows if row.elapsed and row.placement != ZERO_DELAY), None)


def _row(group: Group, placement: str, prediction: Prediction, base: Row | None) -> Row:
    trial, predicted = prediction.trial, None
    if base is not None and base.elapsed is not None:
        ratio, interval = _ratio(trial, base.elapsed.value, base.elapsed.interval)
        predicted = PredictedRatio(base=base.placement, ratio=ratio, interval=interval)
    return Row(
        group=group,
        placement=placement,
        trials=0,
        finished=0,
        wrong=0,
        source="predicted",
        struck_out=0,
        struck_s=None,
        elapsed_s=trial.elapsed_s,
        elapsed=Median(
            value=trial.elapsed_s, values=0, interval=ConfidenceInterval(low=trial.low_s, high=trial.high_s)
        ),
        run_s=None,
        durable_s=None,
        phases=None,
        ratio=predicted.ratio if predicted else None,
        comparison=None,
        outliers=(),
        outcome=None,
        predictor=prediction.predictor,
        predicted=predicted,
        basis=trial.basis,
    )


def _level(prediction: Prediction, level: str, decision: Decision) -> PredictedLevel:
    trial, saving = prediction.trial, None
    if decision.placements:
        base = decision.placements[0].elapsed_s
        known = base.low is not None and base.high is not None
        ratio, interval = _ratio(
            trial, base.value, ConfidenceInterval(low=base.low or 0.0, high=base.high or 0.0) if known else None
        )
        saving = Estimate(
            value=1 - ratio, low=1 - interval.high if interval else None, high=1 - interval.low if interval else None
        )
    return PredictedLevel(
        predictor=prediction.predictor,
        level=level,
        basis=trial.basis,
        elapsed_s=Estimate(value=trial.elapsed_s, low=trial.low_s, high=trial.high_s),
        saving=saving,
    )


def _ratio(
    trial: PredictedTrial, base_s: float, base: ConfidenceInterval | None
) -> tuple[float, ConfidenceInterval | None]:
    """A predicted time over a measured one, and its interval: the two errors, of logarithms, are independent."""
    ratio = trial.elapsed_s / base_s
    if base is None:
        return ratio, None
    below = hypot(log(trial.elapsed_s / trial.low_s), log(base.high / base_s))
    above = hypot(log(trial.high_s / trial.elapsed_s), log(base_s / base.low))
    return ratio, ConfidenceInterval(low=ratio * exp(-below), high=ratio * exp(above))
