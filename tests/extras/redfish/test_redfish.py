"""Proves that power is found and read as real Redfish services tell it, becomes joules, and is doubted where it should be.

The emulator is `sushy-static` of sushy-tools, which serves a tree of mock resources: never a measurement.
"""

import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from assay.model.layout import Layout
from assay.model.probe import CannotMeasureError, Moment, Quantity, Scene
from assay_extras.redfish.instrument import (
    LOST_S,
    Controller,
    PowerMeter,
    Redfish,
    RefusedError,
    SilentError,
    Trapezoid,
    Watch,
    watts_in,
)
from tests.probe.faking import amounts_of, measuring

FIXTURES = Path(__file__).parents[2] / "fixtures" / "extras" / "redfish"
SCENE = Scene(layout=Layout.below(Path("/nowhere")))


@pytest.fixture
def tree(tmp_path):
    return Path(shutil.copytree(FIXTURES, tmp_path / "trees"))


def serving(tree, refused=()):
    """A transport that serves a tree, as sushy-static does."""

    def answer(request):
        file = tree / request.url.path.removeprefix("/redfish/v1").strip("/") / "index.json"
        if request.headers.get("Authorization") in refused:
            return httpx.Response(401)
        return httpx.Response(200, text=file.read_text()) if file.exists() else httpx.Response(404)

    return httpx.MockTransport(answer)


def meter(tree, chassis=None):
    return PowerMeter(httpx.Client(base_url="http://bmc", transport=serving(tree)), chassis)


def set_watts(tree, watts):
    """Let the controller tell other watts from now on."""
    file = tree / "Chassis" / "1" / "Power" / "index.json"
    power = json.loads(file.read_text())
    power["PowerControl"][0]["PowerConsumedWatts"] = watts
    draft = file.with_suffix(".draft")
    draft.write_text(json.dumps(power))
    draft.replace(file)


class TestFindingTheWatts:
    def test_an_older_controller_tells_them_in_power(self, tree):
        assert meter(tree / "ilo").watts() == 165

    def test_of_nested_chassis_the_outermost_with_the_one_computer_is_read(self, tree):
        assert meter(tree / "metrics").watts() == 400

    def test_a_chassis_can_be_named(self, tree):
        assert meter(tree / "metrics", "Server").watts() == 212.5

    def test_an_enclosure_of_several_computers_is_not_one_node(self, tree):
        file = tree / "metrics" / "Chassis" / "Enclosure" / "index.json"
        enclosure = json.loads(file.read_text())
        enclosure["Links"]["ComputerSystems"].append({"@odata.id": "/redfish/v1/Systems/2"})
        file.write_text(json.dumps(enclosure))
        assert meter(tree / "metrics").watts() == 212.5

    def test_where_environment_metrics_are_missing_power_is_read_and_its_parts_are_not(self, tree):
        (tree / "metrics" / "Chassis" / "Server" / "EnvironmentMetrics" / "index.json").unlink()
        assert meter(tree / "metrics", "Server").watts() == 210

    def test_two_servers_side_by_side_have_to_be_told_apart(self, tree):
        for name in ("Enclosure", "DiskShelf"):
            file = tree / "metrics" / "Chassis" / name / "index.json"
            links = {"ComputerSystems": [{"@odata.id": f"/redfish/v1/Systems/{name}"}]}
            file.write_text(json.dumps({**json.loads(file.read_text()), "Links": links}))
        with pytest.raises(SilentError, match="several chassis tell their power"):
            meter(tree / "metrics").watts()

    def test_a_chassis_that_is_not_there(self, tree):
        with pytest.raises(SilentError, match="chassis 'Moon'"):
            meter(tree / "metrics", "Moon").watts()

    @pytest.mark.parametrize(
        "resource",
        [
            {},
            {"PowerWatts": {"Reading": None}},
            {"PowerControl": [{"PowerConsumedWatts": "{{watts}}"}]},
            {"PowerControl": None},
        ],
    )
    def test_no_reading_is_no_number(self, resource):
        assert watts_in(resource) is None

    def test_an_answer_that_is_no_resource(self):
        transport = httpx.MockTransport(lambda _: httpx.Response(200, text="[1]"))
        with pytest.raises(SilentError, match="not a resource"):
            PowerMeter(httpx.Client(base_url="http://bmc", transport=transport)).watts()


class TestJoules:
    def test_readings_are_joined_by_straight_lines(self):
        energy = Trapezoid(begin_s=10)
        energy.add(12, 100)
        energy.add(14, 200)
        assert energy.joules_until(15) == 2 * 100 + 2 * 150 + 1 * 200

    def test_what_was_told_never_goes_back(self):
        energy = Trapezoid(begin_s=0)
        energy.add(0, 100)
        assert energy.joules_until(2) == 200
        energy.add(2.0, 0)
        energy.add(3.0, 0)
        assert energy.joules_until(3) == 200

    def test_time_before_the_first_reading_belongs_to_a_part_that_has_none(self):
        energy = Trapezoid(begin_s=0)
        assert energy.joules_until(100) is None
        energy.add(102, 50)
        assert energy.joules_until(104) == 200

    def test_a_node_that_fell_silent_tells_no_energy_any_more(self):
        watch = Watch("n1", 0)
        watch.tell(1, 100)
        watch.trouble = "timed out"
        assert watch.joules(LOST_S) is not None
        assert watch.joules(LOST_S + 2) is None
        watch.tell(LOST_S + 3, 100)
        assert watch.joules(LOST_S + 4) is None
        assert [doubt.kind for doubt in watch.doubts(LOST_S + 4)] == ["redfish-unread"]

    def test_a_long_silence_in_between_is_a_doubt(self):
        watch = Watch("n1", 0)
        watch.tell(1, 100)
        watch.tell(31, 100)
        assert watch.joules(31) == 3100
        assert [doubt.kind for doubt in watch.doubts(32)] == ["redfish-sparse"]

    def test_silence_at_the_end_is_a_doubt_too(self):
        watch = Watch("n1", 0)
        for second in range(0, 40, 2):
            watch.tell(second, 100)
        assert watch.doubts(40) == ()
        (doubt,) = watch.doubts(78)
        assert (doubt.kind, "for 40 s" in doubt.what) == ("redfish-sparse", True)
        assert watch.joules(38 + LOST_S + 1) is None
        assert [doubt.kind for doubt in watch.doubts(38 + LOST_S + 1)] == ["redfish-unread"], "though nothing failed"

    def test_one_that_never_answered_is_a_doubt_whatever_it_did_instead(self):
        (doubt,) = Watch("n1", 0).doubts(9)
        assert "nothing was told for 9 s" in doubt.what


