"""What an experiment says of an existing cluster: where it is seen from outside, and how its nodes are read."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from assay.model.base import Frozen, Whole
from assay.model.platform import MOST_WHOLE


def web_address(value: str) -> str:
    """Shown in messages and kept in records: it must hold no password."""
    try:
        parts = urlsplit(value)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise PydanticCustomError("address", "Must be an http or https address, such as http://prometheus:9090")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise PydanticCustomError(
            "address", "Must be an address without user, password or query: records would show them"
        )
    return value.rstrip("/")


def history_place(value: str) -> str:
    """A folder of this machine, or one that Hadoop's client knows by its scheme."""
    if not re.match(r"(/|[a-z][a-z0-9+.-]*:/)", value):
        raise PydanticCustomError("folder", "Must be an absolute path, or an address such as hdfs:///mr-history")
    return value.rstrip("/") or "/"


def principal_name(value: str) -> str:
    """A user, or a service on a host, with or without the realm."""
    if not re.fullmatch(r"[^\s@]+(@[^\s@]+)?", value):
        raise PydanticCustomError("principal", "Must be a name such as me@EXAMPLE.COM")
    return value


FROM_YARN = "from YARN"


def _hosts(value: Any) -> Any:
    """Those that YARN names are none here; a single one may stand alone."""
    return [] if value == FROM_YARN else [value] if isinstance(value, str) else value


Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.:-]*$")]
Hosts = Annotated[list[Host], BeforeValidator(_hosts, json_schema_input_type=Literal["from YARN"] | Host | list[Host])]


class KerberosEntry(Frozen):
    """The login at an existing cluster that is secured by Kerberos."""

    keytab: Path | None = None
    """A file of keys that need no password. Assay gets tickets with it, and new ones before they expire."""
    principal: Annotated[str, AfterValidator(principal_name)] | None = None
    """Whose tickets, such as `me@EXAMPLE.COM`; by default of the first key in the keytab."""
    ticket_cache: Path | None = None
    """A file with tickets of yours, which you renew; by default the one that KRB5CCNAME names, or `/tmp/krb5cc_UID`."""

    @model_validator(mode="after")
    def _from_one_place(self) -> "KerberosEntry":
        if self.keytab is not None and self.ticket_cache is not None:
            raise PydanticCustomError(
                "kerberos", "Must have keytab or ticket_cache, not both: tickets come from one of them"
            )
        if self.principal is not None and self.keytab is None:
            raise PydanticCustomError(
                "kerberos",
                "Must have `keytab` with `principal`, which chooses one of its keys; without both, the tickets that "
                "`klist` shows are used",
            )
        return self


class SshEntry(Frozen):
    """How the nodes of an existing cluster are read over SSH."""

    hosts: Hosts = []
    """The nodes, by the names or addresses that your `ssh` knows; by default, and with `from YARN`, those with a
    NodeManager."""
    user: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.@\\-]*$")] | None = None
    """The user there; by default the one of your SSH configuration."""
    port: Annotated[Whole, Field(ge=1, le=65535)] | None = None
    """The port; by default the one of your SSH configuration."""
    key: Path | None = None
    """A private key without a passphrase, or whose passphrase your agent knows; by default those of your SSH
    configuration."""
    options: list[Annotated[str, Field(pattern=r"^[A-Za-z]+[= ].+$")]] = []
    """Further options as OpenSSH writes them, such as `ProxyJump=gate` or `StrictHostKeyChecking=accept-new`."""


class YarnSamplerEntry(Frozen):
    """How the nodes of an existing cluster are read from containers of a small YARN application."""

    hosts: Hosts = []
    """The nodes, by the names that the ResourceManager knows; by default, and with `from YARN`, all with a
    NodeManager."""
    queue: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")] | None = None
    """The queue; by default YARN's."""
    memory_mb: Annotated[Whole, Field(ge=128, le=MOST_WHOLE)] = 256
    """Memory to ask for each container; YARN rounds it up to its smallest allocation."""
