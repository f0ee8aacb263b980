"""Proves that patterns match as Java's would, and that those which might not are refused with a reason."""

import re

import pytest

from assay.workload.grep import PatternError, compile_pattern


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("un[a-z]+", "unto Undo sunny", ["unto", "unny"]),
        (r"\d{2,3}", "1 12 1234 ٣٣", ["12", "123"]),
        (r"\w+", "a_1 é", ["a_1"]),
        (r"[^\s,]+", "a, b\u00a0c", ["a", "b\u00a0c"]),
        (r"a.c", "abc a\u2028c a\x85c", ["abc"]),
        (r"end$", "end\u2029", ["end"]),
        (r"^a|b$", "aab", ["a", "b"]),
        (r"(?:ab)+?", "ababab", ["ab", "ab", "ab"]),
        (r"\(\$\.\[\]\{\}\\", "($.[]{}\\", ["($.[]{}\\"]),
        (r"[\-\]\[&a-c]+".replace("&", r"\&"), "x-][&abcd", ["-][&abc"]),
        ("ä{2}", "ää", ["ää"]),
        ("#x y", "#x y", ["#x y"]),
    ],
)
def test_what_is_left_means_the_same(pattern, text, found):
    assert [match[0] for match in compile_pattern(pattern).finditer(text)] == found


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a*", "must not match where there is nothing"), ("(a", "leaves a group open"), ("a)", "closes a group"),
        ("[a", "ends too early"), ("[]", "a class without characters"), ("a**", "nothing before it to repeat"),
        ("*a", "nothing before it to repeat"), ("a{2,1}", "does not compile"), ("a{x}", "begins no number of times"),
        ("(?i)a", "a group of a kind"), ("(?=a)b", "a group of a kind"), (r"\bun", r"has \\b, which is not among"),
        (r"(a)\1", r"has \\1"), ("a++", "possessive"), ("[a&&[b]]", "within a class"), ("[a-\\d]", "a range with a class"),
        ("a}", "alone"), ("x${y}", "Hadoop's settings"), ("a\nb", "control characters"), ("", "must not match"),
        ("[z-a]", "does not compile"), ("\\", "ends too early"), ("(" * 51 + "a" + ")" * 51, "more than 50 deep"), (r"\p{L}", r"has \\p"),
    ],
)  # fmt: skip
def test_what_could_differ_or_be_wrong_is_refused(pattern, why):
    with pytest.raises(PatternError, match=why):
        compile_pattern(pattern)


def test_a_group_has_to_be_there_always():
    assert compile_pattern("(a)(b+)", 2)
    for pattern, group in (("ab", 1), ("(a)|b", 1), ("(a)?b", 1), ("(a)*b", 1), ("(a){0,2}b", 1)):
        with pytest.raises(PatternError, match=r"groups, and group is|could be absent"):
            compile_pattern(pattern, group)


def test_all_of_ascii_can_be_escaped_or_stands_for_itself():
    for character in map(chr, range(32, 127)):
        if not character.isalnum():
            assert compile_pattern(f"x\\{character}").fullmatch(f"x{character}")
            assert compile_pattern(f"[\\{character}x]").fullmatch(character)
        if re.fullmatch(r"[\w ,;:=<>@#%!~`'\"/&-]", character):
            assert compile_pattern(f"x{character}").fullmatch(f"x{character}")
