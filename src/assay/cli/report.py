"""`assay report`: a run's table on the terminal, its page, and the same as Markdown, CSV, JSON and PDF."""

import gc
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, get_args

import click
from rich.console import Console

from assay.cli.console import Output
from assay.cli.context import FAILED, Speed, UserPath, last_run, open_console, open_output, print_json
from assay.host.files import replace_text, whole
from assay.host.processes import last_telling
from assay.model.base import Frozen, json_text
from assay.model.errors import AssayError, BadInputError
from assay.model.fact import Value
from assay.model.naming import nearest, printable
from assay.model.registry import SECTIONS
from assay.model.section import RowsView
from assay.record.folder import RunFolder
from assay.report import values
from assay.report.analysis import RunAnalysis, RunData, analyse_run, read_run
from assay.report.figures import FIGURES, figures_of
from assay.report.first_screen import ran_text
from assay.report.markdown import markdown
from assay.report.next_steps import next_steps
from assay.report.page import run_page
from assay.report.predicted import prediction_values
from assay.report.run_summary import summary_of
from assay.report.terminal import print_nodes, print_report, print_sections
from assay.report.words import print_line, print_text


@contextmanager
def uncollected() -> Iterator[None]:
    """Turn garbage collection off, which takes 10 to 25 % of a large report's time; memory stays the same.

    What was made meanwhile is old when it is on again, else all of that would be looked through at once.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.unfreeze()
            gc.enable()


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
LONGEST_S = 180


def find_browser() -> str:
    """Find a browser that can print. Raises BadInputError where there is none."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if browser is None:
        raise BadInputError(
            "a PDF needs Chromium or Chrome, and neither is on the path; install one (on Debian: apt install chromium) "
            "or print the HTML page from your browser"
        )
    return browser


def browser_command(browser: str, profile: Path) -> list[str]:
    """Return the command that starts a browser without a screen, and for root without a sandbox."""
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    quiet = ["--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update"]
    return [browser, "--headless=new", *sandbox, *quiet, f"--user-data-dir={profile}"]


