"""A drive that nobody has: a toy predictor, added from outside the package."""

from assay.model.prediction import PredictedTrial
from assay.model.registry import PREDICTORS
from assay.model.trial_summary import MeasuredRun


def on_nvme(run: MeasuredRun) -> list[PredictedTrial]:
    """Half of the time that the first trial of each workload took."""
    firsts = {summary.trial.workload.name: summary for summary in reversed(run.trials) if summary.elapsed_s}
    return [
        PredictedTrial(
            like=summary.id, levels={"placement": "nvme"}, elapsed_s=seconds, low_s=0.8 * seconds,
            high_s=1.25 * seconds, basis="half of the first time, for no reason",
        )
        for summary in firsts.values()
        for seconds in [summary.elapsed_s / 2]
    ]  # fmt: skip


PREDICTORS.add("coin", on_nvme)
