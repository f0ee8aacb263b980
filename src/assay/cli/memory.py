"""`assay memory`: the machine's free memory, held while one measures."""

import click

from assay.cli.context import find_installation, open_console


@click.group()
def memory() -> None:
    """Free memory, held while you measure on a virtual machine that would give it back to its host."""


@memory.command("hold")
def hold() -> None:
    """Hold the free memory, until you release it. Programs get of it what they need, and the page cache too.

    \b
    Example:  assay memory hold
    """
    from assay.commands.memory import hold_memory

    hold_memory(find_installation(), open_console())


@memory.command("release")
def release() -> None:
    """Release what is held.

    \b
    Example:  assay memory release
    """
    from assay.commands.memory import release_memory

    release_memory(find_installation(), open_console())
