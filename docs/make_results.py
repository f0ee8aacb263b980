"""Writes the results that the pages quote, from the records of the runs that they are about, and the studies' files.

The runs are those that `docs/kept_runs.py` reads. What stands in a page between `<!-- result NAME: begin -->` and
`<!-- result NAME: end -->` is made here. From the checkout: `PYTHONPATH=src:extras:. .assay/venv/bin/python
docs/make_results.py` writes all of it; with `keep RUN NAME` it first packs the run folder RUN as NAME.
"""

import argparse
import itertools
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
from benchmarks import advise as of_advice
from benchmarks import advise_time, exclusions, forty_jobs, large_histories, likely
from benchmarks import compare_histories as compared
from benchmarks.a_a import claims, deviation_interval, log_ratios, pairs_of, residual_logs
from benchmarks.cpu_speed_scaling import comparisons, lines
from benchmarks.dilation_invariance import NO_PRIOR, equivalences, unchecked
from benchmarks.directed_night import report as night_report
from benchmarks.engines_by_page_cache import report
from benchmarks.known_effects import markdown
from benchmarks.levitated import report as levitated_report
from benchmarks.lookups import report as lookups_report
from benchmarks.of_run import Report, of_trials
from benchmarks.streams_on_one_disk import report as streams_report
from benchmarks.triage_truth import (
    RULE_COLUMNS,
    SAVED_COLUMNS,
    VERDICT_COLUMNS,
    Case,
    disk_rows,
    excluded,
    exclusions_outcome,
    judged_on_disks,
    looseness_rows,
    outcome,
    rule_rows,
    verdict_rows,
    wrong,
)
from docs.kept_runs import (
    REPORT,
    RESULTS,
    ROOT,
    analysed,
    decision_lines,
    doubts_line,
    doubts_list,
    is_kept,
    keep,
    output_of,
    printed,
    unpacked,
)
from docs.make_predictions import BLOCKS as PREDICTION_BLOCKS
from docs.make_predictions import PREDICTED_RUNS
from docs.make_stores import stores
from docs.make_studies import BLOCKS, documents

from assay.cli.context import find_installation
from assay.model.cluster import OF_HOST, OF_NODE
from assay.model.errors import BadInputError
from assay.model.trial import DEFAULT_WORTH, SHIPPED_PRIOR
from assay.model.trial_summary import TrialSummary
from assay.record.folder import RunFolder
from assay.report.analysis import read_run
from assay.report.answer import interval_text
from assay.report.charts.shares import shares_chart
from assay.report.columns import as_columns, escaped, grid
from assay.report.shares import columns_of, notes_of, share_text
from assay.stats.decision import Decision
from assay.stats.estimate import Estimate
from assay.stats.fit import residuals
from assay.stats.noise import fit_prior
from assay.stats.run_doubts import READ
from assay.stats.sample import PLACEMENT, Trials, samples
from assay.stats.shares import SharesTable
from assay.stats.trial_summary import summarise
from assay_extras.studies.overview_view import standalone

_BLOCK = re.compile(
    r"(<!-- result (?P<name>[^:>]+): begin -->)(?P<text>.*?)(<!-- result (?P=name): end -->)", re.DOTALL
)


def pages() -> list[Path]:
    """Every page that may quote results."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def filled(page: str) -> str:
    """A page's text with what its marks name: on lines of its own, or within a line where both marks are in one.

    Raises KeyError for a mark that names no result.
    """

    def made(block: re.Match[str]) -> str:
        text = RESULT_TEXTS[block["name"]]()
        return f"{block[1]}\n{text}\n{block[4]}" if "\n" in block["text"] else f"{block[1]}{text}{block[4]}"

    return _BLOCK.sub(made, page)


def named(page: str) -> list[str]:
    """The names of the results that a page quotes."""
    return [block["name"] for block in _BLOCK.finditer(page)]


def _answer(name: str, lines: list[str]) -> str:
    """What was printed of a kept run, and the doubts of its trials below."""
    return f"{_listing(lines)}\n\n{doubts_line(name)}"


SLOWDOWNS = (1, 2, 4, 8)
"""By what factors drives are slower beside an experiment's processors, in what is published side by side."""
ONE_ANSWER = (
    "before-you-buy", "before-you-buy-again", "cassandra-log-on-ssd", "hbase-log-on-ssd", "nightly-table",
    "spark-memory", "spark-second-disk",
)  # fmt: skip
"""The kept runs with one answer, which a page quotes as it is printed."""


