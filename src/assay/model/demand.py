"""What trials ask of drives: how long their own were busy, and another drive would be with the same requests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from assay.model.base import Frozen


class OtherDrive(Frozen):
    """A drive on which times are predicted: all data of a trial lie on it, or those of some roles."""

    name: str
    """What predictions call it: a level of the placement."""
    profile: str
    """A shipped profile's name, or a file."""
    roles: tuple[str, ...] = ()
    """The roles whose data lie on it; empty for all."""
    slowdown: Annotated[int | None, Field(exclude_if=lambda slowdown: slowdown is None)] = None
    """How many times slower than its profile it is; None for as much slower as the drives of the trial are."""
    shared_by: Annotated[float | None, Field(exclude_if=lambda users: users is None)] = None
    """How many equal users share it; None where nobody does."""

    @classmethod
    def on(
        cls, drive: str, profile: str, roles: tuple[str, ...], medium: Mapping[str, Any] | None = None
    ) -> "OtherDrive":
        """A drive, called as somebody calls it or as its file, and its roles: `nvme`, `intermediate-nvme`.

        `medium` has the further fields of the run's medium that it is, whose speed it has.
        """
        name = Path(drive).name.removesuffix(".yaml").removesuffix(".yml")
        return cls(
            name=".".join(f"{role}-{name}" for role in roles) or name,
            profile=profile,
            roles=roles,
            slowdown=None if medium is None else medium.get("slowdown") or 1,
            shared_by=None if medium is None else medium.get("shared_by"),
        )


class StageDemand(Frozen):
    """What a trial asked of its drives until the end of a stage, since the end of the stage before.

    `busy_s` has the drives that it ran on, `busy_there_s` those that it would have with the other drive among them: the
    seconds for which they worked. Of several nodes they are those whose busiest drive was busiest.
    """

    stage: str
    elapsed_s: float
    busy_s: tuple[float, ...]
    busy_there_s: tuple[float, ...]


class DriveDemand(Frozen):
    """What a trial asked of its drives, and would ask of another drive that replaces some of them.

    `title` is the other drive's, `replaced` are the media whose data, or those of the roles, it holds; none where the
    trial has no data of them. `elapsed_s` is the trial's time. `depth` is how many requests a drive of its own had
    under way when one arrived, on average, and `request_bytes` the mean size of a request; both of the drive with the
    most requests.
    """

    trial: str
    drive: OtherDrive
    title: str
    replaced: tuple[str, ...]
    elapsed_s: float
    depth: float
    request_bytes: float
    stages: tuple[StageDemand, ...]
