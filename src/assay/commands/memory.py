"""`assay memory`: hold the machine's free memory while one measures, and release it."""

from rich.console import Console

from assay.execution import interruptible
from assay.memory.keeping import hold, let_go
from assay.memory.reporting import goes_back
from assay.model.installation import Installation
from assay.report.text import bytes_text


def hold_memory(installation: Installation, console: Console) -> None:
    """Hold it, and say how much that is. Raises AssayError where that can't be done; nothing stays then."""
    if not goes_back():
        console.print("free memory stays with this machine, as far as it shows: there is no need to hold it")
        return
    with console.status("holding the free memory"), interruptible():
        held = hold(installation)
    console.print(
        f"{bytes_text(held)} of free memory are held; `assay memory release` lets go of them", highlight=False
    )


def release_memory(installation: Installation, console: Console) -> None:
    """Release it, and say whether there was anything."""
    console.print("released" if let_go(installation.state) else "no memory is held")
