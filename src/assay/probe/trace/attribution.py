"""Which role each request served: that of the file to which its first byte belonged when it arrived."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.model.signature import ACCESS_ROLES
from assay.probe.file_map import Extent
from assay.probe.trace.records import Records

if TYPE_CHECKING:
    import numpy as np

OTHER = ACCESS_ROLES.index("other")


def roles_of(records: Records, extents: Sequence[Extent], shift_bytes: int = 0) -> "np.ndarray[Any, Any]":
    """An index into ACCESS_ROLES for each request; `shift_bytes` is where the extents' file system begins.

    Space is used again: extents that overlap are laid into layers in which none do, and each layer is searched for the
    requests that are still without a role.
    """
    import numpy as np

    roles = np.full(len(records), OTHER, np.uint8)
    offset = records["offset"].astype(np.int64) - shift_bytes
    arrived = records["arrived_ns"].astype(np.int64)
    left = np.arange(len(records))
    for layer in _layers(extents):
        begin = np.array([extent.begin for extent in layer], np.int64)
        end = np.array([extent.end for extent in layer], np.int64)
        since = np.array([extent.since_ns for extent in layer], np.int64)
        until = np.array([extent.until_ns for extent in layer], np.int64)
        role = np.array([ACCESS_ROLES.index(extent.role) for extent in layer if extent.role != "data"], np.uint8)
        where = np.searchsorted(begin, offset[left], side="right") - 1
        found = (where >= 0) & (offset[left] < end[where])
        found &= (since[where] <= arrived[left]) & (arrived[left] <= until[where])
        roles[left[found]] = role[where[found]]
        left = left[~found]
    return roles


def _layers(extents: Sequence[Extent]) -> list[list[Extent]]:
    """As few as there can be; the newest use of a place comes first where the same bytes begin two extents."""
    left = sorted((one for one in extents if one.role != "data"), key=lambda one: (one.begin, -one.since_ns))
    layers = []
    while left:
        layer: list[Extent] = []
        rest: list[Extent] = []
        upto = -1
        for extent in left:
            if extent.begin >= upto:
                layer.append(extent)
                upto = extent.end
            else:
                rest.append(extent)
        layers.append(layer)
        left = rest
    return layers
