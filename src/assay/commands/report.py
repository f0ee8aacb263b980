"""`assay report`: the table, the page, the records as JSON."""

import json
from pathlib import Path

from rich.console import Console

from assay.model.doubt import Outcome
from assay.record.folder import RunFolder
from assay.report.closeup import chosen, look
from assay.report.cost_table import print_costs
from assay.report.page import page
from assay.report.table import print_report

FAILED = 1


def report_run(folder: Path, console: Console) -> None:
    """Print the table and write RUN/report.html. Raises BadInputError when the folder is no run."""
    run = RunFolder(folder)
    plan = run.plan()
    records, damaged = run.records()
    print_report(f"{plan.experiment}: {len(records)} of {len(plan.trials)} trials", records, console, plan.doubts)
    for one in damaged:
        console.print(f"left out: {one.folder}: {one.reason}", style="red", highlight=False, markup=False)
    closeups = [look(run, record) for record in chosen(records)]
    print_costs(closeups, console)
    target = folder / "report.html"
    target.write_text(page(plan, records, damaged, closeups))
    console.print(f"page: {target}", highlight=False, soft_wrap=True)


def records_json(folder: Path) -> str:
    """The plan, all records and what had to be left out."""
    run = RunFolder(folder)
    records, damaged = run.records()
    content = {
        "plan": run.plan().model_dump(mode="json"),
        "records": [record.model_dump(mode="json") for record in records],
        "left_out": [{"folder": str(one.folder), "reason": one.reason} for one in damaged],
    }
    return json.dumps(content, indent=1)


def exit_code(folder: Path) -> int:
    """0 when every planned trial has a readable record and all verdicts pass."""
    run = RunFolder(folder)
    records, damaged = run.records()
    whole = len(records) == len(run.plan().trials) and not damaged
    return 0 if whole and all(record.outcome is Outcome.PASS for record in records) else FAILED
