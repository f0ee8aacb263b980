"""What whole nodes take from the mains, as their management controllers tell it through Redfish (DMTF DSP0266).

Read is the chassis' EnvironmentMetrics (`PowerWatts.Reading`) or, on older controllers such as HPE iLO 4 and 5, its
Power (`PowerControl[].PowerConsumedWatts`, DSP0268). A controller's own averaging is its secret (some seconds to
minutes), so short peaks are lost; here watts are read every few seconds and joined by straight lines.

Each controller has a thread, since it may take a second to answer, and what it told is taken up at the next tick.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.model.doubt import Doubt
from assay.model.probe import Scene
from assay.probe.chassis import PowerMeter, RefusedError, SilentError
from assay.probe.controllers import Controller
from assay.probe.ticking import CannotMeasureError, Moment, Quantity

if TYPE_CHECKING:
    import httpx

INTERVAL_S = 2.0
TIMEOUT_S = 5.0
LOST_S = 60.0
"""After so long without an answer a node's energy is no longer told."""

SPARSE_S = 15.0


class Trapezoid:
    """Joules from watts read now and then: straight lines between readings, level before the first and after the last.

    Nothing is told of a node that has said nothing yet; `joules_until` never goes back.
    """

    def __init__(self, begin_s: float) -> None:
        self._at_s = begin_s
        self._watts: float | None = None
        self._joules = 0.0

    def add(self, clock_s: float, watts: float) -> None:
        """A reading."""
        before = watts if self._watts is None else self._watts
        self._joules += (before + watts) / 2 * max(0.0, clock_s - self._at_s)
        self._at_s, self._watts = max(clock_s, self._at_s), watts

    def joules_until(self, clock_s: float) -> float | None:
        """Joules since the beginning; None before the first reading, and the time until then counts for nothing."""
        if self._watts is None:
            self._at_s = clock_s
            return None
        self.add(clock_s, self._watts)
        return self._joules


class Watch:
    """One node's readings: filled by its thread, emptied by ticks."""

    def __init__(self, node: str, begin_s: float) -> None:
        self.node = node
        self.energy = Trapezoid(begin_s)
        self.readings = 0
        self.first_s = self.last_s = begin_s
        self.longest_s = 0.0
        self.trouble: str | None = None
        self._fresh: float | None = None
        self._lost = False
        self._lock = threading.Lock()

    def tell(self, clock_s: float, watts: float) -> None:
        """A reading."""
        with self._lock:
            if self.readings:
                self.longest_s = max(self.longest_s, clock_s - self.last_s)
            else:
                self.first_s = clock_s
            self.energy.add(clock_s, watts)
            self.readings += 1
            self.last_s, self._fresh = clock_s, watts

    def fresh(self) -> float | None:
        """The watts last read, if they were not taken yet."""
        with self._lock:
            watts, self._fresh = self._fresh, None
            return watts

    def joules(self, clock_s: float) -> float | None:
        """Joules so far; None without readings, and for good once they have been missing for too long."""
        with self._lock:
            told = self.energy.joules_until(clock_s)
            self._lost = self._lost or (told is not None and clock_s - self.last_s > LOST_S)
            return None if self._lost else told

    @property
    def interval_s(self) -> float | None:
        """The mean time between readings."""
        return (self.last_s - self.first_s) / (self.readings - 1) if self.readings > 1 else None

    def doubts(self, clock_s: float) -> tuple[Doubt, ...]:
        """That there were none, or that they were sparse, also at the end; `clock_s` is when it ended."""
        with self._lock:
            silent_s = clock_s - self.last_s
            if not self.readings or self._lost:
                return (_unread(self.node, self.trouble or f"nothing was told for {silent_s:.0f} s"),)
            longest_s = max(self.longest_s, silent_s)
        return (_sparse(self.node, longest_s),) if longest_s > SPARSE_S else ()


