"""What an experiment file may say: the schema, with the short forms people like to write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from assay.model.base import Frozen
from assay.model.cluster import ClusterSpec
from assay.model.dataset import DatasetSpec
from assay.plan.settings import Profile, Text


def _name_alone(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _medium_short(value: Any) -> Any:
    """`memory` and `directory` alone name a kind."""
    return {"kind": value} if isinstance(value, str) else value


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


# A name becomes part of a folder's name.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]


class WorkloadEntry(Frozen):
    """A workload: its name alone, or with a variant, options, and Hadoop properties for its jobs alone."""

    name: str
    variant: str = "paper"
    options: Mapping[str, Text] = {}
    hadoop: Mapping[str, Text] = {}


class MediumEntry(Frozen):
    """A medium: its kind, and for a directory its path."""

    kind: Literal["directory", "memory"] = "directory"
    path: Path | None = None


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
    datasets: Annotated[
        list[Annotated[DatasetEntry, BeforeValidator(_file_alone)]], BeforeValidator(_one_or_many), Field(min_length=1)
    ]
    media: Mapping[Name, Annotated[MediumEntry, BeforeValidator(_medium_short)]] = {}
    settings: Annotated[list[str], BeforeValidator(_one_or_many), Field(min_length=1)] = ["defaults"]
    profiles: Mapping[str, Profile] = {}
    hadoop: Mapping[str, Text] = {}
    cluster: Annotated[ClusterSpec, BeforeValidator(_cluster_short)] = ClusterSpec()
    cache: Annotated[list[Literal["cold", "warm"]], BeforeValidator(_one_or_many), Field(min_length=1)] = ["cold"]
    repetitions: int = Field(default=1, ge=1, le=10_000)
    seed: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _media_belong_to_the_cluster(self) -> "ExperimentFile":
        if self.cluster.kind == "existing":
            if self.media:
                raise ValueError(
                    "media can't be chosen on an existing cluster: its data lies where it keeps it; leave media out"
                )
            if self.cluster.conf_dir is None:
                raise ValueError("an existing cluster needs conf_dir, the directory of its Hadoop configuration")
        elif not self.media:
            raise ValueError("media is missing: name at least one, e.g. media: {disk: directory}")
        return self
