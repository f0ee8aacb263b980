"""The short forms that people like to write in an experiment, each turned into its long one."""

import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from assay.model.naming import MOST_NAME_CHARACTERS, unprintable
from assay.model.placement import ROLES
from assay.model.sizes import HOW, size_of
from assay.plan.settings import Text


def name_alone(value: Any) -> Any:
    """A workload's name alone."""
    return {"name": value} if isinstance(value, str) else value


def medium_short(value: Any) -> Any:
    """`memory` and `directory` alone name a kind, any other word a profile; a profile means an emulated drive."""
    if isinstance(value, str):
        value = {"kind": value} if value in {"directory", "memory"} else {"profile": value}
    if isinstance(value, dict) and "profile" in value and "kind" not in value:
        value = {"kind": "emulated", **value}
    return value


def placement_short(value: Any) -> Any:
    """A medium's name alone, fractions for all roles, or a mapping of roles; a role's medium alone is all of it."""
    if isinstance(value, str):
        value = {value: 1.0}
    if not isinstance(value, dict):
        return value
    if not set(value) & {*ROLES, "name"}:
        value = dict.fromkeys(ROLES, value)
    return {key: {part: 1.0} if key in ROLES and isinstance(part, str) else part for key, part in value.items()}


def cluster_short(value: Any) -> Any:
    """`embedded` alone names a kind; `conf_dir` alone means an existing cluster."""
    if isinstance(value, str):
        return {"kind": value}
    if isinstance(value, dict) and (wrong := {"limit_memory_bytes", "limit_cpus"} & set(value)):
        raise ValueError(f"cluster has no {min(wrong)}; bounds are the experiment's own `memory` and `cpus`")
    if isinstance(value, dict) and "conf_dir" in value and "kind" not in value:
        return {"kind": "existing", **value}
    return value


def file_alone(value: Any) -> Any:
    """A dataset's file name alone."""
    return {"file": value} if isinstance(value, str) else value


def one_or_many(value: Any) -> Any:
    """A single item where a list is expected."""
    return value if isinstance(value, list) else [value]


def one_list_or_many(value: Any) -> Any:
    """A single list of names where lists are expected."""
    return [value] if isinstance(value, list) and value and all(isinstance(one, str) for one in value) else value


def _bytes(value: Any) -> Any:
    """`8GiB`, `800MB` or a number of bytes."""
    if value is None:
        return value
    size = size_of(value)
    if size is None:
        raise PydanticCustomError("size", f"Must be {HOW}")
    if size < LEAST_BYTES:
        raise PydanticCustomError("small", "Must be at least 1MiB; write the unit too, such as 4GiB or 500GB")
    return size


LEAST_BYTES = 1 << 20
"""Less can hold nothing, and is most likely a size whose unit was forgotten."""

# A size in bytes.
Bytes = Annotated[int, BeforeValidator(_bytes, json_schema_input_type=int | str)]

MOST_WORTH = 90


def _percentage(value: Any) -> Any:
    """`10%` as the share 0.1."""
    given = re.fullmatch(r"(\d{1,3}(?:\.\d{1,6})?) ?%", value) if isinstance(value, str) else None
    if given is None or float(given[1]) > MOST_WORTH:
        raise PydanticCustomError("percentage", f"Must be a percentage between 0 and {MOST_WORTH}, such as 10%")
    return float(given[1]) / 100


# A share of 1, written as a percentage.
Percentage = Annotated[
    float,
    BeforeValidator(
        _percentage, json_schema_input_type=Annotated[str, Field(pattern=r"^[0-9]{1,3}([.][0-9]{1,6})? ?%$")]
    ),
]

# A name becomes part of a folder's name.
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=MOST_NAME_CHARACTERS)]


def _in_one_line(value: str) -> str:
    found = unprintable(value)
    if found:
        raise PydanticCustomError("control", f"Has the control character {found}; leave it out")
    return value


# A name of the user's choice that only tables show.
Label = Annotated[str, Field(max_length=MOST_NAME_CHARACTERS), AfterValidator(_in_one_line)]


def _not_empty(value: Any) -> Any:
    if value == "":
        raise PydanticCustomError("empty", "Must be a path; leave it out for the default, or write . for the folder")
    return value


# A path as a user writes it: an empty one would be the folder of the experiment.
UserPath = Annotated[Path, BeforeValidator(_not_empty)]

# Numbers as YAML has them: no texts, no yes or no; neither infinite nor undefined.
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]

# A Hadoop property's levels: a single one is no factor.
Levels = Annotated[
    list[Text], BeforeValidator(one_or_many, json_schema_input_type=Text | list[Text]), Field(min_length=1)
]
