"""Which management controllers tell the nodes' power, and with which credentials: never part of a plan.

The environment's ASSAY_REDFISH names a JSON file that only its owner may read:

    {"controllers": [{"node": "node1", "url": "https://ilo-node1", "user": "reader", "password": "...",
                      "ca": "/etc/ssl/ilo.pem"}]}

`chassis` (its id) chooses where a controller tells of several; `ca` is a file of certificates to trust, and
`"insecure": true` trusts any. `user` and `password` may be left out and come from ASSAY_REDFISH_USER and
ASSAY_REDFISH_PASSWORD.
"""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_core import from_json

from assay.files import UnreadableFileError, read_text
from assay.model.base import Frozen
from assay.probe.ticking import CannotMeasureError

VARIABLE = "ASSAY_REDFISH"


class Controller(Frozen):
    """A management controller and the node whose power it tells."""

    node: str
    url: str
    user: str = ""
    password: SecretStr = SecretStr("")
    chassis: str | None = None
    ca: Path | None = None
    insecure: bool = False

    @field_validator("url")
    @classmethod
    def _without_credentials(cls, url: str) -> str:
        """An address is shown in messages: it must hold no password."""
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("is not an http or https address")
        if parts.username or parts.password:
            raise ValueError("holds a user or password; put them into `user` and `password`")
        return url.rstrip("/")


class _File(Frozen):
    controllers: tuple[Controller, ...] = Field(min_length=1)


def read_controllers(environment: Mapping[str, str]) -> tuple[Controller, ...]:
    """What the environment's file says; none without one. Raises CannotMeasureError when the file can't be used."""
    name = environment.get(VARIABLE)
    if not name:
        return ()
    file = Path(name)
    try:
        if file.stat().st_mode & 0o077:
            raise _unusable(f"{file} holds passwords and others may read it", f"chmod 600 {file}")
        found = _File.model_validate(from_json(read_text(file))).controllers
    except UnreadableFileError as error:
        raise _unusable(f"{VARIABLE} names {file}, which can't be read: {error.reason}", "name another file") from None
    except OSError as error:
        raise _unusable(
            f"{VARIABLE} names {file}, which can't be read: {error.strerror}", "name a file that is there"
        ) from None
    except ValidationError as error:
        raise _unusable(f"{file} is not as it should be: {_first(error)}", "see docs/reference/probes.md") from None
    except ValueError as error:
        raise _unusable(f"{file} is not JSON: {error}", "see docs/reference/probes.md") from None
    user, password = environment.get(f"{VARIABLE}_USER", ""), environment.get(f"{VARIABLE}_PASSWORD", "")
    return tuple(
        one.model_copy(
            update={"user": one.user or user, "password": SecretStr(one.password.get_secret_value() or password)}
        )
        for one in found
    )


def _first(error: ValidationError) -> str:
    """The place and the message, never the value: it may be a password."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])} {first['msg']}"


def _unusable(what: str, cure: str) -> CannotMeasureError:
    return CannotMeasureError(what, "the nodes' power is not measured", cure)
