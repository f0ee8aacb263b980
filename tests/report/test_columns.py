"""Proves that a table of plain text keeps every cell whole at any width, and what it leaves out first."""

import pytest

from assay.report.columns import Column, layout_table

COLUMNS = [
    Column("placement", ["hdd", "local-directories-on-ssd"], name=True),
    Column("run", ["monday", "tuesday"], name=True),
    Column("trials", ["2", "12"], rank=1),
    Column("elapsed", ["43.0", "1,035"]),
    Column("interval", ["35.9 to 51.4", "-"], rank=2),
]


def test_with_room_all_columns_stand_side_by_side():
    assert list(layout_table(COLUMNS, 100)) == [
        "  placement                 run      trials  elapsed      interval",
        "  hdd                       monday        2     43.0  35.9 to 51.4",
        "  local-directories-on-ssd  tuesday      12    1,035             -",
    ]


@pytest.mark.parametrize(
    ("width", "head"),
    [(66, "placement run trials elapsed interval"), (65, "placement run trials elapsed"), (51, "placement run elapsed"),
     (44, "placement run elapsed")],
)  # fmt: skip
def test_columns_are_left_out_by_rank_only_where_there_is_no_room(width, head):
    lines = list(layout_table(COLUMNS, width))
    assert lines[0].split() == head.split()
    assert max(map(len, lines)) <= width


def test_where_nothing_more_can_be_left_out_names_stand_above():
    assert list(layout_table(COLUMNS, 43)) == [
        "  placement  run\n    elapsed",
        "  hdd  monday\n       43.0",
        "  local-directories-on-ssd  tuesday\n      1,035",
    ]
