"""Proves in a real browser that the page opens without errors, filters hide what they say, and its numbers are the records'."""

import base64
import csv
import io
import json
import re
import subprocess

import pytest

from assay.cli.context import find_installation
from assay.cli.report import browser_command, find_browser, print_page
from assay.engine.past.made_histories import MadeJob, history
from assay.engine.past.mapreduce import read_job
from assay.engine.past.spark import PastApplication
from assay.model.errors import BadInputError
from assay.report.analysis import MOST_TRIALS_SHOWN, RunData
from assay.report.compare_runs import compare_runs
from assay.report.compare_views import comparison_page
from assay.stats.summary import rows_of
from assay.triage.drives import drives_by_role
from assay.triage.ranking import DriveSite, triage
from assay.triage.views import page as triage_page
from tests.builders import a_measured_run, summaries
from tests.extras.studies.test_view import the_run
from tests.report.chromium import Chromium
from tests.report.made_runs import decided_run, made_run, made_trials, page
from tests.report.made_trials import ms, the_series, the_tables

pytestmark = pytest.mark.it  # a browser takes seconds of both cores to start

WATCH = """<script>
window.problems = [];
addEventListener("error", (event) => problems.push(String(event.message)));
addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
addEventListener("message", (event) => {
  document.body.append(Object.assign(document.createElement("pre"), { id: "told", textContent: event.data }));
});
console.error = console.warn = (...words) => problems.push(words.join(" "));
</script>"""

ASK = """<script>
const seen = (selector) => [...document.querySelectorAll(selector)].filter((one) => !one.closest("[hidden]"));
const texts = (selector) => seen(selector).map((one) => one.textContent.replace(/\\s+/g, " ").trim());
const taken = [];
window.Blob = class { constructor(parts) { taken.push(parts.join("")); } };
URL.createObjectURL = () => "#";
const tick = (label, on) => {
  const box = [...document.querySelectorAll(".filters label")].find((one) => one.textContent.trim() === label);
  if (!box) return;
  box.querySelector("input").checked = on;
  box.querySelector("input").dispatchEvent(new Event("change", { bubbles: true }));
};
const state = () => ({
  rows: seen("#combinations tr[data-levels]").map((row) => [...row.cells].map((one) => one.textContent.trim()).join("|")),
  lines: seen("svg g[data-levels]").map((one) => one.dataset.tip),
  cards: texts(".answer .headline, .decision .headline"),
  shown: document.querySelector(".filters output")?.textContent,
});
const told = { before: state() };
tick(LABEL, false);
told.after = state();
document.querySelector(".filters button")?.click();
setTimeout(() => {
  told.again = state();
  told.values = seen("#combinations td[data-v]").map((one) => one.dataset.v);
  const part = document.querySelector("svg g[data-levels]");
  part.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: 9, clientY: 9 }));
  told.trials = texts("details[id^=trial] > summary");
  told.tip = texts(".tip");
  const links = [...document.querySelectorAll(".take a")];
  links.forEach((link) => link.addEventListener("click", (event) => event.preventDefault()));
  links.forEach((link) => link.click());
  told.links = links.map((link) => [link.textContent, link.download]);
  told.taken = taken;
  told.problems = problems;
  told.wide = document.documentElement.scrollWidth - innerWidth;
  parent.postMessage(btoa(unescape(encodeURIComponent(JSON.stringify(told)))), "*");
}, 50);
</script>"""


@pytest.fixture(scope="module")
def browser():
    try:
        found = find_browser()
    except BadInputError as error:
        pytest.skip(str(error))
    if subprocess.run([found, "--version"], capture_output=True, check=False).returncode:
        pytest.skip(f"{found} does not start: it may only stand for a package that is not installed")
    return found


