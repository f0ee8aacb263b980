"""Proves the command from end to end: one screen in the order of a decision, JSON, a patch to review, and bad input."""

import json
import re
import shlex
from html import unescape

import pytest
from click import BadParameter
from click.testing import CliRunner

from assay.advise.advice import Advice
from assay.advise.alternatives import KINDS
from assay.advise.views import change_text
from assay.cli import cli
from assay.cli.advise import of_histories
from assay.cli.context import find_installation
from assay.engine.past.made_histories import MadeJob, write_history
from assay.model.errors import BadInputError
from assay.report.words import significant_text
from assay.triage.drives import drives_of_one_kind
from tests.advise.test_saving import SITES, run_of

GIB = 1 << 30
DAY_MS = 86_400_000
HEAVY = MadeJob(
    name="nightly sort 20261125", user="alice", queue="etl", maps=16, reduces=4, slots=4, nodes=2, cpu=0.1,
    map_ms=60_000, reduce_ms=60_000, read_bytes=8 * GIB, map_output_bytes=8 * GIB, written_bytes=8 * GIB, spills=2,
)  # fmt: skip
PRICES = ("--ssd-price", "500", "--node-price", "11000", "--disk-price", "300", "--memory-price", "450")
MEMORY = ("--node-memory", "8GiB", "--container-memory", "7GiB")


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder `done` with a heavy job that ran in two nights, and a light one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.delenv("ASSAY_COMMAND", raising=False)
    done = tmp_path / "done"
    done.mkdir()
    write_history(done, HEAVY)
    write_history(done, HEAVY._replace(number=2, submitted_ms=HEAVY.submitted_ms + DAY_MS))
    write_history(
        done, MadeJob(number=3, name="report", map_ms=60_000, reduce_ms=40_000, cpu=0.95, read_bytes=GIB >> 9)
    )
    return done


def advise(*words):
    done = CliRunner().invoke(cli, ["advise", *map(str, words)], standalone_mode=False, catch_exceptions=False)
    assert done.return_value == 0
    return done.output


def as_json(*words):
    return json.loads(advise(*words, "--json"))


def test_what_no_history_tells_of_is_said_to_gain_nothing(site, tmp_path):
    held = {"startedTime": HEAVY.started_ms, "finishedTime": HEAVY.finished_ms, "elapsedTime": 1, "vcoreSeconds": 3600}
    listed = [
        {"id": HEAVY.id.replace("job", "application"), "applicationType": "MAPREDUCE", **held},
        {"id": "application_1_9", "applicationType": "Apache Flink", **held},
    ]
    (tmp_path / "apps.json").write_text(json.dumps({"apps": {"app": listed}}))
    text = " ".join(advise("--history", site, "--drives", "1xhdd", "--applications", "apps.json").split())
    assert (
        "Assumed: what no history tells of gains nothing: containers held a core for 2 h 00 min, of which 1 h 00 min "
        "are in histories (1 h 00 min of MapReduce); not read: 1 h 00 min of Apache Flink."
    ) in text
    assert "--applications apps.json" in text


