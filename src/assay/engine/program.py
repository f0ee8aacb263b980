"""Programs of jars that are not Assay's own: how they are called, and which jobs they ran, by what their client prints.

Hadoop's clients say `Submitted application application_N_M` when a job is accepted (YarnClientImpl) and
`Running job: job_N_M` when it is watched (Job.monitorAndPrintJob), at the level INFO.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from assay.model.engine import JobReference, Program
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Progress

SCRATCH = "{scratch}"
_TEXT_BYTES = 1 << 20
_JOB = re.compile(r"(?:Running job: job|Submitted application application)_(\d+_\d+)")
_DONE = re.compile(r"\bmap (\d+)% reduce (\d+)%")
_LOCAL = re.compile(r"Running job: job_local")


class Told:
    """What a program's client has said so far."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._local = False
        self.ids: list[str] = []

    def hear(self, line: str, progress: Progress) -> None:
        """A line of its output; news are passed on."""
        before = len(self.ids)
        self._keep(line)
        done = _DONE.search(line)
        if len(self.ids) > before:
            progress.detail(f"{self._program.name}: job {len(self.ids)}")
        elif done:
            progress.detail(f"{self._program.name}: map {done[1]} %, reduce {done[2]} %")

    def hear_all(self, log: Path) -> None:
        """Its whole output, the last lines too."""
        for line in log.read_text(errors="replace").splitlines():
            self._keep(line)

    def jobs(self) -> tuple[JobReference, ...]:
        """Its jobs in their order. Raises AssayError when it ran none on the cluster."""
        if not self.ids:
            why = "it ran on this machine alone" if self._local else "its client named none; it must log at level INFO"
            raise AssayError(f"{self._program.name} ended well, but no job of it is known on the cluster: {why}")
        names = self._program.jobs
        return tuple(
            JobReference(name=names[at] if at < len(names) else f"{self._program.name} {at + 1}", id=found)
            for at, found in enumerate(self.ids)
        )

    def _keep(self, line: str) -> None:
        found = _JOB.search(line)
        self._local = self._local or _LOCAL.search(line) is not None
        if found and f"job_{found[1]}" not in self.ids:
            self.ids.append(f"job_{found[1]}")


def find_jar(program: Program, extras: Path | None) -> Path:
    """The program's jar: its path, or the one file among Hadoop's own further jars that fits its pattern.

    Raises BadInputError when it is not there.
    """
    if Path(program.jar).is_absolute():
        if not Path(program.jar).is_file():
            raise BadInputError(f"{program.name} needs the jar {program.jar}, and it is not there")
        return Path(program.jar)
    found = sorted(extras.glob(program.jar)) if extras is not None else []
    if not found:
        raise BadInputError(f"{program.name} needs {program.jar}, and it is not in {extras}; run setup/prepare again")
    return found[-1]


def program_command(program: Program, hadoop: Path, jar: Path, files: Path) -> list[str]:
    """The command line; generic options come first, as Hadoop's ToolRunner wants them."""
    start = [str(hadoop), "jar", str(jar)] if program.main_class is None else [str(hadoop), program.main_class]
    properties = [f"-D{name}={value}" for name, value in program.properties.items()]
    return [*start, *properties, *(argument.replace(SCRATCH, str(files)) for argument in program.arguments)]


def environment_of(program: Program, jar: Path, base: Mapping[str, str]) -> dict[str, str]:
    """Where a main class is named its jar goes on the client's class path, before what the user has put there."""
    if program.main_class is None:
        return dict(base)
    others = base.get("HADOOP_CLASSPATH")
    return {**base, "HADOOP_CLASSPATH": os.pathsep.join([str(jar), *([others] if others else [])])}


def texts_in(files: Path) -> dict[str, str]:
    """The small text files that a program left, by name."""
    small = [file for file in sorted(files.iterdir()) if file.is_file() and file.stat().st_size <= _TEXT_BYTES]
    return {file.name: file.read_text(errors="replace") for file in small}
