"""Bytes and packets between nodes, by direction and by purpose, and each interface's traffic over time.

Purposes are distinguished by the listening port (`Scene.ports`), through a counting table in the kernel's packet filter
(`nftables`). Where the table can't be had, all TCP traffic of one node with itself is estimated from the interfaces
that carry the cluster's, which others use too. Interfaces are read from /proc/net/dev (proc_pid_net(5)) at each tick.

Traffic between two nodes is reported as `SENDER > RECEIVER`; where nodes have several networks as `SENDER > RECEIVER by
eth1`, by the interface that leads to the receiver's address. Nodes that are one host have nothing between them that
the kernel could tell apart but the server's port: there it is `NODE: clients > DAEMON` and the reverse. Series are
`shuffle_from_server_packets` and so on, named by purpose. What one node sends to the port of another at which daemons
take copies (`Scene.copied`) counts as replication where such a daemon is on both: the first copy is written on the
writer's own node, so what goes to another is a further copy. That is an estimate: a node without room for it sends its
first copy away too. What nodes without such a daemon send is a first copy. On nodes that Assay has made all other TCP
traffic is `other`.
"""

import math
import re
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from ipaddress import IPv4Network, ip_address
from pathlib import Path
from typing import NamedTuple

from assay.host.listening import TABLES, Address, listening_sockets
from assay.model.doubt import Doubt, doubt_kind
from assay.model.network import Pair
from assay.model.node import NodeFiles, ReadableNode
from assay.model.probe import (
    ChildResult,
    Interval,
    Moment,
    ProbeContext,
    ProbeKind,
    Quantity,
    Scene,
    Values,
    WatchedProcess,
)
from assay.model.quantity import Kind
from assay.model.record import Basis
from assay.model.registry import PROBES
from assay.node.devices import LOOPBACK, Choice, devices_by_name, interfaces_by_name
from assay.node.devices import interfaces as hardware_interfaces
from assay.probe.counters import COUNT_32_BITS, Gains, step
from assay.probe.nftables import (
    NETWORK_PURPOSES_LOST,
    NETWORK_PURPOSES_UNKNOWN,
    REST,
    Count,
    CountedFlow,
    CountingTable,
    FlowsError,
    remove_left_overs,
    run_nft,
)


class Interface(NamedTuple):
    """An interface's counters since it came up, or what it carried since it is watched."""

    received_bytes: int
    received_packets: int
    sent_bytes: int
    sent_packets: int


def parse_interfaces(dev: str) -> dict[str, Interface]:
    """Parse the interfaces in /proc/net/dev, whose names may have a colon."""
    counters = {}
    for line in dev.splitlines():
        name, _, numbers = line.strip().rpartition(":")
        fields = numbers.split()
        if name and len(fields) >= 16:
            counters[name] = Interface(int(fields[0]), int(fields[1]), int(fields[8]), int(fields[9]))
    return counters


class Traffic:
    """What passed each interface by which bytes enter or leave a node, and what passed loopback."""

    def __init__(self, node: ReadableNode) -> None:
        """Raises OSError when there is no /proc/net/dev."""
        self._node = node
        self._gains: dict[str, Gains] = {}
        self._passed_over: set[str] = set()
        self._broken: dict[str, None] = {}
        self._by_name: Choice | None = None
        self.sums: dict[str, Interface] = {}
        for name, interface in self._watched().items():
            self._gains[name] = _gains(interface)
            self.sums[name] = _NOTHING

    def look(self) -> Mapping[str, Interface]:
        """Count what passed since the last look; of an interface that has come since then all."""
        for name, interface in self._watched().items():
            gained, broken = self._gains.setdefault(name, _gains(_NOTHING)).add(interface._asdict())
            before = self.sums.get(name, _NOTHING)
            self.sums[name] = Interface(*(old + new for old, new in zip(before, gained.values(), strict=True)))
            if broken:
                self._broken[name] = None
        return dict(self.sums)

    def doubts(self) -> Iterator[Doubt]:
        if self._by_name is not None:
            yield from devices_by_name("interfaces", self._by_name, "network")
        if self._broken:
            yield INTERFACE_BROKEN.doubt(f"the counters of {', '.join(self._broken)} began anew or fell")

    def _watched(self) -> dict[str, Interface]:
        there = parse_interfaces(self._node.read(NET / "dev"))
        if there.keys() - self.sums.keys() - self._passed_over:
            counted = {*self.sums, *self._choose(there), *self._node.interfaces, LOOPBACK}
            self._passed_over = set(there) - counted
        return {name: interface for name, interface in there.items() if name not in self._passed_over}

    def _choose(self, there: Mapping[str, Interface]) -> frozenset[str]:
        try:
            return hardware_interfaces(self._node)
        except OSError:
            self._by_name = interfaces_by_name([name for name, of in there.items() if any(of)])
            return self._by_name.counted


