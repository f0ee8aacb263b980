"""Which two columns of a file hold the ends of an edge, and how its lines fall into columns.

A file with two columns leaves no choice, unless a name says that the second is a measure or a label. Among more
columns the ends are told by their names, or because no other column holds whole numbers. Where neither is certain,
such as three columns of whole numbers without names, of which the first may be an index and the last a weight, the
file is refused and the user says which columns they are. So it is where the names are of two kinds of vertices, such as
users and items: both are numbered from 1, and read as one kind they would be merged.
"""

import re
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

from assay.model.base import Frozen
from assay.model.errors import BadInputError

MOST_DIGITS = 19
FIELD_ENDS = re.compile(rb"[ \t,;\r]+")
_SEPARATORS = "\t;|,"  # a comma last: the decimals of some countries have one
_QUOTED = re.compile(rb'"[^"]*"')
_BLANKS, _QUOTES = b" \t\r\n", b"\"'"
_KIND = re.compile(r"\(.*\)|\[.*\]")  # Neo4j's `:START_ID(Person)`

# Names of the two ends without case and punctuation: of Gephi, igraph, NetworkX, Neo4j, OGB, SNAP, Spark and others.
_PAIRS = """
    source target, sourceid targetid, sourcenode targetnode, sourcenodeid targetnodeid, source destination, source dest,
    src dst, src dest, src tgt, srcid dstid, srcid destid, srcnode dstnode, fromid toid, fromnode tonode,
    fromnodeid tonodeid, fromvertex tovertex, u v, startid endid, startnode endnode, startnodeid endnodeid, head tail,
    node1id node2id, subject object, subjectid objectid, userid friendid, user friend, follower followee,
    follower followed, followerid followeeid, citing cited, ego alter, sender receiver, sender recipient, parent child
"""
# These may also be a period or a place in a table.
_DOUBTFUL_PAIRS = "from to, row col, row column"
# The same word with two of these behind it may name the ends, unless there is a third such name.
_NUMBERED = (("1", "2", "3"), ("a", "b", "c"), ("i", "j", "k"), ("from", "to", None))
# Words that with a number behind them name the ends for certain.
_VERTICES = set(re.findall(r"\w+", """
    node nodeid vertex vertexid id user userid person personid protein gene author page actor
"""))  # fmt: skip
# A name with such a word is a measure's or a label's.
_MEASURES = set(re.findall(r"\w+", """
    weight w wt value val data count number num amount quantity price cost score rating rank sign sentiment strength
    similarity correlation distance dist length duration time timestamp ts datetime date day month year hour
    start begin valid since until created updated age size level lat lon lng latitude longitude x y z coord
    coordinate position pos offset version type kind label name title text class category group community cluster
    partition component degree color colour probability prob frequency freq percent min max mean average total sum
    feature attribute attr property param field tag dim
"""))  # fmt: skip
# What a column beside the ends may be, by its whole name: an index or the edge's own number.
_INDICES = set(re.findall(r"\w+", "id key index idx unnamed0 no nr row rowid edge edgeid nodes vertices edges"))
# What vertices of one kind are called in graphs of two.
_THINGS = set(re.findall(r"\w+", """
    user item product movie film book song track artist author paper article document word term customer client shop
    store actor gene disease drug event venue company organisation organization topic recipe ingredient
    student course business team project repository tag group
"""))  # fmt: skip
_ID = re.compile(r"(?:id|ids|key|no|nr)$")


class Line(NamedTuple):
    """A line of a file: its number, from 1, the offset behind it, and its text."""

    number: int
    end: int
    text: bytes


class EdgeColumns(Frozen):
    """How a line falls into columns, and which two of them, from 0, hold the ends of an edge.

    `separator` is the character between two columns; where it is empty, any run of blanks, commas and semicolons is.
    A line has at least `least` columns, and beyond `most` (None: any number) only empty ones. `quoted` says that the
    ends stand in quotes, `others` that there are more columns than the two.
    """

    separator: str = ""
    ends: tuple[int, int] = (0, 1)
    least: int = 2
    most: int | None = 2
    quoted: bool = False
    others: bool = False

    def cells(self, line: bytes) -> list[bytes]:
        """Split a line into columns, without the blanks (and quotes, if the ends have some) around them."""
        around = _BLANKS + _QUOTES if self.quoted else _BLANKS
        return [cell.strip(around) for cell in split(line, self.separator)]

    @property
    def plain(self) -> bool:
        """Whether the first two numbers of each line are the ends."""
        return self.ends == (0, 1) and self.separator != "|" and not self.quoted


