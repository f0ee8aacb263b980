"""An iterator whose next items are made in a thread of their own while the last one is used."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

Item = TypeVar("Item")
_DEPTH = 8
_END: Final = object()


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items in their order, some of them ready before they are asked for; raises what their making raises.

    It pays where making and using wait for different things: another process, or calls that let go of Python's lock.
    """
    source = iter(items)
    maker = ThreadPoolExecutor(1)
    try:
        coming = deque(maker.submit(next, source, _END) for _ in range(_DEPTH))
        while (item := coming.popleft().result()) is not _END:
            coming.append(maker.submit(next, source, _END))
            yield item  # type: ignore[misc]
    finally:
        maker.shutdown(cancel_futures=True)
