"""Removes what a lease made: trees of directories, and control groups with what still runs in them."""

import os
import shutil
import signal
import time
from contextlib import suppress
from pathlib import Path


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