ANY = EdgeColumns(most=None, others=True)
"""The ends are the first two columns by the definition of the format."""


def split(line: bytes, separator: str) -> list[bytes]:
    """Split a line into columns; separators inside double quotes don't count. Runs of blanks give no empty columns."""
    if not separator:
        return [field for field in FIELD_ENDS.split(line.strip(_BLANKS)) if field]
    mark = separator.encode()
    return _QUOTED.sub(lambda quoted: quoted[0].replace(mark, b" "), line).split(mark)


def separator_of(lines: Sequence[bytes]) -> str:
    """Return the character that separates the columns in all of these lines; empty if no single character does."""
    for separator in _SEPARATORS:
        rows = [split(line, separator) for line in lines]
        counts = [sum(bool(cell.strip()) for cell in row) for row in rows]
        if all(len(row) > 1 for row in rows) and max(counts, default=0) > 1:
            return separator
    return ""


def is_word(field: bytes) -> bool:
    """Tell whether a cell is no number: a column's name, or a text."""
    text = field.strip(_BLANKS + _QUOTES)
    return bool(text) and not _is_number(text)


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_id(field: bytes) -> bool:
    """Tell whether a cell can be a vertex: a whole number with no more digits than the largest id."""
    return field.isdigit() and len(field) <= MOST_DIGITS


