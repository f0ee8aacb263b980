"""`assay memory`: the machine's free memory, held while you measure; a fact of trials and a line of `assay doctor`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from assay.cli.context import CommandGroup, find_installation, open_console
from assay.model.fact import Fact
from assay.model.registry import COMMANDS, FACTS, FINDINGS, Command

if TYPE_CHECKING:
    from assay.model.installation import Finding, Installation


@click.group(cls=CommandGroup)
def memory() -> None:
    """Hold free memory on a virtual machine whose host would take it back."""


COMMANDS.add("memory", Command(memory, needs_checkout=True))


@memory.command("hold")
def _hold() -> None:
    """Hold the free memory until you release it. Programs and the page cache still get what they need.

    \b
    Example:  assay memory hold
    """
    from assay.host.interrupts import interruptible
    from assay.model.naming import bytes_text
    from assay.report.words import print_text
    from assay_extras.held_memory.holding import goes_back, hold

    console = open_console()
    if not goes_back():
        console.print("the host does not take back free memory, as far as can be seen: there is no need to hold it")
        return
    with console.status("holding the free memory"), interruptible():
        bytes_held = hold(find_installation())
    print_text(console, f"{bytes_text(bytes_held)} of free memory are held; `assay memory release` lets go of them")


@memory.command("release")
def _release() -> None:
    """Release the held memory.

    \b
    Example:  assay memory release
    """
    from assay_extras.held_memory.holding import let_go

    open_console().print("released" if let_go(find_installation().state) else "no memory is held")


def _facts(installation: "Installation") -> Mapping[str, Fact]:
    from assay_extras.held_memory.holding import memory_facts

    return memory_facts(installation.state)


def _finding(installation: "Installation") -> "Finding":
    from assay.model.installation import Finding
    from assay.model.naming import bytes_text
    from assay_extras.held_memory.holding import goes_back, held_bytes

    if bytes_held := held_bytes(installation.state):
        return Finding(
            what="free memory", state="good", detail=f"{bytes_text(bytes_held)} are held; `assay memory release`"
        )
    if goes_back():
        detail = "the host takes back free memory, so times vary; run `assay memory hold` before measuring"
        return Finding(what="free memory", state="lacking", detail=detail)
    return Finding(what="free memory", state="good", detail="no memory reclaim by the host detected")


FACTS.add("held_memory", _facts)


FINDINGS.add("free memory", _finding)
