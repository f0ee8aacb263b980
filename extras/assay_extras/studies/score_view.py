"""The score of the studies' comparisons in words and tables, for the terminal and for Markdown."""

from collections.abc import Sequence
from typing import NamedTuple

from assay_extras.studies.overview import Coverage, StudiesOverview
from assay_extras.studies.score import CLASS_WORDS, Agreed, Corrected, RatioError, Score
from assay_extras.studies.values import LEVEL


class ScoreTable(NamedTuple):
    """One table, and what to know of it."""

    title: str
    about: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def headline(overview: StudiesOverview) -> str:
    """What the runs show of the studies, the guesses that need no run beside it; nothing where nothing is scored."""
    score = overview.score
    if score is None:
        return ""
    runs, second_faster, no_effect = score.forecasts
    errors = [f"{error.kind} by a factor of {error.factor:.2f} ({error.null_factor:.2f})" for error in score.errors[1:]]
    return (
        f"{_experiments_run(overview)}. {runs.agree} of {runs.of} comparisons fall into the study's class "
        f'(faster, slower, no difference): {_kappa_words(runs)}. Always guessing "the second is faster" is right in '
        f'{second_faster.agree}, always "no difference" in {no_effect.agree}. Of the {score.directions} with a '
        f"published direction the runs decide {score.decided}; {runs.decided_agree} of these agree, and the first "
        f"guess is right in {second_faster.decided_agree}, so agreement in direction is no evidence by itself. Ratios "
        f'are off, in the median, for {", for ".join(errors)}; in parentheses, what "no difference" would be off.'
    )


def short_headline(overview: StudiesOverview) -> str:
    """The same in a line."""
    score = overview.score
    if score is None:
        return ""
    runs, second_faster, _ = score.forecasts
    errors = ", ".join(
        f"for {error.kind} by {error.factor:.2f} ({error.null_factor:.2f} if one guesses no difference)"
        for error in score.errors[1:]
    )
    guess = second_faster.decided_agree
    often = "more" if guess > runs.decided_agree else "less" if guess < runs.decided_agree else "as"
    return (
        f"{_experiments_run(overview)}. They decide {score.decided} comparisons; in {runs.decided_agree} "
        f"the same drive or setting is faster as in the publication. Always guessing that the second is faster would "
        f"have been right {often} often ({guess} of {score.decided}). The factor between the two is off in the median: "
        f"{errors}"
    )


def _experiments_run(overview: StudiesOverview) -> str:
    total = _total(overview.coverage)
    return f"{len(total.run)} of {total.experiments} experiments have run"


def _kappa_words(forecast: Agreed) -> str:
    interval = "" if forecast.low is None else f" ({forecast.low:.2f} to {forecast.high:.2f})"
    return f"Cohen's kappa {forecast.kappa:.2f}{interval}"


def score_tables(overview: StudiesOverview) -> list[ScoreTable]:
    """Classes, guesses, errors, corrections, coverage: those of which there is something."""
    score = overview.score
    scored = [] if score is None else [_classes(score), _forecasts(score), _errors(score), _corrections(score)]
    return [*scored, *_coverage(overview.coverage)]


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
            forecast.name, f"{forecast.agree} of {forecast.of}", f"{forecast.directions_agree} of {score.directions}",
            f"{forecast.decided_agree} of {score.decided}",
            f"{forecast.kappa:.2f}" + ("" if forecast.low is None else f" ({forecast.low:.2f} to {forecast.high:.2f})"),
        )
        for forecast in score.forecasts
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
        [_error(error) for error in score.errors],
    )


def _error(error: RatioError) -> tuple[str, ...]:
    ranks = "-" if error.spearman is None else f"{error.spearman:.2f}"
    return (error.kind, str(error.comparisons), f"{error.factor:.2f}", f"{error.null_factor:.2f}", ranks)


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
        [_correction(correction) for correction in score.corrections],
    )


def _correction(correction: Corrected) -> tuple[str, ...]:
    return (
        correction.rule,
        "own" if correction.own else "averaged",
        str(correction.decided),
        str(correction.agree),
        str(correction.ties),
    )


def _coverage(every: Sequence[Coverage]) -> list[ScoreTable]:
    """A row for each study, for all, and for what has not run: of comparisons, and of statements."""
    total = _total(every)
    names = ", ".join(f"`{name}-scaled`" for coverage in every for name in coverage.not_run)
    twice = sum(coverage.printed - coverage.directional for coverage in every)
    unspoken = total.statements - total.judged
    comparisons = [_compared(coverage) for coverage in (*every, total)]
    left = (str(total.experiments - len(total.run)), str(total.directional - total.measured))
    statements = [_judged(coverage) for coverage in (*every, total)]
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


def _compared(coverage: Coverage) -> tuple[str, ...]:
    return (
        coverage.study, f"{len(coverage.run)} of {coverage.experiments}",
        f"{coverage.measured} of {coverage.directional}", str(coverage.too_short),
        str(coverage.few_pairs), str(coverage.decided), str(coverage.agree),
    )  # fmt: skip


def _judged(coverage: Coverage) -> tuple[str, ...]:
    undecided = coverage.judged - coverage.confirmed - coverage.refuted
    return (
        coverage.study, f"{coverage.judged} of {coverage.statements}", str(coverage.confirmed), str(coverage.refuted),
        str(undecided),
        str(coverage.by_scale),
    )  # fmt: skip


def _total(every: Sequence[Coverage]) -> Coverage:
    counts = (name for name in Coverage.model_fields if name not in {"study", "run", "not_run"})
    return Coverage.model_validate(
        {
            "study": "all",
            "run": [name for coverage in every for name in coverage.run],
            "not_run": [name for coverage in every for name in coverage.not_run],
            **{name: sum(getattr(coverage, name) for coverage in every) for name in counts},
        }
    )
