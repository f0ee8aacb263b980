"""Proves that what is worked out of a value and kept is no part of it, and never a changed copy's."""

import json
from copy import copy

from assay.model.doubt import Outcome, verdict
from assay.model.record import Record
from tests.builders import a_record


def test_a_changed_copy_works_out_anew_what_the_original_kept():
    record = a_record().model_copy(update={"verdicts": (verdict("check", passed=True, detail=""),)})
    assert record.outcome is Outcome.PASS
    assert record.trial.factors["cache"] == record.trial.cache
    changed = record.model_copy(update={"verdicts": (verdict("check", passed=False, detail=""),)})
    assert changed.outcome is Outcome.FAIL
    trial = record.trial.model_copy(update={"cache": "warm", "levels": {"further": "1"}})
    assert (trial.factors["cache"], trial.factors["further"]) == ("warm", "1")


def test_what_was_kept_is_neither_written_nor_compared():
    record = a_record()
    before = record.model_dump_json()
    assert record.outcome in Outcome
    assert record.trial.factors
    assert record.model_dump_json() == before
    assert "outcome" not in json.loads(before)
    assert record == Record.model_validate_json(before) == copy(record)
