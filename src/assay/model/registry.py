"""The registries: what Assay knows by name of each sort of thing, its own and that of plug-ins.

Plug-ins import this file while they are found: it imports nothing that takes long.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from assay.model.fact import Fact
from assay.model.plugins import Registry

if TYPE_CHECKING:
    import click

    from assay.model.engine import EngineKind
    from assay.model.installation import Finding, Installation
    from assay.model.medium import MediumKind
    from assay.model.platform import PlatformKind
    from assay.model.prediction import Predictor
    from assay.model.probe import NodeSourceKind, ProbeKind
    from assay.model.record import Record
    from assay.model.section import RunView, SectionView
    from assay.model.service import Service
    from assay.model.store import StoreKind
    from assay.model.workload import Variant, WorkloadKind


class Command(NamedTuple):
    """A command of the command line; `needs_checkout`: the installed package refuses it.

    It is added by its name, a command of one of the core's groups by both names ("media calibrate"); there the
    installed package refuses what it refuses of the group.
    """

    command: "click.Command"
    needs_checkout: bool = False


WORKLOADS: "Registry[WorkloadKind]" = Registry(
    "workload", "assay.workload", parts=("takes", "summary", "known_options.items", "__call__")
)
VARIANTS: "Registry[Variant]" = Registry(
    "variant", "assay.engine", parts=("jobs", "program"),
    mistake=lambda name, _: "" if all(name.partition("/")) else "must be called WORKLOAD/VARIANT",
)  # fmt: skip
"""What engines bring for workloads, each as `WORKLOAD/VARIANT`."""
MEDIA: "Registry[MediumKind[Any]]" = Registry("kind of medium", "assay.media", parts=("options.names", "open"))
PLATFORMS: "Registry[PlatformKind]" = Registry("kind of cluster", "assay.platform", parts=("open", "is_managed"))
SERVICES: "Registry[Service]" = Registry(
    "service", "assay.platform", "assay.store", "assay.engine", parts=("name", "needs"),
    mistake=lambda name, service: "" if service.name == name else f"calls itself {service.name!r}; use one name",
)  # fmt: skip
STORES: "Registry[StoreKind]" = Registry("store", "assay.store", parts=("open", "services", "placer_on"))
ENGINES: "Registry[EngineKind]" = Registry("engine", "assay.engine", parts=("open", "services"))
ENGINE_FILES: "Registry[Callable[[Path], str]]" = Registry("form of engine files", "assay.engine")
"""Each registers the engine that a file describes, and gives its name; it raises BadInputError for what is none."""
COMMANDS: Registry[Command] = Registry("command", parts=("command.get_short_help_str",))
SECTIONS: "Registry[Callable[[RunView], SectionView | None]]" = Registry("section", "assay.report", parts=("__call__",))
"""Each gives its section of a run's report, None where it has nothing to say of that run."""
SUMMARY_FIGURES: "Registry[Callable[[Record], Mapping[str, Any] | None]]" = Registry(
    "sort of a summary's figures", parts=("__call__",)
)
"""Each gives what a plug-in's judgements need of every trial, as JSON holds it, None of a trial without it: it is kept
in the trial's summary."""
PREDICTORS: "Registry[Predictor]" = Registry("predictor", "assay.predict", parts=("__call__",))
"""Each gives trials of a run that nobody ran, with the times that it predicts."""
NODE_SOURCES: "Registry[NodeSourceKind]" = Registry("way to read nodes", "assay.node", "assay.probe")
"""Ways to read the nodes of an existing `cluster`."""
PROBES: "Registry[ProbeKind]" = Registry("probe", "assay.probe", parts=("make", "charts"))
FACTS: "Registry[Callable[[Installation], Mapping[str, Fact]]]" = Registry("source of facts", parts=("__call__",))
"""Facts of this machine, for the records of trials on it."""
FINDINGS: "Registry[Callable[[Installation], Finding]]" = Registry("finding", parts=("__call__",))
"""Lines of `assay doctor`."""
