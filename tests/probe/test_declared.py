"""Proves that what each series is of is declared: by each probe for all that it writes, and refused where it is not."""

import os
import re
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from assay.model.base import Frozen
from assay.model.engine import EngineKind
from assay.model.errors import BadInputError
from assay.model.fault import FaultReport
from assay.model.installed import series_kind
from assay.model.layout import Layout
from assay.model.probe import (
    CLIENTS,
    Chart,
    ChartPanel,
    ChartSeries,
    ProbeKind,
    Quantity,
    Reading,
    Scene,
    SeriesTable,
    WatchedDisk,
    WatchedProcess,
)
from assay.model.quantity import ClockTimeS, Kind, kind_among, kinds_of
from assay.model.record import Amount, JobRecord, Sample, Step
from assay.model.registry import ENGINES, PROBES, SERVICES
from assay.model.signature import Access, PhaseUse
from assay.model.task import TaskAttempt
from assay.probe.counters import PartSpan, Readings, with_derived
from assay.probe.cpu import CpuProbe
from assay.probe.prometheus_server import GROUPS
from assay.probe.sampler import Samples, measured
from tests.probe.faking import a_context
from tests.toys import plugged_in

EVERYWHERE = ("own-cost", "cpu", "processes", "memory", "pressure", "disk", "disk-processes", "network")


def declared(entry: Sample | Amount):
    return series_kind(entry.probe, entry.series)


@pytest.mark.slow
def test_all_that_probes_write_on_this_machine_is_declared():
    def probes(context):
        made = (PROBES[name].of_files or (lambda _, name=name: PROBES[name].make(context)) for name in EVERYWHERE)
        return [probe for make in made if (probe := make(context.node)) is not None]

    layout = Layout.below(Path("/nowhere"))
    own = WatchedProcess(group="assay", pid=os.getpid(), children=CLIENTS)
    disk = WatchedDisk(medium="disk", place=Path.cwd())
    with measured(probes, Scene(layout, processes=(own,), disks=(disk,)), interval_s=0.15) as seen:
        time.sleep(0.5)
        seen.mark("run")
    assert {one.probe for one in seen.amounts} > {"cpu", "memory", "processes", "network", "own-cost"}
    assert [one for one in (*seen.samples, *seen.amounts) if declared(one) is None] == []
    assert [doubt.what for doubt in seen.doubts if doubt.kind == "probe-stopped"] == []


def test_what_prometheus_and_the_daemons_are_asked_for_is_declared():
    for exported in (exported for group in GROUPS for exported in group.series):
        assert series_kind("prometheus", exported.series.format("iowait")) is exported.kind
    series = [
        name for service in SERVICES.values() for daemon in service.existing if daemon.beans is not None
        for name in daemon.beans.series.values()
    ]  # fmt: skip
    assert len(series) > 4
    assert [name for name in series if series_kind("daemons", name) is None] == []


names = some.from_regex(re.compile(r"[a-z]{1,6}_(s|bytes|count)"), fullmatch=True)


@pytest.mark.slow
@given(some.dictionaries(names, some.sampled_from([Kind.BYTES, Kind.PROCESSOR_TIME])), some.sets(names))
def test_rates_and_peaks_of_readings_are_declared_with_them(counters, levels):
    levels -= counters.keys()
    table = SeriesTable(counters, sorted(levels))
    readings = Readings("p", table)
    values = [*(Quantity("x", name) for name in counters), *(Quantity("x", name, level=True) for name in levels)]
    for at_s in (0.0, 1.0):
        readings.add(Reading("n", at_s, dict.fromkeys(values, at_s)))
    made = with_derived(table)
    samples = {sample.series for sample in readings.samples()}
    amounts = {amount.series for amount in readings.amounts([PartSpan("run", 0, 1000)])}
    assert samples | amounts <= made.keys()
    assert {made[name] for name in samples if name not in levels} <= {Kind.RATE}


@given(some.sampled_from([(probe, name) for probe, kind in PROBES.items() for name in kind.series]))
def test_a_declared_name_is_found_again(of):
    probe, name = of
    assert kind_among(PROBES[probe].series, name.replace("*", "anything")) is PROBES[probe].series[name]


def test_each_probe_is_registered_by_its_own_name():
    for name, kind in PROBES.items():
        made = kind.make(a_context()) if not kind.foreign else None
        assert made is None or made.name == name


def test_a_probe_that_writes_what_it_does_not_declare_ends_with_a_doubt():
    class Odd(CpuProbe):
        def sample(self, now):
            return {("", "temper_s"): 1.0}

    class Odder(CpuProbe):
        def totals(self):
            return {**super().totals(), Quantity("machine", "mood_s"): 1.0}

    for probe, named in ((Odd, "temper_s"), (Odder, "mood_s")):
        scene = Scene(Layout.below(Path("/nowhere")))
        with measured(lambda context, probe=probe: [probe(context.node)], scene) as seen:
            seen.mark("run")
        (doubt,) = seen.doubts
        assert f"does not declare its series '{named}'" in doubt.what
        assert not [one for one in (*seen.samples, *seen.amounts) if one.series == named]


def test_samples_of_an_undeclared_series_are_refused():
    with pytest.raises(ValueError, match="the probe disk does not declare its series 'joy_ms'"):
        Samples().add("disk", 0, {("hdd", "joy_ms"): 1.0})


def test_a_chart_of_an_undeclared_series_is_refused_where_it_is_registered():
    panel = ChartPanel("x", "x", "lines", (ChartSeries("room_celsius", "room", "green"),))
    with plugged_in(), pytest.raises(BadInputError, match="the probe 'warm' shows 'room_celsius', which it does not"):
        PROBES.add("warm", ProbeKind(lambda _: None, (Chart("x", (panel,)),)))


def test_a_column_of_an_undeclared_kind_is_refused_where_the_engine_is_registered():
    class Attempt(TaskAttempt):
        gc_s: float = 0.0

    with plugged_in(), pytest.raises(BadInputError, match=r"the engine 'odd' has .* Attempt\.gc_s is a number"):
        ENGINES.add("odd", EngineKind(open=partial(int), attempt=Attempt))


@pytest.mark.parametrize("kind", [JobRecord, Step, FaultReport, Access, PhaseUse])
def test_all_numbers_of_what_has_times_are_declared(kind):
    assert kinds_of(kind)


def test_the_kind_of_a_field_is_its_own():
    class Row(Frozen):
        waited_s: ClockTimeS
        name: str = ""

    assert kinds_of(Row) == {"waited_s": Kind.CLOCK_TIME}
