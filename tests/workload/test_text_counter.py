"""Proves that texts are counted as far as memory is meant for them, and that giving up is told as unknown."""

import pytest

from assay.input.text import PIECES, TextMaker
from assay.model.doubt import Outcome
from assay.model.trial import WorkloadSpec
from assay.workload import text
from assay.workload.grep import Grep
from assay.workload.text import ENTRY_BYTES, TextCounter, TooManyTextsError, most_held_bytes
from assay.workload.word_frequency import WordFrequency
from tests.workload.stored import an_engine, judge


def test_all_are_counted_however_they_come():
    counted = TextCounter()
    counted.add(["a", "b", "a"])
    counted.add(iter(["b", "c"]))
    counted.add([])
    assert counted.counts == {"a": 2, "b": 2, "c": 1}


def test_different_texts_are_held_up_to_the_bound_and_repeated_ones_beyond():
    counted = TextCounter(most_bytes=3 * (ENTRY_BYTES + 2))
    counted.add([b"aa", b"bb"])
    for _ in range(100):
        counted.add([b"aa", b"bb", b"cc"])
    with pytest.raises(TooManyTextsError, match="given up at 4 different texts"):
        counted.add([b"aa", b"dd"])
    with pytest.raises(TooManyTextsError, match="given up at 1 different texts"):
        TextCounter(most_bytes=1000).add(["x" * 1000])


@pytest.mark.parametrize(
    ("workload", "lines"),
    [
        (Grep(WorkloadSpec(name="grep", variant="stock", options={"pattern": "[a-z]+"}), "/base"), b"1\taa\n"),
        (WordFrequency(WorkloadSpec(name="word-frequency", variant="paper"), "/base"), b"aa\t1\n"),
    ],
)
def test_a_text_with_too_many_different_ones_is_not_judged(monkeypatch, workload, lines):
    monkeypatch.setattr(text.TextCounter.__init__, "__defaults__", (1000,))
    _, store = an_engine()
    store.contents = {
        "/base/input/text-00000": b"aa bb cc dd ee\nff gg hh\n", "/base/output/part-r-00000": lines,
    }  # fmt: skip
    (verdict,) = judge(workload, store, {})
    assert verdict.outcome is Outcome.UNKNOWN
    assert "take a smaller text, or one that repeats itself" in verdict.detail
    assert "\n" not in verdict.detail


@pytest.mark.slow
def test_the_pieces_of_made_text_are_as_many_as_the_estimate_takes():
    assert len(TextMaker(3)._shown) == PIECES


def test_estimates_hold_what_a_text_can_have(tmp_path):
    (tmp_path / "text").write_bytes(b"a text\n" * 1000)
    sizes = {"small": {"size": "1MB"}, "large": {"size": "100GB"}, "own": {"directory": str(tmp_path)}}
    needs = {
        name: WordFrequency(WorkloadSpec(name="word-frequency", variant="paper", options=options), "/base")
        .estimate().memory_bytes >> 20
        for name, options in sizes.items()
    }  # fmt: skip
    assert needs == {"small": 128 + 76, "large": 128 + 205, "own": 128}
    assert most_held_bytes(1 << 40) == text.MOST_BYTES
    assert most_held_bytes(1000) == 40_000
