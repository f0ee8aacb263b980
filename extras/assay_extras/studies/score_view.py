"""The score of the studies' comparisons in words and tables, for the terminal and for Markdown."""

from collections.abc import Sequence
from typing import NamedTuple

from assay_extras.studies.overview import Coverage, Overview
from assay_extras.studies.score import CLASS_WORDS, Agreed, Corrected, RatioError, Score
from assay_extras.studies.values import LEVEL


class ScoreTable(NamedTuple):
    """One table, and what to know of it."""

    title: str
    about: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def headline(found: Overview) -> str:
    """What the runs show of the studies, the guesses that need no run beside it; nothing where nothing is scored."""
    score = found.score
    if score is None:
        return ""
    runs, second_faster, no_effect = score.forecasts
    ran, planned = sum(len(one.run) for one in found.coverage), sum(one.experiments for one in found.coverage)
    errors = [f"{one.kind} by a factor of {one.factor:.2f} ({one.null_factor:.2f})" for one in score.errors[1:]]
    return (
        f"{ran} of {planned} experiments have run. {runs.agree} of {runs.of} comparisons fall into the study's class "
        f'(faster, slower, no difference): {_kappa_words(runs)}. Always guessing "the second is faster" is right in '
        f'{second_faster.agree}, always "no difference" in {no_effect.agree}. Of the {score.directions} with a '
        f"published direction the runs decide {score.decided}; {runs.decided_agree} of these agree, and the first "
        f"guess is right in {second_faster.decided_agree}, so agreement in direction is no evidence by itself. Ratios "
        f'are off, in the median, for {", for ".join(errors)}; in parentheses, what "no difference" would be off.'
    )


def short_headline(found: Overview) -> str:
    """The same in a line."""
    score = found.score
    if score is None:
        return ""
    runs, second_faster, _ = score.forecasts
    ran, planned = sum(len(one.run) for one in found.coverage), sum(one.experiments for one in found.coverage)
    errors = ", ".join(
        f"{one.kind} {one.factor:.2f} (no difference: {one.null_factor:.2f})" for one in score.errors[1:]
    )
    return (
        f"{ran} of {planned} experiments have run; of {score.decided} decided comparisons {runs.decided_agree} agree, "
        f'always guessing "the second is faster" {second_faster.decided_agree}; in three classes {_kappa_words(runs)}; '
        f"median factor off: {errors}"
    )


def _kappa_words(one: Agreed) -> str:
    interval = "" if one.low is None else f" ({one.low:.2f} to {one.high:.2f})"
    return f"Cohen's kappa {one.kappa:.2f}{interval}"


def score_tables(found: Overview) -> list[ScoreTable]:
    """Classes, guesses, errors, corrections, coverage: those of which there is something."""
    score = found.score
    scored = [] if score is None else [_classes(score), _forecasts(score), _errors(score), _corrections(score)]
    return [*scored, *_coverage(found.coverage)]


def _classes(score: Score) -> ScoreTable:
    runs, *_ = score.forecasts
    rows = [(word, *map(str, row), str(sum(row))) for word, row in zip(CLASS_WORDS, runs.counts, strict=True)]
    columns = [sum(column) for column in zip(*runs.counts, strict=True)]
    return ScoreTable(
        "Published and measured classes",
        "Comparisons with at least three pairs, long enough, that do not follow from the set-up. Measured: by each "
        "interval by itself. The second of two drives or settings is faster, slower, or shows no difference.",
        ("published / measured", *CLASS_WORDS, "all"),
        [*rows, ("all", *map(str, columns), str(sum(columns)))],
    )


def _forecasts(score: Score) -> ScoreTable:
    rows = [
        (
            one.name, f"{one.agree} of {one.of}", f"{one.directions_agree} of {score.directions}",
            f"{one.decided_agree} of {score.decided}",
            f"{one.kappa:.2f}" + ("" if one.low is None else f" ({one.low:.2f} to {one.high:.2f})"),
        )
        for one in score.forecasts
    ]  # fmt: skip
    return ScoreTable(
        "The runs beside two guesses",
        "right: the study's class; of directions: where the study has one; of decided: where the runs have one too. "
        "kappa: 0 is chance, 1 is full agreement; its 95 % interval takes comparisons as "
        "independent, but those of one experiment share trials, so that the true one is wider.",
        ("forecast", "right", "of directions", "of decided", "kappa"),
        rows,
    )


