"""Networks between the nodes of a cluster that Assay starts."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from assay.model.base import Frozen
from assay.model.fault import LINK, Fault
from assay.model.naming import nearest

NO_NETWORK = "none"
"""Nothing shapes what nodes send."""

MOST_NODES = 200
"""Workers of a cluster of Assay's own: what fits into its range of addresses, with the masters' node."""

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
_PLACED = re.compile(r"(?P<own>\S+) on (?P<on>[1-9]\d{0,2}(?: [1-9]\d{0,2})*) else (?P<other>\S+)")
_LATENCY = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(us|ms)")
LEAST_RATE, MOST_RATE = 10**6, 10**11
MOST_LATENCY_US = 10**6


_EXAMPLES = {"rate": "1Gbit", "latency": "100us"}
BESIDE = "+"
"""Between the names of two networks: of control, and of data."""
KINDS = ("control", "data")


def network_level(given: Any) -> str:
    """A network as trials and tables name it: a name, `RATE` or `RATE,LATENCY`, or two such. Raises ValueError."""
    if isinstance(given, Mapping):
        given = _level_of(given)
    links_of(str(given))
    return str(given)


def _level_of(given: Mapping[str, Any]) -> str:
    """Write the level of a map of one network or two. Raises ValueError, with the key that is wrong."""
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
        return BESIDE.join(_level_at(key, given[key]) for key in KINDS)
    if re.fullmatch(r"[0-9.]+", latency := str(given.get("latency"))):
        raise ValueError(f"latency {latency} has no unit; write {latency}us or {latency}ms")
    rate = ",".join(str(given[key]).replace(" ", "") for key in _EXAMPLES if key in given)
    if "on" not in given:
        return rate
    if "elsewhere" not in given:
        raise ValueError("a network `on` some workers needs `elsewhere`, that of the other nodes, such as gigabit")
    on = given["on"] if isinstance(given["on"], list) else [given["on"]]
    return f"{rate} on {' '.join(map(str, on))} else {_level_at('elsewhere', given['elsewhere'])}"


def _level_at(key: str, given: Any) -> str:
    """The network of one key. Raises ValueError, with that key."""
    try:
        return network_level(given)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def links_of(level: str, worker: int = 0) -> tuple[LinkSpec | None, ...]:
    """The links of a worker, None for one of `none`; without its number those of the master and of all not named.

    Raises ValueError for what is no network.
    """
    levels = level.split(BESIDE)
    if len(levels) > 2:
        raise ValueError(f"a node has at most two networks, and {level!r} are {len(levels)}")
    return tuple(_link_on(network, worker) for network in levels)


def links_on(level: str, worker: int, fault: Fault | None) -> tuple[LinkSpec | None, ...]:
    """A worker's links, slower where a fault makes them so."""
    times = 1 if fault is None else fault.slows(LINK, worker)
    return tuple(
        link and link.model_copy(update={"rate_bits_per_s": link.rate_bits_per_s // times})
        for link in links_of(level, worker)
    )


def workers_named(level: str) -> set[int]:
    """The numbers of the workers that a network names."""
    matches = [_PLACED.fullmatch(network) for network in level.split(BESIDE)]
    return {int(number) for match in matches if match for number in match["on"].split()}


def _link_on(level: str, worker: int) -> LinkSpec | None:
    placed = _PLACED.fullmatch(level)
    if placed is None:
        return _link_of(level)
    link, other = _link_of(placed["own"]), _link_of(placed["other"])
    return link if str(worker) in placed["on"].split() else other


def networks_of(level: str) -> dict[str, str]:
    """What a node's interfaces are on where it has two: `control network (gigabit)`; else nothing."""
    levels = level.split(BESIDE)
    if len(levels) == 1:
        return {}
    return {
        interface: f"{kind} network ({network})"
        for interface, kind, network in zip(INTERFACES, KINDS, levels, strict=False)
    }


def _link_of(level: str) -> LinkSpec | None:
    if level == NO_NETWORK or level in LINKS:
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
        known = [NO_NETWORK, *LINKS]
        raise ValueError(
            f"unknown network {level!r}; {nearest(level, known, most=2)} Known are {', '.join(known)}; one of your own "
            "is {rate: 1Gbit, latency: 100us}"
        )
    bits = round(float(rate[1]) * _UNITS[rate[2].lower()])
    latency_us = 0 if latency is None else round(float(latency[1]) * (1000 if latency[2] == "ms" else 1))
    if not LEAST_RATE <= bits <= MOST_RATE or latency_us > MOST_LATENCY_US:
        raise ValueError(f"a network of {level} is not possible: rates are 1Mbit to 100Gbit, latencies at most 1000ms")
    return LinkSpec(rate_bits_per_s=bits, latency_us=latency_us)
