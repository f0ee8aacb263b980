"""Requests to disks as they were seen, in the emulator's form, and column by column.

What the kernel's tracepoints tell is kept in the same form, so that everything after reads one kind of file.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

from assay.model.signature import Requests

if TYPE_CHECKING:
    import numpy as np

READ, WRITE, FLUSH, DISCARD = range(4)
MAGIC, VERSION = b"ASSAYLOG", 1
HEADER_BYTES, RECORD_BYTES = 64, 32
FIELDS = [
    ("arrived_ns", "<u8"), ("offset", "<u8"), ("latency_ns", "<u8"), ("bytes", "<u4"), ("kind", "u1"), ("zero", "V3"),
]  # fmt: skip
IN_MEMORY_BYTES = 4 << 20
MOST_RECORDS = 1 << 24
CHUNK_RECORDS = 1 << 17
"""What is looked at at a time: 4 MiB."""
PATIENCE_S = 1.0
"""How long the emulator may take to write down what it has answered; it does so ten times a second."""

Records: TypeAlias = "np.ndarray[Any, Any]"


class Header(NamedTuple):
    """What a log says of itself; times in nanoseconds, `complete_ns` and `monotonic_ns` of CLOCK_MONOTONIC."""

    realtime_ns: int
    monotonic_ns: int
    records: int
    dropped: int
    complete_ns: int


def parse_header(content: bytes) -> Header:
    """Raises ValueError when these are not the first bytes of a log of this version."""
    if len(content) < HEADER_BYTES or content[:8] != MAGIC:
        raise ValueError("it is not a log of requests")
    version, record_bytes = (int.from_bytes(content[at : at + 4], "little") for at in (8, 12))
    if (version, record_bytes) != (VERSION, RECORD_BYTES):
        raise ValueError(f"it is of version {version} with records of {record_bytes} bytes; known is {VERSION}")
    return Header(*(int.from_bytes(content[at : at + 8], "little") for at in range(16, 56, 8)))


class EmulatorLog:
    """The log that an emulated drive writes; it may still be growing. Raises OSError when it can't be opened."""

    def __init__(self, path: Path) -> None:
        # Kept open: what was written stays readable when the drive's home is removed.
        self._file = path.open("rb", buffering=0)
        self.close = self._file.close
        self.header: Header | None = None

    def read_header(self) -> Header:
        """Read the log's header as it is now. Raises OSError or ValueError, also once it has been closed."""
        self._file.seek(0)
        return parse_header(self._file.read(HEADER_BYTES))

    def finish(self, until_ns: int, clock: Callable[[], float] = time.monotonic, pause_s: float = 0.02) -> bool:
        """Wait until all that was answered before `until_ns` is in the file. False when that takes too long."""
        deadline = clock() + PATIENCE_S
        while True:
            self.header = self.read_header()
            if self.header.complete_ns >= until_ns:
                return True
            if clock() > deadline:
                return False
            time.sleep(pause_s)

    def most(self) -> int:
        """How many whole records the last known header tells of. Raises OSError or ValueError."""
        self.header = self.header or self.read_header()
        whole = max(0, os.fstat(self._file.fileno()).st_size - HEADER_BYTES) // RECORD_BYTES
        return min(self.header.records, whole)

    def chunks(self) -> Iterator[Records]:
        """These in the order of the answers, some at a time. Raises OSError or ValueError."""
        import numpy as np

        left = self.most()
        self._file.seek(HEADER_BYTES)
        while left > 0:
            some = np.fromfile(self._file, dtype=FIELDS, count=min(left, CHUNK_RECORDS))
            if not len(some):
                return
            left -= len(some)
            yield some


class Spool:
    """Records of a real device, kept in memory up to 4 MiB and beyond that in a file without a name."""

    def __init__(self, folder: Path) -> None:
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - lives as long as the reading
            max_size=IN_MEMORY_BYTES, dir=str(folder) if folder.is_dir() else None
        )
        self.kept = self.refused = 0

    def add(self, records: Records) -> None:
        """Keep some; what is beyond the bound is counted as refused."""
        room = max(0, MOST_RECORDS - self.kept)
        self._file.write(records[:room].tobytes())
        self.kept += min(room, len(records))
        self.refused += max(0, len(records) - room)

    def chunks(self) -> Iterator[Records]:
        """Yield all requests, some at a time; none may be added meanwhile."""
        import numpy as np

        self._file.seek(0)
        while content := self._file.read(CHUNK_RECORDS * RECORD_BYTES):
            yield np.frombuffer(content, dtype=FIELDS)
        self._file.seek(0, os.SEEK_END)

    def close(self) -> None:
        self._file.close()


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
        upto = self.count + len(records)
        for name in ("bytes", "latency_ns", "kind"):
            self._columns[name][self.count : upto] = records[name]
        self._columns["arrived_ns"][self.count : upto] = time_of_day_ns
        self._columns["offset"][self.count : upto] = records["offset"].astype(np.int64) - shift
        self._columns["role"][self.count : upto] = role
        self.count = upto

    def requests(self, medium: str, source: str, roles: tuple[str, ...], dropped: int) -> Requests:
        filled = {name: column[: self.count] for name, column in self._columns.items()}
        return Requests(medium=medium, source=source, roles=roles, dropped=dropped, **filled)
