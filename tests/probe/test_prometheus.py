"""Proves what is made of a Prometheus' answers: each machine's bytes at its scrapes' times, and what is lost without some.

The server answers the HTTP API's queries from counters that grow at a known rate.
"""

import json
import math
import re
from contextlib import contextmanager
from itertools import product

import pytest

from assay.host.http import BoundedWeb, Bounds
from assay.model.layout import Layout
from assay.model.probe import CannotMeasureError, ForeignCluster, ForeignHost, Scene
from assay.model.registry import NODE_SOURCES
from assay.probe.prometheus import MOST_STEPS, WAIT_S, Prometheus
from assay.probe.prometheus_server import GROUPS, chosen
from assay.probe.remote_nodes import RemoteNodes
from tests.serving import serving

MB = 1_000_000
INSTANCES = {"worker-1:9100": "worker-1", "10.0.0.2:9100": "worker-2", "elsewhere:9100": "elsewhere"}
DEVICES = {"node_disk": ("sda",), "node_network": ("eth0",)}
CLOCK_AHEAD_S = 100.0


class Clock:
    """Passes when it is slept by, and not otherwise."""

    def __init__(self):
        self._s = 1_700_000_000.6

    def now(self):
        return self._s

    def sleep(self, seconds):
        self._s += seconds


CLOCK = Clock()


def a_source(server, *hosts, wait_s=WAIT_S):
    hosts = hosts or (ForeignHost("worker-1.example.com"), ForeignHost("worker-2", "10.0.0.2"))
    web = BoundedWeb(bounds=Bounds(per_second=1000))
    return Prometheus(server.url, ForeignCluster(tuple(hosts), web.ask), wait_s, CLOCK.now, CLOCK.sleep)


class Fake:
    """Scrapes once a second, at .25; each counter grows by its rate since `began_s`.

    `lacks` and `refuses` are patterns of metrics.
    """

    def __init__(self, lacks="^$", refuses="^$", devices=DEVICES, above=(), reboots_at_s=math.inf):
        self.began_s = CLOCK.now() + CLOCK_AHEAD_S - 1000
        self.devices, self.above = devices, above
        self.reboots_at_s = reboots_at_s + CLOCK_AHEAD_S
        self.lacks, self.refuses = re.compile(lacks), re.compile(refuses)

    def query(self, query):
        at = CLOCK.now() + CLOCK_AHEAD_S
        if query["query"] == "time()":
            return answer([at, str(at)])
        if query["query"] == "1":
            return answer([at, "1"])
        if "node_bonding_slaves|" in query["query"]:
            return answer([{"metric": labels, "value": [at, value]} for labels, value in self.above])
        found = self.series(query["query"])
        return answer([{"metric": labels, "value": [at, str(value(at))]} for labels, value in found])

    def query_range(self, query):
        if self.refuses.search(query["query"]):
            return 422, {"status": "error", "error": "query processing would load too many samples into memory"}
        begin, end, step = (float(query[name]) for name in ("start", "end", "step"))
        steps = [begin + number * step for number in range(int((end - begin) / step + 0.01) + 1)]
        now = CLOCK.now() + CLOCK_AHEAD_S + 1e-6  # of rounding
        found = self.series(query["query"])
        return answer([
            {"metric": labels, "values": [[at, str(value(at))] for at in steps if at <= now]} for labels, value in found
        ])  # fmt: skip

    def series(self, query):
        metric = re.search(r"node_\w+", query)[0]
        if self.lacks.search(metric):
            return
        by = re.search(r"by \(([\w, ]+)\)", query)
        names = by[1].split(", ") if by else ["instance", "nodename"]
        chosen = re.search(r'instance=~"((?:[^"\\]|\\.)*)"', query)
        only = re.search(r'device=~"((?:[^"\\]|\\.)*)"', query)
        devices = next((found for start, found in self.devices.items() if metric.startswith(start)), ("",))
        devices = [device for device in devices if not only or re.fullmatch(json.loads(f'"{only[1]}"'), device)]
        for number, (instance, nodename) in enumerate(INSTANCES.items()):
            if chosen and not re.fullmatch(json.loads(f'"{chosen[1]}"'), instance):
                continue
            for mode, device in product(("user", "idle") if "mode" in names else ("",), devices):
                known = {"instance": instance, "nodename": nodename, "device": device, "mode": mode}
                rate = (number + 1) * (MB if "bytes" in metric else 0.25)
                labels = {name: known[name] for name in names if known.get(name)}
                if "timestamp(" in query:
                    yield labels, scraped
                elif metric == "node_boot_time_seconds":
                    yield labels, lambda at: 1e9 + 500 * (scraped(at) >= self.reboots_at_s)
                elif "Mem" in metric or "Cached" in metric or "Dirty" in metric:
                    yield labels, lambda at: 5 * MB
                else:
                    yield labels, lambda at, rate=rate: rate * (scraped(at) - self.since_s(scraped(at)))

    def since_s(self, at):
        """Since when counters count: at first for 1,000 s, after a new start as if for 700 s."""
        return self.began_s if at < self.reboots_at_s else self.reboots_at_s - 700