_NOTHING = Interface(0, 0, 0, 0)


def _gains(first: Interface) -> Gains:
    return Gains(first._asdict(), wraps=dict.fromkeys(Interface._fields, COUNT_32_BITS))


def rates(
    before: Mapping[str, Interface], now: Mapping[str, Interface], gone_s: float
) -> Iterator[tuple[tuple[str, str], float]]:
    """Bytes a second of interfaces that were there before."""
    for name, old in before.items():
        yield (name, "received_bytes_per_s"), round((now[name].received_bytes - old.received_bytes) / gone_s)
        yield (name, "sent_bytes_per_s"), round((now[name].sent_bytes - old.sent_bytes) / gone_s)


INTERFACE_BROKEN = doubt_kind(
    "interface-counters-reset", "machine", instrument="network",
    when="a network interface's counters began anew or fell",
    why="what it carried at that time is missing from its totals",
    cure="find out what happened to the interface (dmesg), and run the trial again",
)  # fmt: skip


PROC = Path("/proc")
NET = PROC / "net"
_LOOPBACK = frozenset({"127.0.0.1", "::1"})
_LOCAL_ENTRY = re.compile(r"\|-- (\S+)\n\s+/32 host LOCAL")


def listening_groups(node: NodeFiles, processes: Iterable[WatchedProcess]) -> dict[int, str]:
    """The group of the process that listens on each TCP port; what can't be read is left out.

    By the sockets' inodes: /proc/PID/net/tcp and tcp6 (proc_pid_net(5)) against the links in /proc/PID/fd.
    """
    groups: dict[int, str] = {}
    for process in processes:
        sockets: dict[str, Address] = {}
        for name in TABLES:
            sockets |= listening_sockets(_text(node, PROC / str(process.pid) / "net" / name))
        folder = PROC / str(process.pid) / "fd"
        with suppress(OSError):  # it ended, or is another user's
            for name in node.names(folder):
                with suppress(OSError):  # closed meanwhile
                    link = node.link(folder / name)
                    if link in sockets:
                        groups.setdefault(sockets[link].port, process.group)
    return groups


def own_addresses(node: NodeFiles) -> frozenset[str]:
    """The addresses of a node's interfaces (fib_trie and if_inet6), loopback's among them."""
    addresses = {*_LOOPBACK, *_LOCAL_ENTRY.findall(_text(node, NET / "fib_trie"))}
    for line in _text(node, NET / "if_inet6").splitlines():
        addresses.add(str(ip_address(bytes.fromhex(line.split()[0]))))
    return frozenset(addresses)


def interfaces_to(node: ReadableNode, addresses: Iterable[str]) -> dict[str, str]:
    """Which interface of a node leads to each of some addresses, for those of its own networks.

    By the networks in /proc/net/route: hexadecimal numbers of four bytes in this machine's order.
    """
    networks: dict[IPv4Network, str] = {}
    for fields in map(str.split, _text(node, NET / "route").splitlines()[1:]):
        if len(fields) > 7 and fields[0] in node.interfaces:
            own_address, mask = (int.from_bytes(bytes.fromhex(fields[column]), sys.byteorder) for column in (1, 7))
            networks[IPv4Network((own_address, mask.bit_count()))] = fields[0]
    return {
        address: interface
        for address in addresses
        for network, interface in networks.items()
        if network.prefixlen and ip_address(address) in network
    }


def _text(node: NodeFiles, file: Path) -> str:
    try:
        return node.read(file)
    except OSError:
        return ""


FLOWS_EVERY_S = 5.0
"""Reading a counting table starts a process: seldom."""

OTHER, OTHERS = "other", "others"


def _addresses_of(name: str) -> Sequence[str]:
    try:
        return [str(address[0]) for *_, address in socket.getaddrinfo(name, None)]
    except OSError:
        return ()


