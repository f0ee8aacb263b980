"""How a graph file is written: its compression, and its form by its first lines.

The forms differ in what stands before the first edge and in which further columns an edge may have:

- `snap`: `#` comments. `konect`: first line `% sym unweighted`, then perhaps weight and time columns.
- `csv`: commas, semicolons or bars, perhaps a line of column names.
- `matrix-market`: a `%%MatrixMarket matrix coordinate` banner, comments, a size line, perhaps values.
- `edges`: nothing but edges and lone vertices; every line that isn't a comment counts.

Which columns hold the ends of an edge is the business of `columns`.

Other forms of graphs are refused by their names: read as edges they would be other graphs (`_refuse_other_forms`).

What could be an edge or a header is never guessed from one line: such lines are `suspects`, and `suspicion` judges
them when the whole file has been counted.

Some published edge lists begin with a line such as `265214 364481`, the number of nodes and of edges. It parses as an
edge, and counted as one it adds two vertices and an edge that don't exist. A line is refused rather than guessed:

- both numbers are within 5 % of the counts of nodes and of edges (or lines, or edges in both directions);
- or one is exactly such a count and one is larger than any other id, and at least three lines follow;
- or both numbers are larger than any other id, and at least ten lines follow;
- or they are equal, a third number follows, and that is the count of lines: the size line of a matrix;
- or a CSV file begins with `0,1`, which may number its columns, neither is met again, and at least three lines follow.

Leading lines of a single number are skipped as a header if each is such a count, within 5 %, and refused otherwise.
Likewise a first line of two numbers and a word, such as `3,3,u,graph`, if at least three lines follow.
"""

import bz2
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, cast

from assay.host.files import refuse_irregular, why
from assay.input.columns import ANY, EdgeColumns, Line, Table, is_id, is_word, names_ends, separator_of, shorten, split
from assay.input.files import stream_of
from assay.model.base import Frozen
from assay.model.dataset import DatasetSpec
from assay.model.errors import BadInputError
from assay.model.store import COMPRESSED_SUFFIXES

Compression = Literal["none", "gzip", "bzip2"]

_SUFFIX: dict[Compression, str] = {"none": "", "gzip": ".gz", "bzip2": ".bz2"}
_PIECE_BYTES = 1 << 18
_REFUSED = {
    b"\xfd7zXZ": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x03\x04": "zip",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf": "7z",
}


def compression_of(path: Path) -> Compression:
    """Detect the compression by magic bytes (RFC 1952 for gzip, `BZh` for bzip2). Raises BadInputError."""
    refuse_irregular(path)
    try:
        with path.open("rb") as stream:
            magic = stream.read(6)
    except OSError as error:
        raise BadInputError(f"{path}: can't be read ({why(error)}); name another file.") from error
    for signature, name in _REFUSED.items():
        if magic.startswith(signature):
            raise BadInputError(f"{path}: is compressed with {name}; unpack it, or compress it with gzip or bzip2.")
    if magic.startswith(b"\x1f\x8b"):
        return "gzip"
    return "bzip2" if magic.startswith(b"BZh") else "none"


@contextmanager
def uncompressed(path: Path) -> Iterator[BinaryIO]:
    """Open the uncompressed bytes of a file. Raises BadInputError, also while they are read and turn out broken."""
    compression = compression_of(path)
    try:
        with _open(path, compression) as stream:
            yield stream
    except (EOFError, OSError, ValueError, zlib.error) as error:
        if compression == "none" or isinstance(error, BadInputError):
            raise
        raise BadInputError(
            f"{path}: the {compression} data are broken or cut off ({error}); fetch it again."
        ) from error


def _open(path: Path, compression: Compression) -> BinaryIO:
    if compression == "gzip":
        return cast("BinaryIO", gzip.open(path, "rb"))
    return cast("BinaryIO", stream_of(_bzip2_pieces(path))) if compression == "bzip2" else path.open("rb")


