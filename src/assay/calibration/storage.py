"""Calibrations on disk: one JSON file per set of facts, reused while schema, medium and facts are the same.

CACHE/calibrations/<name>-<digest of the facts>.json appears by one rename. A file that can't be read, or is of another
schema, is set aside beside it (`.damaged`), never used and never deleted.
"""

import hashlib
import json
import os
import re
import uuid
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from assay.model.calibration import SCHEMA_VERSION, Calibration


class CalibrationFolder:
    """The calibrations of this machine. `said` gets one sentence for every file that was set aside."""

    def __init__(self, cache: Path) -> None:
        self._folder = cache / "calibrations"
        self.said: list[str] = []

    def file(self, medium: str, facts: Mapping[str, str]) -> Path:
        """Where a calibration of a medium with these facts lies, whether it is there or not."""
        digest = hashlib.sha256(json.dumps(dict(facts), sort_keys=True).encode()).hexdigest()[:16]
        return self._folder / f"{_file_name(medium)}-{digest}.json"

    def load(self, medium: str, facts: Mapping[str, str]) -> Calibration | None:
        """The stored calibration; None when there is none for these facts, or it had to be set aside."""
        file = self.file(medium, facts)
        try:
            text = file.read_text()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            self._set_aside(file, f"can't be read ({error})")
            return None
        try:
            found = Calibration.model_validate_json(text)
        except ValidationError as error:
            self._set_aside(file, _why(text, error))
            return None
        if dict(found.facts) != dict(facts):
            self._set_aside(file, "holds the facts of another medium")
            return None
        return found

    def store(self, calibration: Calibration) -> Path:
        """Write it where `load` finds it: whole, or not at all."""
        file = self.file(calibration.medium, calibration.facts)
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f".{file.name}.{uuid.uuid4().hex[:8]}")
        with draft.open("w") as stream:
            stream.write(calibration.model_dump_json(indent=1))
            stream.flush()
            os.fsync(stream.fileno())
        draft.rename(file)
        return file

    def _set_aside(self, file: Path, reason: str) -> None:
        aside = file.with_name(f"{file.name}.{uuid.uuid4().hex[:4]}.damaged")
        file.rename(aside)
        self.said.append(f"the stored calibration {file.name} {reason}; it is kept as {aside.name}, measuring again")


def _why(text: str, error: ValidationError) -> str:
    try:
        version = json.loads(text)["schema_version"]
    except (ValueError, KeyError, TypeError):
        return "is damaged"
    if version != SCHEMA_VERSION:
        return f"is of another version ({version}, not {SCHEMA_VERSION})"
    first = error.errors()[0]
    return f"is damaged ({'.'.join(str(part) for part in first['loc'])}: {first['msg']})"


def _file_name(medium: str) -> str:
    return re.sub(r"[^A-Za-z0-9.-]+", "-", medium).strip("-.") or "medium"
