"""How many nodes a running cluster has, and how much memory each has and gives to containers, and its processors.

Sources: the ResourceManager's `/ws/v1/cluster/nodes`; the NodeManagers' `/jmx`, where a JVM tells its machine's memory
and processors.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from assay.engine.existing import NODES_PAGE, nodemanagers, resourcemanagers
from assay.host.http import amount_at
from assay.model.errors import NoAnswerError
from assay.model.existing import Site
from assay.model.naming import bytes_text

_MIB = 1 << 20
_MOST_ASKED = 12
"""NodeManagers, from those that offer least to those that offer most: enough to see that nodes differ."""
_SYSTEM = "java.lang:type=OperatingSystem"
_MEMORY = ("TotalMemorySize", "TotalPhysicalMemorySize")
"""Its name in Java 14 and later, and before."""


class NodesMemory(NamedTuple):
    """Bytes of a node, and bytes that its containers may take; None where not told.

    Of nodes that differ, as `differences` says in words, it is the one that leaves least to files.
    """

    nodes: int
    node_bytes: int | None
    container_bytes: int | None
    differences: str = ""
    processors: int | None = None
    """The fewest of any node that tells."""


def ask_nodes(site: Site, ask: Callable[..., Any]) -> NodesMemory:
    """Ask a ResourceManager and some NodeManagers. Raises NoAnswerError; BadInputError where no address is named."""
    silent: NoAnswerError | None = None
    for url in resourcemanagers(site):
        try:
            answer = ask(url + NODES_PAGE)
            running = [node for node in answer["nodes"]["node"] if node["state"] == "RUNNING"]
            running.sort(key=lambda node: _offered_bytes(node) or 0)
            sampled = _spread(running)
            workers = list(nodemanagers({"nodes": {"node": sampled}}, site, False))  # noqa: FBT003 - see WorkerList
        except NoAnswerError as error:
            silent = error
        except (LookupError, TypeError, AttributeError) as error:
            silent = NoAnswerError(url, f"its list of nodes lacks {error}")
        else:
            offers = map(_offered_bytes, sampled)
            machines = [_machine(worker.url, ask) for worker in workers]
            known = [(size, offer) for (size, _), offer in zip(machines, offers, strict=True)]
            processors = [number for _, number in machines if number is not None]
            return _least_left(len(running), known)._replace(processors=min(processors, default=None))
    assert silent is not None  # noqa: S101 - there is at least one address, or BadInputError
    raise silent


def _offered_bytes(node: dict[str, Any]) -> int | None:
    free, used = amount_at(node, "availMemoryMB"), amount_at(node, "usedMemoryMB")
    return None if free is None or used is None else int(free + used) * _MIB


def _spread(nodes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """At most so many of a sorted list as are asked, evenly from its first to its last; those with an address alone."""
    known = [node for node in nodes if node.get("nodeHTTPAddress")]
    last = len(known) - 1
    places = {round(turn * last / (_MOST_ASKED - 1)) for turn in range(_MOST_ASKED)} if last >= 0 else set()
    return [known[place] for place in sorted(places)]


def _least_left(nodes: int, known: Sequence[tuple[int | None, int | None]]) -> NodesMemory:
    """The node that leaves least to files, by the memory of some machines and what each offers."""
    sized = [(size, offer) for size, offer in known if size is not None]
    offered = [offer for _, offer in known if offer is not None]
    differences = ", ".join(
        f"{bytes_text(min(amounts))} to {bytes_text(max(amounts))} {of}"
        for amounts, of in (([size for size, _ in sized], "of memory"), (offered, "for containers"))
        if amounts and min(amounts) < max(amounts)
    )
    if not sized:
        return NodesMemory(nodes, None, max(offered, default=None), differences)
    return NodesMemory(nodes, *min(sized, key=lambda node: node[0] - (node[1] or 0)), differences)


def _machine(url: str, ask: Callable[..., Any]) -> tuple[int | None, int | None]:
    """Its bytes of memory, and its processors."""
    try:
        (system,) = ask(f"{url}/jmx", {"qry": _SYSTEM})["beans"][:1] or ({},)
        processors = amount_at(system, "AvailableProcessors")
        size = next((int(size) for name in _MEMORY if (size := amount_at(system, name))), None)
    except (NoAnswerError, LookupError, TypeError):
        return None, None
    return size, int(processors) if processors else None
