"""Proves on a real Hadoop that directed jobs keep their intermediate data in their tier, and end well where it fails them.

Its NodeManager has two local directories in place of its own: a small tmpfs that is tagged SSD, and a folder that is tagged
DISK. What jobs left in these is not deleted at first, so that it is looked at when they have ended; in the last tests it
is, as on any cluster. The tests share one cluster and come in this order.
"""

import os
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from assay.engine.directing import TIER_VARIABLE
from assay.engine.past.formats import FORMS
from tests.it.driving import HADOOP, ROOT, a_place, assay_command, wait_for

pytestmark = [pytest.mark.it, pytest.mark.long]

JAR = ROOT / "direct" / "target" / "assay-direct.jar"
IN_STORE = "/apps/assay/assay-direct.jar"
SSD_MIB = 512
ROWS = 500_000
"""Of 100 bytes."""
MAPS, REDUCES = 2, 2
TERASORT = {
    "mapreduce.job.maps": MAPS, "mapreduce.job.reduces": REDUCES, "mapreduce.task.io.sort.mb": 8,
    # Nothing stays in a reducer's memory: it writes what it fetches, and merges that.
    "mapreduce.reduce.shuffle.input.buffer.percent": 0.01, "mapreduce.task.io.sort.factor": 2,
    "mapreduce.map.speculative": "false", "mapreduce.reduce.speculative": "false",
}  # fmt: skip