def scraped(at):
    """The last scrape before a time."""
    return int(at - 0.25) + 0.25


def answer(result):
    return {"status": "success", "data": {"resultType": "vector", "result": result}}


@contextmanager
def a_prometheus(fake):
    with serving({"/api/v1/query": fake.query, "/api/v1/query_range": fake.query_range}) as server:
        yield server


def measured(server, *hosts, before_end=lambda: None):
    source = a_source(server, *hosts, wait_s=20)
    probe = RemoteNodes("prometheus", NODE_SOURCES["prometheus"].series)
    probe.attach(Scene(Layout(neutral="/"), foreign=source._cluster, sources={"prometheus": source}))
    probe.mark(None)
    CLOCK.sleep(0.1)
    probe.mark("staging")
    CLOCK.sleep(2.5)
    probe.mark("run")
    probe.mark("collect")
    before_end()
    found = probe.evaluate()
    doubts = probe.doubts()
    probe.close()
    return found, doubts


def test_each_machines_bytes_and_seconds_while_the_jobs_ran():
    with a_prometheus(Fake()) as server:
        found, doubts = measured(server)
    assert doubts == ()
    of = {(one.node, one.subject, one.series): one.value for one in found.amounts if one.part == "run"}
    assert {node for node, _, _ in of} == {"worker-1.example.com", "worker-2"}
    for number, node in enumerate(["worker-1.example.com", "worker-2"], 1):
        assert of[node, "disk sda", "read_bytes"] == pytest.approx(number * 2.5 * MB, rel=0.05)
        assert of[node, "interface eth0", "sent_bytes"] == pytest.approx(number * 2.5 * MB, rel=0.05)
        assert of[node, "processor", "user_s"] == pytest.approx(number * 2.5 / 4, rel=0.05)
        assert of[node, "pressure", "io_full_s"] == pytest.approx(number * 2.5 / 4, rel=0.05)
        assert of[node, "memory", "page_cache_peak_bytes"] == 5 * MB
    rates = [
        one
        for one in found.samples
        if (one.node, one.subject, one.series) == ("worker-2", "disk sda", "read_bytes_per_s")
    ]
    assert len(rates) >= 2
    assert all(one.value == pytest.approx(2 * MB, rel=0.01) for one in rates)
    # Times are this machine's, though the server's clock is ahead.
    assert all(abs(one.time_ms / 1000 - CLOCK.now()) < 30 for one in found.samples)
    assert len(server.asked) < 40


BYTES_OF = {"node_disk": ("nvme0n1", "nvme0n1p1", "dm-0", "loop3", "cciss/c0d0"), "node_network": (
    "lo", "em1", "em2", "dmz", "em1.7", "wan", "docker0", "ib0",
)}  # fmt: skip


def test_devices_that_stand_for_others_are_left_out_and_named():
    instance = {"instance": "worker-1:9100"}
    indexes = [
        ({"__name__": f"node_network_iface_{what}", "device": name, **instance}, value)
        for name, own, below in (("em1", "2", "2"), ("em2", "3", "3"), ("dmz", "4", "4"), ("wan", "5", "3"))
        for what, value in (("id", own), ("link", below))
    ]
    bond = {"__name__": "node_bonding_slaves", "master": "dmz", **instance}
    fake = Fake(devices=BYTES_OF, above=[(bond, "2"), *indexes])
    with a_prometheus(fake) as server:
        found, doubts = measured(server, ForeignHost("worker-1"))
    subjects = {one.subject for one in found.amounts if one.subject.startswith(("disk", "interface"))}
    assert subjects == {
        "disk nvme0n1", "disk cciss/c0d0", "interface em1", "interface em2", "interface ib0"
    }  # fmt: skip
    assert [(one.kind, one.instrument, one.what) for one in doubts] == [
        ("devices-by-name", "prometheus",
         "of the drives cciss/c0d0, nvme0n1 are counted by their names, and dm-0, nvme0n1p1 are not"),
        ("devices-by-name", "prometheus",
         "of the interfaces em1, em2, ib0 are counted by their names, and dmz, docker0, em1.7 and 1 more are not"),
    ]  # fmt: skip


def test_a_machine_that_was_started_anew_is_told_by_its_boot_time():
    """Its counters fall to 0.7 of what they were."""
    with a_prometheus(Fake(reboots_at_s=CLOCK.now() + 1.5)) as server:
        found, doubts = measured(server, ForeignHost("worker-1"))
    (read,) = [one for one in found.amounts if (one.subject, one.series, one.part) == ("disk sda", "read_bytes", "run")]
    assert read.value == pytest.approx(702 * MB, rel=0.01)
    assert read.basis == "estimated"
    assert doubts[0].what.startswith("counters began anew or fell: disk sda of worker-1, interface eth0 of worker-1")


