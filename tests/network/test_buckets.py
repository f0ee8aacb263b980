"""Proves that a link's bucket takes each packet whole, and that slow links alone are measured several at once."""

import pytest

from assay.model.network import LINKS
from assay.network import links
from assay.network.links import Lan, measure

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
    assert (links._bucket_bytes(link), links._fitting(link)) == (bucket, fitting)


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

        def map(self, act, senders, receivers):
            of_pairs = [*senders, *receivers]
            assert len(set(of_pairs)) == len(of_pairs)
            asked.append(of_pairs)
            return map(act, senders, receivers)

    monkeypatch.setattr(links, "ThreadPoolExecutor", Threads)
    monkeypatch.setattr(links, "_received_per_s", lambda sender, receiver, host: 1e6 * sender)
    hosts = tuple(f"node-{number}" for number in range(nodes))
    reached = measure(Lan(None, tuple(range(nodes)), hosts, {}, link, (), dict.fromkeys(hosts, link)))
    assert list(reached) == [(hosts[at], hosts[(at + 1) % nodes]) for at in range(nodes)]
    assert [rate > 0 for rate in reached.values()] == [at > 0 for at in range(nodes)]
    assert at_once == [most]
    assert sum(map(bool, asked)) == rounds