def _decision(name: str) -> str:
    """What a kept run with one answer says; that its experiment was not run where none is kept."""
    return _answer(name, decision_lines(name)) if is_kept(name) else not_run_yet(name)


def _shares(name: str) -> SharesTable:
    """Storage shares and savings of a kept run of several jobs by several engines."""
    table = analysed(name)[0].shares
    if table is None:
        raise ValueError(f"the kept run {name} has no table of shares")
    return table


def engines() -> str:
    """Storage share and saving of each job by each engine, and what the columns are."""
    table = _shares("engines")
    return "\n\n".join(
        [grid(columns_of(table, grouped=False)[0]), *map(escaped, notes_of(table)), doubts_line("engines")]
    )


def terasort() -> str:
    """What TeraSort's storage costs each engine, on one node and on several, and what it reads from each drive."""
    rows = []
    names = ("engines-terasort", "engines-three-nodes")
    for name in names:
        analysis, trials = analysed(name)
        for decision in analysis.decisions:
            hdd, ssd = decision.placements
            engine, nodes = decision.levels["engine"], str(decision.nodes)
            read = [_read_bytes(trials, engine, drive.placement) for drive in (hdd, ssd)]
            storage = hdd.storage_s and f"{round(hdd.storage_s.value)} s, {share_text(hdd.storage_share)}"
            times = [f"{round(drive.elapsed_s.value)} s" for drive in (hdd, ssd)]
            read_mb = [f"{bytes_read / 1e6:,.0f} MB" for bytes_read in read]
            rows.append([nodes, engine, *times, storage or "-", share_text(ssd.saving), str(ssd.verdict), *read_mb])
    heads = ["nodes", "engine", "hdd", "ssd", "storage on hdd", "ssd saves", "verdict", "read from hdd", "from ssd"]
    return "\n\n".join([_table(heads, rows), *map(doubts_line, names)])


def terasort_orders() -> str:
    """What an SSD saves each engine in TeraSort, in the two experiments on one node that asked."""
    savings: dict[str, dict[str, Estimate]] = {}
    for name in ("engines", "engines-terasort"):
        for decision in analysed(name)[0].decisions:
            if decision.levels["workload"] == "terasort" and (saving := decision.placements[1].saving):
                savings.setdefault(decision.levels["engine"], {})[name] = saving
    rows = [
        [engine, *(text for own in by_run.values() for text in (share_text(own), _alone_text(own)))]
        for engine, by_run in savings.items()
    ]
    return _table(["engine", "first, saves", "by own repetitions", "second, saves", "by own repetitions"], rows)


def engines_by_drive_speed() -> str:
    """What an SSD saves each job by each engine with drives of other speeds than the measured one, worked out."""
    rows = [
        [name, str(of.levels["workload"]), str(of.levels["engine"]),
         *(share_text(of.saving(slowdown / of.slowdown)) + (" measured" if slowdown == of.slowdown else "")
           for slowdown in SLOWDOWNS)]
        for name in ("engines-terasort", "engines")
        for answer in analysed(name)[0].answers
        if (of := answer.sensitivity)
    ]  # fmt: skip
    return _table(["run", "job", "engine", "full speed", *(f"1/{slowdown}" for slowdown in SLOWDOWNS[1:])], rows)


def not_run_yet(name: str) -> str:
    """What stands in place of a run that was not made."""
    return f"`experiments/{name}.yaml` has not been run in its present form yet."


def _of_kept(name: str, told: Callable[[RunFolder], str], below: str = "") -> str:
    """What is told of a kept run, with its doubts; that its experiment, in a folder, was not run where none is kept."""
    if not is_kept(name):
        return not_run_yet(f"{below}{name}")
    with unpacked(name) as folder:
        return f"{told(RunFolder(folder))}\n\n{doubts_line(name)}"


