"""Processes, directories and control groups of Assay's own: found by their mark, ended, removed."""

import os
import shutil
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MARK = "ASSAY_LEASE"


def _environment(pid: str) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def marked_processes(lease_id: str) -> list[int]:
    """The ids of the living processes that carry the mark of a lease, whether or not it is still written down."""
    mark = f"{MARK}={lease_id}".encode()
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and mark in _environment(pid)]


def end_processes(find: Callable[[], list[int]], grace_s: float, patience_s: float = 30.0) -> None:
    """SIGTERM what `find` names, SIGKILL what is left after `grace_s`, and wait until nothing is left.

    `find` is asked again each time, so that children forked meanwhile are ended too. Raises TimeoutError
    when something is still there after `patience_s`.
    """
    _signal(find(), signal.SIGTERM if grace_s > 0 else signal.SIGKILL)
    started = time.monotonic()
    while left := find():
        waited = time.monotonic() - started
        if waited > patience_s:
            raise TimeoutError(f"processes {left} did not end within {patience_s:.0f} s")
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


def remove_group(group: Path, patience_s: float = 30.0) -> None:
    """Remove a control group; what still runs in it is ended, and the kernel may need a moment to let go of it."""
    deadline = time.monotonic() + patience_s
    while group.exists():
        try:
            group.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            with suppress(OSError):
                for pid in (group / "cgroup.procs").read_text().split():
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.05)
