"""The machines of an existing cluster, and where their daemons' web interfaces are, as its masters tell.

Sources: the ResourceManager's REST interface (`/ws/v1/cluster/nodes`), and the NameNode's bean NameNodeInfo, whose
LiveNodes are a JSON text of DataNodes by `HOST:PORT`.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from assay.model.errors import NoAnswerError
from assay.model.host_names import HostNames, canonical_host, host_of, in_url
from assay.model.platform import jmx_bean
from assay.model.probe import Ask, ForeignHost

NODES_PAGE = "/ws/v1/cluster/nodes"
INFO_PAGE = "/jmx?qry=Hadoop:service=NameNode,name=NameNodeInfo"
_GONE = {"LOST", "SHUTDOWN", "DECOMMISSIONED", "REBOOTED"}


def discover(
    ask: Ask, addresses: Mapping[str, str], *, secure_yarn: bool = False, by_name: bool = False
) -> tuple[tuple[ForeignHost, ...], tuple[str, ...]]:
    """The machines, those of the masters (`addresses` by role) among them, and why some may be missing.

    `secure_yarn` says that NodeManagers answer over https, `by_name` that a login wants the machines' names.
    """
    hosts: dict[str, ForeignHost] = {}
    names = HostNames()
    by_address: dict[str, str] = {}
    overlooked: list[str] = []

    def note(name: str, address: str, role: str, url: str) -> None:
        known = names.find([name]) or by_address.get(canonical_host(name)) or names.find([address])
        before = hosts[known] if known is not None else ForeignHost(names.add(name))
        if address:
            by_address.setdefault(canonical_host(address), before.name)
        urls = dict.fromkeys((*before.web.get(role, ()), url))
        hosts[before.name] = ForeignHost(before.name, before.address or address, {**before.web, role: tuple(urls)})

    for role, page in (("resourcemanager", NODES_PAGE), ("namenode", INFO_PAGE)):
        if role not in addresses:
            continue
        try:
            answer = ask(addresses[role] + page, {})
            of_yarn = role == "resourcemanager"
            found_there = _nodemanagers(answer, secure=secure_yarn) if of_yarn else _datanodes(answer, by_name=by_name)
            for name, address, daemon, url in found_there:
                note(name, address, daemon, url)
        except NoAnswerError as error:
            overlooked.append(str(error))
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            overlooked.append(f"{addresses[role]}: its list of nodes lacks or garbles {error}")
    for role, url in addresses.items():
        note(urlsplit(url).hostname or "", "", role, url)
    return tuple(hosts[name] for name in sorted(hosts)), tuple(overlooked)


Daemon = tuple[str, str, str, str]
"""A machine's name, its address, a role and the web address."""


def _nodemanagers(answer: Any, *, secure: bool) -> Iterator[Daemon]:
    for node in (answer["nodes"] or {}).get("node") or ():
        if node["state"] not in _GONE and node.get("nodeHTTPAddress"):
            place = node["nodeHTTPAddress"]
            url = f"http{'s' * secure}://{in_url(host_of(place))}:{place.rpartition(':')[2]}"
            yield node["nodeHostName"], "", "nodemanager", url


def _datanodes(answer: Any, *, by_name: bool) -> Iterator[Daemon]:
    """A certificate is of a name, as is a login; otherwise the address does, and needs no name server."""
    for place, node in json.loads(jmx_bean(answer)["LiveNodes"]).items():
        name, address, port = host_of(place), host_of(node["infoAddr"]), node["infoAddr"].rpartition(":")[2]
        secure_port = node.get("infoSecureAddr", ":0").rpartition(":")[2]
        if port not in {"", "0"}:
            yield name, address, "datanode", f"http://{in_url(name if by_name else address)}:{port}"
        elif secure_port != "0":
            yield name, address, "datanode", f"https://{in_url(name)}:{secure_port}"
