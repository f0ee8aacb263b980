"""Makes the text of every golden file, by the command line alone, so that modules may move without touching this.

`plan_text` is the one exception: no command prints a plan without preparing the data that it needs.
"""

import hashlib
import io
import json
import os
import re
import shutil
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
EXPECTED = HERE / "expected"
RUNS = {file.name.removesuffix(".tar.xz"): file for file in sorted((HERE / "runs").glob("*.tar.xz"))}
COMPARED = ("comparison", "failed-trial", "existing-cluster")
ROWS = ("combinations", "trials", "placements", "parts")
WIDTHS = (80, 120)
MOST_ITEMS = 4
CATALOGUES = (("workloads", "list"), ("data", "list"), ("workloads", "show", "k-means"))
# What would change the output, or the place of data that some commands look for.
ENVIRONMENT = (
    "FORCE_COLOR",
    "TTY_COMPATIBLE",
    "TTY_INTERACTIVE",
    "NO_COLOR",
    "COLORTERM",
    "HADOOP_HOME",
    "HADOOP_CONF_DIR",
)


def catalogue_files(place: Path) -> dict[str, str]:
    """What commands say that read neither a run nor the machine."""
    with working_in(place):
        return {f"catalogues/{'-'.join(words)}.txt": assay(*words, columns=100) for words in CATALOGUES}


def plan_files(place: Path) -> dict[str, str]:
    """The plan of every shipped experiment; those that name the jobs' jar find a stand-in, as it may not be built."""
    (place / "jobs" / "target").mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(place / "jobs" / "target" / "assay-jobs.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Stand\n")
    experiments = shutil.copytree(ROOT / "experiments", place / "experiments", dirs_exist_ok=True)
    plans = {file.stem: plan_text(file) for file in sorted(experiments.rglob("*.yaml"))}
    return {f"plans/{name}.txt": text.replace(str(place.resolve()), "/checkout") for name, text in plans.items()}


def report_files(name: str, place: Path) -> dict[str, str]:
    """All forms of one recorded run's report."""
    unpack(name, place)
    at = f"reports/{name}"
    with working_in(place):
        made = {f"{at}/terminal-{columns}.txt": assay("report", name, columns=columns) for columns in WIDTHS}
        page = (place / name / "report.html").read_text()
        made[f"{at}/report.md"] = assay("report", name, "--format", "md")
        for rows in ROWS:
            made[f"{at}/{rows}.csv"] = assay("report", name, "--format", "csv", "--rows", rows)
        made[f"{at}/report.json"] = outline(assay("report", name, "--json"))
    return {**made, **page_files(at, page)}


def comparison_files(place: Path) -> dict[str, str]:
    """All forms of recorded runs side by side."""
    for name in COMPARED:
        unpack(name, place)
    at = "compare"
    with working_in(place):
        made = {f"{at}/terminal-{columns}.txt": assay("compare", *COMPARED, columns=columns) for columns in WIDTHS}
        page = (place / "comparison.html").read_text()
        for form in ("md", "csv"):
            made[f"{at}/comparison.{form}"] = assay("compare", *COMPARED, "--format", form)
        made[f"{at}/comparison.json"] = outline(assay("compare", *COMPARED[1:], "--format", "json"))
    return {**made, **page_files(at, page)}


def page_files(at: str, page: str) -> dict[str, str]:
    """A page's text, and all its charts."""
    charts = re.findall(r"<svg\b.*?</svg>", page, re.DOTALL)
    lines = [f"chart {number}\n{chart.replace('><', '>' + chr(10) + '<')}\n" for number, chart in enumerate(charts, 1)]
    data = json.loads(
        (re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL) or ["{}"])[0]
    )
    text = "\n".join([text_of(page), *(f"data of the page: {name}\n{value}" for name, value in data.items())])
    return {f"{at}/page.txt": normalised(text), f"{at}/charts.txt": normalised("\n".join(lines))}


def assay(*words: str, columns: int = 120) -> str:
    """What a command prints, its errors and its exit code if that is not 0."""
    from assay.cli import main

    output, before = io.StringIO(), dict(os.environ)
    for name in ENVIRONMENT:
        os.environ.pop(name, None)
    os.environ.update({
        "COLUMNS": str(columns), "LINES": "50", "TERM": "dumb", "ASSAY_COMMAND": "./assay", "ASSAY_ROOT": str(ROOT),
        "XDG_CACHE_HOME": "/nowhere/cache", "XDG_STATE_HOME": "/nowhere/state",
    })  # fmt: skip
    arguments, sys.argv = sys.argv, ["assay", *words]
    code: Any = 0
    try:
        with redirect_stdout(output), redirect_stderr(output):
            main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = arguments
        os.environ.clear()
        os.environ.update(before)
    return normalised(output.getvalue() + (f"exit code {code}\n" if code else ""))


