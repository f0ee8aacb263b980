"""Proves that the page's section on energy has each trial's joules by component and phase, and its power over time."""

import pytest

from assay_extras.energy import _energy
from assay_extras.energy.values import energy_of
from assay_extras.energy.view import EnergyView
from tests.builders import a_view
from tests.report.made_nodes import a_cluster_record
from tests.report.made_trials import the_tables


@pytest.fixture(scope="module")
def html():
    return EnergyView(
        [the_tables(1, "hdd", 60.0), the_tables(2, "ssd", 40.0), the_tables(3, "hdd", 58.0, repetition=2)]
    ).html()


def test_power_is_labelled_measured_or_modelled(html):
    assert "Power of each node over the run, modelled<" in html
    assert html.count("power, W (modelled)") == 3


def test_energy_by_component_and_phase_adds_up():
    energy = energy_of(the_tables())
    run = {one.component: one.energy_j["run"].value for one in energy.components}
    assert run["hdd"] == pytest.approx(163)
    assert set(run) == {"cpu", "memory", "hdd"}
    assert energy.whole.energy_j.value == pytest.approx(sum(run.values()))
    assert sum(one.energy_j.value for one in energy.phases.values()) == pytest.approx(energy.whole.energy_j.value)
    assert sum(one.jobs_share for one in energy.components) == pytest.approx(1)


def test_a_run_of_which_no_trial_is_drawn_has_no_such_section():
    assert _energy(a_view(None, [])) is None


def test_each_of_several_nodes_has_a_line():
    html = EnergyView([the_tables()._replace(record=a_cluster_record())]).html()
    assert "<h4>Each node</h4>" in html
    assert "<td>worker-2</td>" in html


def test_markdown_has_the_medians_of_each_placement():
    view = EnergyView([the_tables(1, "hdd"), the_tables(2, "ssd"), the_tables(3, "hdd", repetition=2)])
    lines = view.markdown().splitlines()
    assert [line.split(" | ")[1] for line in lines if line.startswith("| terasort")] == ["hdd", "ssd"]
    assert (view.text(), view.summary_html(), view.json()) == ("", "", "")
