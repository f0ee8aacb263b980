"""Proves that the verifiers of word count, word frequency and grep pass right outputs and fail any that is wrong."""

import random
import re
from collections import Counter

import pytest

from assay.model.doubt import Outcome, overall
from assay.model.engine import LINES_OUTPUT
from assay.model.errors import AssayError, BadInputError
from assay.model.installed import variants_of
from assay.model.progress import Silent
from assay.model.trial import WorkloadSpec
from assay.workload.grep import Grep
from assay.workload.word_count import WordCount
from assay.workload.word_frequency import WordFrequency, words_in
from tests.workload.stored import an_engine, judge, name_of, staged

TASKS = "org.apache.hadoop.mapreduce.TaskCounter"
BOOK = (
    "\ufeffIt's THE ship\u2019s end \u2014 the End! \u00c9t\u00e9, \u0130 #1\r\n\r\n'' don't well-known 1,000\u00a0x\n"
)

WORDS = ["its", "the", "ships", "end", "the", "end", "été", "i", "1", "dont", "wellknown", "1000", "x"]


def spec(name, variant="stock", hadoop=None, **options):
    return WorkloadSpec(name=name, variant=variant, options=options, hadoop=hadoop or {})


def outcome(workload, text, lines, result):
    _, store = an_engine()
    store.contents = {"/base/input/text-00000": text, "/base/output/part-r-00000": b"".join(lines)}
    return overall(judge(workload, store, result))


def corruptions(lines):
    """A count changed, a line missing, one twice, a stranger, a word changed."""
    word, _, count = lines[0].rpartition(b"\t")
    yield [word + b"\t" + str(int(count) + 1).encode() + b"\n", *lines[1:]]
    yield lines[1:]
    yield [lines[0], *lines]
    yield [*lines, b"stranger\t1\n"]
    yield [b"x" + lines[0], *lines[1:]]


@pytest.fixture(scope="module")
def words():
    source = random.Random(2)
    return [source.choice(["un", "unto", "sun", "Undo", "theologal"]) for _ in range(500)]


def counted(words):
    return [f"{word}\t{count}\n".encode() for word, count in sorted(Counter(words).items())]


def test_word_count(words):
    workload = WordCount(spec("word-count"), "/base")
    text = "\t".join(" ".join(words[at : at + 7]) for at in range(0, 500, 7)).encode() + b" \n"
    right = {"words": 500, "distinct_words": 5}
    assert outcome(workload, text, counted(words), right) is Outcome.PASS
    for lines in corruptions(counted(words)):
        assert outcome(workload, text, lines, right) is Outcome.FAIL
    for wrong in ({"words": 499, "distinct_words": 5}, {"words": 500, "distinct_words": 4}, {}):
        assert outcome(workload, text, counted(words), wrong) is Outcome.FAIL
    with pytest.raises(AssayError, match="not `word<TAB>count`"):
        outcome(workload, text, [b"lost\n"], right)


def test_word_count_stages_text_and_tells_what_it_was_given():
    programs = []
    counters = {TASKS: {"MAP_OUTPUT_RECORDS": 9, "REDUCE_OUTPUT_RECORDS": 3}}
    engine, store = an_engine(counters, lambda program: (programs.append(program), ({}, {}))[1])
    workload = WordCount(spec("word-count", hadoop={"a": "b"}, size="1MB"), "/base")
    staged(workload, engine, store)
    report = workload.run(engine, Silent())
    writer, counting = programs
    assert writer.arguments[:2] == ("-outFormat", LINES_OUTPUT)
    assert counting.arguments == ("{store}/base/input", "{store}/base/output")
    assert counting.properties == {"a": "b"}
    assert report.result == {"words": 9, "distinct_words": 3}
    assert report.settings["mapreduce.randomtextwriter.totalbytes"] == "1000000"


def test_the_words_of_a_text_follow_the_rule():
    assert words_in(BOOK) == WORDS
    for piece, word in {
        "_a\u00b2\u2460": "a",
        "E\u0301": "e\u0301",
        "\ufffd": "",
        "\u0663%": "\u0663",
        "\u03a3\u03a9\u03a3": "\u03c3\u03c9\u03c3",
    }.items():
        assert words_in(piece) == ([word] if word else [])


