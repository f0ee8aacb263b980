"""Proves that joules come from what was measured before what is modelled, are counted once, and add up over phases."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.tasks import MapReduceAttempt
from assay.model.record import Amount, Sample, Span, Step
from assay.model.trial import MediumSpec
from assay_extras.energy.account import (
    counted,
    efficiency,
    energy_account,
    joules,
    node_spreads,
    phase_efficiency,
    power_over_time,
)
from assay_extras.energy.model import DiskPower, Energy, EnergyAccount, PowerModel, PowerSeries, Ranged, give_or_take
from tests.builders import a_record, a_trial, device_reports, pure, series_of


def watts(value, low=None, high=None):
    return Ranged(value=value, low=value if low is None else low, high=value if high is None else high)


MODEL = PowerModel(
    cpu_idle_watts=watts(1.0, 0.5, 2.0), cpu_busy_watts=watts(5.0, 4.0, 7.0), memory_watts_per_gib=watts(0.5),
    hdd=DiskPower(idle_watts=watts(6), active_watts=watts(8)), emulated_share=0.25, measured_share=0.1,
)  # fmt: skip
STEPS = (
    Step(name="stage", started_ms=100_000, seconds=9.0),
    Step(name="cold cache", started_ms=109_000, seconds=1.0),
    Step(name="run", started_ms=110_000, seconds=20.0),
    Step(name="verify", started_ms=132_000, seconds=8.0),
)
FACTS = {
    "host": "here", "cores": 4, "memory_bytes": 8 * 2**30, "medium.disk.device": "/dev/sda",
    "medium.disk.rotational": True,
}  # fmt: skip


def samples(probe, series, begin_s, end_s, value, subject="", every_s=0.5):
    """A series at a steady value, each sample at the end of what it covers."""
    times = [begin_s + every_s * (n + 1) for n in range(round((end_s - begin_s) / every_s))]
    return [
        Sample(probe=probe, subject=subject, series=series, time_ms=round(one * 1000), value=value) for one in times
    ]


def usage():
    """Half of the processors at work in the run, none before and after; the disk busy for a quarter of the time."""
    return [
        *samples("cpu", "user_percent", 100, 110, 0),
        *samples("cpu", "user_percent", 110, 130, 40),
        *samples("cpu", "user_percent", 130, 140, 0),
        *samples("cpu", "system_percent", 100, 110, 0),
        *samples("cpu", "system_percent", 110, 130, 10),
        *samples("cpu", "system_percent", 130, 140, 0),
        *samples("disk", "busy_percent", 100, 140, 25, "disk"),
    ]


def an_amount(probe, subject, series, part, value):
    return Amount(probe=probe, subject=subject, series=series, part=part, value=value)


def counted_use(parts=("staging", "run", "collect")):
    """The same as totals of the parts."""
    lengths_s = {"staging": 10, "run": 20, "collect": 10}
    return tuple(
        one
        for part in parts
        for one in (
            an_amount("cpu", "machine", "user_s", part, 32 if part == "run" else 0),
            an_amount("cpu", "machine", "system_s", part, 6 if part == "run" else 0),
            an_amount("cpu", "machine", "softirq_s", part, 2 if part == "run" else 0),
            an_amount("disk", "disk", "busy_s", part, lengths_s[part] / 4),
        )
    )


def told(account, part="run"):
    return {
        energy.component: (energy.energy_j.value, energy.basis, energy.within)
        for energy in account.energies
        if energy.part == part
    }


def measured(probe, subject, part, value):
    return an_amount(probe, subject, "energy_j", part, value)


def record(amounts=(), use=True, **changes):
    amounts = (*amounts, *(counted_use() if use else ()))
    return a_record(facts=FACTS, steps=STEPS, amounts=amounts, **changes)


def on_an_emulated_disk(**changes):
    media = (MediumSpec(name="hdd", kind="emulated", profile="wd10ezex"),)
    return record(trial=a_trial().model_copy(update={"media": media, "placement": pure("hdd")}), **changes)


def test_parts_follow_one_another_without_a_gap():
    spans = record().spans
    assert {part: (span.begin_ms, span.end_ms) for part, span in spans.items()} == {
        "staging": (100_000, 110_000), "run": (110_000, 130_000), "collect": (130_000, 140_000),
    }  # fmt: skip
    assert a_record(steps=STEPS[:1]).spans == {}


class TestAccount:
    def test_nothing_measured_is_modelled_from_use_and_size(self):
        account = energy_account(record(), model=MODEL)
        assert told(account) == {
            "cpu": (pytest.approx(20 * 4 * (1 + 4 * 0.5)), "modelled", None),
            "memory": (pytest.approx(20 * 8 * 0.5), "modelled", None),
            "disk": (pytest.approx(20 * (6 + 2 * 0.25)), "modelled", None),
        }
        assert told(account, "staging")["cpu"][0] == pytest.approx(10 * 4)
        assert account.missing == ()

    def test_samples_change_no_joules_and_tell_when_they_were_taken(self):
        with_samples, without = (energy_account(record(), series_of(seen), MODEL) for seen in (usage(), ()))
        assert [one.energy_j for one in with_samples.energies] == [one.energy_j for one in without.energies]
        for energy in with_samples.energies:
            assert joules(energy.power, with_samples.spans[energy.part]) == pytest.approx(energy.energy_j.value)

    def test_the_range_is_from_all_inputs_low_to_all_high(self):
        cpu = next(
            one for one in energy_account(record(), model=MODEL).energies if (one.component, one.part) == ("cpu", "run")
        )
        assert (cpu.energy_j.low, cpu.energy_j.high) == (
            pytest.approx(40 * 0.5 + 40 * 4),
            pytest.approx(40 * 2 + 40 * 7),
        )

    def test_rapl_comes_before_the_model(self):
        account = energy_account(record((measured("rapl", "cpu", "run", 500),)), model=MODEL)
        assert told(account)["cpu"] == (500, "measured", None)
        assert told(account)["memory"][1] == "modelled"
        assert told(account, "staging")["cpu"][1] == "modelled"

    def test_the_platform_holds_all_the_rest(self):
        account = energy_account(record((measured("rapl", "platform", "run", 900),)), model=MODEL)
        assert [energy.component for energy in counted(account.energies) if energy.part == "run"] == ["platform"]
        assert told(account)["cpu"][2] == "platform"

    def test_a_node_at_the_mains_holds_what_rapl_counts_in_it(self):
        amounts = (
            measured("redfish", "here", "run", 2000),
            measured("redfish", "n2", "run", 1500),
            measured("rapl", "cpu", "run", 500),
        )
        account = energy_account(record(amounts), model=MODEL)
        own = [energy for energy in counted(account.energies) if energy.part == "run"]
        assert [(energy.node, energy.component, energy.energy_j.value) for energy in own] == [
            ("here", "node", 2000),
            ("n2", "node", 1500),
        ]
        assert told(account)["cpu"] == (500, "measured", "node")
        assert efficiency(account).basis == "measured"

    def test_another_nodes_meter_does_not_swallow_this_machines_power(self):
        account = energy_account(record((measured("redfish", "n1", "run", 2000),), use=False), model=MODEL)
        assert told(account) == {
            "node": (2000, "measured", None),
            "memory": (pytest.approx(20 * 8 * 0.5), "modelled", None),
        }
        assert account.missing == tuple(
            f"{name} in {part}" for part in ("staging", "run", "collect") for name in ("cpu", "disk")
        )

    def test_a_host_is_metered_under_its_name_in_whatever_case(self):
        account = energy_account(record((measured("redfish", "HERE", "run", 2000),)), model=MODEL)
        assert [energy.component for energy in counted(account.energies) if energy.part == "run"] == ["node"]

    def test_emulated_drives_are_added_to_whatever_was_measured(self):
        report = {
            "elapsed_seconds": 20.0,
            "joules": {"idle": 60.0, "seek": 30.0, "read": 20.0, "write": 10.0, "total": 120.0},
        }
        late = {
            "elapsed_seconds": 30.0,
            "joules": {"idle": 180.0, "seek": 0.0, "read": 0.0, "write": 5.0, "total": 185.0},
        }
        account = energy_account(
            on_an_emulated_disk(
                amounts=(measured("redfish", "here", "run", 2000),),
                devices=device_reports({"hdd": {"staging": late, "run": report}}),
            ),
            model=MODEL,
        )
        assert told(account)["hdd"] == (pytest.approx(120), "modelled", None)
        assert told(account, "staging")["hdd"][0] == pytest.approx(180 / 3 + 5)
        assert efficiency(account).energy_j == give_or_take(2000, 0.1) + give_or_take(120, 0.25)
        assert account.missing == ("hdd in collect",)
        assert efficiency(account).basis == "modelled"

    def test_the_zero_delay_baseline_is_no_drive(self):
        """It takes nothing, and nothing of it is missing."""
        baseline = on_an_emulated_disk(
            devices=device_reports({"hdd": {"run": {"elapsed_seconds": 20.0, "joules": {"idle": 0, "total": 0}}}})
        )
        trial = baseline.trial.model_copy(update={"zero_delay": True})
        account = energy_account(baseline.model_copy(update={"trial": trial}), model=MODEL)
        assert set(told(account)) == {"cpu", "memory"}
        assert account.missing == ()

    def test_the_emulators_processor_time_is_not_the_jobs(self):
        emulator = (
            an_amount("processes", "emulator", "user_s", "run", 3),
            an_amount("processes", "emulator", "system_s", "run", 7),
        )
        account = energy_account(on_an_emulated_disk(amounts=emulator), model=MODEL)
        assert told(account)["cpu"][0] == pytest.approx(50 * 1 + 30 * 5)
        series = next(one.power for one in energy_account(
            on_an_emulated_disk(amounts=emulator),
            series_of([*usage(), *samples("processes", "user_percent", 110, 130, 10, "emulator")]), MODEL,
        ).energies if one.component == "cpu")  # fmt: skip
        assert joules(series, account.spans["run"]) == pytest.approx(20 * 4 * (1 + 4 * 0.4))

    def test_a_meters_range_reaches_down_to_what_it_would_have_told_without_the_emulator(self):
        emulator = an_amount("processes", "emulator", "system_s", "run", 10)
        metered = measured("rapl", "cpu", "run", 500)
        with_it, without = (
            next(
                one.energy_j for one in energy_account(record(amounts), model=MODEL).energies if one.basis == "measured"
            )
            for amounts in ((metered, emulator), (metered,))
        )
        assert without == give_or_take(500, 0.1)
        assert (with_it.value, with_it.low, with_it.high) == (500, pytest.approx(450 - 10 * (7 - 0.5)), 550)

    def test_memory_is_charged_as_far_as_the_trial_may_use_it(self):
        def gib_charged(limit_bytes):
            cluster = a_trial().cluster.model_copy(update={"limit_memory_bytes": limit_bytes})
            trial = a_trial().model_copy(update={"cluster": cluster})
            return told(energy_account(record(trial=trial), model=MODEL))["memory"][0] / 20 / 0.5

        assert gib_charged(2**30) == pytest.approx(1)
        assert gib_charged(2**40) == pytest.approx(8)  # there is no more than the machine has

    def test_what_was_not_counted_is_missing(self):
        account = energy_account(
            a_record(facts=FACTS, steps=STEPS, amounts=counted_use(("staging", "run"))), series_of(usage()), MODEL
        )
        assert account.missing == ("cpu in collect", "disk in collect")
        assert "cpu" in told(account)

    def test_two_media_on_one_drive_are_one_drive(self):
        media = (
            MediumSpec(name="disk", kind="directory"),
            MediumSpec(name="again", kind="directory"),
            MediumSpec(name="ram", kind="memory"),
        )
        facts = {**FACTS, "medium.again.device": "/dev/sda"}
        trial = a_trial().model_copy(update={"media": media})
        account = energy_account(a_record(facts=facts, steps=STEPS, trial=trial, amounts=counted_use()), model=MODEL)
        assert set(told(account)) == {"cpu", "memory", "disk"}
        assert account.missing == ()

    def test_nothing_at_all_is_known_without_steps(self):
        account = energy_account(a_record(steps=()), model=MODEL)
        assert account == EnergyAccount()
        assert efficiency(account) is None
        assert phase_efficiency(account, []) == {}


def test_edp_and_ed2p_are_energy_times_delay_and_delay_squared():
    found = efficiency(energy_account(record((measured("redfish", "here", "run", 3000),)), model=MODEL))
    assert (found.energy_j.value, found.seconds) == (3000, 20)
    assert (found.edp_js.value, found.ed2p_js2.value) == (60_000, 1_200_000)
    assert found.ed2p_js2.high == pytest.approx(1_320_000)


def test_what_is_written_out_after_the_jobs_is_theirs():
    steps = (*STEPS[:3], Step(name="write out", started_ms=130_000, seconds=2.0), *STEPS[3:])
    amounts = (measured("redfish", "here", "run", 3000), measured("redfish", "here", "write out", 100))
    account = energy_account(a_record(facts=FACTS, steps=steps, amounts=amounts), model=MODEL)
    found = efficiency(account)
    assert (found.energy_j.value, found.seconds) == (3100, 22)
    phases = phase_efficiency(account, [attempt("map", 110, 130)])
    assert {phase: (one.energy_j.value, one.seconds) for phase, one in phases.items()} == {
        "map": (3000, 20), "outside": (100, 2),
    }  # fmt: skip


def test_what_another_node_counted_does_not_take_the_place_of_what_this_one_did():
    own = (measured("rapl", "cpu", "run", 800), *counted_use())
    amounts = [
        amount.model_copy(update={"node": node, "value": amount.value * times})
        for node, times in (("n1", 1), ("n2", 3))
        for amount in own
    ]
    powers = [
        sample.model_copy(update={"node": node, "value": sample.value * times})
        for node, times in (("n1", 1), ("n2", 3))
        for sample in samples("rapl", "power_w", 100, 140, 40, "cpu")
    ]
    alone = energy_account(record(own, use=False), series_of(samples("rapl", "power_w", 100, 140, 40, "cpu")), MODEL)
    both = energy_account(record(amounts, use=False), series_of(powers), MODEL)
    assert [energy for energy in both.energies if energy.node == "here"] == list(alone.energies)
    (other,) = [energy for energy in both.energies if energy.node == "n2"]
    assert (other.component, other.energy_j.value, set(other.power.watts)) == ("cpu", 2400, {120})


def test_what_was_read_on_other_machines_is_in_no_model_of_this_one():
    afar = [amount.model_copy(update={"node": "n1"}) for amount in counted_use()]
    clock = Amount(probe="nodes", subject="clock", series="offset_s", part="collect", value=0.1, node="n1")
    nothing = energy_account(record((), use=False), {}, MODEL)
    assert energy_account(record((*afar, clock), use=False), {}, MODEL) == nothing
    assert energy_account(record(afar, use=False), {}, MODEL) != nothing


def test_nodes_that_share_a_machine_have_its_processors_counted_once():
    """Of no node; what one node alone has, such as a disk's busy time, is this machine's too."""
    own = [
        an_amount("cpu", "machine", f"{state}_s", "run", 10.0)
        for state in ("user", "system", "irq", "softirq", "steal")
    ]
    disk = an_amount("disk", "disk", "busy_s", "run", 4.0)
    on_workers = [disk.model_copy(update={"node": node}) for node in ("worker-1", "worker-2")]
    first = an_amount("processes", "namenode", "user_s", "run", 1.0).model_copy(update={"node": "master"})
    alone = energy_account(record([*own, disk], use=False), {}, MODEL)
    nodes = energy_account(record([*own, first, *on_workers], use=False), {}, MODEL)
    assert told(nodes) == told(alone)


def test_of_several_nodes_the_drives_that_reported_are_not_missing():
    report = {"elapsed_seconds": 20.0, "joules": {"idle": 10.0, "total": 30.0}}
    base = record([an_amount("cpu", "machine", "user_s", "run", 10.0)], use=False)
    media = (MediumSpec(name="hdd", kind="emulated", profile="p"),)
    trial = base.trial.model_copy(update={"media": media, "placement": pure("hdd")})
    of_nodes = device_reports({f"worker-{number}/hdd": {"run": report} for number in (1, 2)})
    account = energy_account(base.model_copy(update={"trial": trial, "devices": of_nodes}), {}, MODEL)
    drives = {(energy.worker, energy.label) for energy in account.energies if energy.component == "hdd"}
    assert drives == {("worker-1", "worker-1/hdd"), ("worker-2", "worker-2/hdd")}
    assert not [name for name in account.missing if name == "hdd in run"]
    assert "hdd in staging" in account.missing


def attempt(kind, started_s, finished_s, shuffled_s=0.0, merged_s=0.0, state="SUCCEEDED"):
    times = {
        "started_ms": started_s,
        "finished_ms": finished_s,
        "shuffle_finished_ms": shuffled_s,
        "merge_finished_ms": merged_s,
    }
    return MapReduceAttempt(
        job="j", attempt="a", stage=kind, node="n", state=state,
        **{name: round(value * 1000) for name, value in times.items()},
    )  # fmt: skip


class TestPhases:
    ACCOUNT = energy_account(
        record((measured("rapl", "cpu", "run", 800),)),
        series_of(samples("rapl", "power_w", 100, 140, 40, "cpu")),
        MODEL,
    )

    def phases(self, *attempts):
        energies = tuple(one for one in self.ACCOUNT.energies if one.component == "cpu" and one.part == "run")
        found = phase_efficiency(self.ACCOUNT.model_copy(update={"energies": energies}), attempts)
        return {phase: pytest.approx(own.energy_j.value) for phase, own in found.items()}

    def test_without_tasks_all_is_outside(self):
        assert self.phases() == {"outside": 800}

    def test_each_phase_has_what_was_taken_while_it_ran(self):
        assert self.phases(attempt("map", 112, 117), attempt("reduce", 117, 127, 121, 122)) == {
            "map": 200, "shuffle": 160, "merge": 40, "reduce": 200, "outside": 200,
        }  # fmt: skip

    def test_phases_that_overlap_share_by_their_tasks(self):
        assert self.phases(attempt("map", 110, 130), attempt("map", 110, 130), attempt("reduce", 110, 130)) == {
            "map": pytest.approx(800 * 2 / 3), "shuffle": pytest.approx(800 / 3)
        }  # fmt: skip

    def test_a_reducer_that_failed_in_its_merge_was_merging_until_its_end(self):
        assert self.phases(attempt("reduce", 110, 130, shuffled_s=120, state="FAILED")) == {
            "shuffle": 400,
            "merge": 400,
        }

    def test_tasks_of_another_part_do_not_count(self):
        assert self.phases(attempt("map", 101, 109)) == {"outside": 800}

    def test_a_phase_is_set_against_the_time_in_which_it_ran(self):
        found = phase_efficiency(self.ACCOUNT, [attempt("map", 110, 115), attempt("map", 112, 120)])
        assert found["map"].seconds == 10
        assert found["map"].basis == "modelled"  # memory is
        assert sum(one.energy_j.value for one in found.values()) == pytest.approx(
            efficiency(self.ACCOUNT).energy_j.value
        )

    def test_power_that_is_not_known_over_time_is_shared_by_time(self):
        span = Span(begin_ms=0, end_ms=10_000)
        energy = Energy(node="n", component="cpu", part="run", energy_j=watts(100), basis="measured")
        found = phase_efficiency(EnergyAccount(spans={"run": span}, energies=(energy,)), [attempt("map", 1, 4)])
        assert {phase: own.energy_j.value for phase, own in found.items()} == pytest.approx({"map": 30, "outside": 70})


times = st.integers(0, 30_000)
some_attempts = st.lists(
    st.tuples(st.sampled_from(["map", "reduce"]), st.lists(times, min_size=4, max_size=4).map(sorted)), max_size=12
)


@given(some_attempts, st.lists(st.floats(0, 500), min_size=1, max_size=40))
def test_phases_add_up_to_the_part_whatever_ran(drawn, power):
    """In any order and overlap, each component's joules over the phases are its own."""
    series = PowerSeries(
        edges_ms=tuple(range(0, 500 * len(power) + 1, 500)), watts=tuple(power)
    )  # fmt: skip
    span = Span(begin_ms=1000, end_ms=20_000)
    energy = Energy(
        node="n", component="cpu", part="run", energy_j=give_or_take(1234.5, 0.1), basis="measured", power=series
    )
    attempts = [attempt(kind, at[0] / 1000, at[3] / 1000, at[1] / 1000, at[2] / 1000) for kind, at in drawn]
    rows = phase_efficiency(EnergyAccount(spans={"run": span}, energies=(energy,)), attempts).values()
    assert sum(row.energy_j.value for row in rows) == pytest.approx(1234.5)
    assert sum(row.energy_j.high for row in rows) == pytest.approx(1234.5 * 1.1)
    assert all(row.energy_j.low >= 0 for row in rows)