def _bzip2_pieces(path: Path) -> Iterator[bytes]:
    """Decompress one or several bzip2 streams; bytes behind them are refused, which bz2 would ignore.

    Raises EOFError where a stream is cut off, OSError for what is no bzip2.
    """
    with path.open("rb") as file:
        stream, pending = bz2.BZ2Decompressor(), b""
        while True:
            if stream.eof:
                pending = stream.unused_data or file.read(_PIECE_BYTES)
                if not pending:
                    return
                stream = bz2.BZ2Decompressor()
            elif stream.needs_input:
                pending = file.read(_PIECE_BYTES)
                if not pending:
                    raise EOFError("they end within a stream")
            yield stream.decompress(pending, _PIECE_BYTES)
            pending = b""


def store_name(path: Path, compression: Compression) -> str:
    """Return the file's name in a store, by which Hadoop's codec factory sees its true compression.

    Source: `org.apache.hadoop.io.compress.CompressionCodecFactory`, which goes by the suffix alone.
    """
    suffix = _SUFFIX[compression]
    if suffix:
        return path.name if path.name.endswith(suffix) else path.name + suffix
    return path.name + ".txt" if path.name.endswith(COMPRESSED_SUFFIXES) else path.name


COMMENT = "#%"
_HEAD_BYTES = 1 << 18
_MARK = b"\xef\xbb\xbf"  # a byte order mark, which some programs put before UTF-8 text
_KONECT = re.compile(rb"%\s*(sym|asym|bip)\b")
_MOST_LINES = 1000
_BANNER = re.compile(rb"%%?MatrixMarket\s+matrix\s+coordinate\s+(\w+)\s+([\w-]+)\s*$", re.IGNORECASE)
# Large Graph Layout: the edges of a vertex stand below its name. Lines of numbers alone may be lists of neighbours.
_LGL = re.compile(rb"\s*#\s*\d+\s*$")
_NUMBERS_ALONE = re.compile(rb"\s*\d+(?:(?:\s*[,;:|]\s*|\s+)\d+)*[\s:]*$")
_OTHER_FORMS = {
    b"*": "a file of Pajek", b"{": "JSON", b"[": "JSON", b"<": "XML", b"graph [": "GML", b"AdjacencyGraph": "Ligra's",
}  # fmt: skip
_ONE_EDGE = "write one edge `u v` into each line"
_MANY_NEIGHBOURS = 3

FormatName = Literal["snap", "konect", "csv", "matrix-market", "edges"]


class Suspect(Frozen):
    """A line before or at the first edge that may be a header: its number in the file, text and numbers.

    Those at the ends of an edge come first, then the line's others.
    """

    line: int
    text: str
    numbers: tuple[int, ...]


class FileLayout(Frozen):
    """How to read a file: what to skip, and what a line may hold.

    `skip_bytes` counts uncompressed bytes from the file's start and covers `skip_lines` lines. `single` are leading
    lines of one number, or of two and a word, that are skipped as a header (to be confirmed by the counts), `suspect`
    is the first edge when it could be a header. `columns` says where the ends of an edge are, `lone_lines` that a line
    of one number is a vertex without an edge. `promised` is the number of edge lines that the file's own header
    announces, `size` the largest id that it allows, from 1 on.
    """

    form: FormatName
    compression: Compression
    name: str
    skip_bytes: int = 0
    skip_lines: int = 0
    columns: EdgeColumns = EdgeColumns()
    lone_lines: bool = False
    single: tuple[Suspect, ...] = ()
    suspect: Suspect | None = None
    promised: int | None = None
    size: int | None = None

    def without_header(self) -> "FileLayout":
        """Return the layout of what `reading.write_lines` makes of the file."""
        return self.model_copy(update={"skip_bytes": 0, "skip_lines": 0, "compression": "none"})

    def normalise_options(self) -> tuple[str, ...]:
        """Return the options that make the `normalise` job read the file in the same way."""
        skip = ("--skip-bytes", str(self.skip_bytes)) if self.skip_lines else ()  # Hadoop skips a byte order mark
        extra = ("--extra-columns", "allow") if self.columns.others else ()
        lone = ("--lone-vertices", "allow") if self.lone_lines else ()
        return (*skip, "--comment", COMMENT, *extra, *lone)


