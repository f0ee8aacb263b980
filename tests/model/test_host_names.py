"""Proves which names are of one host, and that other hosts' names never are."""

import pytest

from assay.model.host_names import HostNames, canonical_host, host_of, in_url, same_host


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Worker-1.Example.com", "worker-1.example.COM."), ("worker-1", "WORKER-1.example.com"), ("10.0.0.1", "10.0.0.1"),
        ("2001:DB8:0:0:0:0:0:1", "[2001:db8::1]"), ("::ffff:10.0.0.7", "10.0.0.7"), ("localhost", "::1"),
        ("LOCALHOST", "127.0.0.1"), ("n1.", "n1"),
    ],
)  # fmt: skip
def test_names_of_one_host(name, other):
    assert same_host(name, other)
    assert same_host(other, name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("w1", "w2"), ("w1.example.com", "w1.other.org"), ("10.0.0.1", "10"), ("10", "10.0.0.1"), ("10.0.0.1", "10.0.0.10"),
        ("", "w1"), ("", ""), ("127.0.0.1", "127.0.1.1"),
    ],
)  # fmt: skip
def test_names_of_two_hosts(name, other):
    assert not same_host(name, other)
    assert not same_host(other, name)


def test_a_host_is_called_as_at_first():
    names = HostNames(["W1.example.com", "w2", "10.0.0.3"])
    assert [names.find([name]) for name in ("w1", "w2.example.com", "W2", "w3")] == ["W1.example.com", "w2", "w2", None]
    assert names.add("w1.EXAMPLE.com") == "W1.example.com"
    assert names.add("192.0.2.1", "w2") == "w2"
    assert names.find(["192.0.2.1"]) == "w2"


def test_a_name_with_another_domain_excludes_what_is_called_alike_without_one():
    names = HostNames(["w1.example.com"])
    assert names.find(["w1.other.org", "w1"]) is None
    assert names.find(["10.0.0.9", "W1"]) == "w1.example.com"


def test_hosts_in_places():
    places = ("w1:8042", "w1", "[2001:db8::1]:8042", "2001:db8::1", "2001:db8:0:0:0:0:0:1:8042", "", "10.0.0.1:9")
    assert [host_of(place) for place in places] == [
        "w1", "w1", "2001:db8::1", "2001:db8::1", "2001:db8:0:0:0:0:0:1", "", "10.0.0.1"
    ]  # fmt: skip
    assert [in_url(host) for host in ("w1", "2001:db8::1")] == ["w1", "[2001:db8::1]"]
    assert canonical_host(" W1. ") == "w1"


def test_a_name_without_a_domain_that_fits_two_hosts_is_of_none():
    names = HostNames(["n1.a.org", "N1.B.org", "n2.a.org"])
    assert [names.find([name]) for name in ("n1", "N1.", "n1.b.org", "n2")] == [None, None, "N1.B.org", "n2.a.org"]
    alias = HostNames(["n1.a.org"])
    assert alias.add("n1.b.org", "n1.a.org") == "n1.a.org"
    assert alias.find(["n1"]) == "n1.a.org", "two names of one host"
