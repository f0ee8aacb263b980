"""Names for what lives in the kernel, by which the next run can tell what a killed one has left there."""

import itertools
import os
import re
from pathlib import Path

PROC = Path("/proc")

_NAME = re.compile(r"assay_(\d+)_(\d+)_(\d+)_\d+")
_NUMBERS = itertools.count()


def own_name(proc: Path = PROC) -> str:
    """A name that nothing else has: `assay_SPACE_PID_START_NUMBER`.

    SPACE is the namespace that the process id is of, since containers that share a network or a tracefs have their own;
    START is the clock tick since the machine's start at which the process began, since process ids are used again.
    """
    return f"assay_{_space(proc)}_{os.getpid()}_{_started(os.getpid(), proc)}_{next(_NUMBERS)}"


def is_left_over(name: str, proc: Path = PROC) -> bool:
    """Whether a process of this namespace made it and is gone. What others made is nothing that can be told of."""
    match = _NAME.fullmatch(name)
    if match is None or int(match[1]) != _space(proc):
        return False
    return _started(int(match[2]), proc) != int(match[3])


def _space(proc: Path) -> int:
    return (proc / "self" / "ns" / "pid").stat().st_ino


def _started(pid: int, proc: Path) -> int:
    """When a process began (proc(5), /proc/PID/stat, field 22); 0 when there is none."""
    try:
        return int((proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0
