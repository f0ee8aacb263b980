"""Fetches the programs that a plan's services bring beside Hadoop's, where they are not here yet."""

import re
import subprocess
from collections.abc import Iterable
from typing import TYPE_CHECKING

from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.installed import kinds_of
from assay.model.trial import Trial
from assay.platform.programs import lacking, without
from assay.report.words import print_line

if TYPE_CHECKING:
    from rich.console import Console

_MOST_CHARACTERS = 250
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_SIGNS = ("ERROR", "error:", "E: ")
"""Of a line with which Maven, pip or apt says why it failed."""


def fetch_programs(trials: Iterable[Trial], installation: Installation, console: "Console") -> None:
    """Fetch what clusters of Assay's own need for these trials and lack, saying first what it is and how large.

    Raises BadInputError where it can't be had, with what works without. An installed package has nothing to fetch by.
    """
    by_kinds = {(trial.store, trial.engine, trial.cluster.kind): trial for trial in trials}
    for trial in by_kinds.values():
        kinds = kinds_of(trial)
        for service in lacking(kinds.stack, installation.parts) if kinds.platform.ours else ():
            if (installation.root / "programs" / service.name / "prepare").is_file():
                _fetch(service.name, trial.store, installation, console)


def _fetch(service: str, store: str, installation: Installation, console: "Console") -> None:
    about = _output([str(installation.root / "programs" / service / "prepare"), "--about"])[1].strip()
    print_line(console, f"assay: fetching what {service} needs: {about}")
    code, text = _output([str(installation.root / "setup" / "prepare"), service])
    if code:
        raise BadInputError(
            f"{about}, which {service} needs, could not be fetched: {_reason(text)}; look whether this machine has a "
            f"network and start again; {without(service, store)}", "engine", "store",
        )  # fmt: skip


def _reason(text: str) -> str:
    """The end of the first line that tells of an error, where tools name what lies at the bottom of it."""
    lines = [line.strip() for line in _COLOURS.sub("", text).splitlines() if line.strip()] or ["it said nothing"]
    line = next((line for line in lines if any(sign in line for sign in _SIGNS)), lines[-1])
    told = line.removeprefix("[ERROR] ").removesuffix(" -> [Help 1]")
    return told if len(told) <= _MOST_CHARACTERS else f"... {told[-_MOST_CHARACTERS:]}"


def _output(command: list[str]) -> tuple[int, str]:
    """The exit code, and all that it printed."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
        errors="replace", check=False,
    )  # fmt: skip
    return done.returncode, done.stdout
