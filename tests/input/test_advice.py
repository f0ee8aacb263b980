"""Who follows the advice of a refusal gets the graph that the file holds, and no other."""

from collections.abc import Callable
from typing import Any

import pytest

from assay.model.errors import BadInputError
from assay.model.progress import Silent
from tests.input.conftest import Opener

Change = Callable[[str], str]
MATRIX = "%%MatrixMarket matrix coordinate pattern symmetric\n"
PATH = "".join(f"{number} {number + 1}\n" for number in range(1, 12))
NAMED = "source,target,label\n" + "".join(f"{number},{number + 1},a\n" for number in range(1, 1101))
# Content, the advice, what who follows it changes in the file or says of it, and the nodes and edges that there are.
FOLLOWED: list[tuple[str, str, Change | dict[str, Any], tuple[int, int]]] = [
    # A first line that may be a header.
    ("900 11\n" + PATH, "say `header_lines: 1` if it is a header", {"header_lines": 1}, (12, 11)),
    ("900 11\n" + PATH, "`format: edges` if every line counts", {"format": "edges"}, (13, 12)),
    ("77\n" + PATH, "say `header_lines: 1` if it is a header", {"header_lines": 1}, (12, 11)),
    ("77\n" + PATH, "`format: edges` if every line counts", {"format": "edges"}, (13, 11)),
    ("9,9,u,graph\n" + PATH.replace(" ", ","), "say `header_lines: 1` if it is a header", {"header_lines": 1}, (12, 11)),
    ("1,9,u,graph\n" + PATH.replace(" ", ","), "`columns: [1, 2]` if it is an edge", {"columns": [1, 2]}, (12, 12)),
    ("0,1\n5,6\n6,7\n5,7\n", "say `header_lines: 1` if it is a header", {"header_lines": 1}, (3, 3)),
    ("0,1\n5,6\n6,7\n5,7\n", "`format: edges` if every line counts", {"format": "edges"}, (5, 4)),
    ("a,b\nc,d\n1,2\n2,3\n", "say `header_lines: N` if it belongs to the header", {"header_lines": 2}, (3, 2)),
    ("1 2 3\n4 5\n5 6\n", "say `header_lines: 1` if it is a header", {"header_lines": 1}, (3, 2)),
    ("1 2 3\n4 5\n5 6\n", "such as `columns: [1, 2]`", {"columns": [1, 2]}, (5, 3)),
    # Columns.
    ("0,10,20\n1,10,30\n2,20,30\n", "by number from 1, with `columns: [A, B]`", {"columns": [2, 3]}, (3, 3)),
    (
        "0,10,20\n1,10,30\n2,20,30\n", "or name the columns in a line before the first edge",
        lambda text: ",source,target\n" + text, (3, 3),
    ),
    ("one,two,three\n7,8,9\n7,9,9\n8,9,9\n", "by name or by number from 1, with `columns: [A, B]`", {"columns": ["one", "two"]}, (3, 3)),
    ("a,b\n7,8,9\n7,9,9\n", "which two hold the ends of an edge: `columns: [A, B]`", {"columns": [1, 2]}, (3, 2)),
    ("a,b\n7,8,9\n7,9,9\n", "give every column a name", lambda text: text.replace("a,b", "source,target,w"), (3, 2)),
    # Lines.
    ("1 2\n2 3\n4\n", "say `format: edges` if a line with one number is a vertex", {"format": "edges"}, (4, 2)),
    ("1-2\n2-3\n", "separate the two ends by blanks", lambda text: text.replace("-", " "), (3, 2)),
    ("1 2\nfoo bar\n2 3\n", "or begin a comment with #", lambda text: text.replace("foo", "# foo"), (3, 2)),
    ("1 2\n2.5 3\n", "number the vertices from 0", lambda text: text.replace("2.5", "2"), (3, 2)),
    ("1 2\n2 9223372036854775808\n", "renumber the vertices", lambda text: text.replace("9223372036854775808", "3"), (3, 2)),
    ("1 2\r\n2\r3\r\n", "give every line its own end", lambda text: text.replace("2\r3", "2 3"), (3, 2)),
    ("1,2\n2,\n2,3\n", "or remove the line", lambda text: text.replace("2,\n", ""), (3, 2)),
    (
        NAMED + "1101,1102,b,c\n", "put texts with a separator into double quotes",
        lambda text: text.replace("b,c", '"b,c"'), (1102, 1101),
    ),
    (
        'source,target,label\n1,2,a\n2,3,"b\nc,d,e"\n', "remove line ends and single quotes from texts",
        lambda text: text.replace("b\nc", "b c"), (3, 2),
    ),
    # Declared formats.
    (f"{MATRIX}3 3 2\n1 2\n2 3\n", "leave out `columns`", {}, (3, 2)),
    (f"{MATRIX}3 3 2\n1 2\n2 3\n", "leave out `header_lines`", {}, (3, 2)),
    ("1 2\n2 3\n", "leave `format` out", {}, (3, 2)),
    (
        "%%MatrixMarket matrix array real general\n3 3 2\n1 2\n2 3\n", "begins with `%%MatrixMarket matrix coordinate",
        lambda text: MATRIX + text.partition("\n")[2], (3, 2),
    ),
]  # fmt: skip
SAID_FIRST: dict[str, dict[str, Any]] = {
    "leave out `columns`": {"columns": [1, 2]},
    "leave out `header_lines`": {"header_lines": 1},
    "leave `format` out": {"format": "konect"},
}
"""What was said of the file at first, where the advice is to say less."""


@pytest.mark.parametrize(
    ("content", "advice", "change", "counts"),
    FOLLOWED,
    ids=[f"{number} {case[1]}" for number, case in enumerate(FOLLOWED)],
)
def test_who_follows_an_advice_gets_the_graph(
    opener: Opener, content: str, advice: str, change: Change | dict[str, Any], counts: tuple[int, int]
) -> None:
    with pytest.raises(BadInputError) as refused:
        opener(content, **SAID_FIRST.get(advice, {})).file(Silent())
    assert advice in str(refused.value)
    options = change if isinstance(change, dict) else {}
    facts = opener(content if isinstance(change, dict) else change(content), **options).facts()
    assert (facts.nodes, facts.edges) == counts
