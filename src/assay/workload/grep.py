"""Grep: Hadoop's own search for a pattern, and how often each text that matches occurs.

Left out is what differs: inline flags, look-around, word boundaries, back references, possessive quantifiers, classes
by name, classes within classes. Sources: the documentation of java.util.regex.Pattern and of Python's `re`.

Unchanged, from hadoop-mapreduce-examples (org.apache.hadoop.examples.Grep): a job that searches and counts, and one
that sorts by the counts. On the text of RandomTextWriter, or on the user's own files.
"""

import re
from itertools import pairwise

from assay.input.staging import example
from assay.input.text import RandomText, TextInput
from assay.model.dataset import InputKind
from assay.model.doubt import CheckResult, verdict
from assay.model.engine import Engine, LaunchReport
from assay.model.errors import AssayError
from assay.model.progress import Progress
from assay.model.registry import WORKLOADS
from assay.model.store import Store
from assay.model.trial import ResourceEstimate
from assay.model.workload import BYTES_S, MIB, Option, hadoop_cost
from assay.workload.base import BaseWorkload, output_rows, whole
from assay.workload.text import (
    OWN_FILES,
    TextCounter,
    TooManyTextsError,
    judge_counts,
    lines_of_text,
    most_held_bytes,
    user_text,
    with_counts,
    with_settings,
)

_TERMINATORS = "\\n\\r\\x85\\u2028\\u2029"
_CLASSES = "dDwWsS"
_PUNCTUATION = set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ ")
_COUNT = re.compile(r"\{(\d{1,4})(,(\d{0,4}))?\}")


MOST_DEPTH = 50


class PatternError(ValueError):
    """A pattern that can't be used; the message says why."""


def compile_pattern(pattern: str, group: int = 0) -> re.Pattern[str]:
    """Compile Python's equivalent of a Java pattern. Raises PatternError."""
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
            if kind == "quantifier" and last not in {"atom", ")"}:
                raise PatternError(
                    f"has {text!r} with nothing before it to repeat (\\{text[0]} stands for the character)"
                )
            if kind == "quantifier" and last == ")" and re.match(r"[*?]|\{0", text):
                self.may_skip_groups = True
            self.may_skip_groups |= kind == "|"
            parts.append(text)
            last = kind
        if depth:
            raise PatternError("leaves a group open")
        self.python = "".join(parts)

    def _next(self) -> tuple[str, str]:
        """Read the next element: its kind and its Python form."""
        character = self._take()
        if character == "\\":
            return "atom", self._escape()
        if character == "[":
            return "atom", self._class()
        if character == "(":
            if not self._pattern.startswith("?", self._at):
                return "(", "("
            if not self._pattern.startswith("?:", self._at):
                raise PatternError("has a group of a kind that Assay can't check; only ( ) and (?: ) can be used")
            self._at += 2
            return "(", "(?:"
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

    def _quantifier(self, character: str) -> str:
        text = character
        if character == "{":
            match = _COUNT.match(self._pattern, self._at - 1)
            if not match:
                raise PatternError("has `{` that begins no number of times; write \\{ for the character")
            text, self._at = match[0], match.end()
        following = self._pattern[self._at : self._at + 1]
        if following == "+":
            raise PatternError("has a possessive quantifier, which Assay can't check")
        if following == "?":
            self._at += 1
            text += "?"
        return text

    def _class(self) -> str:
        """Read a class of characters, whose items are characters, ranges and escapes."""
        negated = self._pattern.startswith("^", self._at)
        self._at += negated
        items: list[str] = []
        while (character := self._take()) != "]":
            low = self._member(character)
            items.append(low)
            if self._pattern.startswith("-", self._at) and self._pattern[self._at + 1 : self._at + 2] != "]":
                self._at += 1
                high = self._member(self._take())
                if any(end[1:] in set(_CLASSES) for end in (low, high)):
                    raise PatternError("has a range with a class at its end")
                items.append(f"-{high}")
        if not items:
            raise PatternError("has a class without characters")
        return f"[{'^' if negated else ''}{''.join(items)}]"

    def _member(self, character: str) -> str:
        if character == "\\":
            return self._escape()
        if character in "[&^-":
            raise PatternError(f"has {character!r} within a class; write \\{character} there")
        return re.escape(character)


