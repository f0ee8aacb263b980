"""What the trials of a run would ask of other drives, kept in one file beside their records.

RUN/demands.jsonl   one JSON object in a line for each trial and other drive (`assay.model.demand.DriveDemand`)

It is made by replaying the trials' logs of requests, and may be deleted. A line that can't be read counts as missing.
"""

from collections.abc import Sequence
from contextlib import suppress

from pydantic import ValidationError

from assay.host.files import UnreadableFileError, refuse_irregular, replace_text
from assay.model.demand import DriveDemand
from assay.model.trial import Plan
from assay.model.trial_summary import MeasuredRun, TrialSummary
from assay.record.folder import RunFolder

FILE = "demands.jsonl"


def read_demands(folder: RunFolder) -> list[DriveDemand]:
    """The demands that a run folder keeps; none without a file."""
    demands: list[DriveDemand] = []
    file = folder.path / FILE
    with suppress(OSError, UnreadableFileError):
        refuse_irregular(file)
        with file.open("rb") as lines:
            for line in lines:
                with suppress(ValidationError):
                    demands.append(DriveDemand.model_validate_json(line))
    return demands


def keep_demands(folder: RunFolder, demands: Sequence[DriveDemand]) -> None:
    """Keep demands in place of all earlier ones on drives of the same names, where the folder can be written to."""
    names = {demand.drive.name for demand in demands}
    others = [demand for demand in read_demands(folder) if demand.drive.name not in names]
    with suppress(OSError):
        replace_text(folder.path / FILE, (f"{demand.model_dump_json()}\n" for demand in (*others, *demands)))


def measured_run(folder: RunFolder, plan: Plan, trials: Sequence[TrialSummary]) -> MeasuredRun:
    """A run as it is judged, and as predictors are given it."""
    return MeasuredRun(plan, trials, folder.record, folder.signature, read_demands(folder))
