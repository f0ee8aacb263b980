"""Fetches the programs that a plan's services bring beside Hadoop's, where they are not here yet."""

import re
import subprocess
from collections.abc import Iterable
from typing import TYPE_CHECKING

from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.installed import kinds_of
from assay.model.service import Service
from assay.model.trial import Trial
from assay.platform.programs import lacking, needed_here, without
from assay.report.words import print_line

if TYPE_CHECKING:
    from rich.console import Console

_MOST_CHARACTERS = 250
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_SIGNS = ("ERROR", "error:", "E: ")
"""Of a line with which Maven, pip or apt says why it failed."""


def fetch_programs(trials: Iterable[Trial], installation: Installation, console: "Console") -> None:
    """Fetch what these trials take from here and lack, or what is out of date, saying first what it is and how large.

    Raises BadInputError where it can't be had, with what works without. An installed package has nothing to fetch by.
    """
    by_kinds = {(trial.store.kind, trial.engine, trial.cluster.kind): trial for trial in trials}
    needed: dict[str, tuple[Service, str]] = {}
    for trial in by_kinds.values():
        kinds = kinds_of(trial)
        for service in needed_here(kinds.stack, is_managed=kinds.platform.is_managed):
            if (installation.root / "programs" / service.name / "prepare").is_file():
                needed.setdefault(service.name, (service, trial.store.kind))
    for service, store in needed.values():
        if lacking([service], installation.parts):
            # Set-up goes by its stamp alone, which may have outlived what it stands for.
            (installation.parts / f"{service.name}.stamp").unlink(missing_ok=True)
        _fetch(service.name, store, installation, console)


def _fetch(service: str, store: str, installation: Installation, console: "Console") -> None:
    """Have set-up make what a service needs; it does nothing where that is here, and says what it makes."""
    with subprocess.Popen(
        [str(installation.root / "setup" / "prepare"), service], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
    ) as process:  # fmt: skip
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            print_line(console, _COLOURS.sub("", line.rstrip()))
    if process.returncode:
        text, about = "".join(lines), _about(service, installation)
        raise BadInputError(
            f"{about}, which {service} needs, could not be fetched: {_reason(text)}; look whether this machine has a "
            f"network and start again; {without(service, store)}", "engine", "store",
        )  # fmt: skip


def _reason(text: str) -> str:
    """The end of the first line that tells of an error, where tools name what lies at the bottom of it."""
    lines = [line.strip() for line in _COLOURS.sub("", text).splitlines() if line.strip()] or ["it said nothing"]
    line = next((line for line in lines if any(sign in line for sign in _SIGNS)), lines[-1])
    reason = line.removeprefix("[ERROR] ").removesuffix(" -> [Help 1]")
    return reason if len(reason) <= _MOST_CHARACTERS else f"... {reason[-_MOST_CHARACTERS:]}"


def _about(service: str, installation: Installation) -> str:
    command = [str(installation.root / "programs" / service / "prepare"), "--about"]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8", check=False
    ).stdout.strip()
