"""Proves the commands from end to end: a plan on a screen and in a file, and applying it by a client of Hadoop that is made up."""

import json

import pytest
from click.testing import CliRunner

from assay.cli import cli
from assay.engine.past.made_histories import MadeJob, write_history
from assay.host.yaml_file import YamlFile
from assay.model.errors import AssayError, BadInputError

GIB = 1 << 30
DAY_MS = 86_400_000
HEAVY = MadeJob(
    name="nightly sort 20261125", user="alice", queue="etl", maps=16, reduces=4, slots=4, nodes=2, cpu=0.1,
    map_ms=60_000, reduce_ms=60_000, read_bytes=8 * GIB, map_output_bytes=8 * GIB, written_bytes=8 * GIB, spills=2,
)  # fmt: skip
FAILED = MadeJob(number=8, name="export", state="FAILED", map_output_bytes=1000 * GIB)
"""It writes more than fits, and no bound tells what drives could save of it."""
# Each file and policy of the cluster is a file below $STORE.
HADOOP = """\
#!/bin/sh
echo "$*" >>"$STORE/calls"
case "$*" in
  "fs -ls /apps/assay") exit 0 ;;
  "fs -ls "*) echo "ls: no such folder" >&2; exit 1 ;;
  "fs -test -e /data/clicks") [ ! -e "$STORE/gone" ] ;;
  "fs -test -e "*) [ -e "$STORE/jar" ] ;;
  "fs -du -s "*) wc -c <"$STORE/jar" ;;
  "fs -cat "*) cat "$STORE/jar" ;;
  "fs -mkdir "*) ;;
  "fs -put "*) cat >"$STORE/jar" ;;
  "fs -chmod a+r "*) ;;
  "fs -rm "*) rm "$STORE/jar" ;;
  *-listPolicies) echo "BlockStoragePolicy{HOT:7, x}"; echo "BlockStoragePolicy{ALL_SSD:12, x}" ;;
  *"-getStoragePolicy -path /data/clicks")
    [ ! -e "$STORE/gone" ] || { echo "File/Directory does not exist: /data/clicks" >&2; exit 2; } ;
    [ -e "$STORE/policy" ] && echo "The storage policy of x: BlockStoragePolicy{$(cat "$STORE/policy"):1, x}" ;
    [ -e "$STORE/policy" ] || echo "The storage policy of /data/clicks is unspecified" ;;
  *"-getStoragePolicy -path /data") echo "The storage policy of /data is unspecified" ;;
  *-setStoragePolicy*) echo "${6}" >"$STORE/policy" ;;
  *-unsetStoragePolicy*) rm "$STORE/policy" ;;
  *) echo "unknown: $*" >&2; exit 1 ;;
esac
"""
PLAN = "tier: ssd\njar: /apps/assay/assay-direct.jar\njobs: {}\npolicies: {/data/clicks: ALL_SSD}\n"


def run(*words):
    done = CliRunner().invoke(cli, ["direct", *map(str, words)], standalone_mode=False, catch_exceptions=False)
    assert done.return_value == 0
    return done.output


def refused(*words):
    with pytest.raises(BadInputError) as error:
        run(*words)
    return str(error.value)


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A folder `done` with a heavy job that ran in two nights, and a light one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    done = tmp_path / "done"
    done.mkdir()
    write_history(done, HEAVY)
    write_history(done, HEAVY._replace(number=2, submitted_ms=HEAVY.submitted_ms + DAY_MS))
    write_history(
        done, MadeJob(number=3, name="report", map_ms=60_000, reduce_ms=40_000, cpu=0.95, read_bytes=GIB >> 9)
    )
    return done


def plan(site, *words):
    return run("plan", "--history", site, "--drives", "1xhdd", *words)


def test_a_plan_says_which_jobs_why_and_what_is_promised_and_writes_their_properties(site, tmp_path):
    write_history(site, FAILED)
    text = plan(site, "--ssd-size", "400GB", "--tiers", "[SSD]/ssd/local,[DISK]/d1/local")
    flat = " ".join(text.split())
    assert flat.startswith("Direct 1 of 3 jobs to the SSD: they probably save ")
    assert "298.0 GiB of its 372.5 GiB may be filled." in flat
    assert "nightly sort mapreduce " in flat
    assert "Not directed: report: " in flat
    assert "A better choice may exist." in flat
    assert text.splitlines()[-1] == "plan: direct-plan.yaml"
    written = YamlFile(tmp_path / "direct-plan.yaml").tree
    assert list(written["jobs"]) == ["nightly sort"]
    assert written["jobs"]["nightly sort"]["assay.direct.local.dirs"] == "[SSD]/ssd/local,[DISK]/d1/local"


