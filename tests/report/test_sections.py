"""Proves that a section stands beside the answers where it bears on them, else in the closed block of the evidence."""

from assay.report.analysis import RunData, analyse
from assay.report.page import run_page
from tests.builders import a_measured_run
from tests.report.made_runs import decided_run


class Section:
    def __init__(self, name, sentence):
        self.name, self.sentence = name, sentence

    def summary_html(self):
        return self.sentence

    def html(self):
        return f'<h2 id="{self.name}">{self.name}</h2>'


def test_a_section_is_open_only_where_it_bears_on_the_question():
    run = a_measured_run(*decided_run())
    sections = {name: Section(name, sentence) for name, sentence in (("aside", ""), ("bearing", "Bearing is below."))}
    html = run_page(RunData(run, []), analyse(run)._replace(sections=sections))
    assert html.index("Bearing is below.") < html.index('id="bearing"') < html.index('id="method"')
    assert html.index('id="method"') < html.index('id="aside"') < html.index('id="doubts"')
    assert '<details class="how" id="method">' in html, "and it is closed"
