"""Proves that the scale model's benchmarks show equivalence only where it is, and disturb."""

import json
import os
import sys
import time

import numpy as np
import pytest
from benchmarks.dilation_invariance import DILATION, NO_PRIOR, equivalences, judged, two_one_sided_p, unchecked
from benchmarks.scale_disturbances import (
    CONTROL,
    LINKS,
    PROFILE,
    ROOT,
    Disturbance,
    disturbances,
    family,
    loaded,
    main,
    rates_table,
    reshaped,
    slower_profile,
    trials_table,
)
from ruamel.yaml import YAML

from assay.model.scale import DriveSeen, LinkSeen, ScaleReport, ScaleSeen
from assay.model.trial import SHIPPED_PRIOR
from assay.record.scale_rules import judged as judged_by
from assay.stats.fit import Contrast
from tests.builders import a_record
from tests.stats.fake_times import FakeTimes


def made(ratio, noise, repetitions=7, prior=NO_PRIOR):
    times = FakeTimes(factors={DILATION: {"1": 1.0, "4": ratio}}, noise=noise, drift=0.0, disturbed=0.0)
    return list(equivalences(times.samples(repetitions, seed=1), "own", prior))


def test_equivalence_is_shown_where_it_is_and_the_noise_allows():
    (same,) = made(1.0, 0.02)
    assert same.shown
    assert (same.base, same.level) == ("1", "4")
    assert not made(1.0, 0.2)[0].shown
    assert not made(1.2, 0.02)[0].shown


@pytest.mark.slow
def test_what_is_off_by_the_margin_is_called_equivalent_in_one_of_twenty_cases():
    times = FakeTimes(factors={DILATION: {"1": 1.0, "2": 1.1}}, noise=0.05, drift=0.0, disturbed=0.0)
    shown = [one.shown for seed in range(400) for one in equivalences(times.samples(7, seed), "own", NO_PRIOR)]
    assert np.mean(shown) == pytest.approx(0.05, abs=0.03)


def test_the_p_value_is_the_one_sided_one_of_the_nearer_edge():
    """1.07 (0.95 to 1.20) with the assumed noise's six degrees of freedom: far from shown."""
    contrast = Contrast(np.log(1.07), np.log(1.2 / 1.07) / 2.447, 6)
    assert two_one_sided_p(contrast) == pytest.approx(0.29, abs=0.01)
    assert two_one_sided_p(Contrast(0.0, 1e-6, 6)) == pytest.approx(0.0, abs=1e-9)
    assert two_one_sided_p(Contrast(np.log(1.2), 0.01, 6)) > 0.99


def test_without_a_prior_one_repetition_shows_nothing():
    assert made(1.0, 0.02, repetitions=1) == []
    assert next(judged([])).endswith("equivalence is not shown")
    assert len(made(1.0, 0.02, repetitions=1, prior=SHIPPED_PRIOR)) == 1


SEEN = ScaleSeen(
    dilation=4, idle_shares=(0.5,) * 100, late_us={60: 1000},
    links={"w": LinkSeen(sent_bytes=90, seconds=2.0, rate_bytes_per_s=50.0)},
    drives={"w/d": DriveSeen(elapsed_s=100, late_s=0.1)},
)  # fmt: skip


def test_a_record_can_be_looked_at_as_if_nothing_had_struck_it_out():
    late = SEEN.model_copy(update={"late_us": {9000: 1000}})
    record = a_record(scale=judged_by(ScaleReport(dilation=1, seen=late)))
    assert (record.struck_out, unchecked(record).struck_out) == (True, False)


def test_each_round_has_all_disturbances_in_an_order_of_its_own():
    planned = disturbances(["control", "links"], 2)
    assert len({one.name for one in planned}) == len(planned) == 12
    assert sorted(one.share for one in planned if one.kind == LINKS) == [0.05, 0.05, 0.1, 0.1, 0.2, 0.2]
    assert planned == disturbances(["control", "links"], 2)
    assert planned != sorted(planned)


def test_showing_starts_no_trial(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["scale_disturbances.py", "--show", str(tmp_path), "--kinds", "links"])
    assert main() == 1
    assert "links-5-0 has no finished trial" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_a_slower_drive_is_slower_in_all_that_takes_time():
    text = (ROOT / "emulator" / "profiles" / f"{PROFILE}.yaml").read_text()
    before, after = YAML(typ="safe").load(text)["figures"], slower_profile(text, 0.2)["figures"]
    assert after["outer_rate_mb_s"]["value"] == pytest.approx(0.8 * before["outer_rate_mb_s"]["value"])
    assert after["seek_average_ms"]["value"] == pytest.approx(before["seek_average_ms"]["value"] / 0.8)
    assert after["rotation_rpm"]["value"] == pytest.approx(0.8 * before["rotation_rpm"]["value"])
    assert after["capacity_bytes"] == before["capacity_bytes"]


def test_token_buckets_get_a_lower_rate_and_keep_the_rest():
    shown = [
        {"kind": "noqueue", "dev": "lo", "options": {}},
        {"kind": "tbf", "dev": "eth0", "handle": "1:", "options": {"rate": 6_250_000, "burst": 62_500, "lat": 100_000}},
    ]
    (change,) = reshaped(json.dumps(shown), 0.1)
    assert " ".join(change) == (
        "qdisc change dev eth0 root handle 1: tbf rate 45000000bit burst 62500 latency 100000us"
    )


@pytest.mark.slow
def test_a_load_computes_on_each_processor_for_no_more_than_its_share_and_ends():
    before = os.times()
    with loaded(0.2, 0):
        programs = family(os.getpid())
        time.sleep(0.5)
    after = os.times()  # what ended children took is known after their end
    processors = len(os.sched_getaffinity(0))
    assert len(programs) >= processors
    assert after.children_user > before.children_user
    busy_s = after.children_user + after.children_system - before.children_user - before.children_system
    assert busy_s < 0.5 * processors * (after.elapsed - before.elapsed)
    assert not set(programs) & set(family(os.getpid()))


def test_the_tables_count_what_each_check_detected():
    good = a_record(scale=judged_by(ScaleReport(dilation=4, seen=SEEN)))
    off = SEEN.model_copy(update={"links": {"w": LinkSeen(sent_bytes=90, seconds=20.0, rate_bytes_per_s=5.0)}})
    bad = a_record(scale=judged_by(ScaleReport(dilation=4, seen=off)))
    rows = [(Disturbance(CONTROL, 0.0, 0), good), (Disturbance(LINKS, 0.1, 1), bad), (Disturbance(LINKS, 0.2, 2), good)]
    assert "| links | 0 of 2 | 0 of 2 | 0 of 2 | 1 of 2 | 0 of 2 | 1 of 2 |" in rates_table(rows)
    assert "| control | 0 of 1 |" in rates_table(rows)
    assert "yes |" in trials_table(rows, 10.0).splitlines()[3]
