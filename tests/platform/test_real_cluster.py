"""A real Hadoop starts, works, says what died, and leaves nothing: no process, no port, no lease."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from assay.host.lease import leases, release_stale
from assay.host.processes import MARK
from assay.model.cluster import EmbeddedSpec, ExistingSpec
from assay.model.errors import AssayError, BadInputError
from assay.model.installation import Installation
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.progress import Silent
from assay.platform import held as keeping
from assay.platform.distribution import find_distribution
from assay.platform.embedded import EmbeddedCluster
from assay.platform.existing import ExistingCluster
from tests.it.driving import PortWatch

pytestmark = pytest.mark.it

ROOT = Path(__file__).parents[2]
STOP_S = 6


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("cluster")


@pytest.fixture(scope="module")
def installation(home):
    parts = home / "parts"
    parts.mkdir()
    (parts / "hadoop").symlink_to(ROOT / ".assay" / "hadoop")
    return Installation(root=ROOT, parts=parts, jobs_jar=ROOT, cache=home, state=home / "state")


@pytest.fixture(scope="module")
def distribution(installation):
    try:
        return find_distribution(installation, os.environ)
    except BadInputError as error:
        pytest.skip(str(error))


def layout_in(directory):
    layout = Layout.below(directory, stack_of().roles)
    for path in layout.paths:
        path.mkdir(parents=True)
    return layout


def marked(state):
    """Process ids of everything that carries the mark of any lease in this state directory."""
    return [pid for lease in leases(state) for pid in lease.processes()]


def listening():
    return subprocess.run(["ss", "-ltnpH"], capture_output=True, text=True, check=True).stdout


def examples(distribution):
    (jar,) = distribution.extras.glob("hadoop-mapreduce-examples-*.jar")
    return str(jar)


def webhdfs_put(running, path, content):
    """Hadoop's two-step upload: the NameNode names a DataNode."""
    url = f"{running.addresses['namenode']}/webhdfs/v1{path}?op=CREATE&user.name=root&noredirect=true"
    with urllib.request.urlopen(urllib.request.Request(url, method="PUT")) as answer:
        location = json.load(answer)["Location"]
    with urllib.request.urlopen(urllib.request.Request(location, data=content, method="PUT")) as answer:
        assert answer.status == 201


def test_a_life_of_a_cluster(distribution, tmp_path):
    """Up; a file by WebHDFS; a marked job through the shim; its history; a death is noticed; nothing stays."""
    state = tmp_path / "state"
    layout = layout_in(tmp_path / "layout")
    cluster = EmbeddedCluster(distribution, EmbeddedSpec(), stack_of(), state, os.environ)
    with cluster.running(layout, {"mapreduce.task.io.sort.mb": "64"}, Silent()) as running:
        daemons = {daemon.role: daemon for node in running.nodes for daemon in node.daemons}
        assert len(daemons) == 5
        assert set(marked(state)) >= {daemon.pid for daemon in daemons.values()}
        webhdfs_put(running, "/in/words.txt", b"a b a\n" * 100)
        with PortWatch(lambda: marked(state), *daemons, "MRAppMaster"):
            roles, job_id = run_wordcount(running, distribution, state)
        assert {"MRAppMaster", "YarnChild"} <= roles
        counted = subprocess.run(
            [running.hadoop, "fs", "-cat", "/out/part*"], capture_output=True, text=True, check=True
        )
        assert counted.stdout.split() == ["a", "200", "b", "100"]
        check_history(running, job_id)
        check_the_existing_cluster(distribution, running, tmp_path)
        assert cluster.failure() is None
        os.kill(daemons["datanode"].pid, signal.SIGKILL)
        wait_for(lambda: cluster.failure() is not None)
        assert "the DataNode was killed by signal 9: " in cluster.failure()
        assert str(daemons["datanode"].log) in cluster.failure()
        left = marked(state)
        stopping = time.monotonic()
    assert time.monotonic() - stopping < STOP_S
    assert not [pid for pid in left if Path(f"/proc/{pid}").exists()]
    assert not [line for line in listening().splitlines() if any(f"pid={pid}," in line for pid in left)]
    assert not leases(state)


