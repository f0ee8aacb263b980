"""HTTP clients of clusters' web interfaces: all are made here.

Servers of a node are reached through it: only its network has them, and only it knows their names. Those of a cluster
that others use too are asked within bounds.
"""

import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import cache
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from assay.host.kerberos import NoTicketError
from assay.model.errors import BadInputError, NoAnswerError, NoLoginError
from assay.model.node import Connect

if TYPE_CHECKING:
    import httpx


class NodeConnection(HTTPConnection):
    """An HTTP connection from a node."""

    def __init__(self, host: str, timeout_s: float | None, connect: Connect) -> None:
        """`host` is `HOST:PORT`."""
        super().__init__(host, timeout=timeout_s)
        self._timeout_s = timeout_s
        self._connect = connect

    def connect(self) -> None:
        """See `HTTPConnection`."""
        self.sock = self._connect((self.host, self.port), self._timeout_s)


def trust(ca_file: Path | None) -> ssl.SSLContext:
    """Return what https addresses are verified with: the certificates of a file (PEM), or this machine's.

    Raises BadInputError for a file that has none.
    """
    if ca_file is None:
        return _trusted_here()
    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except (OSError, ValueError) as error:  # ssl.SSLError is an OSError
        why = "it holds no certificate" if isinstance(error, ssl.SSLError) else str(error)
        raise BadInputError(
            f"ca_file {ca_file} can't be used: {why}; name a file of certificates in PEM form", "ca_file"
        ) from None


@cache
def _trusted_here() -> ssl.SSLContext:
    """Return a context with this machine's certificates, which take 30 ms to read."""
    return ssl.create_default_context()


Authorize = Callable[[str], str]
"""What the web servers of a host take as a login. Raises NoTicketError."""
_LOGIN_WANTED, _REFUSED = 401, 403


def client(
    connect: Connect, timeout_s: float, headers: Mapping[str, str] | None = None, ca_file: Path | None = None,
    authorize: Authorize | None = None,
) -> "httpx.Client":  # fmt: skip
    """Make a client of servers that this machine reaches, or that a node reaches, with one connection for each request.

    Only the former may be asked over https. Servers that offer a login by SPNEGO get one from `authorize`; requests
    raise its NoTicketError.
    """
    import httpx

    class Negotiate(httpx.Auth):
        """Hadoop's servers then know the client by a cookie, and ask again when that is too old."""

        def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
            answer = yield request
            offers = answer.headers.get_list("WWW-Authenticate", split_commas=True)
            if answer.status_code == _LOGIN_WANTED and any(offer.split()[:1] == ["Negotiate"] for offer in offers):
                again = answer.request  # of another server, where that one had sent us there
                again.headers["Authorization"] = (authorize or str)(again.url.host)
                yield again

    through = None if connect is socket.create_connection else _transport(connect, timeout_s)
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, 10))
    verify = trust(ca_file)
    auth = None if authorize is None else Negotiate()
    return httpx.Client(transport=through, timeout=timeout, trust_env=False, headers=headers, verify=verify, auth=auth)


