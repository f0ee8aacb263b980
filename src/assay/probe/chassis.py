"""Finding a server's power among a management controller's Redfish resources, and reading it.

Resources are followed by their links (`@odata.id`), as DSP0266 asks for; schemas are Chassis, EnvironmentMetrics and
Power of DSP0268.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx

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
    reading = _number(resource.get("PowerWatts"), "Reading")
    if reading is not None:
        return reading
    for control in resource.get("PowerControl") or ():
        watts = _number(control, "PowerConsumedWatts")
        if watts is not None and control.get("PhysicalContext") not in _PARTS:
            return watts
    return _number(resource, "PowerConsumedWatts")


def _number(holder: Any, key: str) -> float | None:
    value = holder.get(key) if isinstance(holder, dict) else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def _links(chassis: dict[str, Any], kind: str) -> list[str]:
    """What a chassis links to; one link or several."""
    linked = (chassis.get("Links") or {}).get(kind) or []
    return [one.get("@odata.id", "") for one in ([linked] if isinstance(linked, dict) else linked)]
