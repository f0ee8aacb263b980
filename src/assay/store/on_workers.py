"""What stores of tables have in common whose daemon on each worker keeps bytes itself, and which Assay starts alone.

All that such a daemon keeps of a role is in one folder of its own on the role's medium.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from assay.host.files import bytes_below
from assay.model.cluster import MASTER
from assay.model.errors import BadInputError
from assay.model.existing import Site
from assay.model.layout import Layout
from assay.model.service import Discovery, NodeContext
from assay.model.store import Placer
from assay.model.trial import Landed
from assay.store.hdfs import HdfsPlacer


class RoleFolders(NamedTuple):
    """The folders of a service's daemon, by the roles of what is in them."""

    service: str
    names: Mapping[str, str]

    def of(self, layout: Layout, role: str) -> Path:
        """The folder on a node. Raises BadInputError where it would need several."""
        first, *others = layout.of(role)
        if others:
            raise BadInputError(
                f"{self.service} keeps what is of the role {role} in one directory, and the placement gives it "
                f"{1 + len(others)}; name one medium for {role}", "placement", "media",
            )  # fmt: skip
        return first.path / self.service / self.names[role]


def hosts(node: NodeContext) -> tuple[str, ...]:
    """All nodes with a daemon, by the names that they have on the network of this node's."""
    workers = node.spec.workers
    if not workers:
        return (node.host,)
    name = max((name for name in (MASTER, *workers) if node.host.startswith(name)), key=len)
    return tuple(worker + node.host.removeprefix(name) for worker in workers)


def port(properties: Mapping[str, str], name: str) -> int:
    """The port of the address that a property has."""
    return int(properties[name].rpartition(":")[2])


def started_only(service: str) -> Discovery:
    """How a service is used that can't be on a cluster of the user's: not at all, with the reason."""

    def refuse(_options: Mapping[str, Any], site: Site) -> Mapping[str, str]:
        raise BadInputError(
            f"{service} runs on clusters that Assay starts, not yet on that of {site.conf_dir}; leave conf_dir out, or "
            "name another store", "store",
        )  # fmt: skip

    return Discovery(refuse)


class FolderPlacer(Placer):
    """See `model.store.Placer`; bytes of a role are those of the files in its folder."""

    def __init__(
        self, files: HdfsPlacer, layout: Layout, folders: RoleFolders, output_properties: Mapping[str, str],
        own_paths: Mapping[str, str] = {},
    ) -> None:  # fmt: skip
        self._files, self._layout, self._folders = files, layout, folders
        self.own_paths, self.output_properties = own_paths, output_properties

    def prepare(self, base: str, input_path: str) -> None:
        """Place what jobs keep in files beside tables."""
        self._files.prepare(base, input_path)

    def landed(self, role: str, when: Literal["staged", "run"], path: str) -> Landed:
        """Bytes of the role's folders on each medium; none of a role that has no folder."""
        by_medium: dict[str, int] = {}
        names = self._folders.names
        for directory in self._layout.of(role) if role in names else ():
            if size := bytes_below(directory.path / self._folders.service / names[role]):
                by_medium[directory.medium] = by_medium.get(directory.medium, 0) + size
        total = sum(by_medium.values())
        return Landed(
            role=role, when=when, bytes=total, shares={medium: size / total for medium, size in by_medium.items()}
        )
