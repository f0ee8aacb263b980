"""Drives Assay as its user does, by its command line, in a place of the test's own, and looks at what it leaves.

The place has its own leases, caches and parts, so that neither other runs on the machine nor the user's clusters are
seen or touched: its checkout is the real one's jars and jobs under another root.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from assay.cli.context import vocabulary
from assay.cli.run import open_trial
from assay.host.listening import listeners
from assay.host.processes import MARK
from assay.model.doubt import Outcome
from assay.model.installation import Installation
from assay.model.record import Record, Status
from assay.record.folder import RunFolder
from assay.run.loop import execute
from tests.builders import a_folder, make_plan
from tests.watching import Watcher

ROOT = Path(__file__).parents[2]
HADOOP = ROOT / ".assay" / "hadoop"
JAR = ROOT / "jobs" / "target" / "assay-jobs.jar"
PATIENCE_S = 300.0
# These would make the output of a pipe look like a terminal's.
TERMINAL = ("FORCE_COLOR", "TTY_COMPATIBLE")

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may make namespaces")
DATANODE, MASTER = "-Dproc_datanode", "MRAppMaster"
# Where a job's tasks are not what is tested, they run inside its master: two JVMs fewer per job.
IN_ONE_CONTAINER = "{mapreduce.job.ubertask.enable: true}"


class Started:
    """A command that runs, with its output so far."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self.process = process
        self._output = output

    @property
    def text(self) -> str:
        """All it has printed."""
        return self._output.read_text(errors="replace")

    def until(self, pattern: str) -> None:
        """Wait for output that matches; if it never comes, the test fails with what came instead."""
        wait_for(lambda: re.search(pattern, self.text) or self.process.poll() is not None)
        assert re.search(pattern, self.text), f"no {pattern!r} in:\n{self.text}"

    def until_jobs_run(self, place: "Place", trial: str) -> None:
        """Wait until a trial (`1/2`) is measured and a job of it has its application master."""
        self.until(rf"trial {trial} .* · run( ·|\n)")
        wait_for(lambda: place.processes(MASTER) or self.process.poll() is not None)
        assert self.process.poll() is None, self.text

    def exit_code(self) -> int:
        """Wait for its end; negative for the signal that killed it."""
        return self.process.wait(timeout=PATIENCE_S)


class PortWatch:
    """Watches, for the time of a scope, where processes listen in this machine's network; `find` gives their ids.

    It fails at its end where one listened beyond loopback, or one that was to be seen was never seen to listen.
    """

    def __init__(self, find: Callable[[], Iterable[int]], *words: str) -> None:
        """Each of the words must be in the command line of a process that listens."""
        self._find, self._words = find, words
        self._seen: dict[str, set[str]] = {}
        self._ended = Event()
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if kind is None:
            beyond = {(command, address) for command, all_of in self._seen.items() for address in all_of if address}
            assert not beyond, beyond
            unseen = [word for word in self._words if not any(word in command for command in self._seen)]
            assert not unseen, self._seen

    def _watch(self) -> None:
        while not self._ended.wait(0.25):
            for pid, address in listeners(self._find()):
                command = _content(Path(f"/proc/{pid}/cmdline")).replace(b"\0", b" ").decode()
                self._seen.setdefault(command, set()).add("" if address.is_loopback else f"{address.ip}:{address.port}")


