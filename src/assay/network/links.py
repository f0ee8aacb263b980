"""Nodes on this machine and the links between them: a switch, and a shaped pair of interfaces for each node.

The switch is a bridge in a namespace of its own, so that this machine's network has nothing of it. A node's link is a
pair of virtual interfaces (veth(4)), of which each end sends through a token bucket (tc-tbf(8)): what the node sends is
shaped at its end, what it receives at the switch's, or two senders would exceed one receiver.

Modelled are the rate in each direction, the queue before it, the size of packets, and a latency where the kernel has
netem. Not modelled are the switch's own time and its shared buffers, losses but those of a full queue, the time that
cables and real adapters take, and what real adapters take off the processor.
"""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from ipaddress import IPv4Network
from pathlib import Path
from threading import Thread
from typing import Literal, NamedTuple

from assay.host.lease import Lease
from assay.model.doubt import Doubt, doubt_kind
from assay.model.errors import AssayError
from assay.model.fact import Fact
from assay.model.network import ETHERNET_MTU, INTERFACES, LinkSpec
from assay.model.progress import Progress
from assay.node.namespace import NamespaceNode, hold

RANGES = (IPv4Network("198.18.0.0/24"), IPv4Network("198.18.1.0/24"))
"""The first and the second network, among the addresses set apart for measuring networks (RFC 2544)."""

DATA = "-data"
"""Ends a node's name on the second network, which only the store's data and the shuffle use."""

BUCKET_S, QUEUE_S = 0.002, 0.02
"""The seconds of its rate that a link sends at once, and keeps before it drops packets; a slowed link has the same
bytes."""
LEAST_BUCKET_BYTES, SPARE_BYTES = 32 << 10, 2 << 10
"""A bucket holds at least the largest packet, and some bytes to spare for the kernel's rounding."""
LARGEST_BYTES, FITTING_SHARE = 64 << 10, 0.9
"""TCP hands over packets of so much, which adapters cut. A bucket that is smaller would cut them itself, after they
were counted by pair and before the interface counts them; so TCP makes them fit, with the headers of all pieces."""
HEADERS_BYTES, ETHERNET_BYTES = 52, 14
"""Of each packet: IP and TCP with time stamps; and what the link counts on top."""

LATENCY_NOT_MODELLED = doubt_kind(
    "latency-not-modelled", "trial", instrument="network",
    when="a network was to have a latency, and this kernel has no netem",
    why="packets take only the time that this machine needs, tens of microseconds, so round trips are too quick",
    cure="load the kernel's module sch_netem, or leave the latency out",
)  # fmt: skip
LINK_TOO_SLOW = doubt_kind(
    "link-too-slow", "trial", instrument="network",
    when="a short transfer over a link reached less than 95 % of its rate",
    why="this machine does not carry such a network, so what jobs transfer takes longer than it would there",
    cure="close other programs, use a machine with more processors, or a slower network",
    severity=95,
)  # fmt: skip
LINKS_NOT_MEASURED = doubt_kind(
    "links-not-measured", "trial", instrument="network",
    when="the short transfer over each link at a cluster's start failed",
    why="whether this machine carries such a network is not known",
    cure="run the trial again; if it fails again, look at what it says of the network",
    severity=90,
)  # fmt: skip
REACHED_SHARE = 0.95


class Lan(NamedTuple):
    """Nodes that reach each other by the names of `hosts`, whose addresses are by these; `doubts`: what it lacks.

    `link` is that of all nodes but those that have one of their own, `links` are all by the hosts' names. The other
    ends of the nodes' links are at the `switch`.
    """

    switch: NamespaceNode
    nodes: tuple[NamespaceNode, ...]
    hosts: tuple[str, ...]
    addresses: Mapping[str, str]
    link: LinkSpec | None
    doubts: tuple[Doubt, ...]
    links: Mapping[str, LinkSpec | None]


