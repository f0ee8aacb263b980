"""A place for each test."""

import pytest

from tests.it.driving import a_place


@pytest.fixture
def place(tmp_path):
    with a_place(tmp_path) as place:
        yield place
