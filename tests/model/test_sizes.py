"""Proves that a size is the whole of a text and that its unit means what people mean by it."""

import pytest

from assay.model.naming import size_of
from assay.model.trial import memory_level


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4GiB", 4 << 30), ("4gib", 4 << 30), ("4 GiB", 4 << 30), ("4Gi", 4 << 30), ("1.5GB", 1_500_000_000),
        (".5MiB", 1 << 19), ("800mb", 800_000_000), ("12", 12), ("12B", 12), (16, 16), ("0", 0),
        ("9223372036854775807", 2**63 - 1),
    ],
)  # fmt: skip
def test_sizes(text, size):
    assert size_of(text) == size


@pytest.mark.parametrize(
    "text",
    ["3GiB; rm", "3,5GiB", "0x10", "3GiB3GiB", "-1", "1e3", "", "GiB", "5.GiB", "1iB", "٣GiB", "9" * 5000, "99EiB",
     "16G", "800m", True, 1.5, -1, None, float("nan"), 2**63],
)  # fmt: skip
def test_what_only_begins_like_a_size_is_none(text):
    assert size_of(text) is None


@pytest.mark.parametrize("text", ["250MB", "250GB", "4GiB", "1536MiB", "1GB", "64MiB"])
def test_a_bound_of_memory_is_shown_as_it_was_typed(text):
    assert memory_level(size_of(text)) == text
