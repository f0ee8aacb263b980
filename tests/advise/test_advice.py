"""Proves which alternative comes first, which pays by its price, how large SSDs must be, and what is printed of a change."""

import pytest

from assay.advise.advice import Comparison, Payback, Site, advise, beaten_by, first_of, least_share
from assay.advise.alternatives import Directed, Purchase, alternatives
from assay.advise.mover import move_of
from assay.advise.sizes import sizes
from assay.advise.views import sentences
from assay.cli.context import find_installation
from assay.engine.past.job import Work
from assay.model.registry import SERVICES
from assay.triage.drives import drives_by_role
from assay.triage.likely import Likely
from assay.triage.ranking import DriveSite, triage
from tests.advise.test_saving import BUY, DISKS, PERFECT, SITES, run_of

GB = 10**9
HOUR = 3_600_000


def row(name, price=None, likely=None, verdict=Payback.NOT_KNOWN, most=10.0, **more):
    return Comparison(**{
        "name": name, "kinds": (name,), "price": price, "likely_hours": likely, "low_hours": 0.0, "high_hours": most,
        "most_hours": most, "unknown": "", "night_likely_hours": None, "night_most_hours": 0.0,
        "hours_per_1000": 1000 * likely / price if price and likely is not None else None, "least_hours": None,
        "verdict": verdict, "beaten_by": "", "flip_prices": (), "jobs": (), **more,
    })  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        ([row("a", 1000, 5, Payback.PAYS), row("b", 100, 4, Payback.PAYS), row("c", 0)], "b"),
        ([row("a", 1000, 5, Payback.PAYS), row("c", 0, 1, Payback.PAYS)], "c"),
        ([row("a", 1000, 5), row("c", 0, 1)], "c"),
        ([row("a", 0, 5), row("c", 0, 1)], "a"),
        ([row("a", 1000, 5), row("b", 100, 4), row("c", 0, 9, beaten_by="d")], "b"),
        ([row("a", 1000, 5), row("b", 100, 4, unknown="nobody measured it")], "a"),
        ([row("a", None, 5, Payback.NO_PRICE), row("b", None, 6, Payback.NO_PRICE)], "b"),
        ([row("a", None, None, most=5), row("b", None, None, most=6)], "b"),
        ([row("a", 6000, 40, Payback.PAYS), row("b", 72_000, 41, Payback.PAYS), row("c", None, 9, Payback.NO_PRICE)], "a"),
        ([row("a", 6000, 40), row("b", 72_000, 41), row("c", None, 9, Payback.NO_PRICE)], "a"),
        ([row("a", 6000, 40), row("b", 72_000, 41), row("c", None, 50, Payback.NO_PRICE)], "c"),
    ],
)  # fmt: skip
def test_what_pays_comes_first_by_its_hours_for_money_then_what_costs_nothing_to_try(rows, first):
    assert rows[first_of(rows)].name == first