def test_a_month_that_is_extrapolated_from_one_night_is_doubted(site, tmp_path):
    assert "a month of 30 nights, extrapolated from 2 nights; " in " ".join(plan(site, "--ssd-size", "400GB").split())
    one = tmp_path / "one"
    one.mkdir()
    write_history(one, HEAVY)
    text = " ".join(plan(one, "--ssd-size", "400GB").split())
    assert "extrapolated from one night, which may be unlike others; " in text


def test_what_no_history_tells_of_is_said_to_gain_nothing(site, tmp_path):
    times = {"startedTime": HEAVY.started_ms, "finishedTime": HEAVY.finished_ms, "elapsedTime": 1}
    flink = {"id": "application_1_9", "applicationType": "Apache Flink", "vcoreSeconds": 3600, **times}
    (tmp_path / "apps.json").write_text(json.dumps({"apps": {"app": [flink]}}))
    text = " ".join(plan(site, "--ssd-size", "400GB", "--applications", "apps.json").split())
    assert (
        "Assumed: what no history tells of gains nothing: containers held a core for 1 h 00 min, of which 0 s" in text
    )


def test_where_the_ssd_holds_what_all_jobs_write_none_need_be_directed(site):
    text = " ".join(plan(site, "--ssd-size", "400GB").split())
    assert text.startswith("No job need be directed: all jobs of the histories together had at most 8.0 GiB on a node ")
    assert " else direct 1 of 2 jobs to the SSD: they probably save " in text


def test_where_a_history_lacks_data_nobody_says_that_the_ssd_holds_all(site):
    (site / "job_1_0099-1-a-x-2-0-0-SUCCEEDED-q-1.jhist").write_text("cut")
    choice = json.loads(plan(site, "--ssd-size", "400GB", "--json", "--quiet"))
    assert choice["unknown_runs"] == 1
    assert choice["all_peak_bytes"] < choice["room_bytes"]
    assert plan(site, "--ssd-size", "400GB").startswith("Direct 1 of ")


def test_a_small_ssd_holds_no_large_job(site):
    text = " ".join(plan(site, "--ssd-size", "1GB").split())
    assert text.startswith("No job is directed: ")
    assert "Not directed: nightly sort: too large: " in text


def test_a_plan_with_policies_of_somebody_is_kept(site, tmp_path):
    (tmp_path / "direct-plan.yaml").write_text(PLAN)
    with pytest.raises(BadInputError, match="is a plan with policies that somebody filled in"):
        plan(site, "--ssd-size", "400GB")
    assert (tmp_path / "direct-plan.yaml").read_text() == PLAN


def test_the_json_has_all_jobs(site):
    write_history(site, FAILED)
    choice = json.loads(plan(site, "--ssd-size", "400GB", "--json", "--quiet"))
    directed = {job["job"]: job["directed"] for job in choice["jobs"]}
    assert directed == {"nightly sort": True, "report": False, "export": False}
    assert choice["low_hours"] <= choice["likely_hours"] <= choice["high_hours"]
    assert 0 < choice["peak_bytes"] <= choice["room_bytes"] < choice["all_peak_bytes"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tiers", "/ssd"), "'/ssd' is no tagged directory"),
        (("--jar", "direct.jar"), "is no place in the cluster's file system"),
        (("--ssd", "1xhdd"), "so that no job is to be directed"),
        (("--out", "nowhere/plan.yaml"), "there is no folder nowhere"),
    ],
)
def test_bad_options_are_refused_before_a_plan_is_written(site, tmp_path, words, said):
    with pytest.raises(BadInputError) as error:
        plan(site, "--ssd-size", "400GB", *words)
    assert said in str(error.value)
    assert not (tmp_path / "direct-plan.yaml").exists()


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    """A client of Hadoop on the path; what its cluster holds is below the folder that is given."""
    monkeypatch.chdir(tmp_path)
    store, programs, root = tmp_path / "store", tmp_path / "bin", tmp_path / "checkout"
    for folder in (store, programs, root / "direct" / "target"):
        folder.mkdir(parents=True)
    (programs / "hadoop").write_text(HADOOP)
    (programs / "hadoop").chmod(0o755)
    (root / "direct" / "target" / "assay-direct.jar").write_bytes(b"classes")
    (tmp_path / "plan.yaml").write_text(PLAN)
    monkeypatch.delenv("HADOOP_HOME", raising=False)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("STORE", str(store))
    monkeypatch.setenv("ASSAY_ROOT", str(root))
    return store


