"""A Prometheus that scrapes node_exporters (1.x): how it is asked, and which of its series tell what of a machine.

Source: Prometheus' HTTP API. Only the machines' own instances are asked for, where their names fit into an address.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple
from urllib.parse import quote

from assay.model.host_names import HostNames, host_of, is_loopback
from assay.model.probe import Ask, Quantity, SeriesTable
from assay.model.quantity import Kind, Wrap
from assay.probe.counters import COUNT_32_BITS, MS_32_BITS
from assay.probe.disk import SECTORS_32_BITS

MOST_CHOSEN = 3_000
"""Characters of a choice of instances in an address: a query may hold it twice, and proxies take 8 KiB."""
BOOT_TIME = "node_boot_time_seconds"
"""Every node_exporter has it."""
_CHOSEN = "$instances"
"""Stands in queries for the choice of the cluster's own instances."""
_ALL = 'instance!=""'
_DEVICES, _ANY_DEVICE = "$devices", 'device!=""'
"""Stands in queries for the choice of devices."""
_EACH = "{$devices,$instances}"


class ExportedSeries(NamedTuple):
    """Series of node_exporters: how PromQL asks for them, and what becomes of each value.

    `by` is the label that tells apart what a machine has several of; `subject` and `series` may have its value in them.
    `kind` is what the series is of.
    """

    query: str
    subject: str
    series: str
    kind: Kind
    by: str = ""

    def quantity(self, label: str) -> Quantity:
        """What the values with a label are of."""
        return Quantity(self.subject.format(label), self.series.format(label), level=self.kind is Kind.LEVEL)


class TargetGroup(NamedTuple):
    """What is lost without any of these series; `devices` says of which devices they are."""

    lost: str
    needs: str
    series: tuple[ExportedSeries, ...]
    devices: str = ""


def _counters(subject: str, by: str, chosen: str, kind: Kind, names: Mapping[str, str]) -> tuple[ExportedSeries, ...]:
    return tuple(
        ExportedSeries(f"max by (instance{', ' * bool(by)}{by}) ({metric}{chosen})", subject, series, kind, by)
        for metric, series in names.items()
    )


DRIVES = TargetGroup(
        "what each machine's drives read and wrote", "node_disk_*",
        (
            *_counters("disk {}", "device", _EACH, Kind.BYTES, {
                "node_disk_read_bytes_total": "read_bytes", "node_disk_written_bytes_total": "written_bytes",
            }),
            *_counters("disk {}", "device", _EACH, Kind.CLOCK_TIME, {
                "node_disk_io_time_seconds_total": "busy_s",
            }),
        ),
        devices="drives",
)  # fmt: skip
GROUPS = (
    DRIVES,
    TargetGroup(
        "what each machine's network interfaces carried", "node_network_*",
        _counters("interface {}", "device", _EACH, Kind.BYTES, {
            "node_network_receive_bytes_total": "received_bytes", "node_network_transmit_bytes_total": "sent_bytes",
        }),
        devices="interfaces",
    ),
    TargetGroup(
        "what the processors did", "node_cpu_seconds_total",
        (
            ExportedSeries(
                "sum by (instance, mode) (max by (instance, cpu, mode) (node_cpu_seconds_total{$instances}))",
                "processor", "{}_s", Kind.PROCESSOR_TIME, "mode",
            ),
        ),
    ),
    TargetGroup(
        "how much memory and page cache were in use", "node_memory_*",
        tuple(
            ExportedSeries(f"max by (instance) ({query})", "memory", series, Kind.LEVEL)
            for query, series in {
                "node_memory_MemTotal_bytes{$instances} - node_memory_MemAvailable_bytes{$instances}": "used_bytes",
                "node_memory_Cached_bytes{$instances}": "page_cache_bytes",
                "node_memory_Dirty_bytes{$instances}": "dirty_bytes",
            }.items()
        ),
    ),
    TargetGroup(
        "how long tasks waited for processors, memory and drives", "node_pressure_* (Linux with PSI)",
        _counters("pressure", "", "{$instances}", Kind.CLOCK_TIME, {
            f"node_pressure_{resource}_{how}_seconds_total": f"{resource}_{word}_s"
            for resource in ("cpu", "memory", "io")
            for how, word in (("waiting", "some"), ("stalled", "full"))
            if (resource, how) != ("cpu", "stalled")
        }),
    ),
)  # fmt: skip
_KINDS = {each.series.format("*"): each.kind for group in GROUPS for each in group.series}
SERIES = SeriesTable(
    {series: kind for series, kind in _KINDS.items() if kind is not Kind.LEVEL},
    [series for series, kind in _KINDS.items() if kind is Kind.LEVEL],
    {
        **dict.fromkeys(("read_bytes", "written_bytes"), SECTORS_32_BITS),
        **dict.fromkeys(("received_bytes", "sent_bytes"), COUNT_32_BITS),
        "busy_s": Wrap(MS_32_BITS.range / 1000, MS_32_BITS.most / 1000),
    },
)


