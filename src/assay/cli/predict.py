"""`assay predict`: the time of a run's jobs on a drive that did not run."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from assay.cli.context import UserPath, find_installation, json_option, open_console, print_json
from assay.media.emulated.emulator import Emulator
from assay.media.emulated.profile import find_profile, names_file
from assay.model.demand import OtherDrive
from assay.model.drive_profile import PROFILE_FILES, SHORT_NAMES, DriveProfile
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation
from assay.model.naming import nearest
from assay.model.signature import OTHER
from assay.model.trial import Plan
from assay.predict.drives import demands_on
from assay.predict.predictor import DrivePrediction, lies_on, predictions
from assay.record.demands import keep_demands, measured_run
from assay.record.folder import RunFolder
from assay.report.answer import interval_text
from assay.report.columns import Column, layout_table
from assay.report.words import percent, print_line, seconds_text
from assay.stats.trial_summary import summaries_of


@click.command()
@click.argument("folder", type=UserPath(), metavar="RUN")
@click.option(
    "--media", "media", required=True, multiple=True, metavar="[NAME=]DRIVE[,...]",
    help="The drive: a medium of the run, a usual one (hdd, ssd, nvme), a profile (`assay media list`) or a YAML file. "
    "Of several each is predicted by itself. NAME is what reports call it. A path with a comma or `=` begins with / or "
    "./ and ends in .yaml.",
)  # fmt: skip
@click.option("--role", "roles", multiple=True, help="Only data of this role lie on it; may be given several times.")
@click.option("--from", "placement", help="The placement to predict from; by default the first of the plan.")
@json_option()
def predict(
    folder: Path, media: tuple[str, ...], roles: tuple[str, ...], placement: str | None, *, as_json: bool
) -> None:
    """Predict how long a run's jobs take on another drive, without running them there.

    The run must have kept the requests to its drives (`keep_requests: true`). They are given to the other drive in
    virtual time; how long that is busy with them, and what the job computes, give its time. Reports of the run have
    the prediction from then on.

    \b
    Example:  assay predict runs/quickstart --media nvme
              assay predict runs/sort --media ssd,nvme,new=new-drive.yaml
              assay predict runs/sort --media nvme --role intermediate
    """
    installation = find_installation()
    run = RunFolder(folder)
    plan = run.plan()
    _check_roles(roles, plan)
    emulated = _emulated_media(plan)
    drives = drives_named(media, roles, emulated)
    profiles = [(drive, checked_profile(drive, installation, [*emulated, *SHORT_NAMES])) for drive in drives]
    present = present_profiles(plan, drives, installation)
    demands = demands_on(run, profiles, Emulator(installation).replay, placement, present=present)
    predicted = predictions(measured_run(run, plan, summaries_of(run, plan)[0])._replace(demands=demands))
    if not predicted:
        raise BadInputError(
            f"no valid trial of {folder} has a time to predict from; `assay report {folder}` says what became of them"
        )
    keep_demands(run, demands)
    if as_json:
        print_json([_as_json(prediction) for prediction in predicted])
    else:
        _print(predicted, open_console())


def _check_roles(roles: Sequence[str], plan: Plan) -> None:
    """Raises BadInputError for a role that no placement of a plan has, before any log is read."""
    known = [*dict.fromkeys(role for trial in plan.trials for role in trial.placement.roles), OTHER]
    for role in roles:
        if role not in known:
            raise BadInputError(f"--role {role!r} is no role of the run; {nearest(role, known)}")


def drives_named(
    texts: Sequence[str], roles: tuple[str, ...] = (), media: Mapping[str, Mapping[str, Any]] = {}
) -> list[OtherDrive]:
    """The drives that somebody means by texts such as `ssd,new=new-drive.yaml`.

    Raises BadInputError where one is missing, where two would have one name, or where a path may be meant otherwise.
    """
    drives: dict[str, OtherDrive] = {}
    for text in texts:
        for part in _parts(text):
            given_name, equals, word = part.partition("=")
            if not equals or "/" in given_name:
                given_name, word = "", part
            if {",", "="} & {*text} and names_file(word) and not Path(word).exists():
                raise BadInputError(
                    f"--media {text!r} names the file {word}, which does not exist; a path with a comma or `=` begins "
                    "with / or ./ and ends in .yaml"
                )
            drive = drive_named(word, roles, media, given_name)
            if not word or drive.name in drives:
                problem = f"names {drive.name} twice" if word else "lacks a drive"
                raise BadInputError(f"--media {text!r} {problem}; write DRIVE or NAME=DRIVE, each with another name")
            drives[drive.name] = drive
    return list(drives.values())


def _parts(text: str) -> list[str]:
    """The parts of a text between commas; a path goes on beyond commas until the ending of a file of YAML."""
    parts: list[str] = []
    for part in text.split(","):
        if parts and "/" in parts[-1] and Path(parts[-1].strip()).suffix not in PROFILE_FILES:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return [part.strip() for part in parts]


def drive_named(
    word: str, roles: tuple[str, ...] = (), media: Mapping[str, Mapping[str, Any]] = {}, given_name: str = ""
) -> OtherDrive:
    """The drive that somebody means by a word: one of the run's emulated media, a usual one, or a profile."""
    medium = media.get(word)
    profile = str(medium["profile"]) if medium else SHORT_NAMES.get(word, word)
    return OtherDrive.on(given_name or word, profile, roles, medium)


