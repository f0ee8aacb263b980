"""The texts of Hive's queries, from the events that Hive's own hook writes into `query_data` beside Tez' histories.

Its files are sequence files of messages `HiveHookEventProto`, of which a query has one when it is submitted, with its
text and its plan, and one when it has ended (Hive: HiveEvents.proto, HiveProtoLoggingHook). Hive 4.1.0 leaves out
text and plan of queries that run as DAGs (HiveHookEventProtoPartialBuilder); these DAGs have the text.
"""

import re
from pathlib import Path

from pydantic_core import from_json

from assay.engine.past.query_names import without_literals
from assay.engine.protobuf import fields_of, message_in, pair_of, text_of
from assay.engine.sequence_files import SequenceFile

_NAMED = re.compile(r"hive_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(_\d+)?")
_TYPE, _QUERY_ID, _OTHER = 1, 2, 50
"""The fields of an event that are read."""
_SUBMITTED, _QUERY, _TEXT = "QUERY_SUBMITTED", "QUERY", "queryText"


def is_query_data(name: str) -> bool:
    """Whether a file is called as those of `query_data` are."""
    return _NAMED.fullmatch(name) is not None


def texts_in(file: Path) -> dict[str, str]:
    """The texts of a file's queries without literals, by the queries' ids; events that are damaged are left out.

    Raises OSError, and ValueError for what can't be read, in words that follow on `it`.
    """
    texts: dict[str, str] = {}
    if not file.stat().st_size:  # Hive begins a file before it has an event for it
        return texts
    with file.open("rb") as opened:
        for content in SequenceFile(opened):
            try:
                query, text = _query_in(message_in(content))
            except (ValueError, LookupError, TypeError):
                continue
            if query and text:
                texts[query] = without_literals(text)
    return texts


def _query_in(message: bytes) -> tuple[str, str]:
    """The id and the text of the query that an event submits; empty for another event.

    Raises ValueError, LookupError or TypeError for what is no event.
    """
    kind = query = text = ""
    for number, value in fields_of(message):
        if number == _TYPE:
            kind = text_of(value)
        elif number == _QUERY_ID:
            query = text_of(value)
        elif number == _OTHER and not text:
            key, said = pair_of(value)
            text = str(from_json(said)[_TEXT] or "") if key == _QUERY else ""
    return (query, text) if kind == _SUBMITTED else ("", "")
