"""Proves that text is read whole whatever its pieces, that counts are compared, and that text from anywhere is staged."""

from collections import Counter

import pytest

from assay.input import text as text_module
from assay.input.text import GeneratedText, RandomText, TextMaker
from assay.model.doubt import Outcome
from assay.model.engine import LaunchReport
from assay.model.errors import AssayError, BadInputError
from assay.model.progress import Silent
from assay.model.trial import WorkloadSpec
from assay.workload.base import WorkloadOptions
from assay.workload.text import counted_lines, judge_counts, lines_of_text, pieces_of_text, user_text
from tests.workload.stored import KeepingStore, an_engine

DEFAULTS = {"size": "1GB", "files": "4", "seed": "1", "directory": ""}


def stored(**contents):
    store = KeepingStore()
    store.contents = {f"/in/{name}": content for name, content in contents.items()}
    return store


def test_a_store_without_files_has_no_text_to_be_read():
    class Tables:
        """Holds lines that no path reaches."""

    with pytest.raises(TypeError, match="Tables holds no files"):
        list(lines_of_text(Tables(), "/in"))


def test_pieces_are_what_white_space_separates():
    store = stored(a="Ünd so\u00a0weiter,\r\n-- \ufeffx".encode(), b=b"last", c=b"", d=b"\xffa\x0b\xe2\x82 b\n")
    found = [piece for pieces in pieces_of_text(store, "/in") for piece in pieces]
    expected = ["Ünd", "so\u00a0weiter,", "--", "\ufeffx", "last"]
    assert found == [*map(str.encode, expected), b"\xffa", b"\xe2\x82", b"b"]


def test_lines_end_as_hadoop_ends_them():
    store = stored(a="\ufeffone\r\ntwo\rthree\n\n\u2028four\x85".encode(), b=b"five\n")
    assert list(lines_of_text(store, "/in")) == ["one", "two", "three", "", "\u2028four\x85", "five"]


def test_counts_are_compared_each_once():
    def judged(counts):
        report = LaunchReport(jobs=(), result={"words": 3, "distinct_words": 2})
        return judge_counts(Counter(a=2, b=1), counts, report, "words")[0]

    assert judged([("b", 1), ("a", 2)]).outcome is Outcome.PASS
    for wrong in ([("a", 2)], [("a", 2), ("b", 2)], [("a", 2), ("b", 1), ("a", 2)], [("a", 2), ("b", 1), ("c", 1)]):
        assert judged(wrong).outcome is Outcome.FAIL
    assert judged([("a", 3)]).detail.endswith("'a' has 3, and not 2")
    assert judged([]).detail.endswith("'a' has none, and not 2")


def test_a_line_that_is_no_count_cant_be_read():
    assert list(counted_lines([b"a\tb\t3"])) == [("a\tb", 3)]
    for line in (b"a", b"a\t", b"a\t-1", b"a\tx"):
        with pytest.raises(AssayError, match="not `word<TAB>count`"):
            list(counted_lines([line]))


@pytest.mark.slow
def test_generated_lines_are_about_as_long_as_is_said(tmp_path):
    TextMaker(3).write(tmp_path / "text", 300_000)
    lines = (tmp_path / "text").read_bytes().count(b"\n")
    assert GeneratedText(1, 300_000, 3).size().lines == pytest.approx(lines, rel=0.05)


def own(directory, strict=False, **options):
    spec = WorkloadSpec(name="grep", options={"directory": str(directory), **options})
    return user_text(WorkloadOptions(spec, DEFAULTS), spec, strict=strict)


def test_a_users_files_are_staged_in_order(tmp_path):
    for name, content in {"b c%:.txt": b"two", "a.txt": b"one", ".hidden": b"no", "_SUCCESS": b"no"}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "d").write_bytes(b"six")
    (tmp_path / "year").symlink_to("sub")
    engine, store = an_engine()
    source = own(tmp_path, strict=True)
    assert (source.size().bytes, source.size().line_bytes) == (12, 3)
    assert source.stage("/in", store, engine, Silent()).jobs == ()
    assert store.contents == {f"/in/text-{at:05d}": text for at, text in enumerate([b"one", b"two", b"six", b"six"])}


def test_a_directory_that_cant_be_used_is_refused(tmp_path):
    (tmp_path / "empty.txt").touch()
    for directory, why in (
        ("relative", "an absolute path"), (tmp_path / "none", "a directory that exists"),
        (tmp_path / "empty.txt", "a directory that exists"), (tmp_path, "this one has none, or empty ones only"),
    ):  # fmt: skip
        with pytest.raises(BadInputError, match=why):
            own(directory)
    (tmp_path / "book.txt.gz").write_bytes(b"x")
    with pytest.raises(BadInputError, match=r"unpack book.txt.gz first"):
        own(tmp_path)
    with pytest.raises(BadInputError, match="size has no effect with directory"):
        own(tmp_path, size="1MB")


@pytest.mark.parametrize(
    ("content", "why"), [(b"abc\xe9 d", "not UTF-8 text at byte 3"), (b"abc\xe2\x82", "ends within a character")]
)
def test_where_it_matters_other_bytes_than_utf8_are_refused_before_anything_starts(tmp_path, content, why):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(BadInputError, match=why):
        own(tmp_path, strict=True)
    engine, store = an_engine()
    own(tmp_path).stage("/in", store, engine, Silent())


def test_bytes_far_behind_the_first_are_refused_when_they_are_staged(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "_FIRST_BYTES", 1)
    monkeypatch.setattr(text_module, "_BLOCK_BYTES", 4)
    (tmp_path / "b.txt").write_bytes(b"12345678\xe9 d")
    engine, store = an_engine()
    source = own(tmp_path, strict=True)
    with pytest.raises(BadInputError, match="not UTF-8 text at byte 8"):
        source.stage("/in", store, engine, Silent())


def test_the_bytes_of_the_random_text_writer_are_always_bound():
    options = WorkloadOptions(WorkloadSpec(name="grep", options={"size": "10MB", "files": "3"}), DEFAULTS)
    made = RandomText(*options.file_size())
    assert made.properties["mapreduce.randomtextwriter.totalbytes"] == "9999999"
    assert made.properties["mapreduce.randomtextwriter.bytespermap"] == "3333333"
    with pytest.raises(BadInputError, match="at most the bytes of size"):
        WorkloadOptions(WorkloadSpec(name="grep", options={"size": "2", "files": "3"}), DEFAULTS).file_size()


@pytest.mark.slow
def test_made_text_is_the_same_for_a_seed_and_has_the_size(tmp_path):
    one, same, other = (tmp_path / name for name in "abc")
    for file, seed in ((one, 3), (same, 3), (other, 4)):
        TextMaker(seed).write(file, 500_000)
    assert one.read_bytes() == same.read_bytes() != other.read_bytes()
    assert 500_000 <= one.stat().st_size < 500_100
    one.read_text("utf-8")


@pytest.mark.slow
def test_made_text_has_the_frequencies_of_a_natural_one(tmp_path):
    """Ranks 10 and 1000 are apart by ((1000 + 2.7) / (10 + 2.7)) ^ 1.1 = 122; the text is mostly lower case."""
    file = tmp_path / "a"
    TextMaker(1).write(file, 4_000_000)
    read = file.read_text("utf-8")
    counts = [count for _, count in Counter(read.split()).most_common(1000)]
    assert 60 < sum(counts[5:15]) / sum(counts[950:]) * 5 < 240
    assert any(one.isupper() for one in read)
    assert {"\u2019", "'", ",", ".", "\u2014", "#", "é", "ж"} <= set(read)
