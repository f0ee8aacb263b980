"""Proves that buckets take packets whole, slow links alone are measured together, and a failed transfer is a doubt."""

from types import SimpleNamespace

import pytest

from assay.model.network import LINKS
from assay.model.progress import Silent
from assay.network import links
from assay.network.links import Lan, measure, network_facts

ETHERNET, IPOIB = LINKS["fast-ethernet"], LINKS["ipoib-qdr-like"]


@pytest.mark.parametrize(
    ("link", "bucket", "fitting"),
    [
        (LINKS["gigabit"], 250_000, ""),
        (ETHERNET, 32 << 10, "gso_max_size 29491 "),
        (ETHERNET.model_copy(update={"slowdown": 10}), 32 << 10, "gso_max_size 29491 "),
        (IPOIB, 4_000_000, ""),
        (IPOIB.model_copy(update={"rate_bits_per_s": 10**6}), 65520 + (2 << 10), ""),  # no bound below one packet
    ],
)
def test_the_largest_packet_fits_into_the_bucket(link, bucket, fitting):
    mtu = link.mtu_bytes
    assert (links._bucket_bytes(link, mtu), links._fitting(link, mtu)) == (bucket, fitting)


def test_a_nodes_own_slow_link_takes_the_packets_of_its_network_whole():
    assert links._bucket_bytes(ETHERNET, IPOIB.mtu_bytes) == 65520 + (2 << 10)
    assert links._fitting(ETHERNET, IPOIB.mtu_bytes) == ""


def test_links_that_can_not_be_measured_are_a_doubt(monkeypatch):
    def failing(_lan):
        raise TimeoutError("timed out")

    monkeypatch.setattr(links, "measure", failing)
    facts, (doubt,) = network_facts(
        [Lan(None, (SimpleNamespace(name="a"),), ("a",), {}, ETHERNET, (), {"a": ETHERNET})], Silent()
    )
    assert doubt.kind == "links-not-measured"
    assert doubt.what.endswith("was to be made: timed out")
    assert facts == {"network.rate_bits_per_s": 100_000_000}


@pytest.mark.parametrize(("nodes", "rounds"), [(2, 2), (3, 3), (4, 3), (14, 3), (15, 3)])
@pytest.mark.parametrize(("link", "most"), [(ETHERNET, 10), (LINKS["gigabit"], 1), (None, 1)])
def test_each_node_sends_to_the_next_one_and_none_is_in_two_pairs_at_once(monkeypatch, nodes, rounds, link, most):
    asked, at_once = [], []

    class Threads:
        def __init__(self, count):
            at_once.append(count)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def map(self, act, pairs):
            of_pairs = [node for pair in pairs for node in pair]
            assert len(set(of_pairs)) == len(of_pairs)
            asked.append(of_pairs)
            return map(act, pairs)

    monkeypatch.setattr(links, "ThreadPoolExecutor", Threads)
    monkeypatch.setattr(links, "_received_per_s", lambda sender, receiver, host: 1e6 * sender)
    hosts = tuple(f"node-{number}" for number in range(nodes))
    reached = measure(Lan(None, tuple(range(nodes)), hosts, {}, link, (), dict.fromkeys(hosts, link)))
    assert list(reached) == [(hosts[at], hosts[(at + 1) % nodes]) for at in range(nodes)]
    assert [rate > 0 for rate in reached.values()] == [at > 0 for at in range(nodes)]
    assert at_once == [most]
    assert sum(map(bool, asked)) == rounds
