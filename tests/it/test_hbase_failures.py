"""Proves that whatever HBase can't go on without is named in one sentence, soon, and that nothing is left then."""

import os
import re
import signal
import time

import pytest

from assay.model.record import Status
from tests.it.driving import fill

pytestmark = [pytest.mark.it, pytest.mark.long]

SOON_S = 60


def one_trial(place, size="2MB", medium="", properties="{}"):
    return place.experiment(f"""
experiment: failing
workloads: {{name: word-frequency, options: {{size: {size}, files: 1}}}}
media:
  disk: {medium or f"{{kind: directory, path: {place.disk}}}"}
store: hbase
settings: small
cache: warm
hbase: {properties}
""")


def failed(place, run="run"):
    (record,) = place.records(run)
    assert record.status is Status.FAILED
    assert "\n" not in record.error
    assert place.left_over() == []
    return record.error


def test_a_clock_that_is_off_is_told_in_the_servers_own_words(place):
    """On one machine clocks can't differ: none at all is allowed."""
    place.assay("run", one_trial(place, properties="{hbase.master.maxclockskew: -1}"), "--out", "run", code=1)
    error = failed(place)
    assert "the HRegionServer ended with exit code" in error
    assert "Reported time is too far out of sync with master" in error


@pytest.mark.parametrize(
    ("role", "step", "name"),
    [
        ("zookeeper", "stage", "ZooKeeperServerMain"),
        ("zookeeper", "run", "ZooKeeperServerMain"),
        ("regionserver", "stage", "HRegionServer"),
    ],
)
def test_a_daemon_that_is_away_ends_the_trial(place, role, step, name):
    started = place.start("run", one_trial(place, "20MB"), "--out", "run")
    started.until(rf"trial 1/1 .* · {step}( ·|\n)")
    time.sleep(2)
    (daemon,) = place.processes(f"-Dproc_{role}")
    os.kill(daemon, signal.SIGKILL)
    killed_s = time.monotonic()
    assert started.exit_code() == 1, started.text
    assert time.monotonic() - killed_s < SOON_S
    assert f"the {name} was killed by signal 9" in failed(place)


def test_a_disk_that_is_full_is_named_while_lines_are_put(place):
    medium = "{kind: memory, size: 2GiB}"
    started = place.start("run", one_trial(place, "40MB", medium), "--out", "run")
    started.until(r"trial 1/1 .* · stage( ·|\n)")
    fill("disk")
    full_s = time.monotonic()
    assert started.exit_code() == 1, started.text
    assert time.monotonic() - full_s < 3 * SOON_S
    assert re.search(r"; the medium 'disk' has only [\d.]+ ([KM]i)?B of 2.0 GiB left$", failed(place))


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_of_hbase_is_left_when_assay_was_killed(place, sent):
    started = place.start("run", one_trial(place), "--out", "run")
    started.until(r"trial 1/1 .* · stage( ·|\n)")
    assert place.processes("-Dproc_regionserver")
    started.process.send_signal(sent)
    assert started.exit_code() == (-sent if sent is signal.SIGKILL else 130), started.text
    if sent is signal.SIGKILL:
        assert place.processes("-Dproc_regionserver")
        assert "stopped cluster-" in place.assay("cluster", "down")
    assert place.left_over() == []
