"""Proves that a doubt about times says which way it moves the saving, wherever a report prints it."""

from assay.model.doubt import DOUBTS
from assay.report.bias import BIASES, bias_text


def test_every_kind_with_a_direction_is_one_that_can_change_the_answer():
    assert set(BIASES) <= {kind.name for kind in DOUBTS.values() if kind.severity}


def test_a_direction_is_a_sentence_and_other_kinds_have_none():
    assert bias_text("cache-not-quite-cold").startswith(" Drives cost less time")
    assert bias_text("cache-not-quite-cold").endswith("too small as a rule.")
    assert bias_text("outliers") == ""