def test_what_is_lost_without_some_series_is_said_in_a_sentence():
    with a_prometheus(Fake(lacks="^node_pressure")) as server:
        found, (doubt,) = measured(server)
        assert doubt.kind == "prometheus-series-missing"
        assert doubt.what == (
            f"{server.url} has no node_pressure_* (Linux with PSI) of any machine: not known is how long tasks waited for "
            "processors, memory and drives"
        )
    assert {one.subject for one in found.amounts} == {"disk sda", "interface eth0", "processor", "memory"}


@pytest.mark.parametrize("missing", ["disk", "network"])
def test_a_collector_that_is_off_is_said_as_such(missing):
    with a_prometheus(Fake(lacks=f"^node_{missing}_")) as server:
        found, (doubt,) = measured(server)
        assert doubt.kind == "prometheus-series-missing"
        assert doubt.what.startswith(f"{server.url} has no node_{missing}_* of any machine: not known is ")
    kept = {"disk": "interface eth0", "network": "disk sda"}[missing]
    assert {one.subject for one in found.amounts} == {kept, "processor", "memory", "pressure"}


def test_machines_that_it_does_not_know_are_named():
    with a_prometheus(Fake()) as server:
        hosts = ForeignHost("worker-1"), *(ForeignHost(f"lost-{number}") for number in range(5))
        _, (doubt,) = measured(server, *hosts)
        assert doubt.what == f"{server.url} knows 1 of 6 machines, and not lost-0, lost-1, lost-2 and 2 more"
        with pytest.raises(
            CannotMeasureError, match=r"no instance .* called as one of the cluster's machines \(lost-0"
        ):
            a_source(server, *hosts[1:]).begin(print)


def test_a_machine_is_known_whatever_the_case_of_its_name_with_or_without_its_domain():
    with a_prometheus(Fake()) as server:
        found, doubts = measured(server, ForeignHost("WORKER-1.Example.com."), ForeignHost("Worker-2"))
    assert doubts == ()
    assert {one.node for one in found.samples} == {"WORKER-1.Example.com.", "Worker-2"}


def test_one_that_goes_away_meanwhile_is_a_doubt():
    with a_prometheus(Fake()) as server:
        found, (doubt,) = measured(server, before_end=server.answers.clear)
    assert (list(found.samples), found.amounts) == ([], [])
    assert doubt.kind == "prometheus-silent"
    assert "HTTP status 404" in doubt.what


def test_an_answer_that_is_refused_costs_its_own_figures():
    with a_prometheus(Fake(refuses="node_disk")) as server:
        found, (doubt,) = measured(server)
    assert doubt.kind == "prometheus-answer-lost"
    assert "gave no whole answer about" in doubt.what
    assert "drives" in doubt.what
    assert {one.subject for one in found.amounts} == {"interface eth0", "processor", "memory", "pressure"}


def test_only_the_clusters_own_machines_are_asked_for():
    with a_prometheus(Fake()) as server:
        measured(server)
    asked = [query["query"] for path, query in server.asked if path.endswith("query_range")]
    assert asked
    assert all('instance=~"10\\\\.0\\\\.0\\\\.2:9100|worker\\\\-1:9100"' in query for query in asked)


def test_a_choice_that_would_be_too_long_for_an_address_is_not_made():
    assert chosen(["b:1", "a.x:1"]) == r'instance=~"a\\.x:1|b:1"'
    assert chosen(f"worker-{number}.example.com:9100" for number in range(1000)) == 'instance!=""'


def test_of_a_long_trial_no_more_points_are_asked_for_than_are_given():
    with a_prometheus(Fake()) as server:
        source = a_source(server)
        source.begin(print)
        now = CLOCK.now()
        source._scrapes(now - 30 * 3600, now)
        query, _ = [query for path, query in server.asked if path.endswith("query_range")]
    assert (float(query["end"]) - float(query["start"])) / float(query["step"]) <= MOST_STEPS


def test_without_one_nothing_is_missing():
    probe = RemoteNodes("prometheus", NODE_SOURCES["prometheus"].series)
    probe.attach(Scene(Layout(neutral="/"), foreign=ForeignCluster((), None)))
    probe.mark(None)
    probe.mark("run")
    assert probe.evaluate().amounts == []
    assert probe.doubts() == ()


def test_every_group_says_what_is_lost():
    assert len({group.lost for group in GROUPS}) == len(GROUPS) == 5


def test_a_series_that_is_no_number_is_missing_and_told():
    class Odd(Fake):
        def series(self, query):
            odd = "node_disk_read_bytes" in query and "timestamp(" not in query
            for labels, value in super().series(query):
                yield labels, (lambda _at: math.nan) if odd else value

    with a_prometheus(Odd()) as server:
        found, (doubt,) = measured(server)
    assert "readings that are no numbers were left out: disk sda read_bytes of " in doubt.what
    of = {(one.node, one.subject, one.series) for one in found.amounts}
    assert ("worker-2", "disk sda", "read_bytes") not in of
    assert ("worker-2", "disk sda", "written_bytes") in of
    assert all(math.isfinite(one.value) for one in (*found.amounts, *found.samples))
