"""The two columns that hold the ends of an edge: told by their names, refused where that isn't certain, or named."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.input.catalogue import open_dataset
from assay.input.columns import EdgeColumns
from assay.input.formats import FileLayout
from assay.input.reading import BadLineError, _line_by_line, parse
from assay.model.dataset import DatasetSpec
from assay.model.errors import BadInputError
from assay.model.progress import Silent
from tests.input.conftest import Opener

TRIANGLE = [[10, 20], [10, 30], [20, 30]]


def rows(pattern: str) -> str:
    """The triangle's edges, each as `pattern` has it: u, v, and n, which counts from 0."""
    return "".join(pattern.format(u=u, v=v, n=n) + "\n" for n, (u, v) in enumerate(TRIANGLE))


CERTAIN = {
    "a data frame with its index": ",source,target\n" + rows("{n},{u},{v}"),
    "a data frame with its index, read and written once more": ",Unnamed: 0,source,target\n" + rows("{n},{n},{u},{v}"),
    "an index, and the ends in the other order": ",target,weight,source\n" + rows("{n},{v},9,{u}"),
    "Gephi": "Source,Target,Type,Id,Label,Weight\n" + rows("{u},{v},Undirected,{n},,1.0"),
    "Gephi, tabs, an empty column before the id": "Id\tLabel\tSource\tTarget\n" + rows("{n}\t\t{u}\t{v}"),
    "R, all in quotes": '"","from","to"\n' + rows('"{n}","{u}","{v}"'),
    "quotes with blanks around": "'id' ; 'src' ; 'dst'\n" + rows("'{n}' ; '{u}' ; '{v}'"),
    "a text with separators before the ends": "label,source,target\n" + rows('"a, ""b"", {n}",{u},{v}'),
    "Neo4j": ":START_ID(Person),since:int,:END_ID(Person),:TYPE\n" + rows("{u},199{n},{v},KNOWS"),
    "Neo4j's bulk export": '"_id","_labels","_start","_end","_type"\n'.replace("_start", "startId").replace(
        "_end", "endId"
    )
    + rows('"{n}","","{u}","{v}","KNOWS"'),
    "SNAP's names in a comment": "# Signed network\n# FromNodeId\tToNodeId\tSign\n" + rows("{u}\t{v}\t1"),
    "SNAP's names in a comment, time before": "#Time\tFromNodeId\tToNodeId\n" + rows("{n}\t{u}\t{v}"),
    "NetworkX's data": rows("{u} {v} {{'weight': {n}, 'time': 7}}"),
    "NetworkX without data": rows("{u} {v} {{}}"),
    "NetworkX with commas": rows("{u},{v},{{'weight': {n}, 'time': 7}}"),
    "weights with a fraction": rows("{u} {v} 0.{n}"),
    "weights of which some have a fraction": "10 20 0.5\n10 30 1\n20 30 7\n",
    "bars": "id|src|dst\n" + rows("{n}|{u}|{v}"),
    "blanks": "id  from  to\n" + rows("{n}   {u} {v}"),
    "empty columns at the end": rows("{u},{v},,"),
    "empty columns at the end of some lines": "10,20\n10,30,,\n20,30,\n",
    "empty columns at the end, named": "source,target,,\n" + rows("{u},{v},,"),
    "an empty column at the beginning": rows(",{u},{v}"),
    "decimal commas": "source;target;weight\n" + rows("{u};{v};0,{n}"),
    "numbered names": "weight,person_1,person_2\n" + rows("9,{u},{v}"),
    "lettered names": "protein A\tprotein B\tcombined score\n" + rows("{u}\t{v}\t90{n}"),
    "a byte order mark": "\ufeffid,source,target\n" + rows("{n},{u},{v}"),
    "comments and blank lines": "# made by hand\nid,source,target\n#\n\n" + rows("{n},{u},{v}") + ",,\n",
    "names of which only the ids are numbers": "source,target,source_id,target_id\n" + rows("a,b,{u},{v}"),
    "one percent sign before MatrixMarket": (
        "%MatrixMarket matrix coordinate integer symmetric\n30 30 3\n" + rows("{v} {u} 7")
    ),
    "well-known names, and a period": "lender_id,source,target,valid_from,valid_to\n" + rows("{n},{u},{v},1999,2003"),
    "well-known names beside years": "source,target,2019,2020\n" + rows("{u},{v},5,{n}"),
    "well-known names, and numbered scores": "u,v,score_1,score_2\n" + rows("{u},{v},5,{n}"),
    "numbered vertices beside another number": "user_1,user_2,hats\n" + rows("{u},{v},{n}"),
    "a pair of an unknown word": "combinedScores,edge,rail_from,rail_to\n" + rows("7,{n},{u},{v}"),
    "two columns, the first a name": "name,friend\n" + rows("{u},{v}"),
    "two columns of names": "source_name,target_name\n" + rows("{u},{v}"),
    "two columns, the first an id": "id,neighbor\n" + rows("{u},{v}"),
    "two columns, the first a class": "class,prerequisite\n" + rows("{u},{v}"),
    "a measure of an unknown name": "from,to,miles\n" + rows("{u},{v},{n}"),
    "counts between words": "Nodes: 3 Edges: 3\n" + rows("{u} {v}"),
    "two letters, of which `w` may be a weight": "v,w\n" + rows("{u},{v}"),
    "two columns by their order": "first,second\n" + rows("{u},{v}"),
    "a note at the first edge, in quotes": '"10","20","bridge"\n"10","30",""\n"20","30",""\n',
    "a note at the first edge, blanks around": "10 ; 20 ; bridge\n10 ; 30 ; \n20 ; 30 ; \n",
    "counts and words with bars": "3|3|u|graph\n" + rows("{u}|{v}"),
    "two columns, the first a date": "date;town\n" + rows("{u};{v}"),
    "two ids of one kind": "follower_id,followee_id\n" + rows("{u},{v}"),
    "two ids of which one is another's": "paper_id,cited_paper_id\n" + rows("{u},{v}"),
    "two ids of words that nobody knows": "lenderNo\tborrowerNo\n" + rows("{u}\t{v}"),
    "two roles of one kind": "buyer_id,seller_id\n" + rows("{u},{v}"),
    "two roles, one a known kind": "customer_id,referrer_id\n" + rows("{u},{v}"),
    "a vertex and what it does": "article_id,mentions_id\n" + rows("{u},{v}"),
    "letters before the id": "clientA_id,clientB_id\n" + rows("{u},{v}"),
    "numbers before the id, and a date": "user1.id|user2.id|joinDate\n" + rows("{u}|{v}|2010-03-0{n}"),
    "a vertex of a known kind and one of an unknown": "team,rival\n" + rows("{u},{v}"),
    "a skew-symmetric matrix": "%%MatrixMarket matrix coordinate real skew-symmetric\n30 30 3\n" + rows("{v} {u} -0.5"),
    "a Hermitian matrix": "%%MatrixMarket matrix coordinate complex hermitian\n30 30 3\n" + rows("{v} {u} 1 -2"),
    "prose before the edges": "# Each line is an edge from u to v\n" + rows("{u} {v}"),
    "a title before the edges": "# Edges: source target\n" + rows("{u} {v}"),
    "three words before two columns": "# parent child relations\n" + rows("{u}\t{v}"),
    "prose before a weight": "% the weight from u to v\n" + rows("{u} {v} 0.{n}"),
    "NetworkX's data, of which some are empty": "10 20 {'weight': 0.5}\n10 30 {}\n20 30 {}\n",
    "NetworkX's data with commas inside": "10,20,{'weight': 3, 'a': 4}\n10,30,{}\n20,30,{}\n",
    "NetworkX's data in the first line only": "10,20,{'weight': 3}\n10,30\n20,30\n",
    "a note at the first edge, an empty column below": "10,20,bridge\n10,30,\n20,30,\n",
    "a first weight that is no number": "10,20,unknown\n10,30,0.5\n20,30,0.25\n",
}


