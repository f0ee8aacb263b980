"""How good predictions on other drives are, by the kept runs: the texts of blocks that docs/make_results.py writes.

`docs/make_results.py keep RUN prediction --requests` packs a run of `experiments/prediction.yaml` with the requests to
its drives, which are replayed here. `PYTHONPATH=src:extras:. python docs/make_predictions.py` prints the parameters of
`assay.predict.predictor` that follow from the kept runs; a test compares.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from math import exp

from benchmarks.known_busy_times import COLUMNS, Case, cases, covered, rows, worst
from benchmarks.prediction import (
    PREDICTOR_COLUMNS,
    SUMMARY_COLUMNS,
    UNKNOWN,
    VERDICT_COLUMNS,
    WORST_COLUMNS,
    busy_text,
    parameters_text,
    predictor_rows,
    summary_rows,
    verdict_rows,
    worst_rows,
)
from benchmarks.replayed import NOT_WORTH, UNDECIDED, WORTH, Refused, Replayed, error_of_others, replayed
from docs.kept_runs import is_kept, unpacked

from assay.predict.predictor import ERROR_95
from assay.record.folder import RunFolder
from assay.report.columns import as_columns, grid

PREDICTED_RUNS = (
    "a-a", "before-you-buy", "engines", "engines-terasort", "engines-three-nodes", "hbase-log-on-ssd", "quickstart",
    "quickstart-by-memory-first", "quickstart-half-cpu", "spark-memory", "spark-second-disk",
)  # fmt: skip
"""The kept runs with two placements or more on emulated drives, on clusters of full speed."""
REPLAYED_RUN = "prediction"
"""The run of `experiments/prediction.yaml`."""
PENDING = "`experiments/prediction.yaml` has not been run by these rules yet."

Cases = tuple[Sequence[Replayed], Sequence[Refused]]


@cache
def known_cases() -> Sequence[Case]:
    """The cases with known busy times of all other kept runs."""
    known: list[Case] = []
    for name in PREDICTED_RUNS:
        with unpacked(name) as folder:
            known += cases(name, RunFolder(folder).records()[0])
    return known


def _known() -> str:
    known = known_cases()
    within = f"{covered(known)} of {len(known)} cases lie within the interval that the other runs' cases give."
    of_worst = grid(as_columns(("run", "job", "from", "to", "error"), worst(known, 5)))
    return f"{grid(as_columns(COLUMNS, rows(known)))}\n\n{within} The worst:\n\n{of_worst}"


@cache
def kept_cases() -> Cases:
    """The cases of that run, replayed; none before it is kept."""
    if not is_kept(REPLAYED_RUN):
        return [], []
    with unpacked(REPLAYED_RUN) as folder:
        return replayed(RunFolder(folder))


def _block(make: Callable[[Cases], str]) -> Callable[[], str]:
    def text() -> str:
        replays = kept_cases()
        return make(replays) if replays[0] else PENDING

    return text


def _summary(replays: Cases) -> str:
    refused = [f"{case.case} is refused: {case.reason}." for case in replays[1]]
    return "\n\n".join([busy_text(replays[0]), *refused, grid(as_columns(SUMMARY_COLUMNS, summary_rows(*replays)))])


def _headline(replays: Cases) -> str:
    cases = replays[0]
    errors = " and ".join(
        f"by {row[2]} in the median ({row[4]} at the 90th percentile) for {row[0]}" for row in summary_rows(*replays)
    )
    held = sum(case.covers(error_of_others(case, cases)) for case in cases)
    said = [(case.prediction(error_of_others(case, cases)).verdict, case.truth) for case in cases]
    decided = [verdict == truth for verdict, truth in said if verdict != UNKNOWN and truth != UNDECIDED]
    unknown = sum(verdict == UNKNOWN for verdict, _ in said)
    faster = [case.prediction(error_of_others(case, cases)).verdict for case in cases if case.to_faster]
    return (
        f"In {len(cases) + len(replays[1])} cases that were measured, too, predicted times were off {errors}; the "
        f"interval held {held} times. {sum(decided)} of {len(decided)} verdicts on decided cases were right, and in "
        f"{unknown} cases the verdict was *not known*; on the faster drive it was {faster.count(WORTH)} times *worth "
        f"it*, {faster.count(NOT_WORTH)} times *not worth it*, and {faster.count(UNKNOWN)} times not known"
    )


BLOCKS: Mapping[str, Callable[[], str]] = {
    "prediction headline": _block(_headline),
    "prediction interval": lambda: f"{ERROR_95} ({exp(ERROR_95) - 1:.0%} more, or {1 - exp(-ERROR_95):.0%} less)",
    "prediction": _known,
    "prediction replayed": _block(_summary),
    "prediction predictors": _block(lambda replays: grid(as_columns(PREDICTOR_COLUMNS, predictor_rows(replays[0])))),
    "prediction verdicts": _block(lambda replays: grid(as_columns(VERDICT_COLUMNS, verdict_rows(*replays)))),
    "prediction worst": _block(lambda replays: grid(as_columns(WORST_COLUMNS, worst_rows(replays[0])))),
}


if __name__ == "__main__":
    sys.stdout.write(f"{parameters_text(known_cases(), kept_cases()[0])}\n")
