"""How the nodes of a trial's cluster are read where Assay runs nothing: what an experiment and a record say of it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from assay.model.base import Frozen

FROM_YARN = "from YARN"


def _hosts(value: Any) -> Any:
    """The cluster's own workers are none here; a single one may stand alone."""
    return [] if value == FROM_YARN else [value] if isinstance(value, str) else value


Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:-]*$")]
Hosts = Annotated[list[Host], BeforeValidator(_hosts, json_schema_input_type=Literal["from YARN"] | Host | list[Host])]
"""Nodes by their names; none stands for all that run the jobs' tasks."""


class NodeSourceSpec(Frozen):
    """A way to read nodes: its name in NODE_SOURCES. Its options are further fields, kept as plain JSON."""

    model_config = ConfigDict(extra="allow")

    name: str

    @property
    def options(self) -> Mapping[str, Any]:
        """What the experiment says of it."""
        return self.model_extra or {}
