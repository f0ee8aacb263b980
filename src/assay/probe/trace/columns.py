"""The requests of one medium, column by column and as narrow as they may be: 26 bytes each, or 30 with slow ones."""

from typing import TYPE_CHECKING, Any

from assay.model.signature import Requests
from assay.probe.trace.records import Records

if TYPE_CHECKING:
    import numpy as np

_NARROW = (1 << 32) - 1
_TYPES = {"arrived_ns": "i8", "offset": "i8", "bytes": "u4", "latency_ns": "u4", "kind": "u1", "role": "u1"}


class Columns:
    """Takes records in portions, as they are read."""

    def __init__(self) -> None:
        self._parts: dict[str, list[np.ndarray[Any, Any]]] = {name: [] for name in _TYPES}
        self.count = 0

    def add(
        self, records: Records, time_of_day_ns: "np.ndarray[Any, Any]", role: "np.ndarray[Any, Any]", shift: int
    ) -> None:
        """Some more, whose file system begins `shift` bytes after the place that offsets are counted from."""
        import numpy as np

        latency = records["latency_ns"]
        # Copies: a view of one column would keep the whole records.
        parts: dict[str, np.ndarray[Any, Any]] = {
            "arrived_ns": time_of_day_ns.astype(np.int64),
            "offset": records["offset"].astype(np.int64) - shift,
            "bytes": records["bytes"].astype(np.uint32),
            "latency_ns": latency.astype(np.uint32 if not len(latency) or latency.max() <= _NARROW else np.int64),
            "kind": records["kind"].copy(),
            "role": role,
        }
        for name, part in parts.items():
            self._parts[name].append(part)
        self.count += len(records)

    def requests(self, medium: str, source: str, dropped: int) -> Requests:
        """All of them; nothing is left here."""
        return Requests(
            medium=medium, source=source, dropped=dropped, arrived_ns=self._joined("arrived_ns"),
            offset=self._joined("offset"), bytes=self._joined("bytes"), latency_ns=self._joined("latency_ns"),
            kind=self._joined("kind"), role=self._joined("role"),
        )  # fmt: skip

    def _joined(self, name: str) -> "np.ndarray[Any, Any]":
        """One column at a time is there twice."""
        import numpy as np

        parts, self._parts[name] = self._parts[name], []
        return np.concatenate(parts) if parts else np.zeros(0, _TYPES[name])
