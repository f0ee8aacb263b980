"""The records of Tez' history files of both forms, each as SimpleHistoryLoggingService writes it.

Protobuf histories have a file for each DAG in `dag_data/date=DATE`, whose values are messages `HistoryEventProto` with
their lengths before them (Tez: ProtoHistoryLoggingService, HistoryLogger.proto); or two, of which the second, called
like the first with `_1` behind it, begins when the DAG has started (`tez.history.logging.split-dag-start`). Files of
applications in `app_data` have the same form; those in `dag_meta`, and Hive's in `query_data`
(`past/hive_queries.py`), hold other messages.
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from assay.engine.packed_lines import Lines, head_of, json_of
from assay.engine.protobuf import fields_of, message_in, pair_of, text_of
from assay.engine.sequence_files import MAGIC, SequenceFile
from assay.engine.tez_history import TezRecord

_NAMED = re.compile(r"history\.txt\.appattempt_\d+_\d+_\d+|dag_\d+_\d+_\d+(_\d+){0,2}")
_SECOND = re.compile(r"(dag(?:_\d+){4})_1")
_BESIDE = re.compile(r"appattempt_\d+_\d+_\d+")
_OF_JSON = re.compile(rb'"entitytype"\s*:\s*"TEZ_')
_GZIP = b"\x1f\x8b"
_MESSAGES = b"ProtoMessageWritable"
_AROUND_RECORDS = b"\x01\r\n "
_DAGS = re.compile(rb"(?<![a-z])(?:dag|vertex|task|attempt)_(\d+_\d+_\d+)")

_TYPE, _TIME, _USER, _APPLICATION, _MASTER, _DAG, _VERTEX, _TASK, _ATTEMPT, _DATA = range(1, 11)
"""The fields of a HistoryEventProto."""
_JSON_KEYS = frozenset({"config", "counters", "dagPlan", "servicePlugin", "vertexNameIdMapping"})


def is_tez_name(name: str) -> bool:
    """Whether a file is called as Tez' histories are."""
    return _NAMED.fullmatch(name.removesuffix(".gz")) is not None


def is_beside_tez(name: str) -> bool:
    """Whether a file is called as those of `app_data` and `dag_meta` are."""
    return _BESIDE.fullmatch(name) is not None


def is_head_of_tez(head: bytes) -> bool:
    """Whether a file that begins so is one of Tez' histories, of either form."""
    if head.startswith(MAGIC):
        return _MESSAGES in head[:256]
    return head.startswith(b"{") and _OF_JSON.search(head) is not None


class TezLog:
    """The records of a file. Of protobuf those of tasks themselves are left out: their attempts say the same.

    When all are read, `cut` says how the file ends too early, where it does; `damaged` counts the records that can't be
    read by the number of their DAG, as in `dag_NUMBER`, and those of which it is not known under the empty text. Lines
    that are no records, such as a logger's, are `foreign`.
    """

    def __init__(self, log: Path, opened: ExitStack) -> None:
        """Raises OSError, and ValueError for what can't be read, in words that follow on `it`."""
        self.damaged: Counter[str] = Counter()
        self.foreign = 0
        self._contents = [_opened(file, opened) for file in _files_of(log)]
        self._in_lines = isinstance(self._contents[-1], Lines)

    @property
    def cut(self) -> str:
        """How it ends too early; empty where it does not."""
        too_long = any(isinstance(content, Lines) and content.skipped for content in self._contents)
        cuts = filter(None, (content.cut for content in self._contents))
        return next(cuts, "one of its records is too long" if too_long else "")

    def note_damage(self, content: bytes) -> None:
        """Count a record that can't be read, by what it holds."""
        numbers = set(_DAGS.findall(content))
        if self._in_lines and not numbers and not content.startswith(b"{"):
            self.foreign += 1
        else:
            self.damaged[numbers.pop().decode() if len(numbers) == 1 else ""] += 1

    def __iter__(self) -> Iterator[TezRecord]:
        for content in chain.from_iterable(self._contents):
            text = content.strip(_AROUND_RECORDS)
            try:
                record = (json_of(text) if text else None) if self._in_lines else _record_of(message_in(content))
                if record is not None:
                    record["entity"]
                    yield record
            except (ValueError, LookupError, TypeError):
                self.note_damage(text)


def _files_of(log: Path) -> list[Path]:
    """The file, after the one with its DAG's beginning where that is another."""
    second = _SECOND.fullmatch(log.name)
    first = log.with_name(second[1]) if second else log
    return [first, log] if second and first.exists() else [log]


def _opened(log: Path, opened: ExitStack) -> SequenceFile | Lines:
    file = opened.enter_context(log.open("rb"))
    if file.peek(2).startswith(_GZIP) and head_of(log).startswith(MAGIC):
        raise ValueError("is compressed with gzip: unpack it")
    return SequenceFile(file) if file.peek(len(MAGIC)).startswith(MAGIC) else Lines(file)


def _record_of(message: bytes) -> TezRecord | None:
    """The record that a HistoryEventProto is; None for that of a task. Raises ValueError for what is none."""
    fields: dict[int, Any] = {}
    data: dict[str, Any] = {}
    for number, value in fields_of(message):
        if number == _DATA:
            key, data[key] = pair_of(value)
        elif number < _DATA:
            fields[number] = value if number == _TIME else text_of(value)
    if not isinstance(fields.get(_TIME), int) or _TYPE not in fields:
        raise ValueError("it is no event")
    if _TASK in fields and _ATTEMPT not in fields:
        return None
    for key in _JSON_KEYS & data.keys():
        data[key] = from_json(data[key])
    entity = next((fields[number] for number in (_ATTEMPT, _VERTEX, _DAG) if number in fields), "")
    user = [{"entitytype": "user", "entity": fields[_USER]}] if _USER in fields else []
    return {
        "entity": entity or f"tez_{fields.get(_MASTER) or fields.get(_APPLICATION, '')}", "relatedEntities": user,
        "events": [{"eventtype": fields[_TYPE], "ts": fields[_TIME]}], "otherinfo": data,
    }  # fmt: skip
