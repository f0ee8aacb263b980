"""Files of `query_data` as Hive's own hook writes them: made after its published messages, not by a Hive.

Hive 4.1.0, of which `tests/it/test_hive.py` reads a file, leaves the text out of queries that run as DAGs.
"""

import json
from typing import NamedTuple

from tests.engine.made_tez import BEGAN_MS, proto_message, sequence_file

UUID = "0c8e5d5e-1111-2222-3333-444444444444"


class MadeQuery(NamedTuple):
    """A query, after whose id its DAGs are called."""

    text: str
    number: int = 1
    ends: bool = True
    user: str = "hive"

    @property
    def id(self):
        return f"{self.user}_20261125{self.number:06d}_{UUID}"


def events(query):
    """The events of a query: it is submitted, with its text, its plan and its configuration, and ends."""
    common = {2: query.id, 3: BEGAN_MS, 5: "nobody", 7: "hive"}
    plan = {"STAGE DEPENDENCIES": {"Stage-1": {"ROOT STAGE": "TRUE"}}}
    of_query = {"TEZ": "true", "QUERY": json.dumps({"queryText": query.text, "queryPlan": plan}), "CONF": '{"a":"b"}'}
    tables = {9: ["default.sums"], 10: ["default.orders", "default.days"]}
    submitted = {1: "QUERY_SUBMITTED", **common, 4: "TEZ", 6: "root.etl", 8: "operation", **tables}
    yield proto_message({**submitted, 50: _pairs(of_query)})
    if query.ends:
        completed = {1: "QUERY_COMPLETED", **common, 50: _pairs({"STATUS": "true", "PERF": '{"compile":500}'})}
        yield proto_message(completed)


def _pairs(entries):
    return [proto_message({1: key, 2: value}) for key, value in entries.items()]


def write_query_data(folder, *queries, number=1):
    """Write a server's file of a day as Hive calls it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"hive_{UUID}_{number}"
    file.write_bytes(sequence_file([event for query in queries for event in events(query)]))
    return file
