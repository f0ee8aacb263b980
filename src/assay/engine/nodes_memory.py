"""How many nodes a running cluster has, and how much memory each has, and gives to containers.

Sources: the ResourceManager's `/ws/v1/cluster/nodes`; the NodeManagers' `/jmx`, where a JVM tells its machine's memory.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from assay.engine.existing import NODES_PAGE, nodemanagers, resourcemanagers
from assay.host.http import amount_at
from assay.model.errors import NoAnswerError
from assay.model.existing import Site

_MIB = 1 << 20
_MOST_ASKED = 3
_SYSTEM = "java.lang:type=OperatingSystem"
_MEMORY = ("TotalMemorySize", "TotalPhysicalMemorySize")
"""Its name in Java 14 and later, and before."""


class NodesMemory(NamedTuple):
    """Bytes of a node, the least of those that were asked, and bytes that containers may take; None where not told."""

    nodes: int
    node_bytes: int | None
    container_bytes: int | None


def ask_nodes(site: Site, ask: Callable[..., Any]) -> NodesMemory:
    """Ask a ResourceManager and some NodeManagers. Raises NoAnswerError; BadInputError where no address is named."""
    silent: NoAnswerError | None = None
    for url in resourcemanagers(site):
        try:
            answer = ask(url + NODES_PAGE)
            workers = list(nodemanagers(answer, site, False))  # noqa: FBT003 - see WorkerList
            running = [node for node in answer["nodes"]["node"] if node.get("state") == "RUNNING"]
        except NoAnswerError as error:
            silent = error
        except (LookupError, TypeError, AttributeError) as error:
            silent = NoAnswerError(url, f"its list of nodes lacks {error}")
        else:
            offered = [
                free + used
                for node in running
                if (free := amount_at(node, "availMemoryMB")) is not None
                and (used := amount_at(node, "usedMemoryMB")) is not None
            ]
            sizes = [size for worker in workers[:_MOST_ASKED] if (size := _memory(worker.url, ask)) is not None]
            return NodesMemory(len(running), min(sizes, default=None), int(max(offered)) * _MIB if offered else None)
    assert silent is not None  # noqa: S101 - there is at least one address, or BadInputError
    raise silent


def _memory(url: str, ask: Callable[..., Any]) -> int | None:
    try:
        (system,) = ask(f"{url}/jmx", {"qry": _SYSTEM})["beans"][:1] or ({},)
    except (NoAnswerError, LookupError, TypeError):
        return None
    return next((int(size) for name in _MEMORY if (size := amount_at(system, name))), None)
