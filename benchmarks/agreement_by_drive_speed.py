"""How far agreement with tables 6 to 8 depends on drives' speed: `python benchmarks/agreement_by_drive_speed.py RUN`.

RUN is a run of `experiments/studies/agreement-by-drive-speed.yaml`. Printed: for each factor by which drives are slowed
down the ratios of SSD and hard disk beside the thesis', how many directions and classes agree, Cohen's kappa, the
median factor by which ratios are off; and the statements whose verdict depends on the factor, which are decided by the
scale.

`--to FOLDER` writes `drive-speed.json`, what was measured, and `drive-speed.svg`, the chart; then docs/make_results.py
makes the tables of docs/research/studies.md. By itself:
`PYTHONPATH=$PWD/src:$PWD:$PWD/extras .assay/venv/bin/python benchmarks/agreement_by_drive_speed.py runs/agreement-...`.
"""

import argparse
import sys
from pathlib import Path

from assay.model.errors import BadInputError
from assay.record.folder import RunFolder
from assay.report.columns import layout_table
from assay_extras.studies.drive_speed import (
    CHART_FILE,
    SPEED_FILE,
    at_speeds,
    speed_runs,
    speed_svg,
    speed_tables,
)
from assay_extras.studies.overview_view import score_columns, standalone

WIDTH = 120


def main() -> int:
    """Read, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="a run of experiments/studies/agreement-by-drive-speed.yaml")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help=f"write {SPEED_FILE} and {CHART_FILE} into it")
    wishes = parser.parse_args()
    folder = RunFolder(wishes.run)
    try:
        runs = speed_runs(folder.plan(), folder.records()[0])
    except BadInputError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2
    found = at_speeds(runs)
    for shown in speed_tables(found):
        print("\n".join(["", shown.title, *layout_table(score_columns(shown), WIDTH), shown.about]))  # noqa: T201
    if wishes.to is not None:
        (wishes.to / SPEED_FILE).write_text(f"{runs.model_dump_json(indent=1)}\n", encoding="utf-8")
        (wishes.to / CHART_FILE).write_text(standalone(speed_svg(found)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
