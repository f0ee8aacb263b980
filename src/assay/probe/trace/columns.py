"""The requests of one medium, column by column and as narrow as they may be: 26 bytes each, or 30 with slow ones."""

from typing import TYPE_CHECKING, Any

from assay.model.signature import Requests
from assay.probe.trace.records import Records

if TYPE_CHECKING:
    import numpy as np

_NARROW = (1 << 32) - 1
_TYPES = {"arrived_ns": "i8", "offset": "i8", "bytes": "u4", "latency_ns": "u4", "kind": "u1", "role": "u1"}


class Columns:
    """Takes records in portions, as they are read: at most so many in all.

    Room for all of them is asked for at once, and the kernel gives it as it is used: many small columns that are joined
    in the end would take twice the memory, and leave it in pieces.
    """

    def __init__(self, most: int) -> None:
        import numpy as np

        self._columns = {name: np.empty(most, kind) for name, kind in _TYPES.items()}
        self.count = 0

    def add(
        self, records: Records, time_of_day_ns: "np.ndarray[Any, Any]", role: "np.ndarray[Any, Any]", shift: int
    ) -> None:
        """Some more, whose file system begins `shift` bytes after the place that offsets are counted from."""
        import numpy as np

        latency_ns = records["latency_ns"]
        if len(latency_ns) and latency_ns.max() > _NARROW:
            self._columns["latency_ns"] = self._columns["latency_ns"].astype(np.int64, copy=False)
        added: dict[str, np.ndarray[Any, Any]] = {
            "arrived_ns": time_of_day_ns,
            "offset": records["offset"].astype(np.int64) - shift,
            "bytes": records["bytes"],
            "latency_ns": latency_ns,
            "kind": records["kind"],
            "role": role,
        }
        upto = self.count + len(records)
        for name, column in added.items():
            self._columns[name][self.count : upto] = column
        self.count = upto

    def requests(self, medium: str, source: str, dropped: int) -> Requests:
        """All of them."""
        filled = {name: column[: self.count] for name, column in self._columns.items()}
        return Requests(medium=medium, source=source, dropped=dropped, **filled)
