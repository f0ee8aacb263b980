"""Jobs that are directed to a tier of local directories, by the classes of `direct/`: how they say so, what came of it.

MapReduce's jobs name it in their own configuration, and count their tasks by outcome. Containers of other engines name
it in their environment, and the NodeManager's log tells of each.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress

from assay.model.engine import History
from assay.model.layout import Directory
from assay.model.running_cluster import ClusterNode

EXECUTOR = "org.assay.direct.TierExecutor"
TIER_VARIABLE = "ASSAY_DIRECT_TIER"
"""By which a container's environment names its tier (direct/src/main/java/org/assay/direct/TierExecutor.java)."""
COUNTERS = "AssayDirect"
"""The group of the tasks' or containers' outcomes (direct/src/main/java/org/assay/direct/Outcome.java)."""
TAGS_FILE = "local-dirs"
TAGS = {"assay.direct.tiers.file": f"${{env.HADOOP_CONF_DIR}}/{TAGS_FILE}"}
"""Each node of a cluster of Assay's own has a file of tags beside its configuration, which Hadoop finds by variable."""

_TOLD = re.compile(r"\bTierExecutor: ([A-Z_]+) of container_(?:e\d+_)?(\d+_\d+)_")


def of_mapreduce(tier: str) -> dict[str, str]:
    """The properties of a MapReduce job whose intermediate data go to a tier."""
    return {
        "mapreduce.job.map.output.collector.class": "org.assay.direct.MapOutput",
        "mapreduce.job.reduce.shuffle.consumer.plugin.class": "org.assay.direct.ReduceShuffle",
        "assay.direct.tier": tier,
    }


def of_spark(tier: str) -> dict[str, str]:
    """The properties of an application of Spark whose executors have a tier."""
    return {f"spark.executorEnv.{TIER_VARIABLE}": tier}


def of_tez(tier: str) -> dict[str, str]:
    """The properties of a Tez session, or a DAG without one, whose containers have a tier.

    In a session all DAGs have the environment of its configuration (Tez' TezClient). A task that fetches from its own
    node would look into its own container's directories alone (Tez' Fetcher), and the DAG would run maps again whose
    outputs lie in another tier; the shuffle service looks into all.
    """
    return {"tez.task.launch.env": f"{TIER_VARIABLE}={tier}", "tez.runtime.optimize.local.fetch": "false"}


def names_tier(properties: Mapping[str, str]) -> bool:
    """Whether containers of a job with these properties name a tier."""
    return any(TIER_VARIABLE in f"{name}={value}" for name, value in properties.items())


def tags_text(directories: Iterable[Directory]) -> str:
    """A node's file of tags, with a line for each directory."""
    return "".join(f"[{directory.tier}]{directory.path}\n" for directory in directories)


def with_outcomes(history: History, nodes: Iterable[ClusterNode]) -> History:
    """The history of a job whose containers name a tier, with how many had each outcome among its counters."""
    number = history.job.id.partition("_")[2]
    outcomes: Counter[str] = Counter()
    for node in nodes:
        for daemon in node.daemons:
            if daemon.role == "nodemanager":
                with suppress(OSError):
                    told = _TOLD.findall(node.node.read(daemon.log))
                    outcomes.update(outcome for outcome, application in told if application == number)
    counters = {**history.job.counters, COUNTERS: dict(outcomes)}
    return history.model_copy(update={"job": history.job.model_copy(update={"counters": counters})})
