"""Kerberos for clients of a cluster: tickets, and the tokens that prove them to web servers (SPNEGO, RFC 4559).

MIT's library does it, by python-gssapi, which set-up installs when it is asked to (`setup/prepare kerberos`). Hadoop's
own clients read the same tickets from a file. Those from a keytab are in a file of the trial's, where MIT's library
puts new ones when half of their time is over and somebody looks. Those of a user's cache are the user's to renew.
"""

import base64
import importlib
import itertools
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from assay.model.errors import AssayError, BadInputError
from assay.model.kerberos import KerberosSpec

SPNEGO = "1.3.6.1.5.5.2"
"""Its object identifier (RFC 4178)."""
RENEW_S = 60.0
"""How often somebody looks at tickets from a keytab."""
_numbers = itertools.count()
_KIND = re.compile(r"([A-Za-z]{2,}):(.*)")


class NoTicketError(AssayError):
    """There is no ticket, or none for that server; the message is a sentence without an end."""


class Ticket(NamedTuple):
    """Whose it is (`me@REALM`), and for how many seconds from now on."""

    principal: str
    left_s: float


class Login:
    """The right to use a cluster. All threads may use it."""

    def __init__(self, spec: KerberosSpec, environment: Mapping[str, str]) -> None:
        """Without a keytab or cache, use the tickets where Hadoop's clients look for them in this environment.

        Raises BadInputError where the library is missing, or a file that must be there.
        """
        try:
            self._library: Any = importlib.import_module("gssapi")
        except (ImportError, OSError):
            raise BadInputError(
                "the cluster wants Kerberos, and the library for it is not installed; run `setup/prepare kerberos`",
                "kerberos", "conf_dir",
            ) from None  # fmt: skip
        self._keytab, self._principal = spec.keytab, spec.principal
        self._file = spec.ticket_cache or _users_file(environment)
        if self._keytab is None:
            _need(self._file, "ticket_cache", "run `kinit`, or name a keytab in `kerberos`")
            self._store = {"ccache": f"FILE:{self._file}"}
        else:
            _need(self._keytab, "keytab", "name the file of a keytab that you may read")
            self._store = {"client_keytab": f"FILE:{self._keytab}", "ccache": f"MEMORY:assay-{next(_numbers)}"}

    @property
    def source(self) -> str:
        """Say where its tickets are or come from, for messages."""
        return f"in {self._file}" if self._keytab is None else f"from keytab {self._keytab}"

    @property
    def renews(self) -> bool:
        """Tell whether it gets new tickets by itself."""
        return self._keytab is not None

    def ticket(self) -> Ticket:
        """Return the current ticket; with a keytab, get one from the KDC where there was none. Raises NoTicketError."""
        credentials = self._credentials()
        return Ticket(str(credentials.name), float("inf") if credentials.lifetime is None else credentials.lifetime)

    def authorization(self, host: str) -> str:
        """Return the header Authorization that proves it to web servers of a host. Raises NoTicketError."""
        library = self._library
        name = library.Name(f"HTTP@{host}", library.NameType.hostbased_service)
        credentials = self._credentials()
        try:
            mechanism = library.OID.from_int_seq(SPNEGO)
            token = library.SecurityContext(name=name, creds=credentials, mech=mechanism, usage="initiate").step()
        except library.exceptions.GSSError as error:
            raise NoTicketError(f"there is no Kerberos ticket for HTTP/{host}: {_reason(error)}") from None
        return f"Negotiate {base64.b64encode(token).decode()}"

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """Return the environment of Hadoop's clients, which don't read KRB5_CONFIG."""
        environment = {**base, "KRB5CCNAME": str(self._file)}
        if config := base.get("KRB5_CONFIG", "").partition(":")[0]:
            options = [base.get("HADOOP_CLIENT_OPTS", ""), f"-Djava.security.krb5.conf={config}"]
            environment["HADOOP_CLIENT_OPTS"] = " ".join(filter(None, options))
        return environment

    @contextmanager
    def kept(self, folder: Path) -> Iterator[None]:
        """Keep valid tickets from a keytab in a file of this folder, for the time of a scope.

        Raises NoTicketError.
        """
        if self._keytab is None:
            self.ticket()
            yield
            return
        self._file = folder / "tickets"
        self._store["ccache"] = f"FILE:{self._file}"
        self.ticket()
        ended = threading.Event()
        thread = threading.Thread(target=self._keep, args=(ended,), name="kerberos", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _keep(self, ended: threading.Event) -> None:
        while not ended.wait(RENEW_S):
            with suppress(NoTicketError):  # whoever needs one is told
                self._credentials()

    def _credentials(self) -> Any:
        """Return the credentials. Raises NoTicketError where there are none, or they have expired."""
        library = self._library
        name = library.Name(self._principal, library.NameType.kerberos_principal) if self._principal else None
        try:
            credentials = library.Credentials(name=name, usage="initiate", store=self._store)
            expired = credentials.lifetime == 0
        except library.exceptions.ExpiredCredentialsError:
            expired = True
        except library.exceptions.GSSError as error:
            why = _reason(error)
            if self._keytab is not None and why.startswith("No credentials cache"):  # nor anything to make one with
                why = f"it holds no key of {self._principal}" if self._principal else "it holds no key"
            raise NoTicketError(f"there is no Kerberos ticket {self.source}: {why}") from None
        if expired:
            raise NoTicketError(f"the Kerberos ticket {self.source} has expired")
        return credentials


def _users_file(environment: Mapping[str, str]) -> Path:
    """Find the ticket cache as Hadoop's clients do. Raises BadInputError for a cache that is no file."""
    named = environment.get("KRB5CCNAME") or f"/tmp/krb5cc_{os.getuid()}"  # noqa: S108 - where Kerberos has it
    cache = _KIND.fullmatch(named)
    if cache and cache[1].upper() != "FILE":
        raise BadInputError(
            f"your Kerberos tickets are in {named}, and Hadoop's clients read files only; set KRB5CCNAME to a file and "
            "run `kinit`, or name a keytab in `kerberos`",
            "kerberos", "conf_dir",
        )  # fmt: skip
    return Path(cache[2] if cache else named)


def _need(file: Path, key: str, cure: str) -> None:
    setting = key.replace("_", " ")
    if not file.is_file():
        raise BadInputError(f"the cluster wants Kerberos, and {setting} {file} is not there; {cure}", key, "conf_dir")
    if not os.access(file, os.R_OK):
        raise BadInputError(
            f"the cluster wants Kerberos, and you may not read {setting} {file}; {cure}", key, "conf_dir"
        )


def _reason(error: Any) -> str:
    """Return Kerberos' message without GSSAPI's text around it."""
    code = error.min_code or error.maj_code
    said = error.get_all_statuses(code, code != error.min_code)
    return "; ".join(dict.fromkeys(str(status) for status in said))
