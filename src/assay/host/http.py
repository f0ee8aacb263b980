"""HTTP to servers that are reached through a node: only its network has them, and only it knows their names."""

import socket
from collections.abc import Iterable, Mapping
from http.client import HTTPConnection, HTTPException
from typing import TYPE_CHECKING, cast

from assay.model.node import Connect

if TYPE_CHECKING:
    import httpx


class NodeConnection(HTTPConnection):
    """A connection that a node makes."""

    def __init__(self, host: str, timeout_s: float | None, connect: Connect) -> None:
        """To `HOST:PORT`."""
        super().__init__(host, timeout=timeout_s)
        self._timeout_s = timeout_s
        self._connect = connect

    def connect(self) -> None:
        """See `HTTPConnection`."""
        self.sock = self._connect((self.host, self.port), self._timeout_s)


def client(connect: Connect, timeout_s: float, headers: Mapping[str, str] | None = None) -> "httpx.Client":
    """A client of servers on this machine or, with connections of a node, one for each request, on that node's."""
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

    through = None if connect is socket.create_connection else Transport()
    timeout = httpx.Timeout(timeout_s, connect=min(timeout_s, 10))
    return httpx.Client(transport=through, timeout=timeout, trust_env=False, headers=headers)
