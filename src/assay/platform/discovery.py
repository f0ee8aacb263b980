"""The machines of an existing cluster, and where their daemons' web interfaces are, as its masters tell."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from assay.model.errors import NoAnswerError
from assay.model.existing import ExistingDaemon, Site
from assay.model.host_names import HostNames, canonical_host
from assay.model.probe import Ask, ForeignHost


class _Machines:
    """The machines that are known so far, each once however its masters write its name."""

    def __init__(self) -> None:
        self.by_name: dict[str, ForeignHost] = {}
        self._names = HostNames()
        self._by_address: dict[str, str] = {}

    def add(self, name: str, address: str, role: str, url: str) -> None:
        known = self._names.find([name]) or self._by_address.get(canonical_host(name)) or self._names.find([address])
        before = self.by_name[known] if known is not None else ForeignHost(self._names.add(name))
        if address:
            self._by_address.setdefault(canonical_host(address), before.name)
        urls = dict.fromkeys((*before.web.get(role, ()), url))
        web = {**before.web, role: tuple(urls)}
        self.by_name[before.name] = ForeignHost(before.name, before.address or address, web)


def discover(
    ask: Ask, addresses: Mapping[str, str], daemons: Sequence[ExistingDaemon], site: Site, *, by_name: bool = False
) -> tuple[tuple[ForeignHost, ...], tuple[str, ...]]:
    """The machines, those of the masters (`addresses` by role) among them, and why some may be missing.

    `by_name` says that a login wants the machines' names.
    """
    machines = _Machines()
    overlooked: list[str] = []
    for daemon in reversed(daemons):  # machines are called as the engine's master calls them
        if daemon.workers is None or daemon.role not in addresses:
            continue
        url = addresses[daemon.role]
        try:
            for worker in daemon.workers.read(ask(url + daemon.workers.page, {}), site, by_name):
                machines.add(worker.host, worker.address, worker.role, worker.url)
        except NoAnswerError as error:
            overlooked.append(str(error))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            overlooked.append(f"{url}: its list of nodes is incomplete or malformed: {error}")
    for role, url in addresses.items():
        machines.add(urlsplit(url).hostname or "", "", role, url)
    return tuple(machines.by_name[name] for name in sorted(machines.by_name)), tuple(overlooked)
