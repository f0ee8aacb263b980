"""Flows of TCP traffic, counted by a table of our own in the kernel's packet filter.

It only counts and decides nothing. Source: nft(8), dynamic sets with counters (Linux 5.7 and newer, nft 0.9.5 and
newer, root or CAP_NET_ADMIN in the network namespace). Packets are counted where this host sends them and where it
receives them; those over the loopback interface pass both and are counted once, where they are sent. Bytes are those of
IP packets, headers included, acknowledgements too; a packet is what the kernel hands on, which segmentation offload
makes larger than those on the wire. What is forwarded between others is not seen.

A table's name tells whose it is (`assay.host.processes.own_name`), so that what a killed process left can be removed.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from assay.host.processes import is_left_over, own_name
from assay.model.doubt import doubt_kind
from assay.model.probe import RunChild
from assay.probe.own_cost import Children


class FlowsError(OSError):
    """Flows can't be counted, or what was counted can't be read: the reason (nft is missing, not permitted, ...)."""


class CountedFlow(NamedTuple):
    """A direction of traffic: from one address to another, to or from the server that listens on a port."""

    sender: str
    receiver: str
    port: int
    to_server: bool

    @property
    def direction(self) -> str:
        """The direction in the names of series."""
        return "to_server" if self.to_server else "from_server"


REST = 0
"""Stands for all ports that are not among the known ones, where their traffic is counted too."""


class Count(NamedTuple):
    """Bytes and packets that have passed."""

    bytes: int
    packets: int


NFT_PLACES = "/usr/sbin:/sbin:/usr/local/sbin"
"""Where nft is when the PATH leaves out what is meant for root."""

PATIENCE_S = 5.0

RunNft = Callable[[str, tuple[str, ...]], str]
"""Runs nft with a script on its input and arguments; returns its output. Raises FlowsError."""


NETWORK_PURPOSES_UNKNOWN = doubt_kind(
    "network-purposes-unknown", "trial", instrument="network",
    when="there is no nftables, or no right to use it",
    why="traffic is not separated by daemons' ports; instead there is the loopback interface's whole traffic, which "
        "other programs use too",
    cure="run as root with nftables installed (Debian, Ubuntu: apt-get install nftables)",
)  # fmt: skip
NETWORK_PURPOSES_LOST = doubt_kind(
    "network-purposes-lost", "trial", instrument="network",
    when="the counters by purpose could not be read at the end of an interval",
    why="this interval and the next have no such figures, and nothing replaces them",
    cure="leave Assay a share of a core, and don't flush the nft rules while a trial runs",
)  # fmt: skip


class CountingTable:
    """A table in the kernel that counts the flows of some ports until it is removed."""

    def __init__(self, ports: Iterable[int], run: "RunNft | None" = None) -> None:
        self._run = run or run_nft
        self._ports = sorted(set(ports))
        self._name: str | None = None

    def make(self) -> None:
        """Remove what killed processes left, and begin to count. Raises FlowsError."""
        remove_left_overs(self._run)
        name = own_name()
        self._run(ruleset(name, self._ports), ("-f", "-"))
        self._name = name

    def read(self) -> dict[CountedFlow, Count]:
        """Raises FlowsError, also when somebody else removed the table."""
        return dict(parse(self._run("", ("-j", "list", "table", "inet", str(self._name)))))

    def remove(self) -> None:
        """Stop counting; what can't be removed now, the next start removes."""
        if self._name is not None:
            name, self._name = self._name, None
            with suppress(FlowsError):  # gone already: somebody flushed all rules
                self._run("", ("delete", "table", "inet", name))


def ruleset(name: str, ports: Iterable[int]) -> str:
    """The script that makes the table: a set for each address family and direction, filled as packets pass."""
    ports = set(ports)
    listening = ", ".join(str(port) for port in sorted(ports - {REST}))
    sets, rules = [], []
    for family, kind in (("ip", "ipv4_addr"), ("ip6", "ipv6_addr")):
        for side, direction in (("dport", "to"), ("sport", "from")):
            into = f"{direction}_{family}"
            sets.append(f" set {into} {{ type {kind} . {kind} . inet_service; size 65535; flags dynamic; counter; }}")
            rules.append(
                f"  tcp {side} {{ {listening} }} update @{into} {{ {family} saddr . {family} daddr . tcp {side} }}"
            )
    if REST in ports:  # not by two conditions in one rule: nft 1.0 makes one comparison of them, which is wrong
        sets.append(" set rest_ip { type ipv4_addr . ipv4_addr; size 65535; flags dynamic; counter; }")
        rules += [f"  tcp {side} {{ {listening} }} return" for side in ("dport", "sport")]
        rules.append("  meta l4proto tcp update @rest_ip { ip saddr . ip daddr }")
    counted = "\n".join(rules)
    return "\n".join(
        [
            f"table inet {name} {{",
            *sets,
            f" chain counted {{\n{counted}\n }}",
            " chain sent { type filter hook output priority -300; policy accept; jump counted; }",
            ' chain received { type filter hook input priority -300; policy accept; iifname != "lo" jump counted; }',
            "}",
        ]
    )


def parse(listing: str) -> Iterator[tuple[CountedFlow, Count]]:
    """The flows in what `nft -j list table` prints (libnftables-json(5)). Raises FlowsError when it is not that."""
    try:
        for entry in json.loads(listing)["nftables"]:
            if "set" in entry:
                name = entry["set"]["name"]
                for element in (each["elem"] for each in entry["set"].get("elem", ())):
                    sender, receiver, *port = element["val"]["concat"]
                    count = Count(int(element["counter"]["bytes"]), int(element["counter"]["packets"]))
                    known_port = int(port[0]) if port else REST
                    yield CountedFlow(str(sender), str(receiver), known_port, not name.startswith("from_")), count
    except (ValueError, KeyError, TypeError) as error:
        raise FlowsError(f"nft printed something unknown: {type(error).__name__} {error}") from None


def remove_left_overs(run: "RunNft | None" = None) -> list[str]:
    """Remove the tables of processes that are gone, which it names. Raises FlowsError."""
    run = run or run_nft
    try:
        names = [
            entry.get("table", {}).get("name", "")
            for entry in json.loads(run("", ("-j", "list", "tables")))["nftables"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FlowsError(f"nft printed something unknown: {type(error).__name__} {error}") from None
    left = [name for name in names if is_left_over(name)]
    for name in left:
        run("", ("delete", "table", "inet", name))
    return [f"packet counters {name}" for name in left]


def run_nft(script: str, arguments: tuple[str, ...], run_child: RunChild | None = None) -> str:
    """This machine's nft; `run_child` counts what it takes."""
    command = shutil.which("nft") or shutil.which("nft", path=NFT_PLACES)
    if command is None:
        raise FlowsError("there is no nft on this machine (package nftables)")
    try:
        done = (run_child or Children().run)([command, *arguments], script, PATIENCE_S)
    except OSError as error:  # a TimeoutError is one
        raise FlowsError(f"nft could not be run: {error}") from None
    if done.code:
        raise FlowsError(f"nft {' '.join(arguments[:3])} failed: {' '.join(done.complained.split())[:200]}")
    return done.printed
