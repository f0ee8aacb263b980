"""Messages of protobuf by the numbers of their fields, without a schema (Protocol Buffers: Encoding)."""

from collections.abc import Iterator

_NUMBER, _LONG, _BYTES, _INT = 0, 1, 2, 5
"""The wire types that are in use."""


def message_in(value: bytes) -> bytes:
    """A message whose length stands before it. Raises ValueError where that is another."""
    length, at = _varint(value, 0)
    if at + length != len(value):
        raise ValueError("a message has another length")
    return value[at:]


def fields_of(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message by number: whole numbers and bytes. Raises ValueError where it is damaged."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        wire = tag & 7
        if wire == _NUMBER:
            value, at = _varint(message, at)
            yield tag >> 3, value
            continue
        if wire not in {_BYTES, _LONG, _INT}:
            raise ValueError("a field has no type")
        length, at = _varint(message, at) if wire == _BYTES else ((8 if wire == _LONG else 4), at)
        if at + length > len(message):
            raise ValueError("a field ends too early")
        yield tag >> 3, message[at : at + length]
        at += length


def text_of(value: int | bytes) -> str:
    """A field that is a text. Raises ValueError for a number."""
    if isinstance(value, int):
        raise ValueError("a text is a number")  # noqa: TRY004 - the file is wrong, and no argument
    return value.decode(errors="replace")


def pair_of(value: int | bytes) -> tuple[str, str]:
    """The key and the value of an entry of a map; empty where it lacks one. Raises ValueError for what is none."""
    if isinstance(value, int):
        raise ValueError("an entry of a map is a number")  # noqa: TRY004 - the file is wrong, and no argument
    parts = {number: text_of(part) for number, part in fields_of(value) if isinstance(part, bytes)}
    return parts.get(1, ""), parts.get(2, "")


def _varint(content: bytes, at: int) -> tuple[int, int]:
    """A number of seven bits in a byte, the lowest first, and where it ends."""
    value = 0
    for place, byte in enumerate(content[at : at + 10]):
        value |= (byte & 0x7F) << 7 * place
        if byte < 0x80:
            return value, at + place + 1
    raise ValueError("a number has no end")
