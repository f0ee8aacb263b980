"""Proves what terminal and page say of what an answer depends on, and that the figure draws it."""

import re
import xml.etree.ElementTree as ET

import pytest

from assay.report.analysis import analyse
from assay.report.charts.depends import depends_charts
from assay.report.depends import depends_notes, restated_notes
from assay.stats.sensitivity import Sensitivity, VariedTrial
from tests.builders import a_measured_run
from tests.stats.test_sensitivity import a_run

HDD, SSD, ZERO = 34.0, 16.0, 14.0


def one(memory="1040MiB", cpus="all", **changes):
    values = {
        "levels": {"workload": "k-means", "memory": memory, "cpus": cpus}, "base": "hdd", "other": "ssd", "worth": 0.1,
        "base_s": HDD, "other_s": SSD, "zero_s": ZERO, "halves": (0.14, 0.18, 0.18), "assumed": ("hdd", "ssd"),
        "cores": 2.0, "processor": "a processor", "processor_mb_s": 14.23,
    }  # fmt: skip
    return Sensitivity(**{**values, **changes})


ALL = (
    "The saving depends on the processors: 38 % less time (32 to 43 %) with processors half as fast, 67 % less time (58 "
    "to 73 %) with processors twice as fast (computing scaled, storage kept)."
)


def test_processors_and_drives_are_told_in_few_lines():
    assert list(depends_notes(one(), first=True)) == [
        f"{ALL} For yours: `assay report RUN --cpu-speed 3x`.",
        "A processor of this machine (a processor) compresses 14.2 MB/s (1.29 MB by `time (seq 200000 | bzip2 -9 > /dev/null)`).",
        "With all assumed times and rates of the drives a fifth worse or better, the saving would lie within 45 to 60 %.",
    ]


def test_a_sites_own_speed_comes_first_with_its_verdict():
    (note,) = restated_notes(one(cpu_speed=2.0))
    assert note == (
        "With processors 2 times as fast as here: 67 % less time (58 to 73 %) on ssd than on hdd, worth it."
    )
    (note,) = restated_notes(one(cpu_speed=0.05, halves=(0.3, 0.3, 0.3)))
    assert note.endswith("not worth it.")


def test_what_is_not_known_is_not_said():
    notes = list(depends_notes(one(assumed=(), processor_mb_s=None, halves=None), first=False))
    assert notes == [
        re.sub(r" \(\d.*?\)", "", ALL),
    ]


def test_an_answer_that_the_slowdown_decides_says_so():
    decided = "the slowdown decides the answer, so it must be that of your nodes"
    notes = list(depends_notes(one(slowdown=20, halves=(0.1, 0.1, 0.1)), first=False))
    (note,) = [note for note in notes if "20 times slower" in note]
    assert "At their own speed the saving beside these processors would be 6 % less time" in note
    assert f"not worth it: {decided}" in note
    assert not any(decided in note for note in depends_notes(one(slowdown=2), first=False))
    assert not any("times slower" in note for note in depends_notes(one(), first=False))


def test_runs_with_varied_drives_stand_beside_the_arithmetic():
    varied = VariedTrial(placement="hdd-slower", elapsed_s=38.2, calculated_s=39.0)
    *_, note = depends_notes(one(varied=(varied,)), first=True)
    assert note == (
        "Runs with such drives, which also serve several streams more slowly or faster, took (in brackets the arithmetic "
        "alone): hdd-slower 38.2 s (39.0 s)."
    )


def test_the_answer_has_them_last_and_analysis_restates_for_a_speed():
    plan, records = a_run()
    asked = analyse(a_measured_run(plan, records), 2.0)
    assert asked.answers[0].words.notes[-3].startswith("The saving depends on the processors")
    assert any(note.startswith("With processors 2 times as fast as here") for note in asked.answers[0].words.caveats)
    assert asked.answers[0].sensitivity.cpu_speed == 2.0
    assert analyse(a_measured_run(plan, records)).answers[0].sensitivity.cpu_speed is None


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def circles(svg):
    """Their places: points are measured here, rings elsewhere; without those of the legend."""
    found = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', svg)
    return [(float(x), float(y), float(radius)) for x, y, radius in found if float(x) > 50]


def test_a_decision_alone_has_its_interval_the_drives_range_and_the_threshold():
    (svg,) = depends_charts([one(), None])
    words = texts(svg)
    assert {"measured", "calculated", "95 % interval", "assumed speeds a fifth off", "as here", "0.5x", "4x"} <= {
        *words
    }
    assert {"worth it from 10 %", "How much less time ssd takes than hdd, by the speed of the processors"} <= {*words}
    assert "speed of the processors (here 14.2 MB/s by bzip2)" in words
    assert svg.count('stroke-dasharray="2 3"/><path') >= 1
    assert len(circles(svg)) == 1
    assert "53 % at 1 times" in svg


def test_bounds_of_memory_are_curves_with_names_and_less_processor_time_a_ring_upon_one():
    memories = [one(), one("1700MiB", base_s=20.0, other_s=15.0), one("3GiB", base_s=14.5, other_s=14.4)]
    (svg,) = depends_charts(memories)
    assert {"1040 MiB", "1700 MiB", "3 GiB"} <= {*texts(svg)}
    assert len(circles(svg)) == 3
    (svg,) = depends_charts([one(cpus="2"), one(cpus="1", cores=1.0, base_s=48.0, other_s=30.0, zero_s=28.0)])
    ring, point = sorted(circles(svg))[:2]
    assert "less processor time" in texts(svg)
    predicted, measured = one().saving(0.5).value, 1 - 30 / 48
    assert measured == pytest.approx(predicted, abs=0.01)
    assert ring[0] < point[0]
    assert ring[1] > point[1]  # it saves less


def test_other_drives_and_jobs_have_figures_of_their_own():
    assert len(depends_charts([one(), one(other="nvme")])) == 2
    assert len(depends_charts([one(), one(levels={"workload": "sort", "memory": "1040MiB"})])) == 2
    assert depends_charts([None]) == []


def test_what_is_asked_about_is_marked_even_beyond_the_usual_speeds():
    (svg,) = depends_charts([one(cpu_speed=8.0)])
    assert "8x" in texts(svg)
    assert any(word and re.fullmatch(r"8x: \d+ %", word) for word in texts(svg))


def test_a_saving_below_nothing_has_room():
    (svg,) = depends_charts([one(base_s=20.0, other_s=26.0)])
    assert "-40 %" in texts(svg) or "-60 %" in texts(svg)


@pytest.mark.parametrize("other_s", [13.6, 10.0])
def test_a_time_below_that_with_zero_delay_is_told_and_drawn_at_any_speed(other_s):
    noisy = one(base_s=26.0, other_s=other_s, zero_s=14.0, cpu_speed=100.0)
    (note,) = restated_notes(noisy)
    assert note.startswith("With processors 100 times as fast as here: 99 % less time (")
    (chart,) = depends_charts([noisy])
    assert "100x: 99 %" in chart
