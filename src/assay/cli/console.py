"""The terminal: where words go, progress on one live line, and names that never control it."""

import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.status import Status as Spinner

from assay.model.naming import printable
from assay.model.record import Record
from assay.model.trial import Plan, ResourceEstimate, Trial
from assay.report.words import duration_text, print_line, seconds_text


class SafeConsole(Console):
    """Rich's console, which shows control characters of what it prints, such as an escape in a name, as text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escape control characters in texts. Rich's control of cursor and colours stays: it is in other segments."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)


class Output(NamedTuple):
    """Where a command's words go.

    `results` takes what the command was called for, `progress` what it does meanwhile. With `as_json` both are on
    standard error, or nowhere, and standard output gets one JSON document. With `verbose` every step stays on a line
    of its own, and results have all their tables.
    """

    results: Console
    progress: Console
    as_json: bool = False
    verbose: bool = False

    @classmethod
    def on(cls, console: Console) -> "Output":
        """Return an output whose results and progress go to one console."""
        return cls(console, console)


class ConsoleDisplay:
    """Shows how far a plan has run. Finished trials correct the estimate of the time that is left.

    Steps share one live line, and are not shown where there is no terminal for it; with `verbose` each stays.
    """

    def __init__(
        self,
        console: Console,
        plan: Plan | None = None,
        estimates: Mapping[str, ResourceEstimate] | None = None,
        *,
        verbose: bool = False,
    ) -> None:
        self._console = console
        self._verbose = verbose
        known = all(estimate.known for estimate in (estimates or {}).values())
        self._estimates = dict(estimates or {}) if known else {}
        self._left = [trial.id for trial in plan.trials] if plan else []
        self._expected_s = self._took_s = 0.0
        self._head = self._step = ""
        self._trial_started = time.monotonic()
        self._current: str | None = None
        self._spinner: Spinner | None = None

    def trial_begins(self, trial: Trial, number: int, total: int) -> None:
        """Note that a trial starts, and that the finished trials before it are no longer left."""
        if trial.id in self._left:
            self._left = self._left[self._left.index(trial.id) :]
        self._current, self._trial_started = trial.id, time.monotonic()
        self._head = f"trial {number}/{total} {trial.workload.name} on {trial.placement.name}"

    def trial_ends(self, record: Record) -> None:
        """A line that stays."""
        seconds = time.monotonic() - self._trial_started
        self._took_s += seconds
        self._expected_s += self._seconds_of(record.trial.id)
        if record.trial.id in self._left:
            self._left.remove(record.trial.id)
        self._current = None
        self.close()
        elapsed = seconds_text(record.totals.elapsed_s if record.totals else None)
        elapsed += " s" + (" (modelled)" if record.modelled else "") + (", excluded" if record.struck_out else "")
        reason = f": {record.error}" if record.error else ""
        line = f"{self._head}: {record.outcome}, {elapsed}{reason}"
        print_line(self._console, line)

    def step(self, name: str) -> None:
        """Show a step in the middle of the live line."""
        self._step = name
        if self._verbose:
            self.say(f"assay: {self._line('')}")
        self._show("")

    def detail(self, text: str) -> None:
        """Show a detail at the end of the live line."""
        self._show(text)

    def say(self, line: str) -> None:
        """A line that stays."""
        self.close()
        print_line(self._console, line)

    def close(self) -> None:
        """Take the live line away."""
        if self._spinner is not None:
            self._spinner.stop()
            self._spinner = None

    def _line(self, detail: str) -> str:
        return " · ".join(part for part in (self._head, self._step, detail, self._time_left()) if part)

    def _show(self, detail: str) -> None:
        if self._console.quiet or not self._console.is_terminal:
            return
        shown = escape(self._line(detail))
        if self._spinner is None:
            self._spinner = self._console.status(shown, spinner="line" if self._console.options.ascii_only else "dots")
            self._spinner.start()
        self._spinner.update(shown)

    def _time_left(self) -> str:
        if not self._left or not self._estimates:
            return ""
        correction = self._took_s / self._expected_s if self._expected_s else 1.0
        running = time.monotonic() - self._trial_started if self._current else 0.0
        current = max(0.0, self._seconds_of(self._current) * correction - running) if self._current else 0.0
        later = sum(self._seconds_of(trial) for trial in self._left if trial != self._current) * correction
        return f"about {duration_text(current + later)} left"

    def _seconds_of(self, trial: str | None) -> float:
        estimate = self._estimates.get(trial or "")
        return estimate.seconds if estimate else 0.0
