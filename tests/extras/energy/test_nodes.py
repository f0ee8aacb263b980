"""Proves whose a cluster's joules are: each node's own, and of a machine that nodes share a part by their work."""

import pytest

from assay.model.record import JOBS, Amount, Sample
from assay.model.scale import ScaleReport
from assay_extras.energy.account import counted, energy_account, node_energies, node_spreads
from assay_extras.energy.model import PowerModel
from tests.builders import a_record, series_of
from tests.report.made_nodes import a_cluster_record


def test_another_machine_is_not_taken_for_this_one():
    own = [
        Amount(probe="cpu", subject="machine", series=f"{state}_s", part="run", value=8.0, node=node)
        for state in ("user", "system")
        for node in ("n1", "n2")
    ]
    assert node_energies(a_record(amounts=tuple(own))) == {}, "this machine's model is not of other machines"
    assert node_energies(a_record()) == {}


def test_a_controllers_joules_are_its_nodes_however_its_owner_writes_the_name():
    record = a_cluster_record()
    meter = Amount(probe="redfish", subject="WORKER-2.example.com", series="energy_j", part="run", value=500.0)
    metered = record.model_copy(update={"amounts": (*record.amounts, meter)})
    before, after = (
        {node: taken.energy_j.value for node, taken in node_energies(of).items()} for of in (record, metered)
    )
    assert {node: after[node] - before[node] for node in after} == pytest.approx(
        {"master": 0, "worker-1": 0, "worker-2": 500, "worker-3": 0}
    )


def test_a_shared_machines_energy_is_divided_among_its_nodes():
    record = a_cluster_record()
    energies = node_energies(record)
    taken = {node: of_node.energy_j.value for node, of_node in energies.items()}
    every = sum(one.energy_j.value for one in counted(energy_account(record).energies) if one.part in JOBS)
    assert sum(taken.values()) == pytest.approx(every)
    assert taken["worker-2"] > taken["worker-1"]
    assert taken["worker-3"] == pytest.approx(taken["worker-1"])
    assert {of_node.basis for of_node in energies.values()} == {"modelled"}
    assert energies["master"].seconds == 40.0
    drive_j = 163.0
    assert taken["worker-1"] - taken["master"] > drive_j, "the master has none, and less to do"


def test_nodes_of_a_scale_model_take_what_those_that_they_stand_for_would():
    """Three cores' idling for 40 s and 47 s of work, and 2 GiB; whatever this machine took."""
    model = PowerModel()
    record = a_cluster_record(scale=ScaleReport(dilation=4, clock="model"))
    cluster = record.trial.cluster.model_copy(update={"limit_cpus": 3.0, "limit_memory_bytes": 2 << 30})
    record = record.model_copy(update={"trial": record.trial.model_copy(update={"cluster": cluster})})
    account = energy_account(record)
    taken = {(one.node, one.component): one.energy_j.value for one in counted(account.energies) if one.part == "run"}
    idle, busy = model.cpu_idle_watts.value, model.cpu_busy_watts.value
    assert taken["worker-2", "cpu"] == pytest.approx(idle * (3 * 40 - 47) + busy * 47)
    assert taken["master", "cpu"] == pytest.approx(idle * (3 * 40 - 7) + busy * 7), "but for the emulator and Assay"
    assert taken["master", "memory"] == pytest.approx(2 * 40 * model.memory_watts_per_gib.value)
    assert not [one for one in account.missing if "run" in one]
    uses = {node: of_node.energy_j.value for node, of_node in node_energies(record).items()}
    assert sum(uses.values()) == pytest.approx(sum(taken.values()))
    assert uses["worker-2"] - uses["worker-1"] == pytest.approx((busy - idle) * 22)


def test_a_nodes_power_over_time_is_by_what_its_processes_took_of_the_models_cores():
    """Half of one of two processors is, four times slower, two of the node's three; the rest idles."""
    record = a_cluster_record(scale=ScaleReport(dilation=4, clock="model"))
    cluster = record.trial.cluster.model_copy(update={"limit_cpus": 3.0})
    record = record.model_copy(update={"trial": record.trial.model_copy(update={"cluster": cluster})})
    begin_ms = next(step.started_ms for step in record.steps if step.name == "run")
    samples = [
        Sample(
            probe="processes", subject=group, series=state, time_ms=begin_ms + 500 * half, value=value, node="worker-1"
        )
        for half in range(81)
        for group, state, value in (
            ("containers", "user_percent", 15.0), ("datanode", "system_percent", 10.0), ("emulator", "user_percent", 40.0)
        )
    ]  # fmt: skip
    account = energy_account(record, series_of(samples))
    (cpu,) = [one for one in account.energies if (one.node, one.component, one.part) == ("worker-1", "cpu", "run")]
    model = PowerModel()
    watts = 3 * model.cpu_idle_watts.value + 2 * (model.cpu_busy_watts.value - model.cpu_idle_watts.value)
    assert cpu.power.watts == pytest.approx((watts,) * 81)
    spread = node_spreads(account)["worker-1"]
    assert spread.median_watts > watts, "and its drive's"
