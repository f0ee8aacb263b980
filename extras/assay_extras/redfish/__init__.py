"""The power of whole nodes, asked of their management controllers where ASSAY_REDFISH names some."""

from typing import TYPE_CHECKING

from assay.model.registry import PROBES

if TYPE_CHECKING:
    from assay.model.instrument import Instrument, ProbeContext

VARIABLE = "ASSAY_REDFISH"


def _redfish(context: "ProbeContext") -> "Instrument | None":
    if not context.environment.get(VARIABLE):
        return None
    from assay_extras.redfish.instrument import Redfish, read_controllers

    return Redfish(lambda: read_controllers(context.environment))


PROBES.add("redfish", _redfish)
