"""Networks between the nodes of a cluster that Assay starts."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from assay.model.base import Frozen, Whole
from assay.model.fault import LINK, Fault
from assay.model.naming import nearest

NONE = "none"
"""The name of no network: nothing shapes what nodes send."""

MOST_NODES = 200
"""Workers of a cluster of Assay's own: what fits into its range of addresses, with the masters' node."""
Worker = Annotated[Whole, Field(ge=1, le=MOST_NODES)]
"""A worker's number."""

ETHERNET_MTU, IPOIB_MTU = 1500, 65520

INTERFACES = ("eth0", "eth1")
"""Of a node: on the first network, and on the second, of the store's data and the shuffle."""


class Pair(NamedTuple):
    """A node that sends, one that receives, and the interface it is sent by (empty where a node has one alone)."""

    sender: str
    receiver: str
    interface: str = ""

    @property
    def subject(self) -> str:
        """Its name in amounts: `worker-1 > worker-2`, or `worker-1 > worker-2 by eth1`."""
        return f"{self.sender} > {self.receiver}" + (f" by {self.interface}" if self.interface else "")

    @classmethod
    def of(cls, subject: str) -> "Pair | None":
        """The pair that an amount is of; None where it is of something else, such as traffic within a node."""
        match = _PAIR.fullmatch(subject)
        return None if match is None else cls(match[1], match[2], match[3] or "")


_PAIR = re.compile(r"(\S+) > (\S+)(?: by (\S+))?")


class LinkSpec(Frozen):
    """A node's link to the switch: full duplex, shaped in both directions."""

    rate_bits_per_s: int
    """What passes in each direction, Ethernet headers included."""
    latency_us: int = 0
    """One way from node to node; 0 leaves it to the kernel (some tens of microseconds)."""
    mtu_bytes: int = ETHERNET_MTU
    slowdown: int = 1
    """How many times slower than that it is here: its buffers keep their bytes, all its times are so much longer."""

    @property
    def carried_bits_per_s(self) -> float:
        """What passes here in each direction."""
        return self.rate_bits_per_s / self.slowdown


LINKS: Mapping[str, LinkSpec] = {
    "fast-ethernet": LinkSpec(rate_bits_per_s=10**8),
    "gigabit": LinkSpec(rate_bits_per_s=10**9),
    "ten-gigabit": LinkSpec(rate_bits_per_s=10**10),
    # Quad data rate carries 32 Gbit/s; through the kernel's IP stack in connected mode about half of that arrives
    # (an assumption, from memory of published measurements).
    "ipoib-qdr-like": LinkSpec(rate_bits_per_s=16 * 10**9, mtu_bytes=IPOIB_MTU),
}
"""Networks by name."""

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?([kmg]?)bit(?:/s)?", re.IGNORECASE)
_OTHER_RATE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?) ?([kmgKMG]?)i?(?:(B|b)(?:/s|ps)?)?")
_PLACED = re.compile(r"(\S+) on ([0-9 ]+) else (\S+)")
_LATENCY = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(us|ms)")
LEAST_RATE, MOST_RATE = 10**6, 10**11
MOST_LATENCY_US = 10**6


_EXAMPLES = {"rate": "1Gbit", "latency": "100us"}
BESIDE = "+"
"""Between the names of two networks: of control, and of data."""
KINDS = ("control", "data")


class Network(Frozen):
    """What nodes have for links to one switch, None where nothing is shaped; `text` is how experiments write it.

    Of a network that only the workers `on` it have, all other nodes have the link `elsewhere`.
    """

    text: str
    link: LinkSpec | None = None
    on: tuple[int, ...] = ()
    elsewhere: LinkSpec | None = None

    def link_of(self, worker: int) -> LinkSpec | None:
        """The link of a worker; 0 stands for the master, which no network names."""
        return self.elsewhere if self.on and worker not in self.on else self.link