def ask(browser, place, html, label, width=None):
    """What the page says after its script ran, with one box unticked and ticked again, and all links followed.

    A browser's window has a least width, so a page of a certain `width` is asked within a frame of another.
    """
    file = place / "page.html"
    asked = html.replace("<head>", f"<head>{WATCH}", 1).replace(
        "</body>", ASK.replace("LABEL", json.dumps(label)) + "</body>"
    )
    file.write_text(asked)
    if width:
        file = place / "frame.html"
        file.write_text(
            f'<head>{WATCH}</head><body><iframe src="page.html" width="{width}" height="800"></iframe></body>'
        )
    options = ["--dump-dom", "--virtual-time-budget=5000", "--window-size=1280,900", "--enable-logging=stderr"]
    command = [*browser_command(browser, place / "profile"), *options, file.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert "CONSOLE" not in done.stderr, done.stderr
    return json.loads(base64.b64decode(re.search(r'<pre id="told">([^<]+)</pre>', done.stdout)[1]))


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture(scope="module")
def run():
    plan, records = made_run(made_trials(("triangles", "components"), ("hdd", "ssd"), ("defaults", "customs"), 6))
    detailed = [the_tables(901, "hdd", 20.0), the_tables(902, "ssd", 20.0)]
    return plan, [*records, *(one.record for one in detailed)], detailed


@pytest.fixture(scope="module")
def told(browser, run, tmp_path_factory):
    plan, records, detailed = run
    return ask(browser, tmp_path_factory.mktemp("page"), page(plan, records, [], detailed), "customs")


def test_the_page_opens_without_errors_and_fits_its_window(told):
    assert told["problems"] == []
    assert told["wide"] <= 0


def test_filters_hide_rows_lines_and_nothing_else(told):
    before, after = told["before"], told["after"]
    assert len(before["rows"]) == 10
    assert [row for row in before["rows"] if "|customs|" not in row] == after["rows"]
    assert len(after["rows"]) == 6
    assert len(after["lines"]) == 15  # of shares, of elapsed times and of phases
    assert 0 < len(after["cards"]) < len(before["cards"])
    assert (before["shown"], after["shown"]) == ("", "6 of 10 rows shown")
    assert told["again"] == before


def test_the_numbers_are_the_records(told, run):
    rows = rows_of(summaries(run[1]))
    wanted = [value for row in rows for value in (row.elapsed_s, row.ratio)]
    assert told["values"] == ["" if value is None else repr(value) for value in wanted]
    for row, line in zip(rows, told["before"]["rows"], strict=True):
        assert line.startswith(f"{row.group.workload}|{row.group.settings}|{row.placement}|")
        assert f"|{row.elapsed_s:.1f}" in line or f"|{row.elapsed_s:.0f}" in line
    assert told["tip"][0] == told["before"]["lines"][0]


def test_every_cell_of_the_table_and_each_trial_says_what_its_records_say(told, run):
    shown = [[re.sub(r"\s+", " ", cell) for cell in line.split("|")] for line in told["before"]["rows"]]
    assert shown == [cells_of(row) for row in rows_of(summaries(run[1]))]
    said = {
        one.trial.id: f"{one.trial.id} repetition {one.trial.repetition}: {seconds(one.totals.elapsed_s)} s, {one.outcome}"
        for one in run[1]
    }
    assert len(told["trials"]) == MOST_TRIALS_SHOWN
    assert told["trials"] == [said[words.partition(" ")[0]] for words in told["trials"]]


def cells_of(row):
    ratio = f"{row.ratio:.2f}" if row.ratio else "-"
    if row.comparison and row.comparison.shown_interval:
        ratio += spread(row.comparison.shown_interval, "{:.2f}".format)
    sure = "" if row.comparison is None else "yes" if row.comparison.significant else "no"
    elapsed = seconds(row.elapsed_s) + (spread(row.elapsed.interval, seconds) if row.elapsed.interval else "")
    phases = [seconds(row.phases[name]) for name in ("map", "shuffle", "merge", "reduce")]
    names = [row.group.workload, row.group.settings, row.placement, str(row.finished)]
    return [*names, elapsed, ratio, sure, *phases, str(row.outcome)]


def seconds(value):
    return f"{value:.1f}" if value < 99.95 else f"{value:.0f}"


def spread(interval, text):
    return f" {text(interval.low)} to {text(interval.high)}"


def test_figures_and_tables_can_be_taken_away(told, run):
    taken = dict(zip([name for _, name in told["links"]], told["taken"], strict=True))
    trials = table(taken["test-trials.csv"])
    assert [(one["trial"], float(one["elapsed_s"])) for one in trials] == [
        (record.trial.id, record.totals.elapsed_s) for record in run[1]
    ]
    combinations = table(taken["test-combinations.csv"])
    assert [float(one["elapsed_s"]) for one in combinations] == [row.elapsed_s for row in rows_of(summaries(run[1]))]
    assert taken["test-figure-1.svg"].startswith("<svg")
    assert 'xmlns="http://www.w3.org/2000/svg"' in taken["test-figure-1.svg"]
    tables = [text for name, text in taken.items() if "-table-" in name]
    assert [text for text in tables if text.startswith("job and input,verdict,")]
    assert [text for text in tables if text.startswith("workload,")]
    assert len([name for name in taken if name.endswith(".svg")]) >= 5


def test_the_comparison_of_runs_works_as_well_on_a_phone(browser, tmp_path):
    runs = {
        "here": RunData(a_measured_run(*made_run(made_trials(repetitions=6))), []),
        "there": RunData(a_measured_run(*made_run(made_trials(repetitions=6), seed=2, facts={"cpu": "other"})), []),
    }
    told = ask(browser, tmp_path, comparison_page(compare_runs(runs)), "there", width=390)
    assert told["problems"] == []
    assert told["wide"] <= 0
    assert (len(told["before"]["rows"]), len(told["after"]["rows"])) == (4, 2)
    assert (
        len(
            table(
                dict(zip([name for _, name in told["links"]], told["taken"], strict=True))[
                    "comparison-combinations.csv"
                ]
            )
        )
        == 4
    )


def test_the_page_fits_a_phone(browser, run, tmp_path):
    plan, records, detailed = run
    told = ask(browser, tmp_path, page(plan, records, [], detailed), "customs", width=390)
    assert told["problems"] == []
    assert told["wide"] <= 0


def test_a_studys_part_of_the_page_works_as_well(browser, tmp_path):
    told = ask(browser, tmp_path, page(*the_run(), []), "", width=390)
    assert told["problems"] == []
    assert "shown" not in told["before"]  # of two rows nothing is to be picked
    assert told["wide"] <= 0


def test_the_page_is_printed_as_pdf(browser, tmp_path):
    plan, records = made_run(made_trials(repetitions=2))
    print_page(page(plan, records, []), tmp_path / "out.pdf", browser)
    assert (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF")


@pytest.fixture(scope="module")
def chromium(browser, tmp_path_factory):
    started = Chromium(browser, tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def url(run, tmp_path_factory):
    plan, records, detailed = run
    file = tmp_path_factory.mktemp("opened") / "page.html"
    file.write_text(page(plan, records, [], detailed))
    return file.as_uri()


COLUMN = """(number) => [...document.querySelectorAll("#combinations tbody tr")]
    .map((row) => row.cells[number].dataset.v ?? row.cells[number].textContent.trim())"""
SHOWN = '[...document.querySelectorAll("#combinations tbody tr")].filter((row) => !row.hidden).length'


OPEN = 'document.querySelector("#method").open = true'


def test_a_click_on_a_head_sorts_by_value_upwards_downwards_and_as_it_was(chromium, url):
    with chromium.page(url) as opened:
        opened.ask(OPEN)
        heads = opened.ask('[...document.querySelectorAll("#combinations th")].map((one) => one.textContent)')
        elapsed, head = heads.index("elapsed (s)"), f"#combinations th:nth-child({heads.index('elapsed (s)') + 1})"
        before = opened.ask(f"({COLUMN})({elapsed})")
        numbers = sorted(map(float, before))
        assert numbers != sorted(numbers, key=str)  # by text they would be in another order
        for wanted, spoken in ((numbers, "ascending"), (numbers[::-1], "descending")):
            opened.click(f"{head} button")
            assert list(map(float, opened.ask(f"({COLUMN})({elapsed})"))) == wanted
            assert opened.ask(f"document.querySelector('{head}').ariaSort") == spoken
        opened.click(f"{head} button")
        assert opened.ask(f"({COLUMN})({elapsed})") == before
        assert opened.problems() == []


def test_tables_are_sorted_from_the_keyboard_and_what_is_missing_comes_last(chromium, url):
    with chromium.page(url) as opened:
        opened.ask(OPEN)
        heads = opened.ask('[...document.querySelectorAll("#combinations th")].map((one) => one.textContent)')
        ratio = heads.index("ratio")
        opened.ask(f"document.querySelector('#combinations th:nth-child({ratio + 1}) button').focus()")
        for _ in range(2):
            opened.press("Enter")
            values = opened.ask(f"({COLUMN})({ratio})")
            known = [one for one in values if one]
            assert values == known + [""] * (len(values) - len(known))
            assert 1 < len(known) < len(values)
        assert list(map(float, known)) == sorted(map(float, known), reverse=True)


def test_units_count_when_sizes_are_sorted(chromium, url):
    with chromium.page(url) as opened:
        opened.ask(
            """document.querySelectorAll("table.sortable").forEach((table) => {
                 const heads = [...table.tHead.rows[0].cells];
                 const place = heads.findIndex((one) => one.textContent === "bytes");
                 if (place < 0 || window.sizes) return;
                 heads[place].querySelector("button").click();
                 window.sizes = [...table.tBodies[0].rows].map((row) => row.cells[place].textContent.trim());
               })"""
        )
        sizes = opened.ask("sizes")
        units = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
        values = [float(number) * units[unit] for number, unit in map(str.split, sizes)]
        assert values == sorted(values)
        assert len({unit for _, unit in map(str.split, sizes)}) > 1


def test_every_heading_has_an_address_that_the_contents_and_its_own_link_lead_to(chromium, url):
    with chromium.page(url) as opened:
        headings = opened.ask(
            '[...document.querySelectorAll("h2, h3, h4")].map((one) => [one.tagName, one.id, one.querySelector(".anchor")?.hash])'
        )
        assert all(own == f"#{name}" for _, name, own in headings)
        assert len({name for _, name, _ in headings}) == len(headings)
        contents = opened.ask('[...document.querySelectorAll("#contents > ol > li > a")].map((one) => one.hash)')
        assert contents == [own for tag, _, own in headings if tag == "H2" and not own.startswith("#answer")]
        assert opened.ask(
            '[...document.querySelectorAll("a[href^=\\"#\\"]")].filter((one) => one.hash.length > 1).every((one) => document.getElementById(one.hash.slice(1)))'
        )
    with chromium.page(f"{url}#doubts") as opened:
        assert opened.ask("scrollY") > 0


def test_a_link_to_a_trial_opens_it(chromium, url, run):
    trial = f"trial-{run[1][0].trial.id}"
    with chromium.page(f"{url}#{trial}") as opened:
        assert opened.ask(f"document.getElementById('{trial}').open")


def test_the_filter_stands_in_the_address_and_is_there_again_when_it_is_opened(chromium, url):
    with chromium.page(url) as opened:
        every = opened.ask(SHOWN)
        opened.ask(
            '[...document.querySelectorAll(".filters label")].find((one) => one.textContent.trim() === "customs").click()'
        )
        shown, address = opened.ask(SHOWN), opened.ask("location.href")
        assert 0 < shown < every
        assert address == f"{url}#?hide=settings:customs"
        opened.ask("document.querySelector(\"#contents a[href='#doubts']\").click()")
        opened.ask("new Promise((done) => setTimeout(done, 100))")
        assert opened.ask("location.href") == f"{url}#doubts?hide=settings:customs"
    for place in ("#?hide=settings:customs", "#doubts?hide=settings:customs"):
        with chromium.page(f"{url}{place}") as opened:
            assert opened.ask(SHOWN) == shown
            assert (opened.ask("scrollY") > 0) == place.startswith("#doubts")
            opened.ask('document.querySelector(".filters button").click()')
            opened.ask("new Promise((done) => setTimeout(done, 100))")
            assert opened.ask(SHOWN) == every
            assert "hide" not in opened.ask("location.href")
            assert opened.problems() == []


LOOK = """(() => { const style = getComputedStyle(document.body), line = getComputedStyle(document.querySelector("svg"));
    return [style.backgroundColor, style.color, line.fill]; })()"""


def test_the_page_is_dark_where_the_system_is_or_the_reader_says_so_and_remembers_it(chromium, url):
    with chromium.page(url) as opened:
        light = opened.ask(LOOK)
        assert light[0] == "rgb(255, 255, 255)"
    with chromium.page(url, dark=True, script=False) as opened:
        opened.send("Emulation.setScriptExecutionDisabled", value=False)
        dark = opened.ask(LOOK)
        assert max(channels(dark[0])) < 64
        assert min(channels(dark[1])) > 192
        assert dark[2] == dark[1]  # the figures' ink is the page's
    with chromium.page(url) as opened:
        opened.click("button.theme")
        assert opened.ask(LOOK) == dark
        opened.go(url)
        assert opened.ask(LOOK) == dark
        opened.send("Emulation.setEmulatedMedia", media="print")
        assert opened.ask(LOOK) == light
        opened.send("Emulation.setEmulatedMedia", media="")
        opened.click("button.theme")
        assert opened.ask(LOOK) == light


def channels(colour):
    return list(map(int, re.findall(r"\d+", colour)))


def test_over_time_the_pointer_and_the_arrows_tell_the_values_of_their_moment(chromium, url):
    with chromium.page(url) as opened:
        opened.ask(OPEN)
        left, right, seconds = map(float, opened.ask('document.querySelector("[data-time]").dataset.time').split())
        at_s = 8.2
        across = (left + at_s / seconds * (right - left)) / 960
        opened.point("svg.timeline", across)
        assert not opened.ask('document.querySelector(".tip").hidden')
        words = opened.ask('document.querySelector(".tip").textContent').splitlines()
        assert words[0].startswith("8.2 s: ")
        told = dict(line.split(": ", 1) for line in words[1:])
        times, values = the_series(20.0, "hdd")["cpu", "", "user_percent", ""]
        user = next(value for time, value in zip(times, values, strict=True) if time >= ms(at_s))
        assert told["processor"] == f"user {user:.0f} %, system 10 %, iowait 0 %"
        opened.ask('document.querySelector("svg.timeline").focus()')
        opened.press("ArrowRight")
        assert opened.ask('document.querySelector(".tip").textContent').startswith("0.0 s: ")
        assert opened.problems() == []


def test_a_figure_that_is_taken_away_has_the_light_colours_written_out(told):
    taken = dict(zip([name for _, name in told["links"]], told["taken"], strict=True))
    figures = [text for name, text in taken.items() if name.endswith(".svg")]
    assert figures
    assert not [text for text in figures if "var(" in text]
    assert all("#1b1f24" in text for text in figures)


@pytest.mark.parametrize(("width", "dark"), [(390, False), (390, True), (1280, False), (1280, True)])
def test_the_first_screen_fits_and_none_of_its_charts_words_are_cut(chromium, tmp_path, width, dark):
    file = tmp_path / "page.html"
    file.write_text(page(*decided_run(repetitions=2), []))
    with chromium.page(file.as_uri(), width, dark=dark) as opened:
        assert opened.ask("document.documentElement.scrollWidth <= innerWidth")
        cut = opened.ask(
            """[...document.querySelectorAll("svg.split text")].filter((one) => {
                 const own = one.getBoundingClientRect(), all = one.ownerSVGElement.getBoundingClientRect();
                 return own.left < all.left - 1 || own.right > all.right + 1;
               }).map((one) => one.textContent)"""
        )
        assert cut == []
        top = opened.ask('document.querySelector(".decision").getBoundingClientRect().bottom')
        assert top < 900  # verdict, its lines and the chart are seen without scrolling


def test_without_script_the_answer_its_chart_and_all_tables_are_there(chromium, url):
    with chromium.page(url, script=False) as opened:
        opened.send("Emulation.setScriptExecutionDisabled", value=False)
        assert opened.ask('document.querySelectorAll("table.verdicts tbody tr, #combinations tbody tr").length') > 10
        assert opened.ask('document.querySelector(".filters").hidden')
        assert opened.ask('document.querySelectorAll("svg").length') > 5


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """Triage's page of a job with a long name, and of a session that runs jobs for a part of its time."""
    made = MadeJob(name="customers and orders of all shops", maps=96, slots=96, read_bytes=900 << 30, spills=2,
                   map_output_bytes=900 << 30, written_bytes=900 << 30, cpu=0.2, map_ms=90_000)  # fmt: skip
    job = read_job(io.BytesIO(history(made)), {"dfs.replication": "3"})
    session = PastApplication(*job)._replace(
        id="application_1_0002", name="session", finished_ms=job.finished_ms + 80_000_000, ran_ms=100_000
    )
    site = DriveSite(drives_by_role("12xhdd", find_installation().profiles))
    file = tmp_path_factory.mktemp("triage") / "triage.html"
    file.write_text(triage_page(triage([job, session], site, 0.1, "12 drives", 0, [])), encoding="utf-8")
    return file.as_uri()


@pytest.mark.parametrize(("width", "last"), [(1280, None), (400, "at most")])
def test_triages_table_fits_a_desk_and_its_verdicts_a_phone(chromium, ranked, width, last):
    all_heads = "[...document.querySelectorAll('#triage th')]"
    with chromium.page(ranked, width=width) as page:
        heads = page.ask(f"{all_heads}.map(head => head.innerText.replace(/[^a-z0-9 %]/gi, ' ').trim())")
        right = page.ask(f"{all_heads}.map(head => head.getBoundingClientRect().right)")
    assert heads[:5] == ["job", "verdict", "likely", "at most", "that is"]
    assert heads[-2:] == ["over 500 GB", "waits over 50 %"]
    assert "with jobs" in heads
    assert right[heads.index(last) if last else -1] <= width