class Place:
    """A directory, a user's shell in it, and the commands started from there."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.disk = home / "disk"
        self.disk.mkdir()
        self.media = f"{{disk: {{kind: directory, path: {self.disk}}}}}"
        """An experiment's media: one, `disk`, in a directory."""
        root = home / "checkout"
        self.installation = Installation(
            root=root,
            parts=root / ".assay",
            jobs_jar=root / "jobs" / "target" / "assay-jobs.jar",
            cache=home / "cache" / "assay",
            state=home / "state" / "assay",
        )
        self.installation.parts.mkdir(parents=True)
        (self.installation.parts / "hadoop").symlink_to(HADOOP)
        for programs in (ROOT / "programs").iterdir():
            (self.installation.parts / programs.name).symlink_to(ROOT / ".assay" / programs.name)
        (root / "jobs").symlink_to(ROOT / "jobs")
        (root / "direct").symlink_to(ROOT / "direct")
        (root / "extras").symlink_to(ROOT / "extras")
        # Those of the checkout, where it has them: tests of emulated drives skip where it has not.
        (self.installation.parts / "emulator").symlink_to(ROOT / ".assay" / "emulator")
        (root / "emulator").symlink_to(ROOT / "emulator")
        own = {
            "PYTHONPATH": f"{ROOT / 'src'}:{ROOT / 'extras'}",
            "ASSAY_ROOT": str(root),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CACHE_HOME": str(home / "cache"),
            "COLUMNS": "300",
        }
        self.environment = {**{name: value for name, value in os.environ.items() if name not in TERMINAL}, **own}
        self._started: list[Started] = []

    def experiment(self, text: str) -> str:
        """Write an experiment file; its name for the command line."""
        (self.home / "experiment.yaml").write_text(text)
        return "experiment.yaml"

    def assay(self, *arguments: str, code: int = 0) -> str:
        """Run `assay` to its end, which must have this exit code; what it printed."""
        return self.command(*assay_command(*arguments), code=code).stdout

    def command(self, *command: str, code: int = 0, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        """Run any command to its end, which must have this exit code; it reads `stdin`."""
        done = subprocess.run(
            command, cwd=self.home, env=self.environment, capture_output=True, text=True, check=False, input=stdin,
            timeout=PATIENCE_S,
        )  # fmt: skip
        assert done.returncode == code, f"{' '.join(command)}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *arguments: str, enter: Sequence[str] = ()) -> Started:
        """Start `assay`, by a command that enters where it shall run, and go on; it prints each step."""
        output = self.home / f"output-{len(self._started)}.txt"
        with output.open("wb") as file:
            process = subprocess.Popen(
                [*enter, *assay_command(*arguments, "--verbose")], cwd=self.home, env=self.environment, stdin=subprocess.DEVNULL,
                stdout=file, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        self._started.append(Started(process, output))
        return self._started[-1]

    def records(self, run: str) -> list[Record]:
        """The records of a run folder, none of them damaged."""
        records, damaged = RunFolder(self.home / run).records()
        assert not damaged
        return records

    def verified(self, text: str, *arguments: str) -> list[Record]:
        """The records of an experiment that is run as `run`: all trials end with right outputs, and nothing is left."""
        self.assay("run", self.experiment(text), "--out", "run", *arguments)
        records = self.records("run")
        for record in records:
            assert record.status is Status.FINISHED, record.error
            assert {verdict.outcome for verdict in record.verdicts} == {Outcome.PASS}, record.verdicts
        assert self.left_over() == []
        return records

    def run_in_this_process(self, experiment: str, run: str) -> Record:
        """The one record of an experiment that runs here, where a test may have put other kinds in place of Assay's."""
        plan = make_plan(self.home / experiment, vocabulary(self.installation))
        folder = a_folder(self.home / run, plan)
        execute(plan, folder, partial(open_trial, installation=self.installation), Watcher())
        (record,) = self.records(run)
        return record

    def status(self) -> list[dict[str, Any]]:
        """What Assay says that it holds."""
        held: list[dict[str, Any]] = json.loads(self.assay("cluster", "status", "--json"))
        return held

    def processes(self, word: str) -> list[int]:
        """The marked processes of this place with a word in their command line."""
        mark = f"{MARK}=".encode()
        return [
            pid
            for pid, environment in self._environments()
            if mark in environment and word.encode() in _content(Path(f"/proc/{pid}/cmdline"))
        ]

    def watching_ports(self, *words: str) -> PortWatch:
        """Watch where this place's marked processes listen; see `PortWatch`."""
        return PortWatch(lambda: self.processes(""), *words)

    def left_over(self) -> list[str]:
        """Whatever of Assay's is still there: processes, directories, leases, and what it says itself."""
        held = self.status()
        processes = [f"process {pid}: {_content(Path(f'/proc/{pid}/cmdline'))!r}" for pid, _ in self._environments()]
        directories = [str(path) for path in self.home.rglob("assay-*") if path.is_dir()]
        parts = [*self.installation.parts.glob("work/*"), *self.installation.state.glob("leases/*")]
        return [*map(str, held), *processes, *directories, *map(str, parts)]

    def clean_up(self) -> None:
        """End what a failed test left running."""
        for started in self._started:
            if started.process.poll() is None:
                started.process.kill()
                started.process.wait()
        if any(self.installation.state.glob("leases/*")):
            self.assay("cluster", "down")
            self.assay("media", "detach", "--all")

    def _environments(self) -> list[tuple[int, bytes]]:
        """Processes that name this place in their environment: ours all have our XDG directories or lie below it."""
        pids = [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and int(entry) != os.getpid()]
        found = [(pid, _content(Path(f"/proc/{pid}/environ"))) for pid in pids]
        return [(pid, environment) for pid, environment in found if str(self.home).encode() in environment]


@contextmanager
def a_place(home: Path) -> Iterator[Place]:
    """A place that is cleaned up whatever happens; the test is skipped where set-up has not run."""
    missing = [str(path.relative_to(ROOT)) for path in (HADOOP, JAR) if not path.exists()]
    if missing:
        pytest.skip(f"{' and '.join(missing)} not found; run `setup/prepare` first")
    place = Place(home)
    try:
        yield place
    finally:
        place.clean_up()


def fill(medium: str) -> None:
    """Take all that is left of a medium with a file system of its own, which a trial has attached."""
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    (mounted,) = (point for point in mounts if re.fullmatch(rf".*/assay-trial-\w+-{medium}", point))
    with suppress(OSError), Path(mounted, "filler").open("wb", buffering=0) as filler:
        while True:
            filler.write(bytes(1 << 20))


def assay_command(*arguments: str) -> list[str]:
    """As the entry script starts it."""
    return [sys.executable, "-m", "assay", *arguments]


def wait_for(condition: Callable[[], object], patience_s: float = PATIENCE_S) -> None:
    """Ask until it holds."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def _content(file: Path) -> bytes:
    """Of a file in /proc, whose process may be gone."""
    with suppress(OSError):
        return file.read_bytes()
    return b""
