"""Regular expressions that mean the same to Java and to Python: a part of both languages, translated for Python.

Left out is what differs: inline flags, look-around, word boundaries, back references, possessive quantifiers, classes
by name, classes within classes. Sources: the documentation of java.util.regex.Pattern and of Python's `re`.
"""

import re

_TERMINATORS = "\\n\\r\\x85\\u2028\\u2029"
_CLASSES = "dDwWsS"
_PUNCTUATION = set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ")
_COUNT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}")


MOST_DEPTH = 50


class PatternError(ValueError):
    """A pattern that can't be used; the message says why."""


def compile_pattern(pattern: str, group: int = 0) -> re.Pattern[str]:
    """Python's equivalent of a pattern of Java's. Raises PatternError."""
    if not pattern.isprintable() or "${" in pattern:
        raise PatternError("may have neither control characters nor `${`, which Hadoop's settings can't hold")
    translation = _Translation(pattern)
    try:
        compiled = re.compile(translation.python, re.ASCII)
    except (re.error, OverflowError) as error:
        raise PatternError(f"does not compile: {error}") from None
    if compiled.search(""):
        raise PatternError("must not match where there is nothing")
    if group > compiled.groups:
        raise PatternError(f"has {compiled.groups} groups, and group is {group}")
    if group and translation.may_skip_groups:
        raise PatternError("may have neither `|` nor an optional group where a group is counted: it could be absent")
    return compiled


class _Translation:
    """One pass over the pattern."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self.may_skip_groups = False
        parts, depth, last = [], 0, ""
        while self._at < len(pattern):
            kind, text = self._next()
            depth += {"(": 1, ")": -1}.get(kind, 0)
            if depth < 0:
                raise PatternError("closes a group that is not open")
            if depth > MOST_DEPTH:
                raise PatternError(f"has groups more than {MOST_DEPTH} deep in one another")
            if kind == "quantifier":
                self._check_quantified(last, text)
            self.may_skip_groups |= kind == "|"
            parts.append(text)
            last = kind
        if depth:
            raise PatternError("leaves a group open")
        self.python = "".join(parts)

    def _check_quantified(self, last: str, text: str) -> None:
        if last not in {"atom", ")"}:
            raise PatternError(f"has {text!r} with nothing before it to repeat (\\{text[0]} stands for the character)")
        if last == ")" and re.match(r"[*?]|\{0", text):
            self.may_skip_groups = True

    def _next(self) -> tuple[str, str]:
        """The kind of the next element, and its Python form."""
        character = self._take()
        if character == "\\":
            return "atom", self._escape()
        if character == "[":
            return "atom", self._class()
        if character == "(":
            return "(", self._open()
        if character in "*+?{":
            return "quantifier", self._quantifier(character)
        if character in "]}":
            raise PatternError(f"has {character!r} alone; write \\{character} for the character")
        special = {
            ".": ("atom", f"[^{_TERMINATORS}]"), "^": ("^", "^"), "$": ("$", "(?=[\\x85\\u2028\\u2029]?\\Z)"),
            ")": (")", ")"), "|": ("|", "|"),
        }  # fmt: skip
        return special.get(character, ("atom", re.escape(character)))

    def _take(self) -> str:
        if self._at == len(self._pattern):
            raise PatternError("ends too early")
        self._at += 1
        return self._pattern[self._at - 1]

    def _escape(self) -> str:
        character = self._take()
        if character in _CLASSES:
            return f"\\{character}"
        if character == "t":
            return "\\t"
        if character in _PUNCTUATION:
            return re.escape(character)
        raise PatternError(
            f"has \\{character}, which is not among what Assay can check (\\d \\w \\s \\t and their like)"
        )

    def _open(self) -> str:
        if not self._pattern.startswith("?", self._at):
            return "("
        if not self._pattern.startswith("?:", self._at):
            raise PatternError("has a group of a kind that Assay can't check; only ( ) and (?: ) can be used")
        self._at += 2
        return "(?:"

    def _quantifier(self, character: str) -> str:
        text = character
        if character == "{":
            found = _COUNT.match(self._pattern, self._at - 1)
            if not found:
                raise PatternError("has `{` that begins no number of times; write \\{ for the character")
            text, self._at = found[0], found.end()
        following = self._pattern[self._at : self._at + 1]
        if following == "+":
            raise PatternError("has a possessive quantifier, which Assay can't check")
        if following == "?":
            self._at += 1
            text += "?"
        return text

    def _class(self) -> str:
        """A class of characters, whose items are characters, ranges and escapes."""
        negated = self._pattern.startswith("^", self._at)
        self._at += negated
        items: list[str] = []
        while (character := self._take()) != "]":
            items.append(self._item(character))
        if not items:
            raise PatternError("has a class without characters")
        return f"[{'^' if negated else ''}{''.join(items)}]"

    def _item(self, character: str) -> str:
        low = self._member(character)
        ranged = self._pattern.startswith("-", self._at) and self._pattern[self._at + 1 : self._at + 2] != "]"
        if not ranged:
            return low
        self._at += 1
        high = self._member(self._take())
        if any(one[1:] in set(_CLASSES) for one in (low, high)):
            raise PatternError("has a range with a class at its end")
        return f"{low}-{high}"

    def _member(self, character: str) -> str:
        if character == "\\":
            return self._escape()
        if character in "[&^-":
            raise PatternError(f"has {character!r} within a class; write \\{character} there")
        return re.escape(character)
