"""Trials on several nodes, made up of amounts as probes leave them, about those of a small TeraSort."""

from assay.model.cluster import MASTER, EmbeddedSpec
from assay.model.network import INTERFACES, Pair
from assay.model.record import Amount, Step
from tests.builders import a_record, device_reports
from tests.report.made_trials import a_report, ms, the_tables

MIB = 2**20
BUSIEST = "worker-2"
"""Has twice the work of the others."""


def an_amount(node, probe, subject, series, value, part="run"):
    return Amount(probe=probe, subject=subject, series=series, part=part, value=value, node=node)


def traffic(sender, receiver, series, mib, interface="", part="run"):
    return an_amount(sender, "network", Pair(sender, receiver, interface).subject, f"{series}_bytes", mib * MIB, part)


def between(sender, receiver, control="", data=""):
    """What a worker or the master sends another node in one part of a TeraSort, in MiB."""
    if MASTER in (sender, receiver):
        yield traffic(sender, receiver, "hdfs_rpc_to_server", 0.4, control)
        yield traffic(sender, receiver, "other", 0.3, control)
        if sender == MASTER:
            yield traffic(sender, receiver, "hdfs_data_to_server", 1.5, data)
        else:
            yield traffic(sender, receiver, "hdfs_data_from_server", 3.0, data)
        return
    much = 2.0 if BUSIEST in (sender, receiver) else 1.0
    yield traffic(sender, receiver, "replication_to_server", 24.0 * much, data)
    yield traffic(sender, receiver, "shuffle_from_server", 16.0 * much, data)
    yield traffic(sender, receiver, "shuffle_to_server", 0.1, data)
    yield traffic(sender, receiver, "hdfs_data_from_server", 6.0, data)
    yield traffic(sender, receiver, "other", 0.2, control)


def of_node(node, pairs, interfaces):
    """What probes count on one node, besides what passes between pairs."""
    much = 2.0 if node == BUSIEST else 1.0
    for interface in interfaces:
        own = [one for one in pairs if not interface or one.subject.endswith(f" by {interface}")]
        name = f"interface {interface or INTERFACES[0]}"
        yield an_amount(node, "network", name, "sent_bytes", sum(one.value for one in own if one.node == node))
        received = sum(one.value for one in own if Pair.of(one.subject).receiver == node)
        yield an_amount(node, "network", name, "received_bytes", received)
    yield an_amount(node, "network", "interface lo", "received_bytes", 999 * MIB)
    yield an_amount(node, "network", f"{node}: clients > datanode", "hdfs_data_to_server_bytes", 34 * MIB)
    yield an_amount(node, "network", f"{node}: datanode > clients", "hdfs_data_from_server_bytes", 30 * MIB)
    if node == MASTER:
        for group, user_s in (("namenode", 4.0), ("clients", 3.0), ("emulator", 50.0), ("assay", 5.0)):
            yield an_amount(node, "processes", group, "user_s", user_s)
            yield an_amount(node, "processes", group, "resident_peak_bytes", 200 * MIB)
        return
    yield an_amount(node, "processes", "datanode", "user_s", 3.0)
    yield an_amount(node, "processes", "containers", "user_s", 20.0 * much)
    yield an_amount(node, "processes", "containers", "system_s", 2.0 * much)
    yield an_amount(node, "processes", "datanode", "resident_peak_bytes", 180 * MIB)
    yield an_amount(node, "processes", "containers", "resident_peak_bytes", 700 * MIB)
    yield an_amount(node, "disk-processes", "datanode", "read_bytes", 40 * MIB * much)
    yield an_amount(node, "disk-processes", "datanode", "written_bytes", 90 * MIB * much)
    yield an_amount(node, "disk-processes", "datanode", "cancelled_write_bytes", 10 * MIB)


def cluster_amounts(workers, interfaces=("",)):
    """Of the master and the workers; by two `interfaces` of control and of data, where they are named."""
    nodes = [MASTER, *(f"worker-{number}" for number in range(1, workers + 1))]
    pairs = [
        one
        for sender in nodes
        for receiver in nodes
        if sender != receiver
        for one in between(sender, receiver, interfaces[0], interfaces[-1])
    ]
    machine = [
        Amount(probe="cpu", subject="machine", series=f"{state}_s", part="run", value=value)
        for state, value in (("user", 60.0), ("system", 10.0))
    ]
    return (*machine, *pairs, *(one for node in nodes for one in of_node(node, pairs, interfaces)))


def on_cluster(record, workers=3, network="gigabit", emulated=True):
    """A record as if its trial had run on so many workers; with `emulated` drives, or on directories of one device."""
    interfaces = INTERFACES if "+" in network else ("",)
    medium = record.trial.media[0]
    trial = record.trial.model_copy(
        update={
            "cluster": EmbeddedSpec(nodes=workers, network=network),
            "media": (medium.model_copy(update={"kind": "emulated" if emulated else "directory"}),),
        }
    )
    reports = {f"worker-{number}/{medium.name}": {"run": a_report(40.0)} for number in range(1, workers + 1)}
    return record.model_copy(
        update={
            "trial": trial,
            "amounts": cluster_amounts(workers, interfaces),
            "devices": device_reports(reports) if emulated else (),
            "facts": {"cores": 2, "memory_bytes": 1 << 30, "host": "vm"},
        }
    )


def a_cluster_record(workers=3, network="gigabit", *, emulated=True, **changes):
    steps = (
        Step(name="stage", started_ms=ms(-10), seconds=9),
        Step(name="run", started_ms=ms(0), seconds=40.0),
        Step(name="verify", started_ms=ms(40), seconds=1),
    )
    return on_cluster(a_record(steps=steps), workers, network, emulated).model_copy(update=changes)


def cluster_tables(number=1, medium="hdd", workers=3, network="gigabit", repetition=1):
    """A trial with all its tables, as pages draw it."""
    one = the_tables(number, medium, repetition=repetition)
    return one._replace(record=on_cluster(one.record, workers, network))
