"""Proves that what users and files call things never controls a terminal."""

import io

import pytest

from assay.cli.console import SafeConsole
from assay.model.naming import first_few, lettered_size, printable, sentence, unprintable

ESCAPE = "a\x1b[31mred\x07\x9b0m"


def test_control_characters_are_shown_and_ends_of_lines_kept():
    assert printable(ESCAPE) == "a\\x1b[31mred\\x07\\x9b0m"
    assert printable("one\ntwo \u202e\udcff é") == "one\ntwo \\u202e\\udcff é"


def test_a_sentence_is_one_line_and_its_longest_word_is_cut():
    assert sentence("a\nb") == "a\\nb"
    assert len(sentence(f"x {'y' * 5000} z")) < 220


@pytest.mark.parametrize(
    ("text", "found"), [("plain é", None), ("a\nb", "U+000A"), ("\x1b", "U+001B"), ("\t", "U+0009")]
)
def test_the_first_control_character_is_named(text, found):
    assert unprintable(text) == found


def test_a_console_prints_names_and_does_not_obey_them():
    said = io.StringIO()
    console = SafeConsole(file=said, width=80)
    console.print(f"{ESCAPE}\nnext", markup=False, highlight=False)
    assert said.getvalue().splitlines() == ["a\\x1b[31mred\\x9b0m", "next"]
    assert "\x1b" not in said.getvalue()


def test_its_own_colours_stay():
    said = io.StringIO()
    SafeConsole(file=said, force_terminal=True, color_system="standard").print("x\x1b", style="red", markup=False)
    assert said.getvalue() == "\x1b[31mx\\x1b\x1b[0m\n"


def test_of_many_words_the_first_few_are_named():
    assert first_few([]) == ""
    assert first_few(["a"]) == "a"
    assert first_few(["a", "b", "c"]) == "a, b, c"
    assert first_few(["a", "b", "c", "d", "e"]) == "a, b, c and 2 more"
    assert first_few(["a", "b"], "; ", "; and", most=1) == "a; and 1 more"


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("40", 40),
        ("64m", 64 << 20),
        ("1K", 1024),
        ("1.5k", 1536.0),
        ("-1", -1),
        ("64MB", None),
        ("", None),
        ("k", None),
    ],
)
def test_sizes_with_hadoops_letters(text, size):
    assert lettered_size(text) == size