@pytest.mark.parametrize(
    ("cheap", "beats"),
    [
        (row("cheap", 10, 5), True), (row("cheap", 10, 5, Payback.NO_ROOM), False),
        (row("cheap", 10, 0, Payback.DOES_NOT_PAY, most=0.0), False), (row("cheap", 200, 5), False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("likely", [0, 4])
def test_what_has_no_room_or_does_not_pay_beats_nothing(cheap, beats, likely):
    assert beaten_by(row("dear", 100, likely), [cheap]) == ("cheap" if beats else "")


def test_nothing_is_first_where_nothing_pays():
    closed = (Payback.DOES_NOT_PAY, Payback.MEASURE, Payback.NO_ROOM)
    assert first_of([row(str(verdict), 1000, 5, verdict) for verdict in closed]) is None


def test_an_alternative_must_save_what_as_many_more_nodes_for_the_same_money_would():
    share = least_share(500, 11_000)
    # Of 22 nodes, one more for the price of 22 SSDs: 22 / 23 of the time are left.
    assert share == pytest.approx(1 - 22 / 23)


def advice_of(run, drives, nodes, ssd_price):
    """The advice on SSDs without delay, where a node costs 11,000 and this is the only run."""
    site, purchase = DriveSite(drives), Purchase(PERFECT, 1, ssd_price=ssd_price, node_price=11_000.0)
    answer = triage([run.job], site, 0.1, "", 0, (), bounded=[run])
    return advise([run.job], Site(site, nodes, purchase, 1e12, 1.0), answer, [run], ())


def all_data_on_ssds(run, drives, nodes, ssd_price):
    """What is said of SSDs for all data."""
    rows = advice_of(run, drives, nodes, ssd_price).alternatives
    return next(row for row in rows if row.kinds == ("data-on-ssd",))


def run_that_saves(drives, low, high, unlike=""):
    """A run of which drives without delay save these shares of its time, with its waits between polls."""
    run = run_of(DriveSite(drives))
    low_s, high_s = low * run.job.ran_s, high * run.job.ran_s - run.job.polls_s
    likely = Likely((low_s + high_s) / 2, low_s, high_s, "counters", unlike)
    return run._replace(bound=run.bound._replace(seconds=high_s), likely=likely)


def test_prices_flip_where_more_nodes_for_the_same_money_save_as_much_as_the_ends_of_the_interval():
    # A tenth more nodes save 1/11 of the time, a quarter more 1/5: 1,100 and 2,750 a node, which has two SSDs.
    run = run_that_saves(DISKS, 1 / 11, 1 / 5)
    assert all_data_on_ssds(run, DISKS, 2, 500.0).flip_prices == pytest.approx((550, 1375))
    verdicts = {price: all_data_on_ssds(run, DISKS, 2, price).verdict for price in (549.0, 551.0, 1374.0, 1376.0)}
    assert [*verdicts.values()] == [Payback.PAYS, Payback.NOT_KNOWN, Payback.NOT_KNOWN, Payback.DOES_NOT_PAY]
    both_prices = "1,400 (2 SSDs a node for all data; pays below 550)"
    assert any(both_prices in sentence for sentence in sentences(advice_of(run, DISKS, 2, 500.0)))


def test_what_may_save_nothing_is_never_sure_to_pay_and_cannot_pay_above_one_price():
    # Of 12 nodes, 6 more save a third of the time: 66,000 for 144 SSDs.
    disks = drives_by_role("12xhdd", find_installation().profiles)
    run = run_that_saves(disks, 0, 1 / 3, "nobody measured it")
    assert all_data_on_ssds(run, disks, 12, 500.0).flip_prices == pytest.approx((0, 66_000 / 144))
    only_price = " 460 (12 SSDs a node for all data)"
    assert any(only_price in sentence for sentence in sentences(advice_of(run, disks, 12, 500.0)))
    verdicts = {price: all_data_on_ssds(run, disks, 12, price).verdict for price in (1.0, 458.0, 459.0)}
    assert [*verdicts.values()] == [Payback.NOT_KNOWN, Payback.NOT_KNOWN, Payback.DOES_NOT_PAY]


def job_at(begins, hours, peak, nodes=("a",), written=0):
    job = run_of(SITES["counters"]).job
    stage = job.stages[0]._replace(busiest=Work(map_output_on_disk=peak, local_written=written))
    return job._replace(
        started_ms=1 + begins * HOUR, finished_ms=1 + (begins + hours) * HOUR, nodes=nodes, stages=(stage,)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("jobs", "peak"),
    [
        ([job_at(0, 2, 3 * GB), job_at(1, 2, 4 * GB)], 7),
        ([job_at(0, 1, 3 * GB), job_at(1, 2, 4 * GB)], 4),
        ([job_at(0, 2, 3 * GB), job_at(1, 2, 4 * GB, ("b",))], 4),
        ([job_at(0, 2, 3 * GB, ("a", "b")), job_at(1, 2, 4 * GB, ("b",)), job_at(1, 1, 1 * GB)], 7),
        ([job_at(0, 2, 3 * GB), job_at(1, 2, 4 * GB, ())], 7),
        ([job_at(0, 2, 3 * GB, ())], 3),
    ],
)  # fmt: skip
def test_local_directories_hold_what_all_jobs_at_once_have_on_a_node(jobs, peak):
    known = sizes(jobs, 1, BUY.ssd, 100 * GB, 1.0)
    assert known.peak_bytes == peak * GB
    assert known.needed_bytes == pytest.approx(peak * GB / 0.8)


def test_an_ssd_lasts_as_long_as_its_drive_writes_of_five_years():
    known = sizes([job_at(0, 1, GB, written=20 * GB)] * 2, 2, BUY.ssd._replace(number=2), 100 * GB, 3.0)
    assert known.written_a_day_bytes == 20 * GB
    assert known.years == pytest.approx(3 * 5 * 200 / 20)
    assert sizes([job_at(0, 1, GB)], 1, BUY.ssd, 100 * GB, 1.0).years is None


def test_ssds_that_write_more_slowly_than_disks_read_decide_how_long_a_move_takes():
    disk, slow = DISKS["input"], BUY.ssd._replace(number=2, write_rate=1e6)
    assert move_of([], [], 2, disk, slow).rate == 2e6
    assert move_of([], [], 2, disk, slow._replace(write_rate=1e12)).rate == 2 * disk.read_rate


def test_a_service_says_how_each_alternative_is_made_that_counters_do_not_suggest():
    site = DriveSite(drives_by_role("2xhdd", find_installation().profiles))
    for alternative in alternatives(site, 2, Purchase(BUY.ssd, 1), Directed(["sort"], 1.0)):
        lines = [
            line
            for service in SERVICES.values()
            for kind in alternative.kinds
            for line in service.changes.get(kind, ())
        ]
        assert bool(lines) == (alternative.price != 0)
        assert all(line[:2] in {"# ", "+ ", "- ", "$ "} for line in lines)
        assert not lines or alternative.kinds == ("more-nodes",) or any("trap: " in line for line in lines)


def change_lines(kind):
    return [line for service in SERVICES.values() for line in service.changes.get(kind, ())]


@pytest.mark.parametrize(
    ("kind", "trap"),
    [
        ("local-directories-on-ssd", "with directories on disks and SSDs tasks use all in turn, whatever their speed"),
        ("directed-jobs-on-ssd", "tasks of all jobs use all directories in turn, whatever their speed"),
        ("directed-jobs-on-ssd", "Spark takes a directory by a file's name, also a full one"),
        ("data-on-ssd", "removed on all nodes at once, blocks are gone"),
        ("data-on-ssd", "a directory without [SSD] before it counts as DISK"),
        ("data-on-ssd", "with ONE_SSD clients read the nearest copy, also from DISK"),
        ("data-on-ssd", "any by chance, unless dfs.namenode.read.considerStorageType is true, which excludes"),
        ("data-on-ssd", "without room on SSDs ALL_SSD falls back to DISK silently"),
        ("data-on-ssd", "from node to node the mover moves 100 MB/s a DataNode at most"),
    ],
)  # fmt: skip
def test_a_change_names_its_traps(kind, trap):
    traps = "\n".join(change_lines(kind)).replace("\n#   ", " ").splitlines()
    assert any(line.startswith("# trap: ") and trap in line for line in traps)


def test_blocks_have_their_old_directory_until_they_have_moved():
    lines = change_lines("data-on-ssd")
    before, after = (next(line for line in lines if line.startswith(sign)) for sign in "-+")
    assert before.partition("=")[2] in after
    assert [line.split()[2] for line in lines if line.startswith("$ ")] == ["storagepolicies", "mover", "fsck"]


def test_the_disk_balancers_plan_is_executed():
    commands = [line for line in change_lines("one-more-disk") if line.startswith("$ ")]
    assert [line.split()[3] for line in commands] == ["-plan", "-execute"]