@pytest.mark.parametrize("content", CERTAIN.values(), ids=CERTAIN)
def test_a_triangle_is_read_whatever_stands_beside_its_ends(opener: Opener, content: str) -> None:
    dataset = opener(content)
    assert dataset.graph().edges.tolist() == TRIANGLE
    assert (dataset.facts().nodes, dataset.facts().edges, dataset.facts().triangles) == (3, 3, 1)


@pytest.mark.parametrize("content", CERTAIN.values(), ids=CERTAIN)
def test_the_jobs_get_the_same_graph(opener: Opener, content: str) -> None:
    staged = opener(content).file(Silent())
    text = staged.path.read_text("utf-8-sig")
    if staged.canonical:
        assert text == "10\t20\n10\t30\n20\t30\n"
        return
    skip = int(staged.normalise_options[1]) if staged.normalise_options[0] == "--skip-bytes" else 0
    lines = staged.path.read_bytes()[skip:].decode("utf-8-sig").replace(",", " ").replace(";", " ").splitlines()
    fields = [line.split() for line in lines if line.split() and line.split()[0][0] not in "#%"]
    assert sorted(sorted(map(int, line[:2])) for line in fields) == TRIANGLE
    assert "--extra-columns" in staged.normalise_options or all(len(line) == 2 for line in fields)


