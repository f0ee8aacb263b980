"""The run as one self-contained HTML page: no script, no address but its own, works offline."""

from collections.abc import Sequence

from assay.model.record import Record
from assay.model.trial import Plan
from assay.record.folder import Damaged
from assay.report.phases import phase_bars
from assay.report.text import bytes_text, duration_text, ratio_text, seconds_text
from assay.stats.summary import doubts_of, summarise, varying


def page(plan: Plan, records: Sequence[Record], damaged: Sequence[Damaged]) -> str:
    """The page's HTML. Everything in it comes from the records."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("assay.report", "."), autoescape=True, undefined=StrictUndefined)
    environment.filters |= {"seconds": seconds_text, "size": bytes_text, "duration": duration_text}
    rows = summarise(records)
    return environment.get_template("page.html.j2").render(
        plan=plan,
        rows=rows,
        factors=varying(rows),
        ratio_text=ratio_text,
        bars=phase_bars(rows),
        records=records,
        missing=len(plan.trials) - len(records),
        damaged=damaged,
        doubts=[*plan.doubts, *doubts_of(records)],
        facts=_common_facts(records),
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
