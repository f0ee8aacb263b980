"""Joules that the processor's own counters tell, where it has them (RAPL)."""

from typing import TYPE_CHECKING

from assay.model.registry import PROBES

if TYPE_CHECKING:
    from assay.model.probe import ProbeContext, ProbeKind
    from assay_extras.rapl.counters import Rapl


def _rapl(context: "ProbeContext") -> "Rapl | None":
    from assay_extras.rapl.counters import Rapl, has_zones

    return Rapl(context.node) if context.sees_machine and has_zones(context.node) else None


def _kind() -> "ProbeKind":
    from assay.model.probe import ProbeKind
    from assay.model.quantity import Kind

    return ProbeKind(_rapl, of_nodes=True, series={"power_w": Kind.LEVEL, "energy_j": Kind.ENERGY})


PROBES.add_late("rapl", _kind, place=9)
