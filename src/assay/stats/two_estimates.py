"""Two estimates of what storage costs, by the zero-delay baseline and by blocked time: a doubt where they disagree."""

from collections.abc import Sequence
from math import hypot

from assay.model.doubt import Doubt, doubt_kind
from assay.stats.decision import Decision, PlacementResult
from assay.stats.estimate import Estimate

STORAGE_ESTIMATES_DISAGREE = doubt_kind(
    "storage-estimates-disagree", "run", instrument="blocked-time",
    when="the intervals of the storage share and of blocked time above the zero-delay baseline do not overlap",
    why="at least one of the two is not what storage costs here, so neither can be relied on",
    cure="see when tasks were blocked (samples of blocked-time), and repeat on an idle machine",
    severity=25,
)  # fmt: skip


def estimates_apart(decided: Sequence[Decision]) -> list[Doubt]:
    """A doubt for each placement whose two estimates of the storage share contradict each other."""
    doubts = []
    placed = [(placement, decision.baseline) for decision in decided for placement in decision.placements]
    for placement, baseline in placed:
        share, blocked = placement.storage_share, blocked_above(placement, baseline)
        if share is None or blocked is None or None in (share.low, share.high, blocked.low, blocked.high):
            continue
        if max(share.low or 0.0, blocked.low or 0.0) > min(share.high or 0.0, blocked.high or 0.0):
            what = (
                f"by the zero-delay baseline storage takes {_interval_words(share)} of the time on "
                f"{placement.placement}, but above it tasks were blocked for {_interval_words(blocked)} of that time"
            )
            doubts.append(STORAGE_ESTIMATES_DISAGREE.doubt(what, placement.placement))
    return doubts


def blocked_above(placement: PlacementResult, baseline: PlacementResult | None) -> Estimate | None:
    """Blocked seconds beyond those of the baseline, as a share of the placement's time, as `storage_share` is.

    So both leave out what the emulator's own path costs. None where either was not measured.
    """
    if baseline is None or baseline.blocked is None or placement.blocked is None:
        return None
    of_own = baseline.elapsed_s.value / placement.elapsed_s.value
    value = placement.blocked.share - of_own * baseline.blocked.share
    if placement.blocked.half_width is None or baseline.blocked.half_width is None:
        return Estimate(value=value)
    # Half-widths of unequal degrees of freedom, added up as errors are: a little too wide, so no doubt comes too soon.
    half = hypot(placement.blocked.half_width, of_own * baseline.blocked.half_width)
    return Estimate(value=value, low=value - half, high=value + half)


def _interval_words(estimate: Estimate) -> str:
    return f"{100 * estimate.value:.0f} % ({100 * (estimate.low or 0.0):.0f} to {100 * (estimate.high or 0.0):.0f} %)"