def print_page(html: str, target: Path, browser: str) -> None:
    """Write a page as PDF. Raises AssayError when the browser does not."""
    with TemporaryDirectory(prefix="assay-pdf-") as directory:
        page, printed = Path(directory) / "page.html", Path(directory) / "page.pdf"
        page.write_text(html, encoding="utf-8")
        options = ["--no-pdf-header-footer", f"--print-to-pdf={printed}", page.as_uri()]
        command = [*browser_command(browser, Path(directory) / "profile"), *options]
        try:
            done = subprocess.run(
                command, capture_output=True, encoding="utf-8", errors="replace", timeout=LONGEST_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise AssayError(f"{browser} could not print the page: {error}") from None
        if done.returncode or not printed.exists():
            said = last_telling(done.stderr, silent="it said nothing")
            raise AssayError(f"{browser} could not print the page (exit code {done.returncode}): {said}")
        with whole(target) as partial:
            shutil.copyfile(printed, partial)


MOST_DAMAGED = 20
Form = Literal["html", "md", "csv", "json", "pdf"]
ROWS = ("combinations", "trials", "placements", "parts")


@uncollected()
def report_run(folder: Path, output: Output, cpu_speed: float | None = None) -> int:
    """Print the table and write RUN/report.html; the exit code. Raises BadInputError when the folder is no run.

    With JSON the run's summary is on standard output, and nothing else.
    Answers are restated for processors of `cpu_speed` times the speed of those that the trials ran on.
    """
    run, console = read_run(RunFolder(folder)), output.results
    analysis = _analysed(run, cpu_speed)
    where = ran_text(run.trials)
    title = f"{run.plan.experiment}: {len(run.trials)} of {len(run.plan.trials)} trials"
    print_report(f"{title}, {where}" if where else title, run.trials, analysis, console, verbose=output.verbose)
    if output.verbose:
        print_nodes(run.detailed, console)
    for damaged in run.damaged[:MOST_DAMAGED]:
        print_text(console, f"left out: {damaged.folder}: {damaged.reason}", "red")
    if len(run.damaged) > MOST_DAMAGED:
        print_text(console, f"left out: {len(run.damaged) - MOST_DAMAGED} more record folders", "red")
    print_sections(analysis, console)
    write_page(run_page(run, analysis), folder / "report.html", "", console)
    steps = next_steps(run, analysis.decisions)
    for place, step in enumerate(steps if output.verbose else steps[:1]):
        print_text(console, f"{'Then' if place else 'Next'}: {step.words}{':' if step.command else '.'}")
        if step.command:
            print_line(console, f"  {step.command}")
    if output.as_json:
        print_json(summary_of(run, analysis).model_dump(mode="json"))
    return 0 if run.passed else FAILED


@uncollected()
def write_report(
    folder: Path, form: Form, rows: str, out: Path | None, console: Console, cpu_speed: float | None
) -> int:
    """Write one form of a report to `out`; the exit code. `cpu_speed` is as in `report_run`.

    Without `out` HTML and PDF go to RUN/report.html and RUN/report.pdf, the others to standard output. Raises
    BadInputError when the folder is no run or PDF can't be had.
    """
    browser = find_browser() if form == "pdf" else ""
    run = read_run(RunFolder(folder), details=form not in {"csv", "json"})
    analysis = _analysed(run, cpu_speed)
    if form == "json":
        emit(json_lines(run, analysis), out)
    elif form == "csv":
        emit(csv_of(run, analysis, rows), out)
    elif form == "md":
        emit(iter([markdown(run, analysis)]), out)
    else:
        write_page(run_page(run, analysis), out or folder / f"report.{form}", browser, console)
    return 0 if run.passed else FAILED


def _analysed(run: RunData, cpu_speed: float | None) -> RunAnalysis:
    """Raises BadInputError where there is no answer to restate for other processors."""
    analysis = analyse_run(run, cpu_speed)
    if cpu_speed is not None and not any(answer.sensitivity for answer in analysis.answers):
        raise BadInputError(
            "--cpu-speed restates what one emulated drive saves against another, with a zero-delay baseline, and this "
            "run has no such answer; leave it out"
        )
    return analysis


def write_page(html: str, target: Path, browser: str, console: Console) -> None:
    """Write a page, as PDF where there is a browser for it, and say where it is."""
    if browser:
        print_page(html, target, browser)
    else:
        replace_text(target, html)
    print_line(console, f"page: {target}")


def csv_of(run: RunData, analysis: RunAnalysis, rows: str) -> Iterator[str]:
    """Yield a CSV line for each combination or trial (with its figures), placement, job and phase, or of a section.

    Raises BadInputError where no section of the run has lines of that name.
    """
    if rows == "placements":
        lines = [values.placement_values(answer.decision, answer.predicted) for answer in analysis.answers]
        return values.csv_lines([line for of_answer in lines for line in of_answer])
    if rows == "parts":
        parts = [(answer.breakdown, answer.decision.factor) for answer in analysis.answers]
        return values.csv_lines(
            [line for breakdown, factor in parts if breakdown for line in values.part_values(breakdown, factor)]
        )
    if rows not in ROWS:
        return values.csv_lines(list(_section_rows(analysis, rows)))
    figures = figures_of(run.trials)
    if rows == "trials":
        of_trials = list(values.trial_values(run.trials, run.predicted))
        trials = [[str(line["trial"])] for line in of_trials]
        return values.csv_lines(values.with_figures(of_trials, trials, figures))
    trials = values.combination_trials(analysis.rows, run.trials)
    of_combinations = [values.combination_values(row) for row in analysis.rows]
    return values.csv_lines(values.with_figures(of_combinations, trials, figures))


def _section_rows(analysis: RunAnalysis, name: str) -> Iterator[Mapping[str, Value]]:
    """Return the lines of a section; none where the run has no such section."""
    if name not in SECTIONS:
        raise BadInputError(f"--rows: there are no lines {name!r}; {nearest(name, [*ROWS, *SECTIONS])}")
    section = analysis.sections.get(name)
    if section is None:
        return iter(())
    if not isinstance(section, RowsView):
        raise BadInputError(f"--rows: the section {name!r} has no lines for a CSV; --json has all of it")
    return section.rows()


def emit(lines: Iterator[str], out: Path | None) -> None:
    """Write lines to a file, or to standard output."""
    if out is None:
        shown = printable if sys.stdout.isatty() else str
        for line in lines:
            print(shown(line))  # noqa: T201 - the output of the command
        return
    replace_text(out, (f"{line}\n" for line in lines))


def json_lines(run: RunData, analysis: RunAnalysis) -> Iterator[str]:
    """Yield one JSON document in lines, a record at a time, since a large run does not fit into memory.

    Figures of trials stand by their sort and the trial's id.
    """
    kinds = {name: kind.document for name, kind in FIGURES.items() if kind.document is not None}
    figures: dict[str, list[str]] = {name: [] for name in kinds}
    yield f'{{"plan": {run.plan.model_dump_json(ensure_ascii=True)},\n"records": ['
    for index, record in enumerate(run.whole_records()):
        yield f"{',' if index else ''}{record.model_dump_json(ensure_ascii=True)}"
        for name, document_of in kinds.items():
            if (document := document_of(record)) is not None:
                figures[name].append(f"{json.dumps(record.trial.id)}: {json_text(document)}")
    left_out = [{"folder": str(damaged.folder), "reason": damaged.reason} for damaged in run.damaged]
    parts: dict[str, Sequence[Frozen | None]] = {
        "sensitivities": [answer.sensitivity for answer in analysis.answers],
        "decisions": analysis.decisions,
        "breakdowns": [answer.breakdown for answer in analysis.answers],
        "other_comparisons": analysis.others,
    }
    worked_out = "".join(
        f',\n"{name}": [{",".join("null" if row is None else row.model_dump_json(ensure_ascii=True) for row in rows)}]'
        for name, rows in parts.items()
    )
    predictions = f',\n"predictions": {json_text(list(map(prediction_values, run.predicted)))}'
    sections = "".join(
        f",\n{json.dumps(name)}: {section_json}"
        for name, section in analysis.sections.items()
        if (section_json := section.json())
    )
    yield "],"
    for name, texts in figures.items():
        by_trial = ",\n".join(texts)
        yield f"{json.dumps(name)}: {{{by_trial}}},"
    yield f'"left_out": {json.dumps(left_out)}{worked_out}{predictions}{sections}}}'


@click.command()
@click.argument("folder", type=UserPath(), required=False)
@click.option("--last", is_flag=True, help="Report the run below runs/ that was begun or continued last.")
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Form)),
    help="Write only this form; html and pdf go into the run's folder.",
)
@click.option(
    "--rows",
    metavar=f"[{'|'.join(ROWS)}|SECTION]",
    help="The rows of --format csv; by default combinations. `placements` has what storage costs and what each "
    "placement saves, `parts` the same for each job and phase, the name of a section of --json what that one has.",
)
@click.option("--out", type=UserPath(), help="File for --format; by default md, csv and json are printed.")
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option(
    "--cpu-speed", type=Speed(), metavar="SPEED",
    help="Restate the answers for processors of so many times the speed of those that the trials ran on, such as 2x.",
)  # fmt: skip
@click.option("-v", "--verbose", is_flag=True, help="Print the tables of times, phases and nodes too, and all caveats.")
def report(
    folder: Path | None, form: Form | None, rows: str | None, out: Path | None, cpu_speed: float | None, *,
    last: bool, as_json: bool, verbose: bool,
) -> int:  # fmt: skip
    """Print a run's answer and write its page, or write another form of the report.

    \b
    Example:  assay report runs/quickstart-20260102-030405
              assay report --last
              assay report runs/mine --cpu-speed 2x
              assay report runs/mine --format csv --rows placements > answers.csv
    """
    if last == (folder is not None):
        raise click.UsageError("name one run's folder, or give --last for that of the newest run below runs/")
    folder = folder or last_run()
    form = form or ("json" if as_json else None)
    if rows and form != "csv":
        raise click.UsageError("--rows requires --format csv")
    if cpu_speed is not None and form == "csv":
        raise click.UsageError("--cpu-speed changes nothing in a CSV; leave it out, or take another format")
    if form:
        return write_report(folder, form, rows or "combinations", out, open_console(), cpu_speed)
    if out:
        raise click.UsageError("--out is the file for --format; name a format, or leave it out for RUN/report.html")
    return report_run(folder, open_output(verbose=verbose), cpu_speed)
