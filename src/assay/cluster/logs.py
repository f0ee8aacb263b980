"""What a daemon's own log says went wrong."""

import re
from pathlib import Path

_TAIL_BYTES = 256 * 1024
# A log line of that level; the end of a stack trace's chain, or its head; a complaint of the JVM itself.
_WRONG = re.compile(
    r"\b(ERROR|FATAL)\b"
    r"|^(Caused by: |Exception in thread \S+ )?[\w.$]+(Exception|Error)\b"
    r"|^(Error: |Unrecognized |Could not |# )\S"
)
# Hadoop's own farewell, and lines that only say that a signal came: never the reason.
_NOISE = re.compile(r"SHUTDOWN_MSG|RECEIVED SIGNAL")


def last_error(log: Path) -> str | None:
    """The last line that says what went wrong (for a stack trace its root cause); None when none does."""
    wrong = [line for line in _lines(log) if _WRONG.search(line) and not _NOISE.search(line)]
    return wrong[-1] if wrong else None


def last_words(log: Path) -> str:
    """`last_error`, or else the last line at all, or a remark that there is none."""
    lines = _lines(log)
    return last_error(log) or (lines[-1] if lines else "it logged nothing")


def _lines(log: Path) -> list[str]:
    """The last lines, without indentation and empty ones; of a log that is not there, none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - _TAIL_BYTES))
            lines = file.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip()]
