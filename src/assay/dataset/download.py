"""Fetching one file over the network, whole or not at all."""

import http.client
import urllib.error
import urllib.request
from pathlib import Path
from typing import cast
from urllib.response import addinfourl

from assay.dataset.entry import whole
from assay.model.errors import BadInputError
from assay.model.progress import Progress

_CHUNK = 1 << 20
_PATIENCE_S = 60
_SCHEMES = ("https://", "http://", "file://")


def fetch(url: str, target: Path, progress: Progress) -> None:
    """Downloads `url` to `target`, which appears by one rename when all of it is there.

    Raises:
        BadInputError: in one sentence with the address, and where to put the file by hand.
    """
    if not url.startswith(_SCHEMES):
        raise BadInputError(f"{url}: isn't an address that can be fetched; it has to begin with https://.")
    try:
        with _open(url) as response, whole(target) as part:
            promised = response.headers.get("Content-Length")
            size = int(promised) if promised else None
            received = _copy(response, part, size, progress)
            if size not in (None, received):
                raise http.client.IncompleteRead(b"", size)
    except (OSError, http.client.HTTPException) as error:
        raise BadInputError(
            f"{url} can't be downloaded ({_reason(error)}); without a network, put the file at {target} by hand, "
            "or use `make` to generate a graph like it."
        ) from error


def _reason(error: Exception) -> str:
    if isinstance(error, urllib.error.HTTPError):
        return f"{error.code} {error.reason}"
    if isinstance(error, urllib.error.URLError):
        return str(error.reason)
    return "the connection ended too early" if isinstance(error, http.client.IncompleteRead) else str(error)


def _open(url: str) -> addinfourl:
    return cast("addinfourl", urllib.request.urlopen(url, timeout=_PATIENCE_S))  # noqa: S310 - checked by `fetch`


def _copy(response: addinfourl, target: Path, size: int | None, progress: Progress) -> int:
    """Copies all of a response; returns the number of bytes."""
    received = 0
    of_all = f" of {size / 1e6:,.1f}" if size else ""
    with target.open("wb") as copy:
        while chunk := response.read(_CHUNK):
            copy.write(chunk)
            received += len(chunk)
            progress.detail(f"downloaded {received / 1e6:,.1f}{of_all} MB")
    return received