class Table:
    """The first edges of a file as columns, with their names where a line has given some."""

    def __init__(self, path: Path, names: Line | None, lines: Sequence[Line], separator: str) -> None:
        self._path, self._name_line, self._lines = path, names, lines
        self._separator = separator
        self._names = _trimmed(split(names.text.strip(b"\r\n").lstrip(b"#% "), separator)) if names else []
        # NetworkX writes a map behind the ends, in which there may be anything.
        self._maps = any(b"{" in line.text for line in lines)
        raw = [split(line.text.partition(b"{")[0], separator) for line in lines]
        # Where some edges have a map and some haven't, the empty column before it says nothing.
        self._widths = [len(_trimmed(row)) if self._maps else len(row) for row in raw]
        self._longest = max(map(len, raw), default=2)
        self._quoted = any(
            cell.strip(_BLANKS)[:1] in (b'"', b"'") and is_id(_bare(cell)) for row in raw for cell in row
        )
        self._rows = [_trimmed(row) for row in raw]
        self._width = max(len(self._names), *map(len, self._rows), 2)

    def columns(self, columns: Sequence[int | str] | None) -> EdgeColumns:
        """Decide how to read the file; `columns` are the ends as the user names or numbers them, from 1.

        Raises BadInputError, with all columns, if it isn't certain which of them hold the ends.
        """
        ends = self._wanted(columns) if columns else self._named() if self._names else self._unnamed()
        # Between runs of blanks an empty column can't be seen: a line has a value for each name or can't be read.
        all_named = bool(self._names) and not self._separator
        many = not self._names and not self._separator and (columns is not None or self._width > 2)
        return EdgeColumns(
            separator=self._separator, ends=ends, least=self._width if all_named else max(ends) + 1,
            most=None if self._maps or many else max(self._width, self._longest if self._separator else 0),
            quoted=self._quoted, others=self._maps or self._width > 2,
        )  # fmt: skip

    def _wanted(self, columns: Sequence[int | str]) -> tuple[int, int]:
        first, second = (self._position(column) for column in columns)
        if first == second:
            raise self._bad(
                self._name_line or self._lines[0],
                f"has `{columns[0]}` and `{columns[1]}` of `columns` in the same column, number {first + 1}",
                "name or number two different columns",
            )
        return first, second

    def _position(self, column: int | str) -> int:
        """Find the column that the user names or numbers."""
        line = self._name_line or self._lines[0]
        if isinstance(column, int):
            if column > self._width:
                raise self._bad(
                    line, f"has {self._width} columns, and `columns` asks for number {column}", "count again"
                )
            return column - 1
        if not self._names:
            raise self._bad(
                line,
                f"is the first edge, and no line before it names a column `{column}`",
                "give the numbers of the columns, from 1, as `columns: [A, B]`",
            )
        times = [_text(name) for name in self._names].count(column)
        if times != 1:
            occurrences = f"{times} times" if times else "not"
            raise self._bad(
                line,
                f"has the column `{column}` {occurrences} among {self._listed()}",
                "name or number two of these columns",
            )
        return [_text(name) for name in self._names].index(column)

    def _named(self) -> tuple[int, int]:
        assert self._name_line is not None  # noqa: S101 - the names stand there
        keys = [_key(name) for name in self._names]
        if self._width > len(self._names):
            raise self._bad(
                self._name_line,
                f"names {len(self._names)} columns, and an edge below has {self._width}",
                "give every column a name, or say by number, from 1, which two hold the ends of an edge: "
                "`columns: [A, B]`",
            )
        certain, doubtful = _certain_pairs(keys), _doubtful_pairs(self._names)
        pairs = [*certain, *doubtful]
        if len(pairs) > 1:
            pairs = [pair for pair in pairs if all(self._holds_ids(keys.index(end)) for end in pair)]
        if len(pairs) == 1 and all(keys.count(end) == 1 for end in pairs[0]):
            first, second = map(keys.index, pairs[0])
            others = [n for n in range(self._width) if n not in {first, second} and self._may_be_end(n)]
            # A single column behind `from,to` is rather a measure of an unknown name.
            measure = pairs[0] in _pairs(_DOUBTFUL_PAIRS, keys) and len(others) == 1 and others[0] > max(first, second)
            if pairs[0] in certain or not others or measure:
                return first, second
        if two_kinds := _two_kinds(self._names):
            raise self._bad(
                self._name_line,
                f"names two kinds of vertices, `{two_kinds[0]}` and `{two_kinds[1]}`, which are numbered apart",
                "the jobs take graphs of one kind; if these are of one kind, say so by the numbers of their columns, "
                "from 1: `columns: [A, B]`",
            )
        used = [column for column, name in enumerate(self._names) if name or self._values(column)]
        if len(used) == 2 and keys[used[0]] not in {"", "unnamed0"}:
            letters = all(len(keys[column]) == 1 for column in used)  # such as `v,w`: here `w` is no weight
            measures = [_is_measure(self._names[column]) for column in used]  # both: `source_name,target_name`
            if letters or (keys[used[1]] and (measures[0] or not measures[1])):
                return used[0], used[1]
        raise self._bad(
            self._name_line,
            f"names the columns {self._listed()}, and it isn't certain which two hold the ends of an edge",
            "say which, by name or by number from 1, with `columns: [A, B]`",
        )

    def _unnamed(self) -> tuple[int, int]:
        used = [column for column in range(self._width) if self._values(column)]
        if len(used) <= 2:
            return (used[0], used[1]) if len(used) == 2 else (0, 1)
        first, *others = self._widths
        if len(set(others)) == 1 and first > others[0]:
            raise self._bad(
                self._lines[0],
                f"has {first} columns, and the following lines have {others[0]}",
                "say `header_lines: 1` if it is a header, or which columns hold the ends if it is an edge, such as "
                "`columns: [1, 2]`",
            )
        ids = [column for column in used if self._holds_ids(column)]
        values = [int(value) for value in self._values(0)] if 0 in ids else []
        counts_up = len(values) > 1 and all(after == before + 1 for before, after in pairwise(values))
        if ids == [0, 1] and not counts_up:
            return 0, 1
        index = ", of which the first counts up as an index does" if counts_up else ""
        widest = next(line for line, row in zip(self._lines, self._rows, strict=True) if len(row) == self._width)
        neighbours = "; if each line is a vertex with its neighbours, write one edge into each line"
        raise self._bad(
            widest,
            f"has {self._width} columns{index}, and it isn't certain which two hold the ends of an edge",
            "say which, by number from 1, with `columns: [A, B]`, or name the columns in a line before the first edge"
            + neighbours * (len(ids) == len(used)),
        )

    def _values(self, column: int) -> list[bytes]:
        return [row[column] for row in self._rows if column < len(row) and row[column]]

    def _holds_ids(self, column: int) -> bool:
        values = self._values(column)
        return bool(values) and all(map(is_id, values))

    def _may_be_end(self, column: int) -> bool:
        name = self._names[column]
        return self._holds_ids(column) and _key(name) not in {"", *_INDICES} and not _is_measure(name)

    def _listed(self) -> str:
        shown = [f"`{_text(name)[:30]}`" if name else "without a name" for name in self._names[:20]]
        more = ", ..." if len(self._names) > len(shown) else ""
        return ", ".join(f"{number} {name}" for number, name in enumerate(shown, 1)) + more

    def _bad(self, line: Line, mistake: str, cure: str) -> BadInputError:
        return BadInputError(f"{self._path}, line {line.number}: `{shorten(line.text)}` {mistake}; {cure}.")


