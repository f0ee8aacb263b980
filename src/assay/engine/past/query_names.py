"""What all runs of a query have in common: its text without literals, as Hive gives it to DAGs of Tez and to jobs.

Hive gives it to DAGs twice: as `dagInfo`, with the context `Hive`, and as the caller's context, which is `HIVE` (Hive:
TezTask). Jobs of MapReduce have it in their configuration, encoded as in URLs since Hive 2 (Hive: HiveConf).
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_plus

from pydantic_core import from_json

_HIVES = re.compile(r"(?P<query>[^\s:]+_\d{14}_[0-9a-f-]{36})(:\d+|_User:.*)?")
"""The id of a query. Hive 3 names the query's DAGs by it and a number; Hive 4 gives it as the caller's id, with a user.
It begins with the user that Hive runs as: `hive` for most servers, anybody for Hive's own command (Hive:
QueryPlan.makeQueryId)."""
QUERY_TEXT = "hive.query.string"
"""The property of a job with the text of its query."""
_STAGE = re.compile(r"\s*\(Stage-\d+\)$")
"""What ends the names that Hive gives to jobs, behind the shortened text of their query (Hive: Driver)."""
_PARTS = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)"""
    r"""|'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*\""""
    r"""|(?<![\w.`])[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?:[LSYDBlsydb]|BD)?(?![\w`])"""
    r"""|`[^`]*`|[A-Za-z_][\w.]*""",
    re.DOTALL,
)
_LISTS, _ROWS = re.compile(r"\(\s*\?(?:\s*,\s*\?)*\s*\)"), re.compile(r"\(\?\)(?:\s*,\s*\(\?\))+")


def query_text(dag: Mapping[str, Any]) -> str:
    """The text of the query that a DAG's plan is for (`dagInfo`, `dagContext`), without literals; empty if none is."""
    plan = dag.get("dagPlan") or {}
    said = plan.get("dagInfo") or {}
    if isinstance(said, str):
        try:
            said = from_json(said)
        except ValueError:
            said = {}
    for facts in (said, plan.get("dagContext")):
        if isinstance(facts, Mapping) and str(facts.get("context")).lower() == "hive" and facts.get("description"):
            return without_literals(str(facts["description"]))
    return ""


def query_of_job(name: str, text: str) -> str:
    """The query of which a job of MapReduce runs a stage, without literals; empty for a job that Hive did not name.

    It is the `text` in the job's configuration, or else the shortened one in its name.
    """
    shortened, stages = _STAGE.subn("", name)
    if not stages:
        return ""
    whole = text if re.search(r"\s", text) else unquote_plus(text)
    return without_literals(whole or shortened)


def without_literals(query: str) -> str:
    """A query with `?` in place of texts, numbers and lists of these; without comments and line breaks."""
    plain = _PARTS.sub(_kept, query)
    return " ".join(_ROWS.sub("(?)", _LISTS.sub("(?)", plain)).split()).rstrip("; ")


def _kept(match: re.Match[str]) -> str:
    if match["comment"]:
        return " "
    return match[0] if match[0][0].isalpha() or match[0][0] in "_`" else "?"


def is_query_id(name: str) -> bool:
    """Whether a DAG is named after a query's id, which tells nothing of other runs of the query."""
    return bool(query_id(name))


def query_id(name: str) -> str:
    """The id of a query in the name of its DAG or the id of its caller; empty where that has none."""
    match = _HIVES.fullmatch(name)
    return match["query"] if match else ""
