"""Graphs as text: `u<TAB>v` for an edge, `v` alone for a vertex without one."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 20


def write_pairs(firsts: NDArray[np.int64], seconds: NDArray[np.int64], alone: NDArray[np.int64], file: Path) -> None:
    """A line for each pair of ids (both shape (m,)), then one for each id that stands alone, in their order."""
    import pyarrow as pa
    from pyarrow import csv

    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    schema = pa.schema([("first", pa.int64()), ("second", pa.int64())])
    with csv.CSVWriter(str(file), schema, write_options=options) as writer:
        for start in range(0, len(firsts), _CHUNK):
            part = slice(start, start + _CHUNK)
            writer.write_batch(pa.record_batch([pa.array(firsts[part]), pa.array(seconds[part])], schema=schema))
    with file.open("ab") as out:
        out.write("".join(f"{vertex}\n" for vertex in alone.tolist()).encode())