def _errors(score: Score) -> ScoreTable:
    return ScoreTable(
        "Ratios",
        "Of comparisons with a published direction: off by is the median factor between measured and published ratio, "
        "no difference what it is for the ratio 1. Rank correlation is Spearman's, of published with measured ratios.",
        ("ratios of", "comparisons", "off by", "no difference", "rank correlation"),
        [_error(one) for one in score.errors],
    )


def _error(one: RatioError) -> tuple[str, ...]:
    ranks = "-" if one.spearman is None else f"{one.spearman:.2f}"
    return (one.kind, str(one.comparisons), f"{one.factor:.2f}", f"{one.null_factor:.2f}", ranks)


def _corrections(score: Score) -> ScoreTable:
    from scipy.stats import binom

    directed = score.corrections[0].ties
    luck = float(binom.sf(directed - 1, score.ties, 1 - LEVEL))
    return ScoreTable(
        "Decided, with and without a correction for their number",
        "Benjamini-Hochberg: of what is decided at most 5 % is false, on average. Holm: anything false in at most 5 % "
        "of cases. Variance: a pair's own averaged with that of its job and phase, as in all other tables, or its own "
        "alone. ties: published ties that get a direction. By chance 5 % would by themselves; as "
        f"many as {directed} or more of {score.ties} in {100 * luck:.1f} % of cases, if they were independent.",
        ("rule", "variance", f"decided of {score.directions}", "agree", f"ties of {score.ties}"),
        [_correction(one) for one in score.corrections],
    )


def _correction(one: Corrected) -> tuple[str, ...]:
    return (one.rule, "own" if one.own else "averaged", str(one.decided), str(one.agree), str(one.ties))


def _coverage(every: Sequence[Coverage]) -> list[ScoreTable]:
    """A row for each study, for all, and for what has not run: of comparisons, and of statements."""
    total = _total(every)
    names = ", ".join(f"`{name}-scaled`" for one in every for name in one.not_run)
    twice = sum(one.printed - one.directional for one in every)
    unspoken = total.statements - total.judged
    comparisons = [_compared(one) for one in (*every, total)]
    left = (str(total.experiments - len(total.run)), str(total.directional - total.measured))
    statements = [_judged(one) for one in (*every, total)]
    return [
        ScoreTable(
            "Experiments and comparisons covered",
            f"Comparisons with a published direction that do not follow from the set-up; {twice} stand in two "
            f"tables and count once. decided, agree: each by itself. Not run: {names or 'none'}.",
            ("study", "run", "measured", "too short", "too few pairs", "decided", "agree"),
            [*comparisons, ("*not run*", *left, "", "", "", "")],
        ),
        ScoreTable(
            "Statements covered",
            f"Of the {unspoken} of which no run speaks, {total.never} are such that no scaled run can. by the scale: "
            "of the confirmed and refuted, those that another choice of the scaled experiments decides otherwise, or "
            "may.",
            ("study", "judged", "confirmed", "refuted", "undecided", "by the scale"),
            [*statements, ("*not run*", str(unspoken), "", "", "", "")],
        ),
    ]


def _compared(one: Coverage) -> tuple[str, ...]:
    return (
        one.study, f"{len(one.run)} of {one.experiments}", f"{one.measured} of {one.directional}", str(one.too_short),
        str(one.few_pairs), str(one.decided), str(one.agree),
    )  # fmt: skip


def _judged(one: Coverage) -> tuple[str, ...]:
    undecided = one.judged - one.confirmed - one.refuted
    return (
        one.study, f"{one.judged} of {one.statements}", str(one.confirmed), str(one.refuted), str(undecided),
        str(one.by_scale),
    )  # fmt: skip


def _total(every: Sequence[Coverage]) -> Coverage:
    """Of all studies together."""
    counts = (name for name in Coverage.model_fields if name not in {"study", "run", "not_run"})
    return Coverage.model_validate(
        {
            "study": "all",
            "run": [name for one in every for name in one.run],
            "not_run": [name for one in every for name in one.not_run],
            **{name: sum(getattr(one, name) for one in every) for name in counts},
        }
    )
