"""Which requests continue an earlier one, and how many such runs are under way at once."""

from assay.model.signature import Array

REMEMBERED_ENDS = 32
PAUSE_NS = 1_000_000_000
"""A run that goes on after a longer pause than this was not under way meanwhile."""


class Runs:
    """The sequential runs among one medium's requests of one direction, which are shown in the order of arrival.

    The rule is that of the emulator's own report (emulator/model/src/report.rs). A request is sequential when it begins
    where a remembered one ended; its end then takes that one's place. Any other begins a run and takes the place of the
    run that was begun longest ago. 32 ends are remembered, so that several interleaved streams are recognised, and a
    queue's small disorder does not hide one.
    """

    def __init__(self) -> None:
        self._ends = [-1] * REMEMBERED_ENDS
        self._run_at = [0] * REMEMBERED_ENDS
        # The places at which each end is held, as bits: two runs may end alike, and then the first place is taken.
        self._held: dict[int, int] = {}
        self._begun = 0

    def see(self, offset: Array, length: Array) -> tuple[Array, Array]:
        """Which of the next requests are sequential, and the runs that they belong to, numbered from 0."""
        import numpy as np

        ends, run_at, held, begun = self._ends, self._run_at, self._held, self._begun
        sequential, runs = bytearray(len(offset)), [0] * len(offset)
        for number, (begin, end) in enumerate(zip(offset.tolist(), (offset + length).tolist(), strict=True)):
            places = held.pop(begin, 0)
            if places:
                bit = places & -places
                place = bit.bit_length() - 1
                if places != bit:
                    held[begin] = places ^ bit
                sequential[number] = 1
            else:
                place = begun % REMEMBERED_ENDS
                bit = 1 << place
                left = held.pop(ends[place], 0) & ~bit
                if left:
                    held[ends[place]] = left
                run_at[place] = begun
                begun += 1
            ends[place] = end
            held[end] = held.get(end, 0) | bit
            runs[number] = run_at[place]
        self._begun = begun
        return np.frombuffer(sequential, bool), np.array(runs, np.int32)


class Streams:
    """How many runs some requests, shown in the order of arrival, had under way at once.

    A run is under way from its first arrival to its last answer, if it has two requests or more of those shown, and
    not during pauses of more than a second.
    """

    def __init__(self) -> None:
        import numpy as np

        # Of each run that may go on: its number, first and last arrival, last answer, and how many requests it has.
        self._open: tuple[Array, ...] = tuple(np.zeros(0, np.int64) for _ in range(5))
        self._ended: list[tuple[Array, Array]] = []

    def see(self, run: Array, arrived_ns: Array, answered_ns: Array) -> None:
        """The next requests; there is one at least."""
        import numpy as np

        shown = (run, arrived_ns, arrived_ns, answered_ns, np.ones(len(run), np.int64))
        # What is open comes first among its run's own: the sort is stable.
        every = [np.concatenate(pair) for pair in zip(self._open, shown, strict=True)]
        order = np.argsort(every[0], kind="stable")
        number, first, last, answer, count = (column[order] for column in every)
        begins = np.ones(len(order), bool)
        begins[1:] = (number[1:] != number[:-1]) | (first[1:] - last[:-1] > PAUSE_NS)
        at = np.flatnonzero(begins)
        number, first, last = number[at], first[at], last[np.append(at[1:], len(order)) - 1]
        answer, count = np.maximum.reduceat(answer, at), np.add.reduceat(count, at)
        goes_on = arrived_ns[-1] - last <= PAUSE_NS
        self._open = tuple(column[goes_on] for column in (number, first, last, answer, count))
        over = ~goes_on & (count > 1)
        self._ended.append((first[over], answer[over]))

    def mean(self) -> float:
        """Over the time in which any run was under way; 0 when none ever was."""
        import numpy as np

        _, first, _, answer, count = self._open
        ended = [*self._ended, (first[count > 1], answer[count > 1])]
        began, answered = (np.concatenate(column) for column in zip(*ended, strict=True))
        if not len(began):
            return 0.0
        order = np.argsort(began)
        began, answered = began[order], answered[order]
        until = np.maximum.accumulate(answered)
        alone = np.maximum(0, answered[1:] - np.maximum(began[1:], until[:-1])).sum() + answered[0] - began[0]
        return float((answered - began).sum() / alone) if alone > 0 else 1.0
