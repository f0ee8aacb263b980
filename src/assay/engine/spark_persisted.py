"""The RDDs that a Spark application persists: which may lie on drives, and which of its tasks read them from memory.

Spark counts the bytes of a persisted partition as input, wherever they lay (Spark: RDD.getOrCompute). An RDD whose
level has drives may be in memory all the same; the log tells where its partitions lay only if updates of blocks are
logged (`spark.eventLog.logBlockUpdates.enabled`).

No event says of a task where its input lay, but the scheduler tells. A task whose input goes through persisted RDDs
alone runs `PROCESS_LOCAL` only in an executor that has its partition (Spark: DAGScheduler.getPreferredLocs). That does
not hold where the sources of an application prefer no node, as files outside of HDFS do: tasks that read these run
`PROCESS_LOCAL`, too.
"""

from collections.abc import Container, Mapping
from typing import Any, Literal

BLOCK_UPDATES = "spark.eventLog.logBlockUpdates.enabled"
_IN_ITS_PROCESS = "PROCESS_LOCAL"
_RDD_BLOCK = "rdd_"

_Input = Literal["persisted", "source", "either"]
_Rdds = Mapping[int, Mapping[str, Any]]
"""The RDDs of a stage by number, as its event has them: those that it computes without a shuffle between them."""


class PersistedRdds:
    """What the events of an application have told so far of its RDDs; `numbers` are those that were persisted."""

    def __init__(self) -> None:
        self.numbers: set[int] = set()
        self.with_drives: set[int] = set()
        """Those whose level has drives."""
        self.blocks_are_told = False
        self._on_drives: set[int] = set()
        self._computed: set[int] = set()
        self._inputs: dict[int, _Input] = {}
        self._sources_prefer_no_node = False

    @property
    def on_drives(self) -> set[int]:
        """Those of which partitions lay on drives; where that is not told, those whose level has drives."""
        return self._on_drives if self.blocks_are_told else self.with_drives

    def submitted(self, stage: Mapping[str, Any]) -> None:
        """A stage begins, by its `Stage Info`."""
        self._note(stage)
        rdds = {rdd["RDD ID"]: rdd for rdd in stage.get("RDD Info") or []}
        self._inputs[stage["Stage ID"]] = self._input_of(rdds)

    def completed(self, stage: Mapping[str, Any]) -> None:
        """A stage ended, by its `Stage Info`."""
        self._note(stage)
        if not stage.get("Failure Reason"):
            self._computed |= {rdd["RDD ID"] for rdd in stage.get("RDD Info") or [] if _is_persisted(rdd)}

    def updated(self, block: Mapping[str, Any]) -> None:
        """A block lies elsewhere from now on, by its `Block Updated Info`."""
        name = str(block["Block ID"])
        if name.startswith(_RDD_BLOCK) and block["Disk Size"]:
            self._on_drives.add(int(name.split("_")[1]))

    def is_read_from_memory(self, task: Mapping[str, Any], stage: int, input_bytes: int) -> bool:
        """Whether a task that ended read its input from memory, by its `Task Info`; False where that is not known."""
        if not input_bytes or task.get("Locality") != _IN_ITS_PROCESS:
            return False
        where = self._inputs.get(stage, "source")
        self._sources_prefer_no_node |= where == "source"
        return where == "persisted" and not self._sources_prefer_no_node and not self.on_drives

    def _note(self, stage: Mapping[str, Any]) -> None:
        for rdd in stage.get("RDD Info") or []:
            if _is_persisted(rdd):
                self.numbers.add(rdd["RDD ID"])
                if rdd["Storage Level"].get("Use Disk"):
                    self.with_drives.add(rdd["RDD ID"])

    def _input_of(self, rdds: _Rdds) -> _Input:
        """What a task of a stage reads if it finds a persisted partition beside it.

        That is persisted alone if each way from the stage's last RDDs to a source leads through an RDD that was
        computed before. Its partitions may be evicted, if not to a drive: then the same has to hold of those behind it,
        and of two that are read together one may be there and the other be read from its source.
        """
        parents = {parent for rdd in rdds.values() for parent in rdd.get("Parent IDs") or ()}
        last = {number for number in rdds if number not in parents}
        kept = {number for number, rdd in rdds.items() if number in self._computed and _is_persisted(rdd)}
        stay = {number for number in kept if rdds[number]["Storage Level"].get("Use Disk")}
        reached = _reached(rdds, last, kept)
        if not reached & kept or _has_source(rdds, reached - kept):
            return "source"
        while read := reached & kept:
            if not _has_source(rdds, _reached(rdds, read, stay) - stay):
                return "persisted"
            kept -= read
            reached = _reached(rdds, last, kept)
            if len(read) > 1 or (reached & kept and _has_source(rdds, reached - kept)):
                return "either"
        return "persisted"


def _reached(rdds: _Rdds, begins: set[int], ends: Container[int] = ()) -> set[int]:
    """The RDDs of a stage that lie on ways from some to their sources, up to `ends`."""
    seen: set[int] = set()
    waiting = list(begins)
    while waiting:
        number = waiting.pop()
        # Parents that are not of this stage are read by a shuffle, which counts no input.
        if number in rdds and number not in seen:
            seen.add(number)
            if number not in ends:
                waiting += rdds[number].get("Parent IDs") or ()
    return seen


def _has_source(rdds: _Rdds, numbers: set[int]) -> bool:
    return any(not rdds[number].get("Parent IDs") for number in numbers)


def _is_persisted(rdd: Mapping[str, Any]) -> bool:
    level = rdd.get("Storage Level") or {}
    return bool(level.get("Use Memory") or level.get("Use Disk") or level.get("Use Off Heap"))
