"""HBase as a store: tables of lines on HDFS. The bytes that landed are those of block files, as for HDFS."""

from collections.abc import Mapping, Sequence
from typing import Literal

from assay.model.fault import Redundancy
from assay.model.layout import Directory, Layout
from assay.model.registry import STORES
from assay.model.running_cluster import RunningCluster
from assay.model.store import TABLES, Store
from assay.model.trial import Landed
from assay.store.hbase_service import HBASE, LOG, TABLES_FOLDER
from assay.store.hbase_tables import HbaseTables
from assay.store.hdfs import HDFS_SERVICE, HdfsPlacer, WebHdfs, directories_of


class HbasePlacer:
    """See `model.store.Placer`; each table is a folder of HDFS."""

    def __init__(self, files: WebHdfs, directories: Sequence[Directory]) -> None:
        self._files, self._of_files = files, HdfsPlacer(files, directories)

    def prepare(self, base: str, input_path: str) -> None:
        """Place what jobs keep in files beside tables; tables are made with the policy of their role."""
        self._of_files.prepare(base, input_path)

    def landed(self, role: str, when: Literal["staged", "run"], path: str) -> Landed:
        """Bytes of the block files of the tables at and below the path on each medium."""
        name = path.strip("/").replace("/", ".")
        tables = [table for table in self._files.folders(TABLES_FOLDER) if f"{table}.".startswith(f"{name}.")]
        blocks = {
            block: size for table in tables for block, size in self._files.blocks(f"{TABLES_FOLDER}/{table}").items()
        }
        return self._of_files.landed_blocks(role, when, blocks)

    def redundancy(self, lost: Sequence[Directory]) -> Redundancy:
        return self._of_files.redundancy(lost)


class Hbase:
    """See `model.store.StoreKind`."""

    holds = frozenset({TABLES})
    services: tuple[str, ...] = (HBASE.name,)

    def copies(self, properties: Mapping[str, str], nodes: int) -> int:
        """Return the copies of a block of HDFS, where all of HBase's files are."""
        return STORES.find(HDFS_SERVICE.name).copies(properties, nodes)

    def open(self, cluster: RunningCluster) -> Store:
        return cluster.client(HBASE.name, HbaseTables)

    def placer(self, cluster: RunningCluster, layout: Layout) -> HbasePlacer:
        return HbasePlacer(cluster.client(HDFS_SERVICE.name, WebHdfs), directories_of(layout, LOG))


STORES.add(HBASE.name, Hbase(), place=2)