def recognise(path: Path, spec: DatasetSpec) -> FileLayout:
    """Detect the layout of a file by the format and header lines that `spec` names, else by its first lines.

    Raises BadInputError for a file that is empty, isn't text, or contradicts the named format.
    """
    with uncompressed(path) as stream:
        head = stream.read(_HEAD_BYTES)
    if not head.strip():
        raise BadInputError(f"{path}: is empty; name another file.")
    if head[257:262] == b"ustar":
        raise BadInputError(
            f"{path}: is a tar archive; unpack it and name the edge file (KONECT's begins with `out.`)."
        )
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInputError(f"{path}: is text in UTF-16; save it in UTF-8.")
    if b"\0" in head:
        raise BadInputError(f"{path}: isn't a text file; name a file of edges, one `u v` per line.")
    return _Recogniser(path, head, spec).layout()


class _Recogniser:
    """The first lines of one file, and the decision about them."""

    def __init__(self, path: Path, head: bytes, spec: DatasetSpec) -> None:
        self._path = path
        self._spec = spec
        lines = list(_lines(head))
        self._first = lines[0]
        self._comments = [line for line in lines if line.text.lstrip()[:1] in (b"#", b"%")]
        self._data = [line for line in lines if split(line.text, "") and line not in self._comments]
        compression = compression_of(path)
        self._layout = FileLayout(
            form=self._form(),
            compression=compression,
            name=store_name(path, compression),
            skip_bytes=len(_MARK) if head.startswith(_MARK) else 0,
            lone_lines=spec.format == "edges" and spec.columns is None,
        )

    def layout(self) -> FileLayout:
        if self._layout.form in {"matrix-market", "konect"}:
            if self._spec.columns is not None:
                raise BadInputError(
                    f"{self._path}: is a {self._layout.form} file, whose first two columns are the ends of an edge by "
                    "definition; leave out `columns`."
                )
            return self._matrix_market() if self._layout.form == "matrix-market" else self._konect()
        if self._spec.header_lines is not None:
            return self._declared(self._spec.header_lines)
        if self._spec.format == "auto" and self._spec.columns is None:
            self._refuse_other_forms()
        return self._with_columns(self._layout, None) if self._spec.format == "edges" else self._detected()

    def _form(self) -> FormatName:
        if self._spec.format != "auto":
            return self._spec.format
        text = self._first.text
        if text.lower().startswith((b"%%matrixmarket", b"%matrixmarket")):
            return "matrix-market"
        if _KONECT.match(text):
            return "konect"
        if any(mark in line.text for line in self._data[:2] for mark in (b",", b";", b"|")):
            return "csv"
        return "snap" if text.startswith(b"#") else "edges"

    def _skipping(self, line: Line, **more: object) -> FileLayout:
        return self._layout.model_copy(update={"skip_bytes": line.end, "skip_lines": line.number, **more})

    def _matrix_market(self) -> FileLayout:
        banner = _BANNER.match(self._first.text.rstrip())
        if not banner:
            raise self._bad(
                self._first,
                "isn't the banner of a coordinate matrix",
                "a graph begins with `%%MatrixMarket matrix coordinate pattern symmetric`",
            )
        size = self._data[0] if self._data else self._first
        numbers = _numbers(split(size.text, ""))
        if len(numbers) != 3:
            raise self._bad(size, "isn't the size line `rows columns entries`", "fetch the file again")
        if numbers[0] != numbers[1]:
            raise self._bad(
                size,
                "has more rows than columns, or fewer",
                "such a matrix has two kinds of vertices and isn't a graph that the jobs can use",
            )
        if self._spec.header_lines is not None:
            raise BadInputError(
                f"{self._path}: is a Matrix Market file, which says itself where its edges begin; leave out "
                "`header_lines`."
            )
        return self._skipping(size, columns=ANY, promised=numbers[2], size=numbers[0])

    def _konect(self) -> FileLayout:
        kind = _KONECT.match(self._first.text)
        if not kind:
            raise self._bad(self._first, "isn't KONECT's first line `% sym unweighted`", "leave `format` out")
        if kind.group(1) == b"bip":
            raise self._bad(self._first, "says that there are two kinds of vertices", "use a graph of one kind")
        skipped = self._headers(self._spec.header_lines or 0)
        layout = self._skipping(skipped[-1]) if skipped else self._layout
        return layout.model_copy(update={"columns": ANY})

    def _refuse_other_forms(self) -> None:
        """Raises BadInputError for forms in which a line is no edge, or not the whole of one."""
        single = [line for line in self._data if len(split(line.text, "")) == 1]
        # One such comment above edges may be a count of vertices.
        names = len(self._comments) > 1 or len(single) == len(self._data)
        if names and all(_LGL.match(line.text) for line in [self._first, *self._comments]):
            what = "begins the edges of a vertex, in the form of LGL (Large Graph Layout)"
            raise self._bad(self._first, what, f"{_ONE_EDGE}, or say `format: snap` if it is a comment")
        for line in self._data[:1]:
            for begin, form in _OTHER_FORMS.items():
                if line.text.lstrip().startswith(begin):
                    raise self._bad(
                        line, f"is the beginning of {form}", f"{_ONE_EDGE}, of a file without anything else"
                    )
        if self._data and _lists_neighbours([line.text for line in self._data[:_MOST_LINES]]):
            longest = max(self._data[:_MOST_LINES], key=lambda line: len(line.text.split()))
            raise self._bad(longest, "seems to be a list of neighbours", _ONE_EDGE)

    def _headers(self, count: int) -> list[Line]:
        if count > len(self._data):
            raise BadInputError(f"{self._path}: `header_lines: {count}`, but it begins with {len(self._data)} lines.")
        return self._data[:count]

    def _declared(self, count: int) -> FileLayout:
        header = self._headers(count)
        if not header:
            return self._with_columns(self._layout, None)
        fields = self._fields(header[-1])
        following = self._fields(self._data[count]) if count < len(self._data) else []
        # A line of counts, such as `3,3,u`, before edges of two columns names none.
        is_text_header = any(map(is_word, fields)) and (len(fields) == len(following) or not any(map(is_id, fields)))
        names = is_text_header or _numbers_columns(fields, following)
        return self._with_columns(self._skipping(header[-1]), header[-1] if names else None)

    def _detected(self) -> FileLayout:
        if not self._data:
            raise BadInputError(f"{self._path}: its first {_HEAD_BYTES} bytes hold comments only, and no edge.")
        if self._begins_with_words():
            return self._declared(1)
        single = list(takewhile(_is_single, self._data)) or self._counts_and_words()
        if single:
            suspects = tuple(_suspect(line, self._fields(line)) for line in single)
            return self._with_columns(self._skipping(single[-1], single=suspects), None)
        layout = self._with_columns(self._layout, None)
        cells = layout.columns.cells(self._data[0].text)
        usable = len(cells) > max(layout.columns.ends) and all(is_id(cells[end]) for end in layout.columns.ends)
        if not usable:
            return layout
        others = [cell for index, cell in enumerate(cells) if index not in layout.columns.ends]
        ends = [cells[end] for end in layout.columns.ends]
        return layout.model_copy(update={"suspect": _suspect(self._data[0], [*ends, *others])})

    def _with_columns(self, layout: FileLayout, names: Line | None) -> FileLayout:
        """Return the layout of a file whose header is skipped; `names` is the header's line that names the columns."""
        lines = [line for line in self._data if line.end > layout.skip_bytes][:_MOST_LINES]
        separator = separator_of([line.text.partition(b"{")[0] for line in [*([names] if names else []), *lines]])
        if names is None:
            before = [line for line in self._comments if lines and line.number == lines[0].number - 1]
            names = next((line for line in before if names_ends(line.text, lines[0].text, separator)), None)
        return layout.model_copy(
            update={"columns": Table(self._path, names, lines, separator).columns(self._spec.columns)}
        )

    def _begins_with_words(self) -> bool:
        """Tell whether the first line is a header: it has a word where the next line has none.

        A line with an id is an edge, or nearly so, unless the names of the ends stand in it too, as in
        `source,target,2019`, or it begins with a word and has other columns, as in `Nodes: 3 Edges: 2`.
        """
        line, *others = self._data[:2]
        first, following = self._fields(line), self._fields(others[0]) if others else []
        if _numbers_columns(first, following):
            return True
        separator = separator_of([data.text for data in self._data[:2]])
        if any(map(is_id, first)) and not (
            (len(first) != len(following) and first[0][:1].isalpha())
            or (others and names_ends(line.text, others[0].text, separator))
        ):
            return False
        below = [*following, *([b""] * len(first))]
        return any(is_word(field) and not is_word(value) for field, value in zip(first, below, strict=False))

    def _counts_and_words(self) -> list[Line]:
        """Return the first line if it is two numbers and a word, such as `3,3,u,graph`, and the next is two numbers."""
        if len(self._data) < 2 or self._spec.columns is not None:
            return []
        first, following = (self._fields(line) for line in self._data[:2])
        is_header = len(first) > 2 and is_word(first[2]) and first[2][:1] not in (b"{", b"#")
        counts = is_header and len(following) == 2 and all(map(is_id, [*first[:2], *following]))
        return self._data[:1] if counts else []

    def _fields(self, line: Line) -> list[bytes]:
        """Split one of the first two lines into columns without quotes."""
        separator = separator_of([line.text for line in self._data[:2]])
        return EdgeColumns(separator=separator, quoted=True).cells(line.text)

    def _bad(self, line: Line, mistake: str, cure: str) -> BadInputError:
        return BadInputError(f"{self._path}, line {line.number}: `{shorten(line.text)}` {mistake}; {cure}.")


