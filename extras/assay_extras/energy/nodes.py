"""What each node of a trial took while its jobs ran and their data was written out."""

from assay.model.host_names import HostNames
from assay.model.record import JOBS, Record
from assay.stats.nodes import node_uses, shares_machine
from assay_extras.energy.account import NO_ENERGY, NODE, counted, energy_account, weakest
from assay_extras.energy.model import Efficiency, Energy, PowerModel


def node_energies(record: Record) -> dict[str, Efficiency]:
    """Each node's joules: its own meter's and drives', and of a machine that nodes share a part; none of one node.

    That is an equal part of what its processors take when idle and of all else, but for what they take on top when
    busy: of that a part by the node's processor time.
    """
    busy_s = {use.node: use.processor_s for use in node_uses(record)}
    if not busy_s:
        return {}
    account = energy_account(record)
    energies = [energy for energy in counted(account.energies) if energy.part in JOBS]
    total_s = sum(seconds or 0.0 for seconds in busy_s.values())
    by_node: dict[str, list[Energy]] = {}
    names = HostNames(busy_s)  # a controller's owner may write a node's name otherwise
    for energy in energies:
        owner = energy.worker
        holder = owner if owner in busy_s else names.find([energy.node])
        if holder is not None:
            by_node.setdefault(holder, []).append(energy)
        elif shares_machine(record):
            idle = 1.0
            if energy.component in {"cpu", "platform", NODE} and energy.energy_j.value > 0 and total_s > 0:
                watts = PowerModel().cpu_idle_watts.value * record.machine.cores
                idle = min(1.0, watts * account.spans[energy.part].seconds / energy.energy_j.value)
            for node, seconds in busy_s.items():
                share = idle / len(busy_s) + (1 - idle) * ((seconds or 0.0) / total_s if total_s else 0.0)
                part = energy.model_copy(update={"energy_j": energy.energy_j.times(share), "basis": "modelled"})
                by_node.setdefault(node, []).append(part)
    whole_s = sum(span.seconds for part, span in account.spans.items() if part in JOBS)
    return {
        node: Efficiency(
            energy_j=sum((part.energy_j for part in parts), NO_ENERGY), seconds=whole_s, basis=weakest(parts)
        )
        for node, parts in by_node.items()
    }
