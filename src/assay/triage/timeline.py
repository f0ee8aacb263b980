"""The longest night as a picture: a line for each job, a bar for each run, and the critical chain."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from assay.report.charts import drawing as svg
from assay.report.words import duration_text
from assay.triage.window import Night, Window, WindowRun, clock_text, local_time, span_text

MOST_JOBS = 40
"""More lines fill more than a screen."""
_ROW_PX, _BAR_PX, _TOP_PX, _AXIS_PX = 18, 11, 34, 42
_LEAST_PX = 1.5
"""Of a run that is too short to be seen."""
_STEPS_MIN = (1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360)
_MOST_TICKS = 13
_MOST_TOLD = 4
"""Runs of a job whose times are told at the pointer."""
_STORAGE, _LIKELY, _PLAIN, _UNKNOWN = svg.ORANGE, svg.BLUE, svg.SILVER, svg.PALE


class Picture(NamedTuple):
    """A figure as SVG, and what is to be known to read it."""

    svg: str
    caption: str


def window_picture(window: Window | None) -> Picture | None:
    """The picture of the longest night; None where that has fewer than two runs."""
    if window is None or window.longest_night.runs < 2:
        return None
    night, jobs = window.longest_night, _shown_jobs(window.runs)
    more = len({run.job for run in window.runs}) - len(jobs)
    among = f"The longest of {len(window.nights):,} nights" if len(window.nights) > 1 else "All runs"
    sentences = [
        f"{among}, {span_text(night)}.", "Frames and bold names are the critical chain, as far as times tell it.",
        "The right end of a bar is as long as what drives could save of the run, wherever in the run that is.",
        f"Jobs of that night that are not drawn: {more:,}." if more else "",
        f"Left out everywhere: {window.left_out:,} sessions or runs of a day or longer." if window.left_out else "",
    ]  # fmt: skip
    return Picture(_Timeline(night, jobs).drawn(), " ".join(filter(None, sentences)))


def _shown_jobs(runs: Sequence[WindowRun]) -> dict[str, list[WindowRun]]:
    """The runs of the jobs that are drawn, by their first starts: first the chain, then what drives could save most."""
    by_job: dict[str, list[WindowRun]] = {}
    for run in runs:
        by_job.setdefault(run.job, []).append(run)

    def rank(job: str) -> tuple[bool, float, int]:
        of_job = by_job[job]
        return (
            not any(run.critical for run in of_job), -sum(run.bound_s or 0.0 for run in of_job),
            -sum(run.ended_ms - run.began_ms for run in of_job),
        )  # fmt: skip

    drawn = {*sorted(by_job, key=rank)[:MOST_JOBS]}
    return {job: of_job for job, of_job in by_job.items() if job in drawn}


class _Timeline:
    """The lines of jobs below one another on an axis of the day's time."""

    def __init__(self, night: Night, jobs: Mapping[str, Sequence[WindowRun]]) -> None:
        self._night, self._jobs = night, jobs
        self._left = svg.room_for(max(map(len, jobs)))
        self._bottom = _TOP_PX + len(jobs) * _ROW_PX
        self._per_ms = (svg.WIDTH - svg.RIGHT - self._left) / max(1, night.ended_ms - night.began_ms)

    def drawn(self) -> str:
        """The figure as SVG."""
        lines = [
            self._line(job, runs, _TOP_PX + (place + 0.5) * _ROW_PX)
            for place, (job, runs) in enumerate(self._jobs.items())
        ]
        parts = [self._legend(), *self._axis(), *lines, *self._chain(), *self._shortened()]
        label = f"{len(self._jobs)} jobs over the night; the critical chain is {', '.join(self._night.chain)}"
        return svg.figure(self._bottom + _AXIS_PX, parts, label)

    def _x(self, at_ms: float) -> float:
        return self._left + (at_ms - self._night.began_ms) * self._per_ms

    def _legend(self) -> str:
        runs = [run for runs in self._jobs.values() for run in runs]
        marks = [("run", _PLAIN), ("saved by drives, at most", _STORAGE)]
        marks += [("probably saved", _LIKELY)] if any(run.likely_s for run in runs) else []
        marks += [("not known", _UNKNOWN)] if any(run.bound_s is None for run in runs) else []
        return f'<text x="{self._left:.1f}" y="16">{svg.marks(marks, svg.EDGE)}</text>'

    def _axis(self) -> Iterator[str]:
        """Lines at full hours or parts of them, as clocks show them."""
        began_ms, ended_ms = self._night.began_ms, self._night.ended_ms
        fits = (step for step in _STEPS_MIN if (ended_ms - began_ms) / 60_000 / step <= _MOST_TICKS)
        step_ms = next(fits, _STEPS_MIN[-1]) * 60_000
        began = local_time(began_ms)
        since_midnight_ms = ((began.hour * 60 + began.minute) * 60 + began.second) * 1000 + began_ms % 1000
        for at_ms in range(began_ms + -since_midnight_ms % step_ms, ended_ms + 1, step_ms):
            x = self._x(at_ms)
            yield f'<path d="M{x:.1f},{_TOP_PX - 6}V{self._bottom + 4}" stroke="{svg.FAINT}"/>'
            yield svg.text(x, self._bottom + 18, clock_text(at_ms), 'text-anchor="middle"')

    def _line(self, job: str, runs: Sequence[WindowRun], at: float) -> str:
        critical = any(run.critical for run in runs)
        name = job if len(job) <= svg.MOST_LETTERS else f"{job[: svg.MOST_LETTERS - 1]}…"
        bold = ' font-weight="700"' if critical else ""
        label = svg.text(self._left - 8, at + 4.5, name, f'text-anchor="end"{bold}')
        over = svg.rect(0, at - _ROW_PX / 2, svg.WIDTH, _ROW_PX, "#fff", 0)
        bars = "".join(part for run in runs for part in self._bar(run, at - _BAR_PX / 2))
        return f'<g data-levels=""><title>{escape(_told(job, runs))}</title>{over}{label}{bars}</g>'

    def _bar(self, run: WindowRun, top: float) -> Iterator[str]:
        """A run, with what could be saved of it at its right end."""
        left, right = self._x(run.began_ms), self._x(run.ended_ms)
        width = max(right - left, _LEAST_PX)
        unknown = run.bound_s is None
        yield svg.rect(left, top, width, _BAR_PX, _UNKNOWN if unknown else _PLAIN, edge=svg.EDGE if unknown else "")
        for saved_s, colour in ((run.bound_s, _STORAGE), (run.likely_s, _LIKELY)):
            saved = min(width, 1000 * (saved_s or 0.0) * self._per_ms)
            yield svg.rect(left + width - saved, top, saved, _BAR_PX, colour) if saved else ""
        if run.critical:
            size = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{_BAR_PX}"'
            yield f'<rect {size} fill="none" stroke="{svg.INK}" stroke-width="2"/>'

    def _chain(self) -> Iterator[str]:
        """From the end of each of the chain's runs to the start of the next."""
        critical = [
            (run, _TOP_PX + (place + 0.5) * _ROW_PX)
            for place, runs in enumerate(self._jobs.values()) for run in runs if run.critical
        ]  # fmt: skip
        critical.sort(key=lambda placed: placed[0].began_ms)
        for (run, at), (follower, below) in pairwise(critical):
            path = f"M{self._x(run.ended_ms):.1f},{at:.1f}V{below:.1f}H{self._x(follower.began_ms):.1f}"
            yield f'<path d="{path}" fill="none" stroke="{svg.INK}" stroke-width="1.5"/>'

    def _shortened(self) -> Iterator[str]:
        """Where the night would end at the earliest."""
        bound_s = self._night.bound_s
        if round(bound_s):
            x = self._x(self._night.ended_ms - 1000 * bound_s)
            line = f"M{x:.1f},{_TOP_PX - 6}V{self._bottom}m0,25v12"
            yield f'<path d="{line}" stroke="{svg.INK}" stroke-width="1.5" stroke-dasharray="5 3"/>'
            label = f"with other drives at most {duration_text(bound_s)} earlier"
            yield svg.text(x - 5, self._bottom + 36, label, 'text-anchor="end"')


def _told(job: str, runs: Sequence[WindowRun]) -> str:
    """A job's runs in words, the first few of many."""
    lines = [job]
    for run in runs[:_MOST_TOLD]:
        saved = "not known" if run.bound_s is None else f"at most {duration_text(run.bound_s)}"
        likely = "" if run.likely_s is None else f", probably {duration_text(run.likely_s)}"
        took = duration_text((run.ended_ms - run.began_ms) / 1000)
        lines.append(
            f"{clock_text(run.began_ms)} to {clock_text(run.ended_ms)}, {took}; saved by drives: {saved}{likely}"
        )
    more = len(runs) - _MOST_TOLD
    return "\n".join([*lines, f"and {more} more runs"] if more > 0 else lines)
