"""From a placement to directories: how many of them lie on which medium, and which roles each of them serves.

Services fill their directories in turn, so a medium's fraction of a role is its share of the role's directories, as in
the hybrid study. Where roles that may share directories are placed differently, each has directories of its
own, and the service keeps them apart. Where jobs are directed, local directories have tags: those of each medium that a
workload names, and one for all others.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from assay.model.layout import DIRECTED, INTERMEDIATE, NEUTRAL, Directory, Layout, Role, groups
from assay.model.trial import MOST_DIRECTORIES, Placement

CLOSE_ENOUGH_SHARE = 0.005
OTHERS = "_OTHERS"
"""The tier of the local directories on media that no workload names; no medium is called so."""


def lay_out(
    placement: Placement, places: Mapping[str, Mapping[str, Path]], neutral: Path, roles: Sequence[Role],
    named: Collection[str] = (),
) -> Layout:  # fmt: skip
    """The directories of a trial; `places` are the attached media's, by node and name. Nothing is made here.

    The node without a name is this machine alone. `roles` are those of the trial's stack, `named` the media to which
    workloads want their intermediate data.
    """
    nodes = {node: _of_node(placement, of_node, neutral / node, roles, named) for node, of_node in places.items()}
    if "" in nodes:
        return nodes[""]
    return Layout.together(neutral, nodes)


def tier_of(medium: str, named: Collection[str]) -> str:
    """The tag of a medium's local directories: that of the medium if a workload names it."""
    return re.sub(r"\W", "_", medium).upper() if medium in named else OTHERS


def _of_node(
    placement: Placement, places: Mapping[str, Path], neutral: Path, roles: Sequence[Role], named: Collection[str]
) -> Layout:
    directories: list[Directory] = []
    for group in groups(roles, placement.of):
        fractions = placement.of(group.roles[0].name)
        if fractions:
            made = [
                group.directory(places[medium] / f"{group.folder}-{number}", medium)
                for number, medium in enumerate(in_turn(fractions))
            ]
            if placement.local_directories == DIRECTED and group.roles[0].name == INTERMEDIATE:
                made = [place.model_copy(update={"tier": tier_of(place.medium, named)}) for place in made]
            directories += made
        else:
            directories.append(group.directory(neutral / group.folder, NEUTRAL))
    how = placement.local_directories
    return Layout(neutral=neutral, directories=tuple(directories), local_directories=how)


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
        name = max(open_names, key=lambda candidate: step * (fractions[candidate] * total - counts[candidate]))
        counts[name] += step
    return counts
