"""Kept runs, which `docs/results` holds as archives: how a run is packed, unpacked, printed, judged and doubted.

An archive has the plan, the records, the task attempts and what predictions of other drives rest on, of a run that a
page quotes; what else a run folder has, such as samples, is left out.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from pathlib import Path
from textwrap import fill

import pyarrow
from pyarrow import compute, parquet

from assay.model.doubt import DOUBTS
from assay.model.errors import BadInputError
from assay.model.trial import ZERO_DELAY
from assay.model.trial_summary import TrialSummary
from assay.record.folder import RunFolder
from assay.record.request_log import REQUESTS
from assay.report.analysis import RunAnalysis, analyse, read_run
from assay.report.bias import bias_text
from assay.stats.changes import others_and_level, question_of
from assay.stats.sample import samples

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
PLAN = "plan.json"
KEPT = (PLAN, "experiment.yaml", "demands.jsonl", "record.json", "tasks.parquet")
"""The files of a run folder from which all that pages quote is made, and the tasks of its jobs."""

SHOWN_PATH = "/data/assay"
"""What stands for a machine's own folder in a kept run."""

REPORT = ("-m", "assay", "report")


def keep(run: Path, name: str, hidden: Iterable[str] = (), *, requests: bool = False) -> Path:
    """Pack what a kept run has of a run folder. The archive's bytes depend on their content alone.

    `requests` packs those to drives with delays, too.

    Paths that begin with a `hidden` path become paths below SHOWN_PATH: a machine's folders are nobody's business.
    Raises BadInputError for a folder without a plan, before the archive changes.
    """
    if not (run / PLAN).is_file():
        raise BadInputError(f"{run} is not a run folder: it has no {PLAN}; name a folder that `assay run` wrote")
    archive = RESULTS / f"{name}.tar.xz"
    kept = (*KEPT, REQUESTS) if requests else KEPT
    files = sorted(file for file in run.rglob("*") if file.name in kept and not _is_without_delays(file))
    with tarfile.open(archive, "w:xz", preset=9) as packed:
        for file in files:
            content = _without(file, [*hidden])
            member = tarfile.TarInfo(str(file.relative_to(run)))
            member.size = len(content)
            packed.addfile(member, BytesIO(content))
    return archive


def _is_without_delays(file: Path) -> bool:
    """Whether it has the requests to a drive without delays, from which nothing is predicted."""
    return file.name == REQUESTS and file.parent.name.endswith(ZERO_DELAY)


def _without(file: Path, hidden: Sequence[str]) -> bytes:
    """A file's bytes without the hidden paths; a table that has none of them stays as it is."""
    content = file.read_bytes()
    if file.suffix != ".parquet":
        for path in hidden:
            content = content.replace(path.encode(), SHOWN_PATH.encode())
        return content
    table = shown = parquet.read_table(file)
    for place, field in enumerate(table.schema):
        for path in hidden if field.type in {pyarrow.string(), pyarrow.large_string()} else ():
            column = compute.replace_substring(shown.column(place), path, SHOWN_PATH)
            shown = shown.set_column(place, field, column)
    if shown == table:
        return content
    written = BytesIO()
    parquet.write_table(shown, written)
    return written.getvalue()


def is_kept(name: str) -> bool:
    """Whether there is a kept run of this name."""
    return (RESULTS / f"{name}.tar.xz").exists()


