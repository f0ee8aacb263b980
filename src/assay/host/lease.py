"""Leases: what Assay holds on this machine, written down before it is taken, so that a crash leaves nothing lost.

A lease is a small JSON file in the state directory. It names its owner (process id and start time), the directories
and the kernel's control groups it made, and the kernel's settings that it changed. Processes started under a lease
carry `ASSAY_LEASE=<id>` in their environment and so do all their descendants (containers of jobs too), which is how
they are found again whoever forked them.
"""

import fcntl
import json
import os
import platform
import signal
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from assay.host.mounts import let_go
from assay.host.processes import MARK, end_processes, marked_processes, remove_directory, remove_group, start_time
from assay.model.errors import AssayError


class Owner(NamedTuple):
    """The process that made a lease: equal to no other process, on whatever machine and at whatever time."""

    host: str
    boot_id: str
    pid: int
    started: int | None
    """In ticks since boot; None where it is gone."""


class Lease:
    """Holds processes, directories and control groups; `release` (or the scope's end) ends and removes them all.

    It gives back what the kernel's settings were, unless another lease holds them, which then gives them back.

    A lease that is to be kept outlives its owner (a cluster that the user left running): it is never stale.
    """

    def __init__(self, state: Path, purpose: str) -> None:
        self.id = f"{purpose}-{uuid.uuid4().hex[:12]}"
        self.purpose = purpose
        self.directories: list[Path] = []
        self.groups: list[Path] = []
        self.settings: dict[str, str] = {}
        """What the kernel's settings were that it changed, by their files."""
        self.details: dict[str, str] = {}
        self.kept = False
        """Whether it outlives its owner on purpose."""
        self._owner = _owner(os.getpid())
        self.file = state / "leases" / f"{self.id}.json"
        """The file that it is written down in until it is released."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self._write()

    @property
    def stale(self) -> bool:
        """Whether its owner, a process of this machine, is gone and it was not meant to outlive it."""
        here = self._owner.host == platform.node()
        return not self.kept and here and _owner(self._owner.pid) != self._owner

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return the environment for a process started under this lease."""
        return {**base, MARK: self.id}

    def make_directory(self, path: Path) -> Path:
        """Create a fresh directory that goes with the lease. Raises FileExistsError when it is there already."""
        self.directories.append(path)
        self._write()
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700)
        return path

    def make_group(self, path: Path) -> Path:
        """Make a control group that goes with the lease: a directory of the kernel's, which only an rmdir removes."""
        self.groups.append(path)
        self._write()
        try:
            path.mkdir()
        except OSError:
            self.groups.remove(path)
            raise
        return path

    def change_setting(self, file: Path, text: str) -> str:
        """Change a setting of the kernel's until the release; returns why that can't be, empty where it was done."""
        with self._settings_locked():
            try:
                before = file.read_text(encoding="utf-8").strip()
                # Of one that another lease changed, what it was before that.
                others = self._others_with(file)
                self.settings[str(file)] = next((other.settings[str(file)] for other in others), before)
                self._write()
                file.write_text(text, encoding="utf-8")
            except OSError as error:
                self.settings.pop(str(file), None)
                self._write()
                return error.strerror or str(error)
        return ""

    def _give_settings_back(self) -> None:
        """Give back those that no other lease holds; then this one holds only those that could not be written.

        Raises OSError for one of these, after all others were given back.
        """
        if not self.settings:
            return
        failure: OSError | None = None
        with self._settings_locked():
            same_kernel = self._is_of(_owner(os.getpid()))
            for file, before in tuple(self.settings.items()):
                try:
                    if same_kernel and not self._others_with(Path(file)):
                        Path(file).write_text(before, encoding="utf-8")
                    del self.settings[file]
                except OSError as error:
                    failure = error
            self._write()
        if failure is not None:
            raise failure

    @contextmanager
    def _settings_locked(self) -> Iterator[None]:
        """Keep all other leases from changing settings or giving them back meanwhile."""
        folder = os.open(self.file.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _others_with(self, file: Path) -> "list[Lease]":
        """The leases beside this one, also stale ones, that have changed a setting since this machine's boot."""
        others = [lease for lease in leases(self.file.parents[1]) if lease.id != self.id]
        return [lease for lease in others if str(file) in lease.settings and lease._is_of(self._owner)]

    def _is_of(self, owner: Owner) -> bool:
        """Whether it was made by the same running kernel."""
        return (self._owner.host, self._owner.boot_id) == (owner.host, owner.boot_id)

    def note(self, key: str, value: str) -> None:
        """Keep a detail with the lease (a configuration directory to print later)."""
        self.details[key] = value
        self._write()

    def keep(self) -> None:
        """Let the lease outlive its owner from now on."""
        self.kept = True
        self._write()

    def processes(self) -> list[int]:
        """Return the ids of the living processes that carry this lease's mark."""
        return marked_processes(self.id)

    def release(self, grace_s: float = 0.0) -> None:
        """End what runs under it (SIGTERM, after `grace_s` SIGKILL), wait until it is gone, remove its directories.

        Before that the kernel's settings are given back. What is mounted below the directories, or lies on a loop
        device with a backing file there, is unmounted first. Raises AssayError when something else still uses it, and
        OSError, when all else is gone, where a setting could not be given back: the lease holds it until it can.
        """
        try:
            self._give_settings_back()
        finally:
            end_processes(self.processes, grace_s)
            for group in self.groups:
                remove_group(group)
            let_go(self.directories)
            for directory in self.directories:
                remove_directory(directory)
        self.file.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with uninterrupted():
            self.release()

    def _write(self) -> None:
        content = {
            "id": self.id, "purpose": self.purpose, "keep": self.kept, "owner": self._owner,
            "directories": [str(path) for path in self.directories], "groups": [str(path) for path in self.groups],
            "settings": self.settings, "details": self.details,
        }  # fmt: skip
        draft = self.file.with_suffix(".draft")
        draft.write_text(json.dumps(content, indent=1), encoding="utf-8")
        draft.replace(self.file)

    @classmethod
    def _read(cls, file: Path) -> "Lease":
        content = json.loads(file.read_text(encoding="utf-8"))
        lease = cls.__new__(cls)
        lease.id, lease.purpose, lease.kept = content["id"], content["purpose"], content["keep"]
        lease._owner = Owner(*content["owner"])
        lease.directories = [Path(path) for path in content["directories"]]
        lease.groups = [Path(path) for path in content.get("groups", [])]
        lease.settings = content.get("settings", {})
        lease.details, lease.file = content["details"], file
        return lease


def leases(state: Path) -> list[Lease]:
    """Read all leases that are written down: living, kept and stale."""
    all_leases = []
    for file in sorted((state / "leases").glob("*.json")):
        with suppress(FileNotFoundError):  # released meanwhile
            all_leases.append(Lease._read(file))
    return all_leases


def release_stale(state: Path, warn: Callable[[str], object] | None = None) -> list[Lease]:
    """Release what crashed runs left behind; returns what was released.

    What is in use stays, and `warn` gets a sentence about it (without one it goes to the standard error output): that
    somebody looks into one left-over must not keep everybody from starting.
    """
    stale_leases = [lease for lease in leases(state) if lease.stale]
    busy = release_all(stale_leases)
    for lease, reason in busy.items():
        text = f"what a killed run left behind ({lease.id}) stays for now: {reason}"
        warn(text) if warn else sys.stderr.write(f"assay: {text}\n")
    return [lease for lease in stale_leases if lease not in busy]


def release_all(to_release: Sequence[Lease]) -> dict[Lease, str]:
    """Release several leases, each by itself; return those that could not be released, with the reasons.

    All their processes end first, since those of one may use what another has mounted.
    """
    busy: dict[Lease, str] = {}

    def attempt(act: Callable[[Lease], None]) -> None:
        for lease in [lease for lease in to_release if lease not in busy]:
            try:
                act(lease)
            except (AssayError, OSError) as error:
                busy[lease] = str(error)

    attempt(lambda lease: end_processes(lease.processes, grace_s=0))
    attempt(lambda lease: lease.release())
    return busy


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold back SIGINT, SIGTERM and SIGHUP while something is torn down; they are delivered at the end.

    Blocking them in this thread would not do: the kernel would give them to another one, and Python to the main one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pending: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, lambda got, _frame: pending.append(got)) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in pending:
            signal.raise_signal(late)


def _owner(pid: int) -> Owner:
    boot_id = (
        Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    )  # different after every boot (random(4))
    return Owner(platform.node(), boot_id, pid, start_time(pid))
