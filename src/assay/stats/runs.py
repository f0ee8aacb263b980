"""Which requests continue an earlier one, by the rule of the emulator's own report (emulator/model/src/report.rs)."""

from assay.model.signature import Array

REMEMBERED_ENDS = 32


def continued(offset: Array, length: Array) -> tuple[Array, Array]:
    """For requests of one medium and direction in the order of arrival: which of them are sequential, and their runs.

    A request is sequential when it begins where a remembered one ended; its end then takes that one's place. Any other
    begins a run and takes the place of the run that was begun longest ago. 32 ends are remembered, so that several
    interleaved streams are recognised, and a queue's small disorder does not hide one. Runs are numbered from 0.
    """
    import numpy as np

    ends, run_at = [-1] * REMEMBERED_ENDS, [0] * REMEMBERED_ENDS
    # The places at which each end is held, as bits: two runs may end alike, and then the first place is taken.
    held: dict[int, int] = {}
    sequential, runs = bytearray(len(offset)), [0] * len(offset)
    begun = 0
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
    return np.frombuffer(sequential, bool), np.array(runs, np.int64)
