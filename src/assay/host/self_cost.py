"""What a piece of Assay's own work costs: processor time, and memory at its peak."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SELF = Path("/proc/self")


@dataclass
class Weight:
    """What a scope took, once it has ended.

    `busy_s` is the processor time of all threads of this process. `growth_bytes` is by how much its resident memory
    was above that of the scope's beginning at most; None where the kernel does not tell.
    """

    busy_s: float = 0.0
    growth_bytes: int | None = None


@contextmanager
def weighed(process: Path = SELF) -> Iterator[Weight]:
    """Weigh what is done in a scope.

    The kernel keeps a process' greatest resident memory (VmHWM) and can be told to begin anew with it (proc(5):
    /proc/PID/clear_refs, 5); so no peak is missed, however short.
    """
    weight = Weight()
    before = _peak_from_now(process)
    began_s = time.process_time()
    try:
        yield weight
    finally:
        weight.busy_s = time.process_time() - began_s
        peak = _peak_bytes(process)
        if before is not None and peak is not None:
            weight.growth_bytes = max(0, peak - before)


def _peak_from_now(process: Path) -> int | None:
    """The peak that the kernel counts from: the resident memory of this moment. None where it can't be told to."""
    try:
        (process / "clear_refs").write_text("5")
    except OSError:
        return None
    return _peak_bytes(process)


def _peak_bytes(process: Path) -> int | None:
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), None)
