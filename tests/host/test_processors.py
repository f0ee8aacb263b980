"""Proves that instruments get whole cores of their own where there are enough, and that what is started stays there."""

import os
import subprocess
import threading

import pytest

from assay.host.processors import Division, bound_to, divided, ranges_text
from assay.media.emulated.emulator import System
from assay.model.errors import BadInputError
from assay.platform.embedded import EmbeddedPlatform
from assay.probe import sampler
from tests.builders import a_trial

OWN = sorted(os.sched_getaffinity(0))
ALONE, PAIRS = (lambda one: frozenset({one})), (lambda one: frozenset({one & ~1, one | 1}))


@pytest.mark.parametrize(
    ("count", "core_of", "instruments"),
    [
        (1, ALONE, None), (2, ALONE, None), (3, ALONE, None), (4, ALONE, "3"), (7, ALONE, "6"), (8, ALONE, "6-7"),
        (64, ALONE, "60-63"),
        (4, PAIRS, None),  # both threads of a core would be half of all
        (8, PAIRS, "6-7"), (12, PAIRS, "10-11"), (16, PAIRS, "12-15"), (64, PAIRS, "60-63"),
    ],
)  # fmt: skip
def test_a_quarter_of_the_processors_in_whole_cores_is_the_instruments(count, core_of, instruments):
    found = divided(range(count), core_of)
    if instruments is None:
        assert found is None
    else:
        assert found is not None
        assert ranges_text(found.instruments) == instruments
        assert found.cluster == frozenset(range(count)) - found.instruments


def test_ranges_are_written_as_the_kernel_writes_them():
    assert ranges_text({0, 1, 2, 5}) == "0-2,5"


def test_what_a_thread_starts_stays_where_it_was_bound_and_the_thread_does_not():
    with bound_to({OWN[-1]}):
        child = subprocess.run(["/bin/grep", "Cpus_allowed_list", "/proc/self/status"], capture_output=True, check=True)
    assert child.stdout.split()[-1].decode() == str(OWN[-1])
    assert sorted(os.sched_getaffinity(0)) == OWN


def test_a_processor_that_is_not_there_binds_nothing():
    with bound_to({10_000}):
        assert sorted(os.sched_getaffinity(0)) == OWN


@pytest.fixture
def divided_machine(monkeypatch):
    """The last processor is the instruments', wherever that is asked."""
    parts = Division(frozenset(OWN[:-1] or OWN), frozenset(OWN[-1:]))
    for module in ("media.emulated.emulator", "platform.embedded", "probe.sampler"):
        monkeypatch.setattr(f"assay.{module}.division", lambda: parts)
    return parts


def test_the_emulator_is_started_on_the_instruments_processors(divided_machine, tmp_path):
    process = System().start(("/bin/sleep", "5"), tmp_path, tmp_path / "log", {})
    try:
        assert os.sched_getaffinity(process.pid) == divided_machine.instruments
    finally:
        process.kill()
        process.wait()


def test_probes_are_sampled_on_the_instruments_processors(divided_machine):
    seen = {}

    class Probe(sampler.Sampled):
        name = "fake"

        def attach(self, _scene):
            seen[threading.current_thread().name] = os.sched_getaffinity(0)

        def sample(self, _now):
            return {}

        def totals(self):
            return {}

    measurement = sampler.Measurement([sampler.Guest(Probe(), None, None)], 0.5, sampler.Samples())
    measurement.attach()
    measurement.close()
    assert seen == {"probe-sampler": divided_machine.instruments}


def test_more_cpus_than_the_clusters_processors_are_refused(divided_machine):
    cluster = a_trial().cluster.model_copy(update={"limit_cpus": 64.0})
    platform = EmbeddedPlatform.__new__(EmbeddedPlatform)
    platform._trial = a_trial().model_copy(update={"cluster": cluster})
    with pytest.raises(BadInputError, match=f"choose up to {len(divided_machine.cluster)}"):
        platform.check({})
