"""What whole nodes take from the mains, as their management controllers tell it through Redfish (DMTF DSP0266).

Read is the chassis' EnvironmentMetrics (`PowerWatts.Reading`) or, on older controllers such as HPE iLO 4 and 5, its
Power (`PowerControl[].PowerConsumedWatts`, DSP0268). Resources are followed by their links (`@odata.id`). A
controller's own averaging is its secret (some seconds to minutes), so short peaks are lost; here watts are read every
few seconds and joined by straight lines. Each controller has a thread, since it may take a second to answer, and what
it told is taken up at the next tick.

Controllers and their credentials are never part of a plan. The environment's ASSAY_REDFISH names a JSON file that only
its owner may read:

    {"controllers": [{"node": "node1", "url": "https://ilo-node1", "user": "reader", "password": "...",
                      "ca": "/etc/ssl/ilo.pem"}]}

`chassis` (its id) chooses where a controller tells of several; `ca` is a file of certificates to trust, and
`"insecure": true` trusts any. `user` and `password` may be left out and come from ASSAY_REDFISH_USER and
ASSAY_REDFISH_PASSWORD.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_core import from_json

from assay.host.files import UnreadableFileError, read_text
from assay.host.http import amount_at
from assay.model.base import Frozen
from assay.model.doubt import Doubt, doubt_kind
from assay.model.probe import CannotMeasureError, Moment, Quantity, Scene, Values

if TYPE_CHECKING:
    import httpx


from assay_extras.redfish import VARIABLE


class Controller(Frozen):
    """A management controller and the node whose power it tells."""

    node: str
    url: str
    user: str = ""
    password: SecretStr = SecretStr("")
    chassis: str | None = None
    ca: Path | None = None
    insecure: bool = False

    @field_validator("url")
    @classmethod
    def _without_credentials(cls, url: str) -> str:
        """An address is shown in messages: it must hold no password."""
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("is not an http or https address")
        if parts.username or parts.password:
            raise ValueError("holds a user or password; put them into `user` and `password`")
        return url.rstrip("/")


class _File(Frozen):
    controllers: tuple[Controller, ...] = Field(min_length=1)


def read_controllers(environment: Mapping[str, str]) -> tuple[Controller, ...]:
    """What the environment's file says; none without one. Raises CannotMeasureError when the file can't be used."""
    name = environment.get(VARIABLE)
    if not name:
        return ()
    file = Path(name)
    try:
        if file.stat().st_mode & 0o077:
            raise _unusable(f"{file} holds passwords and others may read it", f"chmod 600 {file}")
        found = _File.model_validate(from_json(read_text(file))).controllers
    except UnreadableFileError as error:
        raise _unusable(f"{VARIABLE} names {file}, which can't be read: {error.reason}", "name another file") from None
    except OSError as error:
        raise _unusable(
            f"{VARIABLE} names {file}, which can't be read: {error.strerror}", "name a file that is there"
        ) from None
    except ValidationError as error:
        raise _unusable(f"{file} is not as it should be: {_first(error)}", "see docs/reference/probes.md") from None
    except ValueError as error:
        raise _unusable(f"{file} is not JSON: {error}", "see docs/reference/probes.md") from None
    user, password = environment.get(f"{VARIABLE}_USER", ""), environment.get(f"{VARIABLE}_PASSWORD", "")
    return tuple(
        one.model_copy(
            update={"user": one.user or user, "password": SecretStr(one.password.get_secret_value() or password)}
        )
        for one in found
    )


def _first(error: ValidationError) -> str:
    """The place and the message, never the value: it may be a password."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])} {first['msg']}"


def _unusable(what: str, cure: str) -> CannotMeasureError:
    return CannotMeasureError(what, "the nodes' power is not measured", cure)


_ROOT = "/redfish/v1/Chassis"
_PARTS = {"CPU", "Memory", "GPU", "Accelerator", "StorageDevice", "StorageSubsystem", "Fan"}
"""Physical contexts of a power control that is only of a part of the server."""


class SilentError(Exception):
    """No watts could be read this time."""


class RefusedError(Exception):
    """The controller does not accept the user and password."""