class TestOverTime:
    def test_half_seconds_keep_the_joules(self):
        series = PowerSeries(edges_ms=(0, 1000, 2000, 4000), watts=(10, 30, 20))
        energy = Energy(node="n", component="cpu", part="run", energy_j=watts(80), basis="measured", power=series)
        span = Span(begin_ms=0, end_ms=4000)
        found = power_over_time(EnergyAccount(spans={"run": span}, energies=(energy,)), span)["n", "cpu"]
        assert found.values.tolist() == pytest.approx([10, 10, 30, 30, 20, 20, 20, 20])
        assert (found.begin_ms[0], found.end_ms[-1]) == (0, 4000)

    def test_each_component_is_told_over_the_parts_of_a_span(self):
        account = energy_account(record(), series_of(usage()), MODEL)
        span = Span(begin_ms=account.spans["staging"].begin_ms, end_ms=account.spans["collect"].end_ms)
        found = power_over_time(account, span)
        assert set(found) == {("here", "cpu"), ("here", "memory"), ("here", "disk")}
        cpu_watts = found["here", "cpu"].values
        assert float(cpu_watts.sum() / 2) == pytest.approx(
            sum(joules(one.power, account.spans[one.part]) for one in account.energies if one.component == "cpu")
        )

    def test_what_lies_within_another_is_not_added_to_a_nodes_power(self):
        span = Span(begin_ms=0, end_ms=2000)

        def energy(component, power_w, within=None):
            power = PowerSeries(edges_ms=(0, 1000, 2000), watts=(power_w, 2 * power_w))
            return Energy(
                node="n", component=component, part="run", energy_j=watts(3 * power_w), basis="measured", within=within,
                power=power,
            )  # fmt: skip

        account = EnergyAccount(
            spans={"run": span}, energies=(energy("node", 100), energy("cpu", 40, "node"), energy("hdd", 6))
        )
        spread = node_spreads(account)["n"]
        assert (spread.least_watts, spread.median_watts, spread.greatest_watts) == (106, 159, 212)

    def test_readings_of_a_moment_give_the_joules_of_straight_lines(self):
        readings = [
            Sample(probe="redfish", subject="n1", series="power_w", time_ms=at, value=reading_w)
            for at, reading_w in ((110_000, 100), (112_000, 200), (116_000, 100))
        ]
        account = energy_account(record((measured("redfish", "n1", "run", 950),)), series_of(readings), MODEL)
        (power,) = [energy.power for energy in account.energies if energy.component == "node"]
        assert power.watts == (100, 200, 100)
        assert joules(power, Span(begin_ms=110_000, end_ms=116_000)) == 2 * 150 + 4 * 150

    def test_the_spread_between_nodes_is_of_their_readings_in_the_run(self):
        readings = [
            Sample(probe="redfish", subject=node, series="power_w", time_ms=108_000 + 2000 * n, value=base + n)
            for node, base in (("n1", 100), ("n2", 200))
            for n in range(13)
        ]
        amounts = tuple(measured("redfish", node, "run", 2000) for node in ("n1", "n2"))
        spreads = node_spreads(energy_account(record(amounts), series_of(readings), MODEL))
        assert list(spreads) == ["n1", "n2", "here"]  # this machine's is modelled
        middle = [spreads[node].median_watts for node in ("n1", "n2")]
        assert middle == pytest.approx([106, 206], abs=0.5)
        assert spreads["n1"].least_watts >= 100
        assert spreads["n2"].greatest_watts <= 212
