"""A drive that nobody has: a toy predictor, added from outside the package."""

from assay.model.prediction import MeasuredRun, PredictedTrial
from assay.model.registry import PREDICTORS


def on_nvme(run: MeasuredRun) -> list[PredictedTrial]:
    """Half of the time that the first trial of each workload took."""
    firsts = {record.trial.workload.name: record for record in reversed(run.records) if record.totals}
    return [
        PredictedTrial(
            like=record.trial.id, levels={"placement": "nvme"}, elapsed_s=seconds, low_s=0.8 * seconds,
            high_s=1.25 * seconds, basis="half of the first time, for no reason",
        )
        for record in firsts.values()
        for seconds in [record.totals.elapsed_s / 2]
    ]  # fmt: skip


PREDICTORS.add("coin", on_nvme)
