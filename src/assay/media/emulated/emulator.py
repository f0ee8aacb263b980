"""The emulator: its program, a running process of it, and the socket by which it is steered.

Everything of one drive lies in one directory, its home: `disk.img` (the sparse backing file), `drive/` (the emulator's
FUSE mount, in which the one file `disk` is the drive), `mount/` (the file system on it), `profile.json`, `control` (the
socket) and `emulator.log`.
"""

import hashlib
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from assay.host.files import opened
from assay.host.mounts import detach, unmount
from assay.host.processes import last_telling
from assay.host.processors import bound_to, division
from assay.model.base import Frozen
from assay.model.drive_profile import DriveProfile
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation
from assay.model.naming import nearest

MOST_WORDS = 400
"""How many characters of a failed command's message are shown."""


class System:
    """Runs commands, starts processes, writes settings in sysfs, and releases mounts and loop devices."""

    def run(self, *command: str) -> str:
        """Run a command and return its output. Raises AssayError with the end of its message where it fails."""
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            done = subprocess.run(
                command, capture_output=True, encoding="utf-8", errors="replace", check=False,
                timeout=60, env=environment, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except FileNotFoundError:
            raise AssayError(f"there is no {command[0]} on this machine; install it (see `assay doctor`)") from None
        except subprocess.TimeoutExpired:
            raise AssayError(f"{' '.join(command)} did not end within a minute") from None
        if done.returncode:
            message = " ".join((done.stderr or done.stdout).split()) or f"exit code {done.returncode}"
            raise AssayError(f"{' '.join(command)} failed: {message[-MOST_WORDS:]}")
        return done.stdout

    def start(
        self, command: tuple[str, ...], directory: Path, log: Path, environment: Mapping[str, str]
    ) -> "subprocess.Popen[bytes]":
        """Start a process in a session of its own, so that no key pressed in a terminal reaches it.

        Its output goes to a file, which outlives this process as the process may.
        """
        parts = division()
        with log.open("ab") as output, bound_to(parts and parts.instruments):
            return subprocess.Popen(
                command, cwd=directory, env=dict(environment), stdin=subprocess.DEVNULL, stdout=output,
                stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip

    def write(self, file: Path, text: str) -> bool:
        """Write a setting, in a single write; False when the kernel does not take it."""
        try:
            file.write_text(text, encoding="utf-8")
        except OSError:
            return False
        return True

    unmount = staticmethod(unmount)
    detach = staticmethod(detach)


BAD_PROFILE = 2
PATIENCE_S = 30
REPLAY_S = 600


class FigureSpec(Frozen):
    """One figure of a kind of drive: its bounds, and its value where a profile does not give it."""

    name: str
    meaning: str
    unit: str
    least: float
    most: float
    default: float | None


class Emulator:
    """The program that set-up built."""

    def __init__(self, installation: Installation) -> None:
        self.binary = installation.parts / "emulator" / "release" / "assay-emulator"
        self._reason = installation.parts / "emulator.missing"

    def missing(self) -> str | None:
        """Say why the program is missing and how to get it; None where it exists."""
        if self.binary.is_file():
            return None
        try:
            reason = self._reason.read_text(encoding="utf-8").splitlines()[0]
        except (OSError, IndexError):
            reason = "run setup/prepare emulator"
        return f"the drive emulator is not built: {reason}"

    @cached_property
    def digest(self) -> str:
        """Return the start of the program's SHA-256; empty where there is no program."""
        try:
            return hashlib.sha256(self.binary.read_bytes()).hexdigest()[:16]
        except OSError:
            return ""

    def figures(self) -> Mapping[str, tuple[FigureSpec, ...]]:
        """Ask the program for the figures of each kind of drive."""
        kinds = json.loads(self._run("figures").stdout)
        return {kind["kind"]: tuple(map(FigureSpec.model_validate, kind["figures"])) for kind in kinds}

    def check(self, profile: DriveProfile) -> None:
        """Check a profile. Raises BadInputError with each wrong figure, its value, its bounds and its line."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
            file.write(profile.for_emulator)
            file.flush()
            done = self._run("check", file.name, good=(0, BAD_PROFILE))
        if done.returncode == 0:
            return
        sentences = []
        for error in json.loads(done.stdout)["errors"]:
            figure, message = error["figure"], error["message"]
            if error["least"] is None and figure in profile.figures:
                names = [spec.name for spec in self.figures()[profile.kind]]
                message = f"a drive of kind {profile.kind} has no figure {figure!r}; {nearest(figure, names)}"
            sentences.append(f"{profile.where(figure)}: {message}")
        raise BadInputError("; ".join(sentences))

    def measure(self, device: Path, home: Path) -> dict[str, Any]:
        """Measure what requests to a passive drive cost on their way, in the form that `begin` takes.

        `home` holds the drive's control socket; it is reached from there, since its whole path may be too long.
        """
        cost: dict[str, Any] = json.loads(self._run("measure", str(device), "control", directory=home).stdout)
        return cost

    def rates(self, device: Path) -> dict[str, float]:
        """Measure a block device's rates, named as in a profile's `expected`. Its first 256 MiB are overwritten."""
        rates: dict[str, float] = json.loads(self._run("rates", str(device)).stdout)
        return rates

    def replay(self, profile: DriveProfile, records: bytes) -> bytes:
        """Give the requests of a log to a drive; returns them in the order of arrivals, with that drive's times."""
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as file:
            file.write(profile.for_emulator)
            file.flush()
            command = (str(self.binary), "replay", file.name, "0")
            try:
                done = subprocess.run(command, input=records, capture_output=True, check=False, timeout=REPLAY_S)
            except OSError as error:
                raise AssayError(self.missing() or f"{self.binary} can't be run: {error.strerror}") from None
            except subprocess.TimeoutExpired:
                raise AssayError(f"replaying the requests did not end within {REPLAY_S} s") from None
        if done.returncode:
            said = last_telling(done.stderr.decode(errors="replace"), silent=f"exit code {done.returncode}")
            raise AssayError(f"replaying the requests failed: {said}")
        return done.stdout

    def _run(
        self, *arguments: str, good: tuple[int, ...] = (0,), directory: Path | None = None
    ) -> "subprocess.CompletedProcess[str]":
        try:
            done = subprocess.run(
                [self.binary, *arguments], capture_output=True, encoding="utf-8", errors="replace", check=False,
                timeout=PATIENCE_S, stdin=subprocess.DEVNULL, cwd=directory,
            )  # fmt: skip
        except OSError as error:
            raise AssayError(self.missing() or f"{self.binary} can't be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise AssayError(f"assay-emulator {arguments[0]} did not end within {PATIENCE_S} s") from None
        if done.returncode not in good:
            said = last_telling(done.stderr, silent=f"exit code {done.returncode}")
            raise AssayError(f"assay-emulator {arguments[0]} failed: {said}")
        return done


READY, READY_S = "ready", 10.0
STOP_S = 5.0
ANSWER_S = 20.0
POLL_S = 0.005
REQUEST_LOG = "requests.log"
QUICK_S = 2.0
"""How long one check of whether it is alive waits for an answer."""
SILENT_S, SILENT_LOOKS = 30.0, 5
"""An emulator that answers nothing for so long, at so many checks, hangs; on a busy machine an answer may be late."""
SPARED_FROM_OOM = "-1000"
"""The kernel shall not pick the emulator when memory runs out: all that is mounted on it would die (proc(5))."""


class GoneError(AssayError):
    """The emulator is no longer there."""


class EmulatorSilentError(AssayError):
    """The emulator exists and gave no answer in time."""


class Drive:
    """The emulator whose home this is, whoever started it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.backing = home / "disk.img"
        self.mount = home / "drive"
        self.disk = home / "drive" / "disk"
        self.log = home / "emulator.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.seen: Mapping[str, Any] = {}
        self._request_log: Path | None = None
        self._silent_since = 0.0
        self._silent_looks = 0

    @property
    def seed(self) -> int:
        """The seed of the drive's random behaviour; each home, so each lease, has another."""
        return int(hashlib.sha256(self.home.name.encode()).hexdigest()[:8], 16)

    def ask(self, command: str, patience_s: float | None = None) -> dict[str, Any]:
        """Send one line to the emulator and return its answer.

        Raises GoneError when it is not there, EmulatorSilentError when it gives none in time, AssayError when it
        refuses.
        """
        word = command.partition(" ")[0]
        try:
            with (
                opened(self.home, os.O_PATH | os.O_DIRECTORY) as home,
                socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection,
            ):
                connection.settimeout(ANSWER_S if patience_s is None else patience_s)
                # By the home's descriptor, since its whole path may be too long.
                connection.connect(f"/proc/self/fd/{home}/control")
                connection.sendall(command.encode() + b"\n")
                answer = connection.makefile("rb").readline()
        except (TimeoutError, BlockingIOError) as error:  # the latter: too many wait for a connection
            raise EmulatorSilentError(
                f"the drive emulator does not answer to {word!r}: {error.strerror or error}"
            ) from None
        except OSError as error:
            raise GoneError(f"the drive emulator does not answer to {word!r}: {error.strerror or error}") from None
        if not answer:
            raise GoneError(f"the drive emulator ended while it was asked to {word!r}")
        content: dict[str, Any] = json.loads(answer)
        if "error" in content:
            raise AssayError(f"the drive emulator refused {word!r}: {content['error']}")
        return content

    def begin(self, path_cost: Mapping[str, Any] | None = None, device: Path | None = None) -> None:
        """Begin to delay requests; `path_cost` is what requests cost on their way to the emulator anyway.

        `device` is the loop device, where the kernel counts how long requests really take.
        """
        start = {"path": path_cost or None, "device": device and {"name": device.name}}
        self.ask(f"begin {json.dumps({name: value for name, value in start.items() if value is not None})}")

    def request_log(self) -> Path | None:
        """Start the log of requests and return its file; None where the emulator refuses."""
        if self._request_log is None:
            with suppress(AssayError):
                self.ask(f"trace {REQUEST_LOG}")
                self._request_log = self.home / REQUEST_LOG
        return self._request_log

    def failure(self) -> str | None:
        """Say why its emulator can't be used: it is gone, or hangs; None while it answers (`seen` has its report)."""
        code = self.process.poll() if self.process else None
        if code is not None:
            return f"the drive emulator {ended(code)}{self.last_words()}"
        try:
            self.seen = self.ask("report", QUICK_S)
        except EmulatorSilentError:
            now_s = time.monotonic()
            self._silent_since = self._silent_since if self._silent_looks else now_s - QUICK_S
            self._silent_looks += 1
            silent_s = now_s - self._silent_since
            hangs = silent_s >= SILENT_S and self._silent_looks >= SILENT_LOOKS
            return f"the drive emulator does not answer since {silent_s:.0f} s{self.last_words()}" if hangs else None
        except GoneError:
            return f"the drive emulator is gone{self.last_words()}"
        self._silent_looks = 0
        return None

    def kill(self) -> None:
        """End an emulator that hangs: what waits for it, in the kernel too, gets an I/O error."""
        if self.process is not None and self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.process.pid, signal.SIGKILL)

    def last_words(self) -> str:
        """Return the last line of its log after `ready`, as the end of a sentence."""
        said = last_telling(_text(self.log), lambda line: line != READY, silent=READY)
        return f"; its last words: {said}" if said != READY else ""


def serve(binary: Path, drive: Drive, environment: Mapping[str, str], system: System, scope: ExitStack) -> None:
    """Start the drive's emulator, without delays until `begin`, for the time of a scope.

    Needs `profile.json` and the backing file in its home. Raises AssayError when it does not get ready.
    """
    drive.mount.mkdir(exist_ok=True)
    # Relative names: a Unix socket's path may have no more than 107 bytes, whatever the home's has.
    command = (
        str(binary), "serve", "--profile", "profile.json", "--backing", drive.backing.name,
        "--mount", str(drive.mount), "--control", "control", "--seed", str(drive.seed),
    )  # fmt: skip
    scope.callback(system.unmount, drive.mount)
    scope.callback(_stop, drive)
    drive.process = system.start(command, drive.home, drive.log, environment)
    system.write(Path(f"/proc/{drive.process.pid}/oom_score_adj"), SPARED_FROM_OOM)
    deadline = time.monotonic() + READY_S
    while READY not in _text(drive.log).splitlines():  # it says so once it is mounted
        if (code := drive.process.poll()) is not None:
            raise AssayError(f"the drive emulator {ended(code)} before it was ready{drive.last_words()}")
        if time.monotonic() > deadline:
            raise AssayError(f"the drive emulator was not ready within {READY_S:.0f} s{drive.last_words()}")
        time.sleep(POLL_S)


def _stop(drive: Drive) -> None:
    """Ask the emulator to end, and kill it where it does not; it may have died earlier."""
    process = drive.process
    if process is None:
        return
    with suppress(AssayError):
        drive.ask("stop", patience_s=STOP_S)
    deadline = time.monotonic() + STOP_S
    while process.poll() is None:
        if time.monotonic() > deadline:
            drive.kill()
        time.sleep(POLL_S)


def ended(code: int) -> str:
    """Say how a process ended, as the middle of a sentence."""
    return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace", encoding="utf-8")
    except OSError:
        return ""
