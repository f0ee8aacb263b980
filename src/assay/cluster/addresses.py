"""Where an existing cluster's services are, by the rules of Hadoop's own defaults and of its high availability."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from assay.model.errors import BadInputError

_ANYWHERE = ("", "0.0.0.0")  # noqa: S104 - recognised, never bound


class Addresses:
    """The http addresses of NameNode, ResourceManager and JobHistoryServer in one configuration."""

    def __init__(self, properties: Mapping[str, str], conf_dir: Path) -> None:
        """Raises BadInputError when the configuration names no HDFS."""
        self._properties = properties
        self._conf_dir = conf_dir
        self._default_fs = properties.get("fs.defaultFS", properties.get("fs.default.name", ""))
        if not self._default_fs.startswith("hdfs://"):
            raise BadInputError(f"{conf_dir} names no HDFS: fs.defaultFS is {self._default_fs or 'not set'}")

    def namenodes(self) -> tuple[str, ...]:
        """One address, or with high availability those of all NameNodes of the default name service."""
        secure = self._properties.get("dfs.http.policy") == "HTTPS_ONLY"
        scheme, port = ("https", 9871) if secure else ("http", 9870)
        key = f"dfs.namenode.{scheme}-address"
        service = urlsplit(self._default_fs).hostname or ""
        members = _list(self._properties.get(f"dfs.ha.namenodes.{service}", ""))
        if members:
            return tuple(self._url(scheme, f"{key}.{service}.{member}", "", port) for member in members)
        return (self._url(scheme, key, service, port),)

    def resourcemanagers(self) -> tuple[str, ...]:
        """One address, or with high availability those of all ResourceManagers."""
        secure = self._properties.get("yarn.http.policy") == "HTTPS_ONLY"
        scheme, port, key = ("https", 8090, "webapp.https.address") if secure else ("http", 8088, "webapp.address")
        members = _list(self._properties.get("yarn.resourcemanager.ha.rm-ids", ""))
        suffixes = [f".{member}" for member in members] or [""]
        return tuple(
            self._url(
                scheme,
                f"yarn.resourcemanager.{key}{suffix}",
                self._resourcemanager(suffix),
                port,
                f"yarn.resourcemanager.hostname{suffix}",
            )
            for suffix in suffixes
        )

    def historyserver(self) -> str:
        """The JobHistoryServer's address; by default it is on the host of its RPC address."""
        secure = self._properties.get("mapreduce.jobhistory.http.policy") == "HTTPS_ONLY"
        scheme, port, key = ("https", 19890, "webapp.https.address") if secure else ("http", 19888, "webapp.address")
        host = self._properties.get("mapreduce.jobhistory.address", "").partition(":")[0]
        return self._url(scheme, f"mapreduce.jobhistory.{key}", host, port, "mapreduce.jobhistory.address")

    def _resourcemanager(self, suffix: str) -> str:
        named = self._properties.get(f"yarn.resourcemanager.hostname{suffix}", "")
        return named or self._properties.get(f"yarn.resourcemanager.address{suffix}", "").partition(":")[0]

    def _url(self, scheme: str, key: str, default_host: str, default_port: int, other_key: str = "") -> str:
        host, _, port = self._properties.get(key, "").partition(":")
        host = default_host if host in _ANYWHERE else host
        if host in _ANYWHERE:
            why = f"neither {key} nor {other_key} names a host" if other_key else f"{key} names no host"
            raise BadInputError(f"{self._conf_dir} does not say where the cluster is: {why}")
        return f"{scheme}://{host}:{port or default_port}"


def _list(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]
