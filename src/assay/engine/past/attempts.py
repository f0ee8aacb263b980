"""The task attempts of a finished job, from its history's file."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, cast

from assay.engine.history_files import read_history
from assay.engine.past.histories import job_id
from assay.host.files import why
from assay.model.engine import JobReference
from assay.model.errors import AssayError
from assay.model.task import TaskAttempt

_GZIP = b"\x1f\x8b"


def attempts_of(file: Path) -> Sequence[TaskAttempt]:
    """All attempts of a file's job. Raises AssayError for a file that can't be read, or is not whole."""
    job = job_id(file.name)
    try:
        with file.open("rb") as plain:
            packed = plain.peek(2)[:2] == _GZIP
            with cast(BinaryIO, gzip.open(plain)) if packed else plain as content:
                return read_history(content, JobReference(name=job, id=job)).attempts
    except OSError as error:
        raise AssayError(f"{file} can't be read: {why(error)}") from None
