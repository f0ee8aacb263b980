"""The JobHistoryServer's answers as they were captured from Hadoop 3.4.2, served again."""

import json
from contextlib import contextmanager
from pathlib import Path

from assay.engine.job_history_server import HistoryServer
from assay.model.engine import JobReference
from assay.model.running_cluster import ClusterNode
from assay.node.local import LocalNode
from tests.serving import serving as replying

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
    refused = iter([(404, {})] * refuse)

    def answer_to(path, _query):
        answer = next(refused, None) or answers.get(path.removeprefix("/ws/v1/history/mapreduce/jobs/"), (404, {}))
        return (answer["HTTP"], answer["body"]) if "HTTP" in answer else answer

    with replying(answer_to) as server:
        yield HistoryServer(server.url, patience_s=patience_s)


def history_of(name):
    """A capture's whole history."""
    answers, job = captured(name)
    with serving(answers) as server:
        return server.read(JobReference(name=name, id=job))


def attempt_of(history, end):
    """The attempt whose id ends so (`m_000001_0`)."""
    (found,) = [attempt for attempt in history.attempts if attempt.attempt.endswith(end)]
    return found
