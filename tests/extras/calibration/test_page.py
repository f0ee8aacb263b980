"""Proves that a calibration's page and table show its numbers, its profile's, and its doubts, and need nothing else."""

import re

import pytest
from rich.console import Console

from assay.model.doubt import Doubt
from assay_extras.calibration.calibration import AccessPattern, Knee
from assay_extras.calibration.page import block_plots, calibration_page, figure_text, print_calibration
from tests.extras.calibration.builders import a_calibration, a_point, expecting

DOUBT = Doubt(kind="short-seeks", what="seeks <were> short", why="why", cure="run as root")
WHOLE = a_calibration(
    expected=expecting(sequential_read_mb_s=102, write_cache_knee_bytes=3e9),
    knee=Knee(knee_bytes=2_900_000_000, before_mb_s=410, beyond_mb_s=139),
    doubts=(DOUBT,),
)


def text(calibration, width=80):
    console = Console(width=width, force_terminal=False)
    with console.capture() as captured:
        print_calibration(calibration, console)
    return captured.get()


def test_the_page_is_self_contained_and_has_its_plots_and_contents():
    html = calibration_page(WHOLE)
    for name in ("sequential read", "sequential write", "random read", "random write", "all streams together"):
        assert f'aria-label="{name}: MB/s by' in html
    assert '<nav id="contents"' in html
    assert "prefers-color-scheme: dark" in html
    assert re.findall(r"""(?:src|href)\s*=\s*["']([^"'#]+)""", html) == []
    assert "<script" not in html


def test_the_page_has_numbers_comparison_and_doubts():
    html = calibration_page(WHOLE)
    for part in ("-2.0%", "102 MB/s", "2.90 GB", "-3.3%", "1.2 ms", "/dev/x", "seeks &lt;were&gt; short", "fsync each"):
        assert part in html


def test_the_table_fits_a_terminal_of_80_columns():
    shown = text(WHOLE)
    assert "…" not in shown
    for part in (
        "random read",
        "128 KiB",
        "8 streams",
        "fsync each",
        "1.2 ms",
        "sequential_read_mb_s",
        "-2.0%",
        "pass",
    ):
        assert part in shown
    assert "410 MB/s for 2.7 GiB, then 139 MB/s" in " ".join(shown.split())


def test_points_lie_where_the_axes_say():
    fast, slow = (
        a_point(AccessPattern(direction="read", pattern="random", block_bytes=block << 10), mb_s)
        for block, mb_s in ((4, 1.0), (1024, 100.0))
    )
    (plot,) = block_plots((fast, slow))
    assert re.findall(r'cx="([0-9.]+)" cy="([0-9.]+)"', plot) == [("52.0", "206.0"), ("418.0", "36.0")]


def test_without_direct_points_there_is_one_plot():
    buffered = tuple(point for point in a_calibration().points if point.buffered)
    assert calibration_page(a_calibration(points=buffered)).count("<svg") == 1


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("sequential_read_mb_s", 150.4, "150 MB/s"),
        ("random_read_4k_iops_depth1", 76.3, "76/s"),
        ("write_cache_knee_bytes", 3e9, "3.00 GB"),
        ("write_cache_knee_bytes", 64e6, "64 MB"),
    ],
)
def test_named_figures_have_their_units(name, value, shown):
    assert figure_text(name, value) == shown
