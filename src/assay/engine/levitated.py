"""MapReduce with a shuffle that merges map outputs as they come, and keeps no fetched byte on a reducer's drives.

The design is that of a network-levitated merge, as UDA has it over RDMA. This one is Assay's own, over the stock
shuffle service (`jobs/levitated`).

The service hands the kernel as much of a map output as its socket takes, in pages of the page cache (sendfile), which
can't be given back until the reducer has read them. By default that is 4 MiB of each stream, whatever the reducer's
own buffer. Few streams can so hold all of a small page cache. Nodes that are hosts of their own have smaller sockets.
"""

import resource
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path

from assay.engine.directing import TAGS, of_mapreduce
from assay.engine.mapreduce import KIND as MAPREDUCE
from assay.engine.mapreduce import MapReduce
from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import Doubt, doubt_kind
from assay.model.engine import History, JobReference
from assay.model.errors import BadInputError
from assay.model.naming import bytes_text
from assay.model.registry import ENGINES, SERVICES
from assay.model.service import DaemonKind, NodeContext, Programs, Service
from assay.model.value_bounds import ValueBounds

ENGINE, SERVICE = "mapreduce-levitated", "levitated"
PLUG_IN = "mapreduce.job.reduce.shuffle.consumer.plugin.class"
STREAMS, DEFAULT_STREAMS = "assay.levitated.streams", 256
COUNTERS = "AssayLevitated"
"""The group of its counters (`LevitatedShuffle` of jobs/levitated)."""
_STOCK = {
    "STOCK_TOO_MANY_MAPS": f"there are more map outputs than {STREAMS} allows",
    "STOCK_SMALL_HEAP": "the buffers of so many streams would take over a quarter of a reducer's heap",
    "STOCK_SSL": "the shuffle is encrypted",
    "STOCK_ENCRYPTED": "intermediate data are encrypted",
    "STOCK_LOCAL_JOB": "the job ran in one process",
}
# Of each stream in the shuffle service: its connection, and the file and its index.
_HANDLES = 3
_REDUCERS = "mapreduce.job.reduces"
_SOCKETS = "net.ipv4.tcp_wmem"
# What the service's socket holds at most on a node that is a host of its own, and the reducer's (`MapOutputStream`),
# of which the kernel makes twice as much.
_SENT_BYTES, _RECEIVED_BYTES = 128 << 10, 2 * (64 << 10)

SHUFFLED_IN_THE_STOCK_WAY = doubt_kind(
    "shuffled-in-the-stock-way", "job", instrument="job-history",
    when="reducers of a job of `mapreduce-levitated` could not merge streams, and fetched and merged as MapReduce does",
    why="the job's times and bytes are, in part, those of the engine `mapreduce`",
    cure=f"give {STREAMS} as many streams as the job has maps, reducers more memory, or files larger blocks",
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


def _check(spec: EmbeddedSpec, properties: Mapping[str, str], _daemons: Sequence[DaemonKind]) -> None:
    """A node has open files and page cache for as many streams as reducers may have."""
    streams = int(properties.get(STREAMS, DEFAULT_STREAMS))
    reducers = max(1, int(properties.get(_REDUCERS, 1)))
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    files = _HANDLES * streams * reducers
    if files > (inf if most == resource.RLIM_INFINITY else most):
        raise BadInputError(
            f"the shuffle service may need {files} open files for {streams} streams of {reducers} reducers, and a "
            f"process may have {most} here; make {STREAMS} smaller, or raise the limit (`ulimit -Hn`)", STREAMS,
        )  # fmt: skip
    stream_bytes = (_SENT_BYTES if spec.workers else _sent_bytes_here()) + _RECEIVED_BYTES
    held_bytes = stream_bytes * streams * reducers // max(1, len(spec.workers))
    if spec.page_cache_bytes is not None and held_bytes > spec.page_cache_bytes:
        smaller = "" if spec.workers else ", or a network (cluster: {network: ...}), with which sockets are smaller"
        raise BadInputError(
            f"the sockets of {streams} streams of {reducers} reducers may hold {bytes_text(held_bytes)} of a node's "
            f"page cache, which is {bytes_text(spec.page_cache_bytes)}; make {STREAMS} smaller, give a larger "
            f"page_cache{smaller}", STREAMS, "page_cache",
        )  # fmt: skip


def _sent_bytes_here() -> int:
    """What a socket of this machine holds at most to be sent (the kernel's ip-sysctl.rst)."""
    return int(Path("/proc/sys", *_SOCKETS.split(".")).read_text(encoding="utf-8").split()[2])


def _settings(nodes: Sequence[NodeContext]) -> Mapping[str, str]:
    return {f"levitated.{_SOCKETS}": _SENDING[_SOCKETS]} if nodes[0].spec.workers else {}


_SENDING = {_SOCKETS: f"4096 16384 {_SENT_BYTES}"}
LEVITATED = Service(
    SERVICE,
    needs=("mapreduce",),
    programs=Programs("assay-levitated-*.jar"),
    job_jars=("lib/*.jar",),
    trial_properties={PLUG_IN: "org.assay.levitated.LevitatedShuffle"},
    network_settings=_SENDING,
    settings=_settings,
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
ENGINES.add(ENGINE, KIND, place=4)