def run_wordcount(running, distribution, state):
    """The classes of the containers that carried the mark while the job ran, and the job's id."""
    command = [running.hadoop, "jar", examples(distribution), "wordcount", "/in", "/out"]
    roles = set()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as job:
        while job.poll() is None:
            for pid in marked(state):
                try:
                    line = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
                except OSError:
                    continue
                roles |= {name for name in ("MRAppMaster", "YarnChild") if name in line}
            time.sleep(0.2)
        log = job.stderr.read()
    assert job.returncode == 0, log
    return roles, next(word for word in log.split() if word.startswith("job_"))


def check_history(running, job_id):
    def found():
        with urllib.request.urlopen(f"{running.addresses['historyserver']}/ws/v1/history/mapreduce/jobs") as answer:
            return [job["id"] for job in (json.load(answer)["jobs"] or {}).get("job", [])]

    wait_for(lambda: job_id in found())


def check_the_existing_cluster(distribution, running, tmp_path):
    """The same cluster is found through its configuration, and its client works."""
    spec = ExistingSpec(conf_dir=running.conf_dir)
    existing = ExistingCluster(distribution, spec, stack_of())
    with existing.running(layout_in(tmp_path / "client"), {"mapreduce.job.reduces": "2"}, Silent()) as found:
        assert found.addresses["namenode"] == running.addresses["namenode"]
        assert found.version == distribution.version
        subprocess.run([found.hadoop, "fs", "-test", "-e", "/out/_SUCCESS"], check=True)


def wait_for(condition, patience_s=30):
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_broken_setting_is_answered_with_the_daemons_own_line(distribution, tmp_path):
    cluster = EmbeddedCluster(distribution, EmbeddedSpec(), stack_of(), tmp_path / "state", os.environ)
    broken = {"dfs.datanode.data.dir": "/proc/nowhere"}
    with (
        pytest.raises(AssayError, match=r"the DataNode ended with exit code 1: .*Too many failed volumes.*\(log: "),
        cluster.running(layout_in(tmp_path / "layout"), broken, Silent()),
    ):
        pass
    assert not leases(tmp_path / "state")


@pytest.mark.long
def test_a_killed_owners_cluster_is_found_and_released(distribution, installation, tmp_path):
    program = f"""
import os, sys
from pathlib import Path
sys.path[:0] = [{str(ROOT / "src")!r}, {str(ROOT)!r}]
from assay.platform.distribution import find_distribution
from assay.platform.embedded import EmbeddedCluster
from assay.model.cluster import EmbeddedSpec
from assay.model.installation import Installation
from assay.model.installed import stack_of
from assay.model.progress import Silent
from tests.platform.test_real_cluster import layout_in
installation = Installation.model_validate_json({installation.model_dump_json()!r})
hadoop = find_distribution(installation, os.environ)
cluster = EmbeddedCluster(hadoop, EmbeddedSpec(), stack_of(), Path({str(tmp_path)!r}), os.environ)
with cluster.running(layout_in(Path({str(tmp_path / "layout")!r})), {{}}, Silent()):
    os.kill(os.getpid(), 9)
"""
    owner = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert owner.returncode == -signal.SIGKILL, owner.stderr
    left = marked(tmp_path)
    assert len(left) == 5
    (lease,) = release_stale(tmp_path)
    assert lease.stale
    assert not [pid for pid in left if Path(f"/proc/{pid}/exe").exists()]
    assert not leases(tmp_path)


@pytest.mark.long
def test_a_kept_cluster_is_listed_and_goes_when_told(distribution, installation):
    kept = keeping.up(installation, EmbeddedSpec(), os.environ, {}, Silent())
    assert kept.state == "kept"
    assert len(kept.processes) == 5
    assert not release_stale(installation.state)
    (listed,) = keeping.status(installation.state)
    assert listed.details["conf_dir"] == kept.details["conf_dir"]
    assert MARK.encode() in Path(f"/proc/{kept.processes[0]}/environ").read_bytes()
    (gone,) = keeping.down(installation.state)
    assert gone.id == kept.id
    assert not keeping.status(installation.state)
    assert not any(directory.exists() for directory in kept.directories)