class QuerySteps(NamedTuple):
    """Times for which series are asked for, by Prometheus' clock."""

    begin_s: float
    end_s: float
    step_s: int


class PrometheusServer:
    """Asks one, and knows which of its instances are which machines. Each call raises NoAnswerError."""

    def __init__(self, url: str, ask: Ask) -> None:
        self.url, self._ask = url.rstrip("/"), ask
        self.nodes: dict[str, str] = {}
        """The machines' names by their instances, once they are found."""
        self._chosen = _ALL

    def find(self, hosts: HostNames) -> None:
        """Find the instances of some machines: by their hosts, or by what uname(2) says there."""
        called: dict[str, set[str]] = {}
        for metric in (BOOT_TIME, "node_uname_info"):
            for result in self.query(metric):
                labels = result["metric"]
                host = host_of(labels["instance"])
                called.setdefault(labels["instance"], set()).update({host, labels.get("nodename", host)})
        names_of = {instance: hosts.find(sorted(names, key=is_loopback)) for instance, names in called.items()}
        self.nodes = {instance: name for instance, name in names_of.items() if name is not None}
        self._chosen = chosen(self.nodes)

    def query(self, query: str) -> Any:
        """The result of a query now, of any device."""
        return self._result("query", {"query": query.replace(_DEVICES, _ANY_DEVICE)})

    def by_node(self, query: str) -> dict[str, float]:
        """The value of a query that has one for each instance, now."""
        return {
            self.nodes[instance]: float(result["value"][1])
            for result in self.query(query)
            if (instance := result["metric"].get("instance", "")) in self.nodes
        }

    def range(self, query: str, steps: QuerySteps, devices: str = _ANY_DEVICE) -> list[Mapping[str, Any]]:
        """The series of a query at each step; `devices` is a choice of them in PromQL."""
        times = {"start": f"{steps.begin_s:.3f}", "end": f"{steps.end_s:.3f}", "step": f"{steps.step_s}"}
        series: list[Mapping[str, Any]] = self._result(
            "query_range", {"query": query.replace(_DEVICES, devices), **times}
        )
        return series

    def at_steps(self, query: str, steps: QuerySteps) -> dict[str, dict[float, float]]:
        """By instance, the largest value of a query by each step's time."""
        return {
            result["metric"].get("instance", ""): {float(at_s): float(value) for at_s, value in result["values"]}
            for result in self.range(f"max by (instance) ({query})", steps)
        }

    def exported(
        self, series: ExportedSeries, steps: QuerySteps, devices: Mapping[str, Set[str]] | None
    ) -> Iterator[tuple[str, Quantity, list[tuple[float, float]]]]:
        """The instances' values of some series at each step, each with the step's time.

        With `devices` only those of each instance.
        """
        some = _ANY_DEVICE if devices is None else chosen(set().union(*devices.values()), "device")
        for result in self.range(series.query, steps, some):
            instance, label = result["metric"].get("instance", ""), result["metric"].get(series.by, "")
            if instance in self.nodes and (devices is None or label in devices.get(instance, ())):
                values = [(float(at_s), float(value)) for at_s, value in result["values"]]
                yield instance, series.quantity(label), values

    def devices_in_use(self, series: Iterable[ExportedSeries]) -> dict[str, set[str]]:
        """By instance, the devices of which any of these series was ever above 0."""
        used: dict[str, set[str]] = {}
        for each in series:
            for result in self.query(each.query):
                instance = result["metric"].get("instance", "")
                if instance in self.nodes and float(result["value"][1]) > 0:
                    used.setdefault(instance, set()).add(result["metric"].get("device", ""))
        return used

    def _result(self, page: str, parameters: Mapping[str, str]) -> Any:
        query = parameters["query"].replace(_CHOSEN, self._chosen)
        return self._ask(f"{self.url}/api/v1/{page}", {**parameters, "query": query})["data"]["result"]


def chosen(names: Iterable[str], label: str = "instance") -> str:
    """PromQL that chooses series with these names as a label; all where that would be too long."""
    pattern = json.dumps("|".join(re.escape(name) for name in sorted(names)), ensure_ascii=False)
    return f"{label}=~{pattern}" if len(quote(pattern)) <= MOST_CHOSEN else f'{label}!=""'
