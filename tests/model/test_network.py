"""Proves what names a network between nodes, and what a cluster with one is made of."""

import pytest

from assay.model.cluster import EmbeddedSpec, ExistingSpec
from assay.model.network import LINKS, NO_NETWORK, LinkSpec, Networks, Pair, read_networks


@pytest.mark.parametrize(
    ("given", "level", "link"),
    [
        ("gigabit", "gigabit", LINKS["gigabit"]),
        ("none", "none", None),
        ({"rate": "1Gbit"}, "1Gbit", LinkSpec(rate_bits_per_s=10**9)),
        (
            {"rate": "2.5 Gbit/s", "latency": "100 us"},
            "2.5Gbit/s,100us",
            LinkSpec(rate_bits_per_s=2_500_000_000, latency_us=100),
        ),
        ("100mbit,2ms", "100mbit,2ms", LinkSpec(rate_bits_per_s=10**8, latency_us=2000)),
    ],
)
def test_a_network_is_a_name_or_a_rate_and_a_latency(given, level, link):
    networks = read_networks(given)
    assert str(networks) == level
    assert networks.links() == (link,)
    assert read_networks(level) == networks


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("gigabyte", "unknown network 'gigabyte'; did you mean 'gigabit'"),
        ({"rate": "1Gbit", "loss": "1%"}, "unknown key 'loss'; possible are rate, latency, on, elsewhere"),
        ({"latency": "1ms"}, "rate is missing; write rate: 1Gbit"),
        ({"rate": None, "latency": 5}, "rate is empty; write rate: 1Gbit"),
        ({"rate": "1Gbit", "latency": 5}, "latency 5 has no unit; write 5us or 5ms"),
        ({"control": "gigabit"}, "data is missing; two networks are such as"),
        ({"control": "gigabit", "rate": "1Gbit"}, "unknown key 'rate'; possible are control, data"),
        ({"control": "gigabit", "data": "x"}, "data: unknown network 'x'"),
        ("1GB", "1GB counts bytes, and a link's rate counts bits; write 8Gbit"),
        ({"rate": "125 MB/s"}, "125MB/s counts bytes, .* write 1000Mbit"),
        ("1Gb/s", "the rate 1Gb/s has an unknown unit; write bits per second, such as 1Gbit"),
        ("1000", "the rate 1000 has no unit; write bits per second, such as 1000Mbit"),
        ("10gigabit", "did you mean 'gigabit' or 'ten-gigabit'"),
        ("1Gbit,soon", "unknown network .* Known are none, fast-ethernet, gigabit"),
        ("900Gbit", "rates are 1Mbit to 100Gbit"),
        ("10kbit", "rates are 1Mbit to 100Gbit"),
        ("1Gbit,1001ms", "latencies at most 1000ms"),
    ],
)
def test_what_is_no_network_is_refused(given, reason):
    with pytest.raises(ValueError, match=reason):
        read_networks(given)


def test_a_network_of_data_beside_that_of_control():
    networks = read_networks({"control": "gigabit", "data": {"rate": "2Gbit"}})
    assert str(networks) == "gigabit+2Gbit"
    assert networks.links() == (LINKS["gigabit"], LinkSpec(rate_bits_per_s=2 * 10**9))
    with pytest.raises(ValueError, match="a node has at most two networks"):
        read_networks("gigabit+gigabit+gigabit")
    with pytest.raises(ValueError, match="unknown network 'gigabyte'"):
        read_networks({"control": "gigabit", "data": "gigabyte"})


def test_one_node_without_a_network_is_this_machine_alone():
    assert EmbeddedSpec().workers == ()
    assert ExistingSpec(conf_dir="/conf").workers == ()
    assert EmbeddedSpec(network="gigabit").workers == ("worker-1",)
    assert EmbeddedSpec(nodes=3).workers == ("worker-1", "worker-2", "worker-3")


@pytest.mark.parametrize("pair", [Pair("master", "worker-1"), Pair("worker-1", "master", "eth1")])
def test_a_pair_is_known_by_the_name_of_its_amounts(pair):
    assert Pair.of(pair.subject) == pair


@pytest.mark.parametrize("subject", ["interface eth0", "worker-1: clients > datanode", "datanode", "a > b by"])
def test_other_amounts_are_of_no_pair(subject):
    assert Pair.of(subject) is None


def test_only_of_two_networks_each_is_named():
    assert read_networks("gigabit").titles == {}
    assert read_networks("gigabit+ten-gigabit").titles == {
        "eth0": "control network (gigabit)", "eth1": "data network (ten-gigabit)"
    }  # fmt: skip


@pytest.mark.parametrize("text", ["none", "1Gbit,100us", "100Mbit on 2 3 else gigabit", "gigabit+ten-gigabit"])
def test_a_record_has_the_links_themselves_and_an_earlier_one_the_text(text):
    spec = EmbeddedSpec(nodes=3, network=read_networks(text))
    dumped = spec.model_dump(mode="json")
    assert EmbeddedSpec.model_validate(dumped) == spec
    assert EmbeddedSpec.model_validate({**dumped, "network": text}) == spec
    stored = dumped["network"]
    assert stored == "none" if spec.network == NO_NETWORK else Networks(**stored) == spec.network
    if text == "1Gbit,100us":
        assert stored["networks"][0]["link"]["latency_us"] == 100
