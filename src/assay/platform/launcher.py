"""Starts processes on a node when it is told to: each is a child of this one, and so within the node's bounds.

It is run by its path as a program of its own and imports nothing of Assay, so that it takes little of a node's memory.
Each line in the pipe `requests` of its folder is a request; what became of it is in files that begin with its number.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

REQUESTS = "requests"
REFUSED, STARTED, ENDED = "refused", "started", "ended"
SIGN = "launcher is up"


def tell(folder: Path, number: int, suffix: str, text: str) -> None:
    """Leave a whole file, or none yet."""
    part = folder / f"{number}.part"
    part.write_text(text, encoding="utf-8")
    part.replace(folder / f"{number}.{suffix}")


def run(folder: Path, request: dict[str, Any]) -> None:
    """Start a process in the folder of its log, in a session of its own, and wait for its end."""
    number, log = request["number"], Path(request["log"])
    try:
        with log.open("ab") as output:
            process = subprocess.Popen(
                request["command"], env={**os.environ, **request["environment"]}, cwd=log.parent,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
    except OSError as error:
        tell(folder, number, REFUSED, error.strerror or str(error))
        return
    tell(folder, number, STARTED, str(process.pid))
    tell(folder, number, ENDED, str(process.wait()))


def main(folder: Path) -> None:
    """Serve until it is killed."""
    folder.mkdir()
    pipe = folder / REQUESTS
    os.mkfifo(pipe, 0o600)
    # Open for writing too, so that the pipe does not end with each that writes into it.
    with os.fdopen(os.open(pipe, os.O_RDWR), "rb") as requests:
        sys.stdout.write(f"{SIGN}\n")
        sys.stdout.flush()
        while line := requests.readline():
            Thread(target=run, args=(folder, json.loads(line)), daemon=True).start()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
