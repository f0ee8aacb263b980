"""Where the table of medians says visibly another thing than an answer, why that is."""

from collections.abc import Sequence

from assay.report.answer import names_of, subject_of
from assay.report.words import change_text
from assay.stats.decision import Decision

APART, CONTRARY_APART = 0.05, 0.01
"""From which difference of two savings they differ visibly, and where one of them is less time and the other more."""


def medians_note(decisions: Sequence[Decision]) -> str:
    """Sentences on the level whose medians differ most from its answer; empty where none differs visibly."""
    worst, note = 0.0, ""
    for decision in decisions:
        for result in decision.placements[1:]:
            base = decision.placements[0]
            if not (base.median_s and result.median_s and result.saving):
                continue
            by_medians, saving = 1 - result.median_s / base.median_s, result.saving.value
            apart = abs(by_medians - saving)
            if apart > worst and apart >= (APART if by_medians * saving >= 0 else CONTRARY_APART):
                worst, names = apart, names_of(decision)
                level, other = names[result.placement], names[base.placement]
                note = (
                    "The table has medians; an answer averages the ratios of trials of one repetition. By medians "
                    f"{level} takes {change_text(by_medians)} than {other}, by its answer {change_text(saving)}"
                )
                note += f" (of {subject_of(decision, decisions)})." if len(decisions) > 1 else "."
    return note