def streams_on_one_disk() -> str:
    """Whether a disk costs a job more, the more tasks share it."""
    return _of_kept("streams-on-one-disk", lambda folder: streams_report(read_run(folder, details=False).trials))


def directed_night(name: str) -> str:
    """What a small SSD saves of a night in each of four ways."""
    return _of_kept(name, lambda folder: night_report(read_run(folder, details=False).whole_records()))


def _alone_text(saving: Estimate) -> str:
    """The interval by a run's own repetitions, `-` without."""
    return interval_text(saving.alone) if saving.alone else "-"


def _read_bytes(trials: Iterable[TrialSummary], engine: str, placement: str) -> float:
    """The mean bytes that a trial's jobs read from its drives."""
    return fmean(
        summary.drives_read_bytes
        for summary in trials
        if (summary.trial.engine, summary.trial.placement.name) == (engine, placement)
    )


def _section(name: str, title: str) -> str:
    """A section of a kept run's report as it is printed; that its experiment was not run where none is kept."""
    if not is_kept(name):
        return not_run_yet(name)
    lines = printed(name, *REPORT)
    first = lines.index(f"{title}:")
    rest = itertools.takewhile(lambda line: line.startswith(" "), lines[first + 1 :])
    return _answer(name, [lines[first], *rest])


def _of_trials(name: str, report: Report) -> str:
    """What a benchmark reports of a kept run's plan and trials."""
    tell = of_trials(report)
    return _of_kept(name, lambda folder: tell(read_run(folder, details=False)))


def quickstart_answer() -> str:
    """The quickstart's answer, what it holds for, and whether outputs were verified."""
    lines = printed("quickstart", *REPORT)
    validity = next(place for place, line in enumerate(lines) if line.startswith("This holds for"))
    verified = next(place for place, line in enumerate(lines) if line.startswith("All outputs verified"))
    answer = _listing([*decision_lines("quickstart"), *lines[validity : verified + 1], "..."])
    return f"{answer}\n\nDoubts, by how many trials have them:\n\n{doubts_list('quickstart')}"


def quickstart_ratio() -> str:
    """How much the quickstart's job reads and writes, and the memory of its cluster."""
    with unpacked("quickstart") as folder:
        record = RunFolder(folder).records()[0][0]
    if record.totals is None or record.trial.cluster.limit_memory_bytes is None:
        raise ValueError("the kept quickstart has no totals, or no bound of memory")
    counters = record.totals.counters["org.apache.hadoop.mapreduce.FileSystemCounter"]
    moved_bytes = sum(counters[f"{place}_BYTES_{way}"] for place in ("FILE", "HDFS") for way in ("READ", "WRITTEN"))
    return f"{moved_bytes / 1e9:.1f} GB within {record.trial.cluster.limit_memory_bytes / 1e9:.1f} GB of memory"


BY_MEMORY = {"quickstart-by-memory": "500,000", "quickstart-by-memory-first": "1,000,000"}
"""The kept runs of the quickstart's job by memory, each with its points."""


def by_memory() -> str:
    """What the quickstart's SSD saves within each bound of memory, and what reached the hard disk meanwhile."""
    names = [name for name in BY_MEMORY if is_kept(name)]
    rows = []
    for name in names:
        decisions = analysed(name)[0].decisions
        for write_back in (OF_NODE, OF_HOST):
            some = [found for found in decisions if found.levels.get("write_back", OF_HOST) == write_back]
            rows += [[BY_MEMORY[name], write_back, *_row_by_memory(decision)] for decision in some]
    headings = [
        "points", "write-back", "memory", "hard disk (s)", "SSD (s)", "SSD saves", "95 % interval",
        "by own repetitions", "read from the hard disk", "written to it within the job", "verdict",
    ]  # fmt: skip
    missing = [not_run_yet(name) for name in BY_MEMORY if not is_kept(name)]
    return "\n\n".join([*missing, _table(headings, rows), *map(doubts_line, names)])


