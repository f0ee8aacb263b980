"""A task's own log, as MapReduce's container-log4j.properties has it written: one stamped line per event.

A reducer's shuffle is logged apart, into `syslog.shuffle` (yarn.app.mapreduce.shuffle.log.separate). Stamps are the
node's local time without its zone: the offset to UTC is taken as the quarter hour that brings the first line nearest to
the container's launch. The tasks of a job that ran inside its master share the master's log, one after the other.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from assay.model.errors import AssayError

_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) [A-Z]+ \[(.*?)\] ([\w.$]+): (.*)")
_ZONE_STEP_MS = 15 * 60 * 1000
# Threads write in turn, but each takes its time stamp before it waits for its turn.
_SLACK_MS = 1000
# The log begins after the launch, by the time that a JVM takes to start; the clocks of two nodes may differ a little.
_EARLIEST_MS, _LATEST_MS = -60_000, 5 * 60_000
_DONE = re.compile(r"Task '(\w+)' done\.")


class LogLine(NamedTuple):
    """One stamped line: `logger` is the class's own name, without its package."""

    time_ms: int
    thread: str
    logger: str
    message: str


def stamped(text: Iterable[str]) -> Iterator[LogLine]:
    """The stamped lines of a log (stack traces and the like are left out), in local time as if it were UTC."""
    for line in text:
        found = _LINE.match(line)
        if found:
            time = datetime.fromisoformat(found[1]).replace(tzinfo=UTC)
            yield LogLine(round(time.timestamp() * 1000), found[2], found[3].rpartition(".")[2], found[4])


def merged(logs: Sequence[Sequence[LogLine]]) -> list[LogLine]:
    """Several logs of one process as one. Raises AssayError where a log's times run backwards."""
    for log in logs:
        latest = 0
        for line in log:
            if line.time_ms < latest - _SLACK_MS:
                raise AssayError(f"its time stamps run backwards by {(latest - line.time_ms) / 1000:.1f} s")
            latest = max(latest, line.time_ms)
    return sorted((line for log in logs for line in log), key=lambda line: line.time_ms)


def section(lines: Sequence[LogLine], attempt: str) -> list[LogLine]:
    """An attempt's own part: after the end of the attempt before it, up to its own end."""
    ours: list[LogLine] = []
    for line in lines:
        ours.append(line)
        done = _DONE.match(line.message) if line.logger == "Task" else None
        if done and done[1] == attempt:
            return ours
        if done:
            ours = []
    return ours


def in_utc(lines: Sequence[LogLine], started_ms: int) -> list[LogLine]:
    """Its lines in UTC. Raises AssayError when no whole offset brings its beginning near the container's launch."""
    if not lines:
        return []
    offset_ms = round((lines[0].time_ms - started_ms) / _ZONE_STEP_MS) * _ZONE_STEP_MS
    late_ms = lines[0].time_ms - offset_ms - started_ms
    if not _EARLIEST_MS <= late_ms <= _LATEST_MS:
        raise AssayError(f"its first time stamp lies {late_ms / 1000:.0f} s from the container's launch")
    return [line._replace(time_ms=line.time_ms - offset_ms) for line in lines]
