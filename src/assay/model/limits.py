"""Bounds of a cluster, and what was used of them."""

from assay.model.base import Frozen


class CacheUse(Frozen):
    """How the cluster's page cache was held at its budget, mapped files apart, since the cluster was healthy.

    A time counts as full when the cluster used all memory that its bound left to it at that moment: only then can the
    cache be expected to have the size of its budget.
    """

    budget_bytes: int
    """The budget."""
    peak_bytes: int = 0
    """The most page cache at any time."""
    held_s: float = 0.0
    """Seconds in which it was held, until the cluster ended."""
    full_s: float = 0.0
    """Seconds in which the budget was in full use, or exceeded."""
    above_s: float = 0.0
    """Seconds in which the page cache was more than 10 % above its budget."""
    below_s: float = 0.0
    """Seconds of those in full use in which it was more than 10 % below, because processes took memory faster than the
    bound followed."""
    squeezed_s: float = 0.0
    """Seconds in which the bound of all memory left less than the budget."""
    longest_step_s: float | None = None
    """The longest time between two settings of the bound."""
    trouble: str | None = None
    """Why it was no longer held; null if it was held to the end."""


class LimitUse(Frozen):
    """A cluster's use of its bounds since its start; null if there is no bound or the kernel does not tell."""

    interface: str | None = None
    """`version 1` or `version 2` of the control groups. Version 1 does not bound unwritten pages by group, so
    writers are slowed down later."""
    memory_limit_bytes: int | None = None
    """The bound of memory."""
    memory_peak_bytes: int | None = None
    """The most memory in use at any time, page cache included."""
    memory_limit_hits: int | None = None
    """How often memory was reclaimed at the bound. This is usual: the page cache grows until then. In version 1
    reclaims that hold a page cache at its budget count too."""
    out_of_memory_kills: int = 0
    """Processes that the kernel ended because no memory could be reclaimed."""
    cpus: float | None = None
    """The bound of processor time, in cores."""
    page_cache: CacheUse | None = None
    """The page cache, if it has a budget."""
    throttled_s: float | None = None
    """Seconds that threads waited for their share of processor time, added up."""