class Tiered:
    """A cluster with two tiers, and its clients."""

    def __init__(self, place, said, tiers):
        self.place, self.tiers = place, tiers
        self.conf_dir = Path(re.search(r"^export HADOOP_CONF_DIR=(.+)$", said, re.MULTILINE)[1])
        self.hadoop_command = re.search(r"`hadoop` command: (.+)$", said, re.MULTILINE)[1]
        self._examples = str(next((HADOOP / "extras").glob("hadoop-mapreduce-examples-*.jar")))
        self.tests_jar = str(next((HADOOP / "extras").glob("hadoop-mapreduce-client-jobclient-*-tests.jar")))
        self._number = 0

    def hadoop(self, *arguments, code=0):
        return self.place.command(self.hadoop_command, *map(str, arguments), code=code)

    def assay(self, *arguments, code=0):
        """By the cluster's own client."""
        client = ["env", "-u", "HADOOP_HOME", f"PATH={Path(self.hadoop_command).parent}:{os.environ['PATH']}"]
        return self.place.command(*client, *assay_command("direct", *arguments), code=code)

    def set_up_tiers(self, kept_s=3600, health_ms=3_600_000):
        """Start the NodeManager anew with these local directories, and the executor of the jar.

        It keeps what jobs left for so long, and looks so often for disks that failed or are full.
        """
        site = self.conf_dir / "yarn-site.xml"
        ours = {
            "yarn.nodemanager.local-dirs": ",".join(map(str, self.tiers.values())),
            "yarn.nodemanager.container-executor.class": "org.assay.direct.TierExecutor",
            "yarn.nodemanager.delete.debug-delay-sec": kept_s,
            "yarn.nodemanager.disk-health-checker.interval-ms": health_ms,
            "assay.direct.local.dirs": self.tags,
        }
        text = re.sub(
            rf" *<property>\s*<name>({'|'.join(map(re.escape, ours))})</name>.*?</property>\n", "",
            site.read_text(), flags=re.DOTALL,
        )  # fmt: skip
        added = "".join(
            f"<property><name>{name}</name><value>{value}</value></property>\n" for name, value in ours.items()
        )
        site.write_text(text.replace("</configuration>", f"{added}</configuration>"))
        (old,) = self.place.processes("-Dproc_nodemanager")
        environment = dict(
            pair.split("=", 1) for pair in Path(f"/proc/{old}/environ").read_text().split("\0") if "=" in pair
        )
        os.kill(old, signal.SIGTERM)
        wait_for(lambda: not Path(f"/proc/{old}").exists() or self.place.processes("-Dproc_nodemanager") == [])
        environment |= {"HADOOP_CLASSPATH": str(JAR), "HADOOP_CLIENT_OPTS": "-Xmx256m -Dproc_nodemanager"}
        with self.log.open("wb") as output:
            process = subprocess.Popen(
                [self.hadoop_command, "org.apache.hadoop.yarn.server.nodemanager.NodeManager"], env=environment,
                cwd=self.place.home, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
        registered = "Registered with ResourceManager"
        wait_for(lambda: self.logged(registered) or process.poll() is not None)
        assert process.poll() is None, self.log.read_text(errors="replace")[-3000:]

    @property
    def log(self):
        """The NodeManager's."""
        return self.place.home / "nodemanager.log"

    def logged(self, words):
        return words in self.log.read_text(errors="replace")

    def left(self, tier):
        """What applications have in a tier now."""
        return [*self.tiers[tier].glob("usercache/*/appcache/*")]

    @property
    def tags(self):
        return ",".join(f"[{tier.upper()}]{path}" for tier, path in self.tiers.items())

    def properties(self, tier="ssd", **more):
        """As a plan has them."""
        of_plan = FORMS["mapreduce"].directing.properties(tier, IN_STORE, self.tags)
        return {**of_plan, **{f"assay.direct.{name}": value for name, value in more.items()}}

    def generic(self, properties):
        return [f"-D{name}={value}" for name, value in properties.items()]

    def sort(self, properties, then=lambda: None):
        """Sort, do what comes `then`, and check the output; the counters that the client printed, and the application's id."""
        self._number += 1
        output = f"/sorted-{self._number}"
        said = self.sort_unchecked(properties, output).stderr
        then()
        self.hadoop("jar", self._examples, "teravalidate", output, f"/checked-{self._number}")
        assert "misorder" not in self.hadoop("fs", "-cat", f"/checked-{self._number}/part-r-00000").stdout
        return Done(said, self.tiers)

    def sort_unchecked(self, properties, output, code=0):
        generic = self.generic({**TERASORT, **properties})
        return self.hadoop("jar", self._examples, "terasort", *generic, "/generated", output, code=code)

    def generate(self):
        self.hadoop("jar", self._examples, "teragen", f"-Dmapreduce.job.maps={MAPS}", ROWS, "/generated")


class Done:
    """A job that ended well: how many tasks had each outcome, and what it left in each tier."""

    def __init__(self, said, tiers):
        number = re.search(r"Running job: job_(\d+_\d+)", said)[1]
        self.outcomes = {
            name: int(count) for name, count in re.findall(r"^\t\t(DIRECTED|OVERFLOW_\w+)=(\d+)$", said, re.MULTILINE)
        }
        self.said, self._number, self._tiers = said, number, tiers

    @property
    def attempts(self):
        return {tier: sorted(folder.name[-10:] for folder in of_tier) for tier, of_tier in self._folders().items()}

    @property
    def bytes(self):
        return {
            tier: sum(file.stat().st_size for folder in of_tier for file in folder.rglob("*") if file.is_file())
            for tier, of_tier in self._folders().items()
        }

    def _folders(self):
        pattern = f"usercache/*/appcache/application_{self._number}/output/*"
        return {tier: [*path.glob(pattern)] for tier, path in self._tiers.items()}


@pytest.fixture(scope="module")
def tiered(tmp_path_factory):
    if not JAR.is_file():
        pytest.skip(f"{JAR.relative_to(ROOT)} not found; run `setup/prepare develop` first")
    if os.geteuid() != 0:
        pytest.skip("the small tier is a mount, which needs root")
    home = tmp_path_factory.mktemp("directed")
    tiers = {tier: home / "tiers" / tier / "local" for tier in ("ssd", "disk")}
    mount = tiers["ssd"].parent
    for folder in (mount, tiers["disk"]):
        folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SSD_MIB}m,mode=755", "none", str(mount)], check=True)
    try:
        tiers["ssd"].mkdir()
        with a_place(tmp_path_factory.mktemp("place")) as place:
            cluster = Tiered(place, place.assay("cluster", "up"), tiers)
            try:
                cluster.set_up_tiers()
                cluster.generate()
                yield cluster
            finally:
                place.assay("cluster", "down")
    finally:
        subprocess.run(["umount", "--lazy", str(mount)], check=True)


