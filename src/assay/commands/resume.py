"""Which plan a run goes on with."""

from collections.abc import Collection

from assay.model.errors import BadInputError
from assay.model.trial import Plan, Trial


def resumed(stored: Plan, full: Plan, asked: Plan, finished: Collection[str]) -> Plan:
    """The plan of a run that goes on: what it had, and what is asked for now.

    `full` is the plan that the experiment makes, `asked` the part of it to be run now. Trials beyond it, which a budget
    of time added, stay as far as they have run; so do the plan's doubts, and the noise that was assumed at first.
    Raises BadInputError where the run had other trials than the experiment makes.
    """
    of_number = {_number(trial): trial for trial in full.trials}
    same = (stored.experiment, stored.seed) == (full.experiment, full.seed)
    if not same or any(of_number.get(_number(trial), trial) != trial for trial in stored.trials):
        raise BadInputError(
            "the run holds another plan than this experiment makes now; give the experiment as it was, or another --out"
        )
    kept = {_number(one): one for one in stored.trials if _number(one) in of_number or one.id in finished}
    kept |= {_number(trial): trial for trial in asked.trials}
    again = {one.kind for one in full.doubts}
    doubts = (*(one for one in stored.doubts if one.kind not in again), *full.doubts)
    trials = tuple(kept[number] for number in sorted(kept))
    return full.model_copy(update={"trials": trials, "doubts": doubts, "prior": stored.prior})


def _number(trial: Trial) -> int:
    return int(trial.id.partition("-")[0])
