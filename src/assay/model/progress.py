"""How long work tells what it is doing, without knowing who listens."""

from typing import Protocol


class Progress(Protocol):
    """A listener for the steps of a trial; calls are cheap and never raise."""

    def step(self, name: str) -> None:
        """A new step of the current trial begins (`start cluster`, `run triangles`)."""

    def detail(self, text: str) -> None:
        """The current step has news (`job 2/3 closing`)."""


class Silent:
    """Nobody listens."""

    def step(self, name: str) -> None:
        """Ignored."""

    def detail(self, text: str) -> None:
        """Ignored."""
