"""A small graph in a file as people write them, and its counts by brute force."""

import re
from itertools import combinations
from typing import NamedTuple

# Comments of two kinds, blank lines, tabs, spaces and commas, LF and CR LF, both directions, repetitions, self loops
# (9 has nothing else), an id beyond 32 bits, no end of the last line. Each vertex is next to its component's smallest.
TEXT = (
    b"# Who knows whom\r\n"
    b"# FromNodeId\tToNodeId\n"
    b"1\t2\n"
    b"2\t1\r\n"
    b"1,3\n"
    b"1\t4\r\n"
    b"5\t1\n"
    b"1 10\n"
    b"11, 1\r\n"
    b"2\t3\n"
    b"3,2\n"
    b"3\t4\r\n"
    b"4  5\n"
    b"10\t2\n"
    b"2\t10\n"
    b"11\t10\r\n"
    b"3\t3\n"
    b"\n"
    b"% another kind of comment\n"
    b"9\t9\r\n"
    b"100\t101\n"
    b"5000000000,100\n"
    b"101,5000000000\r\n"
    b"101\t100\n"
    b"\r\n"
    b"1\t2\n"
    b"2\t3\r\n"
    b"10,11\n"
    b"41\t40\n"
    b"40 41"
)


class Counts(NamedTuple):
    """What is known of a graph; `wedges` are the pairs of larger neighbours, which triangle counting lists."""

    vertices: int
    lone: int
    edges: int
    loops: int
    wedges: int
    triangles: int
    components: int


def counted(text: bytes) -> Counts:
    """Count a graph's text the slow way."""
    pairs = [_pair(line) for line in text.splitlines() if line.strip() and not line.startswith((b"#", b"%"))]
    vertices = sorted({vertex for pair in pairs for vertex in pair})
    edges = {pair for pair in pairs if pair[0] != pair[1]}
    label = {vertex: vertex for vertex in vertices}
    for _ in vertices:
        for u, v in edges:
            label[u] = label[v] = min(label[u], label[v])
    larger = [sum(u == vertex for u, _ in edges) for vertex in vertices]
    return Counts(
        vertices=len(vertices),
        lone=sum(not any(vertex in edge for edge in edges) for vertex in vertices),
        edges=len(edges),
        loops=sum(u == v for u, v in pairs),
        wedges=sum(degree * (degree - 1) // 2 for degree in larger),
        triangles=sum({(a, b), (a, c), (b, c)} <= edges for a, b, c in combinations(vertices, 3)),
        components=len(set(label.values())),
    )


def _pair(line: bytes) -> tuple[int, int]:
    u, v = (int(number) for number in re.findall(rb"\d+", line))
    return min(u, v), max(u, v)
