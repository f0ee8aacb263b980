"""Proves that each level is held against its own threshold, and that one threshold for all is a number in JSON."""

import json

import pytest

from assay.report.answer import answer_of
from assay.stats.decision import Verdict, decisions
from assay.stats.threshold import Threshold
from tests.builders import summaries, summarised
from tests.stats.terasort import terasort_run


def test_a_level_has_its_own_or_that_of_all():
    worth = Threshold(share=0.1, by_level={"nvme": 0.4})
    assert (worth.of("ssd"), worth.of("nvme"), worth.least) == (0.1, 0.4, 0.1)


@pytest.mark.parametrize(
    ("by_level", "verdict", "told"),
    [
        ({"ssd": 0.6}, Verdict.NOT_WORTH_IT, "threshold 60 %"),
        ({"nvme": 0.6}, Verdict.WORTH_IT, "threshold 10 %"),
    ],
)
def test_a_verdict_is_by_the_threshold_of_its_level(by_level, verdict, told):
    plan, records = terasort_run(worth=0.1)
    (decision,) = decisions(plan, summaries(records), worth=Threshold(share=0.1, by_level=by_level))
    assert decision.placements[1].verdict is verdict
    assert told in answer_of(decision).lines[1].words


def test_in_json_it_is_the_share_where_all_levels_have_the_same():
    (decision,) = decisions(*summarised(*terasort_run(worth=0.1)))
    assert json.loads(decision.model_dump_json())["worth"] == 0.1
    apart = Threshold(share=0.1, by_level={"ssd": 0.6})
    assert Threshold.model_validate(json.loads(apart.model_dump_json())) == apart