UNCERTAIN = {
    "an index without names": (rows("{n} {u} {v}"), "counts up as an index does"),
    "an index without names, commas": (rows("{n},{u},{v}"), "line 1: `0,10,20` has 3 columns"),
    "an index beside a node's value": (rows("{n},{u},0.5"), "counts up as an index does"),
    "times or weights without names": (rows("{u} {v} 119{n}"), "line 1: .* has 3 columns"),
    "a third column far below": ("10 20\n10 30\n20 30 7\n", "line 3: `20 30 7` has 3 columns"),
    "four columns, two of them ids": (rows("0.5 {u} {v} x"), "has 4 columns"),
    "unknown names": ("person,age,height\n" + rows("{u},{v},{n}"), "1 `person`, 2 `age`, 3 `height`"),
    "two known pairs": ("u,v,from,to\n" + rows("{n},{n},{u},{v}"), "1 `u`, 2 `v`, 3 `from`, 4 `to`"),
    "two ends called the same": ("source,source,target\n" + rows("{n},{u},{v}"), "1 `source`, 2 `source`"),
    "a node's value": ("id,value\n" + rows("{u},{v}"), "1 `id`, 2 `value`"),
    "an index beside one column": (",target\n" + rows("{n},{v}"), "1 without a name, 2 `target`"),
    "a triangle in each line": ("node1,node2,node3\n10,20,30\n", "3 `node3`"),
    "a data frame without names": (",0,1\n" + rows("{n},{u},{v}"), "1 without a name, 2 `0`, 3 `1`"),
    "fewer names than columns": ('"from" "to"\n' + rows('"{n}" {u} {v}'), "names 2 columns, and an edge below has 3"),
    "years behind the ends": ("lender,borrower,year_from,year_to\n" + rows("{u},{v},1999,2003"), "3 `year_from`"),
    "a period behind the ends": ("employee,manager,valid_from,valid_to\n" + rows("{u},{v},1999,200{n}"), "2 `manager`"),
    "a period of one": ("employee,from,to\n" + rows("{u},1999,200{n}"), "1 `employee`, 2 `from`"),
    "a period before the ends": ("from,to,lender,borrower\n" + rows("1999,200{n},{u},{v}"), "3 `lender`"),
    "a period without a word": ("employee,manager,from,to\n" + rows("{u},{v},1999,200{n}"), "3 `from`, 4 `to`"),
    "scores behind the ends": ("buyer,seller,score_1,score_2\n" + rows("{u},{v},1,{n}"), "1 `buyer`, 2 `seller`"),
    "an unknown pair behind others": ("ship,port,leg_1,leg_2\n" + rows("{u},{v},1,{n}"), "3 `leg_1`, 4 `leg_2`"),
    "an unknown pair behind one other": ("ship,leg_a,leg_b\n" + rows("{n},{u},{v}"), "1 `ship`"),
    "numbered ends, and a place": (
        "user_1,user_2,row,col\n" + rows("{u},{v},1,{n}"),
        "1 `user_1`, 2 `user_2`, 3 `row`",
    ),
    "a place behind the ends": ("seller,buyer,row,col\n" + rows("{u},{v},1,{n}"), "3 `row`, 4 `col`"),
    "two pairs, of which the second is unknown": ("source,target,gate1,gate2\n" + rows("{u},{v},1,{n}"), "3 `gate1`"),
    "a data frame of three columns": (",0,1,2\n" + rows("{n},{u},{v},5"), "1 without a name, 2 `0`"),
    "a data frame without names, in quotes": ('"","0","1"\n' + rows('"{n}","{u}","{v}"'), "1 without a name, 2 `0`"),
    "a node's weight": ("node,w\n" + rows("{u},{v}"), "1 `node`, 2 `w`"),
    "a node's community": ("node,community\n" + rows("{u},{v}"), "1 `node`, 2 `community`"),
    "a node's cluster": ("id,clusterLabel\n" + rows("{u},{v}"), "1 `id`, 2 `clusterLabel`"),
    "a node's degree": ("page;out degree\n" + rows("{u};{v}"), "1 `page`, 2 `out degree`"),
    "users and items": ("user_id,item_id\n" + rows("{u},{v}"), "two kinds of vertices, `user_id` and `item_id`"),
    "two kinds without ids": ("Author;Papers\n" + rows("{u};{v}"), "two kinds of vertices, `Author` and `Papers`"),
    "two kinds beside a rating": ("userId,movieId,rating,timestamp\n" + rows("{u},{v},4,{n}"), "two kinds of vertices"),
    "two kinds with numbers": ("user1_id,item2_id\n" + rows("{u},{v}"), "two kinds of vertices"),
    "two kinds in a comment": ("# customer_id product_id\n" + rows("{u} {v}"), "line 1: .* two kinds of vertices"),
    "intervals": ("name,start,end\n" + rows("{n},{u},{v}"), "1 `name`, 2 `start`, 3 `end`"),
}


