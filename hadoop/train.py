"""Makes the class-data archive and the formatted names of brisk starts: `python hadoop/train.py FOLDER`.

A short run of a real cluster writes down which classes its processes load; the JVM then lays these classes out in an
archive that later JVMs map into memory instead of loading, checking and linking each class again.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from assay.host.http import fetch_json
from assay.host.lease import Lease
from assay.model.cluster import EmbeddedSpec
from assay.model.errors import AssayError
from assay.model.installed import stack_of
from assay.model.layout import Layout
from assay.model.progress import Silent
from assay.model.running_cluster import RunningCluster
from assay.platform.daemon import last_words
from assay.platform.distribution import Distribution, archive_stamp, bundled, find_java, training_starts
from assay.platform.embedded import EmbeddedCluster
from assay.store.hdfs import NAMENODE

_GRACE_S = 6.0
_JOB_TIMEOUT_S = 300


def prepare(folder: Path) -> None:
    """Put `classes.jsa` and `name/` into the folder of the bundled jars, unless what is there is good.

    Raises AssayError when that can't be done.
    """
    distribution = bundled(folder, find_java(os.environ))
    if distribution.archive is not None and distribution.formatted_name is not None:
        return
    with tempfile.TemporaryDirectory(dir=folder, prefix="training-") as scratch:
        lists = Path(scratch) / "lists"
        lists.mkdir()
        names = _train(distribution, Path(scratch), lists)
        _dump(distribution, folder, merge(path.read_text() for path in sorted(lists.glob("*.lst"))), Path(scratch))
        shutil.rmtree(folder / "name", ignore_errors=True)
        shutil.copytree(names, folder / "name")


def merge(lists: Iterable[str]) -> str:
    """One class list out of several: the ids only mean something within one, and only the jars' own classes count."""
    lines = (line.partition(" id: ")[0] for text in lists for line in text.splitlines() if " source: " not in line)
    return "".join(f"{line}\n" for line in dict.fromkeys(lines) if line and not line.startswith("#"))


def _train(distribution: Distribution, scratch: Path, lists: Path) -> Path:
    """Run a cluster and some jobs that write class lists; returns the names as they were right after formatting."""
    stack = stack_of()
    layout = Layout.below(scratch, stack.roles)
    for directory in layout.paths:
        directory.mkdir()
    starts = training_starts(distribution, lists)
    cluster = EmbeddedCluster(distribution, EmbeddedSpec(), stack, scratch, os.environ, starts=starts)
    with Lease(scratch, "training") as lease:
        running = cluster.start(layout, {}, Silent(), lease)
        _jobs(distribution, running, scratch)
        names = scratch / "names"
        _run(running, scratch, (NAMENODE.main_class, f"-Ddfs.namenode.name.dir={names}", "-format", "-nonInteractive"))
        # With time to end by themselves: the lists are written out then.
        lease.release(grace_s=_GRACE_S)
    return names


def _jobs(distribution: Distribution, running: RunningCluster, scratch: Path) -> None:
    text = scratch / "words.txt"
    text.write_text("to be or not to be\n" * 1000)
    examples = next(iter(sorted((distribution.extras or scratch).glob("hadoop-mapreduce-examples-*.jar"))), None)
    if examples is None:
        raise AssayError(f"the examples' jar is not in {distribution.extras}")
    webhdfs = running.addresses["namenode"].replace("http:", "webhdfs:", 1)
    for arguments in (
        ("fs", "-put", str(text), "/words.txt"),
        ("jar", str(examples), "wordcount", "/words.txt", "/counted"),
        ("fs", "-cat", "/counted/*"),
        # As inputs are staged and outputs are read.
        ("fs", "-put", str(text), f"{webhdfs}/other.txt"),
        ("fs", "-cat", f"{webhdfs}/other.txt"),
    ):
        _run(running, scratch, arguments)
    # What the JobHistoryServer is asked after each job.
    url = running.addresses["historyserver"] + "/ws/v1/history/mapreduce/jobs"
    listed = fetch_json(url) or {}
    for job in (listed.get("jobs") or {}).get("job", []):
        for part in ("", "/counters", "/conf", "/tasks"):
            fetch_json(f"{url}/{job['id']}{part}")
        for task in (fetch_json(f"{url}/{job['id']}/tasks") or {"tasks": {"task": []}})["tasks"]["task"]:
            fetch_json(f"{url}/{job['id']}/tasks/{task['id']}/attempts")


def _run(running: RunningCluster, scratch: Path, arguments: tuple[str, ...]) -> None:
    log = scratch / "job.log"
    with log.open("wb") as output:
        done = subprocess.run(
            [str(running.hadoop), *arguments], stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
            timeout=_JOB_TIMEOUT_S, check=False,
        )  # fmt: skip
    if done.returncode != 0:
        raise AssayError(f"`hadoop {' '.join(arguments)}` failed in training: {last_words(log)}")


def _dump(distribution: Distribution, folder: Path, classes: str, scratch: Path) -> None:
    class_list, archive, log = scratch / "classes.lst", scratch / "classes.jsa", scratch / "dump.log"
    class_list.write_text(classes)
    command = [
        str(distribution.java.command), "-Xshare:dump", f"-XX:SharedClassListFile={class_list}",
        f"-XX:SharedArchiveFile={archive}", "-cp", str(distribution.pathing_jar),
    ]  # fmt: skip
    with log.open("wb") as output:
        done = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0 or not archive.is_file():
        raise AssayError(f"the JVM made no class-data archive: {last_words(log)}")
    archive.replace(folder / "classes.jsa")
    (folder / "classes.java").write_text(archive_stamp(distribution.java, folder.resolve()))


if __name__ == "__main__":
    try:
        prepare(Path(sys.argv[1]).resolve())
    except AssayError as error:
        sys.exit(str(error))
