"""Whether a file's first line is a header that looks like an edge.

Some published edge lists begin with a line such as `265214 364481`, the number of nodes and of edges. It parses as an
edge, and counted as one it adds two vertices and an edge that don't exist. A line is refused rather than guessed:

- both numbers are within 5 % of the counts of nodes and of edges (or lines, or edges in both directions);
- or one is exactly such a count and one is larger than any other id, and at least three lines follow;
- or both numbers are larger than any other id, and at least ten lines follow.

Leading lines of a single number are skipped as a header if each is such a count, within 5 %, and refused otherwise.
"""

from typing import NamedTuple

from assay.dataset.formats import Layout, Suspect

_NEAR = 0.05
_SOME_LINES, _MANY_LINES = 3, 10


class Rest(NamedTuple):
    """The file without its suspected line: lines with an edge, simple edges, nodes, the largest id."""

    lines: int
    edges: int
    nodes: int
    largest: int


def suspicion(layout: Layout, rest: Rest) -> str | None:
    """What is wrong with the file's first lines, as the end of a sentence; None if nothing is.

    The text begins with the line number and ends with the cure.
    """
    for suspect in layout.single:
        if not any(_near(suspect.numbers[0], count) for count in (rest.nodes, *_edge_counts(rest))):
            return (
                f"line {suspect.line}: `{suspect.text}` is one number before the first edge, and is neither the "
                f"number of nodes ({rest.nodes:,}) nor of edges ({rest.edges:,}); {_cure(layout)}."
            )
    suspect_line = layout.suspect
    if suspect_line and rest.lines and _looks_like_counts(suspect_line, rest):
        return (
            f"line {suspect_line.line}: `{suspect_line.text}` may be an edge or a header of node and edge counts "
            f"(the rest has {rest.nodes:,} nodes, {rest.lines:,} edge lines, ids up to {rest.largest:,}); "
            f"{_cure(layout)}."
        )
    return None


def _cure(layout: Layout) -> str:
    count = len(layout.single) or 1
    return f"say `header_lines: {count}` if it is a header, or `format: edges` if every line counts"


def _looks_like_counts(suspect: Suspect, rest: Rest) -> bool:
    first, second = suspect.numbers
    edge_counts = _edge_counts(rest)
    if _near(first, rest.nodes) and any(_near(second, count) for count in edge_counts):
        return True
    beyond = first > rest.largest, second > rest.largest
    exact = first == rest.nodes or second in edge_counts
    return (any(beyond) and exact and rest.lines >= _SOME_LINES) or (all(beyond) and rest.lines >= _MANY_LINES)


def _edge_counts(rest: Rest) -> tuple[int, int, int]:
    return rest.lines, rest.edges, 2 * rest.edges


def _near(number: int, count: int) -> bool:
    return abs(number - count) <= _NEAR * count
