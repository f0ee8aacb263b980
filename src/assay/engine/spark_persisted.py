"""The RDDs that a Spark application persists: which may lie on drives, and which of its tasks read them from memory.

Spark counts the bytes of a persisted partition as input, wherever they lay (Spark: RDD.getOrCompute). Where they lay is
known if updates of blocks are logged (`spark.eventLog.logBlockUpdates.enabled`): each partition that an executor keeps,
evicts or moves to a drive is one. The update is logged before the end of any task that has to read the source instead.
"""

from collections.abc import Iterable, Mapping
from typing import Any

BLOCK_UPDATES = "spark.eventLog.logBlockUpdates.enabled"
ON_DRIVES = "partitions were persisted on drives, and Spark does not count what it writes there"
MAY_BE_ON_DRIVES = (
    "partitions may have been persisted on drives, and Spark does not count what it writes there; set "
    f"{BLOCK_UPDATES}=true, and the log says whether they were"
)
RDD_BLOCK = "rdd_"

_Rdds = Mapping[int, Mapping[str, Any]]
"""The RDDs of a stage by number, as its event has them: those that it computes without a shuffle between them."""


class PersistedRdds:
    """What the events of an application have told so far of its RDDs; `numbers` are those that were persisted."""

    def __init__(self) -> None:
        self.numbers: set[int] = set()
        self.with_drives: set[int] = set()
        """Those whose storage level uses drives for what memory can't hold."""
        self.seen_on_drives: set[int] = set()
        """Those of which a partition lay on a drive."""
        self._updated: set[int] = set()
        self._in_memory: dict[int, dict[int, set[str]]] = {}
        """By RDD and partition, the executors that keep it in memory."""
        self._losses: dict[int, int] = {}
        """How many of an RDD's partitions have left an executor's memory."""
        self._reads_memory: dict[int, dict[int, int]] = {}
        """Of stages that read no source: the RDDs whose partitions all were in memory, and their losses until then."""

    @property
    def on_drives(self) -> set[int]:
        """Those that lay on drives, or may have: whose level uses drives, and of which no update tells."""
        return self.seen_on_drives | (self.with_drives - self._updated)

    def submitted(self, stage: Mapping[str, Any]) -> None:
        """A stage begins, by its `Stage Info`."""
        self.note_levels(stage)
        self._reads_memory.pop(stage["Stage ID"], None)
        rdds = {rdd["RDD ID"]: rdd for rdd in stage.get("RDD Info") or []}
        whole = {number for number, rdd in rdds.items() if self._is_in_memory(rdd)}
        if whole and not _reads_source(rdds, whole):
            self._reads_memory[stage["Stage ID"]] = {number: self._losses.get(number, 0) for number in whole}

    def note_levels(self, stage: Mapping[str, Any]) -> None:
        """Take over how the RDDs of a stage are persisted, by its `Stage Info`."""
        for rdd in stage.get("RDD Info") or []:
            if _is_persisted(rdd):
                self.numbers.add(rdd["RDD ID"])
                if rdd["Storage Level"].get("Use Disk"):
                    self.with_drives.add(rdd["RDD ID"])

    def updated(self, block: Mapping[str, Any]) -> None:
        """A block is kept, evicted or moved by an executor, by its `Block Updated Info`."""
        name = str(block["Block ID"])
        if not name.startswith(RDD_BLOCK):
            return
        rdd, partition = (int(part) for part in name.removeprefix(RDD_BLOCK).split("_"))
        executor = str(block["Block Manager ID"]["Executor ID"])
        self._updated.add(rdd)
        if block["Disk Size"]:
            self.seen_on_drives.add(rdd)
        if block["Memory Size"]:
            self._in_memory.setdefault(rdd, {}).setdefault(partition, set()).add(executor)
        else:
            self._leaves(rdd, partition, executor)

    def unpersisted(self, rdd: int) -> None:
        """An RDD is no longer persisted."""
        self._losses[rdd] = self._losses.get(rdd, 0) + 1
        self._in_memory.pop(rdd, None)

    def executor_removed(self, executor: str) -> None:
        """An executor has ended, with all that it kept."""
        for rdd, partitions in self._in_memory.items():
            for partition in partitions:
                self._leaves(rdd, partition, executor)

    def are_read_from_memory(self, stage: int) -> bool:
        """Whether a task of a stage that ends now has read all of its input from memory; False if that is not known."""
        losses = self._reads_memory.get(stage)
        return losses is not None and all(self._losses.get(rdd, 0) == lost for rdd, lost in losses.items())

    def _leaves(self, rdd: int, partition: int, executor: str) -> None:
        executors = self._in_memory.get(rdd, {}).get(partition, set())
        if executor in executors:
            executors.remove(executor)
            self._losses[rdd] = self._losses.get(rdd, 0) + 1

    def _is_in_memory(self, rdd: Mapping[str, Any]) -> bool:
        kept = self._in_memory.get(rdd["RDD ID"], {})
        return _is_persisted(rdd) and sum(map(bool, kept.values())) >= rdd["Number of Partitions"] > 0


def _reads_source(rdds: _Rdds, whole: set[int]) -> bool:
    """Whether a way leads from the last RDDs of a stage to a source, without one of which all partitions are kept."""
    parents = {parent for rdd in rdds.values() for parent in _parents(rdd)}
    seen: set[int] = set()
    waiting = [number for number in rdds if number not in parents]
    while waiting:
        number = waiting.pop()
        # Parents that are not of this stage are read by a shuffle, which counts no input.
        if number in seen or number in whole or number not in rdds:
            continue
        seen.add(number)
        if not _parents(rdds[number]):
            return True
        waiting += _parents(rdds[number])
    return False


def _parents(rdd: Mapping[str, Any]) -> Iterable[int]:
    return rdd.get("Parent IDs") or ()


def _is_persisted(rdd: Mapping[str, Any]) -> bool:
    level = rdd.get("Storage Level") or {}
    return bool(level.get("Use Memory") or level.get("Use Disk") or level.get("Use Off Heap"))
