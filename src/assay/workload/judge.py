"""A user's own check of an output: a command of this machine, run on the output's files in a local directory."""

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from assay.model.doubt import Outcome, Verdict
from assay.model.store import Store

CHECK = "your own command"
LAST_LINES = 5
_LINE_CHARACTERS = 300
_ROOM_BYTES = 64 << 20


def judge(words: Sequence[str], folder: Path, seconds: float) -> Verdict:
    """Run a command in a folder: exit code 0 passes, any other fails with its last lines.

    Unknown where it could not be started or did not end in time; then it and what it started are killed.
    """
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                words, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            return Verdict(check=CHECK, outcome=Outcome.UNKNOWN, detail=f"{shlex.join(words)} can't be run: {error}")
        try:
            code = process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            detail = f"{words[0]} did not end within {seconds:g} s; the option verify_seconds gives it more"
            return Verdict(check=CHECK, outcome=Outcome.UNKNOWN, detail=detail)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        said = _last_lines(output.read().decode(errors="replace"))
    outcome = Outcome.PASS if code == 0 else Outcome.FAIL
    return Verdict(check=CHECK, outcome=outcome, detail=": ".join(text for text in (f"exit code {code}", said) if text))


def fetch(store: Store, path: str, folder: Path) -> int:
    """Copy the files directly in a directory of the store that are not hidden, or the one file; their bytes.

    Raises AssayError when nothing is there, OSError when they don't fit.
    """
    files = store.list_files(path)
    wanted = sum(file.bytes for file in files)
    free = shutil.disk_usage(folder).free
    if wanted + _ROOM_BYTES > free:
        raise OSError(f"the output has {wanted} bytes, and {folder} {free} free; TMPDIR names another directory")
    for file in files:
        with (folder / Path(file.path).name).open("wb") as copy:
            for piece in store.pieces(file.path) if file.bytes else ():
                copy.write(piece)
    return wanted


def _last_lines(text: str) -> str:
    lines = [line.rstrip()[:_LINE_CHARACTERS] for line in text.splitlines() if line.strip()]
    return "\n  ".join(lines[-LAST_LINES:])