@cache
def known_words() -> Any:
    """The names that an experiment may use: reading Hadoop's properties for each of them takes as long as the plans."""
    from assay.cli.context import find_installation, vocabulary

    return vocabulary(find_installation())


def plan_text(experiment: Path) -> str:
    """A plan's trials, of each combination what differs from the one before, of repetitions which one they repeat.

    No command prints it, so this follows the modules.
    """
    from tests.builders import make_plan

    plan = json.loads(make_plan(experiment, known_words()).model_dump_json())
    lines, before = [json.dumps({**plan, "trials": len(plan["trials"])}, indent=1, ensure_ascii=False)], {}
    first: dict[str, str] = {}
    for trial in plan["trials"]:
        name, repetition = trial.pop("id"), trial.pop("repetition")
        values = dict(sorted(dict(leaves(trial)).items()))
        repeated = first.setdefault(json.dumps(values), name)
        if repeated != name:
            lines.append(f"{name}: repetition {repetition} of {repeated}")
            continue
        lines.append(f"\n{name}: repetition {repetition}")
        lines += [f"  {path}: {json.dumps(value)}" for path, value in values.items() if before.get(path, ...) != value]
        lines += [f"  {path} is gone" for path in before if path not in values]
        before = values
    return normalised("\n".join(lines) + "\n")


def leaves(value: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Each value that is neither a list nor a map, or an empty one, with the path to it."""
    if not isinstance(value, dict | list) or not value:
        yield above, value
        return
    for name, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(item, f"{above}.{name}" if above else str(name))


def normalised(text: str) -> str:
    """Without what differs from one checkout to another: the version's digest, and the checkout's own place."""
    text = re.sub(r"\b0\.1\.0\+[0-9a-f]{12}\b", "VERSION", text)
    return text.replace(str(ROOT), "/checkout")


def outline(text: str) -> str:
    """A JSON document in lines, its long lists cut short: their length and digest stand for the rest.

    Of records the first stands there, and of each other its trial and digest.
    """

    def cut(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: cut(item) for key, item in value.items()}
        if not isinstance(value, list):
            return value
        items = [cut(item) for item in value]
        if any(isinstance(item, dict) and "trial" in item for item in value):
            return [*items[:1], *map(brief, items[1:])]
        if len(value) <= MOST_ITEMS:
            return items
        return [*items[:MOST_ITEMS], f"{len(value)} items, {digest(value)}"]

    def brief(item: Any) -> Any:
        trial = item.get("trial")
        return f"{trial['id']}, {digest(item)}" if isinstance(trial, dict) else item

    document, _, end = text.partition("\nexit code ")
    return (
        json.dumps(cut(json.loads(document)), indent=1, ensure_ascii=False) + "\n" + (f"exit code {end}" if end else "")
    )


def digest(value: Any) -> str:
    """Sixteen digits that stand for a value of JSON."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]


class _Text(HTMLParser):
    """Collects what a reader of the page sees: a line for each element, nothing of scripts, styles and charts."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in {"script", "style", "svg"}
        self._break(tag)
        for name, value in attrs:
            if name in {"title", "href"} and value and not self._hidden:
                self.lines[-1] += f"[{value}]"

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in {"script", "style", "svg"}
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.lines[-1] += re.sub(r"\s+", " ", data)

    def _break(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self.lines[-1] += " | "
        elif tag not in {"a", "abbr", "b", "code", "em", "i", "small", "span", "strong", "sub", "sup"}:
            self.lines.append("")


def text_of(page: str) -> str:
    """A page's text."""
    parser = _Text()
    parser.feed(page)
    lines = (re.sub(r"(?: \| )+", " | ", line).strip() for line in parser.lines)
    return "\n".join(line for line in lines if line.strip(" |")) + "\n"


def unpack(name: str, place: Path) -> None:
    """A recorded run's folder, below this place."""
    shutil.rmtree(place / name, ignore_errors=True)
    with tarfile.open(RUNS[name]) as archive:
        archive.extractall(place, filter="data")


@contextmanager
def working_in(place: Path) -> Iterator[None]:
    """There are paths in what is printed: those of a run are as the command names it."""
    before = Path.cwd()
    os.chdir(place)
    try:
        yield
    finally:
        os.chdir(before)


def kinds(place: Path) -> dict[str, Callable[[], dict[str, str]]]:
    """What makes the golden files, by the kind of these."""

    def reports(name: str) -> Callable[[], dict[str, str]]:
        return lambda: report_files(name, place)

    return {
        "catalogues": lambda: catalogue_files(place),
        "plans": lambda: plan_files(place),
        **{f"reports/{name}": reports(name) for name in RUNS},
        **({"compare": lambda: comparison_files(place)} if set(COMPARED) <= RUNS.keys() else {}),
    }