class NetworkProbe:
    """An instrument: traffic by pair of nodes and purpose at each mark, interfaces' rates at each tick."""

    name = "network"

    def __init__(
        self,
        node: ReadableNode,
        counter: Callable[[Iterable[int]], CountingTable] | None,
        addresses_of: Callable[[str], Sequence[str]] = _addresses_of,
    ) -> None:
        """Without a counter it counts what passes the interfaces, and nothing by pair and purpose."""
        self._node = node
        self._make_counter = counter
        self._addresses_of = addresses_of
        self._counter: CountingTable | None = None
        self._stand_in = False
        self._base: Mapping[Quantity, float] | None = {}
        self._unread: list[str] = []
        self._names = Names({}, {}, {}, frozenset(), "")
        self._traffic: Traffic | None = None
        self._interfaces: Mapping[str, Interface] = {}
        self._interval = Interval[Mapping[str, Interface]]()
        self._flows: Mapping[tuple[str, str], int] | None = {}
        self._paused = False
        self._flows_at_s = math.inf
        self._doubts: list[Doubt] = []

    def attach(self, scene: Scene) -> None:
        """Begin to count flows. Raises OSError when there is no /proc/net/dev."""
        self._traffic = Traffic(self._node)
        self._interfaces = dict(self._traffic.sums)
        if self._make_counter is None:
            return
        home = self._node.name if scene.nodes else socket.gethostname()
        nodes = {
            address: node.name
            for node in scene.nodes
            for address in (self._addresses_of(node.name) if node.own_machine else own_addresses(node) - _LOOPBACK)
        }
        nodes = dict.fromkeys(own_addresses(self._node), home) | nodes
        purposes = {port: purpose for purpose, ports in scene.ports.items() for port in ports}
        if not self._node.own_machine:  # whose network is the cluster's alone
            purposes[REST] = OTHER
        daemons = listening_groups(self._node, scene.processes)
        cluster = frozenset(node.name for node in scene.nodes)
        several = len(self._node.interfaces) > 1
        by_interface = interfaces_to(self._node, nodes) if several else {}
        self._names = Names(nodes, purposes, daemons, cluster, home, by_interface, scene.copied)
        counter = self._make_counter(purposes)
        try:
            if not purposes:
                raise FlowsError("the daemons' listening ports are not known")
            counter.make()
            self._counter = counter
        except FlowsError as error:
            self._stand_in = True
            self._doubts.append(
                NETWORK_PURPOSES_UNKNOWN.doubt(f"traffic was not counted by pair of nodes and purpose: {error}")
            )

    def sample(self, now: Moment) -> Values:
        """Rates of the interfaces; every few seconds those of each purpose too."""
        assert self._traffic is not None  # noqa: S101 - attached before it is sampled
        self._interfaces = self._traffic.look()
        self._flows_at_s = min(self._flows_at_s, now.clock_s)  # the first sample begins
        ended = self._interval.ended(now, self._interfaces)
        if ended is None:
            return {}
        interval_s, before = ended
        values = dict(rates(before, self._interfaces, interval_s))
        if self._counter is not None and not self._paused and now.clock_s - self._flows_at_s >= FLOWS_EVERY_S:
            values |= self._flow_rates(now.clock_s)
        return values

    def totals(self) -> Mapping[Quantity, float]:
        sums: dict[Quantity, float] = {}
        for name, interface in self._interfaces.items():
            for series, value in interface._asdict().items():
                sums[Quantity(f"interface {name}", series)] = value
        sums |= self._flow_totals()
        carrying = [self._interfaces[name] for name in self._node.interfaces if name in self._interfaces]
        if self._stand_in and carrying:
            home = self._names.home
            pair = Pair(home, home if len(self._names.cluster) <= 1 else OTHERS).subject
            sums[Quantity(pair, "all_bytes", "estimated")] = sum(interface.sent_bytes for interface in carrying)
            sums[Quantity(pair, "all_packets", "estimated")] = sum(interface.sent_packets for interface in carrying)
        return sums

    def doubts(self) -> tuple[Doubt, ...]:
        doubts = (*self._doubts, *(self._traffic.doubts() if self._traffic is not None else ()))
        if not self._unread:
            return doubts
        unread = f"could not be read at {len(self._unread)} ends of intervals: {self._unread[0]}"
        return (*doubts, NETWORK_PURPOSES_LOST.doubt(f"traffic by pair of nodes and purpose {unread}"))

    def close(self) -> None:
        if self._counter is not None:
            self._counter.remove()

    def _flow_totals(self) -> Mapping[Quantity, float]:
        """What was counted by flow; nothing at a mark at which it could not be read, nor at the first after that.

        What had passed by then can't be told by parts any more: it is taken off from then on.
        """
        if self._counter is None:
            return {}
        try:
            flows = self._counter.read()
        except FlowsError as error:
            self._unread.append(str(error))
            self._base = None
            return {}
        sums: dict[Quantity, float] = {}
        for flow, count in flows.items():
            for quantity, value in self._names.quantities(flow, count):
                sums[quantity] = sums.get(quantity, 0.0) + value
        self._paused = False
        if self._base is None:
            self._base = sums
            return {}
        return {quantity: value - self._base.get(quantity, 0.0) for quantity, value in sums.items()}

    def _flow_rates(self, now_s: float) -> Values:
        """By purpose since the last time; after a failure not before a mark has found that the table can be read."""
        assert self._counter is not None  # noqa: S101 - asked for by the caller
        sums: dict[tuple[str, str], int] = {}
        try:
            flows = self._counter.read()
        except FlowsError:  # each try may hold up all other probes for seconds
            self._flows, self._paused = None, True
            return {}
        for flow, count in flows.items():
            key = (self._names.purposes[flow.port], flow.direction)
            sums[key] = sums.get(key, 0) + count.bytes
        before, gone_s = self._flows, now_s - self._flows_at_s
        self._flows, self._flows_at_s = sums, now_s
        if before is None:
            return {}
        return {
            (purpose, f"{direction}_bytes_per_s"): round(
                step(before.get((purpose, direction), 0), value).gained / gone_s
            )
            for (purpose, direction), value in sums.items()
        }


