"""Watches a scale model while its jobs run: idle processors, a thread's waking, links with a backlog, heartbeats.

What it sees is judged elsewhere (`assay.record.scale_rules`). It takes about 2 % of a processor.
"""

import os
import re
import time
from array import array
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from assay.host.http import fetch_json
from assay.host.processors import bound_to, division
from assay.host.wakeup_probe import wakeup_probe
from assay.model.running_cluster import RunningCluster
from assay.model.scale import HeartbeatsSeen, LinkSeen, ScaleSeen
from assay.model.service import Stack
from assay.network.links import Lan
from assay.network.queues import LinkQueue, Queues

STAT = Path("/proc/stat")
LINKS_EVERY_S, IDLE_EVERY_S, HEARTBEATS_EVERY_S = 0.05, 1.0, 10.0
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_UNITS_S = {"ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}

ScaleWindow = tuple[int, int]
"""Its begin and end, in milliseconds since the epoch."""


class ScaleWatch:
    """What was seen since the scope began, by time."""

    def __init__(self, dilation: int, lans: Sequence[Lan], cluster: RunningCluster, stack: Stack) -> None:
        self._dilation = dilation
        self._lans = lans
        self._cluster = cluster
        self._masters = {daemon.role: daemon.heartbeats for daemon in stack.daemons if daemon.heartbeats is not None}
        self._timers = stack.timers
        self._idle: list[tuple[ScaleWindow, float]] = []
        self._late: deque[tuple[int, array[int]]] = deque()
        self._links: list[tuple[ScaleWindow, str, LinkSeen]] = []
        self._beats: dict[str, list[tuple[int, int]]] = {}
        self._troubles: dict[str, None] = {}
        self._ended = Event()

    @contextmanager
    def watching(self) -> Iterator["ScaleWatch"]:
        """Watch for the time of a scope. What can't be observed becomes a trouble, and nothing else fails for it."""
        parts = division()
        with ExitStack() as scope:
            threads = [Thread(target=self._guarded, args=(work,), daemon=True) for work in (self._sample, self._ask)]
            with bound_to(parts and parts.cluster), suppress(OSError):
                process = scope.enter_context(wakeup_probe())
                threads.append(Thread(target=self._listen, args=(process.stdout,), daemon=True))
            if len(threads) < 3:
                self._troubles["no thread to wake up could be started"] = None
            for thread in threads:
                thread.start()
            scope.callback(self._end, threads)
            yield self

    def seen(self, began_ms: int, ended_ms: int) -> ScaleSeen:
        """Return what was observed between two times (ms)."""
        window = range(began_ms, ended_ms + 1)
        links: dict[str, LinkSeen] = {}
        for (begin, end), name, link in list(self._links):
            if begin in window and end in window:
                before = links.get(name)
                links[name] = (
                    link
                    if before is None
                    else LinkSeen(
                        sent_bytes=before.sent_bytes + link.sent_bytes,
                        seconds=before.seconds + link.seconds,
                        rate_bytes_per_s=link.rate_bytes_per_s,
                    )
                )
        return ScaleSeen(
            dilation=self._dilation,
            idle_shares=tuple(
                round(share, 4) for (begin, end), share in list(self._idle) if begin in window and end in window
            ),
            late_us=counted(late for at_ms, late_us in list(self._late) if at_ms in window for late in late_us),
            links=links,
            heartbeats=self._heartbeats(window),
            troubles=tuple(self._troubles),
        )

    def _heartbeats(self, window: range) -> Mapping[str, HeartbeatsSeen]:
        """Count each role's heartbeats between its first and last answer; roles with one answer are left out."""
        heartbeats = {}
        nodes = sum(node.container_logs is not None for node in self._cluster.nodes)
        for role, beats in self._masters.items():
            counts = [count for count in list(self._beats.get(role, [])) if count[0] in window]
            if len(counts) > 1:
                (first_ms, first), (last_ms, last) = counts[0], counts[-1]
                every_s = seconds_of(
                    self._cluster.properties.get(beats.timer) or self._timers[beats.timer], beats.unit_s
                )
                seconds = (last_ms - first_ms) / 1000
                heartbeats[role] = HeartbeatsSeen(beats=last - first, nodes=nodes, seconds=seconds, interval_s=every_s)
        return heartbeats

    def _end(self, threads: Sequence[Thread]) -> None:
        self._ended.set()
        for thread in threads[:2]:  # the last one ends with what it listens to
            thread.join(HEARTBEATS_EVERY_S)

    def _guarded(self, work: Any) -> None:
        try:
            work()
        except (OSError, ValueError, LookupError) as error:
            if not self._ended.is_set():
                self._troubles[f"{type(error).__name__}: {error}"] = None

    def _sample(self) -> None:
        parts = division()
        processors = parts.cluster if parts else os.sched_getaffinity(0)
        with ExitStack() as opened:
            links = self._open_links(opened)
            before = {name: queues.read() for name, queues, _ in links}
            before_s, before_ms = time.monotonic(), round(1000 * time.time())
            idle_s, idle_ms, idle = before_s, before_ms, idle_ticks(STAT.read_text(encoding="utf-8"), processors)
            while not self._ended.wait(LINKS_EVERY_S):
                now_s, now_ms = time.monotonic(), round(1000 * time.time())
                now = {name: queues.read() for name, queues, _ in links}
                for name, _, rate in links:
                    for number, sent in backlogged(before[name], now[name]).items():
                        link = LinkSeen(sent_bytes=sent, seconds=now_s - before_s, rate_bytes_per_s=rate)
                        self._links.append(((before_ms, now_ms), f"{name}, interface {number}", link))
                before, before_s, before_ms = now, now_s, now_ms
                if now_s - idle_s >= IDLE_EVERY_S:
                    ticks = idle_ticks(STAT.read_text(encoding="utf-8"), processors)
                    share = (ticks - idle) / (_TICKS_PER_S * (now_s - idle_s) * len(processors))
                    self._idle.append(((idle_ms, now_ms), max(0.0, min(1.0, share))))  # waiting may step back
                    idle_s, idle_ms, idle = now_s, now_ms, ticks

    def _open_links(self, opened: ExitStack) -> list[tuple[str, Queues, float]]:
        """Open each namespace with token buckets, with their rate in bytes a second where all have the same."""
        links = []
        shaped = {link.carried_bits_per_s / 8 for lan in self._lans for link in lan.links.values() if link is not None}
        for lan in self._lans[:1] if len(shaped) == 1 else ():
            for node in (lan.switch, *lan.nodes):
                queues = Queues(node)
                opened.callback(queues.close)
                links.append((node.name, queues, next(iter(shaped))))
        if len(shaped) > 1:
            self._troubles["links of different rates are not watched"] = None
        return links

    def _ask(self) -> None:
        while True:
            for role, beats in self._masters.items():
                url = self._cluster.addresses.get(role)
                answer = url and fetch_json(url + beats.page, 5.0 * self._cluster.slower, self._cluster.connect)
                now_ms = round(1000 * time.time())
                beans = answer.get("beans", []) if isinstance(answer, dict) else []
                counts = [bean.get(beats.counter) for bean in beans]
                if known := [int(count) for count in counts if count is not None]:
                    self._beats.setdefault(role, []).append((now_ms, sum(known)))
            if self._ended.wait(HEARTBEATS_EVERY_S):
                return

    def _listen(self, said: Any) -> None:
        with suppress(OSError, ValueError):  # it is closed when the scope ends
            for line in said:
                at_ms, *late = map(int, line.split())
                self._late.append((at_ms, array("I", late)))


def counted(late_us: Iterable[int]) -> dict[int, int]:
    """How many of these lie in each step, by its end: a step is 1 us below 64, and else a 64th of a power of two."""
    shifts = ((late, max(0, late.bit_length() - 7)) for late in late_us)
    counts = Counter(((late >> shift) + 1 << shift) - 1 for late, shift in shifts)
    return dict(sorted(counts.items()))


def idle_ticks(stat: str, processors: Collection[int]) -> int:
    """Clock ticks that some processors had nothing to do, also while a disk was waited for (proc(5), stat)."""
    ticks = 0
    for line in stat.splitlines():
        if (named := re.match(r"cpu(\d+) ", line)) and int(named[1]) in processors:
            fields = line.split()
            ticks += int(fields[4]) + int(fields[5])
    return ticks


def backlogged(before: Mapping[int, LinkQueue], after: Mapping[int, LinkQueue]) -> dict[int, int]:
    """Bytes that interfaces sent between two readings at both of which something waited before them."""
    return {
        number: queue.sent_bytes - before[number].sent_bytes
        for number, queue in after.items()
        if queue.waiting_bytes and number in before and before[number].waiting_bytes
    }


def seconds_of(value: str, unit_s: float) -> float:
    """A property's value, with a unit of its own or of the property's. Raises ValueError."""
    match = re.fullmatch(r"(\d+)\s*(ms|s|m|h)?", value.strip().lower())
    if match is None:
        raise ValueError(f"{value!r} is no time")
    return int(match[1]) * (_UNITS_S[match[2]] if match[2] else unit_s)
