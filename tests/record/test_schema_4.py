"""Proves that a record of schema 4, which had devices by `NODE/MEDIUM`, is read as one of today."""

import json

from assay.model.fault import Fault
from assay.model.network import read_networks
from assay.record.reading import Needed, read_as, record_outline, whole_record
from tests.builders import a_plan, a_record, a_trial, device_reports

REPORT = {"elapsed_seconds": 5.0, "busy_seconds": 2.0, "reads": {"bytes": 7, "requests": 1}, "flushes": 3}


def of_schema_4(record, devices):
    return json.dumps({**json.loads(record.model_dump_json()), "schema_version": 4, "devices": devices})


def test_devices_have_their_node_and_medium():
    devices = {"hdd": {"run": REPORT}, "worker-2/ssd": {"staging": REPORT, "run": REPORT}}
    record = whole_record(of_schema_4(a_record(), devices))
    assert [(drive.node, drive.medium) for drive in record.devices] == [(None, "hdd"), ("worker-2", "ssd")]
    assert record == a_record(devices=device_reports(devices))
    assert whole_record(record.model_dump_json()) == record


def test_an_outline_has_what_is_needed_of_them():
    text = of_schema_4(a_record(), {"worker-1/hdd": {"run": REPORT}, "worker-2/hdd": {"staging": REPORT}})
    outline = record_outline(text, Needed(reports=frozenset({("run", "reads")})))
    assert outline.devices == device_reports({"worker-1/hdd": {"run": {"reads": {"bytes": 7}}}, "worker-2/hdd": {}})
    assert not any(drive.reports for drive in record_outline(text).devices)


def test_a_plan_had_its_networks_and_phases_as_texts():
    trial = a_trial()
    fault = Fault(kill="nodemanager", on=1, at="sort map 50%")
    network = read_networks("gigabit on 1 else none")
    cluster = trial.cluster.model_copy(update={"nodes": 2, "network": network, "fault": fault})
    plan = a_plan(trial.model_copy(update={"cluster": cluster}))
    old = {**json.loads(plan.model_dump_json()), "schema_version": 4}
    of_cluster = old["trials"][0]["cluster"]
    of_cluster |= {"network": "gigabit on 1 else none", "fault": {**of_cluster["fault"], "at": "sort map 50 %"}}
    assert read_as(type(plan), json.dumps(old)) == plan