def held(store):
    return {file.name: file.read_text() for file in store.iterdir() if file.name != "calls"}


def test_without_yes_it_is_only_printed(cluster, tmp_path):
    said = run("apply", "plan.yaml").splitlines()
    assert said == [
        "put the jar to /apps/assay/assay-direct.jar",
        "set the policy of /data/clicks to ALL_SSD (now unspecified, its folder's)",
        "Nothing was changed; --yes does this.",
    ]
    assert held(cluster) == {}
    assert not (tmp_path / "direct-journal.json").exists()


def test_what_was_applied_holds_until_it_is_taken_back(cluster, tmp_path):
    assert run("apply", "plan.yaml", "--yes").splitlines()[-1] == "done; journal: direct-journal.json"
    assert held(cluster) == {"jar": "classes", "policy": "ALL_SSD\n"}
    applied = ["jar /apps/assay/assay-direct.jar: as applied", "policy of /data/clicks: as applied"]
    assert run("status").splitlines() == applied
    assert set(json.loads(run("status", "--json"))["states"].values()) == {"as applied"}
    assert "says what was applied before" in refused("apply", "plan.yaml", "--yes")
    assert "would be taken back" in run("undo")
    assert held(cluster) == {"jar": "classes", "policy": "ALL_SSD\n"}
    assert run("undo", "--yes") == "taken back; the journal is removed\n"
    assert held(cluster) == {}
    assert "nothing was applied here" in refused("status")


def test_somebody_elses_change_is_left_alone(cluster):
    run("apply", "plan.yaml", "--yes")
    (cluster / "policy").write_text("HOT\n")
    assert "changed by somebody else" in run("status")
    assert "set it by hand" in refused("undo", "--yes")
    assert held(cluster) == {"jar": "classes", "policy": "HOT\n"}


def test_a_path_that_was_deleted_since_is_named_and_the_rest_is_taken_back(cluster, tmp_path):
    run("apply", "plan.yaml", "--yes")
    (cluster / "gone").touch()
    gone = "policy of /data/clicks: not there any more; a path that was moved keeps its policy"
    assert run("status").splitlines() == ["jar /apps/assay/assay-direct.jar: as applied", gone]
    assert gone in run("undo").splitlines()
    assert run("undo", "--yes").splitlines() == [gone, "taken back; the journal is removed"]
    assert not (cluster / "jar").exists()
    assert not (tmp_path / "direct-journal.json").exists()


def test_a_plan_that_is_in_place_already_leaves_no_journal(cluster, tmp_path):
    (cluster / "jar").write_text("classes")
    (cluster / "policy").write_text("ALL_SSD\n")
    assert run("apply", "plan.yaml", "--yes") == "nothing to do: all is in place already\n"
    assert not (tmp_path / "direct-journal.json").exists()


def test_a_machine_without_a_client_is_told_so(cluster, tmp_path, monkeypatch):
    (tmp_path / "bin" / "hadoop").unlink()
    assert "needs Hadoop's client" in refused("apply", "plan.yaml")


def test_a_cluster_that_is_down_is_one_sentence(cluster, tmp_path):
    (tmp_path / "bin" / "hadoop").write_text(
        "#!/bin/sh\necho 'Call From a to b failed: Connection refused' >&2\nexit 255\n"
    )
    assert "Connection refused" in refused("apply", "plan.yaml", "--yes")
    assert not (tmp_path / "direct-journal.json").exists()


def test_undo_on_a_cluster_that_is_down_keeps_the_journal(cluster, tmp_path):
    (tmp_path / "plan.yaml").write_text(PLAN.replace("{/data/clicks: ALL_SSD}", "{}"))
    run("apply", "plan.yaml", "--yes")
    (tmp_path / "bin" / "hadoop").write_text(
        "#!/bin/sh\necho 'test: Call From a to b failed: Connection refused' >&2\nexit 1\n"
    )
    with pytest.raises(AssayError, match="Connection refused"):
        run("undo", "--yes")
    assert (tmp_path / "direct-journal.json").exists()
