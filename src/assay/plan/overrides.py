"""Values that a command gives an experiment in place of its file's, by dotted paths such as `cluster.nodes`."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from assay.host.yaml_file import Place, shown, tree_of
from assay.model.errors import BadInputError
from assay.model.naming import nearest
from assay.plan.property_keys import property_keys, spelt_out

OPEN = frozenset({"properties", "options", "base", "exclude"})
"""Maps whose keys may have dots, as those of properties have: behind them a path's rest is a single key."""
NAMED = frozenset({"media", "profiles"})
"""Maps from names that the experiment chose: what is set below such a name must be there."""


def is_open(key: object) -> bool:
    """Whether the map at a key has keys that may have dots."""
    return key in OPEN or key in property_keys()


class Override(NamedTuple):
    """A value for one key; `words` are what the user typed for it, the option first."""

    key: str
    value: Any
    words: tuple[str, str]

    @property
    def option(self) -> str:
        """How messages name it."""
        option, text = self.words
        return f"{option} {text.partition('=')[0].strip()}"

    def option_at(self, keys: Place) -> str:
        """How messages name it for a part of its value: of `--media hdd=A,ssd=B` the part `ssd` is `--media ssd`."""
        option, _ = self.words
        is_pair = option != "--set" and isinstance(self.value, dict) and keys[:1] and keys[0] in self.value
        return f"{option} {keys[0]}" if is_pair else self.option


def override_of(text: str) -> Override:
    """`KEY=VALUE`, of which the value is YAML. Raises BadInputError."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not all(key.split(".")):
        raise BadInputError(f"--set {text}: it must be KEY=VALUE, such as --set repetitions=5 or --set cluster.nodes=3")
    return Override(key, tree_of(value, f"--set {key}"), ("--set", text))


def apply(override: Override, tree: Any) -> Place:
    """Put the value into an experiment's tree; the place where it stands then. Raises BadInputError."""
    keys: list[object] = []
    here, rest = tree, override.key
    while True:
        here, step, rest = _step(override, here, keys, rest)
        keys.append(step)
        if not rest:
            here[step] = override.value
            return keys
        missing = isinstance(here, dict) and here.get(step) is None
        here[step] = _map() if missing else deepcopy(here[step])  # an alias repeats it elsewhere, where it must stay
        here = here[step]


def _step(override: Override, here: Any, keys: list[object], rest: str) -> tuple[Any, Any, str]:
    """The list or map to go on from, the key there, and what is left of the path behind it."""
    if isinstance(here, list):
        name, _, below = rest.partition(".")
        if name.isdecimal() and int(name) < len(here):
            return here, int(name), below
        if len(here) != 1 or name.isdecimal():
            listed = _typed(keys)
            which = f"{listed} is a list of {len(here)}, counted from 0; name one, such as {listed}.0"
            raise BadInputError(f"{override.option}: {which}")
        keys.append(0)
        here[0] = deepcopy(here[0])
        here = here[0]
    if not isinstance(here, dict):
        whole = _typed([part for part in keys if part != 0])
        raise BadInputError(
            f"{override.option}: {whole} is {shown(here)}, which has no keys; set the whole of it, such as "
            f"--set '{whole}={{key: value}}'"
        )
    names = rest.split(".")
    counts = range(len(names), 0, -1)
    known = next((count for count in counts if ".".join(names[:count]) in here), None)
    inside = next((key for key in reversed(keys) if not isinstance(key, int)), "")
    count = known or (len(names) if is_open(inside) else 1)
    name, below = spelt_out(inside, ".".join(names[:count])), ".".join(names[count:])
    if below and known is None and inside in NAMED:
        raise BadInputError(f"{override.option}: {inside} has no {name!r}; {nearest(name, list(here))}")
    return here, name, below


def _typed(keys: Sequence[object]) -> str:
    return ".".join(map(str, keys))


def _map() -> Any:
    from ruamel.yaml.comments import CommentedMap

    return CommentedMap()


def lies_within(keys: Place, around: Place) -> bool:
    """Whether a place is another one or lies in it; one thing alone may stand where a list has its first."""
    rest = list(keys)
    for part in around:
        while rest and rest[0] != part and isinstance(rest[0], int):
            rest.pop(0)
        if not rest or rest[0] != part:
            return False
        rest.pop(0)
    return True
