"""What an experiment file may say of a workload, a dataset, a medium and a placement."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from assay.model.base import Frozen
from assay.model.dataset import MOST_SEED, DatasetSpec
from assay.model.placement import MOST_DIRECTORIES, ROLES
from assay.plan.settings import Text
from assay.plan.short_forms import Bytes, Label, Levels, Name, Number, UserPath, Whole


class WorkloadEntry(Frozen):
    """A workload: its name alone, or a map with what is asked of it."""

    name: str = Field(description="The computation; see [workloads](workloads.md).")
    variant: str | None = Field(
        default=None, description="The version of the algorithm; the workload's first by default."
    )
    options: Mapping[str, Text] = Field(
        default={},
        description="Options of the workload; numbers and booleans are read as text. A path counts from the experiment "
        "file's folder.",
    )
    hadoop: Mapping[str, Levels] = Field(
        default={},
        description="Hadoop properties for this workload's jobs alone. They win over all others; staging is not "
        "affected. A list of levels makes the property a factor of this workload.",
    )


class MediumEntry(Frozen):
    """A medium: a kind's or a profile's name alone, or a map."""

    kind: Literal["directory", "memory", "emulated"] = Field(
        default="directory", description="What it is. `emulated` goes without saying where `profile` is given."
    )
    path: UserPath | None = Field(
        default=None,
        description="Of a directory: where; it must exist and be writable; by default the working directory. Of "
        "memory: another tmpfs than `/dev/shm`. Of an emulated drive: the directory for its backing file, on a disk "
        "faster than the drive; by default `.assay/work`.",
    )
    size: Bytes | None = Field(
        default=None,
        description="Of memory: a tmpfs of its own that is full at that size. It takes root; without, the size bounds "
        "nothing and a doubt says so. Of an emulated drive: use only so much of it, from its start; all of it by "
        "default. A directory has none.",
    )
    profile: str | None = Field(
        default=None,
        description="Of an emulated drive: its profile's name, or the path of a profile file; a path ends in `.yaml` "
        "or `.yml`.",
    )
    file_system: Literal["ext4", "xfs"] = Field(default="ext4", description="On an emulated drive.")
    slowdown: Whole = Field(
        default=1,
        ge=1,
        le=100,
        description="Of an emulated drive: how many times as long all that it does takes, for a machine whose "
        "processors are so much slower, or fewer, than those that the drive is meant for.",
    )

    @model_validator(mode="after")
    def _belongs_to_its_kind(self) -> "MediumEntry":
        if self.kind == "emulated" and self.profile is None:
            raise ValueError("an emulated medium needs a profile; `assay media list` shows those there are")
        if self.kind != "emulated" and self.profile is not None:
            raise ValueError(f"a profile belongs to an emulated medium, and this one is of kind {self.kind}")
        if self.kind != "emulated" and self.slowdown != 1:
            raise ValueError(f"slowdown belongs to an emulated medium, and this one is of kind {self.kind}")
        if self.kind != "emulated" and "file_system" in self.model_fields_set:
            raise ValueError(
                f"file_system belongs to an emulated medium, and this one is of kind {self.kind}: it keeps the one "
                "that it has; leave file_system out"
            )
        if self.kind == "directory" and self.size is not None:
            raise ValueError("a directory has no size of its own; leave size out")
        return self


def _medium_alone(role: str) -> str:
    return f"Fractions by medium for the {role}, 0 or more, adding up to 1; a medium's name alone is all of it."


# A medium alone, or fractions.
Shares = Annotated[
    Mapping[str, Number], BeforeValidator(lambda value: value, json_schema_input_type=str | Mapping[str, float])
]


class PlacementEntry(Frozen):
    """A placement: a medium's name, fractions of media, or a map with the media of each role."""

    name: Name | None = Field(default=None, description="Its name in tables; by default made of its media's.")
    input: Shares = Field(min_length=1, description=_medium_alone("files that the jobs read"))
    intermediate: Shares = Field(
        min_length=1, description=_medium_alone("spills, merges and map outputs in local directories")
    )
    output: Shares = Field(min_length=1, description=_medium_alone("files that the jobs write"))

    @model_validator(mode="after")
    def _fractions_add_up(self) -> "PlacementEntry":
        for role in ROLES:
            fractions = getattr(self, role)
            if len(fractions) > MOST_DIRECTORIES:
                raise ValueError(
                    f"{role} names {len(fractions)} media, and a role has at most {MOST_DIRECTORIES} directories; name "
                    "fewer media"
                )
            if min(fractions.values()) < 0 or abs(sum(fractions.values()) - 1) > 1e-6:
                shown = ", ".join(f"{medium}: {share:g}" for medium, share in fractions.items())
                raise ValueError(f"the fractions of {role} ({shown}) must be 0 or more and add up to 1")
        return self


class DatasetEntry(DatasetSpec):
    """A dataset: a file's name alone, or a map with exactly one of `file`, `get` and `make`."""

    name: Label = Field(
        default="",
        description="The name in reports. By default the file's name up to its first dot, the published graph's name, "
        "or `NAME-like` with `-xSCALE` where the scale is not 1. Names must differ: give one when only seeds differ.",
    )
    file: UserPath | None = Field(default=None, description="A graph file of yours, one edge per line.")
    format: Literal["auto", "snap", "konect", "csv", "matrix-market", "edges"] = Field(
        default="auto", description="How `file` is written ([below](#forms-of-a-file)); recognised by default."
    )
    header_lines: Whole | None = Field(
        default=None,
        ge=0,
        description="Lines before the first edge of `file` that are not comments; recognised by default.",
    )
    get: str | None = Field(
        default=None,
        description="A published graph. It is downloaded once and checked. `assay data list` shows the names.",
    )
    make: str | None = Field(default=None, description="A graph generated like the published one of that name.")
    seed: Whole = Field(
        default=1, ge=0, le=MOST_SEED, description="For `make`: another seed makes another graph of the same kind."
    )
    scale: Number = Field(
        default=1.0,
        description="For `make`: the fraction of the published graph's nodes and edges, at most 100. The least depends "
        "on the graph and is told.",
    )

    @model_validator(mode="after")
    def _exactly_one_source(self) -> "DatasetEntry":
        given = [key for key in ("file", "get", "make") if getattr(self, key) is not None]
        if len(given) != 1:
            found = f"{' and '.join(given)} are" if given else "none is"
            raise ValueError(f"a dataset needs exactly one of file, get and make, and {found} given")
        for key, source in (("format", "file"), ("header_lines", "file"), ("seed", "make"), ("scale", "make")):
            if key in self.model_fields_set and source != given[0]:
                raise ValueError(f"{key} belongs to `{source}`, and this dataset has `{given[0]}`; leave {key} out")
        return self