def _lines(head: bytes) -> Iterator[Line]:
    """List the whole lines of the file's head with their numbers (from 1) and the offset behind each."""
    start, number = len(_MARK) if head.startswith(_MARK) else 0, 0
    while start < len(head):
        end = head.find(b"\n", start) + 1
        if end == 0:
            if len(head) == _HEAD_BYTES and number:
                return
            end = len(head)
        number += 1
        yield Line(number, end, head[start:end])
        start = end


def _lists_neighbours(lines: Sequence[bytes]) -> bool:
    """Tell whether each line has a vertex's neighbours, behind the vertex itself or alone (METIS).

    Either lines of numbers alone are of unlike length, some longer than an edge with a weight; or each begins with
    another vertex, and whom it lists lists it too.
    """
    if not all(map(_NUMBERS_ALONE.match, lines)):
        return False
    rows = [re.findall(rb"\d+", line) for line in lines]
    lengths = {len(row) for row in rows}
    if len(lengths) > 1 and max(lengths) > _MANY_NEIGHBOURS:
        return True
    neighbours = {row[0]: set(row[1:]) for row in rows if row}
    mutual = [row[0] in neighbours[other] for row in rows for other in row[1:] if other in neighbours]
    return max(lengths) == _MANY_NEIGHBOURS and len(neighbours) == len(rows) and bool(mutual) and all(mutual)


