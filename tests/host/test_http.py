"""Proves that HTTP through a node's connections is what it is from this machine: names, bodies, streams, failures."""

import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from assay.host.http import NodeConnection, amount_at, client, fetch_json
from tests.serving import running


class Echo(BaseHTTPRequestHandler):
    """Answers with what was asked: method, path, host and body."""

    def do_GET(self):
        self._answer(b"")

    def do_PUT(self):
        if self.headers["Transfer-Encoding"] == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self._answer(body)
        else:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body):
        text = f'["{self.command}", "{self.path}", "{self.headers["Host"]}", "{body.decode()}"]'.encode()
        self.send_response(404 if "missing" in self.path else 200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def connect():
    """What a node does that alone knows the server's name."""
    with running(ThreadingHTTPServer(("127.0.0.1", 0), Echo)) as server:

        def connect(address, timeout_s=None):
            if address != ("worker-1", 9864):
                raise ConnectionRefusedError(f"nobody listens at {address}")
            return socket.create_connection(server.server_address, timeout_s)

        yield connect


URL = "http://worker-1:9864/webhdfs/v1/in"


def test_a_client_asks_and_sends_what_is_whole_or_comes_in_pieces(connect):
    asking = client(connect, 5)
    answer = asking.get(URL, params={"op": "LISTSTATUS"})
    assert answer.json() == ["GET", "/webhdfs/v1/in?op=LISTSTATUS", "worker-1:9864", ""]
    assert asking.put(URL, content=b"whole").json()[3] == "whole"
    assert asking.put(URL, content=iter([b"in ", b"pieces"])).json()[3] == "in pieces"


def test_who_does_not_answer_is_a_failure_of_the_client(connect):
    with pytest.raises(httpx.HTTPError, match="nobody listens at"):
        client(connect, 5).get("http://worker-2:9864/")


def test_a_page_and_a_plain_connection_go_the_same_way_and_past_any_proxy(connect, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert fetch_json(URL, connect=connect)[0] == "GET"
    assert fetch_json("http://worker-2:1/", connect=connect) is None
    assert fetch_json("http://worker-1:9864/missing", connect=connect) is None, "an error may be JSON too"
    connection = NodeConnection("worker-1:9864", 5, connect)
    connection.request("GET", "/x")
    assert connection.getresponse().status == 200
    connection.close()


@pytest.mark.parametrize(
    ("answer", "amount"),
    [
        ({"a": 2}, 2.0),
        ({"a": 0.5}, 0.5),
        ({"a": -1}, None),
        ({"a": True}, None),
        ({"a": "2"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_an_amount_in_an_answer(answer, amount):
    assert amount_at(answer, "a") == amount