@pytest.mark.parametrize(("content", "message"), UNCERTAIN.values(), ids=UNCERTAIN)
def test_what_is_not_certain_is_refused_with_all_columns(opener: Opener, content: str, message: str) -> None:
    with pytest.raises(BadInputError, match=rf"{message}.*`columns: \[A, B\]`"):
        opener(content).file(Silent())


@pytest.mark.parametrize(
    ("content", "columns"),
    [
        (rows("{n} {u} {v}"), [2, 3]),
        ("10 20 x\n10 30\n20 30\n", [1, 2]),
        ("10,20,5\n10,30\n20,30\n", [1, 2]),
        ("lender,borrower,year_from,year_to\n" + rows("{u},{v},1999,2003"), ["lender", 2]),
        (rows("{u} {v} 119{n}"), [1, 2]),
        ("10 20\n10 30\n20 30 7\n", [1, 2]),
        (rows("{n};{u};0,5;{v}"), [4, 2]),
        ("u,v,from,to\n" + rows("{n},{n},{u},{v}"), ["from", "to"]),
        ("person,friend,age\n" + rows("{u},{v},{n}"), ["friend", "person"]),
        ("from,from,to\n" + rows("{n},{u},{v}"), [2, "to"]),
        (",0,1\n" + rows("{n},{u},{v}"), ["0", "1"]),
        (",0,1,2\n" + rows("{n},7,{u},{v}"), ["1", "2"]),
        ('"from" "to"\n' + rows('"{n}" {u} {v}'), [2, 3]),
    ],
)
def test_following_the_advice_gives_the_right_graph(opener: Opener, content: str, columns: list[object]) -> None:
    dataset = opener(content, columns=columns)
    assert dataset.graph().edges.tolist() == TRIANGLE
    assert dataset.facts().triangles == 1
    dataset.file(Silent())


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("a,b\n1,2\n", ["a", "c"], "column `c` not among 1 `a`, 2 `b`"),
        ("a,b,b\n1,2,3\n", ["a", "b"], "column `b` 2 times among"),
        ("source,target\n1,2\n", ["source", 1], "line 1: .* has `source` and `1` of `columns` in the same column"),
        ("id;a;b\n0;1;2\n", [3, "b"], "has `3` and `b` of `columns` in the same column, number 3"),
        ("1 2\n", [1, 3], "has 2 columns, and `columns` asks for number 3"),
        ("1 2\n", ["a", "b"], "line 1: .* no line before it names a column `a`"),
        ("% sym unweighted\n1 2\n", [1, 2], "konect file, .*leave out `columns`"),
    ],
)
def test_columns_that_are_not_there_are_named(
    opener: Opener, content: str, columns: list[object], message: str
) -> None:
    with pytest.raises(BadInputError, match=message):
        opener(content, columns=columns).file(Silent())


