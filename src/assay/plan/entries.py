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
    """A workload: its name alone, or a map."""

    name: str = Field(description="The computation; see [workloads](workloads.md).")
    variant: str | None = Field(
        default=None, description="The version of the algorithm; the workload's first by default."
    )
    options: Mapping[str, Text] = Field(
        default={},
        description="Options of the workload. Numbers and booleans are read as text. Paths are relative to the "
        "folder of the experiment file.",
    )
    hadoop: Mapping[str, Levels] = Field(
        default={},
        description="Hadoop properties for this workload's jobs alone. They override all others and do not affect "
        "staging. A list of levels makes the property a factor of this workload.",
    )


class MediumEntry(Frozen):
    """A medium: a kind's or a profile's name alone, or a map."""

    kind: Literal["directory", "memory", "emulated"] = Field(
        default="directory", description="The kind of medium. With `profile` it is `emulated`."
    )
    path: UserPath | None = Field(
        default=None,
        description="Directory: its path; it must exist and be writable; by default the working directory. Memory: "
        "a tmpfs other than `/dev/shm`. Emulated drive: the directory of its backing file, on a disk "
        "faster than the drive; by default `.assay/work`.",
    )
    size: Bytes | None = Field(
        default=None,
        description="Memory: the size of a tmpfs of its own, which needs root; without root the size has no effect,"
        " and a doubt says so. Emulated drive: use only the first bytes of the drive; by default all. "
        "Not for directories.",
    )
    profile: str | None = Field(
        default=None,
        description="Emulated drive: the name of its profile, or the path of a profile file, which ends in `.yaml` "
        "or `.yml`.",
    )
    file_system: Literal["ext4", "xfs"] = Field(default="ext4", description="Emulated drive: its file system.")
    slowdown: Whole = Field(
        default=1,
        ge=1,
        le=100,
        description="Emulated drive: multiplies all of its times, for a machine whose processors are slower, or "
        "fewer, by this factor than those of the real machine with the drive.",
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

    name: Name | None = Field(
        default=None, description="The name in tables; by default made from the names of its media."
    )
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
        description="The name in reports. By default the file's name up to its first dot, the published graph's "
        "name, or `NAME-like`, with `-xSCALE` if the scale is not 1. Names must differ, so give a name "
        "if only seeds differ.",
    )
    file: UserPath | None = Field(default=None, description="A graph file of yours, one edge per line.")
    format: Literal["auto", "snap", "konect", "csv", "matrix-market", "edges"] = Field(
        default="auto", description="The [format](#file-formats) of `file`; recognised by default."
    )
    header_lines: Whole | None = Field(
        default=None,
        ge=0,
        description="Lines before the first edge of `file` that are not comments; recognised by default.",
    )
    get: str | None = Field(
        default=None,
        description="A published graph, downloaded once and checked. `assay data list` shows the names.",
    )
    make: str | None = Field(
        default=None, description="A graph generated with the proportions of this published graph."
    )
    seed: Whole = Field(
        default=1,
        ge=0,
        le=MOST_SEED,
        description="For `make`: the seed of the random numbers. Another seed makes another graph of the same kind.",
    )
    scale: Number = Field(
        default=1.0,
        description="For `make`: the size as a fraction of the published graph's nodes and edges, at most 100. The "
        "smallest fraction depends on the graph.",
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