def _emulated_media(plan: Plan) -> Mapping[str, Mapping[str, Any]]:
    """The fields of a plan's emulated media, by their names."""
    media = {medium.name: medium.model_extra or {} for trial in plan.trials for medium in trial.media}
    return {name: fields for name, fields in media.items() if "profile" in fields}


def checked_profile(drive: OtherDrive, installation: Installation, more_names: Sequence[str] = ()) -> DriveProfile:
    """The profile of a drive; of one that is shared, of the part that one user has. `more_names` mean drives, too.

    Raises AssayError without the emulator, BadInputError for an unknown or wrong profile, or one that can't be shared.
    """
    emulator = Emulator(installation)
    if (reason := emulator.missing()) is not None:
        raise AssayError(f"predicting needs the drive emulator, and {reason}")
    profile = find_profile(drive.profile, installation.profiles, more_names)
    if drive.shared_by is not None:
        try:
            profile = profile.shared(drive.shared_by)
        except ValueError as error:
            raise BadInputError(f"{drive.name} can't be predicted: {error}") from None
    emulator.check(profile)
    return profile


def present_profiles(
    plan: Plan, drives: Sequence[OtherDrive], installation: Installation
) -> Mapping[str, DriveProfile]:
    """The profiles of a plan's emulated media, as slow as they are there, by the media's names.

    Only where data stay on them while others move to one of the drives, and where the profile can be found.
    """
    media = _emulated_media(plan) if any(drive.roles for drive in drives) else {}
    profiles = {}
    for medium in (drive_named(name, (), media) for name in media):
        with suppress(BadInputError):  # such as a varied profile, of which no prediction is made
            profile = checked_profile(medium, installation)
            profiles[medium.name] = profile.model_copy(update={"slowdown": medium.slowdown})
    return profiles


def _print(predicted: list[DrivePrediction], console: Console) -> None:
    for lies in dict.fromkeys(lies_on(prediction.demand) for prediction in predicted):
        print_line(console, f"Predicted with {lies}; no trial ran on it.")
    names = [prediction.drive.name for prediction in predicted]
    varying = [
        name
        for name in predicted[0].factors
        if name == "workload" or len({prediction.factors[name] for prediction in predicted}) > 1
    ]
    columns = [
        *([Column("drive", names, name=True)] if len(set(names)) > 1 else []),
        *(Column(name, [prediction.factors[name] for prediction in predicted], name=True) for name in varying),
        Column(f"on {predicted[0].placement}", [seconds_text(prediction.elapsed_s) for prediction in predicted]),
        Column("predicted", [seconds_text(prediction.predicted_s) for prediction in predicted]),
        Column("95 % interval", [_interval(prediction) for prediction in predicted]),
        Column(
            "saves",
            [f"{percent(prediction.saving.value)} ({interval_text(prediction.saving)})" for prediction in predicted],
        ),
        Column("verdict", [prediction.verdict for prediction in predicted]),
    ]
    print_line(console, "\n".join(layout_table(columns, console.width)))
    for verdict, reason in dict.fromkeys((prediction.verdict, prediction.reason) for prediction in predicted):
        if reason:
            print_line(console, f"{verdict.capitalize()}: {reason}.")
    for cure in dict.fromkeys(prediction.surer for prediction in predicted if prediction.surer):
        print_line(console, f"To be surer: {cure}.")
    print_line(console, "The interval is that of predictions of measured jobs; see docs/explanation/prediction.md.")


def _interval(prediction: DrivePrediction) -> str:
    return f"{seconds_text(prediction.low_s)} to {seconds_text(prediction.high_s)}"


def _as_json(prediction: DrivePrediction) -> dict[str, object]:
    return {
        "factors": dict(prediction.factors), "from": prediction.placement, "drive": prediction.drive.profile,
        "level": prediction.drive.name, "roles": prediction.drive.roles, "elapsed_s": prediction.elapsed_s,
        "predicted_s": prediction.predicted_s, "low_s": prediction.low_s, "high_s": prediction.high_s,
        "verdict": prediction.verdict, "reason": prediction.reason, "basis": prediction.basis,
        "surer": prediction.surer, "trials": [trial._asdict() for trial in prediction.trials],
    }  # fmt: skip


def check_predicted(plan: Plan, installation: Installation) -> None:
    """Raise AssayError where a drive that a plan names can't be predicted on, before anything starts."""
    for drive in plan.predict:
        checked_profile(drive, installation)


def predict_planned(folder: RunFolder, installation: Installation, console: Console) -> None:
    """Keep what a run's trials would ask of the drives that its plan names; say of which that is not known, and why."""
    emulator, plan = Emulator(installation), folder.plan()
    for drive in plan.predict:
        try:
            profile = checked_profile(drive, installation)
            demands = demands_on(
                folder, [(drive, profile)], emulator.replay, present=present_profiles(plan, [drive], installation)
            )
            keep_demands(folder, demands)
        except AssayError as error:  # the trials ran all the same, and their report is to follow
            print_line(console, f"{drive.name} is not predicted: {error}")
