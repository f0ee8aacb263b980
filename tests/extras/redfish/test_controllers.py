"""Proves that controllers and credentials come from a private file or the environment, and are never shown."""

import json
import os

import pytest

from assay.model.probe import CannotMeasureError
from assay_extras.redfish.instrument import read_controllers

ONE = {"node": "n1", "url": "https://ilo-n1/", "user": "reader", "password": "hunter2"}


def written(folder, content, mode=0o600):
    file = folder / "redfish.json"
    file.write_text(content if isinstance(content, str) else json.dumps({"controllers": content}))
    file.chmod(mode)
    return {"ASSAY_REDFISH": str(file)}


def test_without_a_file_there_are_none():
    assert read_controllers({}) == ()


def test_a_file_names_them(tmp_path):
    (found,) = read_controllers(written(tmp_path, [ONE]))
    assert (found.node, found.url, found.user) == ("n1", "https://ilo-n1", "reader")
    assert found.password.get_secret_value() == "hunter2"
    assert "hunter2" not in repr(found) + found.model_dump_json()


def test_credentials_may_come_from_the_environment(tmp_path):
    environment = {**written(tmp_path, [{"node": "n1", "url": "https://a"}, ONE])}
    first, second = read_controllers({**environment, "ASSAY_REDFISH_USER": "u", "ASSAY_REDFISH_PASSWORD": "p"})
    assert (first.user, first.password.get_secret_value()) == ("u", "p")
    assert (second.user, second.password.get_secret_value()) == ("reader", "hunter2")


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        ([ONE], 0o640, "others may read it"),
        ("{", 0o600, "is not JSON"),
        ([], 0o600, "controllers"),
        ([{**ONE, "url": "https://reader:hunter2@ilo"}], 0o600, "holds a user or password"),
        ([{**ONE, "url": "ilo"}], 0o600, "not an http or https address"),
        ([{**ONE, "passwort": "hunter2"}], 0o600, "passwort"),
        ([{"url": "https://ilo", "password": "hunter2"}], 0o600, "node"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_without_its_secrets(tmp_path, content, mode, said):
    with pytest.raises(CannotMeasureError, match=said) as refusal:
        read_controllers(written(tmp_path, content, mode))
    assert "hunter2" not in refusal.value.problem + refusal.value.cure


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(CannotMeasureError, match="can't be read"):
        read_controllers({"ASSAY_REDFISH": str(tmp_path / "absent")})


def test_a_pipe_is_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(CannotMeasureError, match=r"which can't be read: it is a pipe"):
        read_controllers({"ASSAY_REDFISH": str(tmp_path / "pipe")})
