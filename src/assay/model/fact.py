"""A fact of a machine, a medium or a cluster: text for people, or a value of its type where code reads it."""

Fact = str | int | float | bool
"""The name of a number says its unit."""
Value = Fact | None
"""A cell of a CSV, empty where nothing is known."""


def fact_text(fact: Fact) -> str:
    """Say a fact to people: `yes` and `no`, and floating-point numbers with six digits at most."""
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return f"{fact:g}" if isinstance(fact, float) else str(fact)


def whole_number(fact: Fact | None) -> int | None:
    """The number that a fact is; None for none, or for a text that stands for an unknown one."""
    return fact if isinstance(fact, int) and not isinstance(fact, bool) else None