PLAN = """\
tier: ssd
jar: "{jar}"
jobs: {{}}
policies:
  /data/clicks: ALL_SSD
"""


def test_what_a_plan_needs_is_put_in_place_and_written_down(tiered):
    tiered.hadoop("fs", "-mkdir", "-p", "/data/clicks", str(Path(IN_STORE).parent))
    (tiered.place.home / "plan.yaml").write_text(PLAN.format(jar=IN_STORE))
    apply = ("apply", "plan.yaml", "--cluster", str(tiered.conf_dir))
    said = tiered.assay(*apply).stdout
    assert "set the policy of /data/clicks to ALL_SSD (now unspecified, its folder's)" in said
    assert "Nothing was changed" in said
    assert "policy of /data/clicks" not in tiered.assay("status", code=2).stdout
    assert "done" in tiered.assay(*apply, "--yes").stdout
    assert tiered.assay("status").stdout.splitlines() == [
        f"jar {IN_STORE}: as applied",
        "policy of /data/clicks: as applied",
    ]
    assert "take it back" in tiered.assay(*apply, "--yes", code=2).stderr


@pytest.mark.parametrize(("tier", "other"), [("ssd", "disk"), ("disk", "ssd")])
def test_all_intermediate_data_lie_in_the_tier_that_the_job_names(tiered, tier, other):
    done = tiered.sort(tiered.properties(tier, full="1.0"))
    assert done.outcomes == {"DIRECTED": MAPS + REDUCES}
    assert done.bytes[tier] > 100 * ROWS
    assert done.bytes[other] == 0
    assert done.attempts[other] == []
    assert {name[:1] for name in done.attempts[tier]} <= {"m", "r"}


def test_tasks_inside_the_application_master_are_directed_too(tiered):
    uber = {"mapreduce.job.ubertask.enable": "true", "mapreduce.job.reduces": 1}
    done = tiered.sort({**tiered.properties(full="1.0"), **uber})
    assert "running in uber mode : true" in done.said
    assert done.outcomes == {"DIRECTED": MAPS + 1}


def test_a_tier_that_is_filled_beyond_the_limit_is_left_to_others(tiered):
    done = tiered.sort(tiered.properties(full="1.0", **{"task.bytes": 2 * SSD_MIB << 20}))
    assert done.outcomes == {"OVERFLOW_FULL": MAPS + REDUCES}
    assert done.bytes["ssd"] == 0
    assert done.bytes["disk"] > 100 * ROWS


def test_a_tier_that_gets_full_while_the_job_runs_ends_attempts_and_no_job(tiered):
    filler = tiered.tiers["ssd"].parent / "filler"
    free = os.statvfs(filler.parent)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, free.f_bavail * free.f_frsize - (16 << 20))
    try:
        done = tiered.sort(tiered.properties(full="1.0", **{"task.bytes": 0}))
    finally:
        filler.unlink()
    assert done.outcomes.get("OVERFLOW_RETRIED", 0) + done.outcomes.get("OVERFLOW_MISSING", 0) > 0
    assert sum(done.outcomes.values()) == MAPS + REDUCES
    assert done.bytes["disk"] > 0


def test_a_node_whose_tags_lack_the_tier_keeps_all_directories(tiered):
    done = tiered.sort({**tiered.properties(), "assay.direct.local.dirs": "[DISK]/elsewhere"})
    assert done.outcomes == {"OVERFLOW_UNTAGGED": MAPS + REDUCES}
    assert sum(done.bytes.values()) > 100 * ROWS


