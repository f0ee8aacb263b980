"""What a site's Prometheus knows of the drives of the nodes on which jobs ran.

A few `query_range` requests (Prometheus: HTTP API) fetch the counters of node_exporter for the time in which any job
ran, and when each was scraped: a value at a step is that of the last scrape before it, however long ago that was.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import ceil
from statistics import median

from assay.engine.past.job import PastJob
from assay.model.errors import BadInputError, NoAnswerError
from assay.model.host_names import HostNames
from assay.model.naming import first_few
from assay.model.probe import Ask, Reading
from assay.node.devices import drives_by_name, is_of_paths
from assay.probe.counters import Readings
from assay.probe.prometheus_server import DRIVES, SERIES, PrometheusServer, QuerySteps
from assay.triage.busy import MeasuredDrives, busy_at_rest, rest_remark, unnamed_volumes

_BUSY = "node_disk_io_time_seconds_total"
_SCRAPED = f"timestamp({_BUSY}{{$instances}})"
_VOLUMES = "node_disk_device_mapper_info{$instances}"
_STEP_S, _SELDOM_S = 15, 120
"""The shortest step, and the longest time between two scrapes: after five minutes a Prometheus forgets a value, and one
scrape may fail."""
_MOST_POINTS, _MOST_STEPS, _POINTS_AT_ONCE = 2_000_000, 10_000, 150_000
"""Of all answers, of one answer's series, and of one answer."""
_APART_S = 600
"""Jobs further apart are asked for one by one."""


def ask_prometheus(
    url: str, ask: Ask, jobs: Sequence[PastJob], progressed: Callable[[int, int], object]
) -> MeasuredDrives:
    """The counters of all drives of the nodes; `progressed` is told how many requests of how many are answered.

    Raises BadInputError where there is no Prometheus, or none of the nodes, or of their drives, is known to it.
    """
    server = PrometheusServer(url, ask)
    try:
        server.find(HostNames(node for job in jobs for node in job.nodes))
        if not server.nodes:
            known = ", ".join(sorted({node for job in jobs for node in job.nodes})[:3])
            raise BadInputError(
                f"--prometheus {url} has no {_BUSY} of the nodes on which the jobs ran ({known}); let it scrape "
                "the node_exporters by these names, or leave --prometheus out"
            )
        used = server.devices_in_use(series for series in DRIVES.series if _BUSY in series.query)
        drives_at = {instance: drives_by_name(names).counted for instance, names in used.items()}
        drives = {server.nodes[instance]: drives for instance, drives in drives_at.items()}
        if not any(drives.values()):
            raise BadInputError(
                f"--prometheus {url} has no {_BUSY} of any drive of the nodes on which the jobs ran; let it scrape "
                "node_exporters of version 0.16 or newer that leave out no drive, or leave --prometheus out"
            )
        paths = set(filter(is_of_paths, set().union(*used.values())))
        volumes = [of["metric"] for of in server.query(_VOLUMES) if of["metric"].get("instance") in server.nodes]
        if paths := paths | {of["name"] for of in volumes if of.get("uuid", "").startswith("mpath-")}:
            raise BadInputError(
                f"--prometheus {url} has volumes with several paths ({first_few(sorted(paths))}), and does not tell "
                "which devices are paths of which; leave --prometheus out"
            )
        counts = server.by_node('count by (instance) (node_cpu_seconds_total{mode="idle"})')
        memory = server.by_node("max by (instance) (node_memory_MemTotal_bytes)")
        readings, step_s = _fetch(server, drives_at, list(windows(jobs)), progressed)
    except NoAnswerError as error:
        raise BadInputError(
            f"--prometheus {url} can't be asked: {error.reason}; look whether it is up, or leave it out"
        ) from None
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise BadInputError(f"--prometheus {url} gave an answer that is incomplete or malformed: {error}") from None
    by_node = {node: [of_node] for node, of_node in readings.items()}
    devices = {} if volumes else {server.nodes[instance]: names for instance, names in used.items()}
    at_rest = busy_at_rest(by_node)
    return MeasuredDrives(
        "the Prometheus", by_node, drives, step_s, memory, max(map(int, counts.values()), default=None),
        [*unnamed_volumes("the Prometheus", drives, devices), *rest_remark("the Prometheus", at_rest)], at_rest,
    )  # fmt: skip


def _fetch(
    server: PrometheusServer, drives_at: Mapping[str, frozenset[str]], periods: Sequence[tuple[float, float]],
    progressed: Callable[[int, int], object],
) -> tuple[dict[str, Readings], int]:  # fmt: skip
    """The counters by node at the times of their scrapes, and how far apart these usually are, in seconds."""
    series = max(1, sum(map(len, drives_at.values())))
    total_s = sum(end_s - begin_s + 4 * _SELDOM_S for begin_s, end_s in periods)
    step_s = max(_STEP_S, ceil(3 * total_s * series / _MOST_POINTS))
    steps = max(2, min(_MOST_STEPS, _POINTS_AT_ONCE // series))
    ranges = [piece for window in periods for piece in _pieces(*window, step_s, steps)]
    by_node: dict[str, Readings] = {}
    apart_s: list[int] = []
    for number, (begin_s, end_s) in enumerate(ranges, 1):
        times = QuerySteps(round(begin_s), round(end_s), step_s)
        scraped = server.at_steps(_SCRAPED, times)
        for instance in scraped.keys() & drives_at.keys():
            scraped_at_s = sorted(set(scraped[instance].values()))
            apart_s += [round(later - earlier) for earlier, later in pairwise(scraped_at_s)]
        for exported in DRIVES.series:
            for instance, quantity, values in server.exported(exported, times, drives_at):
                node, scraped_s = server.nodes[instance], scraped.get(instance, {})
                readings = by_node.setdefault(node, Readings("prometheus", SERIES))
                for at_s, value in values:
                    if at_s in scraped_s:
                        readings.add(Reading(node, scraped_s[at_s], {quantity: value}))
        progressed(number, len(ranges))
    return by_node, max(step_s, round(median(apart_s or [0])))


def windows(jobs: Sequence[PastJob]) -> Iterator[tuple[float, float]]:
    """The times in which any job ran, in seconds since the epoch; near ones are one."""
    times = sorted((stage.begin_ms / 1000, stage.end_ms / 1000) for job in jobs for stage in job.stages)
    begin_s = end_s = 0.0
    for begin, end in times:
        if end_s and begin > end_s + _APART_S:
            yield begin_s, end_s
            begin_s = end_s = 0.0
        begin_s, end_s = begin_s or begin, max(end_s, end)
    if end_s:
        yield begin_s, end_s


def _pieces(begin_s: float, end_s: float, step_s: int, steps: int) -> Iterator[tuple[float, float]]:
    """A time in pieces of so many steps, each beginning where the one before ends."""
    around_s = 2 * max(step_s, _SELDOM_S)  # as much as a stage gets more, and a scrape around it
    begin_s, end_s = begin_s - around_s, end_s + around_s
    while begin_s < end_s:
        yield begin_s, min(end_s, begin_s + steps * step_s)
        begin_s += steps * step_s
