"""Leave combinations out, or take only some: levels are named as tables show them."""

from collections.abc import Iterable, Mapping, Sequence

from assay.model.errors import BadInputError
from assay.model.trial import Plan
from assay.plan.factors import factor_name, known_level, levels_of
from assay.plan.grid import Combination

Choice = Mapping[str, Sequence[str]]
"""Some factors, each with levels of which any will do."""


def without(combinations: Sequence[Combination], excluded: Sequence[Choice]) -> list[Combination]:
    """Those that have all the levels of none of `excluded`.

    Raises BadInputError for an unknown factor or level, and where nothing is left.
    """
    known = levels_of(one.shown for one in combinations)
    choices = [_choice(words.items(), known) for words in excluded]
    left = [one for one in combinations if not any(_has(one.shown, choice) for choice in choices)]
    if not left:
        raise BadInputError("exclude leaves no combination; give fewer, or more levels in each")
    return left


def only(plan: Plan, wanted: Sequence[str]) -> Plan:
    """The trials with these levels, each as `FACTOR=LEVEL`; of several levels of one factor any will do.

    Raises BadInputError for what names no factor or level, and where no trial has all of them.
    """
    if not wanted:
        return plan
    words: dict[str, list[str]] = {}
    for text in wanted:
        name, sign, level = text.partition("=")
        if not sign:
            raise BadInputError(f"--only {text}: say FACTOR=LEVEL, such as placement={plan.trials[0].placement.name}")
        words.setdefault(name, []).append(level)
    try:
        choice = _choice(words.items(), levels_of(trial.factors for trial in plan.trials))
    except BadInputError as error:
        raise BadInputError(f"--only: {error}") from None
    trials = tuple(trial for trial in plan.trials if _has(trial.factors, choice))
    if not trials:
        raise BadInputError(f"no trial has all of --only {' --only '.join(wanted)}")
    return plan.model_copy(update={"trials": trials})


def _choice(words: Iterable[tuple[str, Sequence[str]]], known: Mapping[str, Sequence[str]]) -> Choice:
    found: dict[str, list[str]] = {}
    for word, levels in words:
        name = factor_name(word, list(known))
        found.setdefault(name, []).extend(known_level(name, level, known[name]) for level in levels)
    return found


def _has(shown: Mapping[str, str], choice: Choice) -> bool:
    return all(shown[name] in levels for name, levels in choice.items())
