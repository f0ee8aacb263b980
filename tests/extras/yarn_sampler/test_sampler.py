"""Proves that what samplers in containers wrote becomes readings by this machine's clock, each part's end among them.

A script stands in for the client; the real one runs in tests/it/test_nodes_read.py.
"""

import gzip
import os
import time
from pathlib import Path

import pytest

from assay_extras.yarn_sampler import sampler as module
from assay_extras.yarn_sampler.kind import YarnSamplerOptions
from assay_extras.yarn_sampler.sampler import Sampling, YarnSampler

NOW = int(time.time())
# Twenty seconds of readings by a clock that is 100 s ahead of the store's, while this machine's is 40 s ahead.
READINGS = "@devices /sys/block/sda/device\n@clock 100.0 0.004\n" + "".join(
    f"@ - {NOW + 60 + second}.5\n/proc/stat:cpu  {second} 0 0 0 0 0 0 0\n@end\n" for second in range(-5, 15)
)
WELL = """\
#!/bin/bash
while [ "$1" != --out ]; do shift; done
echo "some warning"
echo "@clock 40.0 0.002"
echo "@missing worker-9 no container of the sampler ran there within 60 s"
echo "@taken 3 768 3"
echo "@ready"
cat >/dev/null
cp "$0.gz" "$2/worker-1.readings.gz"
"""


@pytest.fixture
def sampler(tmp_path):
    made = []

    def make(script, text=READINGS):
        hadoop = tmp_path / "hadoop"
        hadoop.write_text(script)
        hadoop.chmod(0o755)
        (tmp_path / "hadoop.gz").write_bytes(gzip.compress(text.encode()))
        sampling = Sampling(tmp_path / "jobs.jar", "assay/sampler-1", tmp_path / "scratch")
        made.append(YarnSampler(YarnSamplerOptions(queue="small"), hadoop, os.environ, sampling))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_readings_come_at_the_end_and_parts_end_with_the_first_one_after_them(sampler, monkeypatch):
    source, readings = sampler(WELL), []
    source.begin(readings.append)
    for part, at in ((None, NOW), ("staging", NOW + 4), ("run", NOW + 4.2)):
        monkeypatch.setattr(module.time, "time", lambda at=at: at)
        source.mark(part)
    assert not readings
    costs = {one.series: one.value for one in source.end()}
    assert costs == {"containers_count": 3, "memory_bytes": 768 << 20, "vcores_count": 3}
    assert len(readings) == 20
    assert readings[0].clock == pytest.approx((60.0, 0.006))
    assert readings[0].listing == (Path("/sys/block/sda/device"),)
    ended = {part: reading.at.time_ms / 1000 - NOW for reading in readings for part in reading.ended}
    assert ended == {None: 0.5, "staging": 4.5, "run": 4.5}
    missing, cost = source.doubts()
    assert missing.kind == "nodes-unread"
    assert missing.what == "worker-9: not read from YARN: no container of the sampler ran there within 60 s"
    assert (cost.kind, cost.what) == (
        "sampler-takes-containers", "the sampler held 3 containers with 768 MB and 3 vcores together",
    )  # fmt: skip


def test_readings_that_end_too_early_lose_the_parts_after_them(sampler):
    source, readings = sampler(WELL), []
    source.begin(readings.append)
    source._ended += [module._Ended(None, NOW), module._Ended("run", NOW + 99.0)]
    source.end()
    lost = [doubt.what for doubt in source.doubts() if doubt.kind == "nodes-lost"]
    assert lost == ["worker-1: its readings end before the end of run"]


def test_a_sampler_that_came_late_has_no_figures(sampler):
    """Its first reading would end parts that it has not seen, with nothing counted."""
    source, readings = sampler(WELL.replace("worker-9", "worker-1")), []
    source.begin(readings.append)
    source._ended += [module._Ended(None, NOW - 60.0), module._Ended("run", NOW - 30.0)]
    source.end()
    assert readings == []
    assert [one.kind for one in source.doubts()] == ["nodes-unread", "sampler-takes-containers"]


def test_one_that_begins_when_nobody_waits_any_more_has_no_figures(sampler, monkeypatch):
    monkeypatch.setattr(module, "BEGIN_S", 0.0)
    source, readings = sampler(WELL.replace("while", "sleep 1; while", 1)), []
    source.begin(readings.append)
    source._ended.append(module._Ended(None, NOW - 60.0))
    source.end()
    assert readings == []
    assert source.doubts()[0].kind == "nodes-lost"


def test_a_clock_that_was_set_is_a_doubt(sampler):
    source = sampler(WELL, READINGS + "@clock 103.0 0.001\n")
    source.begin(lambda _: None)
    source.end()
    assert "node-clock-set" in {doubt.kind for doubt in source.doubts()}


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("#!/bin/sh\necho '@failed the application ended: no room'; exit 1\n", "the application ended: no room"),
        (
            "#!/bin/sh\necho 'x'\necho 'ERROR it broke' >&2; exit 4\n",
            "its client ended with exit code 4: ERROR it broke",
        ),
    ],
)
def test_a_client_that_fails_is_said_and_nobody_waits(sampler, script, words):
    source = sampler(script)
    began = time.monotonic()
    source.begin(lambda _: None)
    assert time.monotonic() - began < 10
    source.mark(None)
    assert source.end() == ()
    (doubt,) = source.doubts()
    assert words in doubt.what


def test_one_that_does_not_begin_or_end_in_time_is_ended(sampler, monkeypatch):
    for name in ("BEGIN_S", "END_S", "LEAVE_S"):
        monkeypatch.setattr(module, name, 0.3)
    source = sampler("#!/bin/bash\nexec sleep 60\n")
    source.begin(lambda _: None)
    process = source._process
    source.end()
    assert process.returncode < 0
    assert "it was not running within 0 s" in source.doubts()[0].what


def test_a_file_that_is_damaged_costs_one_node(sampler):
    source = sampler(WELL.replace('cp "$0.gz"', 'head -c 40 "$0.gz" >"$0.cut"; cp "$0.cut"'))
    source.begin(lambda _: None)
    source.mark(None)
    source.end()
    (doubt,) = [one for one in source.doubts() if one.kind == "nodes-lost"]
    assert doubt.what.startswith("worker-1: what its sampler wrote can't be read")
