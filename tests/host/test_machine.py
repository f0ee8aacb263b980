"""Proves that a kernel that drops unused page cache is recognised by what DAMON's files say."""

import time

import pytest

from assay.host.machine import compressed_mb_s, unused_cache_dropped_s


def a_kdamond(folder, state="on", **actions):
    """Its schemes by action, each with the least age; an aggregation interval is 5 s."""
    context = folder / "0" / "contexts" / "0"
    files = {
        context / "schemes" / "nr_schemes": str(len(actions)),
        folder / "0" / "state": state,
        context / "monitoring_attrs" / "intervals" / "aggr_us": "5000000",
    }
    for number, (action, age) in enumerate(actions.items()):
        scheme = context / "schemes" / str(number)
        files |= {scheme / "action": action, scheme / "access_pattern" / "age" / "min": str(age)}
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return folder


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({"pageout": 6}, 30.0), ({"lru_deprio": 1, "pageout": 6}, 30.0),
        ({"lru_deprio": 1}, None), ({"state": "off", "pageout": 6}, None), ({"pageout": "what"}, None), ({}, None),
    ],
)  # fmt: skip
def test_the_age_at_which_memory_is_paged_out(tmp_path, changes, seconds):
    assert unused_cache_dropped_s(a_kdamond(tmp_path, **changes)) == seconds


def test_a_kernel_without_damon_drops_nothing(tmp_path):
    assert unused_cache_dropped_s(tmp_path / "kdamonds") is None


@pytest.mark.slow
def test_the_processors_speed_is_measured_in_less_than_a_second():
    """Of lines that any shell can write: a speed beyond what any processor has would be an unit's error."""
    began = time.monotonic()
    speed = compressed_mb_s()
    assert time.monotonic() - began < 3  # on a machine that is busy with other tests
    assert 0.3 < speed < 300
