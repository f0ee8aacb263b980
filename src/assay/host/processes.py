"""Finds Assay's processes by their mark, ends them, removes directories and control groups, and reads last words."""

import itertools
import os
import re
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MARK = "ASSAY_LEASE"
_NAME = re.compile(r"assay_(\d+)_(\d+)_(\d+)_\d+")
_NUMBERS = itertools.count()
_PATIENCE_S = 30.0


Sign = Callable[[str], object]
"""Tells whether a line says more than others do, such as one that names an exception."""


def last_telling(text: str, *signs: Sign, silent: str) -> str:
    """Return the last line of a program's output with the first sign that any line has, else its last line.

    Lines are stripped, and empty ones don't count; `silent` is for a program that wrote nothing.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    of_signs = ([line for line in lines if sign(line)] for sign in signs)
    return next(filter(None, of_signs), lines or [silent])[-1]


def marked_processes(value: str, variable: str = MARK) -> list[int]:
    """Return the ids of the living processes whose environment began with a variable of this value.

    By default those of a lease, by its id, whether or not the lease is still written down.
    """
    mark = f"{variable}={value}".encode()
    marked = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # ended, or another user's
            if mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                marked.append(int(pid))
    return marked


def end_processes(find: Callable[[], list[int]], grace_s: float) -> None:
    """SIGTERM what `find` names, SIGKILL what is left after `grace_s`, and wait until nothing is left.

    `find` is asked again each time, so that children forked meanwhile are ended too. Raises TimeoutError
    when something is still there after half a minute.
    """
    _signal(find(), signal.SIGTERM if grace_s > 0 else signal.SIGKILL)
    started = time.monotonic()
    while left := find():
        waited = time.monotonic() - started
        if waited > _PATIENCE_S:
            raise TimeoutError(f"processes {left} did not end within {_PATIENCE_S:.0f} s")
        if waited > grace_s:
            _signal(left, signal.SIGKILL)
        time.sleep(0.05)


def _signal(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def remove_directory(directory: Path) -> None:
    """Remove a tree; what vanishes meanwhile is fine, what stays is an error worth seeing."""
    for _ in range(5):
        shutil.rmtree(directory, ignore_errors=True)
        if not directory.exists():
            return
        time.sleep(0.2)
    shutil.rmtree(directory)


def remove_group(group: Path) -> None:
    """Remove a control group; what still runs in it is ended, and the kernel may need a moment to let go of it."""
    deadline = time.monotonic() + _PATIENCE_S
    while group.exists():
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            with suppress(OSError):
                for pid in (group / "cgroup.procs").read_text(encoding="utf-8").split():
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.05)


def own_name() -> str:
    """Make a unique name for an object of the kernel: `assay_SPACE_PID_START_NUMBER`.

    SPACE is the namespace that the process id is of, since containers that share a network or a tracefs have their own;
    START tells the process from others that had its number.
    """
    return f"assay_{_space()}_{os.getpid()}_{start_time(os.getpid())}_{next(_NUMBERS)}"


def is_left_over(name: str) -> bool:
    """Tell whether the process of this namespace that made a name is gone; False for other namespaces' names."""
    match = _NAME.fullmatch(name)
    return match is not None and int(match[1]) == _space() and start_time(int(match[2])) != int(match[3])


def start_time(pid: int) -> int | None:
    """Return a process' start, in ticks since boot (/proc/PID/stat, field 22); None where it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace", encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def children_of(parent: int) -> list[int]:
    """Return the ids of a process' children (/proc/PID/stat, field 4)."""
    children = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):  # ended meanwhile
            fields = Path(f"/proc/{pid}/stat").read_text(errors="replace", encoding="utf-8").rpartition(")")[2].split()
            if int(fields[1]) == parent:
                children.append(int(pid))
    return children


def _space() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino
