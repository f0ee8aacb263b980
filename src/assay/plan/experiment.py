"""What an experiment file may say: the schema, with the short forms people like to write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ByteSize, Field, TypeAdapter, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from assay.model.base import Frozen
from assay.model.cluster import ClusterSpec
from assay.model.dataset import DatasetSpec
from assay.model.placement import ROLES
from assay.plan.settings import Profile, Text


def _name_alone(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _medium_short(value: Any) -> Any:
    """`memory` and `directory` alone name a kind, any other word a profile; a profile means an emulated drive."""
    if isinstance(value, str):
        value = {"kind": value} if value in {"directory", "memory"} else {"profile": value}
    if isinstance(value, dict) and "profile" in value and "kind" not in value:
        value = {"kind": "emulated", **value}
    return value


def _placement_short(value: Any) -> Any:
    """A medium's name alone, fractions for all roles, or a mapping of roles; a role's medium alone is all of it."""
    if isinstance(value, str):
        value = {value: 1.0}
    if not isinstance(value, dict):
        return value
    if not set(value) & {*ROLES, "name"}:
        value = dict.fromkeys(ROLES, value)
    return {key: {part: 1.0} if key in ROLES and isinstance(part, str) else part for key, part in value.items()}


def _cluster_short(value: Any) -> Any:
    """`embedded` alone names a kind; `conf_dir` alone means an existing cluster."""
    if isinstance(value, str):
        return {"kind": value}
    if isinstance(value, dict) and "conf_dir" in value and "kind" not in value:
        return {"kind": "existing", **value}
    return value


def _file_alone(value: Any) -> Any:
    """A dataset's file name alone."""
    return {"file": value} if isinstance(value, str) else value


def _one_or_many(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _bytes(value: Any) -> Any:
    """`8GiB`, `800MB` or a number of bytes."""
    if isinstance(value, bool) or value is None:
        return value
    try:
        size = int(TypeAdapter(ByteSize).validate_python(value))
    except ValidationError:
        size = 0
    if size < 1:
        raise PydanticCustomError("size", "Must be a size above 0, such as 4GiB (1024s) or 500GB (1000s)")
    return size


# A size in bytes, at least one.
Bytes = Annotated[int, BeforeValidator(_bytes)]

# A name becomes part of a folder's name.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class WorkloadEntry(Frozen):
    """A workload: its name alone, or with a variant, options, and Hadoop properties for its jobs alone."""

    name: str
    variant: str | None = None
    options: Mapping[str, Text] = {}
    hadoop: Mapping[str, Text] = {}


class MediumEntry(Frozen):
    """A medium: its kind, a directory's path, a tmpfs' or an emulated drive's size, an emulated drive's profile."""

    kind: Literal["directory", "memory", "emulated"] = "directory"
    path: Path | None = None
    size: Bytes | None = None
    profile: str | None = None
    file_system: Literal["ext4", "xfs"] = "ext4"

    @model_validator(mode="after")
    def _belongs_to_its_kind(self) -> "MediumEntry":
        if self.kind == "emulated" and self.profile is None:
            raise ValueError("an emulated medium needs a profile; `assay media list` shows those there are")
        if self.kind != "emulated" and self.profile is not None:
            raise ValueError(f"a profile belongs to an emulated medium, and this one is of kind {self.kind}")
        if self.kind == "directory" and self.size is not None:
            raise ValueError("a directory has no size of its own; leave size out")
        return self


class PlacementEntry(Frozen):
    """A placement: for each role its media with their fractions."""

    name: Name | None = None
    input: Mapping[str, float] = Field(min_length=1)
    intermediate: Mapping[str, float] = Field(min_length=1)
    output: Mapping[str, float] = Field(min_length=1)

    @model_validator(mode="after")
    def _fractions_add_up(self) -> "PlacementEntry":
        for role in ROLES:
            fractions = getattr(self, role)
            if min(fractions.values()) < 0 or abs(sum(fractions.values()) - 1) > 1e-6:
                shown = ", ".join(f"{medium}: {share:g}" for medium, share in fractions.items())
                raise ValueError(f"the fractions of {role} ({shown}) must be 0 or more and add up to 1")
        return self


class DatasetEntry(DatasetSpec):
    """A dataset: exactly one of `file`, `get` and `make`; the name is derived from it unless given."""

    name: str = ""

    @model_validator(mode="after")
    def _exactly_one_source(self) -> "DatasetEntry":
        given = [key for key in ("file", "get", "make") if getattr(self, key) is not None]
        if len(given) != 1:
            found = f"{' and '.join(given)} are" if given else "none is"
            raise ValueError(f"a dataset needs exactly one of file, get and make, and {found} given")
        return self


class ExperimentFile(Frozen):
    """An experiment as a user writes it."""

    experiment: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    description: str = ""
    workloads: Annotated[
        list[Annotated[WorkloadEntry, BeforeValidator(_name_alone)]], BeforeValidator(_one_or_many), Field(min_length=1)
    ]
    datasets: Annotated[list[Annotated[DatasetEntry, BeforeValidator(_file_alone)]], BeforeValidator(_one_or_many)] = []
    media: Mapping[Name, Annotated[MediumEntry, BeforeValidator(_medium_short)]] = {}
    placement: Annotated[
        list[Annotated[PlacementEntry, BeforeValidator(_placement_short)]], BeforeValidator(_one_or_many)
    ] = []
    placement_check: Literal["doubt", "error"] = "doubt"
    settings: Annotated[list[str], BeforeValidator(_one_or_many), Field(min_length=1)] = ["defaults"]
    profiles: Mapping[str, Profile] = {}
    hadoop: Mapping[str, Text] = {}
    cluster: Annotated[ClusterSpec, BeforeValidator(_cluster_short)] = ClusterSpec()
    memory: Annotated[list[Bytes], BeforeValidator(_one_or_many)] = []
    cpus: Annotated[list[Annotated[float, Field(gt=0)]], BeforeValidator(_one_or_many)] = []
    cache: Annotated[list[Literal["cold", "warm"]], BeforeValidator(_one_or_many), Field(min_length=1)] = ["cold"]
    probes: Annotated[
        list[Literal["default", "capture", "none"]], BeforeValidator(_one_or_many), Field(min_length=1)
    ] = ["default"]
    repetitions: int = Field(default=1, ge=1, le=10_000)
    seed: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _media_belong_to_the_cluster(self) -> "ExperimentFile":
        if self.cluster.kind == "existing":
            given = [name for name in ("media", "placement", "memory", "cpus") if getattr(self, name)]
            if given:
                raise ValueError(
                    f"{given[0]} can't be chosen on an existing cluster: its data and limits are its own; "
                    f"leave {given[0]} out"
                )
            if self.cluster.conf_dir is None:
                raise ValueError("an existing cluster needs conf_dir, the directory of its Hadoop configuration")
        elif not self.media:
            raise ValueError("media is missing: name at least one, e.g. media: {disk: directory}")
        return self

    @model_validator(mode="after")
    def _placements_name_media(self) -> "ExperimentFile":
        for entry in self.placement:
            for role in ROLES:
                for medium in getattr(entry, role):
                    if medium not in self.media:
                        raise ValueError(
                            f"placement: {role} names the medium {medium!r}, and media has {', '.join(self.media)}"
                        )
        return self