@contextmanager
def unpacked(name: str) -> Iterator[Path]:
    """A kept run as a run folder, for the time of a scope."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "runs" / name
        with tarfile.open(RESULTS / f"{name}.tar.xz") as packed:
            packed.extractall(run, filter="data")
        yield run


@cache
def printed(name: str, *command: str) -> list[str]:
    """What a command of Python prints of a kept run, its last argument, on a terminal of 80 columns; by lines."""
    with unpacked(name) as run:
        return output_of(run.parents[1], "80", *command, f"runs/{name}")


def output_of(folder: Path, columns: str, *command: str, **variables: str) -> list[str]:
    """What a command of Python prints in a folder, by lines, with some variables of its environment."""
    environment = {
        **os.environ, "COLUMNS": columns, "ASSAY_COMMAND": "./assay", "ASSAY_ROOT": str(ROOT),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "extras")]), **variables,
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, check=True, stdout=subprocess.PIPE, encoding="utf-8"
    )
    return [line.rstrip() for line in done.stdout.strip().splitlines()]


def doubts_line(name: str) -> str:
    """Which doubts the trials of a kept run have, in how many, and on which of what it compares where that differs.

    A doubt of one level alone is counted among the trials at that level.
    """
    trials, shares = _doubts(name)
    phrases = [f"`{kind}` in {share}" for kind, share in shares.items()]
    return f"Doubts of the {trials} trial{'' if trials == 1 else 's'} of `{name}`: {'; '.join(phrases) or 'none'}."


def doubts_list(name: str) -> str:
    """The same in words, with what each does to savings."""
    sentences, said = [], ""
    for kind, share in _doubts(name)[1].items():
        when = LINK.sub(r"\1", DOUBTS[kind].when)
        bias = bias_text(kind)
        sentences.append(f"- {share}: {when} (`{kind}`).{' Likewise.' if bias and bias == said else bias}")
        said = bias
    return "\n".join(fill(text, 140, subsequent_indent="  ", break_on_hyphens=False) for text in sentences)


def _doubts(name: str) -> tuple[int, dict[str, str]]:
    """How many trials a kept run has, and in how many each doubt is, by its kind."""
    with unpacked(name) as folder:
        run = read_run(RunFolder(folder), details=False)
    trials = [summary for summary in run.trials if not summary.trial.warm_up]
    factor, _ = question_of(run.plan, samples(trials))
    levels = [others_and_level(tuple(summary.factors.items()), factor, run.plan.base)[1] for summary in trials]
    levels_by_doubt: dict[str, list[str]] = {}
    for summary, level in zip(trials, levels, strict=True):
        for kind in {doubt.kind for doubt in summary.doubts}:
            levels_by_doubt.setdefault(kind, []).append(level)
    counts = {kind: Counter(doubted) for kind, doubted in levels_by_doubt.items()}
    ordered = sorted(counts, key=lambda kind: (-counts[kind].total(), kind))
    return len(trials), {kind: _doubted(counts[kind], Counter(levels)) for kind in ordered}


LINK = re.compile(r"\[([^]]+)\]\([^)]+\)")
UNEVEN = 1 / 3
"""Doubts are told by level where the shares of two levels' trials that have them differ by more."""


def _doubted(doubted: Counter[str], trials: Counter[str]) -> str:
    shares = [doubted[level] / trials[level] for level in trials]
    by_level = ", ".join(f"{level} {count} of {trials[level]}" for level, count in sorted(doubted.items()))
    if len(doubted) == 1 < min(len(trials), doubted.total()):
        return f"{by_level.removeprefix(f'{(level := next(iter(doubted)))} ')} ({level} alone)"
    is_uneven = max(shares) - min(shares) > UNEVEN and doubted.total() > 1
    return f"{doubted.total()} of {trials.total()}{f' ({by_level})' if is_uneven else ''}"


def decision_lines(name: str) -> list[str]:
    """The headline of a kept run and a line for each of its placements or changes, alone."""
    lines = printed(name, *REPORT)
    answer = lines.index("") + 1
    validity = next(number for number, line in enumerate(lines) if line.startswith("This holds for"))
    return lines[answer:validity]


@cache
def analysed(name: str) -> tuple[RunAnalysis, Sequence[TrialSummary]]:
    """All that is said of a kept run, and its trials."""
    with unpacked(name) as folder:
        run = read_run(RunFolder(folder), details=False)
        return analyse(run.measured), run.trials
