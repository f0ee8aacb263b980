"""`assay predict`: the time of a run's jobs on a drive that did not run."""

from pathlib import Path

import click

from assay.cli.context import UserPath, find_installation, json_option, open_console, print_json
from assay.media.emulated.emulator import Emulator
from assay.media.emulated.profile import SHORT_NAMES, find_profile
from assay.model.errors import AssayError
from assay.predict.drives import DrivePrediction, predict_drive
from assay.record.folder import RunFolder
from assay.report.columns import Column, layout_table
from assay.report.words import percent, print_line, seconds_text

VERDICTS = {True: "worth it", False: "not worth it", None: "not known"}


@click.command()
@click.argument("folder", type=UserPath(), metavar="RUN")
@click.option(
    "--media", "drive", required=True, metavar="PROFILE",
    help="The drive: a shipped profile (`assay media list`), hdd, ssd or nvme for a usual one, or a YAML file.",
)  # fmt: skip
@click.option("--role", "roles", multiple=True, help="Only data of this role lie on it; may be given several times.")
@click.option("--from", "placement", help="The placement to predict from; by default the first of the plan.")
@json_option()
def predict(folder: Path, drive: str, roles: tuple[str, ...], placement: str | None, *, as_json: bool) -> None:
    """Predict how long a run's jobs take on another drive, without running them there.

    The run must have kept the requests to its drives (`keep_requests: true`). They are given to the other drive in
    virtual time; how long that is busy with them, and what the job computes, give its time.

    \b
    Example:  assay predict runs/quickstart --media nvme
              assay predict runs/sort --media nvme --role intermediate
    """
    installation = find_installation()
    emulator = Emulator(installation)
    if (reason := emulator.missing()) is not None:
        raise AssayError(f"predicting needs the drive emulator, and {reason}")
    profile = find_profile(SHORT_NAMES.get(drive, drive), installation.profiles)
    emulator.check(profile)
    predictions = predict_drive(RunFolder(folder), profile, roles or None, emulator.replay, placement)
    if as_json:
        print_json([_as_json(prediction, profile.name) for prediction in predictions])
        return
    console = open_console()
    lies = f"data of {', '.join(roles)}" if roles else "all data"
    replaced = predictions[0].trials[0].replaced
    of_several = f" of {', '.join(replaced[:-1])} and {replaced[-1]} together" if len(replaced) > 1 else ""
    print_line(console, f"Predicted with {lies}{of_several} on one {profile.title}; no trial ran on it.")
    varying = [
        name
        for name in predictions[0].factors
        if name == "workload" or len({prediction.factors[name] for prediction in predictions}) > 1
    ]
    columns = [
        *(Column(name, [prediction.factors[name] for prediction in predictions], name=True) for name in varying),
        Column(f"on {predictions[0].placement}", [seconds_text(prediction.elapsed_s) for prediction in predictions]),
        Column("predicted", [seconds_text(prediction.predicted_s) for prediction in predictions]),
        Column("95 % interval", [_interval(prediction) for prediction in predictions]),
        Column("saves", [percent(1 - prediction.predicted_s / prediction.elapsed_s) for prediction in predictions]),
        Column("verdict", [VERDICTS[prediction.worth] for prediction in predictions]),
    ]
    print_line(console, "\n".join(layout_table(columns, console.width)))
    for reason in dict.fromkeys(prediction.reason for prediction in predictions if prediction.reason):
        print_line(console, f"Not known: {reason}.")
    print_line(console, "The interval is that of predictions of measured jobs; see docs/explanation/prediction.md.")


def _interval(prediction: DrivePrediction) -> str:
    return f"{seconds_text(prediction.low_s)} to {seconds_text(prediction.high_s)}"


def _as_json(prediction: DrivePrediction, drive: str) -> dict[str, object]:
    return {
        "factors": dict(prediction.factors), "from": prediction.placement, "drive": drive,
        "elapsed_s": prediction.elapsed_s, "predicted_s": prediction.predicted_s, "low_s": prediction.low_s,
        "high_s": prediction.high_s, "verdict": VERDICTS[prediction.worth], "reason": prediction.reason,
        "trials": [trial._asdict() for trial in prediction.trials],
    }  # fmt: skip