def make_lans(
    names: Sequence[str], links: Sequence[LinkSpec | None], home: Path, lease: Lease, base: Mapping[str, str],
    own_links: Mapping[str, Sequence[LinkSpec | None]] = {},
) -> tuple[Lan, ...]:  # fmt: skip
    """Make nodes of these names on one network or two. A process of the lease holds each node, and ends it.

    On the second network `DATA` follows the nodes' names. `links` has each network's link, None for one without limits;
    `own_links` has by name the nodes whose links differ. Files go into `home`. Raises AssayError.
    """
    hosts = [tuple(f"{name}{behind}" for name in names) for behind in ("", DATA)[: len(links)]]
    addresses = {
        host: str(address_range[number])
        for members, address_range in zip(hosts, RANGES, strict=False)
        for number, host in enumerate(members, start=1)
    }
    file = home / "hosts"
    file.write_text(
        "127.0.0.1 localhost\n" + "".join(f"{address} {host}\n" for host, address in addresses.items()),
        encoding="utf-8",
    )
    environment = lease.environment(base)
    interfaces = INTERFACES[: len(links)]
    switch = NamespaceNode("switch", hold("switch", file, environment).pid, {}, [])
    nodes = tuple(NamespaceNode(name, hold(name, file, environment).pid, addresses, interfaces) for name in names)
    for node in nodes:
        _do(node, "ip", ["link set lo up"])
    lans = []
    for index, (members, interface, link) in enumerate(zip(hosts, interfaces, links, strict=True)):
        node_links = [own_links[name][index] if name in own_links else link for name in names]
        doubts = _join(switch, nodes, [addresses[host] for host in members], interface, link, node_links)
        lans.append(Lan(switch, nodes, members, addresses, link, doubts, dict(zip(members, node_links, strict=True))))
    return tuple(lans)


def _join(
    switch: NamespaceNode, nodes: Sequence[NamespaceNode], addresses: Sequence[str], interface: str,
    link: LinkSpec | None, links: Sequence[LinkSpec | None],
) -> tuple[Doubt, ...]:  # fmt: skip
    """Give each node this interface with its address, join all of them, and return doubts of what the network lacks.

    Packets are as large as the network's `link` has them, also where a node's own one of `links` differs.
    """
    largest = ETHERNET_MTU if link is None else link.mtu_bytes
    bridge = f"{interface}-switch"
    ports = [f"{interface}-{number}" for number in range(1, len(nodes) + 1)]
    mtu = "" if link is None else f"mtu {link.mtu_bytes} "
    _do(switch, "ip", [
        f"link add {bridge} type bridge", f"link set {bridge} up",
        *(
            line
            for port, node in zip(ports, nodes, strict=True)
            for line in (
                f"link add {port} type veth peer name {interface} netns {node.holder}",
                f"link set {port} {mtu}master {bridge} up",
            )
        ),
    ])  # fmt: skip
    for node, address, own_link in zip(nodes, addresses, links, strict=True):
        fitting = "" if own_link is None else _fitting(own_link, largest)
        _do(node, "ip", [
            f"addr add {address}/{RANGES[0].prefixlen} dev {interface}", f"link set {interface} {mtu}{fitting}up",
        ])  # fmt: skip
    doubts: dict[str, Doubt] = {}
    for shape in dict.fromkeys(link for link in links if link is not None):
        at_switch = [port for port, link in zip(ports, links, strict=True) if link == shape]
        at_nodes = [(node, [interface]) for node, link in zip(nodes, links, strict=True) if link == shape]
        for node, ends in ((switch, at_switch), *at_nodes):
            doubts |= {doubt.what: doubt for doubt in _shape(node, ends, shape, largest)}
    return tuple(doubts.values())


def unplug(node: NamespaceNode) -> None:
    """Take a node's links down, as if its power were cut: nobody hears of it any more. Raises AssayError."""
    _do(node, "ip", [f"link set {interface} down" for interface in node.interfaces])


