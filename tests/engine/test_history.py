"""Proves that job history is read as the JobHistoryServer gave it: answers captured from Hadoop 3.4.2, served again."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from assay.engine.history import HistoryServer, task_attempt
from assay.model.engine import JobReference
from assay.model.errors import AssayError

CAPTURED = json.loads((Path(__file__).parents[1] / "fixtures/history/friend-lists.json").read_text())
JOB = next(iter(CAPTURED))


class Server(BaseHTTPRequestHandler):
    """Answers from the capture, but refuses the first requests of a job, as the server does before it knows of it."""

    refuse = 0

    def do_GET(self):
        path = self.path.removeprefix("/ws/v1/history/mapreduce/jobs/")
        known = path in CAPTURED and Server.refuse <= 0
        Server.refuse -= 1
        body = json.dumps(CAPTURED.get(path, {})).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def history():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Server.refuse = 0
    yield HistoryServer(f"http://127.0.0.1:{server.server_port}", patience_s=1.0)
    server.shutdown()
    server.server_close()


def test_a_job_has_the_servers_averages_and_counters(history):
    job = history.read(JobReference(name="friend-lists", id=JOB)).job
    told = CAPTURED[JOB]["job"]
    assert (job.id, job.name, job.state, job.maps, job.reduces) == (JOB, "friend-lists", "SUCCEEDED", 2, 2)
    assert job.phases.map_s == told["avgMapTime"] / 1000
    assert job.phases.shuffle_s == told["avgShuffleTime"] / 1000
    assert job.elapsed_s == (told["finishTime"] - told["startTime"]) / 1000
    assert job.submitted_s > job.elapsed_s
    assert job.counters["org.apache.hadoop.mapreduce.FileSystemCounter"]["FILE_BYTES_WRITTEN"] == 8439022


def test_the_attempts_add_up_to_the_job(history):
    found = history.read(JobReference(name="friend-lists", id=JOB))
    assert [attempt.kind for attempt in found.attempts].count("map") == 2
    assert [attempt.kind for attempt in found.attempts].count("reduce") == 2
    counters = found.job.counters["org.apache.hadoop.mapreduce.FileSystemCounter"]
    assert sum(attempt.local_written_bytes for attempt in found.attempts) == counters["FILE_BYTES_WRITTEN"]
    assert sum(attempt.hdfs_read_bytes for attempt in found.attempts) == counters["HDFS_BYTES_READ"]
    reduces = [attempt for attempt in found.attempts if attempt.kind == "reduce"]
    for attempt in reduces:
        assert attempt.started_ms <= attempt.shuffle_finished_ms <= attempt.merge_finished_ms <= attempt.finished_ms
        assert attempt.shuffled_bytes > 0
        assert attempt.node == "localhost"


def test_a_job_that_the_server_learns_of_late_is_waited_for(history):
    Server.refuse = 3
    assert history.read(JobReference(name="friend-lists", id=JOB)).job.id == JOB


def test_a_job_that_never_appears_is_an_error_with_its_address(history):
    with pytest.raises(AssayError, match="the JobHistoryServer did not answer .*job_9_0001"):
        history.read(JobReference(name="lost", id="job_9_0001"))


def test_an_attempt_without_counters_has_zeroes():
    """A killed attempt has neither phases nor counters."""
    attempt = {"id": "attempt_1_0001_r_000000_0", "type": "REDUCE", "state": "KILLED", "startTime": 5, "finishTime": 9}
    found = task_attempt("job_1_0001", attempt, [])
    assert (found.state, found.shuffled_bytes, found.shuffle_finished_ms) == ("KILLED", 0, 0)
