"""An engine that counts: a daemon on each worker scans what the store has there, the client merges and writes."""

import json
import re
import sys
import time
from collections import Counter
from http.client import HTTPConnection
from urllib.parse import quote

from assay.model.engine import EngineKind, History, LaunchReport, StageKind, TaskFigure
from assay.model.engine import JobReference as Reference
from assay.model.errors import AssayError
from assay.model.quantity import ByteCount, MomentMs
from assay.model.record import JobRecord, Stage
from assay.model.registry import ENGINES, SERVICES, VARIANTS
from assay.model.running_cluster import LAUNCHER
from assay.model.service import DaemonKind, Service
from assay.model.task import TaskAttempt, TaskHistory, TaskPhases
from assay.model.workload import Variant

ADDRESS = "scanner.address"
SCANNER = """
import json, sys
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

settings = json.loads(Path(sys.argv[1]).read_text())

class Scanner(BaseHTTPRequestHandler):
    def do_GET(self):
        # Which values the shard beside it has first copies of, whose keys begin with the path of a location (values:/x).
        shard = HTTPConnection(settings["shard"])
        shard.request("GET", self.path.partition(":")[2] + "*")
        keys = [key for key in json.loads(shard.getresponse().read()) if "#" not in key]
        body = json.dumps({"shard": settings["shard"], "keys": keys}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

host, _, port = settings["address"].rpartition(":")
server = ThreadingHTTPServer((host, int(port)), Scanner)
print("scanner listens on", settings["address"], flush=True)
server.serve_forever()
"""
TASK = """
import json, sys, time
from collections import Counter
from http.client import HTTPConnection
from urllib.parse import quote

def ask(path):
    connection = HTTPConnection(sys.argv[1])
    connection.request("GET", path)
    return connection.getresponse().read()

def ends(lines):
    # How many edges have each vertex; one alone on its line has none.
    counts = Counter(end for line in lines if b"\\t" in line for end in line.decode().split("\\t"))
    return {line.decode(): 0 for line in lines if b"\\t" not in line} | counts

reads_s = time.time()
values = [ask(quote(key)) for key in json.loads(sys.argv[2])]
lines = [line for value in values for line in value.splitlines()]
counted = ends(lines) if sys.argv[3] == "degrees" else {"lines": len(lines)}
print(json.dumps({"counted": counted, "bytes": sum(map(len, values)), "reads_s": reads_s}))
"""


def fold_lines(counted):
    """One number for all lines."""
    return [b"%d\n" % counted["lines"]], {"answer": counted["lines"]}


