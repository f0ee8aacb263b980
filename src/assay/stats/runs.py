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

    ends = [-1] * REMEMBERED_ENDS
    run_at = [0] * REMEMBERED_ENDS
    held: dict[int, int] = {}
    sequential, runs = bytearray(len(offset)), [0] * len(offset)
    oldest = begun = 0
    for number, (begin, end) in enumerate(zip(offset.tolist(), (offset + length).tolist(), strict=True)):
        if begin in held:
            place = ends.index(begin)
            sequential[number] = 1
        else:
            place, oldest = oldest, (oldest + 1) % REMEMBERED_ENDS
            run_at[place] = begun
            begun += 1
        _replace(held, ends[place], end)
        ends[place] = end
        runs[number] = run_at[place]
    return np.frombuffer(sequential, bool), np.array(runs, np.int64)


def _replace(held: dict[int, int], old: int, new: int) -> None:
    """How often each end is held: two runs may end at the same place."""
    left = held.get(old, 0) - 1
    if left > 0:
        held[old] = left
    else:
        held.pop(old, None)
    held[new] = held.get(new, 0) + 1
