"""Proves what is said of a login that can't be, and how servers that want one get it; against a KDC: tests/it.

The library is a fake here, which gives out what its script says.
"""

import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from assay.engine.job_history_server import HistoryServer
from assay.host import kerberos
from assay.host.http import BoundedWeb
from assay.host.kerberos import Login, NoTicketError
from assay.model.errors import AssayError, BadInputError, NoLoginError
from assay.model.kerberos import KerberosSpec
from tests.serving import running


class GSSError(Exception):
    """As python-gssapi has it: codes of the protocol and of the mechanism, and their words."""

    def __init__(self, major="", minor=""):
        self.maj_code, self.min_code = major and 1, minor and 2
        self._words = {1: major, 2: minor}

    def get_all_statuses(self, code, is_maj):
        assert is_maj == (code == 1)
        return [self._words[code]]


class ExpiredCredentialsError(GSSError):
    pass


class Library:
    """`lifetime` in seconds, or an error; `acquired` are the stores that were asked."""

    exceptions = SimpleNamespace(GSSError=GSSError, ExpiredCredentialsError=ExpiredCredentialsError)
    NameType = SimpleNamespace(hostbased_service="service", kerberos_principal="principal")
    OID = SimpleNamespace(from_int_seq=str)

    def __init__(self):
        self.lifetime, self.acquired, self.refusal = 600, [], None

    def Name(self, name, kind):  # noqa: N802
        return f"{kind} {name}"

    def Credentials(self, name, usage, store):  # noqa: N802
        assert usage == "initiate"
        self.acquired.append((name, dict(store)))
        if isinstance(self.lifetime, Exception):
            raise self.lifetime
        return SimpleNamespace(lifetime=self.lifetime, name="me@EXAMPLE.COM")

    def SecurityContext(self, name, creds, mech, usage):  # noqa: N802
        if self.refusal is not None:
            raise self.refusal
        return SimpleNamespace(step=f"{name} {mech}".encode)


@pytest.fixture
def library(monkeypatch):
    found = Library()
    monkeypatch.setitem(sys.modules, "gssapi", found)
    return found


@pytest.fixture
def files(tmp_path):
    (tmp_path / "tickets").touch()
    (tmp_path / "keytab").touch()
    return tmp_path


def test_without_the_library_it_is_said_how_to_get_it(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "gssapi", None)
    with pytest.raises(BadInputError, match=r"is not installed; run `setup/prepare kerberos`"):
        Login(KerberosSpec(ticket_cache=files / "tickets"), {})


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(
    ("spec", "environment", "why"),
    [
        ({"keytab": "gone"}, {}, r"keytab .*gone is not there; name the file"),
        ({"ticket_cache": "gone"}, {}, r"ticket cache .*gone is not there; run `kinit`"),
        ({}, {"KRB5CCNAME": "FILE:/gone"}, r"ticket cache /gone is not there"),
        ({}, {"KRB5CCNAME": "/gone"}, r"ticket cache /gone is not there"),
        ({}, {"KRB5CCNAME": "KEYRING:persistent:0"}, r"in KEYRING:persistent:0, and Hadoop's clients read files only"),
    ],
)
def test_what_must_be_there_is_looked_at_first(files, spec, environment, why):
    with pytest.raises(BadInputError, match=why):
        Login(KerberosSpec(**{key: files / name for key, name in spec.items()}), environment)


def test_a_ticket_is_told_or_why_there_is_none(library, files):
    login = Login(KerberosSpec(), {"KRB5CCNAME": f"FILE:{files}/tickets"})
    assert login.ticket() == ("me@EXAMPLE.COM", 600)
    assert library.acquired == [(None, {"ccache": f"FILE:{files}/tickets"})]
    library.lifetime = ExpiredCredentialsError("expired")
    with pytest.raises(NoTicketError, match=r"the Kerberos ticket in .*tickets has expired"):
        login.ticket()
    library.lifetime = 0
    with pytest.raises(NoTicketError, match="has expired"):
        login.ticket()
    library.lifetime = GSSError("Unspecified GSS failure", "Clock skew too great")
    with pytest.raises(NoTicketError, match="there is no Kerberos ticket in .*: Clock skew too great$"):
        login.ticket()
    library.lifetime = GSSError("No credentials were supplied")
    with pytest.raises(NoTicketError, match=r": No credentials were supplied$"):
        login.ticket()


