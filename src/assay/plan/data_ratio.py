"""How much more a site's node reads of a job's input than it has memory left for files: what decides on a page cache.

A sample meets drives as often as the whole input does where both have the same ratio.
"""

import math
from typing import NamedTuple

from assay.model.errors import BadInputError
from assay.model.naming import bytes_text

AMPLE = 4
"""With so many times the input left for files, a trial's page cache needs no bound for what is read."""
_NEAR = 0.8
"""So large a part of a ratio is near enough to be proposed in its place."""


class SiteNode(NamedTuple):
    """Bytes of a node of a site, None where they are not known.

    Its memory, what containers may take of that, and what it reads of a job's input. `usual_containers` tells that
    containers may take what Hadoop gives them where nobody says anything. `differences` says how nodes differ, of which
    this one leaves least to files; empty where they don't.
    """

    memory_bytes: int | None
    container_bytes: int | None
    read_bytes: float | None
    usual_containers: bool = False
    differences: str = ""

    def ratio(self) -> float:
        """What it reads for each byte of memory that containers leave to files. Raises BadInputError."""
        lacking = [
            how
            for amount, how in (
                (self.memory_bytes, "how much memory a node has (--node-memory 128GiB)"),
                (self.container_bytes, "how much of it containers may take (--container-memory 96GiB)"),
                (self.read_bytes, "how many nodes share the input (--nodes 12)"),
            )
            if amount is None
        ]
        if self.memory_bytes is None or self.container_bytes is None or self.read_bytes is None:
            raise BadInputError(
                f"how much of the input fits into your nodes' memory is not known; say {' and '.join(lacking)}, which "
                "--cluster CONF_DIR or --history FILE may tell; or say --ratio 4, the bytes of the input that a node "
                "reads for each byte of memory that it has left for files"
            )
        free = self.memory_bytes - self.container_bytes
        if free <= 0:
            raise BadInputError(
                f"containers may take {bytes_text(self.container_bytes)}{self._assumed} of a node's "
                f"{bytes_text(self.memory_bytes)}, which leaves no memory for files; say with --ratio 4 how many bytes "
                "of the input a node reads for each byte that it has left in fact"
            )
        return self.read_bytes / free

    @property
    def text(self) -> str:
        """What the ratio was worked out from."""
        return (
            f"a node reads {bytes_text(self.read_bytes or 0)} of the input, and has "
            f"{bytes_text(self.memory_bytes or 0)} of memory, of which containers may take "
            f"{bytes_text(self.container_bytes or 0)}{self._assumed}{self._of_several}"
        )

    @property
    def _of_several(self) -> str:
        if not self.differences:
            return ""
        return f"; your nodes differ ({self.differences}), and such a one leaves least to files"

    @property
    def _assumed(self) -> str:
        return " (assumed: Hadoop's default; --container-memory says another)" if self.usual_containers else ""


def times_text(count: float) -> str:
    """Three digits, and all digits of what has more: `0.25`, `4`, `3,280`."""
    return f"{count:,.0f}" if count >= 100 else f"{count:.3g}"


def cache_bytes(
    sample_bytes: int, ratio: float, least_bytes: int, *, most_bytes: float, whole: bool = False
) -> int | None:
    """The page cache that has the ratio to a sample, so that as much of what is written waits there.

    None where it needs no bound for what is read, and would be above `most_bytes` or below the least. `whole` tells
    that the sample is all that its place has. Raises BadInputError for a sample that is too small.
    """
    budget = round(sample_bytes / ratio)
    if ratio * AMPLE < 1 and not least_bytes <= budget <= most_bytes:
        return None
    if budget < least_bytes:
        least_mib = math.ceil(least_bytes * ratio / (1 << 20))
        near = math.floor(10 * sample_bytes / least_bytes) / 10
        more = f"name a place with at least {least_mib} MiB" if whole else f"take at least --sample {least_mib}MiB"
        more += f", or say --ratio {near:g}" if near >= _NEAR * ratio else ""
        raise BadInputError(
            f"a sample of {bytes_text(sample_bytes)} with a ratio of {times_text(ratio)} leaves {bytes_text(budget)} "
            f"to the page cache, and a cluster does not run reliably with less than {bytes_text(least_bytes)}; {more}"
        )
    return budget
