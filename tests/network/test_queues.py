"""Proves that the kernel's messages about queues are read as they are laid out, and other queues than ours left out."""

import struct

from assay.network.queues import LinkQueue, bucket, messages


def attribute(kind, body):
    return struct.pack("=HH", 4 + len(body), kind) + body + bytes(-len(body) % 4)


def about(name, sent, waiting, nested=0x8000):
    stats = attribute(1, struct.pack("=QI", sent, 7)) + attribute(3, struct.pack("=IIIII", 2, waiting, 0, 0, 9))
    body = struct.pack("=BxxxiIII", 0, 5, 1 << 16, 0xFFFFFFFF, 0)
    return body + attribute(1, name + b"\0") + attribute(7 | nested, stats)


def test_a_token_buckets_bytes_and_backlog():
    assert bucket(about(b"tbf", 1 << 40, 3000)) == LinkQueue(1 << 40, 3000)
    assert bucket(about(b"tbf", 5, 0, nested=0)) == LinkQueue(5, 0)
    assert bucket(about(b"noqueue", 5, 0)) is None


def test_messages_follow_one_another_on_words():
    piece = b"".join(
        struct.pack("=IHHII", 16 + len(body), kind, 2, 1, 0) + body + bytes(-len(body) % 4)
        for kind, body in [(36, b"abcde"), (3, b"\0" * 4)]
    )
    assert list(messages(piece)) == [(36, b"abcde"), (3, b"\0" * 4)]
    assert list(messages(bytes(16))) == []