@pytest.mark.parametrize(
    "columns", [[], ["a"], ["a", "a"], ["a", "b", "c"], "ab", {"a": "b"}, [0, 1], [True, 2], [1.5, 2]]
)
def test_columns_are_two_names_or_numbers(columns: object) -> None:
    with pytest.raises(ValueError, match="two different columns"):
        DatasetSpec.model_validate({"name": "d", "file": "x", "columns": columns})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("source,target,weight\n1,2,3\n,5,7\n", r"line 3: `,5,7` has an empty column"),
        ("source\ttarget\tweight\n1\t2\t3\n5\t\t7\n", r"line 3: .* has an empty column"),
        ("1,2\n3,4\n,5,7\n", r"line 3: `,5,7` has"),
        ("1 2\n3, 4\n,5,7\n", r"line 3: `,5,7` has an empty column"),
        ("id,source,target\n1,2,3\n4,5\n", "line 3: `4,5` has 2 columns where an edge has 3"),
        ("id source target\n1 2 3\n4 5\n", "line 3: `4 5` has 2 columns where an edge has 3"),
        ("label,source,target\nx,2,3\nx, y,4,5\n", "names 3 columns, and an edge below has 4"),
        ("label,source,target\n" + "x,2,3\n" * 2000 + "x, y,4,5\n", "line 2002: .* has 4 columns where 3 are expected"),
        ('label,source,target\nx,2,3\n"y,4,5\n', "line 3: .* has a quotation that doesn't end"),
        ("source,target,w\n1 2,3,4\n", "line 2: `1 2,3,4` isn't an edge of two whole numbers"),
        ("source,target\nann,bob\n", "isn't an edge of two whole numbers"),
        ("source,target\n1.0,2.0\n", "isn't an edge of two whole numbers"),
        ("3 3 3\n2 1\n3 1\n3 2\n", "line 1: `3 3 3` has 3 columns, and the following lines have 2; .*header_lines: 1"),
        ("1 2 x\n2 3\n3 1\n", "line 1: `1 2 x` may be an edge, .*header_lines: 1.*columns: "),
        ("1a 2 x\n2 3\n3 1\n", "line 1: `1a 2 x` has 3 columns, and the following lines have 2"),
        ("1,2,x\n2,3\n", "line 1: `1,2,x` may be an edge, and isn't the number of nodes"),
        ("1 2 # first\n2 3\n", "line 1: `1 2 # first` has 4 columns, and the following lines have 2"),
        ("5,6,x,y\n1,2,0.5\n1,3,0.5\n", "line 1: `5,6,x,y` has 4 columns, and the following lines have 3"),
        ("100 100 3\n2 1 0.5\n3 1 2\n3 2 1\n", "line 1: `100 100 3` may be an edge or a header"),
        ("0,1\n10,20\n10,30\n20,30\n", "line 1: `0,1` may be an edge or numbers of the columns"),
        (b"\xff\xfe1\x00 \x002\x00", "UTF-16; save it in UTF-8"),
        ("1:2\n1:3\n", "`1:2` has 1 column where an edge has 2; separate the two ends by"),
    ],
)
def test_lines_that_would_be_another_edge_are_refused(opener: Opener, content: str | bytes, message: str) -> None:
    with pytest.raises(BadInputError, match=message):
        opener(content).file(Silent())