def _numbers_columns(first: list[bytes], following: list[bytes]) -> bool:
    """Tell whether a line counts columns from 0 behind an empty name for the index: a data frame without names."""
    return any(following[:1]) and first == [b"", *(b"%d" % column for column in range(len(first) - 1))]


def _numbers(fields: list[bytes]) -> tuple[int, ...]:
    """Return the fields that are ids or counts: they have no more digits than the largest id."""
    return tuple(int(field) for field in fields if is_id(field))


def _is_single(line: Line) -> bool:
    fields = split(line.text, "")
    return len(fields) == 1 and is_id(fields[0])


def _suspect(line: Line, cells: list[bytes]) -> Suspect:
    return Suspect(line=line.number, text=shorten(line.text), numbers=_numbers(cells))


_NEAR = 0.05
_SOME_LINES, _MANY_LINES = 3, 10


class Rest(NamedTuple):
    """The file without its suspected line: lines with an edge, simple edges, nodes, the largest id.

    `unmet` of that line's two ends are in no other line.
    """

    lines: int
    edges: int
    nodes: int
    largest: int
    unmet: int = 0


def suspicion(layout: FileLayout, rest: Rest) -> str | None:
    """Say what is wrong with the file's first lines, as the end of a sentence; None if nothing is.

    The text begins with the line number and ends with the cure.
    """
    for suspect in layout.single:
        if len(suspect.numbers) > 1:
            if not (rest.lines >= _SOME_LINES and _are_counts(suspect, rest)):
                return (
                    f"line {suspect.line}: `{suspect.text}` may be an edge, and isn't the number of nodes "
                    f"({rest.nodes:,}) and of edges ({rest.edges:,}) that follow; say `header_lines: 1` if it is a "
                    "header, or `columns: [1, 2]` if it is an edge."
                )
        elif not any(_near(suspect.numbers[0], count) for count in (rest.nodes, *_edge_counts(rest))):
            return (
                f"line {suspect.line}: `{suspect.text}` is one number before the first edge, and is neither the "
                f"number of nodes ({rest.nodes:,}) nor of edges ({rest.edges:,}); {_cure(layout)}."
            )
    suspect_line = layout.suspect
    if suspect_line is None or not rest.lines:
        return None
    numbers_columns = layout.form == "csv" and suspect_line.numbers == (0, 1) and rest.unmet == 2
    if numbers_columns and rest.lines >= _SOME_LINES:
        return (
            f"line {suspect_line.line}: `{suspect_line.text}` may be an edge or numbers of the columns (no other line "
            f"has a vertex 0 or 1); {_cure(layout)}."
        )
    if _looks_like_counts(suspect_line, rest):
        return (
            f"line {suspect_line.line}: `{suspect_line.text}` may be an edge or a header of node and edge counts "
            f"(the rest has {rest.nodes:,} nodes, {rest.lines:,} edge lines, ids up to {rest.largest:,}); "
            f"{_cure(layout)}."
        )
    return None


def _cure(layout: FileLayout) -> str:
    count = len(layout.single) or 1
    return f"say `header_lines: {count}` if it is a header, or `format: edges` if every line counts"


def _looks_like_counts(suspect: Suspect, rest: Rest) -> bool:
    first, second, *others = suspect.numbers
    edge_counts = _edge_counts(rest)
    if first == second and others == [rest.lines]:
        return True
    if _are_counts(suspect, rest):
        return True
    beyond = first > rest.largest, second > rest.largest
    exact = first == rest.nodes or second in edge_counts
    return (any(beyond) and exact and rest.lines >= _SOME_LINES) or (all(beyond) and rest.lines >= _MANY_LINES)


def _are_counts(suspect: Suspect, rest: Rest) -> bool:
    """Tell whether the first two numbers are near the numbers of nodes and of edges."""
    first, second = suspect.numbers[:2]
    return _near(first, rest.nodes) and any(_near(second, count) for count in _edge_counts(rest))


def _edge_counts(rest: Rest) -> tuple[int, int, int]:
    return rest.lines, rest.edges, 2 * rest.edges


def _near(number: int, count: int) -> bool:
    return abs(number - count) <= _NEAR * count