def test_a_screen_says_what_to_change_first_and_whether_that_is_sure(site):
    text = advise("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES)
    lines = text.splitlines()
    assert text.startswith("Change first: ")
    assert len(lines) <= 48
    assert len(text.split()) < 1200
    flat = " ".join(text.split())
    assert ". All of the interval is above 0. " in flat
    assert "Beaten: 128.0 GiB more memory a node, by larger buffers for fewer spills." in flat
    assert "extrapolated from 2 nights" in flat
    assert "The cluster has 2 nodes, as histories name (--nodes)." in flat
    assert "as histories name" not in advise("--history", site, "--drives", "1xhdd", "--nodes", "2", *PRICES)
    assert "SSDs for local directories need " in flat
    assert "Alternatives can pay below these unit prices: " in flat
    assert re.search(r"\bWith [^.:]+, these jobs save most: nightly sort ", flat)
    assert "little or no gain, or of which nothing is known: they compute (1: report)." in flat
    assert as_json("--history", site, "--drives", "1xhdd")["no_gain"] == {"they compute": ["report"]}
    (next_line,) = [line for line in lines if line.startswith("Then: ")]
    assert shlex.split(next_line)[1:6] == ["assay", "advise", "--ssd-price", "500", "--node-price"]


def test_the_json_has_all_alternatives_and_the_threshold_of_each_by_its_price(site):
    answer = as_json("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES, "--small-ssd", "64GiB")
    rows = {row["kinds"][0]: row for row in answer["alternatives"]}
    assert {
        "sort buffer", "compression", "small pieces", "local-directories-on-ssd", "local-directories-of-some-nodes",
        "directed-jobs-on-ssd", "data-on-ssd", "one-more-disk", "more-memory", "more-nodes",
    } == rows.keys()  # fmt: skip
    assert {kind: row["price"] for kind, row in rows.items()} == {
        "sort buffer": 0, "compression": 0, "small pieces": 0, "local-directories-on-ssd": 2 * 500,
        "local-directories-of-some-nodes": 500, "directed-jobs-on-ssd": 2 * 500, "data-on-ssd": 2 * 500,
        "one-more-disk": 2 * 300, "more-memory": 2 * 450, "more-nodes": 11_000,
    }  # fmt: skip
    for row in rows.values():
        # The cluster costs 2 * 11,000: more nodes for the same money would save that share.
        share = row["price"] / (row["price"] + 2 * 11_000)
        assert row["least_hours"] == pytest.approx(share * answer["month_hours"])
    ssd = rows["local-directories-on-ssd"]
    assert answer["worth"] == pytest.approx(500 / 11_500)
    assert ssd["low_hours"] <= ssd["likely_hours"] <= ssd["high_hours"] <= ssd["most_hours"]
    low, high = ssd["flip_prices"]
    assert high / (high + 11_000) == pytest.approx(ssd["high_hours"] / answer["month_hours"])
    assert low <= high
    assert rows["more-nodes"]["verdict"] == "the measure"
    assert (answer["nodes"], answer["nights"]) == (2, 2)
    assert answer["sizes"]["peak_bytes"] > 0


def test_ssds_of_some_nodes_and_small_ones_cost_less_and_their_options_are_typed_again(site):
    words = ("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES, "--nodes", "8", "--ssd-nodes", "2")
    few = (*words, "--small-ssd", "64GiB", "--small-ssd-price", "90", "--more-nodes", "3")
    answer = as_json(*few)
    rows = {row["kinds"][0]: row for row in answer["alternatives"]}
    assert rows["local-directories-of-some-nodes"]["price"] == 2 * 500
    assert rows["local-directories-of-some-nodes"]["low_hours"] == 0
    ssd, small = rows["local-directories-on-ssd"], rows["directed-jobs-on-ssd"]
    assert small["price"] == 8 * 90
    assert answer["directed"]["jobs"] == ["nightly sort"]  # of the report an SSD saves next to nothing
    assert answer["directed"]["peak_bytes"] < 0.8 * (64 << 30)
    assert small["likely_hours"] == pytest.approx(ssd["likely_hours"])
    text = " ".join(advise(*few, "-v").split())
    assert "1 SSD of 64.0 GiB a node for 1 job " in text
    assert "For an SSD of 64.0 GiB a node (--small-ssd): nightly sort." in text
    assert "a small SSD costs" not in text
    assert "--small-ssd-price 90" in text
    assert "--ssd-nodes 2 --more-nodes 3 --small-ssd 65536MiB" in text
    assert [row["price"] for row in answer["alternatives"] if row["kinds"] == ["more-nodes"]] == [11_000, 33_000]
    assert "for these jobs alone: nightly sort" in advise(*few, "--print-change", "directed-jobs-on-ssd")
    assert "for these jobs alone: " not in advise(*few, "--print-change", "local-directories-on-ssd")
    tenth = as_json(*words)
    assert tenth["directed"]["ssd_bytes"] == pytest.approx(tenth["sizes"]["needed_bytes"] / 10)
    assert tenth["directed"]["jobs"] == []
    of_tenth = " ".join(advise(*words).split())
    assert "No job that gains fits on an SSD of " in of_tenth
    assert "a small SSD costs" not in of_tenth


def test_a_small_ssd_costs_as_much_as_another_and_may_pay_below_that(site):
    words = ("--history", site, "--drives", "1xhdd", *MEMORY, "--ssd-price", "100000", "--node-price", "11000")
    words = (*words, "--small-ssd", "64GiB")
    small = next(row for row in as_json(*words)["alternatives"] if row["kinds"] == ["directed-jobs-on-ssd"])
    assert (small["price"], small["verdict"]) == (2 * 100_000, "does not pay")
    below = significant_text(small["flip_prices"][1])
    text = " ".join(advise(*words).split())
    assert " 1 SSD in 1 node, local directories " in text
    assert "Assumed: a small SSD costs 100,000, too (--small-ssd-price)." in text
    assert re.search(rf"Alternatives can pay below .* {re.escape(below)} \({re.escape(small['name'])}[;)]", text)


def test_ssds_that_are_there_already_cost_nothing_and_save_as_much(site):
    write_history(site, MadeJob(number=8, name="export", state="FAILED", map_output_bytes=GIB))
    words = ("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES, "--small-ssd", "64GiB", "--small-ssd-price")
    owned, bought = (
        next(row for row in as_json(*words, price)["alternatives"] if row["kinds"] == ["directed-jobs-on-ssd"])
        for price in ("0", "90")
    )
    assert (owned["price"], owned["least_hours"], owned["hours_per_1000"], owned["flip_prices"]) == (0, 0, None, [])
    for hours in ("likely_hours", "low_hours", "high_hours", "most_hours"):
        assert owned[hours] == bought[hours]
    assert owned["verdict"] == "pays"
    text = " ".join(advise(*words, "0").split())
    assert "a small SSD costs" not in text
    assert "--small-ssd-price 0 " in text


def test_where_all_ssds_are_there_already_jobs_are_judged_by_the_usual_threshold(site):
    words = ("--history", site, "--drives", "1xhdd", *MEMORY, "--ssd-price", "0", "--node-price", "11000")
    answer = as_json(*words, "--small-ssd", "64GiB")
    assert answer["worth"] == 0.1
    prices = {row["kinds"][0]: row["price"] for row in answer["alternatives"]}
    assert prices["local-directories-on-ssd"] == prices["directed-jobs-on-ssd"] == 0
    assert "a small SSD costs 0, too (--small-ssd-price)" in answer["assumed"]


def test_the_move_of_inputs_takes_as_long_as_disks_read_all_copies_within_a_node(site):
    answer = as_json("--history", site, "--drives", "12xhdd", *MEMORY, *PRICES)
    move = answer["move"]
    disks = drives_of_one_kind("12xhdd", find_installation().profiles, "")
    assert move["rate"] == 12 * disks.read_rate
    job = next(of for of in move["jobs"] if of["job"] == "nightly sort")
    # Two nodes hold two copies of 8 GiB: each has all of it.
    assert job["seconds"] == pytest.approx(8 * GIB / move["rate"], rel=0.01)
    row = next(row for row in answer["alternatives"] if row["kinds"] == ["data-on-ssd"])
    saved = next(of for of in row["jobs"] if of["job"] == "nightly sort")
    assert saved["runs"] == 30
    assert job["runs"] == pytest.approx(job["seconds"] / 3600 / (saved["likely_hours"] / 30))
    assert move["nights"] == pytest.approx(move["seconds"] / 3600 / (row["likely_hours"] / 30), rel=0.01)
    words = ("--history", site, "--drives", "12xhdd", *MEMORY)
    of_move = f"SSDs for all data: moving the jobs' inputs .* a node at {move['rate'] / 1e6:.0f} MB/s, takes "
    assert row["verdict"] == "not known"
    assert re.search(of_move, " ".join(advise(*words, *PRICES).split()))
    dear = (*words, "--ssd-price", "1000000", "--node-price", "10")
    assert not re.search(of_move, " ".join(advise(*dear).split()))
    assert re.search(of_move, " ".join(advise(*dear, "-v").split()))
    assert as_json("--history", site, "--drives", "1xssd")["move"] is None


def test_paths_are_named_of_the_jobs_that_ssds_for_all_data_are_for(site):
    settings = {
        "mapreduce.input.fileinputformat.inputdir": "hdfs://nn/logs/2026-11-25,hdfs://nn/users/day=25,s3a://b/a",
        "mapreduce.output.fileoutputformat.outputdir": "/sorted/20261125",
    }
    write_history(site, HEAVY._replace(number=4, submitted_ms=HEAVY.submitted_ms + 2 * DAY_MS), settings=settings)
    words = ("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES)
    told = Advice.model_validate(as_json(*words))
    folders = {of.job: of.folders for of in told.move.jobs}
    assert folders == {"nightly sort": ("hdfs://nn/logs", "hdfs://nn/users", "/sorted"), "report": ()}
    policy = "hdfs storagepolicies -setStoragePolicy -path {} -policy ALL_SSD"
    text = " ".join(advise(*words, "-v").split())
    assert "inputs and outputs lie in nightly sort hdfs://nn/logs, hdfs://nn/users, /sorted. For each path, " in text
    assert f"`{policy.format('hdfs://nn/logs')}`, `hdfs mover -p hdfs://nn/logs`, " in text
    assert "Histories do not tell where inputs and outputs lie of report." in text
    place = next(place for place, row in enumerate(told.alternatives) if row.kinds == ("data-on-ssd",))
    patch = [*change_text(told, (), told.alternatives[place])]
    assert {f"$ {policy.format(folder)}" for folder in folders["nightly sort"]} < {*patch}
    assert "# histories do not tell where inputs and outputs lie of report" in patch
    unnamed = told.move.model_copy(update={"jobs": [of.model_copy(update={"folders": ()}) for of in told.move.jobs]})
    patch = [*change_text(told.model_copy(update={"move": unnamed}), (), told.alternatives[place])]
    assert f"$ {policy.format('/PATH')}" in patch


def test_on_nodes_with_many_drives_the_answer_is_not_known_and_names_the_job_to_measure(site):
    text = " ".join(advise("--history", site, "--drives", "12xhdd", *PRICES).split())
    assert text.startswith("Not known whether anything pays, since a node has 12 drives, ")
    assert ": measure nightly sort. " in text
    assert "? (0 to " in text


def test_what_saves_less_than_its_price_must_does_not_pay(site):
    dear = ("--ssd-price", "1000000", "--node-price", "10")
    rows = as_json("--history", site, "--drives", "1xhdd", *dear)["alternatives"]
    verdicts = {row["kinds"][0]: row["verdict"] for row in rows}
    assert verdicts["local-directories-on-ssd"] == "does not pay"
    assert verdicts["one-more-disk"] == "no price"
    light = site.parent / "light"
    light.mkdir()
    write_history(
        light, MadeJob(number=3, name="report", map_ms=60_000, reduce_ms=40_000, cpu=0.99, read_bytes=1 << 20)
    )
    all_prices = (*dear, "--disk-price", "1000000", "--memory-price", "1000000")
    headline = advise("--history", light, "--drives", "1xhdd", *all_prices).partition("\n\n")[0]
    assert headline.startswith("Nothing pays: ")
    assert "more node" not in headline


@pytest.mark.slow
def test_prices_change_what_pays_and_not_what_is_saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    saved = []
    for price in ("50", "500", "1800"):
        cluster = ("--example", "--drives", "12xhdd", "--cores", "32", "--node-price", "11000")
        answer = as_json(*cluster, "--ssd-price", price)
        saved.append({
            row["name"]: [row[of] for of in ("likely_hours", "high_hours", "most_hours", "night_most_hours")]
            for row in answer["alternatives"]
        })  # fmt: skip
        saved[-1] |= {"directed": answer["directed"]["jobs"], "no gain": answer["no_gain"]}
    assert saved[0] == saved[1] == saved[2]


def test_without_prices_hours_alone_are_compared(site):
    text = advise("--history", site, "--drives", "1xhdd", *MEMORY)
    assert " no price" in text
    assert "unit prices" not in text


def test_nodes_that_a_history_server_samples_may_be_more():
    job = run_of(SITES["counters"]).job
    assert of_histories([job], 2) == ". The cluster has 2 nodes, as histories name (--nodes)"
    assert ", and may have more: " in of_histories([job, job._replace(nodes_are_sampled=True)], 2)


def test_nights_in_which_nothing_ran_count_and_are_said(site):
    weekly = site.parent / "weekly"
    weekly.mkdir()
    for week in range(2):
        write_history(weekly, HEAVY._replace(number=week, submitted_ms=HEAVY.submitted_ms + 7 * week * DAY_MS))
    answer = as_json("--history", weekly, "--drives", "1xhdd")
    assert (answer["nights"], answer["empty_nights"]) == (8, 6)
    ran_s = (HEAVY.finished_ms - HEAVY.started_ms) / 1000
    assert answer["month_hours"] == pytest.approx(2 * ran_s / 3600 * 30 / 8)
    assert answer["running_share"] == pytest.approx(2 * ran_s / (7 * DAY_MS / 1000 + ran_s))
    text = " ".join(advise("--history", weekly, "--drives", "1xhdd").split())
    assert "extrapolated from 8 nights, in 6 of which no job ran: " in text
    assert "Jobs ran in under 1 % of the histories' time; " in text


def test_one_night_is_a_doubt(site):
    one = site.parent / "one"
    one.mkdir()
    write_history(one, HEAVY)
    assert "extrapolated from one night, which may be unlike others" in " ".join(advise("--history", one).split())


def test_a_change_is_a_patch_to_review_with_its_traps(site):
    words = ("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES, "--print-change")
    first, verdict, *lines = advise(*words).splitlines()
    assert first.startswith("# larger buffers for fewer spills: ")
    assert "nothing was changed" in first
    assert verdict == "# verdict: pays"
    assert "- mapreduce.task.io.sort.mb=100" in lines
    assert any(line.startswith("# trap: raise -Xmx ") for line in lines)


def test_a_change_of_each_kind_can_be_asked_for(site):
    write_history(site, HEAVY._replace(number=8), settings={"mapreduce.task.io.sort.mb": "100"})
    words = ("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES, "--small-ssd", "64GiB")
    rows = as_json(*words)["alternatives"]
    assert {kind for row in rows for kind in row["kinds"]} == set(KINDS)
    for kind in KINDS:
        first, _, *lines = advise(*words, "--print-change", kind).splitlines()
        assert first.startswith(f"# {next(row['name'] for row in rows if kind in row['kinds'])}: review this")
        changed = [line for line in lines if line[:2] in {"+ ", "- "}]
        assert all(re.fullmatch(r"[\w.-]+=.+", line[2:]) for line in changed)
        files = [line for line in lines if "-site.xml of " in line]
        assert len([line for line in lines if line.startswith("# undo: ")]) >= len(files)


def test_jobs_with_the_same_change_share_it(tmp_path):
    settings = {"mapreduce.map.output.compress": "false"}
    for job in (HEAVY, HEAVY._replace(number=8, name="twin")):
        write_history(tmp_path, job, settings=settings)
    lines = advise("--history", tmp_path, "--drives", "1xhdd", *PRICES, "--print-change", "compression").splitlines()
    assert len([line for line in lines if "REDUCE_SHUFFLE_BYTES" in line]) == 2
    assert len([line for line in lines if line.startswith("+ mapreduce.map.output.compress=")]) == 1


def test_a_change_that_is_none_here_is_refused_with_those_that_are(site):
    with pytest.raises(BadInputError, match="'data-on-ssd' is no alternative for these jobs; possible are sort buf"):
        advise("--history", site, "--drives", "1xssd", "--print-change", "data-on-ssd")
    with pytest.raises(BadParameter, match="'no-such-change' is not one of 'first', 'sort buffer'"):
        advise("--history", site, "--print-change", "no-such-change")


SITE = """
drives: 1xhdd
node-memory: 8GiB
container-memory: 7GiB
ssd-price: 500
node-price: 11000
disk-price: 300.00
memory-price: 450
history: [done]
"""


def test_a_file_has_what_is_not_typed(site, tmp_path):
    (tmp_path / "site.yaml").write_text(SITE)
    typed = as_json("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES)
    assert as_json("--site", "site.yaml")["alternatives"] == typed["alternatives"]
    cheap = as_json("--ssd-price", "9", "--site", "site.yaml")["alternatives"]
    assert {row["price"] for row in cheap if row["kinds"] == ["data-on-ssd"]} == {2 * 9}
    assert "--ssd-price 500 " in advise("--site", "site.yaml")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ssd-prise: 500", "site.yaml, line 2: unknown key 'ssd-prise'; did you mean 'ssd-price'"),
        ("json: true", "unknown key 'json'"), ("site: other.yaml", "unknown key 'site'"),
        ("ssd-price: EUR 500", "site.yaml, line 2: ssd-price: 'EUR 500' is no price"),
        ("ssd-price: -5", "ssd-price: '-5' is no price"), ("ssd-price: true", "ssd-price is true, and must be a single"),
        ("ssd-price: [500]", "ssd-price is a list"), ("nodes: 2.5", "nodes: '2.5' is no whole number"),
        ("nodes:", "nodes is null"), ("{ssd-price: 1, 2: 3}", "the key 2 is not text"),
    ],
)  # fmt: skip
def test_what_is_no_option_in_a_file_is_refused_with_its_line(site, tmp_path, line, message):
    (tmp_path / "site.yaml").write_text(f"# of the site\n{line}\n")
    with pytest.raises(BadInputError, match=re.escape(message)):
        advise("--history", site, "--site", "site.yaml")


def test_a_file_without_options_is_refused(site, tmp_path):
    (tmp_path / "site.yaml").write_text("500\n")
    with pytest.raises(BadInputError, match=r"site\.yaml has no options; write a line for each"):
        advise("--history", site, "--site", "site.yaml")
    with pytest.raises(BadInputError, match=r"none\.yaml"):
        advise("--history", site, "--site", "none.yaml")


@pytest.mark.parametrize("price", ["EUR 500", "500EUR", "-5", "nan", "1e3", "500,00"])
def test_prices_are_plain_numbers(site, price):
    with pytest.raises(BadParameter, match="is no price; write a plain number such as 500, or 0 for what you have"):
        advise("--history", site, "--ssd-price", price)


def test_a_node_by_whose_price_others_are_measured_is_never_free(site):
    with pytest.raises(BadParameter, match="is no price; write a plain number above 0"):
        advise("--history", site, "--node-price", "0")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--drives", "13xhdd", "--slots", "12"), "--slots 12 is less than the 13 drives that each node has"),
        (("--ssd", "1xnobodys"), "--ssd '1xnobodys' names 'nobodys', and known are "),
        (("--ssd", "1xssd,input=1xnvme"), "names several kinds of drives"),
        (("--drives", "1xnobodys"), "--drives '1xnobodys' names 'nobodys', and known are "),
        (("--nodes", "1"), "--nodes 1 is less than the 2 nodes that histories name"),
        (("--nodes", "6", "--ssd-nodes", "6"), "--ssd-nodes 6 are not some of the cluster's 6 nodes; name fewer"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(site, words, message):
    with pytest.raises(BadInputError, match=message):
        advise("--history", site, *words)


def test_histories_that_tell_of_no_bound_are_refused(site):
    killed = site.parent / "killed"
    killed.mkdir()
    write_history(killed, MadeJob(number=9, name="export", state="KILLED"))
    with pytest.raises(BadInputError, match="do not tell what a change could save of any job"):
        advise("--history", killed)


def test_where_all_bounds_are_contradicted_nothing_is_known(site):
    odd = site.parent / "odd"
    odd.mkdir()
    write_history(odd, MadeJob(maps=16, reduces=4, nodes=4, slots=4))
    text = advise("--history", odd, "--drives", "12xhdd", *PRICES)
    assert text.startswith(
        "Not known: nothing tells what a change could save of any of these jobs (something contradicts"
    )
    assert advise("--history", odd, "--drives", "12xhdd", "--print-change").startswith("# Not known: ")
    assert {row["verdict"] for row in as_json("--history", odd, "--drives", "12xhdd")["alternatives"]} == {"not known"}


@pytest.mark.slow
def test_the_example_fits_on_a_screen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text = advise("--example", *PRICES)
    assert len(text.splitlines()) <= 48
    assert len(text.split()) < 1200
    assert "  in a wider terminal, too: at most, night, h/1,000, needs\n" in text
    monkeypatch.setenv("COLUMNS", "110")
    text = advise("--example", *PRICES)
    assert re.search(r"^  alternative .*  at most +night .*  needs  ", text, re.MULTILINE)
    assert "in a wider terminal" not in text


def test_jobs_of_which_nothing_is_known_leave_open_what_would_not_pay_for_the_others(site):
    some = site.parent / "some"
    some.mkdir()
    words = ("--history", some, "--drives", "12xhdd", "--nodes", "4", "--ssd-price", "2000", "--node-price", "11000")

    def ssd():
        rows = as_json(*words)["alternatives"]
        return next(row for row in rows if row["kinds"] == ["local-directories-on-ssd"])

    write_history(
        some,
        MadeJob(number=3, name="report", map_ms=60_000, reduce_ms=40_000, cpu=0.99, read_bytes=1 << 20),
    )
    assert ssd()["verdict"] == "does not pay"
    write_history(some, MadeJob(name="odd", maps=16, reduces=4, nodes=4, slots=4))
    assert ssd()["verdict"] == "not known"


def test_the_time_of_jobs_that_always_failed_is_open_and_counts_towards_the_threshold_alike(site):
    words = ("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES)
    before = as_json(*words)
    assert before["uncounted_hours"] == 0
    write_history(site, MadeJob(number=8, name="export", state="FAILED", map_output_bytes=GIB))
    after = as_json(*words)
    added = after["uncounted_hours"]
    assert added > 0
    assert after["month_hours"] == pytest.approx(before["month_hours"] + added)
    assert after["sizes"]["written_a_day_bytes"] > before["sizes"]["written_a_day_bytes"]
    rows = [{row["kinds"][0]: row for row in answer["alternatives"]} for answer in (before, after)]
    old, new = (of["local-directories-on-ssd"] for of in rows)
    assert new["most_hours"] == pytest.approx(old["most_hours"] + added)
    assert new["least_hours"] == pytest.approx(after["month_hours"] * 500 / 11_500)
    assert f"h of jobs' time, of which {significant_text(added)} h are of jobs whose runs all failed" in " ".join(
        advise(*words).split()
    )
    # A run that failed of a job that otherwise ended well counts nowhere.
    write_history(site, HEAVY._replace(number=7, state="FAILED"))
    assert as_json(*words)["uncounted_hours"] == pytest.approx(added)


def test_runs_of_which_nothing_is_known_on_the_nights_chain_are_said(site):
    words = ("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES)
    assert "on the chain of which nothing is known" not in " ".join(advise(*words).split())
    late_ms = HEAVY.submitted_ms + DAY_MS + 20 * 60_000
    write_history(site, HEAVY._replace(number=8, name="export", state="FAILED", submitted_ms=late_ms, map_ms=9_000_000))
    assert as_json(*words)["night_unknown"] == 1
    assert "of the longest night, without 1 run on the chain of which nothing is known" in " ".join(
        advise(*words).split()
    )


def test_a_page_has_the_decision_the_table_with_beaten_ones_in_grey_jobs_sizes_and_the_flipping_price(site):
    text = advise("--history", site, "--drives", "1xhdd", *MEMORY, *PRICES, "--html", "advice.html")
    assert text.endswith("page: advice.html\n")
    html = (site.parent / "advice.html").read_text().partition("<body")[2].partition("<script")[0]
    words = " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
    assert len(words.split()) < 1200
    assert "What to change first Change first: " in words
    assert "Alternatives can pay below these unit prices: " in words
    assert "SSDs for local directories need " in words
    assert re.search(r"No job that gains fits on an SSD of [\d.]+ [GM]iB a node \(--small-ssd\)\.", words)
    assert "SSDs for all data: moving the jobs' inputs with all copies, " in words
    assert "nightly sort" in words
    grey = [line for line in html.splitlines() if 'class="number note" title="by larger buffers' in line]
    assert any("more memory a node" in line for line in grey)
    assert all(line.endswith("beaten</td></tr>") for line in grey)


@pytest.mark.parametrize(("file", "message"), [("none/x.html", "there is no folder none"), ("done", "is a folder")])
def test_a_page_that_can_t_be_written_is_refused_first(site, file, message):
    with pytest.raises(BadInputError, match=f"--html {file}.*{message}"):
        advise("--history", site / "none", "--html", file)


def test_names_are_no_markup_on_the_page(site):
    odd = site.parent / "odd"
    odd.mkdir()
    write_history(odd, HEAVY._replace(name="<script>alert(1)</script>"))
    advise("--history", odd, "--drives", "1xhdd", "--html", "odd.html")
    assert "<script>alert" not in (site.parent / "odd.html").read_text()
