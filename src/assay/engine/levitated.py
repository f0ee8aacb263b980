"""MapReduce with a shuffle that merges map outputs as they come, and keeps no fetched byte on a reducer's drives.

The design is that of a network-levitated merge, as UDA has it over RDMA; this one is Assay's own, over the stock
shuffle service. Its classes are in `direct/src/main/java/org/assay/levitated`, and all nodes of a cluster of Assay's
own have them.
"""

import resource
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from assay.engine.directing import TAGS, of_mapreduce
from assay.engine.mapreduce import KIND as MAPREDUCE
from assay.engine.mapreduce import MapReduce
from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import Doubt, doubt_kind
from assay.model.engine import History, JobReference
from assay.model.errors import BadInputError
from assay.model.existing import Site
from assay.model.registry import ENGINES, SERVICES
from assay.model.service import DaemonKind, Discovery, NodeContext, Service
from assay.model.value_bounds import ValueBounds

NAME = "mapreduce-levitated"
PLUG_IN = "mapreduce.job.reduce.shuffle.consumer.plugin.class"
STREAMS, DEFAULT_STREAMS = "assay.levitated.streams", "256"
COUNTERS = "AssayLevitated"
"""The group of its counters (direct/src/main/java/org/assay/levitated/LevitatedShuffle.java)."""
_STOCK = {
    "STOCK_TOO_MANY_MAPS": f"there are more map outputs than {STREAMS} allows",
    "STOCK_SSL": "the shuffle is encrypted",
    "STOCK_ENCRYPTED": "intermediate data are encrypted",
    "STOCK_LOCAL_JOB": "the job ran in one process",
}
# Of each stream in the shuffle service: its connection, and the file and its index.
_HANDLES = 3

SHUFFLED_IN_THE_STOCK_WAY = doubt_kind(
    "shuffled-in-the-stock-way", "job", instrument="job-history",
    when="reducers of a job of `mapreduce-levitated` could not merge streams, and fetched and merged as MapReduce does",
    why="the job's times and bytes are, in part, those of the engine `mapreduce`",
    cure=f"give {STREAMS} as many streams as the job has maps, or larger blocks",
)  # fmt: skip
STREAMS_REOPENED = doubt_kind(
    "streams-reopened", "job", instrument="job-history",
    when="streams of map outputs broke and were opened again where they broke",
    why="the service sends again what was read before, so that the job took longer and read more",
    cure="look into the logs of the NodeManagers and of the reducers for the reason",
)  # fmt: skip


class Levitated(MapReduce):
    """Runs launches and programs as MapReduce does; the jobs' own counters tell what reducers did."""

    def history(self, job: JobReference) -> History:
        """Read it as MapReduce does, with doubts where reducers did not merge streams, or these broke."""
        history = super().history(job)
        counted = history.job.counters.get(COUNTERS, {})
        return history.model_copy(update={"doubts": (*history.doubts, *_doubts(job, counted))})


def _doubts(job: JobReference, counted: Mapping[str, int]) -> Sequence[Doubt]:
    doubts = [
        SHUFFLED_IN_THE_STOCK_WAY.doubt(
            f"{reducers} reducers of {job.name} ({job.id}) fetched in the stock way: {_STOCK[name]}", job.id
        )
        for name, reducers in counted.items()
        if name in _STOCK
    ]
    if reopened := counted.get("REOPENED", 0):
        doubts.append(
            STREAMS_REOPENED.doubt(f"{reopened} streams of {job.name} ({job.id}) broke and were opened again", job.id)
        )
    return doubts


def _properties(_node: NodeContext) -> Mapping[str, str]:
    return {
        PLUG_IN: "org.assay.levitated.LevitatedShuffle",
        # Of each file that the service sends: with 4 MiB, the default, those of a few streams fill a small page cache.
        "mapreduce.shuffle.readahead.bytes": "524288",
    }


def _check(_spec: EmbeddedSpec, properties: Mapping[str, str], _daemons: Sequence[DaemonKind]) -> None:
    streams = int(properties.get(STREAMS, DEFAULT_STREAMS))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    handles = inf if most == resource.RLIM_INFINITY else most
    if streams * _HANDLES > handles:
        raise BadInputError(
            f"{STREAMS} is {streams}, for which the shuffle service may need {streams * _HANDLES} open files, and a "
            f"process may have {most} here; give fewer streams, or raise the limit by `ulimit -Hn`"
        )


def _not_there_yet(_options: Mapping[str, Any], site: Site) -> Mapping[str, str]:
    raise BadInputError(
        f"{NAME} runs on clusters that Assay starts, not yet on that of {site.conf_dir}, whose nodes lack its classes; "
        "leave conf_dir out, or name another engine", "engine",
    )  # fmt: skip


LEVITATED = Service(
    NAME,
    needs=("mapreduce",),
    properties=_properties,
    discovery=Discovery(_not_there_yet),
    check=_check,
    bounds={STREAMS: ValueBounds(1)},
    open_names=(r"assay\.levitated\.streams",),
    reserved=frozenset({PLUG_IN}),
)
SERVICES.add(LEVITATED.name, LEVITATED, place=12)


def _directed(tier: str) -> Mapping[str, str]:
    """Only maps have intermediate data on drives: reducers keep their own shuffle."""
    return {name: value for name, value in {**of_mapreduce(tier), **TAGS}.items() if name != PLUG_IN}


KIND = MAPREDUCE._replace(open=Levitated, services=(LEVITATED.name,), directed=_directed)
ENGINES.add(NAME, KIND, place=4)
