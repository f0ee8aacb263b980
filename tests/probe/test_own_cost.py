"""Proves that what probing costs is told from the threads' own clocks, by part of the trial."""

import threading
import time

from assay.probe.own_cost import OwnCost, thread_clocks_s
from assay.probe.process_stat import PAGE_BYTES, OpenProcess
from tests.probe.faking import FakeProc, a_context, a_scene, at, named


def spin(seconds):
    began = time.thread_time()
    while time.thread_time() - began < seconds:
        pass


def test_the_clock_of_each_probing_thread_is_read_and_of_no_other():
    ready, done = threading.Event(), threading.Event()

    def probe():
        spin(0.03)
        ready.set()
        done.wait(5)

    threads = [threading.Thread(target=probe, name="probe-x"), threading.Thread(target=done.wait, name="other")]
    for thread in threads:
        thread.start()
    ready.wait(5)
    clocks = thread_clocks_s()
    done.set()
    assert list(clocks) == [threads[0].native_id]
    assert 0.03 <= clocks[threads[0].native_id] < 0.2
    for thread in threads:
        thread.join()
    assert thread_clocks_s() == {}


def test_costs_are_by_part_and_a_thread_that_ended_still_counts(tmp_path):
    proc = FakeProc(tmp_path / "proc")
    proc.process(9, 1, resident_pages=1000)
    clocks = {1: 0.5, 2: 0.25}
    children_s = 2.0
    context = a_context(children_s=lambda: children_s, samples_bytes=lambda: 4096)
    cost = OwnCost(context, OpenProcess(proc.node, 9), lambda: clocks)
    cost.attach(a_scene())
    assert cost.sample(at(5)) == {}
    before = named(cost.totals())
    clocks, children_s = {1: 1.5}, 2.5
    proc.process(9, 1, resident_pages=3000)
    cost.sample(at(10))
    proc.process(9, 1, resident_pages=2000)
    cost.sample(at(11))
    after = named(cost.totals())
    assert after["probes", "busy_s"] - before["probes", "busy_s"] == 1.5
    assert after["trial", "elapsed_s"] - before["trial", "elapsed_s"] == 6
    assert after["probes", "samples_bytes"] == 4096
    assert after["probes", "resident_growth_bytes"] == 2000 * PAGE_BYTES
    assert named(cost.totals())["probes", "resident_growth_bytes"] == 1000 * PAGE_BYTES
    cost.close()


def test_memory_is_labelled_as_an_estimate():
    cost = OwnCost(a_context())
    cost.attach(a_scene())
    bases = {what.series: what.basis for what in cost.totals()}
    assert bases["resident_growth_bytes"] == "estimated"
    assert bases["busy_s"] == "measured"
    cost.close()