class Names(NamedTuple):
    """What addresses and ports are called."""

    nodes: Mapping[str, str]
    purposes: Mapping[int, str]
    daemons: Mapping[int, str]
    cluster: frozenset[str]
    home: str
    interfaces: Mapping[str, str] = {}
    """What leads to which address, where nodes have several."""
    copied: frozenset[str] = frozenset()
    """As in the scene."""

    def quantities(self, flow: CountedFlow, count: Count) -> Iterator[tuple[Quantity, float]]:
        """A flow's bytes and packets, by name; without those that another node of the cluster sends and reports."""
        sender, receiver = self._node(flow.sender), self._node(flow.receiver)
        if sender != self.home and sender in self.cluster:
            return
        purpose = self.purposes[flow.port]
        basis: Basis = "measured"
        if sender != receiver:
            subject = Pair(sender, receiver, self.interfaces.get(flow.receiver, "")).subject
            if purpose in self._copied_here and flow.to_server and {sender, receiver} <= self.cluster:
                purpose, basis = "replication", "estimated"
        else:
            daemon = self.daemons.get(flow.port, f"port {flow.port}")
            subject = f"{sender}: clients > {daemon}" if flow.to_server else f"{sender}: {daemon} > clients"
        series = purpose if purpose == OTHER else f"{purpose.replace(' ', '_')}_{flow.direction}"
        yield Quantity(subject, f"{series}_bytes", basis), count.bytes
        yield Quantity(subject, f"{series}_packets", basis), count.packets

    @property
    def _copied_here(self) -> frozenset[str]:
        """The copied purposes whose daemon is here too: it takes the first copy of what is written here."""
        return self.copied & {self.purposes.get(port, "") for port in self.daemons}

    def _node(self, address: str) -> str:
        return self.home if address.startswith("127.") else self.nodes.get(address, address)


def _network(context: ProbeContext) -> NetworkProbe:
    def run_child(command: Sequence[str], script: str, patience_s: float) -> ChildResult:
        return context.run_child(context.node.command(command), script, patience_s)

    return NetworkProbe(context.node, partial(CountingTable, run=partial(run_nft, run_child=run_child)))


# What passes between nodes is named by the purposes of the services' ports.
SERIES = {"*_bytes": Kind.BYTES, "*_packets": Kind.COUNT, "*_bytes_per_s": Kind.RATE}
PROBES.add(
    NetworkProbe.name,
    ProbeKind(
        _network, of_nodes=True, of_files=lambda node: NetworkProbe(node, None), left_overs=remove_left_overs,
        series=SERIES,
    ),
    place=8,
)  # fmt: skip