class Redfish:
    """An instrument: the power and energy of each node that has a controller."""

    name = "redfish"

    def __init__(
        self,
        controllers: Callable[[], Sequence[Controller]],
        transport: "httpx.BaseTransport | None" = None,
        interval_s: float = INTERVAL_S,
    ) -> None:
        """`controllers` is asked at the beginning; `transport` is for tests."""
        self._controllers = controllers
        self._transport = transport
        self._interval_s = interval_s
        self._watches: list[Watch] = []
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self._now_s = 0.0

    def begin(self, scene: Scene) -> None:  # noqa: ARG002 - which nodes are metered, the controllers' file says
        """Begin to ask. Raises CannotMeasureError when there is no controller or their file can't be used."""
        controllers = self._controllers()
        if not controllers:
            raise CannotMeasureError(
                "no management controller was named", "the nodes' power is not measured",
                "name them in a file and the file in ASSAY_REDFISH",
            )  # fmt: skip
        self._now_s = time.monotonic()
        for controller in controllers:
            watch = Watch(controller.node, self._now_s)
            thread = threading.Thread(
                target=self._ask, args=(controller, watch), name=f"probe-redfish-{controller.node}", daemon=True
            )
            self._watches.append(watch)
            self._threads.append(thread)
            thread.start()

    def tick(self, now: Moment) -> Mapping[str, float]:
        """Watts of each node that was read since the last tick."""
        self._now_s = now.clock_s
        fresh = {watch.node: watch.fresh() for watch in self._watches}
        return {f"{node}/power_w": watts for node, watts in fresh.items() if watts is not None}

    def totals(self) -> Mapping[Quantity, float]:
        """Joules of each node, and how far its readings were apart."""
        told: dict[Quantity, float] = {}
        for watch in self._watches:
            joules, interval_s = watch.joules(self._now_s), watch.interval_s
            if joules is not None:
                told[Quantity(watch.node, "energy_j")] = joules
            if joules is not None and interval_s is not None:
                told[Quantity(watch.node, "reading_interval_s", level=True)] = interval_s
        return told

    def doubts(self) -> tuple[Doubt, ...]:
        """Of each node."""
        return tuple(doubt for watch in self._watches for doubt in watch.doubts(self._now_s))

    def end(self) -> None:
        """Ask no more; a thread that waits for an answer is not waited for."""
        self._stop.set()
        for thread in self._threads:
            thread.join(timeout=0.1)

    def _ask(self, controller: Controller, watch: Watch) -> None:
        """One controller's thread: whatever happens is told, and asked again unless the credentials were refused."""
        try:
            with _client(controller, self._transport) as client:
                meter = PowerMeter(client, controller.chassis)
                while not self._stop.is_set():
                    try:
                        watch.tell(time.monotonic(), meter.watts())
                    except SilentError as error:
                        watch.trouble = str(error)
                    self._stop.wait(self._interval_s)
        except RefusedError as error:  # asking again would lock the account
            watch.trouble = str(error)
        except Exception as error:  # a thread that dies in silence would look like a controller that does
            watch.trouble = f"{type(error).__name__}: {error}"


def _client(controller: Controller, transport: "httpx.BaseTransport | None") -> "httpx.Client":
    import ssl

    import httpx

    verify: Any = not controller.insecure
    if controller.ca is not None and not controller.insecure:
        verify = ssl.create_default_context(cafile=controller.ca)
    auth = (controller.user, controller.password.get_secret_value()) if controller.user else None
    return httpx.Client(
        base_url=controller.url, auth=auth, verify=verify, timeout=TIMEOUT_S, follow_redirects=True,
        transport=transport, trust_env=False, headers={"OData-Version": "4.0", "Accept": "application/json"},
    )  # fmt: skip


def _unread(node: str, trouble: str) -> Doubt:
    return Doubt(
        kind="redfish-unread",
        what=f"the power of {node} was not read, or not to the end: {trouble}",
        why="its energy is missing from the parts of the trial that its readings don't cover",
        cure="see that the controller can be reached from here with the address, user and password of the file",
    )


def _sparse(node: str, longest_s: float) -> Doubt:
    return Doubt(
        kind="redfish-sparse",
        what=f"the controller of {node} told nothing for {longest_s:.0f} s at a stretch",
        why="a straight line stands in for its power there",
        cure="use a controller's own network, and ask it from one place only",
    )