def _row_by_memory(decision: Decision) -> list[str]:
    hdd, ssd = decision.placements
    saving = ssd.saving
    if saving is None:
        raise ValueError("the kept run compares no drives")
    read = next(share for share in decision.conditions if (share.kind, share.subject) == (READ, hdd.placement))
    return [
        decision.levels["memory"].replace("MiB", " MiB"),
        *(f"{place.elapsed_s.value:.1f}" for place in (hdd, ssd)),
        f"{100 * saving.value:.0f} %", interval_text(saving), _alone_text(saving),
        f"{100 * (read.share or 0):.0f} %", f"{100 * (hdd.written_share or 0):.0f} %", str(ssd.verdict),
    ]  # fmt: skip


def half_cpu() -> str:
    """What two cores' processor time predicts for that of one, beside what was measured."""
    known = [answer.sensitivity for answer in analysed("quickstart-half-cpu")[0].answers if answer.sensitivity]
    return _answer("quickstart-half-cpu", [line for compared in comparisons(known) for line in lines(compared)])


def against_k1() -> str:
    """A scale model's times and their ratio to those of the cluster that it stands for."""
    lines = printed("scale-model-against-k1", str(ROOT / "benchmarks" / "dilation_invariance.py"))
    return "\n".join([*lines, "", doubts_line("scale-model-against-k1")])


def model_error() -> str:
    """By how much the model took longer than the cluster at each dilation, checks or no checks, and its evidence."""
    with unpacked("scale-model-against-k1") as folder:
        records = RunFolder(folder).records()[0]
        trials = Trials([summarise(unchecked(record)) for record in records])
        parts = [
            f"{100 * (compared.contrast.ratio - 1):.0f} % longer than the cluster when all ran {compared.level} times "
            f"slower ({100 * (interval.low - 1):.0f} to {100 * (interval.high - 1):.0f} %)"
            for compared in equivalences(trials.samples, "", NO_PRIOR)
            for interval in [compared.contrast.interval()]
            if compared.base == "1"
        ]
    busy = max(
        (device.reports["run"].busy_seconds or 0.0) / sum(job.elapsed_s for job in record.jobs)
        for record in records
        for device in record.devices
    )
    return (
        f"{', and '.join(parts)}. Assay's own checks exclude {sum(record.struck_out for record in records)} of these "
        f"{len(records)} trials, and no drive was busy for more than {100 * busy:.0f} % of a trial's time"
    )


def disturbances() -> str:
    """What the checks of a scale model saw of disturbances, and how many of them they detected."""
    return "\n".join(printed("scale-disturbances", str(ROOT / "benchmarks" / "scale_disturbances.py"), "--show"))


def a_a() -> str:
    """The noise of the same drive under two names, what reports of it claim, and the prior that it speaks for."""
    with unpacked("a-a") as folder:
        run = read_run(RunFolder(folder), details=False)
        records = list(run.whole_records())
    rows = []
    for workload, pairs in pairs_of(run.plan, records).items():
        ratios = log_ratios(pairs)
        low, high = deviation_interval(ratios)
        noise = f"{100 * stdev(ratios):.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        left = stdev(ratios) ** 2 / (2 * stdev(residual_logs(pairs)) ** 2)
        claimed = "something" if any(claims(run.plan, pairs)[1:]) else "nothing"
        rows.append([workload, str(len(pairs)), noise, f"{100 * left:.0f} %", claimed])
    fitted = fit_prior(list(residuals(samples(run.trials), PLACEMENT).values()))
    prior = (
        f"`fit_prior` takes from these workloads a deviation of {100 * fitted.deviation:.1f} % for one trial, worth "
        f"{fitted.freedom:.1f} degrees of freedom; the shipped prior is {100 * SHIPPED_PRIOR.deviation:.0f} %, worth "
        f"{SHIPPED_PRIOR.freedom:.0f}."
    )
    deviation = "standard deviation of pairs' ratios (95 % interval)"
    heads = ["job", "pairs", deviation, "variance that pairing leaves", "a report of them claims"]
    return "\n\n".join([_table(heads, rows), prior, doubts_line("a-a")])


