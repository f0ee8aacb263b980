"""Makes the timers of a stack's services as many times longer as a scale model's processors are slower.

Without that a daemon that gets an eighth of a processor would be asked, and given up, eight times too early. Services
name what may pass in a trial on a healthy cluster or on one without a node: heartbeats, polls, time-outs, retries.
Not among them are housekeeping every some hours, thresholds of counts, and what Hadoop has no property for: a reducer's
poll for map outputs (EventFetcher, 1 s), its penalty for a failed fetch (ShuffleScheduler, 10 s), a worker's wait
between attempts to register (BPServiceActor, 5 s).
"""

import re
from collections.abc import Mapping

from assay.model.errors import BadInputError

_TIME = re.compile(r"(-?[0-9]{1,15})\s*(ns|us|ms|s|m|h|d)?")


def longer(properties: Mapping[str, str], dilation: int, timers: Mapping[str, str]) -> dict[str, str]:
    """These properties with all timers so many times longer, also those that are left at their defaults.

    `timers` are the defaults by their names. A time of 0 or less, which has a meaning of its own, stays. Raises
    BadInputError for what is no time.
    """
    if dilation == 1:
        return dict(properties)
    known = {**timers, **properties}
    return {name: _longer(name, value, dilation) if name in timers else value for name, value in known.items()}


def _longer(name: str, value: str, dilation: int) -> str:
    match = _TIME.fullmatch(value.strip().lower())
    if match is None:
        raise BadInputError(
            f"{name} is {value!r}, and a dilation makes it {dilation} times longer: give a whole number, with a unit "
            "or without",
            name,
        )
    number = int(match[1])
    return f"{number * dilation if number > 0 else number}{match[2] or ''}"
