"""Proves that the peak of memory within a scope is seen, however short it was, and that nothing is told without it."""

import mmap

from assay.probe.own_cost import weighed

MIB = 1 << 20


def take_and_give_back():
    """Memory that was not in use before: the C library may have some left over of what it gave out earlier."""
    with mmap.mmap(-1, 40 * MIB) as held:
        for at in range(0, len(held), mmap.PAGESIZE):
            held[at] = 1


def test_a_peak_that_has_passed_is_seen():
    with weighed() as weight:
        take_and_give_back()
    assert 39 * MIB < weight.growth_bytes < 60 * MIB
    assert weight.busy_s > 0


def test_what_was_there_before_is_not_counted():
    take_and_give_back()
    with weighed() as weight:
        pass
    assert weight.growth_bytes < 5 * MIB


def test_a_kernel_that_does_not_tell_gives_no_figure(tmp_path):
    with weighed(tmp_path / "gone") as weight:
        pass
    assert weight.growth_bytes is None


def test_the_kernels_own_figures(tmp_path):
    (tmp_path / "status").write_text("Name:\tpython\nVmHWM:\t    1000 kB\nVmRSS:\t     900 kB\n")
    with weighed(tmp_path) as weight:
        assert (tmp_path / "clear_refs").read_text() == "5"
        (tmp_path / "status").write_text("VmHWM:\t    3000 kB\n")
    assert weight.growth_bytes == 2000 * 1024
