"""The login at a cluster that is secured by Kerberos, as an experiment and a record have it."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, model_validator
from pydantic_core import PydanticCustomError

from assay.model.base import Frozen


def principal_name(value: str) -> str:
    """A user, or a service on a host, with or without the realm."""
    if not re.fullmatch(r"[^\s@]+(@[^\s@]+)?", value):
        raise PydanticCustomError("principal", "Must be a name such as me@EXAMPLE.COM")
    return value


class KerberosSpec(Frozen):
    """The login at an existing cluster that is secured by Kerberos."""

    keytab: Path | None = None
    """A file of keys that need no password. Assay gets tickets with it, and new ones before they expire."""
    principal: Annotated[str, AfterValidator(principal_name)] | None = None
    """Whose tickets, such as `me@EXAMPLE.COM`; by default of the first key in the keytab."""
    ticket_cache: Path | None = None
    """A file with tickets of yours, which you renew; by default the one that KRB5CCNAME names, or `/tmp/krb5cc_UID`."""

    @model_validator(mode="after")
    def _from_one_place(self) -> "KerberosSpec":
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

    def located(self, absolute: Callable[[Path], Path]) -> "KerberosSpec":
        """Return the description with absolute paths."""
        places = {key: getattr(self, key) for key in ("keytab", "ticket_cache")}
        return self.model_copy(update={key: absolute(path) for key, path in places.items() if path is not None})
