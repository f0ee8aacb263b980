"""Leaves out of a record the numbers that no reader takes, so that every record that is written can be read.

JSON has neither NaN nor infinity, and whole numbers of Java and Parquet have 64 bits. A number beyond these is left
out, with whatever requires it, and a doubt names it: the rest of the trial stands.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from assay.model.doubt import doubt_kind
from assay.model.fact import Fact
from assay.model.naming import first_few
from assay.model.record import Record, Status, totals
from assay.record.reading import Unreadable, whole_record

Row = TypeVar("Row", bound=BaseModel)

MOST = 2.0**63
MOST_NAMED = 5
_NAMED_BY = ("node", "probe", "subject", "name", "medium", "series")
"""Fields that tell to which of several things a number belongs."""

LEFT_OUT = doubt_kind(
    "figures-left-out", "trial",
    when="a figure of a trial was NaN, infinite or beyond 64 bits",
    why="these figures are missing; the trial's others hold",
    cure="look at what gave the figure: the probe, the cluster's metrics or the workload's own report",
)  # fmt: skip


class _Nothing:
    """The type of `_GONE`, which stands for a value that is left out."""


_GONE = _Nothing()


def is_number(value: float) -> bool:
    """Tell whether a record can hold a number; False for NaN too."""
    return abs(value) < MOST


def readable_text(record: Record, lost: Collection[str] = ()) -> tuple[Record, str]:
    """Return the record as it can be read, and its JSON. `lost` are numbers that are missing in the trial's tables.

    Where it can't be read whatever is left out, a record of a failed trial says so.
    """
    names = [*lost]
    try:
        whole = _fit(record, "", names)
        if not isinstance(whole, Record) or (whole.scale is None) != (record.scale is None):
            raise Unreadable(f"{first_few(list(dict.fromkeys(names)), most=MOST_NAMED)} is no number")
        if names:
            sums = None if whole.totals is None else totals(whole.jobs, whole.staging_jobs)
            doubt = LEFT_OUT.doubt(
                f"no number, and so left out: {first_few(list(dict.fromkeys(names)), most=MOST_NAMED)}"
            )
            whole = whole.model_copy(update={"totals": sums, "doubts": (*whole.doubts, doubt)})
        text = whole.model_dump_json(indent=1)
        whole_record(text)
    except ValueError as error:  # Unreadable is one, and so is what JSON can't hold
        reason = f"its record could not be read: {error}"
        facts = _encodable_facts(record.facts)
        media_facts = {medium: _encodable_facts(own) for medium, own in record.media_facts.items()}
        whole = Record(
            trial=record.trial,
            status=Status.FAILED,
            error=_encodable(reason),
            facts=facts,
            media_facts=media_facts,
            steps=(),
        )
        text = whole.model_dump_json(indent=1)
    return whole, text


def fit_rows(rows: Collection[Row], lost: list[str]) -> Iterator[Row]:
    """Yield a table's rows, without those whose required numbers are gone; adds the names of such numbers to `lost`."""
    for row in rows:
        if all(is_number(value) for value in row.__dict__.values() if isinstance(value, int | float)):
            yield row
        elif (whole := fit(row, lost)) is not None:
            yield whole


def fit(value: Row, lost: list[str]) -> Row | None:
    """Drop a value's unreadable numbers, adding their names to `lost`; None where it requires one of them."""
    whole = _fit(value, "", lost)
    return None if whole is _GONE else whole


def _fit(value: Any, path: str, lost: list[str]) -> Any:
    """Drop unreadable numbers; `_GONE` where the value requires one, the value itself where nothing changes."""
    if isinstance(value, int | float) and not is_number(value):
        lost.append(path)
        return _GONE
    if isinstance(value, str) and not value.isascii():
        return _encodable(value)
    if isinstance(value, BaseModel):
        return _fit_model(value, path, lost)
    if isinstance(value, Mapping):
        parts = {key: _fit(part, f"{path}.{key}", lost) for key, part in value.items()}
        if any(parts[key] is not part for key, part in value.items()):
            return {key: part for key, part in parts.items() if part is not _GONE}
    if isinstance(value, tuple | list):
        items = [_fit(part, path, lost) for part in value]
        if any(item is not part for item, part in zip(items, value, strict=True)):
            return type(value)(item for item in items if item is not _GONE)
    return value


def _fit_model(value: BaseModel, path: str, lost: list[str]) -> Any:
    """Drop them in a model: a field that may be null becomes null, any other takes the model with it."""
    fields = {**{name: getattr(value, name) for name in type(value).model_fields}, **(value.model_extra or {})}
    names = [text for name in _NAMED_BY if isinstance(text := fields.get(name), str) and text]
    path = " ".join([*([path] if path else []), *names])
    changed: dict[str, Any] = {}
    for name, before in fields.items():
        after = _fit(before, f"{path}.{name}".strip("."), lost)
        if after is _GONE:
            field = type(value).model_fields.get(name)
            if field is not None and (field.is_required() or field.default is not None):
                return _GONE
            after = None
        if after is not before:
            changed[name] = after
    return value.model_copy(update=changed) if changed else value


def _encodable_facts(facts: Mapping[str, Fact]) -> dict[str, Fact]:
    return {name: _encodable(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}


def _encodable(text: str) -> str:
    """Make a text valid UTF-8: bytes of a file's name that were not UTF-8 become escapes."""
    return text.encode("utf-8", "backslashreplace").decode()