def until(condition):
    """Wait for a thread's work, 5 s at most."""
    for _ in range(500):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen within 5 s")


def now():
    return Moment(time_ms=int(time.time() * 1000), clock_s=time.monotonic())


class TestInstrument:
    def test_each_node_is_read_and_its_energy_told(self, tree):
        controllers = [Controller(node="n1", url="http://bmc"), Controller(node="n2", url="http://bmc")]
        redfish = Redfish(lambda: controllers, serving(tree / "ilo"), interval_s=0.01)
        redfish.attach(SCENE)
        until(lambda: all(watch.readings > 2 for watch in redfish._watches))
        moment = now()
        assert redfish.sample(moment) == {("n1", "power_w"): 165, ("n2", "power_w"): 165}
        begun_s = redfish._watches[0].first_s
        totals = redfish.totals()
        assert totals[Quantity("n1", "energy_j")] == pytest.approx(165 * (moment.clock_s - begun_s), abs=165 * 0.5)
        assert 0 < totals[Quantity("n2", "reading_interval_s", level=True)] < 1
        assert redfish.doubts() == ()
        redfish.close()

    def test_refused_credentials_are_used_only_once_and_never_told(self, tree):
        asked = []

        def refuse(request):
            asked.append(request)
            return httpx.Response(401)

        controller = Controller(node="n1", url="http://bmc", user="reader", password="hunter2")
        redfish = Redfish(lambda: [controller], httpx.MockTransport(refuse), interval_s=0.001)
        redfish.attach(SCENE)
        redfish._threads[0].join(5)
        redfish.sample(now())
        assert redfish.totals() == {}
        (doubt,) = redfish.doubts()
        assert "refused the user or password" in doubt.what
        assert "hunter2" not in doubt.model_dump_json() + repr(controller)
        assert len(asked) == 1
        redfish.close()

    def test_a_controller_that_cannot_be_reached_is_asked_again(self, tree):
        calls = []

        def answer(request):
            calls.append(request)
            if len(calls) < 3:
                raise httpx.ConnectTimeout("timed out")
            return serving(tree / "ilo").handler(request)

        redfish = Redfish(
            lambda: [Controller(node="n1", url="http://bmc")], httpx.MockTransport(answer), interval_s=0.001
        )
        redfish.attach(SCENE)
        until(lambda: redfish._watches[0].readings)
        assert redfish.sample(now()) == {("n1", "power_w"): 165}
        redfish.close()

    def test_no_controller_measures_nothing(self):
        with measuring(Redfish(tuple), scene=SCENE) as reading:
            reading.mark("run")
        assert [doubt.kind for doubt in reading.doubts] == ["probe-missing"]
        with pytest.raises(CannotMeasureError):
            Redfish(tuple).attach(SCENE)

    def test_a_wrong_password_is_an_error_of_its_own(self, tree):
        client = httpx.Client(base_url="http://bmc", transport=httpx.MockTransport(lambda _: httpx.Response(403)))
        with pytest.raises(RefusedError):
            PowerMeter(client).watts()


def emulator():
    """Where sushy-static is: beside this Python, or on the PATH."""
    return shutil.which("sushy-static", path=str(Path(sys.executable).parent)) or shutil.which("sushy-static")


@pytest.fixture
def controller(tree):
    """An emulated controller of another maker, on a free port."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [str(emulator()), "-i", "127.0.0.1", "-p", str(port), "-m", str(tree / "ilo")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: not socket.socket().connect_ex(("127.0.0.1", port)))
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.mark.skipif(emulator() is None, reason="there is no sushy-static (package sushy-tools of requirements-dev.txt)")
def test_a_redfish_emulator_is_read_as_its_watts_change(controller, tree):
    before = set(threading.enumerate())
    probe = Redfish(lambda: [Controller(node="n1", url=controller)], interval_s=0.02)

    def told(reading, watts):
        return lambda: any(sample.value == watts for sample in reading.samples)

    with measuring(probe, scene=SCENE, interval_s=0.02) as reading:
        until(told(reading, 165))
        reading.mark("staging")
        set_watts(tree / "ilo", 240)
        until(told(reading, 240))
        reading.mark("run")
    assert {(sample.subject, sample.series) for sample in reading.samples} == {("n1", "power_w")}
    energy = {amount.part: amount.value for amount in amounts_of(reading) if amount.series == "energy_j"}
    assert energy["staging"] > 0
    assert energy["run"] > 0
    assert {amount.basis for amount in amounts_of(reading)} == {"measured"}
    assert reading.doubts == ()
    until(lambda: not [thread for thread in set(threading.enumerate()) - before if "redfish" in thread.name])
