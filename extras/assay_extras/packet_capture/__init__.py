"""`probes: capture`: the network's bytes by pair of nodes and purpose, counted from a capture of packets."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.model.registry import PROBE_SETS

if TYPE_CHECKING:
    from assay.model.probe import Probe, ProbeContext


def _capture(context: "ProbeContext") -> "Sequence[Probe]":
    from assay.probe.network import Network
    from assay_extras.packet_capture.capture import capturing

    return (Network(context.node, capturing(context)),)


PROBE_SETS.add("capture", _capture)
