"""Commands of Assay in texts, as the user types them: `./assay` in a checkout, `assay` where it is installed."""

import os
import shlex


def command_name() -> str:
    """How the user called Assay this time."""
    return os.environ.get("ASSAY_COMMAND", "assay")


def typed(*words: str) -> str:
    """A command with these words, as the user called Assay this time."""
    return shlex.join([command_name(), *words])


def as_typed(text: str) -> str:
    """A text whose commands of Assay, each behind a backquote, begin as the user called it."""
    return text.replace("`assay ", f"`{command_name()} ")
