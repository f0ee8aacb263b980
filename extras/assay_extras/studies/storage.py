"""The storage subsystem study: chapter 6 and what chapter 7 concludes, HDFS beside HBase.

Bytes are in multiples of the job's input; `most` and `mean` are over the DataNodes. Times come from one node, or from a
cluster whose nodes had processors of their own.

What the set-up alone makes so is no evidence. HBase writes what it is given twice, to its log and to its table, and
both to as many nodes as there are copies. So of S-C01 only the reads are judged, of S-C05 only how the network's ratio
stands to the disks', of S-C10 only HDFS; S-C08 asks for more than twice as much as the set-up's twice.
"""

from collections.abc import Mapping
from typing import Any

from assay_extras.studies.claims import (
    Check,
    Claim,
    Compare,
    Conditions,
    Interaction,
    Near,
    Relation,
    every,
    of,
    some,
    where,
)

STAGING = where(workload="word-frequency", job="staging")
COUNT = where(workload="word-frequency", job="count")
K_MEANS = where(workload="k-means", job="iteration")
ALL_ATTRIBUTES, SOME_ATTRIBUTES = "iteration, all attributes", "iteration, some attributes"
"""Iterations where tables keep the attributes that take part apart from the others: without such others, and with."""
ITERATION = of(K_MEANS, metric="elapsed")
EVEN_OFF = 0.3
"""Twice what chance puts above the mean on one of ten nodes, of 200 blocks with three copies each."""
THREE_TIMES, THREE_OFF = 3.0, 1.0
"""About three times as long is from two to four times."""


def less_on(store: str, than: str, metric: str, places: Conditions, relation: Relation = "less") -> Claim:
    """One store has less of a metric than another."""
    return Compare("store", store, relation, than, of(places, metric=metric))


def on_hdfs(metric: str, places: Conditions, relation: Relation = "less") -> Claim:
    """HDFS has less than HBase."""
    return less_on("hdfs", "hbase", metric, places, relation)


def evenly(metric: str, places: Conditions) -> Claim:
    """The node with most has at most 1.3 times what they have on average."""
    return Near("metric", f"most {metric}", f"mean {metric}", 1.0, places, off=EVEN_OFF)


def twice(field: Any, level: str, base: str, **more: Any) -> Claim:
    """An iteration on twice as much takes twice as long."""
    return Near(field, level, base, 2.0, {**ITERATION, **where(**more)}, off=0.2)


CHECKS: Mapping[str, Check] = {
    "S-C01": (every(on_hdfs("disk read", STAGING, "much less")),),
    "S-C03": (every(evenly("disk write", of(STAGING, store="hdfs"))),),
    "S-C05": (every(Interaction("store", "hdfs", "hbase", "metric", "network", "mean disk", STAGING)),),
    "S-C06": (every(Near("store", "hbase", "hdfs", THREE_TIMES, of(STAGING, metric="elapsed"), off=THREE_OFF)),),
    "S-C07": (every(on_hdfs("disk read", COUNT)),),
    "S-C08": (every(on_hdfs("disk write", COUNT, "far less")),),
    "S-C09": (every(evenly("disk read", of(COUNT, store=("hdfs", "hbase")))),),
    "S-C10": (every(Compare("metric", "network", "hardly any", "input", of(COUNT, store="hdfs"))),),
    "S-C11": (every(less_on("hbase", "hdfs", "elapsed", COUNT)),),
    "S-C12": (every(on_hdfs("elapsed", where(workload="word-frequency", job="staging and count"))),),
    "S-C13": (every(Compare("store", "hbase", "same", "hdfs", of(K_MEANS, metric="disk read"))),),
    "S-C14": (every(on_hdfs("disk write", K_MEANS)),),
    "S-C15": (every(on_hdfs("network", K_MEANS, "much less")),),
    "S-C16": (every(less_on("hbase", "hdfs", "elapsed", K_MEANS)),),
    "S-C18": (
        every(twice("dataset", "10000000 points", "5000000 points")),
        every(twice("settings", "k = 10", "k = 5")),
    ),
    "S-C20": (
        every(
            Interaction(
                "store", "hdfs", "hbase", "job", SOME_ATTRIBUTES, ALL_ATTRIBUTES,
                where(workload="k-means", metric="elapsed"),
            )
        ),
    ),
    "S-C22": (
        some(*(on_hdfs("elapsed", places) for places in (COUNT, K_MEANS))),
        some(*(less_on("hbase", "hdfs", "elapsed", places) for places in (COUNT, K_MEANS))),
    ),
}  # fmt: skip

NEVER: Mapping[str, str] = {
    "S-C02": "it follows from the set-up: `replication: 3` has three copies written on any drives",
    "S-C04": "no counter tells what a master wrote: the kernel counts each group of pages that a line of the "
    "NameNode's edits touches as written, each time such a line is synced",
    "S-C17": "k-means' time on both stores is all that would tell it, and S-C16 counts that already",
    "S-C19": "it follows from the set-up: an output that is put into HBase goes to its log and to its table, each in "
    "as many copies as HDFS writes of it once",
    "S-C21": "it speaks of hierarchical clustering, which no workload here does",
}
"""Those that no run's values can speak to."""
SCALED: Mapping[str, str] = {
    **dict.fromkeys(
        ("S-C06", "S-C12"),
        "at this size making the text and the starts of programs, which the study's time of staging did not have in "
        "it, outweigh what the store does",
    ),
    "S-C03": "at this size a node's share is a few blocks, which chance does not even out",
    "S-C18": "at this size what a job takes whatever its data, its start above all, outweighs the iteration's work",
}
"""Those that no scaled run can speak to."""
SCALE_DECIDES: Mapping[str, str] = {
    "S-C16": "iterations of some 15 s, in which what HBase takes whatever the data weighs more than in the study",
}
"""Those whose verdict another size may change."""
ACROSS = frozenset({"S-C22"})
"""Those that speak of several applications, each with an experiment of its own: all runs together judge them."""
