"""From which saving on another placement, or level, is worth it."""

from collections.abc import Mapping
from typing import Any

from pydantic import model_serializer, model_validator

from assay.model.base import Frozen
from assay.model.prediction import PredictedVerdict
from assay.model.trial import Plan
from assay.stats.estimate import Estimate


class Threshold(Frozen):
    """A share of the base's time that a level must save: `share`, but for levels that have another (`by_level`).

    JSON has the share alone where all levels have the same.
    """

    share: float
    by_level: Mapping[str, float] = {}

    @model_validator(mode="before")
    @classmethod
    def _of_a_share(cls, value: Any) -> Any:
        return {"share": value} if isinstance(value, int | float) else value

    @model_serializer
    def _plain(self) -> float | dict[str, Any]:
        return {"share": self.share, "by_level": dict(self.by_level)} if self.by_level else self.share

    def of(self, level: str) -> float:
        """That of one level."""
        return self.by_level.get(level, self.share)

    @property
    def least(self) -> float:
        """The lowest of all: what saves less is worth it nowhere."""
        return min([self.share, *self.by_level.values()])


def threshold_of(plan: Plan) -> Threshold:
    """The reader's own, the same for all levels."""
    return Threshold(share=plan.worth)


def predicted_verdict(saving: Estimate, worth: float) -> PredictedVerdict:
    """Judge a predicted saving by its interval alone: all of it is at least the threshold, or below it, or neither."""
    if saving.low is None or saving.high is None:
        return "not known"
    if saving.low >= worth:
        return "worth it"
    return "not worth it" if saving.high < worth else "not known"
