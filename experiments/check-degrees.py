"""Whether a degree distribution is that of a graph: `python3 check-degrees.py GRAPH OUTPUT`.

GRAPH has lines `u<TAB>v`, each edge once, and `u` alone for a vertex without an edge; OUTPUT's files have lines
`degree<TAB>vertices`. Exit code 0 if they agree.
"""

import sys
from collections import Counter
from pathlib import Path

graph, output = map(Path, sys.argv[1:])
degrees: Counter[str] = Counter()
for line in graph.read_text().splitlines():
    ends = line.split()
    degrees.update(ends if len(ends) == 2 else {ends[0]: 0})
expected = Counter(degrees.values())
found = [
    tuple(map(int, line.split())) for file in sorted(output.glob("part-*")) for line in file.read_text().splitlines()
]
sys.stdout.write(f"{len(found)} lines found, {len(expected)} degrees expected\n")
# Lists: a line that is there twice is wrong too.
sys.exit(sorted(found) != sorted(expected.items()))
