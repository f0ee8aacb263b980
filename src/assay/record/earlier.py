"""How long trials of earlier runs took, from their records: what a plan's time is estimated from."""

import json
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from assay.model.record import Status
from assay.model.trial import Trial

MOST_RECORDS = 500
"""The newest ones are enough for medians, and reading thousands would keep people waiting."""


class Took(NamedTuple):
    """A finished trial, and how many seconds all of its life took, the cluster's start and the verification too."""

    trial: Trial
    seconds: float


def earlier(runs: Path, trials: Collection[Trial], most: int = MOST_RECORDS) -> list[Took]:
    """Finished trials of the runs in a folder that have the workload and placement of one of these, newest first.

    What can't be read is left out: an estimate can do without.
    """
    endings = {trial.id.partition("-")[2] for trial in trials}
    return list(islice(_read(runs, endings), most))


def _read(runs: Path, endings: Collection[str]) -> Iterator[Took]:
    for run in sorted(runs.glob("*/trials"), key=_changed, reverse=True):
        for folder in sorted(run.glob("[!.]*")):
            if folder.name.partition("-")[2] in endings and (took := _took(folder / "record.json")) is not None:
                yield took


def _changed(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _took(file: Path) -> Took | None:
    try:
        content = json.loads(file.read_text())
        if content["status"] != Status.FINISHED:
            return None
        return Took(Trial.model_validate(content["trial"]), sum(step["seconds"] for step in content["steps"]))
    except (OSError, ValueError, KeyError, TypeError, ValidationError):
        return None