def test_an_attempt_that_is_killed_is_tried_again_elsewhere(tiered):
    properties = tiered.generic(tiered.properties(full="1.0"))
    command = [
        "env", f"HADOOP_CLASSPATH={tiered.tests_jar}", tiered.hadoop_command, "org.apache.hadoop.mapreduce.SleepJob",
        *properties, "-m", "2", "-r", "1", "-mt", "20000", "-rt", "100",
    ]  # fmt: skip
    log = tiered.place.home / "sleep.log"
    with log.open("wb") as output:
        client = subprocess.Popen(
            command, env=tiered.place.environment, cwd=tiered.place.home, stdout=output, stderr=output
        )
    attempt = re.compile(rb"\battempt_\d+_\d+_m_000000_0\b")
    wait_for(lambda: matching(attempt) or client.poll() is not None)
    # The collector is made when the map begins: its log says so.
    wait_for(lambda: directed_in(tiered, "m_000000_0") or client.poll() is not None)
    for pid in matching(attempt):
        os.kill(pid, signal.SIGKILL)
    assert client.wait(timeout=300) == 0, log.read_text(errors="replace")
    done = Done(log.read_text(errors="replace"), tiered.tiers)
    assert done.outcomes == {"DIRECTED": 2, "OVERFLOW_RETRIED": 1}
    assert any("m_000000_1" in name for name in done.attempts["disk"])


def matching(command_line):
    """The Java processes of this machine with that in their command line."""
    pids = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes()
        except OSError:
            continue
        if command_line.search(words) and b"java" in words.split(b"\0", 1)[0]:
            pids.append(int(entry.parent.name))
    return pids


def directed_in(tiered, attempt):
    """Whether the log of an attempt says that it is directed."""
    logs = re.search(
        r"<name>yarn.nodemanager.log-dirs</name>\s*<value>(.+?)</value>",
        (tiered.conf_dir / "yarn-site.xml").read_text(),
    )[1]
    return any(
        attempt in text and "DIRECTED" in text
        for text in (file.read_text(errors="replace") for file in Path(logs).glob("application_*/container_*/syslog"))
    )


def test_containers_of_other_engines_are_directed_by_the_executor(tiered):
    variable = f"{TIER_VARIABLE}=ssd"
    done = tiered.sort({"mapreduce.map.env": variable, "mapreduce.reduce.env": variable})
    assert done.outcomes == {}
    assert done.bytes["disk"] == 0
    assert done.bytes["ssd"] > 100 * ROWS


def test_an_ssd_that_turns_read_only_once_the_maps_have_ended_is_left_by_the_reducer_which_still_reads_it(tiered):
    """The reducer's JVM is stopped meanwhile: its container is made, and its tier not looked at yet.

    After that the NodeManager's next look at its disks would give the SSD up, and the maps would run again.
    """
    reducer = re.compile(rb"\battempt_\d+_\d+_r_000000_0\b")
    mount = str(tiered.tiers["ssd"].parent)
    after_maps = {"mapreduce.job.reduces": 1, "mapreduce.job.reduce.slowstart.completedmaps": "1.0"}

    def make_writable():
        subprocess.run(["mount", "-o", "remount,rw", mount], check=True)

    stopped = []
    with ThreadPoolExecutor(1) as threads:
        sorting = threads.submit(tiered.sort, {**tiered.properties(full="1.0"), **after_maps}, make_writable)
        wait_for(lambda: stopped.extend(matching(reducer)) or stopped or sorting.done())
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        try:
            subprocess.run(["mount", "-o", "remount,ro", mount], check=True)
        finally:
            for pid in stopped:
                os.kill(pid, signal.SIGCONT)
        try:
            done = sorting.result()
        finally:
            make_writable()
    assert len(stopped) == 1
    assert done.outcomes == {"DIRECTED": MAPS, "OVERFLOW_READ_ONLY": 1}
    assert done.attempts == {"ssd": [f"m_00000{n}_0" for n in range(MAPS)], "disk": ["r_000000_0"]}


@pytest.fixture(scope="module")
def deleting(tiered):
    """The cluster, which now deletes what jobs leave, and looks all the time whether a disk failed.

    Until it has looked no container starts, with a fifth of a second between attempts, of which there are four.
    """
    tiered.set_up_tiers(kept_s=0, health_ms=100)
    return tiered


def first_to_spill(tiered, sorting):
    """The attempt of the first map that spills into the small tier: no map has ended by then."""
    spills = []
    pattern = "usercache/*/appcache/*/attempt_*_spill_*.out"
    wait_for(lambda: spills.extend(tiered.tiers["ssd"].glob(pattern)) or spills or sorting.done())
    if not spills:
        sorting.result()
    return spills[0].name.partition("_spill_")[0]


