"""Which names are of one host: DNS ignores letter case, and a name may have its domain or a last dot, or be an address.

IPv4 and IPv6 addresses have several forms of text each (RFC 4291, RFC 5952); one form stands for all here.
"""

from collections.abc import Iterable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address

_LOOPBACK = "localhost"
_LOOPBACKS = {_LOOPBACK, "localhost.localdomain", "127.0.0.1", "::1"}


@lru_cache(100_000)
def canonical_host(name: str) -> str:
    """The form of a name or an address that is compared; it is no name to be shown."""
    plain = name.strip().removeprefix("[").removesuffix("]").rstrip(".").lower()
    try:
        address = ip_address(plain)
    except ValueError:
        return _LOOPBACK if plain in _LOOPBACKS else plain
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    plain = str(mapped or address)
    return _LOOPBACK if plain in _LOOPBACKS else plain


def is_loopback(name: str) -> bool:
    """Whether it is every host's name for itself."""
    return canonical_host(name) == _LOOPBACK


def host_of(address: str) -> str:
    """The host in `HOST:PORT`, `[IPv6]:PORT` or a host alone, an IPv6 address without its brackets."""
    if address.count(":") > 1 and not address.startswith("["):
        try:
            return str(ip_address(address))
        except ValueError:  # an IPv6 address and a port, as Java prints it
            return address.rpartition(":")[0]
    return address.removeprefix("[").partition("]")[0] if address.startswith("[") else address.partition(":")[0]


def in_url(host: str) -> str:
    """A host as a URL has it: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


class HostNames:
    """Known hosts, each by the name by which it was first called."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._exact: dict[str, str] = {}
        self._by_label: dict[str, str | None] = {}
        """None: hosts of several domains have it, and it tells none of them."""
        for name in names:
            self.add(name)

    def add(self, name: str, shown: str | None = None) -> str:
        """What the host is called; `shown` is that for one that is not known yet, else the name itself."""
        known = self.find([name])
        if known is not None:
            return known
        plain, shown = canonical_host(name), name if shown is None else shown
        self._exact[plain] = shown
        if _has_domain(plain):
            label = plain.partition(".")[0]
            if self._by_label.setdefault(label, shown) != shown:
                self._by_label[label] = None
        return shown

    def find(self, names: Iterable[str]) -> str | None:
        """The host with one of these names of one host: exactly so, or with or without its domain.

        Names with another domain are another host's, whatever is called alike without one. A name without a domain that
        fits several hosts is of none.
        """
        plain = [canonical_host(name) for name in names if name]
        exact = next((self._exact[name] for name in plain if name in self._exact), None)
        if exact is not None:
            return exact
        full = [name.partition(".")[0] for name in plain if _has_domain(name)]
        short = next((self._exact[label] for label in full if label in self._exact), None)
        if short is not None or full:
            return short
        return next((self._by_label[name] for name in plain if name in self._by_label), None)


def same_host(name: str, other: str) -> bool:
    """Whether two names are of one host, as far as names tell."""
    return HostNames([name]).find([other]) is not None


def _has_domain(plain: str) -> bool:
    if "." not in plain:
        return False
    try:
        ip_address(plain)
    except ValueError:
        return True
    return False
