"""The answer to a run's question as data: what storage costs, what each placement saves, whether it is worth it."""

from collections.abc import Mapping
from enum import StrEnum

from assay.model.base import Frozen
from assay.stats.comparison import Comparison


class Verdict(StrEnum):
    """A placement against the base, by the reader's threshold."""

    WORTH_IT = "worth it"
    NOT_WORTH_IT = "not worth it"
    NOT_KNOWN_YET = "not known yet"


class Estimate(Frozen):
    """A figure with its 95 % confidence interval (None where nothing says how far to trust it)."""

    value: float
    low: float | None = None
    high: float | None = None


class Split(Frozen):
    """Where the time of a run went, in seconds; the parts add up to the median run, from first submission to last end.

    `storage_s` is the time above that with zero storage delay, None without a baseline (then it is in `computing_s`).
    `start_up_s` is the time within jobs during which no task ran; `between_jobs_s` that outside all jobs.
    """

    computing_s: float
    storage_s: Estimate | None
    start_up_s: float
    between_jobs_s: float


class PlacementResult(Frozen):
    """One placement of a decision.

    `drives` are what its media are, in words; `elapsed_s` is the jobs' time in seconds. Against the base (`None` for
    the base itself): `saving`, the share of the base's time that it saves, and `verdict`. Against zero storage delay
    (None without a baseline): `storage_s`, `storage_share`. `won_back` is the share of what storage costs on the base
    that this placement saves; None where storage costs the base nothing that is significant.
    """

    placement: str
    drives: str
    trials: int
    elapsed_s: Estimate
    saving: Estimate | None
    verdict: Verdict | None
    comparison: Comparison | None
    storage_s: Estimate | None
    storage_share: Estimate | None
    won_back: Estimate | None
    split: Split | None


class Condition(Frozen):
    """Something that must hold for the experiment to ask its question well: a share (0 to 1) and the least it may be.

    `subject` is the placement that it was measured on; `share` is None where it could not be measured.
    """

    kind: str
    subject: str
    share: float | None
    least: float

    @property
    def met(self) -> bool:
        """Whether it was measured and is large enough."""
        return self.share is not None and self.share >= self.least


class More(Frozen):
    """How many more repetitions of all of the decision's trials would decide it, and how many seconds they take."""

    repetitions: int
    seconds: float


class Decision(Frozen):
    """One workload on one input, everything but the placement equal (`levels`: all factors but the placement).

    `placements` begin with the base; the `baseline` (zero storage delay) is not among them. `best` is the placement
    with the least time. `busy_bound_s` is how long the base's drives were busy: without a baseline no drive can save
    more (None where nobody measured). `comparisons` of the decision's jobs and phases are listed elsewhere.
    """

    levels: Mapping[str, str]
    worth: float
    placements: tuple[PlacementResult, ...]
    baseline: PlacementResult | None
    best: str
    verdict: Verdict
    busy_bound_s: float | None
    conditions: tuple[Condition, ...]
    more: More | None
