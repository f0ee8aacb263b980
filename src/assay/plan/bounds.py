"""Hadoop properties whose values have bounds: beyond them a job fails, waits for ever, or takes another value silently.

Sources: Hadoop 3.4's own checks, in the classes named below, and `Integer.parseInt` where nothing else is.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from assay.model.errors import BadInputError
from assay.plan.experiment import COPIES, ExperimentFile
from assay.plan.reserved import properties_of
from assay.yaml_file import line_of

_MOST = 2**31 - 1
_MOST_LONG = 2**63 - 1
_BLOCK = "dfs.blocksize"
_LEAST_BLOCK = "dfs.namenode.fs-limits.min-block-size"
_CHECKSUM_BYTES = 512
_SIZE = re.compile(r"(-?[0-9]{1,19})([kmgtpe]?)", re.IGNORECASE)
_SHARE = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,20})?([eE]-?[0-9]{1,3})?[fFdD]?")
# What a name or value of Hadoop's can't hold: its files are XML.
_NAME = re.compile(r"[^\s<>&\"']+")


class Bounds(NamedTuple):
    """The least and the most, as numbers; `whole` ones have no fraction, `sizes` may have a unit (`64m`)."""

    least: float
    most: float
    whole: bool = True
    size: bool = False
    besides: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """How they are told."""
        kind = "a whole number" if self.whole else "a number"
        if self.size:
            kind = "a size in bytes (a unit such as 64m is allowed)"
        end = "" if self.most >= _MOST else f" to {self.most:g}"
        besides = f", or {' or '.join(self.besides)} for Hadoop's own choice" if self.besides else ""
        return f"{kind} from {self.least:g}{end or ' on'}{besides}"


_COUNT, _COUNT_OR_NONE, _SHARE_OF_ONE = Bounds(1, _MOST), Bounds(0, _MOST), Bounds(0, 1, whole=False)
_ABOVE_NOTHING = Bounds(0.001, 1, whole=False)
_CONTAINER = Bounds(1, _MOST, besides=("-1",))

BOUNDS: Mapping[str, Bounds] = {
    "mapreduce.job.reduces": _COUNT_OR_NONE,
    "mapreduce.job.maps": _COUNT,
    _BLOCK: Bounds(1, _MOST_LONG, size=True),
    _LEAST_BLOCK: Bounds(0, _MOST_LONG, size=True),
    COPIES: Bounds(1, 512),  # dfs.replication.max
    "dfs.bytes-per-checksum": _COUNT,
    "io.file.buffer.size": _COUNT,
    "mapreduce.task.io.sort.mb": Bounds(1, 2047),  # MapTask.MapOutputBuffer
    "mapreduce.task.io.sort.factor": Bounds(2, _MOST),  # fewer files than two can't be merged
    "mapreduce.map.sort.spill.percent": _ABOVE_NOTHING,  # MapTask.MapOutputBuffer
    "mapreduce.reduce.shuffle.parallelcopies": _COUNT,
    "mapreduce.reduce.shuffle.input.buffer.percent": _SHARE_OF_ONE,  # MergeManagerImpl
    "mapreduce.reduce.shuffle.memory.limit.percent": _ABOVE_NOTHING,  # MergeManagerImpl
    "mapreduce.reduce.shuffle.merge.percent": _ABOVE_NOTHING,
    "mapreduce.reduce.input.buffer.percent": _SHARE_OF_ONE,
    "mapreduce.job.reduce.slowstart.completedmaps": _SHARE_OF_ONE,  # above, reducers would wait for ever
    "mapreduce.map.maxattempts": _COUNT,
    "mapreduce.reduce.maxattempts": _COUNT,
    "mapreduce.map.memory.mb": _CONTAINER,
    "mapreduce.reduce.memory.mb": _CONTAINER,
    "mapreduce.map.cpu.vcores": _COUNT,
    "mapreduce.reduce.cpu.vcores": _COUNT,
    "yarn.app.mapreduce.am.resource.mb": _COUNT,
    "yarn.app.mapreduce.am.resource.cpu-vcores": _COUNT,
    "yarn.scheduler.minimum-allocation-mb": _COUNT,
    "yarn.scheduler.maximum-allocation-mb": _COUNT,
    "yarn.scheduler.minimum-allocation-vcores": _COUNT,
    "yarn.scheduler.maximum-allocation-vcores": _COUNT,
    "yarn.nodemanager.resource.memory-mb": _CONTAINER,
    "yarn.nodemanager.resource.cpu-vcores": _CONTAINER,
}

# Read when a daemon starts, so that a workload's jobs can't have one of their own.
_DAEMONS = ("yarn.nodemanager.", "yarn.resourcemanager.", "yarn.scheduler.", "dfs.namenode.", "dfs.datanode.")


def check_values(path: Path, experiment: ExperimentFile, tree: Any) -> None:
    """Raises BadInputError with the line for a name that is none, a value that can't be, and one that nobody reads."""
    given = {name for _, name, _, _ in properties_of(experiment)}
    for place, name, value, workloads in properties_of(experiment):
        where = f"{path}, line {line_of(tree, [*place, name])}"
        if not _NAME.fullmatch(name):
            raise BadInputError(f"{where}: {name!r} is no property's name; write one without spaces, quotes, < > and &")
        if place[0] == "workloads" and name.startswith(_DAEMONS):
            raise BadInputError(
                f"{where}: {name} is read by the cluster's daemons, not by {workloads[0]}'s jobs; give it under the "
                "experiment's own `hadoop`"
            )
        bounds = BOUNDS.get(name)
        if bounds is not None and not _within(value.strip(), bounds):
            raise BadInputError(f"{where}: {name} is {value!r}, and must be {bounds.words}")
        if name == _BLOCK and _LEAST_BLOCK not in given and experiment.cluster.kind == "embedded":
            _check_block(where, value)


def _within(text: str, bounds: Bounds) -> bool:
    if text in bounds.besides:
        return True
    if not bounds.whole:
        return _SHARE.fullmatch(text) is not None and bounds.least <= float(text.rstrip("fFdD")) <= bounds.most
    number = _bytes(text)
    if number is None or (not bounds.size and not text.lstrip("-").isdecimal()):
        return False
    return bounds.least <= number <= bounds.most


def _bytes(text: str) -> int | None:
    found = _SIZE.fullmatch(text)
    return int(found[1]) * 1024 ** " kmgtpe".index(found[2].lower() or " ") if found else None


def _check_block(where: str, value: str) -> None:
    """A NameNode takes no smaller blocks, and a client none that a checksum's bytes do not divide."""
    size = _bytes(value.strip()) or 0
    if size < 1 << 20 or size % _CHECKSUM_BYTES:
        raise BadInputError(
            f"{where}: {_BLOCK} is {value!r}, and must be 1m or more, a multiple of {_CHECKSUM_BYTES} bytes "
            f"({_LEAST_BLOCK} is the least that a NameNode takes)"
        )
