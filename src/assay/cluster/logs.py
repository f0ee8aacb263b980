"""What a daemon's own log says went wrong."""

import re
from pathlib import Path

_TAIL_BYTES = 256 * 1024
_SERIOUS = re.compile(r"\b(ERROR|FATAL)\b")
_THROWN = re.compile(r"^(Caused by: |Exception in thread )?[\w.$]+(Exception|Error)\b.*")
_JVM = re.compile(r"^(Error: |Error occurred|Unrecognized |Could not |# )\S.*")
# Hadoop's own farewell and the lines that only say a signal came: never the reason.
_NOISE = re.compile(r"SHUTDOWN_MSG|RECEIVED SIGNAL|Shutdown hook")


def last_error(log: Path) -> str | None:
    """The line that best says why: the last thrown exception's root cause, else the last ERROR or FATAL line.

    A missing or silent log gives None.
    """
    lines = [line.strip() for line in _tail(log) if line.strip() and not _NOISE.search(line)]
    for pattern in (re.compile(r"^Caused by: .*"), _THROWN, _SERIOUS, _JVM):
        found = [line for line in lines if pattern.search(line)]
        if found:
            return found[-1]
    return None


def last_words(log: Path) -> str:
    """`last_error`, or else the last line at all, or a remark that there is none."""
    lines = [line.strip() for line in _tail(log) if line.strip()]
    return last_error(log) or (lines[-1] if lines else f"{log} is empty")


def _tail(log: Path) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            return file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
