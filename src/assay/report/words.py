"""Numbers and names as people read them, the same in every report."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from math import floor, log10
from typing import TYPE_CHECKING

from assay.model.installed import engine_kind
from assay.model.registry import WORKLOADS
from assay.report.typed import as_typed
from assay.stats.summary import Row

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def seconds_text(seconds: float | None) -> str:
    """Tenths below 100 s, whole seconds above, thousands apart; a dash for what is not there."""
    if seconds is None:
        return "-"
    return f"{seconds:.1f}" if seconds < 99.95 else f"{seconds:,.0f}"


def percent(share: float) -> str:
    """`33 %`; a share that rounds to nothing is `under 1 %`."""
    return "under 1 %" if 0 < abs(share) < 0.005 else f"{round(100 * share):d} %"


def change_text(saving: float) -> str:
    """`14 % less time`, or more."""
    return f"{percent(abs(saving))} {'less' if saving >= 0 else 'more'} time"


def whole_seconds_text(seconds: float) -> str:
    """`61 s`; of less than 10 s with tenths."""
    return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:,.0f} s"


def capitalised(text: str) -> str:
    """With a capital letter, the rest as it is."""
    return f"{text[:1].upper()}{text[1:]}"


def base_text(rows: Sequence[Row]) -> str:
    """The placement that all ratios of a table are to; where groups have several, how each has its own."""
    bases = {row.comparison.base for row in rows if row.comparison}
    return bases.pop() if len(bases) == 1 else "the group's first placement that has a time"


def shown_words(shown: Sequence[Row], rows: Sequence[Row]) -> str:
    """Which of very many combinations a table has; ends without a full stop."""
    return f"{len(shown)} of {len(rows)} combinations, those that failed or differ most"


def phases_of(rows: Sequence[Row]) -> list[str]:
    """The names of the phases of an average task, in the engines' order."""
    return list(
        dict.fromkeys(name for row in rows for name in (*engine_kind(row.group.engine).phases, *(row.phases or {})))
    )


def duration_text(seconds: float) -> str:
    """Seconds below a minute, then minutes and seconds, or hours and minutes."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return f"{rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes}:{rest:02d} min"


def about_text(seconds: float) -> str:
    """Whole seconds below two minutes, then whole minutes, or hours and minutes."""
    minutes = round(seconds / 60)
    return duration_text(seconds) if minutes >= 60 else f"{minutes} min" if minutes >= 2 else f"{round(seconds)} s"


def age_text(seconds: float) -> str:
    """Whole minutes below two hours, whole hours below two days, then whole days."""
    minutes = max(0, int(seconds // 60))
    hours, days = minutes // 60, minutes // (60 * 24)
    return f"{minutes} min" if hours < 2 else f"{hours} h" if days < 2 else f"{days} days"


def number_text(value: float | None) -> str:
    """Three digits or more, thousands apart; a dash for what is not there."""
    if value is None:
        return "-"
    size = abs(value)
    return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def significant_text(value: float | None) -> str:
    """Two significant digits, thousands apart: 12,345 is 12,000, and 0.0123 is 0.012; a dash for what is not there."""
    if value is None:
        return "-"
    if not value:
        return "0"
    rounded = round(value, 1 - floor(log10(abs(value))))
    # Asked again: what is rounded up to the next power of ten has one place less (0.0996 is 0.10).
    places = 1 - floor(log10(abs(rounded)))
    return f"{rounded:,.{max(0, places)}f}"


def print_line(console: "Console", text: "str | Text", style: str | None = None) -> None:
    """One line on a terminal, however long it is; names in it are no markup."""
    console.print(
        as_typed(text) if isinstance(text, str) else text, style=style, highlight=False, markup=False, soft_wrap=True
    )


def print_text(console: "Console", text: "str | Text", style: str | None = None) -> None:
    """Print text on a terminal, broken at its width; names in it are no markup."""
    console.print(as_typed(text) if isinstance(text, str) else text, style=style, highlight=False, markup=False)


_FOLDERS = re.compile(r"(?<==)/\S*/(?=[^/\s])")


def without_folders(options: str) -> str:
    """A workload's options in one line, of paths the last name: `input=logs` for `input=/data/2026/logs`."""
    return _FOLDERS.sub("", options)


_MOST_VALUE_LETTERS = 40
_LONG_VALUE = re.compile(rf"(?<==)(?:(?! [\w.-]+=).){{{_MOST_VALUE_LETTERS + 1},}}", re.DOTALL)


def clipped(value: str) -> str:
    """An option's value; of a long one both ends and a part of its hash, which differs where the values do."""
    if len(value) <= _MOST_VALUE_LETTERS:
        return value
    return f"{value[:20]}…{value[-12:]}#{sha256(value.encode()).hexdigest()[:6]}"


def shown_level(name: str, level: str) -> str:
    """A factor's level as people read it: of options, long values are clipped."""
    return _LONG_VALUE.sub(lambda match: clipped(match[0]), level) if name == "options" else level


def option_pairs(levels: Mapping[str, str]) -> list[tuple[str, str]]:
    """The options of a workload by its levels, of paths the last name; values are whole."""
    texts = re.split(r" (?=[\w.-]+=)", without_folders(levels.get("options", "")))
    return [(name, value) for name, _, value in (text.partition("=") for text in texts if text)]


def job_name(levels: Mapping[str, str]) -> str:
    """A workload's name; of a user's own job what its options call it: `Sessions` for the class `org.site.Sessions`."""
    workload = levels.get("workload", "")
    kind, options = WORKLOADS.get(workload), dict(option_pairs(levels))
    option = next((name for name in kind.named_by if options.get(name)), "") if kind else ""
    value = options.get(option, workload)
    return {"class": value.rpartition(".")[2], "jar": re.sub(r"\.(jar|py)$", "", value)}.get(option, value)


PLAIN = ("variant", "dataset")
"""The factors whose levels tell by themselves what they are of."""
TOLD_FIRST = ("variant", "dataset", "options")
"""The factors that tell workloads of one name apart, before all others."""


def labels_of(workloads: Sequence[Mapping[str, str]]) -> list[str]:
    """A name for each workload by its levels: its own, with as many of the others as tell it from the others."""
    names = list(dict.fromkeys(name for levels in workloads for name in levels))
    varying = [name for name in names if len({levels.get(name, "") for levels in workloads}) > 1]
    ordered = [*(name for name in TOLD_FIRST if name in varying), *(name for name in varying if name not in TOLD_FIRST)]
    labels = [levels.get("workload", "") for levels in workloads]
    for name in ordered:
        alike = [labels.count(label) > 1 for label in labels]
        labels = [
            f"{label}, {level_text(name, levels[name])}" if shared and levels.get(name) else label
            for label, shared, levels in zip(labels, alike, workloads, strict=True)
        ]
    return labels


def level_text(name: str, level: str) -> str:
    """`store files`, or the level alone where it tells by itself what it is of."""
    if name == "options":
        return shown_level(name, without_folders(level))
    return level if name in PLAIN else f"{name} {level}"
