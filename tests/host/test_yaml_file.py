"""Proves that YAML of any content is read in bounded time, into plain values, or refused with its line."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.host.yaml_file import MOST_DEPTH, line_of, plain, shown, tree_of
from assay.model.errors import BadInputError

FILE = Path("file.yaml")
BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{here}: &{here} [{','.join(['*' + before] * 10)}]\n" for before, here in zip("abcdefgh", "bcdefghi", strict=True)
)


def read(text):
    return plain(tree_of(text, FILE))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 2024-13-45\nb: 2024-01-31", {"a": "2024-13-45", "b": "2024-01-31"}),
        ("2024-01-31: 1", {"2024-01-31": 1}),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}", {"a": {"b": 1}, "c": {"d": 2, "b": 1}}),
        ("a: 0x10\nb: 1.50\nc: yes\nd: true\ne:", {"a": 16, "b": 1.5, "c": "yes", "d": True, "e": None}),
        ("", None),
    ],
)
def test_values_are_plain_and_dates_are_texts(text, value):
    assert read(text) == value
    assert all(type(one) in {str, int, float, bool, dict, type(None)} for one in (read(text) or {}).values())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb: " + "1" * 5000, "line 2: not readable as YAML: a number of 5,000 characters is too long"),
        ("a: 0x" + "f" * 5000, "line 1: .*a number of 5,002 characters is too long"),
        ("a: 1\nb: 1e400", "line 2: b is inf, and must be a finite number"),
        ("a: 1\nb: [1, .nan]", "line 2: a number is nan, and must be a finite number"),
        ("a: " + "[" * 100_000, f"line 1: lists and maps lie more than {MOST_DEPTH} deep in one another"),
        ("\n".join(" " * depth + "a:" for depth in range(2000)), f"line {MOST_DEPTH}: lists and maps lie more than"),
        ("x: 1\na: &a\n  b: *a", r"line 3: \*a stands inside the part that it repeats; write it out"),
        ("a: &a\n  <<: *a\n  b: 1", r"line 2: \*a stands inside the part that it repeats"),
        (BOMB, "there are more than 50,000 items, repeated ones counted"),
        ("a: !!python/object:os.system x", "line 1: the tag !!python/object:os.system has no meaning here"),
        ("a: !!int abc", "line 1: the tag !!int has no meaning here"),
        ("a: !!bool maybe", "line 1: the tag !!bool has no meaning here"),
        ("a: 1\n? [a]\n: 1", r"line 2: the key that begins with \? or { is not text"),
        ("a: 1\n1: 2", "line 2: the key 1 is not text; put it into quotes"),
        ("~: 3", "line 1: the key null is not text"),
        ("a: 1\nb: x\0", r"line 2: has the character U\+0000; remove it"),
        ("a: 1\nb\n  - 1\n  - c: 2", "line 4: not readable as YAML: .*; look at line 2, too"),
        ("a: 1\na: 2", 'line 2: not readable as YAML: found duplicate key "a"'),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_with_its_line(text, words):
    with pytest.raises(BadInputError, match=words) as caught:
        read(text)
    assert str(caught.value).startswith("file.yaml")
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="[]{}&*ab: ,-\n'\"!<1.e?|>%#~x0", max_size=60))
def test_any_text_is_read_or_refused(text):
    with suppress(BadInputError):
        read(text)


def test_messages_show_values_as_they_are_written():
    assert shown({"a": [True, None, 1.5, "x"]}) == "{a: [true, null, 1.5, 'x']}"
    assert len(shown("x" * 5000)) == 100


def test_lines_of_keys_and_items():
    tree = tree_of("a: 1\nb:\n  - x\n  - y\n", FILE)
    assert [line_of(tree, place) for place in (["a"], ["b", 1], ["b", 7], ["none"])] == [1, 4, 2, None]
    assert line_of(tree_of("a:\n  b: 1\n", FILE), ["a", 0, "b"]) == 2
