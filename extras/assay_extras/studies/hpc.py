"""The HPC study: sections 3.3 to 3.5, as far as they speak of Hadoop alone.

`nodes` include the master. Times are the jobs', rates TestDFSIO's, ED2P all nodes' energy times the time squared.
"""

from collections.abc import Mapping
from functools import partial

from assay_extras.studies.claims import (
    LARGEST,
    SMALLEST,
    Across,
    Check,
    Claim,
    Compare,
    Follows,
    Interaction,
    Relation,
    against,
    every,
    mostly,
    of,
    where,
)

READ = where(workload="testdfsio-read", metric="throughput")
WRITE = where(workload="testdfsio-write", metric="throughput")
RATES = where(workload=("testdfsio-read", "testdfsio-write"), metric="throughput")
WORDS = where(workload="word-count", metric="elapsed")
SORT = where(workload="terasort", metric="elapsed")
RANKS = where(workload="page-rank", metric="elapsed")


network, drive = partial(against, "network"), partial(against, "medium")


def power(level: str, relation: Relation, base: str) -> Claim:
    """What one node takes beside another, in TeraSort."""
    return Compare("metric", level, relation, base, of(SORT, metric=(level, base)))


CHECKS: Mapping[str, Check] = {
    "H01": (mostly(network("GbE", "less", "IPoIB", RATES)),),
    "H02": (every(network("GbE", "same", "IPoIB", READ, nodes=3)),),
    "H03": (every(Interaction("network", "IPoIB", "GbE", "nodes", LARGEST, SMALLEST, READ)),),
    "H04": (every(network("GbE", "less", "IPoIB", WRITE)),),
    "H08": (
        every(drive("hdd", "less", "ssd", RATES)),
        every(Interaction("medium", "ssd", "hdd", "nodes", SMALLEST, LARGEST, RATES)),
    ),
    "H10": (every(drive("ssd", "same", "hdd", WORDS)),),
    "H11": (every(network("IPoIB", "same", "GbE", WORDS)),),
    "H15": (every(Follows("ed2p", "elapsed", WORDS)),),
    "H16": (every(Compare("nodes", LARGEST, "less", SMALLEST, of(WORDS, metric="ed2p"))),),
    "H18": (
        every(drive("ssd", "less", "hdd", SORT)),
        every(Interaction("medium", "hdd", "ssd", "nodes", SMALLEST, LARGEST, SORT)),
    ),
    "H19": (
        every(
            network("IPoIB", "less", "GbE", SORT, medium="hdd", nodes=(9, 13)),
            network("IPoIB", "less", "GbE", SORT, medium="ssd", nodes=(5, 9)),
        ),
        every(Interaction("network", "GbE", "IPoIB", "nodes", LARGEST, SMALLEST, SORT)),
    ),
    "H26": (every(drive("ssd", "less", "hdd", SORT, metric="ed2p")),),
    "H29": (every(network("IPoIB", "less", "GbE", RANKS)),),
    "H32": (every(drive("ssd", "less", "hdd", RANKS, metric="ed2p", nodes=9)),),
    "H33": (
        every(Across({"nodes": 9, "medium": "ssd"}, "less", {"nodes": 13, "medium": "hdd"}, of(
            RANKS, metric="ed2p", network="GbE"))),
        every(Across({"nodes": 13, "medium": "hdd"}, "less", {"nodes": 9, "medium": "ssd"}, of(
            RANKS, metric="ed2p", network="IPoIB"))),
    ),
    "H42": (every(power("most power", "about", "least power")), every(power("master's power", "less", "least power"))),
    "H44": (mostly(network("IPoIB", "less", "GbE", SORT), network("IPoIB", "less", "GbE", RANKS)),),
    "H48": (every(network("IPoIB", "less", "GbE", RANKS, metric="reduce")),),
}  # fmt: skip

_WITHIN = "it needs power within the run, of which a record has the average alone"
NEVER: Mapping[str, str] = dict.fromkeys(("H36", "H37", "H41", "H43"), _WITHIN)
"""Those that no run's values can speak to."""
SCALED: Mapping[str, str] = {}
"""Those that no scaled run can speak to."""
