"""The power of whole nodes, asked of their management controllers where ASSAY_REDFISH names some."""

from typing import TYPE_CHECKING

from assay.model.registry import PROBES

if TYPE_CHECKING:
    from assay.model.probe import ProbeContext, ProbeKind
    from assay_extras.redfish.instrument import Redfish

VARIABLE = "ASSAY_REDFISH"


def _redfish(context: "ProbeContext") -> "Redfish | None":
    if not context.environment.get(VARIABLE):
        return None
    from assay_extras.redfish.instrument import Redfish, read_controllers

    return Redfish(lambda: read_controllers(context.environment))


def _kind() -> "ProbeKind":
    from assay.model.probe import ProbeKind
    from assay.model.quantity import Kind

    series = {"power_w": Kind.LEVEL, "energy_j": Kind.ENERGY, "reading_interval_s": Kind.MACHINE_TIME}
    return ProbeKind(_redfish, series=series)


PROBES.add_late("redfish", _kind)
