"""Predictions: trials that nobody ran. A predictor gives their times from the trials of a run.

They stand in the run's table beside its trials, marked as predicted. No statistic of measured trials reads them.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from assay.model.base import Frozen
from assay.model.trial_summary import MeasuredRun

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
PredictedVerdict = Literal["worth it", "not worth it", "not known"]


class PredictedTrial(Frozen):
    """The time of the jobs of a trial that did not run, with its 95 % interval.

    The trial is as the trial `like` of the run, on the same kind of machine, but for some `levels` of factors. The
    interval has the noise of the trials that are like that one, so that the ratio to their time has no noise besides.
    Raises ValidationError where the time does not lie within its interval.
    """

    like: str
    levels: Mapping[str, str]
    elapsed_s: Seconds
    low_s: Seconds
    high_s: Seconds
    basis: str = Field(min_length=1)
    """What the prediction rests on and where it holds, in a few words."""
    verdict: PredictedVerdict | Literal[""] = ""
    """Whether it saves as much as the plan's threshold of the time of the trials that are like `like`; empty where the
    predictor does not judge."""
    reason: str = ""
    """Why the verdict is not known whatever the interval is, or why it is known, in a few words; empty where the
    interval alone decides."""
    surer: str = ""
    """What would make it surer, in a few words."""

    @model_validator(mode="after")
    def _lies_within(self) -> "PredictedTrial":
        if not self.low_s <= self.elapsed_s <= self.high_s:
            raise ValueError(f"{self.elapsed_s} s is not within its interval of {self.low_s} to {self.high_s} s")
        return self


Predictor = Callable[[MeasuredRun], Sequence[PredictedTrial]]
"""Gives no trials where it knows nothing of the run; it is asked each time that a run is read."""
