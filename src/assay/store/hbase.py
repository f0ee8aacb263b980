"""HBase as a store: tables of lines on HDFS. The bytes that landed are those of block files, as for HDFS."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from typing import Literal

from assay.model.fault import Redundancy
from assay.model.layout import Directory, Layout
from assay.model.naming import bytes_text
from assay.model.record import Promise
from assay.model.registry import STORES
from assay.model.running_cluster import RunningCluster
from assay.model.store import TABLES, LeastRoom, Placer, StoreKind
from assay.model.trial import Landed
from assay.store.divided import add_divided
from assay.store.hbase_found import HbaseOptions
from assay.store.hbase_service import (
    ARCHIVE_FOLDER,
    CACHE,
    CACHE_MB,
    HBASE,
    LEAST_CACHE_MB,
    LOG,
    LOGS_FOLDER,
    OF_OUTPUT,
    TABLES_FOLDER,
    caches,
)
from assay.store.hbase_tables import APART, COLUMNS, LOAD, POLICY, PUTS, SYNC, HbaseTables
from assay.store.hdfs import (
    HDFS,
    HDFS_SERVICE,
    HdfsPlacer,
    WebHdfs,
    block_bytes,
    directories_of,
    is_apart,
    left_free_bytes,
    size_property,
)
from assay.store.row_tables import table_path

_REACH = {"hsync": "drives", "hflush": "memory", "skipped": "one server"}
_HSYNC = "hbase.wal.hsync"
"""The servers' property that says whether logs are synced to drives, for tables that do not say it (`HRegion`)."""
_LOG_BLOCK = "hbase.regionserver.hlog.blocksize"
"""The property of a log's blocks, which are twice as large as those of other files by default (`WALUtil`)."""
_FURTHER_LOGS = 2
"""Open logs beside one of each region server: HMaster's own, and that of `hbase:meta`."""
_SECTOR = 512
"""The unit in which the kernel says what a file has on its drive, in bytes."""
_CELL_BYTES = 37
"""What a cell has beside its line: a key of 14 bytes, lengths, family, column, time and type (`KeyValue`)."""
_CELLS_MOST = 4.0
"""Bytes of cells for each byte of lines of which nothing is known: those of the shortest, edges with 12 bytes."""


class HbasePlacer(Placer):
    """See `model.store.Placer`; each table is a folder of HDFS."""

    def __init__(self, files: WebHdfs, directories: Sequence[Directory], of_caches: Sequence[Directory] = ()) -> None:
        self._files, self._of_files, self._caches = files, HdfsPlacer(files, directories), of_caches
        self.own_paths = {LOG: LOGS_FOLDER, **({CACHE: f"/{CACHE}"} if of_caches else {})}
        self.output_properties = {POLICY: OF_OUTPUT} if is_apart(directories) else {}

    def prepare(self, base: str, input_path: str) -> None:
        """Place what jobs keep in files beside tables; tables are made with the policy of their role."""
        self._of_files.prepare(base, input_path)

    def landed(self, role: str, when: Literal["staged", "run"], path: str) -> Landed:
        """Bytes of the block files of the tables at and below the path, or of the servers' logs, on each medium.

        What a compaction has replaced counts, too: it lies there for minutes, beside the new files at first and then
        in the archive, and when it moves does not matter.
        """
        if role == CACHE:
            return self._cached(when)
        if role in self.own_paths:
            return self._of_files.landed(role, when, path)
        name = table_path(path).strip("/").replace("/", ".")
        tables = [table for table in self._files.folders(TABLES_FOLDER) if f"{table}.".startswith(f"{name}.")]
        blocks: dict[int, int] = {}
        for folder in (TABLES_FOLDER, ARCHIVE_FOLDER):  # in this order: no file is missed that moves in between
            for table in tables:
                blocks |= self._files.blocks(f"{folder}/{table}")
        return self._of_files.landed_blocks(role, when, blocks)

    def _cached(self, when: Literal["staged", "run"]) -> Landed:
        """Bytes of the caches' files, without the holes of what was never written: their length is the caches' size."""
        sizes: Counter[str] = Counter()
        for directory in self._caches:
            sizes[directory.medium] += sum(_SECTOR * file.stat().st_blocks for file in directory.path.iterdir())
        total = sizes.total()
        shares = {medium: size / total for medium, size in sizes.items() if size}
        return Landed(role=CACHE, when=when, bytes=total, shares=shares)

    def redundancy(self, lost: Sequence[Directory]) -> Redundancy:
        return self._of_files.redundancy(lost)


def promise_while_staging(properties: Mapping[str, str], nodes: int) -> Promise:
    """Return that of a put, which the log's sync gives, or that of files which are loaded."""
    of_files = HDFS.promise(properties, nodes)
    if properties.get(LOAD, PUTS) != PUTS:
        return of_files
    usual = "hsync" if properties.get(_HSYNC, "false").strip().lower() == "true" else "hflush"
    return of_files.model_copy(update={"reach": _REACH[properties.get(SYNC, usual)]})


def space_factor(properties: Mapping[str, str], line_bytes: float | None) -> float:
    """Return the factor of a table's cells, with the log and with what a compaction makes of all files."""
    logged = properties.get(LOAD, PUTS) == PUTS and properties.get(SYNC) != "skipped"
    cells_of_line = 2 if properties.get(COLUMNS) == APART else 1
    cells = 1 + cells_of_line * _CELL_BYTES / line_bytes if line_bytes else _CELLS_MOST
    return (3 if logged else 2) * cells


def least_rooms(properties: Mapping[str, str], nodes: int) -> Sequence[LeastRoom]:
    """Return those of files, room for whole blocks of the logs that are open from the beginning, and that of caches."""
    block = size_property(properties, _LOG_BLOCK, 2 * block_bytes(properties))
    logs = ceil((nodes + _FURTHER_LOGS) * HDFS.promise(properties, nodes).copies / nodes)
    free = left_free_bytes(properties)
    why = (
        f"{logs} logs are open there at once, and DataNodes keep room for a whole block of each ({_LOG_BLOCK}, "
        f"{bytes_text(block)}) beside {bytes_text(free)} that stay free"
    )
    # Without a size, a cache takes half of what is free.
    cache_mb = int(properties.get(CACHE_MB, 2 * LEAST_CACHE_MB))
    of_caches = LeastRoom(frozenset({CACHE}), cache_mb << 20, f"region servers keep blocks there ({CACHE_MB})")
    of_logs = LeastRoom(frozenset({LOG}), free + logs * block, why)
    return (*HDFS.least_rooms(properties, nodes), of_logs, of_caches)


def _placer(cluster: RunningCluster, layout: Layout) -> HbasePlacer:
    files = cluster.client(HDFS_SERVICE.name, WebHdfs)
    return HbasePlacer(files, directories_of(layout, LOG), caches(layout))


KIND = StoreKind(
    open=lambda cluster: cluster.client(HBASE.name, HbaseTables),
    services=(HBASE.name,),
    holds=frozenset({TABLES}),
    # Every load ends with rows in closed HFiles, by a flush or as they are loaded.
    promise=HDFS.promise,
    promise_while_staging=promise_while_staging,
    placer=_placer,
    copies_property=HDFS.copies_property,
    space_factor=space_factor,
    least_rooms=least_rooms,
    options=HbaseOptions,
    found_keys=frozenset(HbaseOptions.model_fields),
)
STORES.add(HBASE.name, KIND, place=2)
add_divided((HBASE.name, KIND), (HDFS_SERVICE.name, HDFS), place=3)