def fold_degrees(counted):
    """How many vertices have each degree."""
    histogram = Counter(counted.values())
    result = {"vertices": len(counted), "edges": sum(counted.values()) // 2, "degrees": len(histogram)}
    return [b"%d\t%d\n" % pair for pair in sorted(histogram.items())], result


FOLDS = {"line-count": fold_lines, "degrees": fold_degrees}


def configuration(node, properties):
    """Of the scanner on a node, which knows the shard beside it."""
    settings = {"address": properties[ADDRESS], "shard": properties["key-value.address"]}
    return {"scanner.json": json.dumps(settings)}


SCANNERS = DaemonKind(
    "scanner", program=lambda node: [sys.executable, "-c", SCANNER, str(node.conf_dir / "scanner.json")],
    on_workers=True, ports={ADDRESS: "scans"}, ready_text="scanner listens on",
)  # fmt: skip
SERVICE = Service(
    "scanner", needs=("key-value", LAUNCHER), daemons=(SCANNERS,), files=configuration,
    properties=lambda node: {ADDRESS: f"{node.host}:{node.addresses[ADDRESS].rpartition(':')[2]}"},
)  # fmt: skip
SERVICES.add(SERVICE.name, SERVICE)

STAGES = (StageKind("scan", ("scan",)), StageKind("merge", ("gather", "fold")), StageKind("write", ("write",)))


class ScannerAttempt(TaskAttempt):
    """A merge first gathers what the scans have left, and then folds it."""

    gathered_ms: MomentMs = 0
    """End of the gathering; 0 but for merges."""
    scanned_bytes: ByteCount = 0
    """Bytes read from the store."""

    def phase_ends(self):
        if self.stage == "merge":
            return [("gather", self.gathered_ms), ("fold", self.finished_ms)]
        return super().phase_ends()


class Scanner:
    """See `assay.model.engine.Engine`."""

    def __init__(self, context):
        self._cluster, self._store = context.cluster, context.store
        self._scanners = [
            (one.node.name, re.search(r"listens on (\S+)", one.node.read(daemon.log))[1])
            for one in context.cluster.nodes
            for daemon in one.daemons
            if daemon.role == "scanner"
        ]
        self._jobs = {}
        self._starts_s = {}

    def run(self, launch, progress):
        """Scan on each worker, one after the other, each further one in a stage that the job makes; add up; write."""
        job, began_ms = f"scan-{len(self._jobs) + 1}", now_ms()
        attempts, counted = [], Counter()
        for number, (node, address) in enumerate(self._scanners, 1):
            stage = "scan" if number == 1 else f"scan_{number}"
            started_ms = now_ms()
            seen = self._scan(node, self._work(address, self._store.location(launch.input)), launch.command)
            attempt = self._attempt(job, stage, node, started_ms, now_ms(), seen["bytes"])
            self._starts_s[attempt.attempt] = seen["reads_s"] - started_ms / 1000
            attempts.append(attempt)
            counted.update(seen["counted"])
        gathered_ms, node = now_ms(), self._scanners[0][0]
        merge = self._attempt(job, "merge", node, attempts[-1].finished_ms, now_ms(), gathered_ms=gathered_ms)
        lines, result = FOLDS[launch.command](counted)
        self._store.write(launch.output, [b"".join(lines)])
        attempts += [merge, self._attempt(job, "write", node, merge.finished_ms, now_ms())]
        self._jobs[job] = (began_ms, attempts)
        return LaunchReport(jobs=(Reference(name=launch.command, id=job),), result=result)

    def run_program(self, program, progress):
        raise NotImplementedError

    def history(self, job):
        began_ms, attempts = self._jobs[job.id]
        *scans, merge, write = attempts
        record = JobRecord(
            name=job.name, id=job.id, state="SUCCEEDED", submitted_ms=began_ms, started_ms=began_ms,
            finished_ms=write.finished_ms, counters={},
            stages=tuple(Stage(name=attempt.stage, tasks=1) for attempt in attempts),
            phases={
                **{scan.stage: (scan.finished_ms - scan.started_ms) / 1000 for scan in scans},
                "gather": (merge.gathered_ms - merge.started_ms) / 1000,
                "fold": (merge.finished_ms - merge.gathered_ms) / 1000,
                "write": (write.finished_ms - write.started_ms) / 1000,
            },
        )  # fmt: skip
        return History(job=record, attempts=tuple(attempts))

    def phases(self, attempts):
        """Until a scan reads, its process starts."""
        return TaskHistory(
            phases=tuple(
                TaskPhases(job=one.job, attempt=one.attempt, stage=one.stage, start_s=self._starts_s[one.attempt])
                for one in attempts
                if one.attempt in self._starts_s
            )
        )

    def _scan(self, node, work, command):
        """A task is a process on the worker, within its bounds, which prints what it found."""
        command = [sys.executable, "-c", TASK, work["shard"], json.dumps(work["keys"]), command]
        task = self._cluster.launch(node, command, {})
        code, text = task.wait(60), task.log.read_text()
        if code:
            raise AssayError(f"a scan on {node} ended with exit code {code}: {text}")
        return json.loads(text)

    def _work(self, address, location):
        """Which values a task on the scanner's worker is to read."""
        host, _, port = address.rpartition(":")
        connection = HTTPConnection(host, int(port))
        connection.sock = self._cluster.connect((host, int(port)), 60)
        try:
            connection.request("GET", f"/{quote(location, safe='/:')}")
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    @staticmethod
    def _attempt(job, stage, node, started_ms, finished_ms, scanned_bytes=0, gathered_ms=0):
        return ScannerAttempt(
            job=job, attempt=f"{job}-{stage}-{node}", stage=stage, node=node, state="SUCCEEDED",
            started_ms=round(started_ms), finished_ms=round(finished_ms), scanned_bytes=scanned_bytes,
            gathered_ms=gathered_ms,
        )  # fmt: skip


def now_ms():
    return round(1000 * time.time())


FIGURES = (TaskFigure("most scanned", "scan", "scanned_bytes", "skew"),)
KIND = EngineKind(
    open=Scanner, runs=frozenset({"scans"}), reads=frozenset({"values"}), services=(SERVICE.name,), stages=STAGES,
    makes_stages=True, attempt=ScannerAttempt, figures=FIGURES,
)  # fmt: skip
ENGINES.add("scanner", KIND)
for workload, command in (("line-count", "line-count"), ("degree-distribution", "degrees")):
    about = "each node counts what it has"
    scanned = Variant(about=about, jobs=(command,), command=command, program="scans", like="plain")
    VARIANTS.add(f"{workload}/scanned", scanned)