def test_tickets_from_a_keytab_are_kept_good_in_a_file_of_the_trial(library, files, monkeypatch):
    monkeypatch.setattr(kerberos, "RENEW_S", 0.01)
    login = Login(KerberosSpec(keytab=files / "keytab", principal="me"), {})
    login.ticket()
    library.lifetime, before = GSSError("no", "No credentials cache found (filename: x)"), library.lifetime
    with pytest.raises(NoTicketError, match="no Kerberos ticket from keytab .*keytab: it holds no key of me$"):
        login.ticket()
    library.lifetime = before
    (name, store) = library.acquired.pop()
    library.acquired.pop()
    assert name == "principal me"
    assert store["ccache"].startswith("MEMORY:")
    with login.kept(files):
        cache = {"client_keytab": f"FILE:{files}/keytab", "ccache": f"FILE:{files}/tickets"}
        assert library.acquired[0] == ("principal me", cache)
        before = len(library.acquired)
        library.lifetime = GSSError("away")  # the KDC may be back next time
        while len(library.acquired) < before + 3:
            pass
        base = {"KRB5_CONFIG": "/etc/own.conf:/etc/krb5.conf", "HADOOP_CLIENT_OPTS": "-Xmx1g"}
        assert login.environment(base) == {
            **base, "KRB5CCNAME": f"{files}/tickets",
            "HADOOP_CLIENT_OPTS": "-Xmx1g -Djava.security.krb5.conf=/etc/own.conf",
        }  # fmt: skip
    assert not [thread for thread in threading.enumerate() if thread.name == "kerberos"]


class Wanting(BaseHTTPRequestHandler):
    """Wants a login by SPNEGO, and knows who had one by a cookie."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        proof, known = self.headers.get("Authorization"), self.headers.get("Cookie")
        self.server.asked.append((self.path, proof, known))
        status, headers = 401, {"WWW-Authenticate": "Negotiate"}
        if known == 'hadoop.auth="me"' or proof == self.server.good:
            status, headers = 200, {} if known else {"Set-Cookie": 'hadoop.auth="me"; Path=/; HttpOnly'}
        elif proof:
            status, headers = 403, {}
        body = b'{"message": "GSSException: Checksum failed", "job": {}}'
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nothing on the terminal."""


@contextmanager
def wanting(good):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Wanting)
    server.asked, server.good, server.url = [], good, f"http://127.0.0.1:{server.server_port}"
    with running(server):
        yield server


def test_a_server_that_wants_a_login_gets_one_and_then_knows_the_client(library, files):
    login = Login(KerberosSpec(ticket_cache=files / "tickets"), {})
    good = login.authorization("127.0.0.1")
    assert good.startswith("Negotiate ")
    with wanting(good) as server:
        web = BoundedWeb(authorize=login.authorization)
        assert "job" in web.ask(f"{server.url}/jmx")
        assert "job" in web.ask(f"{server.url}/jmx")
        assert [proof for _, proof, _ in server.asked] == [None, good, None]
        history = HistoryServer(server.url, patience_s=0, authorize=login.authorization)
        with pytest.raises(AssayError, match="is incomplete or malformed"):  # it answered
            history.read(SimpleNamespace(id="job_1", name="one"))
        web.close()


def test_a_login_that_does_not_do_is_a_reason_of_its_own(library, files):
    login = Login(KerberosSpec(ticket_cache=files / "tickets"), {})
    with wanting("nothing") as server:
        url = f"{server.url}/jmx"
        for authorize, why in (
            (None, "HTTP status 401, it asks for a login, and neither"),
            (login.authorization, r"HTTP status 403, it refuses the Kerberos login \(GSSException: Checksum failed\)"),
        ):
            with pytest.raises(NoLoginError, match=why):
                BoundedWeb(authorize=authorize).ask(url)
        library.refusal = GSSError("no", "Server not found in Kerberos database")
        web = BoundedWeb(authorize=login.authorization)
        with pytest.raises(NoLoginError, match=r"no Kerberos ticket for HTTP/127\.0\.0\.1: Server not found"):
            web.ask(url)
        library.lifetime = 0
        with pytest.raises(NoLoginError, match="has expired"):
            web.ask(url)
        history = HistoryServer(server.url, patience_s=0, authorize=login.authorization)
        with pytest.raises(AssayError, match="the JobHistoryServer did not answer .*has expired"):
            history.read(SimpleNamespace(id="job_1", name="one"))
