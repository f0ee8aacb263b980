"""What a cluster used of the bounds that were put on it."""

from assay.model.base import Frozen


class LimitUse(Frozen):
    """A cluster's use of its bounds since its start; None where there is no bound, or the kernel does not tell.

    `interface` is the control groups' version: in version 1 unwritten pages are not bounded by group, so writers are
    held back later than in version 2. `memory_peak_bytes` is the most that was in use at once, page cache included;
    `memory_limit_hits` how often memory had to be taken back because the bound was reached (usual, as the page cache
    grows until then); `out_of_memory_kills` how many processes the kernel ended because nothing could be taken back;
    `throttled_s` how long its threads together had to wait for their next share of processor time.
    """

    interface: str | None = None
    memory_limit_bytes: int | None = None
    memory_peak_bytes: int | None = None
    memory_limit_hits: int | None = None
    out_of_memory_kills: int = 0
    cpus: float | None = None
    throttled_s: float | None = None
