"""Proves that what the page on statistics says of coverage is what the benchmark showed, and that its promises were kept."""

import json
from pathlib import Path

import pytest
from benchmarks.known_effects import (
    A_A_NOISES,
    LEAST_FOUND,
    MOST_CLAIMED,
    MOST_CLAIMED_AT_ONE_NOISE,
    UNEQUAL,
    Rates,
    combination_is_covered,
    error_of,
)

ROOT = Path(__file__).parents[2]
TABLES = json.loads((ROOT / "benchmarks" / "known-effects.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("column", [*(f"{noise:.1%}" for noise in A_A_NOISES), "unequal"])
def test_at_each_noise_the_promise_was_kept(column):
    for one in TABLES[column].values():
        assert Rates(TABLES["plans"], one["claimed"], one["covered"]).keep(MOST_CLAIMED_AT_ONE_NOISE)


def test_combinations_of_unequal_noise_kept_theirs():
    assert {row["case"] for row in TABLES["combinations"]} == {case.name for case in UNEQUAL}
    assert all(combination_is_covered(row, TABLES["plans"]) for row in TABLES["combinations"])


def test_on_average_over_machines_the_promises_were_kept():
    for one in TABLES["machines"].values():
        assert Rates(TABLES["plans"], one["claimed"], one["covered"]).keep(MOST_CLAIMED)
    most = MOST_CLAIMED + 2 * error_of(MOST_CLAIMED, TABLES["plans"] // 2)
    assert all(one["either"] <= most for one in TABLES["threshold"].values())
    assert all(one["mixed"] <= most for one in TABLES["parts"].values())
    assert all(1 - one[name] <= most for one in TABLES["shares"].values() for name in ("saving", "storage share"))
    assert all(one["found"] >= LEAST_FOUND for one in TABLES["found"].values())