class Networks(Frozen):
    """The networks between a cluster's nodes: one, or one of control and one of the store's data and the shuffle."""

    networks: Annotated[tuple[Network, ...], Field(min_length=1, max_length=2)]

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, given: Any) -> Any:
        """What tables write."""
        return {"networks": _networks_in(given)} if isinstance(given, str) else given

    @model_serializer(mode="wrap")
    def _none_as_a_word(self, plain: SerializerFunctionWrapHandler) -> Any:
        return NONE if self == NO_NETWORK else plain(self)

    def __str__(self) -> str:
        return BESIDE.join(network.text for network in self.networks)

    @property
    def workers(self) -> set[int]:
        """The numbers of the workers that they name."""
        return {number for network in self.networks for number in network.on}

    @property
    def titles(self) -> dict[str, str]:
        """What a node's interfaces are on where it has two: `control network (gigabit)`; else nothing."""
        if len(self.networks) == 1:
            return {}
        return {
            interface: f"{kind} network ({network.text})"
            for interface, kind, network in zip(INTERFACES, KINDS, self.networks, strict=True)
        }

    def links(self, worker: int = 0, fault: Fault | None = None) -> tuple[LinkSpec | None, ...]:
        """The links of a worker, slower where a fault makes them so; without its number those of the master."""
        times = 1 if fault is None else fault.slows(LINK, worker)
        links = [network.link_of(worker) for network in self.networks]
        return tuple(
            link and link.model_copy(update={"rate_bits_per_s": link.rate_bits_per_s // times}) for link in links
        )


def read_networks(given: Any) -> Networks:
    """Read networks as experiments write them: a name, `RATE`, `RATE,LATENCY`, or a map. Raises ValueError."""
    networks = _networks_of(given) if isinstance(given, Mapping) else _networks_in(str(given))
    if len(networks) > 2:
        text = BESIDE.join(network.text for network in networks)
        raise ValueError(f"a node has at most two networks, and {text!r} are {len(networks)}")
    return Networks(networks=networks)


def _networks_of(given: Mapping[str, Any]) -> tuple[Network, ...]:
    """One or two networks of a map. Raises ValueError, with the key that is wrong."""
    two = any(kind in given for kind in KINDS)
    keys = KINDS if two else (*_EXAMPLES, "on", "elsewhere")
    if unknown := [key for key in given if key not in keys]:
        raise ValueError(f"unknown key {unknown[0]!r}; {nearest(unknown[0], keys)}")
    for key in dict.fromkeys((*(KINDS if two else ["rate"]), *given)):
        if given.get(key) is None:
            cure = "two networks are such as {control: gigabit, data: ten-gigabit}, and one is its name alone"
            cure = f"write {key}: {_EXAMPLES.get(key, 'gigabit')}" if key not in KINDS else cure
            raise ValueError(f"{key} is {'empty' if key in given else 'missing'}; {cure}")
    if two:
        return tuple(network for key in KINDS for network in _networks_at(key, given[key]))
    if re.fullmatch(r"[0-9.]+", latency := str(given.get("latency"))):
        raise ValueError(f"latency {latency} has no unit; write {latency}us or {latency}ms")
    link_text = ",".join(str(given[key]).replace(" ", "") for key in _EXAMPLES if key in given)
    if "on" not in given:
        return (Network(text=link_text, link=_link_of(link_text)),)
    if "elsewhere" not in given:
        raise ValueError("a network `on` some workers needs `elsewhere`, that of the other nodes, such as gigabit")
    on = given["on"] if isinstance(given["on"], list) else [given["on"]]
    other = BESIDE.join(network.text for network in _networks_at("elsewhere", given["elsewhere"]))
    return (_placed(link_text, " ".join(map(str, on)), other),)


def _networks_at(key: str, given: Any) -> tuple[Network, ...]:
    """The networks of one key. Raises ValueError, with that key."""
    try:
        return read_networks(given).networks
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def _networks_in(text: str) -> tuple[Network, ...]:
    """Networks as tables write them. Raises ValueError for what is none."""
    networks = []
    for level in text.split(BESIDE):
        placed = _PLACED.fullmatch(level)
        networks.append(_placed(*placed.groups()) if placed else Network(text=level, link=_link_of(level)))
    return tuple(networks)


def _placed(link_text: str, on: str, other: str) -> Network:
    """A network that some workers have, by their numbers. Raises ValueError where one of them is none."""
    if not re.fullmatch(r"[1-9]\d{0,2}( [1-9]\d{0,2})*", on):
        raise ValueError(f"on is {on!r}, and must be the numbers of workers, such as [1, 2]")
    numbers = tuple(map(int, on.split()))
    return Network(
        text=f"{link_text} on {on} else {other}", link=_link_of(link_text), on=numbers, elsewhere=_link_of(other)
    )


def _link_of(level: str) -> LinkSpec | None:
    if level == NONE or level in LINKS:
        return LINKS.get(level)
    rate_text, _, latency_text = level.partition(",")
    rate, latency = _RATE.fullmatch(rate_text), _LATENCY.fullmatch(latency_text)
    if other := _OTHER_RATE.fullmatch(rate_text):
        number, prefix = float(other[1]), other[2].upper().replace("K", "k") or "M"
        if other[3] == "B":
            raise ValueError(
                f"{rate_text} counts bytes, and a link's rate counts bits; write {8 * number:g}{prefix}bit"
            )
        lacks = "an unknown unit" if other[2] or other[3] else "no unit"
        raise ValueError(f"the rate {rate_text} has {lacks}; write bits per second, such as {number:g}{prefix}bit")
    if rate is None or (latency_text and latency is None):
        known = [NONE, *LINKS]
        raise ValueError(
            f"unknown network {level!r}; {nearest(level, known, most=2)} Known are {', '.join(known)}; one of your own "
            "is {rate: 1Gbit, latency: 100us}"
        )
    bits = round(float(rate[1]) * _UNITS[rate[2].lower()])
    latency_us = 0 if latency is None else round(float(latency[1]) * (1000 if latency[2] == "ms" else 1))
    if not LEAST_RATE <= bits <= MOST_RATE or latency_us > MOST_LATENCY_US:
        raise ValueError(f"a network of {level} is not possible: rates are 1Mbit to 100Gbit, latencies at most 1000ms")
    return LinkSpec(rate_bits_per_s=bits, latency_us=latency_us)


NO_NETWORK = Networks(networks=(Network(text=NONE),))