def known_effects() -> str:
    """The tables of `benchmarks/known_effects.py`, as it wrote them beside itself."""
    return "\n".join(markdown(json.loads((ROOT / "benchmarks" / "known-effects.json").read_text(encoding="utf-8"))))


def compare_histories() -> str:
    """The tables of `benchmarks/compare_histories.py`, as it wrote them beside itself."""
    return "\n".join(compared.markdown(json.loads(compared.FILE.read_text(encoding="utf-8"))))


def large() -> str:
    """What `benchmarks/large_histories.py` wrote beside itself."""
    return large_histories.text(json.loads(large_histories.FILE.read_text(encoding="utf-8")))


def compare_histories_example() -> str:
    """What `assay compare-histories` prints of a site that the benchmark makes."""
    with tempfile.TemporaryDirectory() as folder:
        done = Path(folder, "done")
        done.mkdir()
        changed_ms = compared.write_site(done, compared.OF_HISTORIES, np.random.default_rng(1)).changed_ms
        changed = datetime.fromtimestamp(changed_ms / 1000, UTC)
        words = ("--history", "done", "--changed", f"{changed:%Y-%m-%dT%H:%M}", "--drives", "12xhdd", "--cores", "16")
        return _listing(output_of(Path(folder), "110", "-m", "assay", "compare-histories", *words, TZ="UTC"))


def compare_histories_example_head() -> str:
    """What the tutorial's `assay compare-histories --example` prints beside advice, but for most of the controls."""
    with tempfile.TemporaryDirectory() as folder:
        advice = output_of(Path(folder), "110", "-m", "assay", "advise", *DECIDING, "--json")
        Path(folder, "advice.json").write_text("\n".join(advice), encoding="utf-8")
        words = ("--role", "intermediate", "--advised", "advice.json", "--done", "directed-jobs-on-ssd")
        lines = output_of(Path(folder), "110", "-m", "assay", "compare-histories", "--example", *words, TZ="UTC")
    controls = [place for place, line in enumerate(lines) if "  control  " in line]
    return _listing([*lines[: controls[1]], "  ...", *lines[controls[-1] + 1 :]])


def kept_triage_cases() -> list[Case]:
    """What `benchmarks/triage_truth.py --json` wrote beside itself."""
    kept = json.loads((ROOT / "benchmarks" / "triage-truth.json").read_text(encoding="utf-8"))
    return [Case(**case) for case in kept]


def triage_truth() -> str:
    """Whether the bounds of triage held, and its verdicts by both rules."""
    cases = kept_triage_cases()
    return f"{outcome(cases)}\n\n{_table(VERDICT_COLUMNS, verdict_rows(cases))}"


def triage_bound() -> str:
    """How often the bounds held where they could fail, and how many verdicts *cannot matter* that rests on."""
    cases = kept_triage_cases()
    shown, without = [case for case in cases if case.could_fail], excluded(cases, DEFAULT_WORTH)
    holding, with_polls = sum(case.holds for case in shown), sum(case.holds_with_polls for case in shown)
    on_hard_disks = sum("ssd" not in case.drive for case in without)
    return (
        f"In {len(shown)} tests a faster drive was shown to save time. The bound was high enough in {holding} of them, "
        f"and in {with_polls} with the seconds added that a job may wait between polls; *cannot matter* always adds "
        f"these. At a threshold of {100 * DEFAULT_WORTH:.0f} % *cannot matter* was said of {len(without)} cases, "
        f"{on_hard_disks or 'none'} of them on a hard disk, and of {wrong(without, DEFAULT_WORTH) or 'none'} wrongly"
    )


def triage_cases() -> str:
    """How many jobs and drives the cases are of."""
    cases = kept_triage_cases()
    pairs = {(case.run, case.job, case.drive, case.elapsed_s) for case in cases}  # other levels have other times
    jobs, runs = {(case.run, case.job) for case in cases}, {case.run for case in cases}
    return f"{len(pairs)} pairs of a job and a drive, of {len(jobs)} jobs in {len(runs)} runs"


