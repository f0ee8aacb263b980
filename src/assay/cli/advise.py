"""`assay advise`: what to change first for past jobs, among drives, memory, nodes and settings, and whether it pays."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from assay.advise.advice import Advice, Site, least_share
from assay.advise.advice import advise as advise_for
from assay.advise.alternatives import Purchase
from assay.advise.sizes import DRIVE_WRITES, WARRANTY_YEARS
from assay.advise.views import change_text, page, print_advice
from assay.cli.console import Output
from assay.cli.context import BoundedNumber, Size, UserPath, WholeNumber, find_installation, output_options
from assay.cli.past_jobs import AskedJobs, PastJobs, check_target, past_jobs_options, read_past_jobs
from assay.cli.report import emit
from assay.engine.past.job import PastJob, distinct
from assay.host.files import replace_text
from assay.media.emulated.profile import find_profile
from assay.model.errors import BadInputError
from assay.model.naming import bytes_text, size_of
from assay.model.trial import DEFAULT_WORTH
from assay.plan.job_experiment import ROLES
from assay.report.words import print_line
from assay.triage.coverage import gains_nothing
from assay.triage.drives import Drives, drives_of_one_kind, drives_text
from assay.triage.following import next_commands
from assay.triage.ranking import Triage, bounded_runs, triage

_SSD, _MORE_MEMORY = "1xssd", "128GiB"


class Price(click.ParamType[float]):
    """A price as a plain number: 0 for what is there already, unless it is to be `positive`."""

    name = "price"

    def __init__(self, *, positive: bool = False) -> None:
        self._positive = positive

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Fails on anything else."""
        if isinstance(value, float):
            return value
        if not re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,4})?", str(value)) or (self._positive and not float(value)):
            how = "above 0, such as 500" if self._positive else "such as 500, or 0 for what you have"
            self.fail(f"{value!r} is no price; write a plain number {how}, all prices in the same money", param, ctx)
        return float(value)


