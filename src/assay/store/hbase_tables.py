"""Tables of HBase: the properties that say how they are loaded, read, logged, left and laid out, and their client.

See `jobs/hbase`.
"""

from collections.abc import Mapping

from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.store.row_tables import RowTables, formats

SCHEME = "hbase"
FORMATS = formats("org.assay.hbase")
"""The properties by which jobs reach tables by their paths."""
POLICY = "hbase.assay.policy"
"""The property with HDFS' storage policy of new tables."""
USED = "hbase.assay.used"
"""The property with the number of columns that jobs will read of the lines that are put."""

_OF_TABLES = "hbase.assay."
REGIONS = f"{_OF_TABLES}regions"
LOAD, PUTS, SYNC = f"{_OF_TABLES}load", "puts", f"{_OF_TABLES}sync"
COLUMNS, APART = f"{_OF_TABLES}columns", "used-apart"
ENCODING, COMPRESSION = f"{_OF_TABLES}encoding", f"{_OF_TABLES}compression"
_CHOICES = {
    LOAD: (PUTS, "bulk"),
    "hbase.assay.read": ("scan", "snapshot"),
    SYNC: ("hsync", "hflush", "skipped"),
    "hbase.assay.compaction": ("run-on", "wait"),
    COLUMNS: ("line", APART),
    ENCODING: ("none", "prefix", "diff", "fast-diff", "row-index-v1"),
    COMPRESSION: ("none", "gz", "snappy"),
}
"""How tables are loaded, read, logged, left and laid out, as `jobs/hbase` understands it."""


def check_properties(properties: Mapping[str, str]) -> None:
    """Raises BadInputError for a property of tables that there is not, and for a value that it can't have."""
    known = (*_CHOICES, REGIONS)
    for name in properties:
        if name.startswith(_OF_TABLES) and name not in (*known, POLICY, USED):
            raise BadInputError(f"{name} is no property of tables; {nearest(name, known)}", name)
    for name, choices in _CHOICES.items():
        if properties.get(name, choices[0]) not in choices:
            raise BadInputError(f"{name} is {properties[name]!r}, and must be {' or '.join(choices)}", name)


class HbaseTables(RowTables):
    """Tables of HBase."""

    scheme = SCHEME
    used = USED
