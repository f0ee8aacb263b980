"""What probes of a killed run left in the kernel: counting tables and traces, which nobody else would take away."""

from collections.abc import Callable
from pathlib import Path

from assay.probe import nftables
from assay.probe.nftables import NftError
from assay.probe.trace import kernel


def remove_left_overs(run: nftables.Run = nftables.run_nft, tracefs: Path = kernel.TRACING) -> list[str]:
    """Remove what belongs to processes that are gone; what went, in words.

    Without the right to look there is nothing that this user can have left. What can't be removed stays for the next.
    """
    removals: list[Callable[[], list[str]]] = [
        lambda: [f"packet counters {name}" for name in nftables.remove_left_overs(run)],
        lambda: [f"kernel trace {name}" for name in kernel.remove_left_overs(tracefs)],
    ]
    gone: list[str] = []
    for removal in removals:
        try:
            gone += removal()
        except (NftError, OSError):
            continue
    return gone
