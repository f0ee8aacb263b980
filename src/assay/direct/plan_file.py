"""The plan as a file to review: by job the properties with which it goes to the tier, and policies of paths.

A scheduler reads it as YAML and gives a job the properties that stand under its name.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from pydantic import Field

from assay.direct.choice import Choice, ChosenJob
from assay.engine.past.formats import FORMS
from assay.host.yaml_file import YamlFile
from assay.model.base import Frozen
from assay.model.errors import BadInputError
from assay.model.naming import bytes_text
from assay.report.words import significant_text

_TAGGED = re.compile(r"\[([A-Za-z0-9_]+)\](/[^,\[\]\s]*)")
_TIER = re.compile(r"[A-Za-z0-9_]+")
_NAMES = (
    "# Names are those of recurring jobs, as triage has them, and not those of runs: they lack dates, times of day,",
    "# ids, numbers of six digits or more, and what counts runs. `nightly sort 20261125` is `nightly sort`. Texts of",
    "# queries lack literals; where names alone do not tell jobs apart, the user follows: `name (user)`. So put the",
    "# properties where your scheduler defines the job; do not look names of runs up here.",
)
"""How jobs' names in the file are to be matched (`triage.names`)."""


class PlanFile(Frozen):
    """What a plan's file says. `jar` is where the cluster's file system has, or gets, the jar `assay-direct`."""

    tier: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
    jar: str
    jobs: Mapping[str, Mapping[str, str]]
    others: Mapping[str, Mapping[str, str]] = {}
    """By engine, what all other jobs need so that they leave the tier to those."""
    policies: Mapping[str, str] = {}
    """Storage policies by path, to be filled in by hand."""


def check_tags(tags: str, tier: str, others: str) -> None:
    """Raises BadInputError for tags that a node could not read, or that lack the tier or that of other jobs."""
    for option, tag in (("--tier", tier), ("--others", others)):
        if not _TIER.fullmatch(tag):
            raise BadInputError(f"{option} {tag!r} is no tag; write letters and digits alone, such as ssd")
    if tier.lower() == others.lower():
        raise BadInputError(f"--tier and --others are both {tier}: then all jobs would go there; name two tags")
    named: dict[str, str] = {}
    for entry in tags.split(",") if tags else ():
        match = _TAGGED.fullmatch(entry.strip())
        if match is None:
            raise BadInputError(
                f"--tiers: {entry.strip()!r} is no tagged directory; write them as [SSD]/ssd/local,[DISK]/d1/local, "
                "spelled as the nodes' own configuration spells them"
            )
        if match[2] in named:
            raise BadInputError(f"--tiers names {match[2]} twice; leave one out")
        named[match[2]] = match[1].lower()
    for option, tag in (("--tier", tier), ("--others", others)) if tags else ():
        if tag.lower() not in named.values():
            raise BadInputError(f"--tiers tags no directory with [{tag.upper()}], which {option} names")


def check_jar(jar: str) -> None:
    """Raises BadInputError for a place that no cluster's file system could have."""
    if not re.fullmatch(r"([a-z][a-z0-9]*:(//[^/#]*)?)?/[^#,\s]*[^/#,\s]\.jar", jar):
        raise BadInputError(
            f"--jar {jar!r} is no place in the cluster's file system; write an absolute path that ends in .jar, such "
            "as /apps/assay/assay-direct.jar"
        )


def plan_text(choice: Choice, tier: str, others: str, jar: str, tags: str = "") -> Iterator[str]:
    """The lines of the file; jobs that are not chosen go to the tier `others`."""
    yield "# Written by `assay direct plan`: review it. `assay direct apply` puts the jar into the cluster's file"
    yield "# system and sets the policies. Give each job the properties below its name, or have a scheduler do so."
    listings = [form.directing.listing for form in FORMS.values() if form.directing and form.directing.listing]
    yield f"# A job that sets {' or '.join(listings)} itself names both: ITS_OWN,VALUE."
    yield from _NAMES
    yield f"tier: {_quoted(tier)}"
    yield f"jar: {_quoted(jar)}"
    yield "jobs:" if choice.directed else "jobs: {}"
    for job in choice.directed:
        yield f"  {_quoted(job.job)}:"
        yield f"    # {_why(job)}"
        yield from _directing_text(job.engine, tier, jar, tags)
    yield "# All other jobs, by engine: set this in the cluster's configuration, so that they leave the SSD to those."
    yield "others:"
    for engine in FORMS:
        yield f"  {_quoted(engine)}:"
        yield from _directing_text(engine, others, jar, tags)
    yield "# Policies of paths whose files go to SSDs, such as /data/clicks: ALL_SSD. `assay advise -v` may name paths."
    yield "policies: {}"


def _directing_text(engine: str, tier: str, jar: str, tags: str) -> Iterator[str]:
    directing = FORMS[engine].directing
    if directing is None:
        yield "    {}"
        return
    if directing.needs:
        yield f"    # needs {directing.needs}"
    yield from (f"    {name}: {_quoted(value)}" for name, value in directing.properties(tier, jar, tags).items())


def _why(job: ChosenJob) -> str:
    mark = "?" if job.unknown else ""
    return (
        f"{FORMS[job.engine].noun}: probably saves {significant_text(job.likely_hours)}{mark} h "
        f"({significant_text(job.low_hours)} to {significant_text(job.high_hours)}) a month, has "
        f"{bytes_text(job.peak_bytes)} on a node at its peak"
    )


def _quoted(text: str) -> str:
    """JSON's texts are YAML's."""
    return json.dumps(text, ensure_ascii=False)


def read_plan(file: Path) -> PlanFile:
    """The content of such a file. Raises BadInputError with all mistakes and their lines."""
    source = YamlFile(file)
    if not isinstance(source.tree, dict):
        raise BadInputError(f"{file} is no plan; write one with `assay direct plan --out {file}`")
    plan = source.validated(PlanFile)
    for path in plan.policies:
        if not path.startswith("/"):
            raise BadInputError(f"{file}: policies name {path!r}; write absolute paths, such as /data/clicks")
        above = [other for other in plan.policies if path.startswith(f"{other.rstrip('/')}/") and path != other]
        if above:
            raise BadInputError(
                f"{file}: policies name {path} and {above[0]}, in which it lies: `undo` could not tell whose policy it "
                "has; leave one of the two out"
            )
    check_jar(plan.jar)
    return plan
