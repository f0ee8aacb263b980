"""Records, plans and samples of schema 3, as those of schema 4: losslessly.

A series of samples was `SUBJECT/SERIES` there, or `SERIES` of the machine as a whole. A subject may have a `/` in it, a
series never had.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

VERSION = 3


def converted(content: Mapping[str, Any]) -> dict[str, Any]:
    """A record's or plan's JSON of schema 3 in the form of schema 4: only the samples beside it differ."""
    return {**content, "schema_version": 4}


def with_subjects(table: "pyarrow.Table") -> "pyarrow.Table":
    """A table of samples of schema 3 with its subjects as a column; any other as it is."""
    if "series" not in table.column_names or "subject" in table.column_names:
        return table
    import pyarrow
    import pyarrow.compute as pc

    place, names = table.column_names.index("series"), pc.dictionary_encode(table["series"].combine_chunks())
    parts = [name.rpartition("/") for name in names.dictionary.to_pylist()]
    columns = [
        pyarrow.DictionaryArray.from_arrays(names.indices, pyarrow.array(own, pyarrow.string())).cast(pyarrow.string())
        for own in ([subject for subject, _, _ in parts], [series for _, _, series in parts])
    ]
    return table.set_column(place, "series", columns[1]).add_column(place, "subject", columns[0])