def _bucket_bytes(link: LinkSpec, mtu_bytes: int) -> int:
    return max(int(link.rate_bits_per_s / 8 * BUCKET_S), LEAST_BUCKET_BYTES, mtu_bytes + SPARE_BYTES)


def _fitting(link: LinkSpec, mtu_bytes: int) -> str:
    """Return ip(8)'s bound on the packets of TCP, by which a link's bucket takes them whole."""
    largest = int(FITTING_SHARE * _bucket_bytes(link, mtu_bytes))
    return f"gso_max_size {largest} " if mtu_bytes < largest < LARGEST_BYTES else ""


def _shape(node: NamespaceNode, interfaces: Sequence[str], link: LinkSpec, mtu_bytes: int) -> tuple[Doubt, ...]:
    """Shape what interfaces with packets of at most so many bytes send; doubt a latency that can't be had."""
    bucket = _bucket_bytes(link, mtu_bytes)
    rate, queue_ms = round(link.carried_bits_per_s), QUEUE_S * 1000 * link.slowdown
    shape = f"tbf rate {rate}bit burst {bucket} latency {queue_ms:g}ms"
    _do(node, "tc", [f"qdisc add dev {interface} root handle 1: {shape}" for interface in interfaces])
    if not link.latency_us:
        return ()
    delay = f"netem delay {link.latency_us * link.slowdown / 2:g}us"  # half at each end
    try:
        _do(node, "tc", [f"qdisc add dev {interface} parent 1:1 handle 2: {delay}" for interface in interfaces])
    except AssayError:
        limitation = f"the links have no latency of {link.latency_us} us: this kernel has no netem"
        return (LATENCY_NOT_MODELLED.doubt(limitation),)
    return ()


PLACES = "/usr/sbin:/sbin"
"""Where ip and tc are when the PATH leaves out what is meant for root."""


def _do(node: NamespaceNode, tool: Literal["ip", "tc"], lines: Sequence[str]) -> None:
    """Have ip(8) or tc(8) execute lines in a node's network, up to the first that fails: then raises AssayError."""
    program = shutil.which(tool) or shutil.which(tool, path=PLACES)
    if program is None:
        raise AssayError(f"there is no {tool} on this machine: install iproute2")
    script = "".join(f"{line}\n" for line in lines)
    command = node.command([program, "-batch", "-"])
    done = subprocess.run(
        command, input=script, capture_output=True, encoding="utf-8", errors="replace", check=False, timeout=30
    )
    if done.returncode:
        raise AssayError(f"the network of {node.name} can't be made: {' '.join(done.stderr.split())}")


TRANSFER_S, SKIPPED_S = 0.3, 0.1
MOST_AT_ONCE = 10**9
"""Bits a second over all links that are measured at once, which a slow machine carries too."""
_PIECE = bytes(1 << 18)


def measure(lan: Lan) -> dict[tuple[str, str], float]:
    """Measure the bits a second, headers included, that each node reached to the next node.

    So each link is used once in each direction. Slow links are measured several pairs at once, which share no node.
    Raises OSError.
    """
    nodes, hosts = lan.nodes, lan.hosts
    mtu = lan.link.mtu_bytes if lan.link is not None else 1500
    wire = (mtu + ETHERNET_BYTES) / (mtu - HEADERS_BYTES)
    capacities = [MOST_AT_ONCE if link is None else link.carried_bits_per_s for link in lan.links.values()]
    count, last = max(1, int(MOST_AT_ONCE / max(capacities))), len(nodes) - 1
    # The last pair of an odd number of nodes has a node of the first one's.
    apart: Sequence[Sequence[int]] = (range(0, last, 2), range(1, last, 2), [last] if last else [])
    reached: dict[tuple[str, str], float] = {}
    with ThreadPoolExecutor(count) as threads:
        for senders in apart:
            pairs = [(sender, (sender + 1) % len(nodes)) for sender in senders]
            rates = threads.map(lambda pair: _received_per_s(nodes[pair[0]], nodes[pair[1]], hosts[pair[1]]), pairs)
            for (sender, receiver), rate in zip(pairs, rates, strict=True):
                reached[hosts[sender], hosts[receiver]] = 8 * wire * rate
    return {pair: reached[pair] for pair in sorted(reached, key=lambda pair: hosts.index(pair[0]))}