def test_word_frequency():
    found = WORDS
    right = {"words": len(found), "distinct_words": len(set(found))}
    for variant in ("paper", "plain"):
        workload = WordFrequency(spec("word-frequency", variant), "/base")
        assert outcome(workload, BOOK.encode(), counted(found), right) is Outcome.PASS
        for lines in corruptions(counted(found)):
            assert outcome(workload, BOOK.encode(), lines, right) is Outcome.FAIL
        for wrong in ({**right, "words": 12}, {**right, "distinct_words": 12}):
            assert outcome(workload, BOOK.encode(), counted(found), wrong) is Outcome.FAIL


def test_bytes_that_are_no_text_are_special():
    workload = WordFrequency(spec("word-frequency", "paper"), "/base")
    assert outcome(workload, b"a\xffB \xe2\x82", [b"ab\t1\n"], {"words": 1, "distinct_words": 1}) is Outcome.PASS


@pytest.mark.slow
def test_word_frequency_makes_its_files():
    engine, store = an_engine()
    workload = WordFrequency(spec("word-frequency", "plain", size="30kB", files="3", seed="2"), "/base")
    staged(workload, engine, store)
    assert [size // 1000 for _, size in store.list_files("/base/input")] == [10, 10, 10]
    assert len(set(store.contents.values())) == 3
    assert workload.run(engine, Silent()).jobs[0].name == "word-frequency-plain"


def test_grep(words):
    workload = Grep(spec("grep", pattern="(un)([a-z]*)"), "/base")
    text = "\n".join(" ".join(words[at : at + 7]) for at in range(0, 500, 7)).encode()
    matches = Counter(match[0] for match in re.finditer("un[a-z]*", text.decode()))
    lines = [f"{count}\t{match}\n".encode() for match, count in matches.most_common()]
    right = {"matches": matches.total(), "distinct_matches": len(matches)}
    assert outcome(workload, text, lines, right) is Outcome.PASS
    count, _, match = lines[0].partition(b"\t")
    for wrong in (
        lines[1:], [lines[0], *lines], [*lines, b"1\tstranger\n"], [str(int(count) + 1).encode() + b"\t" + match, *lines[1:]],
        lines[::-1],
    ):  # fmt: skip
        assert outcome(workload, text, wrong, right) is Outcome.FAIL
    assert outcome(workload, text, lines, {**right, "matches": 1}) is Outcome.FAIL
    with pytest.raises(AssayError, match="not `count<TAB>match`"):
        outcome(workload, text, [b"lost\n"], right)


def test_grep_counts_a_group():
    workload = Grep(spec("grep", pattern="(un)([a-z]+)", group="2"), "/base")
    right = {"matches": 3, "distinct_matches": 2}
    assert outcome(workload, b"unto undo unto", [b"2\tto\n", b"1\tdo\n"], right) is Outcome.PASS


def test_grep_without_a_match_has_an_empty_output():
    workload = Grep(spec("grep", pattern="xyz"), "/base")
    assert outcome(workload, b"unto", [], {"matches": 0, "distinct_matches": 0}) is Outcome.PASS


def test_what_grep_leaves_between_its_jobs_lies_below_its_base():
    programs = []
    engine, _ = an_engine({TASKS: {}}, lambda program: (programs.append(program), ({}, {}))[1])
    Grep(spec("grep", group="0"), "/base").run(engine, Silent())
    assert programs[0].properties["dfs.user.home.dir.prefix"] == "/base/home"
    assert programs[0].arguments == ("/base/input", "/base/output", "un[a-z]+", "0")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (Grep, {"pattern": "("}, r"pattern '\(' leaves a group open"),
        (Grep, {"group": "-1"}, "group is '-1', and must be a whole number from 0 on"),
        (Grep, {"group": "1"}, "has 0 groups, and group is 1"),
        (Grep, {"directory": "/nowhere/at/all"}, "directory is '/nowhere/at/all', and must be a directory that exists"),
        (WordCount, {"size": "0"}, "size is '0', and must be a size"),
        (WordCount, {"directory": "/tmp"}, "has no option 'directory'"),
        (WordFrequency, {"seed": "x"}, "seed is 'x', and must be a whole number from 0 on"),
        (WordFrequency, {"files": "-3"}, "files is '-3', and must be a whole number from 1 on"),
        (WordFrequency, {"size": "3", "files": "4"}, "files is '4', and must be at most the bytes of size"),
    ],
)
def test_options_that_cant_be_are_refused(kind, options, message):
    name = name_of(kind)
    with pytest.raises(BadInputError, match=message):
        kind(spec(name, next(iter(variants_of(name))), **options), "/base")