def _transport(connect: Connect, timeout_s: float) -> "httpx.BaseTransport":
    """Make a transport that opens a node's connection for each request."""
    import httpx

    class Transport(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            chunked = "transfer-encoding" in request.headers
            connection = NodeConnection(request.url.netloc.decode(), timeout_s, connect)
            try:
                body = cast("Iterable[bytes]", request.stream) if chunked else request.read()
                target = request.url.raw_path.decode()
                connection.request(request.method, target, body, dict(request.headers), encode_chunked=chunked)
                answer = connection.getresponse()
                return httpx.Response(answer.status, headers=answer.getheaders(), content=answer.read())
            except (OSError, HTTPException) as error:
                raise httpx.TransportError(str(error) or type(error).__name__) from error
            finally:
                connection.close()

    return Transport()


def fetch_json(url: str, timeout_s: float = 5.0, connect: Connect = socket.create_connection) -> Any:
    """Return a server's JSON answer over plain HTTP, asked from this machine or a node; None where it is no JSON."""
    import httpx

    try:
        through = _transport(connect, timeout_s)
        with httpx.Client(transport=through, trust_env=False, follow_redirects=True) as asking:
            answer = asking.get(url, headers={"Accept": "application/json"})
            return answer.raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return None


def amount_at(answer: Any, key: str) -> float | None:
    """Return the number, 0 or more, under a key of a JSON object; None where there is no such number, or no object."""
    value = answer.get(key) if isinstance(answer, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


class Bounds(NamedTuple):
    """How much may be asked of a cluster that others use too, and for how long an answer is waited for."""

    at_once: int = 8
    per_second: float = 50.0
    timeout_s: float = 5.0
    most_bytes: int = 16 << 20


USUAL_BOUNDS = Bounds()


class BoundedWeb:
    """The web interfaces of a cluster, within bounds; for all threads together. `count` is how often it has asked."""

    def __init__(
        self, ca_file: Path | None = None, bounds: Bounds = USUAL_BOUNDS, authorize: Authorize | None = None
    ) -> None:
        """Set the bounds. Raises BadInputError for a file without certificates."""
        self.count = 0
        self._bounds = bounds
        self._trust, self._authorize = ca_file, authorize
        trust(ca_file)
        self._client: httpx.Client | None = None
        self._lock = threading.Lock()
        self._at_once = threading.Semaphore(bounds.at_once)
        self._next_s = 0.0

    def ask(self, url: str, parameters: Mapping[str, str] | None = None) -> Any:
        """See `model.probe.Ask`; messages begin with the address. Raises NoLoginError where a login is missing."""
        import httpx

        with self._at_once:
            through = self._turn()
            deadline_s = time.monotonic() + self._bounds.timeout_s
            try:
                request = through.stream("GET", url, params=dict(parameters or {}) or None, follow_redirects=True)
                with request as answer:
                    body = self._body(url, answer, deadline_s)
                    if answer.status_code in {_LOGIN_WANTED, _REFUSED}:
                        why = "it asks for a login, and neither Hadoop's configuration nor `kerberos` speaks of one"
                        if self._authorize is not None:
                            why = f"it refuses the Kerberos login{_reason(body)}"
                        raise NoLoginError(url, f"HTTP status {answer.status_code}, {why}")
                    if answer.is_error:
                        raise NoAnswerError(url, f"HTTP status {answer.status_code}{_reason(body)}")
            except NoTicketError as error:
                raise NoLoginError(url, str(error)) from None
            except httpx.TimeoutException:
                raise NoAnswerError(url, f"no answer within {self._bounds.timeout_s:g} s") from None
            except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
                raise NoAnswerError(url, str(error) or type(error).__name__) from None
        try:
            return json.loads(body)
        except ValueError:
            raise NoAnswerError(url, "its answer is not JSON") from None

    def close(self) -> None:
        """Close its connections."""
        if self._client is not None:
            self._client.close()

    def _turn(self) -> "httpx.Client":
        """Wait for this thread's turn, so that many requests begin at equal distances, and return the client."""
        with self._lock:
            if self._client is None:
                settings = {"Accept": "application/json"}, self._trust, self._authorize
                self._client = client(socket.create_connection, self._bounds.timeout_s, *settings)
            self.count += 1
            now_s = time.monotonic()
            turn_s = max(now_s, self._next_s)
            self._next_s = turn_s + 1 / self._bounds.per_second
        time.sleep(turn_s - now_s)
        return self._client

    def _body(self, url: str, answer: "httpx.Response", deadline_s: float) -> bytes:
        """Read the whole body unless it is too long or takes too long: the client's own timeout is for each piece."""
        pieces, size = [], 0
        for piece in answer.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > self._bounds.most_bytes:
                raise NoAnswerError(url, f"its answer has more than {self._bounds.most_bytes >> 20} MiB")
            if time.monotonic() > deadline_s:
                raise NoAnswerError(url, f"no whole answer within {self._bounds.timeout_s:g} s")
        return b"".join(pieces)


def _reason(body: bytes) -> str:
    """Return the server's reason for an error, as Prometheus, Jetty and Hadoop give it, in one line."""
    try:
        content = json.loads(body)
        said = content.get("error") or content.get("message") or content["RemoteException"]["message"]
    except (ValueError, LookupError, AttributeError, TypeError):
        return ""
    return f" ({str(said).splitlines()[0][:200]})" if said else ""