def doubts_of(lan: Lan, reached: Mapping[tuple[str, str], float]) -> tuple[Doubt, ...]:
    """Return doubts of what the network lacks, and of the worst link where it is too slow."""
    expected = {
        pair: min(rates)
        for pair in reached
        if (rates := [link.carried_bits_per_s for host in pair if (link := lan.links[host]) is not None])
    }
    if not expected:
        return lan.doubts
    sender, receiver = pair = min(expected, key=lambda candidate: reached[candidate] / expected[candidate])
    if reached[pair] >= REACHED_SHARE * expected[pair]:
        return lan.doubts
    reached_mbit, expected_mbit = (f"{rates[pair] / 1e6:,.0f} Mbit/s" for rates in (reached, expected))
    shortfall = f"{sender} reached {reached_mbit} to {receiver} of {expected_mbit}"
    return (*lan.doubts, LINK_TOO_SLOW.doubt(shortfall))


def network_facts(lans: Sequence[Lan], progress: Progress) -> tuple[dict[str, Fact], tuple[Doubt, ...]]:
    """Measure what the networks between the nodes reach before anything else runs there."""
    facts: dict[str, Fact] = {}
    doubts: tuple[Doubt, ...] = ()
    for name, lan in zip(("network", "network.data"), lans, strict=False):
        reached: Mapping[tuple[str, str], float] = {}
        if lan.link is not None:
            facts[f"{name}.rate_bits_per_s"] = round(lan.link.carried_bits_per_s)
        for node, host in zip(lan.nodes, lan.hosts, strict=True):
            link = lan.links[host]
            if link is not None and link != lan.link:
                facts[f"{name}.{node.name}.rate_bits_per_s"] = round(link.carried_bits_per_s)
        if any(link is not None for link in lan.links.values()):
            progress.detail("measuring the links")
            try:
                reached = measure(lan)
            except OSError as error:
                doubts += (LINKS_NOT_MEASURED.doubt(f"a short transfer over each link was to be made: {error}"),)
            else:
                facts[f"{name}.least_reached_bits_per_s"] = round(min(reached.values()))
        doubts += doubts_of(lan, reached)
    return facts, doubts


def _received_per_s(sender: NamespaceNode, receiver: NamespaceNode, host: str) -> float:
    """Measure the bytes a second that arrive at a receiver of this name, once the first burst has passed."""
    with _listening(receiver) as server:
        port: int = server.getsockname()[1]
        thread = Thread(target=_send, args=(sender, (host, port)))
        thread.start()
        try:
            server.settimeout(10)
            arriving, _ = server.accept()
            with arriving:
                return _rate(arriving)
        finally:
            thread.join()


@contextmanager
def _listening(node: NamespaceNode) -> Iterator[socket.socket]:
    with node.inside(socket.socket) as server:
        server.bind(("", 0))
        server.listen(1)
        yield server


def _send(sender: NamespaceNode, address: tuple[str, int]) -> None:
    try:
        with sender.connect(address, 10) as sending:
            end = time.monotonic() + TRANSFER_S + SKIPPED_S
            while time.monotonic() < end:
                sending.sendall(_PIECE)
    except OSError:  # the receiver has seen enough, or says what is wrong
        return


def _rate(arriving: socket.socket) -> float:
    into, count, started = bytearray(len(_PIECE)), 0, time.monotonic()
    began = started
    while (now := time.monotonic()) - started < TRANSFER_S + SKIPPED_S:
        if now - started < SKIPPED_S:
            count, began = 0, now
        size = arriving.recv_into(into)
        if not size:
            break
        count += size
    return count / max(time.monotonic() - began, 1e-6)