@pytest.mark.parametrize("content", ["3 3 3\n", "100 100 3\n", "0,1\n"])
def test_a_line_that_is_a_header_can_be_said_to_be_one(opener: Opener, content: str) -> None:
    assert opener(content + rows("{u},{v}"), header_lines=1).graph().edges.tolist() == TRIANGLE


def test_an_edge_between_0_and_1_behind_an_empty_column_is_no_header(opener: Opener) -> None:
    assert opener(",0,1\n,0,2\n,1,2\n").graph().edges.tolist() == [[0, 1], [0, 2], [1, 2]]


def test_the_counts_are_kept_apart_for_other_columns(opener: Opener) -> None:
    content = rows("{n} {u} {v}")
    assert opener(content, columns=[2, 3]).facts().triangles == 1
    assert opener(content, columns=[1, 2]).facts().triangles == 0


def test_ids_beyond_32_bits_are_staged_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "big.csv"
    file.write_text("id,source,target\n0,9223372036854775807,5\n1,7,7\n")
    staged = open_dataset(DatasetSpec(name="d", file=file), tmp_path).file(Silent())
    assert staged.path.read_text() == "5\t9223372036854775807\n7\n"


PIECES = [
    "1",
    "22",
    "a",
    '"3"',
    '"4, 5"',
    "'6'",
    "",
    " ",
    "7 8",
    "#",
    '"',
    "9" * 19,
    "1" * 20,
    '"a""b"',
    "\t",
    "-1",
    "0.5",
]


@pytest.mark.slow
def test_lines_read_all_at_once_are_read_as_line_by_line() -> None:
    for seed in range(1000):
        compare(random.Random(seed))


def compare(draw: random.Random) -> None:
    """Some lines of numbers, and now and then something else."""
    separator = draw.choice(["", ",", ";", "\t", "|"])
    ends = draw.choice([(0, 1), (1, 0), (1, 2), (2, 0)])
    columns = EdgeColumns(
        separator=separator, ends=ends, least=max(ends) + 1, most=draw.choice([None, 3, 4]),
        quoted=draw.random() < 0.5,
    )  # fmt: skip
    layout = FileLayout(form="csv", compression="none", name="x", columns=columns, lone_lines=draw.random() < 0.3)
    lines = [
        (separator or draw.choice([" ", ",", " ; "])).join(
            draw.choice(PIECES) if draw.random() < 0.15 else str(draw.randrange(99)) for _ in range(draw.randrange(1, 5))
        ).encode()
        for _ in range(draw.randrange(1, 4))
    ]  # fmt: skip
    block = b"\n".join(lines) + b"\n"
    assert outcome(lambda: parse(block, layout, first=True).pairs) == outcome(
        lambda: _line_by_line(block, layout, first=True)[0]
    )


def outcome(read: Callable[[], NDArray[np.uint64]]) -> object:
    try:
        return read().tolist()
    except BadLineError as error:
        return error.index, error.mistake, error.cure