def _price(name: str, of: str, *, positive: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    price = Price(positive=positive)
    return click.option(f"--{name}-price", type=price, metavar="NUMBER", help=f"Price of {of}, a plain number.")


@click.command()
@past_jobs_options
@_price("ssd", "one SSD")
@_price("small-ssd", "the SSD of --small-ssd (0 if you have it)")
@_price("disk", "one more disk like those of --drives")
@_price("memory", "the memory of --more-memory")
@_price("node", "one more node, with all that it costs", positive=True)
@click.option(
    "--ssd", default=_SSD, show_default=True, metavar="COUNTxDRIVE", help="SSDs for a node's local directories."
)
@click.option(
    "--ssd-nodes", type=WholeNumber(1, 100_000),
    help="How many nodes get SSDs in the alternative in which some do; else half.",
)  # fmt: skip
@click.option(
    "--small-ssd", type=Size(), help="Size of one SSD a node for few jobs alone; else a tenth of what all jobs need."
)
@click.option("--more-memory", type=Size(), default=_MORE_MEMORY, show_default=True, help="Memory to add to each node.")
@click.option(
    "--more-nodes", type=WholeNumber(1, 100_000),
    help="How many more nodes to compare, beside one more; else as many as the SSDs for local directories cost.",
)  # fmt: skip
@click.option("--slots", type=WholeNumber(1, 1000), help="How many drives a node has room for.")
@click.option("--nodes", type=WholeNumber(1, 100_000), help="Nodes of the cluster, if the histories name fewer.")
@click.option(
    "--drive-writes", type=BoundedNumber(0, 100, min_open=True),
    help=f"How often an SSD may be written whole each day for {WARRANTY_YEARS} years (DWPD); else {DRIVE_WRITES:g}.",
)  # fmt: skip
@click.option("--html", "html", type=UserPath(), metavar="FILE", help="Write a page with the advice, too.")
@click.option(
    "--print-change", is_flag=True, help="Print what comes first as a patch to review: properties, commands, traps."
)
@output_options
def advise(
    asked: AskedJobs, ssd: str, ssd_nodes: int | None, small_ssd: int | None, more_memory: int, more_nodes: int | None,
    slots: int | None, nodes: int | None, drive_writes: float | None, html: Path | None, *, print_change: bool,
    output: Output, **prices: float | None,
) -> int:  # fmt: skip
    """Say what to change first for past jobs: SSDs, a disk, memory, nodes or settings. Nothing is changed.

    Compares what each saves of the jobs' time in a month, and of the longest night, with its price.

    \b
    Example:  assay advise --example --ssd-price 500 --node-price 11000
              assay advise --history /history/done --drives 12xhdd --ssd-price 500 --node-price 11000 --sar SAR
              assay advise --history /history/done --drives 12xhdd --print-change
    """
    check_target("--html", html)
    profiles = find_installation().profiles
    purchase = Purchase(
        drives_of_one_kind(ssd, profiles, "--ssd"), more_memory, slots, ssd_nodes, small_ssd, more_nodes, **prices
    )
    past = read_past_jobs(asked, output.progress)
    jobs = distinct(past.jobs)
    site = Site(
        past.site, _nodes(jobs, nodes, ssd_nodes), purchase, _bytes(purchase.ssd, profiles),
        drive_writes or DRIVE_WRITES,
    )  # fmt: skip
    _check_slots(past, slots)
    worth, bounded = _worth(purchase), bounded_runs(jobs, past.site)
    answer = triage(
        jobs, past.site, worth, drives_text(past.by_role), past.histories.older, past.assumed, past.histories.unread,
        bounded,
    )  # fmt: skip
    if not bounded:
        raise BadInputError(
            "the histories do not tell what a change could save of any job; `assay triage` says what each of them lacks"
        )
    advice = advise_for(
        jobs,
        site,
        answer,
        bounded,
        [
            *gains_nothing(past.coverage(answer.summary)),
            *_assumed(site, profiles, "" if nodes else of_histories(jobs, site.nodes)),
            *answer.summary.assumed,
        ],
    )
    own_options = _typed({
        **prices, "ssd": None if ssd == _SSD else ssd, "slots": slots, "nodes": nodes, "drive_writes": drive_writes,
        "ssd_nodes": ssd_nodes, "more_nodes": more_nodes, "small_ssd": small_ssd and f"{small_ssd >> 20}MiB",
        "more_memory": None if more_memory == size_of(_MORE_MEMORY) else f"{more_memory >> 20}MiB",
    })  # fmt: skip
    typed = past.typed(DEFAULT_WORTH)._replace(worth=worth, asks=("advise", *own_options))
    advice = advice.model_copy(update={"next_commands": tuple(next_commands(answer, typed))})
    _show(advice, answer, output, print_change=print_change)
    if html is not None:
        replace_text(html, page(advice))
        print_line(output.progress, f"page: {html}")
    return 0


def _show(advice: Advice, answer: Triage, output: Output, *, print_change: bool) -> None:
    if print_change:
        emit(change_text(advice, answer.rows), None)
    elif output.as_json:
        emit(iter([advice.model_dump_json(indent=1)]), None)
    else:
        print_advice(advice, output.results, verbose=output.verbose)


def _typed(options: Mapping[str, float | str | None]) -> list[str]:
    """Options of this command, as they are typed again."""
    given = {f"--{name.replace('_', '-')}": value for name, value in options.items() if value is not None}
    return [
        word for option, value in given.items()
        for word in (option, value if isinstance(value, str) else f"{value:.12g}")
    ]  # fmt: skip


def _worth(purchase: Purchase) -> float:
    """The share of a job's time that SSDs for local directories must save; the usual one where no price tells it."""
    if not purchase.ssd_price or purchase.node_price is None:
        return DEFAULT_WORTH
    return least_share(purchase.ssd.number * purchase.ssd_price, purchase.node_price)


def _nodes(jobs: Sequence[PastJob], said: int | None, with_ssds: int | None) -> int:
    """The nodes of the cluster. Raises BadInputError where histories name more than options do, or all get SSDs."""
    of_histories = len({node for job in jobs for node in job.nodes})
    if said is not None and said < of_histories:
        raise BadInputError(f"--nodes {said} is less than the {of_histories} nodes that histories name; count them all")
    if not said and not of_histories:
        raise BadInputError("the histories name no nodes; say with --nodes how many the cluster has")
    number = said or of_histories
    if with_ssds and with_ssds >= number:
        raise BadInputError(f"--ssd-nodes {with_ssds} are not some of the cluster's {number} nodes; name fewer")
    return number


def of_histories(jobs: Sequence[PastJob], nodes: int) -> str:
    """How many nodes the cluster is taken to have, where no option says it."""
    sampled = any(job.nodes_are_sampled for job in jobs)
    more = ", and may have more: of large jobs a history server told the nodes of a few tasks alone"
    return f". The cluster has {nodes} nodes, as histories name (--nodes){more if sampled else ''}"


def _check_slots(past: PastJobs, slots: int | None) -> None:
    """Raises BadInputError where a node has more drives than slots."""
    installed = sum(drives.number for drives in set(past.by_role.values()))
    if slots is not None and slots < installed:
        raise BadInputError(
            f"--slots {slots} is less than the {installed} drives that each node has ({drives_text(past.by_role)}); "
            "count all slots, those with drives too"
        )


def _bytes(drives: Drives, profiles: Path) -> float:
    """The size of one of them, in bytes."""
    return find_profile(drives.profile, profiles).values.get("capacity_bytes", 0.0)


def _assumed(site: Site, profiles: Path, of_nodes: str) -> Iterator[str]:
    """What advice takes for granted, with a sentence on the number of nodes."""
    ssd, disk = site.purchase.ssd, site.drives.drives[ROLES[0]]
    number = max(ssd.number, disk.number)
    all_disks = bytes_text(disk.number * _bytes(disk, profiles))
    yield (
        f"an SSD is a {ssd.name} (--ssd). SSDs for all data hold "
        f"{bytes_text(number * site.ssd_bytes)} a node, today's drives {all_disks}{of_nodes}"
    )
