"""Predicted trials in words: what each form of a report says of times that nobody measured."""

from collections.abc import Mapping, Sequence

from assay.model.trial_summary import TrialSummary
from assay.report.answer import AnswerLine, interval_text
from assay.report.words import change_text, seconds_text, shown_level, whole_seconds_text
from assay.stats.changes import CHANGE
from assay.stats.decision import Decision
from assay.stats.predicted import PredictedLevel
from assay.stats.sample import MACHINE, PLACEMENT
from assay.stats.summary import Row

NOTE = (
    "Predicted times were not measured: a predictor gives each with its 95 % interval. They are compared with measured "
    "times, and count in no verdict, noise or interval of these"
)


def predicted_words(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """A sentence without its full stop for each predicted row; `names` are the factors that tell rows apart."""
    sentences = []
    for row in rows:
        if row.elapsed is not None and row.elapsed.interval is not None and row.predictor:
            shown = [(name, level) for name, level in row.group if name in names and name != MACHINE and level]
            levels = [shown_level(name, str(level)) for name, level in shown]
            on = ", ".join([row.group.workload, *levels, row.placement])
            low, high = seconds_text(row.elapsed.interval.low), seconds_text(row.elapsed.interval.high)
            time = f"{seconds_text(row.elapsed.value)} s ({low} to {high})"
            against = ""
            if row.predicted is not None:
                ratio = row.predicted.interval
                within = f" ({ratio.low:.2f} to {ratio.high:.2f})" if ratio else ""
                against = f", {row.predicted.ratio:.2f} times as long as {row.predicted.base}{within}"
            sentences.append(f"predicted by {row.predictor}: {on}: {time}{against}; {row.basis}")
    return sentences


def predicted_lines(decision: Decision, predicted: Sequence[PredictedLevel]) -> list[AnswerLine]:
    """Lines of an answer that stand below those of what ran."""
    lines = []
    before = {PLACEMENT: "On", CHANGE: "With"}.get(decision.factor, f"With {decision.factor}")
    for foretold in predicted:
        label = f"{before} {foretold.level}, predicted"
        low, high = seconds_text(foretold.elapsed_s.low), seconds_text(foretold.elapsed_s.high)
        words = f"by {foretold.predictor}, {low} to {high} s"
        if foretold.measured_s is not None:
            words += f", measured {seconds_text(foretold.measured_s)} s"
        if (saving := foretold.saving) is not None:
            words += f": {change_text(saving.value)} (95 % interval {interval_text(saving)})"
        verdict = ": ".join(filter(None, (foretold.verdict, foretold.reason)))
        surer = f"to be surer: {foretold.surer}" if foretold.surer and foretold.measured_s is None else ""
        time = whole_seconds_text(foretold.elapsed_s.value)
        sentence = "; ".join(filter(None, (words, verdict, foretold.basis, surer)))
        lines.append(AnswerLine(label, label, time, sentence, predicted=True))
    return lines


def prediction_values(summary: TrialSummary) -> dict[str, str | float | Mapping[str, str] | None]:
    """A predicted trial as JSON holds it."""
    return {
        "id": summary.id, "predictor": summary.predictor, "like": summary.trial.id, "levels": summary.levels,
        "elapsed_s": summary.elapsed_s, "low_s": summary.low_s, "high_s": summary.high_s, "basis": summary.basis,
        "verdict": summary.verdict, "reason": summary.reason, "surer": summary.surer, "factors": summary.factors,
    }  # fmt: skip
