"""Records, plans and samples of schema 3, as those of schema 4: losslessly.

All facts were texts there, and a medium's had its name before theirs: `medium.hdd.rotational` was `yes`.
A series of samples was `SUBJECT/SERIES` there, or `SERIES` of the machine as a whole. A subject may have a `/` in it, a
series never had.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

VERSION = 3

WHOLE = {
    "cores", "dilation", "dirty_limit_bytes", "free_bytes", "memory_bytes", "nodes", "queue_depth", "read_ahead_kb",
    "backing_read_ahead_kb", "seed", "size_bytes", "nr_requests", "max_sectors_kb", "wbt_lat_usec",
}  # fmt: skip
"""Facts that were the text of a whole number, beside those of rates."""
RATES = "_bits_per_s"
FLOATING = {"cpu_quota", "bzip2_mb_s", "unused_page_cache"}
"""Facts that were the text of a number with decimals."""
TRUTH = {"yes": True, "no": False}
ROTATIONAL = {"rotational", "backing_rotational"}


def converted(content: Mapping[str, Any]) -> dict[str, Any]:
    """A record's or plan's JSON of schema 3 in the form of schema 4."""
    facts = content.get("facts")
    if not isinstance(facts, dict):  # a plan has none
        return {**content, "schema_version": 4}
    trial = content.get("trial")
    specs = trial.get("media") if isinstance(trial, dict) else None
    names = [str(medium.get("name")) for medium in specs or () if isinstance(medium, dict)]
    others: dict[str, Any] = {}
    media: dict[str, dict[str, Any]] = {}
    for name, text in facts.items():
        medium, fact = _medium_and_fact(name, names)
        if medium:
            media.setdefault(medium, {}).update(_values(fact, text))
        else:
            others |= _values(name, text)
    return {**content, "schema_version": 4, "facts": others, "media_facts": media}


def _medium_and_fact(name: str, media: Iterable[str]) -> tuple[str, str]:
    """The medium, or `MEDIUM.NODE`, and what remains of a fact's name; no medium for any other fact."""
    for medium in sorted(media, key=len, reverse=True):
        if name.startswith(f"medium.{medium}."):
            node, _, fact = name.removeprefix(f"medium.{medium}.").rpartition(".")
            return f"{medium}.{node}" if node else medium, fact
    return "", name


def _values(name: str, text: object) -> dict[str, Any]:
    """A fact under its name of schema 4, as what it is; a text such as `unknown` stays one."""
    if not isinstance(text, str):
        return {name: text}
    assumed, _, parameters = text.partition(" of ")
    if name == "assumed_figures" and assumed.isdecimal() and parameters.isdecimal():
        return {"assumed_parameters": int(assumed), "parameters": int(parameters)}
    if (name in WHOLE or name.endswith(RATES)) and text.isdecimal():
        return {name: int(text)}
    if name in FLOATING:
        with suppress(ValueError):
            return {name: float(text)}
    return {name: TRUTH.get(text, text) if name in ROTATIONAL else text}


def with_subjects(table: "pyarrow.Table") -> "pyarrow.Table":
    """A table of samples of schema 3 with its subjects as a column; any other as it is."""
    if "series" not in table.column_names or "subject" in table.column_names:
        return table
    import pyarrow
    import pyarrow.compute as pc

    place, names = table.column_names.index("series"), pc.dictionary_encode(table["series"].combine_chunks())
    parts = [name.rpartition("/") for name in names.dictionary.to_pylist()]
    columns = [
        pyarrow.DictionaryArray.from_arrays(names.indices, pyarrow.array(own, pyarrow.string())).cast(pyarrow.string())
        for own in ([subject for subject, _, _ in parts], [series for _, _, series in parts])
    ]
    return table.set_column(place, "series", columns[1]).add_column(place, "subject", columns[0])
