"""Proves that commands in texts are those that the user can type."""

import pytest

from assay.report.typed import as_typed, typed


@pytest.mark.parametrize(("called", "shown"), [("./assay", "./assay"), (None, "assay")])
def test_commands_begin_as_the_user_called_assay(called, shown, monkeypatch):
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    if called:
        monkeypatch.setenv("ASSAY_COMMAND", called)
    assert (
        as_typed("run `assay memory hold`, or `assay media list`")
        == f"run `{shown} memory hold`, or `{shown} media list`"
    )
    assert typed("run", "my file.yaml") == f"{shown} run 'my file.yaml'"
