"""A real HTTP server in a thread; a test says its answers: JSON by path, or what a function makes of path and query."""

import json
import ssl
import threading
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


class Server(ThreadingHTTPServer):
    """`answers`, by path or a function of path and query, may change; `asked` are the paths and queries so far."""

    daemon_threads = True

    def __init__(self, answers, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.answers, self.asked, self.at_once, self.most_at_once = answers, [], 0, 0
        self.lock = threading.Lock()
        self.scheme = "http"

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """An answer is a JSON value, a status with a body, or a function of the query that gives one of these."""

    def do_GET(self):
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        with self.server.lock:
            self.server.asked.append((parts.path, query))
            self.server.at_once += 1
            self.server.most_at_once = max(self.server.most_at_once, self.server.at_once)
        answers = self.server.answers
        answer = answers(parts.path, query) if callable(answers) else answers.get(parts.path, (404, {}))
        answer = answer(query) if callable(answer) else answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        content = (body if isinstance(body, str) else json.dumps(body)).encode()
        with self.server.lock:
            self.server.at_once -= 1
        with suppress(ConnectionError):  # whoever asked has had enough
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *_):
        """Nothing on the terminal."""


@contextmanager
def serving(answers, certificate=None, port=0):
    """For the time of a scope; with a certificate and its key (paths) over TLS."""
    server = Server(answers, port)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.scheme = "https"
    with running(server):
        yield server


@contextmanager
def running(server):
    """In a thread for the time of a scope, whatever server it is."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
