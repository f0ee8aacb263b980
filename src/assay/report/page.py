"""The run as one self-contained HTML page: no script, no address but its own, works offline."""

from collections.abc import Sequence

from assay.model.record import Record, Status
from assay.model.trial import Plan
from assay.record.folder import Damaged
from assay.report.close import comparisons
from assay.report.closeup import MOST_TRIALS, Closeup
from assay.report.cost import MOST_CORE_PERCENT, MOST_MIB, MOST_MIB_PER_HOUR
from assay.report.joules import PARTS, PHASES
from assay.report.phases import phase_bars
from assay.report.text import bytes_text, duration_text, number_text, ratio_text, seconds_text
from assay.report.timeline import MOST_BINS
from assay.stats.summary import doubts_of, summarise, varying


def page(plan: Plan, records: Sequence[Record], damaged: Sequence[Damaged], closeups: Sequence[Closeup] = ()) -> str:
    """The page's HTML. Everything in it comes from the records; `closeups` are the trials that are drawn."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("assay.report", "."), autoescape=True, undefined=StrictUndefined)
    environment.filters |= {
        "seconds": seconds_text,
        "size": bytes_text,
        "duration": duration_text,
        "number": number_text,
    }
    rows = summarise(records)
    factors = varying(rows)
    return environment.get_template("page.html.j2").render(
        plan=plan,
        rows=rows,
        factors=factors,
        ratio_text=ratio_text,
        bars=phase_bars(rows),
        records=records,
        missing=len(plan.trials) - len(records),
        damaged=damaged,
        doubts=[*plan.doubts, *doubts_of(records)],
        facts=_common_facts(records),
        comparisons=comparisons(closeups, factors),
        shown=len(closeups),
        finished=sum(record.status is Status.FINISHED for record in records),
        most_trials=MOST_TRIALS,
        most_bins=MOST_BINS,
        energy_parts=PARTS,
        energy_phases=PHASES,
        bounds=f"{MOST_CORE_PERCENT:g} %, {MOST_MIB:g} MiB and {MOST_MIB_PER_HOUR:g} MiB per hour",
        cost_reason=next((one.reason("probe-own-cost") for one in closeups if not one.record.amounts), ""),
    )


def _common_facts(records: Sequence[Record]) -> dict[str, list[str]]:
    """Each fact with its different values over the trials."""
    facts: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.facts.items():
            values = facts.setdefault(name, [])
            if value not in values:
                values.append(value)
    return facts
