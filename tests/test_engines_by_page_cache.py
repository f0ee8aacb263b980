"""Proves that an order of engines is shown only where it is, and that a run without any claims one in at most 5 %."""

from itertools import product

import numpy as np
import pytest
from benchmarks.engines_by_page_cache import (
    LEVEL_BY_REPETITIONS,
    Cell,
    answers,
    cells,
    is_of_the_kind,
    orders,
    repetitions_judged,
    report,
)

from assay.model.cluster import EmbeddedSpec
from assay.model.doubt import Outcome
from tests.builders import a_plan, a_trial, summaries
from tests.stats.terasort import timed, written

ENGINES, CACHES_MIB = ("mapreduce", "spark", "tez"), (32, 64, 128, 256)
ALIKE = dict.fromkeys(product(CACHES_MIB, ENGINES), 0.5)


def a_run(left=ALIKE, repetitions=5, noise=0.03, seed=1, on_drives=1.0):
    """A run of three engines within four page caches: `left` is what the SSD leaves of the time on the hard disk."""
    source, records = np.random.default_rng(seed), []
    for repetition, (mib, engine), medium in product(range(1, repetitions + 1), ALIKE, ("hdd", "ssd")):
        seconds = 60 * (left[mib, engine] if medium == "ssd" else 1) * np.exp(noise * source.standard_normal())
        trial = a_trial(len(records) + 1, medium, repetition, workload="terasort").model_copy(
            update={"engine": engine, "cluster": EmbeddedSpec(page_cache_bytes=mib << 20)}
        )
        records.append(timed(trial, seconds))
    return written((a_plan(*(record.trial for record in records)), records), {"hdd": on_drives, "ssd": 1.0})


def shown(run):
    plan, records = run
    trials = summaries(records)
    repetitions = repetitions_judged(plan, trials)
    measured = cells(trials, repetitions)
    return measured, orders(measured, LEVEL_BY_REPETITIONS[repetitions])


def test_an_order_that_is_there_is_shown_within_each_page_cache():
    measured, found = shown(a_run({**ALIKE, **{(mib, "tez"): 0.3 for mib in CACHES_MIB}}))
    assert {(order.page_cache_bytes >> 20, order.more) for order in found if "tez" in order.engines} == {
        (mib, "tez") for mib in CACHES_MIB
    }
    said = answers(measured, found)
    assert said == [
        "**mapreduce and spark**: no order of mapreduce and spark is shown.",
        "**mapreduce and tez**: the SSD saves tez more than mapreduce within all page caches.",
        "**spark and tez**: the SSD saves tez more than spark within all page caches.",
    ]


def test_opposite_orders_are_said_to_depend_on_the_page_cache():
    said = answers(*shown(a_run({**ALIKE, (32, "spark"): 0.8, (256, "spark"): 0.3, (128, "spark"): 0.3})))
    assert said[0] == (
        "**mapreduce and spark**: which of them needs it more depends on the page cache, the SSD saves mapreduce more than "
        "spark within 32 MiB, the SSD saves spark more than mapreduce within 128, 256 MiB."
    )


def test_the_answer_does_not_depend_on_the_order_in_which_trials_ran():
    plan, records = a_run({**ALIKE, (32, "tez"): 0.3}, noise=0.1)
    assert report(plan, summaries(records)) == report(plan, summaries(records[::-1]))


def test_a_run_is_judged_by_three_whole_repetitions_or_by_five():
    plan, records = a_run()
    of_repetition = len(records) // 5
    ended = {count: repetitions_judged(plan, summaries(records[:count])) for count in range(0, len(records) + 1, 12)}
    assert ended == {count: 5 if count == 5 * of_repetition else 3 * (count >= 3 * of_repetition) for count in ended}
    assert {len(cell.pairs) for cell in cells(summaries(records[: 4 * of_repetition]), 3)} == {3}
    assert "no order is judged" in report(plan, summaries(records[:of_repetition]))


def test_an_engine_with_too_few_valid_pairs_is_not_compared_there():
    plan, records = a_run()
    for place, record in enumerate(records):
        trial = record.trial
        if (trial.engine, trial.cluster.page_cache_bytes, trial.placement.name) == ("tez", 64 << 20, "ssd"):
            wrong = tuple(verdict.model_copy(update={"outcome": Outcome.FAIL}) for verdict in record.verdicts)
            records[place] = record.model_copy(update={"verdicts": wrong})
    measured, found = shown((plan, records))
    assert not [order for order in found if order.page_cache_bytes == 64 << 20 and "tez" in order.engines]
    assert len(found) == 4 * 3 - 2
    assert "not judged within 64 MiB" in answers(measured, found)[1]
    assert "fewer than two pairs" in report(plan, summaries(records))


def test_an_engine_whose_writes_came_late_is_not_judged():
    """The made counters are MapReduce's, so that its writes alone are known to be late."""
    measured, found = shown(a_run({**ALIKE, (32, "mapreduce"): 0.1}, on_drives=0.2))
    assert {engine for order in found for engine in order.engines} == {"spark", "tez"}
    assert {cell.engine for cell in measured if cell.is_late} == {"mapreduce"}
    assert answers(measured, found)[0].endswith("; not judged within all page caches.")


@pytest.mark.parametrize("noises", [(0.03, 0.08, 0.27), (0.02, 0.02, 0.3), (0.03, 0.08, 0.08)])
def test_engines_that_need_it_alike_are_ordered_in_at_most_5_percent_of_runs_whatever_their_noise(noises):
    """By either look: with the noises of the two experiments before, and with more unequal ones."""
    source, runs, claims = np.random.default_rng(1), 1000, 0
    for _ in range(runs):
        logs = {(mib, engine): source.normal(-0.7, noises[ENGINES.index(engine)], 5) for mib, engine in ALIKE}
        claims += any(
            order.more
            for count, level in LEVEL_BY_REPETITIONS.items()
            for order in orders(
                [Made(engine, mib << 20, of_cell[:count]) for (mib, engine), of_cell in logs.items()], level
            )
        )
    assert claims / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


class Made(Cell):
    """A cell whose pairs' logarithms are given."""

    @property
    def logs(self):
        return [*self.pairs]

    @property
    def is_late(self):
        return False


def test_a_run_of_another_kind_is_told_from_these():
    plan, _ = a_run()
    assert is_of_the_kind(plan)
    assert not is_of_the_kind(a_plan(a_trial(1, "hdd"), a_trial(2, "ssd")))
    assert not is_of_the_kind(a_plan(*plan.trials, plan.trials[0].model_copy(update={"cluster": EmbeddedSpec()})))
    assert not is_of_the_kind(a_plan(*(trial for trial in plan.trials if trial.placement.name == "hdd")))