def triage_exclusions() -> str:
    """How often triage rightly excluded jobs on hard disks, and what simpler rules say of them."""
    cases = judged_on_disks(kept_triage_cases())
    if not cases:
        return "None of them has run yet."
    return f"{exclusions_outcome(cases)}\n\n{_table(RULE_COLUMNS, disk_rows(cases))}"


@cache
def _likely_cases() -> Sequence[likely.Case]:
    profiles = find_installation().profiles
    cases: list[likely.Case] = []
    for name in PREDICTED_RUNS:
        with unpacked(name) as folder:
            cases += likely.cases(name, RunFolder(folder).records()[0], profiles)
    return cases


def likely_verdicts() -> str:
    """How often what is likely, and the bound, rightly say that a threshold is saved: everywhere, and on hard disks."""
    on_disks = [case for case in _likely_cases() if case.on_disks]
    of_all, of_disks = (likely.verdict_rows(cases) for cases in (_likely_cases(), on_disks))
    heads = [*likely.VERDICT_COLUMNS, *(f"{head}, on hard disks" for head in likely.VERDICT_COLUMNS[1:])]
    return _table(heads, [[*row, *other[1:]] for row, other in zip(of_all, of_disks, strict=True)])


def likely_without_emulation(name: str) -> str:
    """The same on devices that the emulator has no part in: whether the goal is met, by evidence, and the worst."""

    def told(folder: RunFolder) -> str:
        cases = list(likely.cases(name, folder.records()[0], find_installation().profiles))
        worst = _table(likely.WORST_COLUMNS, likely.worst_rows(cases))
        return "\n\n".join([likely.goal_text(cases), _table(likely.COLUMNS, likely.rows(cases)), worst])

    return _of_kept(name, told, "studies/")


def triage_example() -> str:
    """What `assay triage --example` prints, but for most jobs that cannot matter."""
    lines = _triage_example()
    rows = [place for place, line in enumerate(lines) if " cannot matter " in line]
    return _listing([*lines[: rows[2]], "  ...", *lines[rows[-1] + 1 :]])


@cache
def _triage_example() -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        return output_of(Path(folder), "110", "-m", "assay", "triage", "--example")


def triage_example_head() -> str:
    """Its first lines: what it says of all jobs, and the jobs that may matter."""
    lines = _triage_example()
    last = max(place for place, line in enumerate(lines) if " may matter " in line)
    return _listing([*lines[: last + 1], "  ..."])


DECIDING = ("--example", "--ssd-price", "500", "--node-price", "11000", "--small-ssd", "400GB")
"""The tutorial's options of `assay advise`."""


def advise_example_head() -> str:
    """What the tutorial's `assay advise` prints, to the end of its table."""
    with tempfile.TemporaryDirectory() as folder:
        lines = output_of(Path(folder), "110", "-m", "assay", "advise", *DECIDING)
    last = max(place for place, line in enumerate(lines) if line.startswith("  1 more node"))
    return _listing([*lines[: last + 1], "..."])


def advise_headline() -> list[str]:
    """What it says first: the decision."""
    _, *lines = advise_example_head().splitlines()
    return lines[: lines.index("")]


def advise_example() -> str:
    """What `assay advise --example` prints with some prices."""
    prices = {"ssd": 500, "disk": 300, "memory": 450, "node": 11_000}
    options = [word for name, price in prices.items() for word in (f"--{name}-price", str(price))]
    with tempfile.TemporaryDirectory() as folder:
        return _listing(output_of(Path(folder), "110", "-m", "assay", "advise", "--example", *options))


def advise_forecasts() -> str:
    """How good advice's savings are, by the cases that `benchmarks/advise.py` wrote beside itself."""
    return of_advice.markdown(of_advice.read_cases(of_advice.FILE)) if of_advice.FILE.exists() else "Not run yet."


def charts() -> dict[Path, str]:
    """Each chart of a kept run that a page shows, by its file."""
    return {RESULTS / "engines.svg": standalone(shares_chart(_shares("engines")))}


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return grid(as_columns(heads, rows))


def _listing(lines: list[str]) -> str:
    return "\n".join(["```", *lines, "```"])


