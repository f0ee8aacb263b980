"""Which role each request served: that of the file to which its first byte belonged when it arrived."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.model.signature import ACCESS_ROLES
from assay.probe.file_map import Extent
from assay.probe.trace.records import Records

if TYPE_CHECKING:
    import numpy as np

OTHER = ACCESS_ROLES.index("other")


class Attribution:
    """The places of files, ready to be asked for whose a request is.

    Space is used again: extents that overlap are laid into layers in which none do, and each layer is searched for the
    requests that are still without a role.
    """

    def __init__(self, extents: Sequence[Extent], shift_bytes: int = 0) -> None:
        """`shift_bytes` is where the extents' file system begins."""
        self._shift_bytes = shift_bytes
        self._layers = [_Layer.of(layer) for layer in _layers(extents)]

    def roles(self, records: Records) -> "np.ndarray[Any, Any]":
        """An index into ACCESS_ROLES for each request."""
        import numpy as np

        roles = np.full(len(records), OTHER, np.uint8)
        offset = records["offset"].astype(np.int64) - self._shift_bytes
        arrived = records["arrived_ns"].astype(np.int64)
        left = np.arange(len(records))
        for layer in self._layers:
            where = np.searchsorted(layer.begin, offset[left], side="right") - 1
            found = (where >= 0) & (offset[left] < layer.end[where])
            found &= (layer.since_ns[where] <= arrived[left]) & (arrived[left] <= layer.until_ns[where])
            roles[left[found]] = layer.role[where[found]]
            left = left[~found]
        return roles


class _Layer(NamedTuple):
    """Extents of which no two overlap, in the order of their places."""

    begin: "np.ndarray[Any, Any]"
    end: "np.ndarray[Any, Any]"
    since_ns: "np.ndarray[Any, Any]"
    until_ns: "np.ndarray[Any, Any]"
    role: "np.ndarray[Any, Any]"

    @classmethod
    def of(cls, extents: Sequence[Extent]) -> "_Layer":
        import numpy as np

        numbers = [np.array(column, np.int64) for column in zip(*(one[:4] for one in extents), strict=True)]
        begin, end, since_ns, until_ns = numbers
        role = np.array([ACCESS_ROLES.index(one.role) for one in extents if one.role != "data"], np.uint8)
        return cls(begin, end, since_ns, until_ns, role)


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
