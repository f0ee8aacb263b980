"""Proves that daemons' own counters are kept by part of a trial, with those of each part's end, and late ones doubted."""

from pathlib import Path

import pytest

from assay.model.layout import Layout
from assay.model.probe import CountingDaemon, Moment, Scene
from assay.model.quantity import Kind
from assay.model.service import Counters, Counts
from assay.node.local import LocalNode
from assay.probe import daemon_counters
from assay.probe.daemon_counters import DaemonCounters

START_S = 1000.0


class Clock:
    """Time that passes by sleeping alone."""

    def __init__(self):
        self.now_s = START_S

    def time(self):
        return self.now_s

    def sleep(self, seconds):
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(daemon_counters, "time", clock)
    return clock


class Server:
    """A daemon that writes 1000 bytes of log a second, and tells it once a second while it lives."""

    def __init__(self, clock):
        self._clock, self.ended_s = clock, float("inf")

    def read(self, node, log):
        told_s = int(min(self._clock.now_s, self.ended_s))
        return Counts(1000 * told_s, {"log_bytes": 1000.0 * (told_s - START_S)}) if told_s > START_S else None


def attached(server):
    counters = Counters(series={"log_bytes": Kind.BYTES}, titles={"log_bytes": "log"}, read=server.read)
    probe = DaemonCounters(LocalNode())
    probe.attach(Scene(Layout(neutral=Path()), counting=(CountingDaemon("server", "", Path("log"), counters),)))
    return probe


def test_a_part_ends_with_counts_that_are_not_older(clock):
    probe = attached(Server(clock))
    clock.now_s += 10.4
    (total,) = probe.totals().items()
    assert total == (("server", "log_bytes", "measured", False), 11_000.0)
    assert clock.now_s == pytest.approx(START_S + 11, abs=0.06)
    assert not probe.doubts()


def test_rates_are_those_between_two_counts(clock):
    probe = attached(Server(clock))
    rates = []
    for _ in range(8):
        clock.now_s += 0.5
        rates.append(probe.sample(Moment(int(1000 * clock.now_s), clock.now_s)))
    assert [rate for rate in rates if rate] == [{("server", "log_bytes_per_s"): 1000.0}] * 2


def test_a_daemon_that_died_keeps_its_last_counts_and_is_doubted(clock):
    server = Server(clock)
    probe = attached(server)
    server.ended_s = START_S + 5
    clock.now_s += 20
    assert list(probe.totals().values()) == [5000.0]
    (doubt,) = probe.doubts()
    assert (doubt.kind, doubt.subject) == ("daemon-counters-late", "server")
    assert clock.now_s < START_S + 20 + 3.2


def test_where_nothing_counts_there_is_nothing_to_wait_for(clock):
    probe = DaemonCounters(LocalNode())
    probe.attach(Scene(Layout(neutral=Path())))
    assert (probe.totals(), probe.sample(Moment(0, 0.0)), clock.now_s) == ({}, {}, START_S)