def older_conditions() -> str:
    """The kept runs on emulated drives of which no trial had a node's write-back."""
    older = []
    for archive in sorted(RESULTS.glob("*.tar.xz")):
        with unpacked(archive.name.removesuffix(".tar.xz")) as folder:
            runs = [RunFolder(plan.parent) for plan in folder.rglob("plan.json")]
            trials = [trial for run in runs for trial in run.plan().trials]
        emulated = any(medium.kind == "emulated" for trial in trials for medium in trial.media)
        if emulated and all(trial.cluster.write_back == OF_HOST for trial in trials):
            older.append(f"`{archive.name.removesuffix('.tar.xz')}`")
    return ", ".join(older)


RESULT_TEXTS: Mapping[str, Callable[[], str]] = {
    "quickstart answer": quickstart_answer,
    "quickstart ratio": quickstart_ratio,
    **{name.replace("-", " "): partial(_decision, name) for name in ONE_ANSWER},
    "engines": engines,
    "engines terasort": terasort,
    "engines orders": terasort_orders,
    "engines by drive speed": engines_by_drive_speed,
    "engines by page cache": partial(_of_trials, "engines-by-page-cache", report),
    "streams on one disk": streams_on_one_disk,
    "directed night": lambda: directed_night("directed-night"),
    "directed night at an eighth": lambda: directed_night("directed-night-at-an-eighth"),
    "suitability of stores": partial(_section, "stores", "Which job suits which store"),
    "lookups": partial(_of_trials, "lookups", lookups_report),
    "levitated": partial(_of_trials, "levitated", levitated_report),
    "gets": partial(_section, "gets", "How long single gets took"),
    "stores": stores,
    "quickstart by memory": by_memory,
    "scale model against K = 1": against_k1,
    "scale model error": model_error,
    "scale disturbances": disturbances,
    "quickstart with half the processor time": half_cpu,
    "older conditions": older_conditions,
    "a a": a_a,
    "known effects": known_effects,
    "compare histories": compare_histories,
    "large histories": large,
    "compare histories example": compare_histories_example,
    "compare histories example head": compare_histories_example_head,
    "likely": lambda: _table(likely.COLUMNS, likely.rows(_likely_cases())),
    "likely verdicts": likely_verdicts,
    "likely without emulation": partial(likely_without_emulation, "likely-without-emulation"),
    "likely without emulation again": partial(likely_without_emulation, "likely-without-emulation-again"),
    "triage truth": triage_truth,
    "triage rules": lambda: _table(RULE_COLUMNS, rule_rows(kept_triage_cases())),
    "triage bound": triage_bound,
    "triage cases": triage_cases,
    "triage expected": lambda: _table(exclusions.COLUMNS, exclusions.rows(list(exclusions.expectations()))),
    "triage exclusions": triage_exclusions,
    "forty jobs": lambda: _table(forty_jobs.COLUMNS, forty_jobs.rows()),
    "triage looseness": lambda: _table(SAVED_COLUMNS, looseness_rows(kept_triage_cases())),
    "triage example": triage_example,
    "triage example head": triage_example_head,
    "advise example": advise_example,
    "advise example head": advise_example_head,
    "advise forecasts": advise_forecasts,
    "advise time": lambda: advise_time.sentence(json.loads(advise_time.FILE.read_text(encoding="utf-8"))),
    **PREDICTION_BLOCKS,
    **BLOCKS,
}
"""What makes each result's text, by the name in the pages."""


def main() -> None:
    """Write all results into the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command")
    keeping = commands.add_parser("keep", help="pack a run folder's plan, records and tasks first")
    keeping.add_argument("run", type=Path)
    keeping.add_argument("name")
    keeping.add_argument("--requests", action="store_true", help="and the requests to drives, which predictions replay")
    keeping.add_argument("--hide", action="append", default=[], help="a folder of this machine that is named otherwise")
    arguments = parser.parse_args()
    if arguments.command == "keep":
        try:
            keep(arguments.run, arguments.name, arguments.hide, requests=arguments.requests)
        except BadInputError as error:
            keeping.error(str(error))
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if (made := filled(text)) != text:
            page.write_text(made, encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(ROOT)}\n")
    for file, text in {**documents(), **charts()}.items():
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
