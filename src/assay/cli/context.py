"""What every command starts from: this copy of Assay, and the terminal."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from assay.model.installation import Installation


def open_console(*, error: bool = False) -> "Console":
    """Standard output; standard error where the output is a script's."""
    from assay.terminal import SafeConsole

    return SafeConsole(stderr=error)


def find_root() -> Path:
    """The checkout: the one that the entry script names, else the one around this file, if it is in one."""
    return Path(os.environ.get("ASSAY_ROOT") or Path(__file__).parents[3])


def is_checkout() -> bool:
    """False where only the Python package was installed, which has neither Hadoop nor jobs nor an emulator."""
    return "ASSAY_ROOT" in os.environ or (find_root() / "setup" / "prepare").is_file()


def find_installation() -> "Installation":
    """From the environment that the entry script sets."""
    from assay.model.installation import Installation

    root = find_root()
    home = os.environ.get("HADOOP_HOME")
    return Installation(
        root=root,
        parts=root / ".assay",
        jobs_jar=root / "jobs" / "target" / "assay-jobs.jar",
        cache=Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "assay",
        state=Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "assay",
        hadoop_home=Path(home) if home else None,
    )