def test_a_task_that_is_killed_while_it_writes_runs_again_and_nothing_is_left(deleting):
    with ThreadPoolExecutor(1) as threads:
        sorting = threads.submit(deleting.sort, deleting.properties(full="1.0"))
        killed = matching(re.compile(rf"\b{first_to_spill(deleting, sorting)}\b".encode()))
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        done = sorting.result()
    assert len(killed) == 1
    assert done.outcomes == {"DIRECTED": MAPS + REDUCES - 1, "OVERFLOW_RETRIED": 1}
    wait_for(lambda: not deleting.left("ssd") and not deleting.left("disk"))


def test_a_tier_that_gets_full_while_maps_write_ends_attempts_and_no_job_and_nothing_is_left(deleting):
    filler = deleting.tiers["ssd"].parent / "filler"
    with ThreadPoolExecutor(1) as threads:
        sorting = threads.submit(deleting.sort, deleting.properties(full="1.0"))
        first_to_spill(deleting, sorting)
        try:
            # Maps write meanwhile: only who writes until nothing is free knows that nothing is.
            with filler.open("wb", buffering=0) as file, suppress(OSError):
                while file.write(bytes(1 << 20)):
                    pass
            done = sorting.result()
        finally:
            filler.unlink()
    assert done.outcomes.get("OVERFLOW_RETRIED", 0) + done.outcomes.get("OVERFLOW_MISSING", 0) > 0
    assert sum(done.outcomes.values()) == MAPS + REDUCES
    wait_for(lambda: not deleting.left("ssd") and not deleting.left("disk"))


def test_a_disk_that_fails_while_maps_write_ends_attempts_and_no_job(deleting):
    mount = str(deleting.tiers["ssd"].parent)
    with ThreadPoolExecutor(1) as threads:
        sorting = threads.submit(deleting.sort, deleting.properties(full="1.0"))
        first_to_spill(deleting, sorting)
        # Nothing below it is found any more, and nothing can be made there; what is open stays open.
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", mount], check=True)
        try:
            done = sorting.result()
            wait_for(lambda: deleting.logged("Disk(s) failed: "))
            wait_for(lambda: not deleting.left("disk"))
        finally:
            subprocess.run(["umount", "--lazy", mount], check=True)
    assert done.outcomes == {"OVERFLOW_MISSING": MAPS + REDUCES}
    # What lies on a disk that failed the next NodeManager deletes.
    deleting.set_up_tiers(kept_s=0)
    wait_for(lambda: not deleting.left("ssd"))
    assert deleting.sort(deleting.properties(full="1.0")).outcomes == {"DIRECTED": MAPS + REDUCES}


def test_what_was_applied_is_taken_back_unless_somebody_changed_it(tiered):
    policies = "org.apache.hadoop.hdfs.tools.StoragePolicyAdmin"
    tiered.hadoop(policies, "-setStoragePolicy", "-path", "/data/clicks", "-policy", "COLD")
    assert "policy of /data/clicks: changed by somebody else since" in tiered.assay("undo", "--yes", code=2).stderr
    assert "as applied" in tiered.assay("status").stdout
    tiered.hadoop(policies, "-setStoragePolicy", "-path", "/data/clicks", "-policy", "ALL_SSD")
    assert "would be taken back" in tiered.assay("undo").stdout
    assert "taken back" in tiered.assay("undo", "--yes").stdout
    said = tiered.hadoop(policies, "-getStoragePolicy", "-path", "/data/clicks").stdout
    assert "unspecified" in said
    assert tiered.hadoop("fs", "-ls", "-C", str(Path(IN_STORE).parent)).stdout.split() == []
    assert not (tiered.place.home / "direct-journal.json").exists()


def test_a_job_that_names_the_jar_after_that_is_refused_before_any_task_starts(tiered):
    said = tiered.sort_unchecked(tiered.properties(), "/never", code=255).stderr
    assert re.search(rf"File does not exist: \S*{re.escape(IN_STORE)}", said), said
    assert "Running job" not in said
