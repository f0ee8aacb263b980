"""The task attempts of a finished job, from its history's file."""

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path

from assay.engine.history_files import opened, read_history
from assay.engine.spark_log import is_event_log, read_application
from assay.host.files import why
from assay.model.engine import JobReference
from assay.model.errors import AssayError
from assay.model.task import TaskAttempt


def attempts_of(file: Path) -> Sequence[TaskAttempt]:
    """All attempts of a file's job, which its events name. Raises AssayError for one that can't be read whole."""
    try:
        if is_event_log(file):
            return read_application(file, JobReference(name="", id="")).attempts
        with opened(file) as content:
            return read_history(content, JobReference(name="", id="")).attempts
    except (zlib.error, gzip.BadGzipFile):
        raise AssayError(f"{file}: its compressed content is damaged; copy the file again") from None
    except OSError as error:
        raise AssayError(f"{file} can't be read: {why(error)}") from None
    except AssayError as error:
        raise AssayError(f"{file}: {error}; copy the file again") from None