_HOME = "dfs.user.home.dir.prefix"
# Python's search, per byte of text.
_CHECK_BYTES_S = 60e6


class Grep(BaseWorkload):
    """What matches is counted, then listed with the most frequent first."""

    takes = InputKind.TEXT
    summary = "counts the texts that match a pattern, and sorts them by count"
    stresses = "reading HDFS, and the maps' processors; little is shuffled unless most matches differ"
    source = "RandomTextWriter and Grep of hadoop-mapreduce-examples, unchanged"
    result = "`count<TAB>text`, by falling count"
    verified = (
        "every count equals that of Python's `re` over the same lines; counts never rise; the counters equal the "
        "matches; unknown if the different matches take more than 1 GiB of memory"
    )
    known_options = {
        "pattern": Option("un[a-z]+", "a regular expression, limited to what Java and Python have in common"),
        "group": Option("0", "the group of a match that is counted; 0 is the whole match"),
        "size": Option("1GB", "bytes of the words that RandomTextWriter writes"),
        "files": Option("4", "number of its files and of the map tasks that write them"),
        "directory": Option("", OWN_FILES, is_path=True),
    }

    input: TextInput

    def read_options(self) -> None:
        self._group = self.options.count("group", least=0)
        try:
            self._pattern = compile_pattern(self.options.text("pattern"), self._group)
        except PatternError as error:
            raise self.error(f"pattern {self.options.text('pattern')!r} {error}") from None
        self.input = user_text(self.options, self.spec, strict=True) or RandomText(*self.options.file_size())

    def estimate(self) -> ResourceEstimate:
        """Estimate by the text, which is written, read, and searched again in Python; matches are held in memory."""
        size = self.input.size()
        memory_bytes = 128 * MIB + most_held_bytes(int(size.bytes))
        return hadoop_cost(3, 2 / BYTES_S + 1 / _CHECK_BYTES_S, 1.2, memory_bytes).estimate(size)

    def command_options(self) -> tuple[str, ...]:
        return (f"--pattern={self.options.text('pattern')}", f"--group={self._group}")

    def run(self, engine: Engine, progress: Progress) -> LaunchReport:
        """Run Hadoop's two jobs with the output of the first below the trial's paths instead of the user's home."""
        if self.variant.command:
            return with_settings(super().run(engine, progress), self.input)
        arguments = (self.input_path, self.output_path, self.options.text("pattern"), str(self._group))
        properties = {_HOME: f"{self.base}/home{self.part}", **self.spec.hadoop}
        report = engine.run_program(example("Grep", arguments, properties, "search", "sort"), progress)
        histories = [engine.history(job) for job in report.jobs]
        jobs = [history.job for history in histories]
        # Grep ends with 0 whatever becomes of its jobs.
        failed = next((job for job in jobs if job.state != "SUCCEEDED"), None)
        if failed is not None or len(jobs) != 2:
            state = f"its job {failed.id} is {failed.state}" if failed else f"it ran {len(jobs)} jobs, not 2"
            raise AssayError(f"Grep failed: {state}")
        return with_counts(report, histories[0], "matches", self.input)

    def verify(self, store: Store, report: LaunchReport) -> tuple[CheckResult, ...]:
        matches: TextCounter[str] = TextCounter()
        try:
            for line in lines_of_text(store, self.input_path):
                matches.add(match[self._group] for match in self._pattern.finditer(line))
        except TooManyTextsError as error:
            return (error.verdict,)
        rows = output_rows(store.lines(self.output_path), self.spec.name, count=whole, match=bytes)
        counts = [(match.decode(errors="replace"), count) for count, match in rows]
        rises = sum(before < after for (_, before), (_, after) in pairwise(counts))
        return (
            *judge_counts(matches.counts, counts, report, "matches"),
            verdict("counts never rise", passed=rises == 0, detail=f"{rises} counts are above the one before"),
        )


WORKLOADS.add("grep", Grep, place=18)
