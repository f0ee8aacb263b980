"""The log of requests to a trial's drives, which predictions replay: one table beside the record.

Columns: `medium`, the drive as probes name it; `source`, what saw its requests; `role`; `kind` (0 read, 1 write,
2 flush, 3 discard); `arrived_ns` since the epoch; `offset` and `bytes` on the drive; `latency_ns` until the answer.
Rows are in the order of arrivals, drive by drive. The table's metadata say how many requests of each drive were
`dropped`, as JSON.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from assay.host.files import refuse_irregular
from assay.model.errors import BadInputError
from assay.model.signature import Requests

REQUESTS = "requests.parquet"
_NUMBERS = ("kind", "arrived_ns", "offset", "bytes", "latency_ns")
_DROPPED = b"dropped"


def write_requests(file: Path, logs: Sequence[Requests]) -> None:
    """Write the logs of all drives of a trial."""
    import pyarrow
    from pyarrow import parquet

    tables = []
    for log in logs:
        order = np.argsort(log.arrived_ns, kind="stable")
        columns = {name: pyarrow.array(getattr(log, name)[order].astype(np.int64)) for name in _NUMBERS}
        role = pyarrow.DictionaryArray.from_arrays(pyarrow.array(log.role[order].astype("int32")), list(log.roles))
        texts = {name: pyarrow.repeat(getattr(log, name), len(order)) for name in ("medium", "source")}
        tables.append(pyarrow.table({**texts, "role": role.cast(pyarrow.string()), **columns}))
    dropped = json.dumps({log.medium: log.dropped for log in logs})
    table = pyarrow.concat_tables(tables).replace_schema_metadata({_DROPPED: dropped})
    # Arrivals rise, and addresses often go on where the last request ended: their differences take few bytes.
    parquet.write_table(
        table, file, compression="zstd", use_dictionary=["medium", "source", "role", "bytes"],
        column_encoding=dict.fromkeys(("arrived_ns", "offset", "latency_ns"), "DELTA_BINARY_PACKED"),
    )  # fmt: skip


def read_requests(file: Path) -> Mapping[str, Requests]:
    """The logs of a trial's drives by name; empty without a file. Raises BadInputError when it is damaged."""
    import pyarrow
    from pyarrow import parquet

    if not file.exists():
        return {}
    refuse_irregular(file)
    try:
        table = parquet.read_table(file)
        dropped = json.loads((table.schema.metadata or {})[_DROPPED])
        logs = {}
        for medium, count in dropped.items():
            rows = table.filter(pyarrow.compute.equal(table["medium"], medium))
            names = rows["role"].unique().to_pylist()
            numbers = {name: rows[name].to_numpy() for name in _NUMBERS}
            role = np.array([names.index(name) for name in rows["role"].to_pylist()], dtype="u1")
            source = rows["source"][0].as_py() if len(rows) else ""
            logs[medium] = Requests(medium, source, role=role, roles=tuple(names), dropped=count, **numbers)
    except (pyarrow.ArrowException, OSError, KeyError, ValueError, AttributeError) as error:
        raise BadInputError(f"{file} can't be read: {error}") from None
    return logs
