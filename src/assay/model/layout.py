"""Layouts: the directories that a cluster may use, and the roles of what lies in them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple

from assay.model.base import Frozen

INPUT, OUTPUT = "input", "output"
"""The roles of what jobs read and of what they leave: every store has both."""
INTERMEDIATE = "intermediate"
"""The role of local directories, in which tasks leave what later tasks read."""
NEUTRAL = "neutral"
"""The name of the medium that is not under test."""
LocalDirectories = Literal["in-turn", "hadoop", "directed"]
"""How local directories are chosen: tasks get one each in turn, Hadoop chooses as it does, or each job names a tier."""
IN_TURN: Final = "in-turn"
BY_HADOOP: Final = "hadoop"
DIRECTED: Final = "directed"


class Role(NamedTuple):
    """What some of a service's directories are for, as the service declares it.

    `holds` names what lies there. `follows` is the role whose media it has where a placement does not name it, or
    NEUTRAL; a role that follows none has to be named. A role `beside` another shares the other's directories where both
    are on the same media. Its directories are called `folder`, or else as the role is. `passing` is a pattern of the
    paths of files that are gone before the jobs have ended: these count when they are closed, and all else counts where
    it lies at the end. A service whose files pass in the directories of another's role declares the role again. Of a
    role that is `sized` the service says how much lies there, however much data a trial has.
    """

    name: str
    holds: str
    follows: str = ""
    beside: str = ""
    folder: str = ""
    passing: str = ""
    sized: bool = False


def role_order(role: str) -> int:
    """Sorts names of roles: the input first, the output last."""
    return (role == OUTPUT) - (role == INPUT)


def in_order(roles: Iterable[Role]) -> tuple[Role, ...]:
    """Each role once, as first declared: the input first, the output last. What is `passing` for any of them passes."""
    declared: dict[str, Role] = {}
    for role in roles:
        first = declared.setdefault(role.name, role)
        if role.passing not in {"", first.passing}:
            passing = "|".join(filter(None, (first.passing, role.passing)))
            declared[role.name] = first._replace(passing=passing)
    return tuple(sorted(declared.values(), key=lambda role: role_order(role.name)))


class Directory(Frozen):
    """A directory of a service, the name of the medium it lies on, and the roles of what lies there.

    Where it serves two roles, what is there when the input has been staged has the first, and what comes later the
    second. For `passing` see `Role`. `tier` is the tag by which jobs are directed to it; empty where none are.
    """

    path: Path
    medium: str
    roles: tuple[str, ...] = (INPUT, OUTPUT)
    passing: str = ""
    tier: str = ""


_SHARED = "data"
"""What directories of several roles are called. These names stay: a file system may choose a directory's place on its
device by its name."""


class RoleGroup(NamedTuple):
    """Roles that share their directories."""

    roles: tuple[Role, ...]

    @property
    def folder(self) -> str:
        """What its directories are called."""
        return _SHARED if len(self.roles) > 1 else self.roles[0].folder or self.roles[0].name

    def directory(self, path: Path, medium: str) -> Directory:
        """One of its directories."""
        names = tuple(role.name for role in self.roles)
        return Directory(path=path, medium=medium, roles=names, passing=self.roles[0].passing)


def groups(roles: Sequence[Role], media: Callable[[str], object]) -> tuple[RoleGroup, ...]:
    """The roles in groups that share directories; `media` gives that of a role by its name."""
    members: dict[str, list[Role]] = {}
    for role in roles:
        shares = role.beside in members and media(role.beside) == media(role.name)
        members.setdefault(role.beside if shares else role.name, []).append(role)
    return tuple(RoleGroup(tuple(together)) for together in members.values())


class Layout(Frozen):
    """The directories a cluster may use; all are fresh and empty, all are removed by whoever made them.

    `neutral` takes configuration, logs, process ids, what masters keep on disk: a place that is not under test.
    `directories` are those of the services. The directories of a role are filled in turn: a medium's fraction is its
    share of them. `nodes` are the directories of each worker, by its name, where there are several: `directories` are
    then those of all together. `own` are folders in the directories of some roles, by role and by service: that of each
    service which would share them with another one that it does not know. `local_directories` says how those of
    intermediate data are chosen.
    """

    neutral: Path
    directories: tuple[Directory, ...] = ()
    nodes: Mapping[str, "Layout"] = {}
    own: Mapping[str, Mapping[str, str]] = {}
    local_directories: LocalDirectories = IN_TURN

    @classmethod
    def below(cls, home: Path, roles: Sequence[Role] = (), workers: Sequence[str] = ()) -> "Layout":
        """One directory for each role that can be under test, of each worker, where no medium is under test."""
        if workers:
            return cls.together(home / "neutral", {worker: cls.below(home / worker, roles) for worker in workers})
        placed = [role for role in roles if role.follows != NEUTRAL]
        directories = (group.directory(home / group.folder, "home") for group in groups(placed, lambda _: "home"))
        return cls(neutral=home / "neutral", directories=tuple(directories))

    @classmethod
    def together(cls, neutral: Path, nodes: Mapping[str, "Layout"]) -> "Layout":
        """That of a cluster of several workers, from theirs."""
        directories = tuple(directory for node in nodes.values() for directory in node.directories)
        how = next((node.local_directories for node in nodes.values()), IN_TURN)
        return cls(neutral=neutral, directories=directories, nodes=nodes, local_directories=how)

    def seen_by(self, service: str) -> "Layout":
        """The directories as a service has them, by its name: its own folder where another one has the rest."""
        folders = {role: names[service] for role, names in self.own.items() if service in names}
        if not folders:
            return self

        def own(directory: Directory) -> Directory:
            folder = next((folders[role] for role in directory.roles if role in folders), "")
            return directory.model_copy(update={"path": directory.path / folder})

        return self.model_copy(
            update={
                "directories": tuple(map(own, self.directories)),
                "nodes": {
                    name: node.model_copy(update={"own": self.own}).seen_by(service)
                    for name, node in self.nodes.items()
                },
                "own": {},
            }
        )

    def of(self, *roles: str) -> tuple[Directory, ...]:
        """The directories of some roles."""
        return tuple(directory for directory in self.directories if not {*roles}.isdisjoint(directory.roles))

    @property
    def roles(self) -> tuple[str, ...]:
        """The names of all roles, the input first and the output last."""
        names = dict.fromkeys(role for directory in self.directories for role in directory.roles)
        return tuple(sorted(names, key=role_order))

    @property
    def container_logs(self) -> Path:
        """The folder of a node's container logs."""
        return self.neutral / "logs" / "containers"

    @property
    def paths(self) -> tuple[Path, ...]:
        """All directories, the neutral one first."""
        return (self.neutral, *(directory.path for directory in self.directories))