def shorten(text: bytes) -> str:
    """Shorten a line for messages: printable, at most 60 characters."""
    shown = _text(text.strip())
    return shown if len(shown) <= 60 else shown[:57] + "..."


def names_ends(line: bytes, edge: bytes, separator: str) -> bool:
    """Tell whether a line, perhaps a comment, names each column of an edge, with well-known names of its ends."""
    names = split(line.strip(b"\r\n").lstrip(b"#% "), separator)
    keys = [_key(name) for name in names]
    pairs = _certain_pairs(keys) or _pairs(_DOUBTFUL_PAIRS, keys)
    return len(names) == len(split(edge, separator)) and bool(pairs or _two_kinds(names))


def _pairs(listed: str, keys: Sequence[str]) -> list[tuple[str, str]]:
    pairs = [(first, second) for first, second in map(str.split, listed.split(","))]
    return [pair for pair in pairs if set(pair) <= set(keys)]


def _certain_pairs(keys: Sequence[str]) -> list[tuple[str, str]]:
    """Find the pairs of names that can only be the ends'."""
    return _pairs(_PAIRS, keys) + [pair for stem, pair in _numbered_pairs(keys) if stem in _VERTICES]


def _doubtful_pairs(names: Sequence[bytes]) -> list[tuple[str, str]]:
    """Find the pairs of names that are the ends' if no other column may hold an end."""
    keys = [_key(name) for name in names]
    measures = {key for key, name in zip(keys, names, strict=True) if _is_measure(name)}
    numbered = [
        pair
        for stem, pair in _numbered_pairs(keys)
        if stem not in _VERTICES | _MEASURES and not measures.intersection(pair)
    ]
    return _pairs(_DOUBTFUL_PAIRS, keys) + numbered


def _numbered_pairs(keys: Sequence[str]) -> list[tuple[str, tuple[str, str]]]:
    """Find names that differ in a number, a letter or a direction behind the same stem; with that stem."""
    return [
        (stem, (stem + first + behind, stem + second + behind))
        for first, second, third in _NUMBERED
        for behind in ("", "id")
        for stem in sorted({key.removesuffix(first + behind) for key in keys if key.endswith(first + behind)})
        if stem + second + behind in keys and (third is None or stem + third + behind not in keys)
        # `from,to` stands among the pairs, and bare numbers count the columns of a data frame without names.
        if stem or first in {"a", "i"}
    ]


def _two_kinds(names: Sequence[bytes]) -> tuple[str, str] | None:
    """Return two names of unlike kinds of vertices, as `user_id` and `item_id` are. `userA` and `user2` are of one."""
    kinds: dict[str, str] = {}
    for name in names:
        stem = _ID.sub("", _key(name)).removesuffix("s")
        thing = next((thing for thing in (stem, re.sub(r"(\d+|[a-z])$", "", stem)) if thing in _THINGS), None)
        if thing:
            kinds.setdefault(thing, _text(name))
    return next(iter(combinations(kinds.values(), 2)), None)


def _is_measure(name: bytes) -> bool:
    """Tell whether a word of the name, perhaps plural, names a measure or label: `combined score`, `validFrom`."""
    text = _KIND.sub("", _text(_bare(name)))
    parts = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", text)} | {_key(name)}
    return any(word in _MEASURES or word.removesuffix("s") in _MEASURES for word in parts)


def _trimmed(cells: Sequence[bytes]) -> list[bytes]:
    """Strip the cells, and drop the empty cells at the end."""
    bare = [_bare(cell) for cell in cells]
    while bare and not bare[-1]:
        bare.pop()
    return bare


def _bare(cell: bytes) -> bytes:
    return cell.strip(_BLANKS + _QUOTES)


def _text(text: bytes) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text.decode("utf-8", "replace"))


def _key(name: bytes) -> str:
    return re.sub(r"[\W_]", "", _KIND.sub("", _text(_bare(name)))).lower()
