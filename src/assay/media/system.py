"""What attaching a drive does to the machine, in one place: tests bring another one that only writes it down."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from assay.model.errors import AssayError
from assay.mounts import Loop, detach, unmount

MOST_WORDS = 400
"""Characters of a failed command's words that are told."""


class Running(Protocol):
    """A process that was started (subprocess.Popen is one)."""

    pid: int

    def poll(self) -> int | None:
        """The exit code once it has ended; negative for the signal that killed it."""
        ...


class System(Protocol):
    """Commands, processes, settings in sysfs, and letting go of mounts and loop devices."""

    def run(self, *command: str) -> str:
        """Run a command to its end; what it printed. Raises AssayError with its last words when it fails."""
        ...

    def start(self, command: tuple[str, ...], directory: Path, log: Path, environment: Mapping[str, str]) -> Running:
        """Start a process in a session of its own, so that no key pressed in a terminal reaches it."""
        ...

    def write(self, file: Path, text: str) -> bool:
        """Write a setting; False when the kernel does not take it."""
        ...

    def unmount(self, point: Path) -> None:
        """See `assay.mounts.unmount`."""
        ...

    def detach(self, loop: Loop) -> None:
        """See `assay.mounts.detach`."""
        ...


class RealSystem:
    """This machine."""

    def run(self, *command: str) -> str:
        """With the C locale, and a minute's patience."""
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=60, env=environment,
                stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except FileNotFoundError:
            raise AssayError(f"there is no {command[0]} on this machine; install it (see `assay doctor`)") from None
        except subprocess.TimeoutExpired:
            raise AssayError(f"{' '.join(command)} did not end within a minute") from None
        if done.returncode:
            words = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
            raise AssayError(f"{' '.join(command)} failed: {words[-MOST_WORDS:]}")
        return done.stdout

    def start(self, command: tuple[str, ...], directory: Path, log: Path, environment: Mapping[str, str]) -> Running:
        """Its output goes to a file, which outlives this process as the process may."""
        with log.open("ab") as output:
            return subprocess.Popen(
                command, cwd=directory, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def write(self, file: Path, text: str) -> bool:
        """A single write, as sysfs wants it."""
        try:
            file.write_text(text)
        except OSError:
            return False
        return True

    def unmount(self, point: Path) -> None:
        """With retries."""
        unmount(point)

    def detach(self, loop: Loop) -> None:
        """With retries."""
        detach(loop)