class PowerMeter:
    """The power of one chassis; where it is told is found at the first reading."""

    def __init__(self, client: "httpx.Client", chassis: str | None = None) -> None:
        self._client = client
        self._chassis = chassis
        self._place: str | None = None

    def watts(self) -> float:
        """What the chassis takes now. Raises SilentError, or RefusedError for a wrong user or password."""
        if self._place is None:
            self._place = self._find()
        watts = watts_in(self._get(self._place))
        if watts is None:
            raise SilentError(f"{self._place} tells no watts at the moment")
        return watts

    def _find(self) -> str:
        """The resource that tells the server's watts: of several chassis the outermost that holds one computer only."""
        places = {chassis["@odata.id"]: (chassis, place) for chassis, place in self._telling()}
        if not places:
            wanted = "no chassis" if self._chassis is None else f"chassis {self._chassis!r} does not, or is not there:"
            raise SilentError(f"{wanted} tells its power")
        computers = {name for name, (chassis, _) in places.items() if len(_links(chassis, "ComputerSystems")) == 1}
        chosen = computers or set(places)
        chosen -= {name for name in chosen if chosen & set(_links(places[name][0], "ContainedBy"))}
        if len(chosen) != 1:
            raise SilentError(f"several chassis tell their power ({', '.join(sorted(chosen))}); name one as `chassis`")
        return places[chosen.pop()][1]

    def _telling(self) -> Iterator[tuple[dict[str, Any], str]]:
        """Each chassis that tells watts, and where."""
        for member in self._get(_ROOT).get("Members", ()):
            chassis = {"@odata.id": member["@odata.id"], **self._get(member["@odata.id"])}
            if self._chassis is not None and str(chassis.get("Id")) != self._chassis:
                continue
            for link in ("EnvironmentMetrics", "Power"):
                place = chassis.get(link, {}).get("@odata.id")
                if place and self._tells_watts(place):
                    yield chassis, place
                    break

    def _tells_watts(self, place: str) -> bool:
        try:
            return watts_in(self._get(place)) is not None
        except SilentError:  # a link that leads nowhere
            return False

    def _get(self, place: str) -> dict[str, Any]:
        import httpx

        try:
            answer = self._client.get(place)
            if answer.status_code in {401, 403}:
                raise RefusedError(f"{self._client.base_url} refused the user or password ({answer.status_code})")
            answer.raise_for_status()
            content = answer.json()
        except httpx.HTTPStatusError as error:
            raise SilentError(f"{place} answered {error.response.status_code}") from None
        except (httpx.HTTPError, ValueError) as error:
            raise SilentError(f"{self._client.base_url}{place}: {error}") from None
        if not isinstance(content, dict):
            raise SilentError(f"{place} is not a resource")
        return content


def watts_in(resource: dict[str, Any]) -> float | None:
    """The watts that an EnvironmentMetrics or a Power resource tells; None when it tells none."""
    reading = amount_at(resource.get("PowerWatts"), "Reading")
    if reading is not None:
        return reading
    for control in resource.get("PowerControl") or ():
        watts = amount_at(control, "PowerConsumedWatts")
        if watts is not None and control.get("PhysicalContext") not in _PARTS:
            return watts
    return amount_at(resource, "PowerConsumedWatts")


def _links(chassis: dict[str, Any], kind: str) -> list[str]:
    """What a chassis links to; one link or several."""
    linked = (chassis.get("Links") or {}).get(kind) or []
    return [one.get("@odata.id", "") for one in ([linked] if isinstance(linked, dict) else linked)]


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
                trouble = self.trouble or f"nothing was told for {silent_s:.0f} s"
                unread = f"the power of {self.node} was not read, or not to the end: {trouble}"
                return (REDFISH_UNREAD.doubt(unread, self.node),)
            longest_s = max(self.longest_s, silent_s)
        sparse = f"the controller of {self.node} had no reading for {longest_s:.0f} s"
        return (REDFISH_SPARSE.doubt(sparse, self.node),) if longest_s > SPARSE_S else ()


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

    def attach(self, scene: Scene) -> None:  # noqa: ARG002 - which nodes are metered, the controllers' file says
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

    def sample(self, now: Moment) -> Values:
        """Watts of each node that was read since the last tick."""
        self._now_s = now.clock_s
        fresh = {watch.node: watch.fresh() for watch in self._watches}
        return {(node, "power_w"): watts for node, watts in fresh.items() if watts is not None}

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

    def close(self) -> None:
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


REDFISH_UNREAD = doubt_kind(
    "redfish-unread",
    "machine",
    when="a node's power was not read for more than a minute, or not to the end",
    why="its energy is missing from the intervals that its readings don't cover",
    cure="check that the controller can be reached from here with the address, user and password of the file",
    instrument="redfish",
)
REDFISH_SPARSE = doubt_kind(
    "redfish-sparse",
    "machine",
    when="a controller had no power reading for more than 15 s",
    why="the power in between is interpolated linearly",
    cure="use the controllers' own network, and query each from one place only",
    instrument="redfish",
)
