"""Proves that free memory which goes back to the host is told by the balloon's features, as the kernel prints them."""

import pytest

from assay_extras.held_memory.holding import goes_back


@pytest.mark.parametrize(
    ("features", "expected"),
    [("0110010100", True), ("0110000100", False), ("", False)],
)
def test_the_sixth_feature_of_the_balloon_is_free_page_reporting(tmp_path, features, expected):
    device = tmp_path / "virtio0"
    device.mkdir()
    (device / "features").write_text(features + "\n")
    assert goes_back(tmp_path) is expected


def test_a_machine_without_a_balloon_keeps_its_memory(tmp_path):
    assert goes_back(tmp_path / "nowhere") is False
