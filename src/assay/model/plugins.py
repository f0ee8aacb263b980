"""Kinds register themselves, and plug-ins are found: what a registry is.

A plug-in is a module or package directly in the namespace package `assay_extras`, which may have a folder anywhere on
Python's path: `extras/` of the checkout, a folder of your own, an installed distribution. While it is imported it adds
its kinds to registries; its heavy imports belong into the functions that it adds, so that `assay --help` stays quick.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter
from typing import Generic, TypeVar

from assay.model.errors import BadInputError
from assay.model.naming import nearest

NAMESPACE = "assay_extras"
LAST = 1000
"""The place of a kind that names none."""
KindT = TypeVar("KindT")


class Registry(Mapping[str, KindT], Generic[KindT]):
    """Kinds of one sort by name, in the order of their places and names; plug-ins are found when it is first read.

    `homes` are the packages of the core's own kinds: all modules below them are imported then. `parts` are attributes
    by which a kind of this sort is told from anything else. `mistake` says what is wrong with a kind under a name, in
    words that follow the name, or nothing.
    """

    def __init__(
        self,
        label: str,
        *homes: str,
        parts: Sequence[str] = (),
        mistake: Callable[[str, KindT], str] = lambda _name, _kind: "",
    ) -> None:
        self.label = label
        self._homes = homes
        self._parts = parts
        self._mistake = mistake
        self._kinds: dict[str, KindT] = {}
        self._late: list[tuple[str, Callable[[], Iterable[tuple[str, KindT, int]]]]] = []
        self._places: dict[str, int] = {}
        self._modules: dict[str, str] = {}

    def add(self, name: str, kind: KindT, place: int = LAST) -> None:
        """Add a kind. Raises BadInputError for what is none of this sort, and where another one has the name.

        A kind with a method `mistake` says there what is wrong with itself, in words that follow its name, or nothing.
        """
        self._add(name, kind, place, _calling_module())

    def _add(self, name: str, kind: KindT, place: int, module: str) -> None:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise BadInputError(f"the name of a {self.label} is {name!r}, and must be a printable text")
        if not isinstance(place, int):
            raise BadInputError(f"the place of the {self.label} {name!r} is {place!r}, and must be a whole number")
        for part in self._parts:
            try:
                attrgetter(part)(kind)
            except AttributeError:
                problem = f"the {self.label} {name!r} is of type {type(kind).__name__} and has no `{part}`"
                raise BadInputError(f"{problem}; docs/how-to/add-a-kind.md shows such kinds") from None
        look = getattr(kind, "mistake", None)
        if mistake := (look() if look is not None else "") or self._mistake(name, kind):
            raise BadInputError(f"the {self.label} {name!r} {mistake}")
        if self._kinds.setdefault(name, kind) is not kind:
            problem = f"there are two kinds of {self.label} with the name {name!r}"
            raise BadInputError(f"{problem}, from {self.module(name)} and {module}; rename one")
        self._places[name], self._modules[name] = place, module

    def add_late(self, name: str, make: Callable[[], KindT], place: int = LAST) -> None:
        """Add a kind that is made when this registry is first read: making it imports what takes long."""
        self._late.append((_calling_module(), lambda: [(name, make(), place)]))

    def add_all_late(self, make: Callable[[], Iterable[tuple[str, KindT, int]]]) -> None:
        """Add kinds, each with its name and place, that are made when this registry is first read."""
        self._late.append((_calling_module(), make))

    def find(self, name: str) -> KindT:
        """The kind of that name. Raises BadInputError with the nearest name where there is none."""
        if name not in self:
            raise BadInputError(f"there is no {self.label} {name!r}; {nearest(name, list(self))}")
        return self[name]

    def module(self, name: str) -> str:
        """The name of the module that added a kind."""
        return self._modules.get(name, "?")

    def __getitem__(self, name: str) -> KindT:
        return self._read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._read(), key=lambda name: (self._places[name], name)))

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> dict[str, KindT]:
        homes, self._homes = self._homes, ()
        try:
            for home in homes:
                import_all(home, deep=True)
        except BaseException:
            self._homes = homes  # what is missing is missing again, with the same error
            raise
        load_plugins()
        while self._late:
            module, make = self._late[0]
            for name, kind, place in make():
                self._add(name, kind, place, module)
            self._late.pop(0)
        return self._kinds


def _calling_module() -> str:
    """The name of the module that calls a registry's method, which is what calls this."""
    name: str = sys._getframe(2).f_globals.get("__name__", "?")
    return name


@cache
def load_plugins() -> None:
    """Import every plug-in, once. Raises BadInputError with the name of one that can't be imported."""
    import_all(NAMESPACE)


def import_all(name: str, *, deep: bool = False) -> None:
    """Import a module; of a package all modules and packages directly in it too, or all below it. None is no error."""
    from importlib.util import find_spec
    from pkgutil import iter_modules

    spec = find_spec(name)
    if spec is None:
        return
    _import(name)
    for module in iter_modules(spec.submodule_search_locations or ()):
        if deep and module.ispkg:
            import_all(f"{name}.{module.name}", deep=True)
        else:
            _import(f"{name}.{module.name}")


def _import(name: str) -> None:
    from importlib import import_module

    try:
        import_module(name)
    except BadInputError as error:
        raise BadInputError(f"{name}: {error}") from error
    except Exception as error:  # whatever a plug-in does while it is imported
        why = str(error) if isinstance(error, ImportError) else f"{type(error).__name__}: {error}"
        raise BadInputError(f"{name} can't be imported: {why}; repair it, or remove it from Python's path") from error
