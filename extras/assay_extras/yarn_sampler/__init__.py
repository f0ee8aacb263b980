"""`cluster: {yarn_sampler: ...}`: an existing cluster's nodes, read from containers of a small YARN application."""

from typing import TYPE_CHECKING

from assay.model.registry import NODE_SOURCES

if TYPE_CHECKING:
    from assay.model.probe import NodeSourceKind


def _kind() -> "NodeSourceKind":
    from assay_extras.yarn_sampler.kind import KIND

    return KIND


NODE_SOURCES.add_late("yarn_sampler", _kind)
