"""The options of `yarn_sampler`, and how it is opened."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from assay.model.base import Frozen, Whole
from assay.model.cluster import MOST_WHOLE
from assay.model.errors import BadInputError
from assay.model.installation import Installation
from assay.model.node_source import Hosts
from assay.model.probe import NodeSourceContext, NodeSourceKind
from assay.model.quantity import Kind

if TYPE_CHECKING:
    from assay_extras.yarn_sampler.sampler import YarnSampler


def jar_of(installation: Installation) -> Path:
    """The application, as `setup/prepare sampler` makes it."""
    return installation.root / "extras" / "java" / "yarn-sampler" / "target" / "assay-yarn-sampler.jar"


class YarnSamplerOptions(Frozen):
    """How the nodes of an existing cluster are read from containers of a small YARN application."""

    hosts: Hosts = []
    """The nodes, by the names that the ResourceManager knows; by default, and with `from YARN`, all with a
    NodeManager."""
    queue: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")] | None = None
    """The queue; by default YARN's."""
    memory_mb: Annotated[Whole, Field(ge=128, le=MOST_WHOLE)] = 256
    """Memory to ask for each container; YARN rounds it up to its smallest allocation."""


def _check(_environment: Mapping[str, str], installation: Installation) -> None:
    """Raises BadInputError where the application was not made yet."""
    if not jar_of(installation).is_file():
        what = "cluster: yarn_sampler needs an application that is made on demand"
        raise BadInputError(f"{what}; run `setup/prepare sampler`, or leave yarn_sampler out", "yarn_sampler")


def _open(options: YarnSamplerOptions, context: NodeSourceContext) -> "YarnSampler":
    from assay_extras.yarn_sampler.sampler import opened

    return opened(options, context)


KIND = NodeSourceKind(
    options=YarnSamplerOptions,
    about="Reads the nodes' counters from [containers in YARN](../how-to/measure-a-cluster.md#step-3-a-sampler-in-"
    "yarn): `{queue: default}`. Existing only, and not beside `ssh`.",
    open=_open,
    check=_check,
    series=dict.fromkeys(("containers_count", "memory_bytes", "vcores_count"), Kind.LEVEL),
)
