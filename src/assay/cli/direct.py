"""`assay direct`: which jobs get a small SSD of each node, and what they need for that on a cluster."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from assay.advise.alternatives import INTERMEDIATE
from assay.advise.saving import MONTH_NIGHTS, nights_text
from assay.cli.console import Output
from assay.cli.context import (
    CommandGroup,
    Size,
    UserPath,
    find_installation,
    json_option,
    open_console,
    output_options,
    print_json,
)
from assay.cli.past_jobs import AskedJobs, check_target, hadoop_command, past_jobs_options, read_past_jobs
from assay.direct.applied import (
    Clients,
    Journal,
    State,
    apply_steps,
    read_journal,
    states,
    steps_of,
    undo_steps,
)
from assay.direct.choice import Choice, choose
from assay.direct.plan_file import check_jar, check_tags, plan_text, read_plan
from assay.engine.past.formats import FORMS
from assay.engine.past.job import distinct
from assay.host.files import replace_text
from assay.model.errors import AssayError, BadInputError
from assay.model.naming import bytes_text
from assay.model.trial import DEFAULT_WORTH
from assay.report.columns import Column, layout_table
from assay.report.words import print_line, print_text, significant_text
from assay.store.hadoop_fs import HadoopFs
from assay.store.storage_policies import StoragePolicies
from assay.triage.coverage import gains_nothing
from assay.triage.drives import drives_of_one_kind, drives_text
from assay.triage.ranking import bounded_runs, triage

PLAN, JOURNAL = Path("direct-plan.yaml"), Path("direct-journal.json")
JAR = "/apps/assay/assay-direct.jar"
_MOST_ROWS = 8
_PROMISE = (
    "Jobs were taken by what they save for each byte that they hold at once, or by what they save, whichever saves "
    "more; each still fitted beside the others in every moment of the histories. A better choice may exist. Where jobs "
    "are directed, what does not fit in future nights goes to the other directories."
)


@click.group(cls=CommandGroup)
def direct() -> None:
    """Plan which jobs get a small SSD of each node, and put in place on a cluster what they need for that."""


@direct.command("plan")
@past_jobs_options
@click.option("--ssd-size", type=Size(), required=True, help="The size of a node's SSDs for local directories: 400GB.")
@click.option("--ssd", default="1xssd", show_default=True, metavar="COUNTxDRIVE", help="Those SSDs.")
@click.option("--tier", default="ssd", show_default=True, metavar="TAG", help="The tag of their local directories.")
@click.option("--others", default="disk", show_default=True, metavar="TAG", help="The tag of those for other jobs.")
@click.option(
    "--tiers", metavar="TAGS",
    help="Tags of a node's local directories, such as [SSD]/ssd/local,[DISK]/d1/local; without it each node has them "
    "in /etc/assay/local-dirs.",
)  # fmt: skip
@click.option("--jar", default=JAR, show_default=True, metavar="PATH", help="Where the cluster gets the jar.")
@click.option("--out", type=UserPath(), default=PLAN, show_default=True, help="The file to write.")
@output_options
def plan(
    asked: AskedJobs, ssd_size: int, ssd: str, tier: str, others: str, tiers: str | None, jar: str, out: Path, *,
    output: Output,
) -> int:  # fmt: skip
    """Choose the jobs that get the SSD, and write the properties that direct each of them. Nothing is changed.

    They are those that save most for what they hold on a node at once, as far as they fit together.

    \b
    Example:  assay direct plan --example --ssd-size 400GB
              assay direct plan --history /history/done --drives 12xhdd --ssd-size 400GB --tiers [SSD]/ssd/l,[DISK]/d/l
    """
    tags = tiers or ""
    check_tags(tags, tier, others)
    check_jar(jar)
    check_target("--out", out)
    if out.exists() and read_plan(out).policies:
        raise BadInputError(
            f"--out {out} is a plan with policies that somebody filled in; name another file, or move that one"
        )
    drives = drives_of_one_kind(ssd, find_installation().profiles, "--ssd")
    past = read_past_jobs(asked, output.progress)
    if past.site.drives[INTERMEDIATE].profile == drives.profile:
        raise BadInputError(
            f"--drives says that local directories are on a {drives.name} already, so that no job is to be directed; "
            "say what they were on when the jobs ran"
        )
    jobs = distinct(past.jobs)
    bounded = bounded_runs(jobs, past.site)
    answer = triage(
        jobs, past.site, DEFAULT_WORTH, drives_text(past.by_role), past.histories.older, past.assumed,
        past.histories.unread, bounded,
    )  # fmt: skip
    choice = choose(jobs, answer, bounded, past.site, drives, ssd_size)
    again = " (in place of the earlier one)" if out.exists() else ""
    replace_text(out, "\n".join(plan_text(choice, tier, others, jar, tags)) + "\n")
    if output.as_json:
        print_json(choice.model_dump(mode="json"))
    print_choice(choice, answer.summary.assumed, output.results)
    for clause in gains_nothing(past.coverage(answer.summary)):
        print_text(output.results, f"Assumed: {clause}.")
    print_line(output.results, f"plan: {out}{again}")
    return 0


def headline(choice: Choice) -> str:
    """Whether any job need be directed, how many are, what that saves, and what it takes."""
    if not choice.directed:
        return "No job is directed: none of which it is known would gain by an SSD of that size in each node."
    order = any(job.unknown for job in choice.directed)
    begin = "Direct"
    if choice.holds_all:
        all_peak = bytes_text(choice.all_peak_bytes)
        begin = (
            f"No job need be directed: all jobs of the histories together had at most {all_peak} on a node at once, "
            "and the SSD has room for that. Let it be the only local directory; else direct"
        )
    return (
        f"{begin} {len(choice.directed)} of {len(choice.jobs)} jobs to the SSD: they probably save "
        f"{significant_text(choice.likely_hours)}{'?' if order else ''} h ({significant_text(choice.low_hours)} to "
        f"{significant_text(choice.high_hours)}) of their time a month, and had at most "
        f"{bytes_text(choice.peak_bytes)} on a node at once. {bytes_text(choice.room_bytes)} of its "
        f"{bytes_text(choice.ssd_bytes)} may be filled."
    )


def print_choice(choice: Choice, assumed: tuple[str, ...], console: Console) -> None:
    """One screen: what is chosen, each job with its reason, what is promised, and what nodes need."""
    print_text(console, headline(choice), "bold")
    rows = choice.jobs[: max(_MOST_ROWS, len(choice.directed))]
    saved = [
        "-" if job.likely_hours is None else f"{significant_text(job.likely_hours)}{'?' if job.unknown else ''} "
        f"({significant_text(job.low_hours)} to {significant_text(job.high_hours)})"
        for job in rows
    ]  # fmt: skip
    columns = [
        Column("job", [job.job for job in rows], name=True),
        Column("engine", [job.engine for job in rows], rank=2),
        Column("peak", [bytes_text(job.peak_bytes) for job in rows]),
        Column("saves (h)", saved),
        Column("goes to", ["SSD" if job.directed else "others" for job in rows]),
    ]
    for line in layout_table(columns, console.width):
        print_line(console, line)
    if more := len(choice.jobs) - len(rows):
        print_line(console, f"  and {more} more job{'' if more == 1 else 's'}: --json has all")
    for reason, names in _reasons(choice):
        print_text(console, f"Not directed: {names}: {reason}.")
    month = f"a month of {MONTH_NIGHTS} nights, extrapolated from {nights_text(choice.nights)}"
    print_text(console, f"Hours are of {month}; a ? marks what is good for an order alone. {_PROMISE}")
    needs = {form.directing.needs for job in choice.directed if (form := FORMS[job.engine]).directing is not None}
    for need in sorted(needs - {""}):
        print_text(console, f"Some of these jobs need {need}: see docs/how-to/direct-a-job.md.")
    for assumption in assumed[:2]:
        print_text(console, f"Assumed: {assumption}.")


def _reasons(choice: Choice) -> Iterator[tuple[str, str]]:
    """Each reason with its jobs: a few by name, most by their number."""
    jobs: dict[str, list[str]] = {}
    for job in choice.jobs:
        if not job.directed:
            jobs.setdefault(job.reason, []).append(job.job)
    for reason, names in list(jobs.items())[:6]:
        yield reason, names[0] if len(names) == 1 else f"{len(names)} jobs, such as {names[0]}"


def _cluster_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of commands that look at a cluster."""
    options = (
        click.option(
            "--cluster", type=UserPath(), metavar="CONF_DIR",
            help="The cluster's Hadoop configuration; by default the client's own, or what the journal names.",
        ),
        click.option(
            "--journal", type=UserPath(), default=JOURNAL, show_default=True, help="Where is written what was done."
        ),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


_yes = click.option("--yes", is_flag=True, help="Do it; without this it is only printed.")


def _clients(cluster: Path | None) -> Clients:
    hadoop, environment = hadoop_command(f"--cluster {cluster}" if cluster else "assay direct", cluster)
    return Clients(HadoopFs(hadoop, environment), StoragePolicies(hadoop, environment))


@direct.command("apply")
@click.argument("file", type=UserPath())
@_cluster_options
@_yes
def apply(file: Path, cluster: Path | None, journal: Path, *, yes: bool) -> int:
    """Put the jar into the cluster's file system, and set the plan's storage policies; write down what was there.

    Jobs are directed by their own properties, which the plan has and nothing here changes.

    \b
    Example:  assay direct apply direct-plan.yaml --cluster /etc/hadoop/conf
              assay direct apply direct-plan.yaml --cluster /etc/hadoop/conf --yes
    """
    planned = read_plan(file)
    if journal.exists():
        raise BadInputError(
            f"{journal} says what was applied before; take it back with `assay direct undo --journal {journal} --yes`, "
            "or name another file with --journal"
        )
    console, jar = open_console(), find_installation().root / "direct" / "target" / "assay-direct.jar"
    clients = _clients(cluster)
    steps = steps_of(planned, jar, cluster, clients)
    for line in _steps_text(steps):
        print_line(console, line)
    if not (steps.jar or steps.policies):
        print_line(console, "nothing to do: all is in place already")
    elif not yes:
        print_line(console, "Nothing was changed; --yes does this.")
    else:
        try:
            apply_steps(steps, journal, jar, clients)
        except AssayError as error:
            undo_it = f"`assay direct undo --journal {journal} --yes` takes back what was done"
            raise AssayError(f"{error}; {undo_it}") from error
        print_line(console, f"done; journal: {journal}")
    return 0


def _steps_text(steps: Journal) -> Iterator[str]:
    if steps.jar is not None:
        yield f"put the jar to {steps.jar.path}"
    for step in steps.policies:
        how = "its folder's" if step.inherited else "its own"
        yield f"set the policy of {step.path} to {step.policy} (now {step.before or 'unspecified'}, {how})"


@direct.command("undo")
@_cluster_options
@_yes
def undo(cluster: Path | None, journal: Path, *, yes: bool) -> int:
    """Take back what `apply` did, exactly; refused where somebody else has changed any of it since.

    Paths that are gone are named, and the rest is taken back.

    Jobs that still name the jar can't be submitted after that: take their properties away first.

    \b
    Example:  assay direct undo --yes
    """
    steps, console = read_journal(journal), open_console()
    clients = _clients(cluster or steps.cluster)
    if yes:
        for subject, state in undo_steps(steps, journal, clients):
            if state is State.GONE:
                print_line(console, f"{subject}: {state}")
        print_line(console, "taken back; the journal is removed")
        return 0
    for subject, state in states(steps, clients):
        print_line(console, f"{subject}: {state}{', would be taken back' if state is State.APPLIED else ''}")
    if steps.jar is not None:
        print_text(console, "Jobs that still name the jar then fail: take their properties away first.")
    print_line(console, "Nothing was changed; --yes does this.")
    return 0


@direct.command("status")
@_cluster_options
@json_option()
def status(cluster: Path | None, journal: Path, *, as_json: bool) -> int:
    """Say of each step that was applied whether it still holds.

    \b
    Example:  assay direct status
    """
    steps = read_journal(journal)
    now = states(steps, _clients(cluster or steps.cluster))
    if as_json:
        print_json({"journal": steps.model_dump(mode="json"), "states": {subject: str(of) for subject, of in now}})
        return 0
    console = open_console()
    for subject, state in now:
        print_line(console, f"{subject}: {state}")
    return 0
