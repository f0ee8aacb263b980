"""From a placement to directories: how many of them lie on which medium, and which roles each of them serves.

HDFS and the NodeManager fill their directories in turn, so a medium's fraction of a role is its share of the role's
directories, as in the hybrid study. Where input and output are placed differently, each has directories of its own, and
the store keeps them apart.

Jobs' files that are neither (job jars, splits, histories) go to a directory without a role on the neutral medium.
"""

from collections.abc import Mapping
from pathlib import Path

from assay.model.layout import DataDirectory, Layout, LocalDirectory, Role
from assay.model.trial import MOST_DIRECTORIES, Placement

CLOSE_ENOUGH_SHARE = 0.005
NEUTRAL = "neutral"


def lay_out(placement: Placement, places: Mapping[str, Mapping[str, Path]], neutral: Path) -> Layout:
    """The directories of a trial; `places` are the attached media's, by node and name. Nothing is made here.

    The node without a name is this machine alone.
    """
    nodes = {node: _of_node(placement, of_node, neutral / node) for node, of_node in places.items()}
    if "" in nodes:
        return nodes[""]
    return Layout.together(neutral, nodes)


def _of_node(placement: Placement, places: Mapping[str, Path], neutral: Path) -> Layout:
    system = DataDirectory(path=neutral / "system", medium=NEUTRAL, roles=())
    if placement.input == placement.output:
        data = _data(placement.input, places, "data", ("input", "output"))
    else:
        data = _data(placement.input, places, "input", ("input",))
        data += _data(placement.output, places, "output", ("output",))
    local = [
        LocalDirectory(path=places[medium] / f"local-{number}", medium=medium)
        for number, medium in enumerate(in_turn(placement.intermediate))
    ]
    return Layout(neutral=neutral, data=(*data, system), local=tuple(local))


def unmet_share(fractions: Mapping[str, float]) -> float:
    """How far the directories' own shares are from the wanted ones at worst, 0 to 1."""
    turns = in_turn(fractions)
    if not turns:  # more media than directories
        return 1.0
    return max(abs(turns.count(name) / len(turns) - share) for name, share in fractions.items())


def in_turn(fractions: Mapping[str, float]) -> list[str]:
    """The media of a role's directories, in the order in which they are filled: the fewest that come close enough."""
    best: dict[str, int] = {}
    best_error = 2.0
    for total in range(len(fractions), MOST_DIRECTORIES + 1):
        counts = _apportion(fractions, total)
        error = max(abs(counts[name] / total - share) for name, share in fractions.items())
        if error < best_error - 1e-9:
            best, best_error = counts, error
        if best_error <= CLOSE_ENOUGH_SHARE:
            break
    # Spread evenly, so that a few blocks are shared out nearly as many are.
    turns = [((number + 0.5) / count, name) for name, count in best.items() for number in range(count)]
    return [name for _, name in sorted(turns)]


def _apportion(fractions: Mapping[str, float], total: int) -> dict[str, int]:
    """Whole directories for each medium, at least one each, by largest remainders."""
    counts = {name: max(1, int(share * total)) for name, share in fractions.items()}
    while (left := total - sum(counts.values())) != 0:
        step = 1 if left > 0 else -1
        open_names = [name for name in counts if step > 0 or counts[name] > 1]
        name = max(open_names, key=lambda one: step * (fractions[one] * total - counts[one]))
        counts[name] += step
    return counts


def _data(
    fractions: Mapping[str, float], places: Mapping[str, Path], name: str, roles: tuple[Role, ...]
) -> list[DataDirectory]:
    return [
        DataDirectory(path=places[medium] / f"{name}-{number}", medium=medium, roles=roles)
        for number, medium in enumerate(in_turn(fractions))
    ]
