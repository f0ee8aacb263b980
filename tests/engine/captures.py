"""The JobHistoryServer's answers as they were captured from Hadoop 3.4.2, served again."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from assay.engine.job_history_server import HistoryServer
from assay.model.engine import JobReference
from assay.model.running_cluster import ClusterNode
from assay.node.local import LocalNode

FIXTURES = Path(__file__).parents[1] / "fixtures" / "history"
LOGS = FIXTURES / "logs"


def in_folder(folder):
    """Containers' logs in a folder of this machine."""
    return [ClusterNode(LocalNode(), container_logs=folder)]


def captured(name):
    """A capture's answers by path, and its job's id."""
    answers = json.loads((FIXTURES / f"{name}.json").read_text())
    return answers, next(iter(answers))


@contextmanager
def serving(answers, patience_s=1.0, refuse=0):
    """A history reader on a server that gives these answers, but refuses its first requests."""

    class Server(BaseHTTPRequestHandler):
        left = refuse

        def do_GET(self):
            path = self.path.removeprefix("/ws/v1/history/mapreduce/jobs/")
            answer = answers.get(path) if Server.left <= 0 else None
            Server.left -= 1
            status, body = 200, answer
            if answer is None:
                status, body = 404, {}
            elif "HTTP" in answer:
                status, body = answer["HTTP"], answer["body"]
            content = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01), daemon=True).start()
    try:
        yield HistoryServer(f"http://127.0.0.1:{server.server_port}", patience_s=patience_s)
    finally:
        server.shutdown()
        server.server_close()


def history_of(name):
    """A capture's whole history."""
    answers, job = captured(name)
    with serving(answers) as server:
        return server.read(JobReference(name=name, id=job))


def attempt_of(history, end):
    """The attempt whose id ends so (`m_000001_0`)."""
    (found,) = [attempt for attempt in history.attempts if attempt.attempt.endswith(end)]
    return found
